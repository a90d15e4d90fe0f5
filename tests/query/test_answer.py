"""Answers from evidence alone."""

from dataclasses import replace

import pytest

from memforest_ray.facts.candidates import Kind
from memforest_ray.facts.times import EventTime, Precision
from memforest_ray.query.answer import HELD_MIN, SINGLED_MIN, answer, when
from memforest_ray.query.result import Answer
from memforest_ray.testing.memory import Memory, days, instant


def _ask(memory: Memory, text: str) -> Answer:
    return answer(memory.ask(text), text)


def test_an_answer_cites_its_fact_and_shows_both_times(memory: Memory) -> None:
    """When it happened and when it was said."""
    memory.told("s1", "2023-06-01", "Bob bought a kayak", event=days("2023-05-31"))
    found = _ask(memory, "What has Bob bought?")
    assert found
    assert found.text == f"Bob bought a kayak (time: 31 May 2023; said 1 June 2023) [{found.citations[0]}]"
    assert found.citations == (memory.ask("What has Bob bought?")[0].fact_id,)


def test_a_question_for_a_time_begins_with_it(memory: Memory) -> None:
    """No finer than it is known."""
    memory.told("s1", "2023-06-01", "Bob bought a kayak", event=days("2023-05-31"))
    assert _ask(memory, "When did Bob buy the kayak?").text.startswith("31 May 2023: Bob bought a kayak")


def test_dialogue_is_cited_by_its_turns(memory: Memory) -> None:
    """No fact stands for it."""
    memory.say("s1", None, ("Bob", "The password of the shed is swordfish"))
    found = _ask(memory, "What is the password of the shed?")
    assert found.citations == ("s1#0",)
    assert "said at an unknown time" in found.text


def test_what_is_not_there_is_not_answered(memory: Memory) -> None:
    """Neither in an empty memory nor from what does not fit."""
    empty = _ask(memory, "What has Bob bought?")
    assert (bool(empty), empty.text) == (False, "Not in memory: nothing is remembered yet.")
    memory.told("s1", "2023-06-01", "Ann painted the fence", speaker="Ann")
    other = _ask(memory, "How deep is the Pacific ocean?")
    assert not other
    assert other.citations == ()
    assert other.text == "Not in memory: nothing that is remembered answers this."


def test_what_time_singled_out_is_told_alone(memory: Memory) -> None:
    """The other states of the chain are not the answer."""
    for session, said, value in (
        ("a", "2019-01-01", "Oslo"),
        ("b", "2021-01-01", "Bergen"),
        ("c", "2023-01-01", "Moss"),
    ):
        text = f"Bob lives in {value}"
        memory.told(session, said, text, kind=Kind.STATE, subject="Bob", attribute="residence", value=value)
    found = _ask(memory, "Where did Bob live before Moss?")
    assert found.text.startswith("Bob lives in Bergen")
    assert len(found.citations) == 1


def test_what_time_singled_out_needs_less_evidence(memory: Memory) -> None:
    """In a memory that holds nothing else few words match, yet whose attribute is asked for is sure."""
    memory.told("a", "2023-05-08", "Bob moved to Oslo", kind=Kind.STATE, subject="Bob", attribute="residence")
    result = memory.ask("Where does Bob live now?")
    for score, found in ((HELD_MIN / 2, True), (SINGLED_MIN / 2, False)):
        hits = (replace(result[0], score=score, note="current: residence"),)
        assert bool(answer(replace(result, hits=hits), "Where does Bob live now?")) is found
        unsingled = (replace(hits[0], note=""),)
        assert not answer(replace(result, hits=unsingled), "Where does Bob live now?")


def test_an_answer_is_plain_data(memory: Memory) -> None:
    """With the hits it was taken from."""
    memory.told("s1", "2023-06-01", "Bob bought a kayak")
    data = _ask(memory, "What has Bob bought?").to_json()
    assert data["found"] is True
    assert data["version"] == 1
    assert data["hits"][0]["text"] == "Bob bought a kayak"


@pytest.mark.parametrize(
    ("precision", "first", "end", "shown"),
    [
        (Precision.INSTANT, "2023-05-08T14:30:00Z", "2023-05-08T14:30:01Z", "8 May 2023, 14:30"),
        (Precision.DAY, "2023-05-08", "2023-05-09", "8 May 2023"),
        (Precision.MONTH, "2023-05-01", "2023-06-01", "May 2023"),
        (Precision.YEAR, "2023-01-01", "2024-01-01", "2023"),
        (Precision.DECADE, "1990-01-01", "2000-01-01", "the 1990s"),
        (Precision.RANGE, "1923-05-08", "2023-05-08", "before 8 May 2023"),
        (Precision.WEEK, "2023-05-08", "2023-05-15", "8 May 2023 to 14 May 2023"),
    ],
)
def test_times_are_written_as_fine_as_they_are_known(precision: Precision, first: str, end: str, shown: str) -> None:
    """A year is not a day."""
    assert when(EventTime(instant(first), instant(end), precision, "", None)) == shown
    assert when(None) == ""
