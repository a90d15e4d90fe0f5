"""What a batch of writes does to sessions and cells, before anything is read."""

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
import pytest

from memforest_ray.commit.version import Birth, Version
from memforest_ray.config import load_settings
from memforest_ray.errors import InvalidInput, NotFound, SessionConflict
from memforest_ray.facts.cells import Cell
from memforest_ray.facts.sessions import Session, SessionRecord, Turn, admit
from memforest_ray.forest.dialogue import Dialogue, keyed
from memforest_ray.ids import SessionId
from memforest_ray.index.index import Index
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.trees.scenes import Thresholds

Say = Callable[..., Session]
S1 = SessionId("s1")


def _record(session: Session) -> SessionRecord:
    return admit(session).record


@pytest.fixture
def empty() -> Version:
    fingerprint = HashEmbedder().fingerprint
    birth = Birth.of(load_settings().birth)
    return Version.empty(birth, "ab" * 16, Thresholds.of(fingerprint), Index(fingerprint.dimension).view())


def _after(dialogue: Dialogue, version: Version) -> Version:
    """The version with what `dialogue` has come to."""
    return replace(
        version,
        sessions=dialogue.sessions.finish(),
        session_cells=dialogue.session_cells.finish(),
        cells=dialogue.cells.finish(),
        forgotten=dialogue.forgotten.finish(),
    )


def _with(version: Version, *sessions: Session) -> Version:
    dialogue = Dialogue(version)
    for session in sessions:
        dialogue.admit(_record(session), replacing=False)
    return _after(dialogue, version)


def _numbers(cells: Iterable[Cell]) -> list[int]:
    return [cell.number for cell in cells]


def test_a_new_session_is_born(empty: Version, say: Say) -> None:
    """All its cells are read; none is dead."""
    dialogue = Dialogue(empty)
    admission = dialogue.admit(_record(say("s1", "a", "b", "c")), replacing=False)
    assert (admission.duplicate, admission.forgotten) == (False, False)
    assert (_numbers(dialogue.born.values()), dialogue.dead, dialogue.retry) == ([0, 1], {}, {})
    assert dialogue.read_of(S1) == dialogue.born


def test_growth_reads_the_open_cell_anew(empty: Version, say: Say) -> None:
    """The last cell was open: it is dead, the grown one and what follows are born, the first stays."""
    version = _with(empty, say("s1", "a", "b", "c"))
    dialogue = Dialogue(version)
    dialogue.admit(_record(say("s1", "a", "b", "c", "d", "e")), replacing=False)
    assert (_numbers(dialogue.born.values()), _numbers(dialogue.dead.values())) == ([1, 2], [1])


def test_writes_of_a_batch_lie_on_one_another(empty: Version, say: Say) -> None:
    """A cell that one write made and the next one grew was never there: it is neither born nor dead."""
    dialogue = Dialogue(empty)
    dialogue.admit(_record(say("s1", "a")), replacing=False)
    dialogue.admit(_record(say("s1", "a", "b")), replacing=False)
    end = replace(say("s1", "a", "b"), turns=say("s1", "a", "b").turns[1:])
    assert dialogue.admit(_record(end), replacing=False).duplicate
    assert (_numbers(dialogue.born.values()), dialogue.dead) == ([0], {})


def test_another_session_of_that_id_is_a_conflict(empty: Version, say: Say) -> None:
    """Refused as a whole, what was laid down before stays."""
    dialogue = Dialogue(_with(empty, say("s1", "a", "b")))
    dialogue.admit(_record(say("s2", "x")), replacing=False)
    with pytest.raises(SessionConflict):
        dialogue.admit(_record(say("s1", "c")), replacing=False)
    assert {cell.session_id for cell in dialogue.born.values()} == {"s2"}


def test_replacing_reads_only_what_is_another(empty: Version, say: Say) -> None:
    """Same text at the same time and place is not read again; a session's own copy is a duplicate."""
    version = _with(empty, say("s1", "a", "b", "c", "d"))
    same = Dialogue(version)
    assert same.admit(_record(say("s1", "a", "b", "c", "d")), replacing=True).duplicate
    other = Dialogue(version)
    other.admit(_record(say("s1", "a", "b", "x", "d")), replacing=True)
    assert (_numbers(other.born.values()), _numbers(other.dead.values())) == ([1], [1])


def test_replacing_at_another_time_reads_all_anew(empty: Version, say: Say) -> None:
    """The ids of the cells are the same, what an extractor is shown is not: each is dead and born."""
    version = _with(empty, say("s1", "a", "b", "c"))
    dialogue = Dialogue(version)
    dialogue.admit(_record(say("s1", "a", "b", "c", time="2024-01-01")), replacing=True)
    assert dialogue.born.keys() == dialogue.dead.keys() == set(version.cells)


