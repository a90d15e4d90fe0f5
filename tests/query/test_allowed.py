"""Filters: by kind, speaker, role, session, entity and session metadata, alone and together."""

from typing import Any

import pytest

from memforest_ray.errors import InvalidInput
from memforest_ray.facts.candidates import Kind
from memforest_ray.facts.sessions import Session, Turn, admit
from memforest_ray.query.request import KINDS, Filters
from memforest_ray.testing.memory import Memory, days


def _office() -> Memory:
    memory = Memory()
    memory.told("s1", "2023-05-01", "Bob keeps bees", kind=Kind.STATE)
    memory.told("s2", "2023-06-01", "Ann keeps bees", speaker="Ann", event=days("2023-05-30"), kind=Kind.EVENT)
    memory.told("s3", "2023-07-01", "The bees need a new hive", speaker="Bob")
    memory.told("s4", "2023-08-01", "The bees need a new hive", speaker="Ann")
    return memory


def _tagged(memory: Memory, session: str, **metadata: str) -> None:
    """Give a session metadata."""
    old = memory.records[next(name for name in memory.records if name == session)]
    turns = [Turn(turn.text, turn.speaker, role=turn.role) for turn in old.turns]
    memory.records[old.id] = admit(Session(session, turns, time=old.time_ms, metadata=metadata)).record
    memory._version = None


def _found(memory: Memory, **filters: Any) -> set[tuple[str, str]]:
    """Text and speaker of all facts that pass."""
    return {(hit.text, hit.speaker) for hit in memory.ask("bees", k=50, **filters) if hit.kind == "fact"}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("state", {"Bob keeps bees"}),
        ("event", {"Ann keeps bees"}),
        ("plan", set()),
        ("detail", {"The bees need a new hive"}),
    ],
)
def test_facts_of_a_kind(kind: str, expected: set[str]) -> None:
    """What a fact says: a state, an event; dialogue is of none."""
    hits = _office().ask("bees", kind=kind, k=50)
    assert {hit.text for hit in hits} == expected
    assert {hit.kind for hit in hits} <= {"fact"}


def test_a_fact_told_by_two_is_found_by_either(memory: Memory) -> None:
    """It shows the words, the turn and the time of the one who is asked for, and counts once."""
    office = _office()
    for speaker, session in (("Bob", "s3"), ("Ann", "s4")):
        [hit] = [
            hit for hit in office.ask("new hive", speaker=speaker, k=50) if "hive" in hit.text and hit.kind == "fact"
        ]
        assert (hit.speaker, hit.session_id, hit.turn_ids[0]) == (speaker, session, f"{session}#0")
    assert _found(office, session="s4") == {("The bees need a new hive", "Ann")}


def test_a_question_and_its_answer_have_two_speakers(memory: Memory) -> None:
    """A fact made of two turns is of the one who says it."""
    memory.say("s1", "2023-05-01", ("Ann", "What do you keep?"), ("Bob", "Bees"))
    memory.state("s1", 1, "Bob keeps bees", turns=(0, 1))
    assert _found(memory, speaker="Ann") == set()
    assert _found(memory, speaker="bob") == {("Bob keeps bees", "Bob")}


def test_by_role(memory: Memory) -> None:
    """Of facts and of dialogue."""
    memory.told("s1", "2023-05-01", "Bees sleep in winter")
    old = memory.records[next(iter(memory.records))]
    turns = [Turn(old.turns[0].text, "Bob"), Turn("Bees do not sleep, they cluster", "helper", role="assistant")]
    memory.cells.clear()
    memory.mentions.clear()
    memory.say("s1", "2023-05-01", *((turn.speaker or "", turn.text) for turn in turns))
    memory.records[old.id] = admit(Session("s1", turns, time="2023-05-01")).record
    memory.state("s1", 0, "Bees sleep in winter")
    memory.state("s1", 1, "Bees cluster", role="assistant")
    assert _found(memory, role="assistant") == {("Bees cluster", "helper")}
    assert _found(memory, role="user") == {("Bees sleep in winter", "Bob")}
    assert not memory.ask("bees", role="system")


def test_by_metadata() -> None:
    """All that is asked for must hold, in the one session; nothing else is looked at."""
    office = _office()
    _tagged(office, "s1", channel="phone", team="north")
    _tagged(office, "s2", channel="phone", team="south")
    assert {name for name, _ in _found(office, metadata={"channel": "phone"})} == {"Bob keeps bees", "Ann keeps bees"}
    assert _found(office, metadata={"channel": "phone", "team": "south"}) == {("Ann keeps bees", "Ann")}
    assert _found(office, metadata={"channel": "mail"}) == set()
    assert not office.ask("bees", metadata={"colour": "blue"})


def test_filters_hold_together_for_one_mention() -> None:
    """Ann's words in Bob's session are not what is asked for."""
    office = _office()
    assert _found(office, session="s3", speaker="Ann") == set()
    assert _found(office, session="s4", speaker="Ann", kind="fact") == {("The bees need a new hive", "Ann")}
    assert _found(office, speaker="Ann", since="2023-05-30", until="2023-05-31") == {("Ann keeps bees", "Ann")}


def test_filters_that_are_none() -> None:
    """Each is named."""
    for wrong, message in (
        ({"kind": "memory"}, "unknown kind 'memory'; known: cell, constraint, detail, event"),
        ({"role": 3}, "the filter 'role' must be text, not 3"),
        ({"metadata": "x"}, "the filter 'metadata' must map text to text, not 'x'"),
        ({"metadata": {"a": 1}}, "the filter 'metadata' must map text to text"),
    ):
        with pytest.raises(InvalidInput, match=message):
            _office().ask("bees", **wrong)


def test_every_kind_is_a_filter() -> None:
    """None is refused."""
    assert [Filters(kind=kind).kind for kind in KINDS] == list(KINDS)


def test_dialogue_that_tells_of_another_time_is_not_of_that_in_which_it_was_said(memory: Memory) -> None:
    """ "Yesterday" is no answer to what happened today; dialogue that tells nothing dated may be."""
    memory.told("s1", "2023-05-08", "Mara went to the clinic", speaker="Mara", event=days("2023-05-07"))
    memory.say("s2", "2023-05-08", ("Mara", "What a lovely morning"))
    assert [hit.session_id for hit in memory.ask("What happened on 8 May 2023?")] == ["s2"]
    assert [hit.session_id for hit in memory.ask("What happened on 7 May 2023?")] == ["s1"]
