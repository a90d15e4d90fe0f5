"""What the sessions of a simulated world say: one word a turn that no other turn says; what a version shows of it."""

import re
from collections.abc import Callable, Iterable, Sequence

from memforest_ray.commit.version import Version
from memforest_ray.facts.atoms import atom_id
from memforest_ray.facts.candidates import Candidate, CellInput, Extraction, Kind, Mention
from memforest_ray.facts.sessions import Session, Turn
from memforest_ray.ids import CellId, SessionId
from memforest_ray.models.usage import Usage
from tests.world.states import Place, State, told_by

__all__ = ["TinyExtractor", "correction", "difference", "fact_id", "places_in", "session", "word"]

_SPEAKERS = ("Bob", "Ann")
_AND_SO_ON = " I could go on about it for a whole evening, and tomorrow again, if only somebody would listen to me." * 2
"""Without it no summary would be long enough to be written."""
_WORD = re.compile(r"(s\d+)t(\d+)z")


def word(place: Place) -> str:
    """Stands in this turn, in its fact, and nowhere else."""
    name, index = told_by(place)
    return f"{name}t{index}z"


def places_in(text: str) -> frozenset[Place]:
    """Turns whose words stand in `text`, as they were first said."""
    return frozenset((name, int(index)) for name, index in _WORD.findall(text))


def session(name: str, turns: int) -> Session:
    """The first turns of a session."""
    said = [Turn(f"I like {word((name, index))}.{_AND_SO_ON}", _SPEAKERS[index % 2]) for index in range(turns)]
    return Session(name, said, time="2023-05-08T10:00:00Z")


def fact_id(place: Place) -> str:
    """The fact that a turn tells."""
    candidate = _candidate(f"{_SPEAKERS[place[1] % 2]} likes {word(place)}.", _SPEAKERS[place[1] % 2], place[1])
    return atom_id(Mention.of(CellId(""), SessionId(place[0]), 0, None, candidate))


def correction(place: Place) -> str:
    """What is told of a turn instead."""
    return f"{_SPEAKERS[place[1] % 2]} likes {word(place)} no more."


def _candidate(text: str, speaker: str, turn: int) -> Candidate:
    return Candidate(text, Kind.DETAIL, speaker, "user", (turn,), entities=(speaker,))


class TinyExtractor:
    """Implements `Extractor`: a turn is a fact. A cell fails when `failing` says so."""

    def __init__(self, failing: Callable[[], bool]) -> None:
        self._failing = failing

    async def extract(self, cells: Sequence[CellInput]) -> list[Extraction]:
        return [self._found(cell) for cell in cells]

    def _found(self, cell: CellInput) -> Extraction:
        if self._failing():
            return Extraction(cell.cell_id, failure="no answer", usage=Usage(1))
        return Extraction(cell.cell_id, tuple(_told(cell)), usage=Usage(1))


def _told(cell: CellInput) -> Iterable[Candidate]:
    for turn in cell.turns:
        text = turn.text.removesuffix(_AND_SO_ON).replace("I like", f"{turn.speaker} likes")
        yield _candidate(text, turn.speaker, turn.index)


def difference(version: Version, state: State) -> str:
    """How a version differs from what it must be; empty if it does not."""
    said = {
        (str(name), index): turn
        for name, record in version.sessions.items()
        for index, turn in enumerate(record.turns)
        if turn.hole is None
    }
    if said.keys() != state.rows:
        return f"turns: {_two_ways(said.keys(), state.rows)}"
    if wrong := sorted(place for place, turn in said.items() if places_in(turn.text) != {told_by(place)}):
        return f"turns say something else: {wrong}"
    if dict(version.origins) != state.origins:
        return f"origins: {dict(version.origins)}, not {state.origins}"
    unread = {
        told_by((version.cells[cell].session_id, span.turn))
        for cell in version.failed
        for span in version.cells[cell].spans
    }
    shown = frozenset().union(*(places_in(fact.text) for fact in version.facts.shown.values()))
    told = state.words - state.hidden - unread
    # A correction of a cell that could not be read again may wait for that.
    right = told | state.corrected - unread <= shown <= told | state.corrected
    return "" if right else f"facts: {_two_ways(shown, told | state.corrected)}"


def _two_ways(found: Iterable[Place], expected: Iterable[Place]) -> str:
    return f"too many {sorted({*found} - {*expected})}, too few {sorted({*expected} - {*found})}"