def test_forgetting_a_turn_moves_no_boundary(empty: Version, say: Say) -> None:
    """Its cell has another id and the same place; the speakers are known as before, so nothing else is read."""
    version = _with(empty, say("s1", "a", "b", "c", "d", "e", "f"))
    dialogue = Dialogue(version)
    dialogue.forget_turns([(S1, 2)])
    assert (_numbers(dialogue.born.values()), _numbers(dialogue.dead.values())) == ([1], [1])
    after = _after(dialogue, version)
    assert [after.cells[name].number for name in after.session_cells[S1]] == [0, 1, 2]
    assert [turn.hole is None for turn in after.sessions[S1].turns] == [True, True, False, True, True, True]


def test_forgetting_a_speaker_reads_later_cells_anew(empty: Version) -> None:
    """The only turn of somebody is forgotten: later cells were read knowing the name."""
    turns = [Turn("a", "Zoltan"), *[Turn(text, "Ann") for text in "bcdef"]]
    version = _with(empty, Session("s1", turns, "2023-05-08"))
    dialogue = Dialogue(version)
    dialogue.forget_turns([(S1, 0)])
    assert _numbers(dialogue.born.values()) == [0, 1, 2]


def test_forgotten_turns_come_back_as_holes(empty: Version, say: Say) -> None:
    """A forgotten session that is sent again is a duplicate; what is new in it is taken in."""
    version = _with(empty, say("s1", "a", "b"))
    dialogue = Dialogue(version)
    dialogue.forget_session(S1)
    gone = _after(dialogue, version)
    assert not gone.sessions
    assert not gone.cells
    again = Dialogue(gone)
    admission = again.admit(_record(say("s1", "a", "b")), replacing=False)
    assert (admission.duplicate, admission.forgotten, again.touched) == (True, True, {})
    longer = Dialogue(gone)
    admission = longer.admit(_record(say("s1", "a", "b", "c")), replacing=False)
    assert (admission.duplicate, admission.forgotten) == (False, True)
    assert [turn.text for turn in longer.sessions[S1].turns] == ["", "", "c"]


def test_nothing_of_a_forgotten_turn_can_be_read_back(empty: Version, say: Say) -> None:
    """Only keyed hashes stay, and another key gives another hash."""
    version = _with(empty, say("s1", "HERON-7"))
    dialogue = Dialogue(version)
    dialogue.forget_session(S1)
    assert "HERON" not in repr(dict(_after(dialogue, version).forgotten))
    assert keyed("ab" * 16, "turn", "x") != keyed("cd" * 16, "turn", "x")
    assert keyed("ab" * 16, "a", "bc") != keyed("ab" * 16, "ab", "c")


def test_failed_cells_are_retried_with_their_session(empty: Version, say: Say) -> None:
    """By a duplicate and by growth, as long as they are there; a replaced one is born, not retried."""
    version = _with(empty, say("s1", "a", "b", "c", "d"), say("s2", "x"))
    failed = version.session_cells[S1][0]
    version = replace(version, failed=version.failed.set(failed, "refused"))
    duplicate = Dialogue(version)
    assert not duplicate.admit(_record(say("s1", "a", "b", "c", "d")), replacing=False).duplicate
    assert (list(duplicate.retry), duplicate.born) == ([failed], {})
    grown = Dialogue(version)
    grown.admit(_record(say("s1", "a", "b", "c", "d", "e")), replacing=False)
    assert (list(grown.retry), _numbers(grown.born.values())) == ([failed], [2])
    replaced = Dialogue(version)
    replaced.admit(_record(say("s1", "a", "b", "c", "d")), replacing=False)
    replaced.admit(_record(say("s1", "a", "b", time="2024-01-01")), replacing=True)
    assert (replaced.retry, list(replaced.born)) == ({}, [failed])


def test_turns_are_found_by_their_ids(empty: Version, say: Say) -> None:
    """In all sessions or one; what is unknown or forgotten is not found, an id of two sessions is ambiguous."""
    named = [Session(name, [Turn("a", id="m"), Turn("b")], "2023-05-08") for name in ("s1", "s2")]
    dialogue = Dialogue(_with(empty, *named))
    assert dialogue.places_of(["s2#1", "s1#1"], None) == [("s2", 1), ("s1", 1)]
    assert dialogue.places_of(["m"], "s2") == [("s2", 0)]
    for turns, session, error in (
        (["m"], None, InvalidInput),
        ([], None, InvalidInput),
        (["s3#0"], None, NotFound),
        (["m"], "s3", NotFound),
        (["s2#1"], "s1", NotFound),
    ):
        with pytest.raises(error):
            dialogue.places_of(turns, session)
    dialogue.forget_turns([(S1, 1)])
    with pytest.raises(NotFound):
        dialogue.places_of(["s1#1"], None)


def test_an_empty_version_has_no_vectors(empty: Version) -> None:
    """Nothing is there to be looked up."""
    with pytest.raises(KeyError):
        empty.vector("f" + "0" * 20)
    assert np.asarray(empty.index.facts.vectors).shape[0] == 0
