"""How long something was so."""

from collections.abc import Sequence
from typing import Any

import pytest

from memforest_ray.facts.candidates import Kind
from memforest_ray.facts.times import EventTime, Precision
from memforest_ray.query.answering.answer import answer
from memforest_ray.query.inquiry import inquire
from memforest_ray.query.request import QueryRequest
from memforest_ray.query.timing.spells import Spell, spell_of
from memforest_ray.testing.memory import Memory, days, instant


def _spell(memory: Memory, text: str) -> Spell | None:
    request = QueryRequest.of(text)
    return spell_of(inquire(memory.version, request, memory.vector(request)))


def _notes(memory: Memory, text: str) -> Sequence[str]:
    spell = _spell(memory, text)
    assert spell is not None
    return [end.note for end in spell.ends]


def _life(memory: Memory) -> Memory:
    """Boston (only said to be so), Davis (moved), Miami (moved, still); a job, none, another."""
    for name, said, text, kind, attribute, value, event in (
        ("h1", "2019-05-02", "Bob lives in Boston", Kind.STATE, "residence", "Boston", None),
        ("h2", "2020-08-10", "Bob moved to Davis", Kind.TRANSITION, "residence", "Davis", days("2020-08-03")),
        ("h3", "2022-02-20", "Bob moved to Miami", Kind.TRANSITION, "residence", "Miami", days("2022-01-05")),
        ("w1", "2019-05-03", "Bob works at Acme", Kind.STATE, "employer", "Acme", None),
        ("w2", "2021-01-10", "Bob quit the job", Kind.TRANSITION, "employer", None, None),
        ("w3", "2021-03-10", "Bob got a job at Nordlys", Kind.TRANSITION, "employer", "Nordlys", days("2021-03-01")),
    ):
        memory.told(name, said, text, kind=kind, subject="Bob", attribute=attribute, value=value, event=event)
    return memory


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("How long did Bob live in Davis?", ["from 2020-08-03", "to 2022-01-05"]),
        ("How long did Bob live in Davis before moving to Miami?", ["from 2020-08-03", "to 2022-01-05"]),
        ("How many months did Bob live in Boston?", ["from 2019-05-02 or earlier", "to 2020-08-03"]),
        ("How long has Bob lived in Miami?", ["since 2022-01-05"]),
        ("How long did Bob live in Miami?", ["since 2022-01-05"]),
        ("How long has Bob worked at Nordlys?", ["since 2021-03-01"]),
        ("How long did Bob work at Acme?", ["from 2019-05-03 or earlier", "to 2021-01-10"]),
        ("How long was Bob without a job?", ["from 2021-01-10", "to 2021-03-01"]),
        ("How long was Bob unemployed?", ["from 2021-01-10", "to 2021-03-01"]),
    ],
)
def test_a_state_lasts_until_the_next(memory: Memory, text: str, notes: list[str]) -> None:
    """What was only said to be so may have begun earlier."""
    assert _notes(_life(memory), text) == notes


@pytest.mark.parametrize(
    "text",
    [
        "How long did Bob live?",
        "How long has Bob worked on his novel?",
        "How long is the river in Davis?",
        "Where does Bob live?",
        "How long was Bob without sugar?",
    ],
)
def test_what_no_chain_tells_is_not_measured(memory: Memory, text: str) -> None:
    """Nor what is asked for something else."""
    assert _spell(_life(memory), text) is None


def test_a_value_that_is_not_told_is_missing(memory: Memory) -> None:
    """Instead of a time of another one."""
    spell = _spell(_life(memory), "How long did Bob live in Paris?")
    assert spell == Spell(missing="no residence of Bob is remembered for: Paris")


def test_who_is_still_without_has_one_end(memory: Memory) -> None:
    """Nothing has followed."""
    for name, said, value in (("w1", "2020-01-01", "Acme"), ("w2", "2020-06-01", None)):
        kind = Kind.TRANSITION if value is None else Kind.STATE
        memory.told(name, said, f"Bob {name}", kind=kind, subject="Bob", attribute="employer", value=value)
    assert _notes(memory, "How long has Bob been without a job?") == ["since 2020-06-01"]


def test_a_new_job_may_make_no_chain(memory: Memory) -> None:
    """What says that somebody started somewhere ends the time without."""
    memory.told(
        "w1", "2020-01-01", "Bob works at Acme", kind=Kind.STATE, subject="Bob", attribute="employer", value="A"
    )
    memory.told("w2", "2020-06-01", "Bob quit the job", kind=Kind.TRANSITION, subject="Bob", attribute="employer")
    memory.told("w3", "2020-07-01", "Ann started at the bakery", speaker="Ann", event=days("2020-06-20"))
    memory.told("w4", "2020-08-09", "Bob started at the bakery", event=days("2020-08-03"), kind=Kind.EVENT)
    assert _notes(memory, "How long was Bob without a job?") == ["from 2020-06-01", "to 2020-08-03"]


