"""Moves and jobs that were announced, and of which nobody has said whether they came to be."""

import pytest

from memforest_ray.facts.candidates import Kind
from memforest_ray.facts.times import EventTime
from memforest_ray.testing.memory import Memory, days

MOVING = "Bob is going to move to Kiel in August."
STARTING = "Bob is starting at Northbank on Monday."


def _lives(memory: Memory, session: str, said: str, value: str, text: str = "", event: EventTime | None = None) -> None:
    kind = Kind.STATE if event is None else Kind.TRANSITION
    told = text or f"Bob lives in {value}"
    memory.told(session, said, told, kind=kind, subject="Bob", attribute="residence", value=value, event=event)


def _plan(memory: Memory, text: str = MOVING) -> None:
    memory.told("p", "2022-06-10", text, kind=Kind.PLAN, event=days("2022-08-01", 31))


def _singled(memory: Memory, question: str, **options: str) -> list[tuple[str, str]]:
    return [(hit.text, hit.note) for hit in memory.ask(question, **options) if hit.note]


def test_a_plan_is_told_beside_the_last_state(memory: Memory) -> None:
    """The state first: nobody has said that the move took place."""
    _lives(memory, "a", "2022-06-01", "Bonn")
    _plan(memory)
    memory.told("z", "2024-06-10", "Ann keeps bees", speaker="Ann")
    told = [("Bob lives in Bonn", "current: residence"), (MOVING, "planned for 2022-08-01: residence")]
    assert _singled(memory, "Where does Bob live now?") == told
    assert _singled(memory, "Where did Bob live in May 2022?") == []


def test_a_plan_alone_is_told(memory: Memory) -> None:
    """Of a job as of a home."""
    memory.told("p", "2022-03-05", STARTING, kind=Kind.PLAN, event=days("2022-03-07"))
    memory.told("z", "2022-09-01", "Bob keeps bees")
    assert _singled(memory, "Where does Bob work now?") == [(STARTING, "planned for 2022-03-07: employer")]
    assert _singled(memory, "Where does Bob live now?") == []


def test_a_plan_that_lies_ahead_is_no_state(memory: Memory) -> None:
    """Asked in July, August is to come."""
    _lives(memory, "a", "2022-06-01", "Bonn")
    _plan(memory)
    assert [note for _, note in _singled(memory, "Where does Bob live now?")] == ["current: residence"]


def test_a_plan_that_came_to_be_is_not_told_again(memory: Memory) -> None:
    """What is known since then says how it is."""
    _lives(memory, "a", "2022-06-01", "Bonn")
    _plan(memory)
    _lives(memory, "b", "2022-10-01", "Kiel", "Bob moved to Kiel", days("2022-08-20"))
    assert _singled(memory, "Where does Bob live now?") == [("Bob moved to Kiel", "current: residence")]


@pytest.mark.parametrize(
    ("plan", "since"),
    [
        ("Bob might move to Kiel in August.", "Bob keeps bees."),
        ("Bob is not moving to Kiel in August.", "Bob keeps bees."),
        ("Bob is helping Ann move to Kiel in August.", "Bob keeps bees."),
        ("Bob's sister is moving to Kiel in August.", "Bob keeps bees."),
        ("Bob is moving to Monday shifts in August.", "Bob is not moving to Monday shifts after all."),
        (MOVING, "Bob cancelled the move to Kiel."),
        (MOVING, "Bob is not going to Kiel after all."),
    ],
)
def test_what_is_no_plan_or_came_to_nothing_is_not_told(memory: Memory, plan: str, since: str) -> None:
    """Wishes, what is denied, what somebody else does, and what was called off."""
    _lives(memory, "a", "2022-06-01", "Bonn")
    _plan(memory, plan)
    memory.told("z", "2022-10-10", since)
    assert [note for _, note in _singled(memory, "Where does Bob live now?")] == ["current: residence"]


def test_somebody_elses_home_is_not_planned(memory: Memory) -> None:
    """Whose sister is asked for has no plan by that."""
    _plan(memory)
    memory.told("z", "2024-06-10", "Ann keeps bees", speaker="Ann")
    assert _singled(memory, "Where does Bob's sister live now?") == []