def test_what_says_itself_how_long_is_not_measured(memory: Memory) -> None:
    """Its words are the answer."""
    text = "Bob has lived in Davis for three years"
    memory.told("h1", "2020-01-01", text, kind=Kind.STATE, subject="Bob", attribute="residence", value="Davis")
    memory.told("h2", "2024-01-01", "Bob keeps bees")
    assert _spell(memory, "How long has Bob lived in Davis?") is None


def test_what_is_only_known_to_have_been_so_is_not_measured(memory: Memory) -> None:
    """ "Bob used to live in Davis" says of no time when it began."""
    start = instant("1920-01-01")
    once = EventTime(start, instant("2020-01-01"), Precision.RANGE, "used to", None)
    told: dict[str, Any] = {"kind": Kind.STATE, "subject": "Bob", "attribute": "residence", "value": "Davis"}
    memory.told("h1", "2020-01-01", "Bob used to live in Davis", event=once, **told)
    assert _spell(memory, "How long did Bob live in Davis?") is None


def test_two_ends_that_are_only_said_make_no_time(memory: Memory) -> None:
    """Both are told, and that nobody knows."""
    for name, said, value in (("h1", "2019-05-02", "Boston"), ("h2", "2021-05-02", "Davis")):
        told: dict[str, Any] = {"kind": Kind.STATE, "subject": "Bob", "attribute": "residence", "value": value}
        memory.told(name, said, f"Bob lives in {value}", **told)
    question = "How long did Bob live in Boston?"
    lines = answer(memory.ask(question), question).text.splitlines()
    assert lines[0] == "It is not remembered when this began and when it ended:"
    assert len(lines) == 3


def test_the_end_that_is_only_said_is_a_limit(memory: Memory) -> None:
    """At most as long, if it was so before it was said."""
    residence: dict[str, Any] = {"subject": "Bob", "attribute": "residence"}
    moved: dict[str, Any] = {"kind": Kind.TRANSITION, "value": "Boston", "event": days("2019-05-02"), **residence}
    memory.told("h1", "2019-05-02", "Bob moved to Boston", **moved)
    memory.told("h2", "2021-05-02", "Bob lives in Davis", kind=Kind.STATE, value="Davis", **residence)
    question = "How many years did Bob live in Boston?"
    assert answer(memory.ask(question), question).text.splitlines()[0] == "at most 2 years:"


def test_a_change_of_which_nobody_said_when_is_a_limit(memory: Memory) -> None:
    """ "I moved right after school": it was so when it was told, and at least since then; news count from then."""
    residence: dict[str, Any] = {"subject": "Bob", "attribute": "residence", "kind": Kind.TRANSITION}
    memory.told("h1", "2022-03-05", "Bob moved to York right after school", value="York", **residence)
    memory.told("h2", "2023-03-05", "Bob keeps bees")
    question = "How long has Bob lived in York?"
    assert answer(memory.ask(question), question).text.startswith("at least 1 year up to 5 March 2023:")
    memory.told("h3", "2024-03-05", "Bob just moved to Davis", value="Davis", **residence)
    memory.told("h4", "2025-03-05", "Bob keeps geese")
    question = "How long has Bob lived in Davis?"
    assert answer(memory.ask(question), question).text.startswith("1 year up to 5 March 2025:")


def test_no_time_passes_before_a_beginning(memory: Memory) -> None:
    """What begins after the question was asked is told without a length."""
    text = "Bob is working at Acme since January"
    told: dict[str, Any] = {"subject": "Bob", "attribute": "employer", "value": "Acme", "kind": Kind.STATE}
    since = EventTime(instant("2025-01-01"), instant("2025-02-01"), Precision.MONTH, "since January", None)
    memory.told("w1", "2024-03-04", text, event=since, **told)
    question = "How long has Bob worked at Acme?"
    assert answer(memory.ask(question, asked="2024-03-04"), question).text.startswith(text)


def test_many_statements_of_others_start_nothing(memory: Memory) -> None:
    """The next job is that of whoever lost one."""
    _life(memory)
    memory.told("w4", "2023-01-10", "Bob quit the job", kind=Kind.TRANSITION, subject="Bob", attribute="employer")
    memory.told("w5", "2023-02-10", "Ann started at the hospital", speaker="Ann", event=days("2023-02-09"))
    memory.told("w6", "2023-03-10", "Bob started at the bakery", event=days("2023-03-09"))
    assert _notes(memory, "How long was Bob unemployed?")[-1] == "to 2023-03-09"
