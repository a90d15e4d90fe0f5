"""Answers from evidence alone."""

from dataclasses import replace
from typing import Any

import pytest

from memforest_ray.facts.candidates import Kind
from memforest_ray.facts.times import EventTime, Precision
from memforest_ray.ids import TurnId
from memforest_ray.query.answering.answer import HELD_MIN, SINGLED_MIN, answer
from memforest_ray.query.answering.attribution import LEAD_MIN, LEAD_OF_SURE_MIN
from memforest_ray.query.corrected import CORRECTED
from memforest_ray.query.render import when
from memforest_ray.query.result import Answer, Result, Trace
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
    result = replace(memory.ask("Where does Bob live now?"), certain=False)
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


def _result(memory: Memory, *scores: float, **fields: Any) -> Result:
    """Hits with these scores, each of a turn of its own."""
    for number in range(len(scores)):
        memory.told(f"s{number}", f"2023-06-0{number + 1}", f"Bob bought thing{number}")
    found = memory.ask("Bob bought", k=50, kind="fact")
    hits = tuple(replace(hit, score=score) for hit, score in zip(found, scores, strict=True))
    return replace(found, hits=hits, **fields)


@pytest.mark.parametrize(
    ("scores", "told"),
    [((0.9, 0.8, 0.75, 0.6), 3), ((0.9, 0.8, 0.74, 0.74, 0.73), 4), ((0.9, 0.62), 1), ((0.5, 0.41), 2)],
)
def test_what_is_as_good_is_told_too(memory: Memory, scores: tuple[float, ...], told: int) -> None:
    """Four turns at most, each nearly as good as the best."""
    found = answer(_result(memory, *scores), "What has Bob bought?")
    assert len(found.citations) == len(found.text.splitlines()) == told


def test_of_one_turn_two_hits_are_told(memory: Memory) -> None:
    """What was said in one breath belongs together, but it is an answer, not a transcript."""
    result = _result(memory, 0.9, 0.88, 0.86, 0.84, 0.83)
    hits = tuple(
        replace(hit, turn_ids=(TurnId("one" if place < 3 else f"other{place // 5}"),))
        for place, hit in enumerate(result)
    )
    found = answer(replace(result, hits=hits), "What has Bob bought?")
    assert [hit.fact_id for hit in (hits[0], hits[1], hits[3])] == list(found.citations)
    worse = (hits[0], replace(hits[1], score=0.8), *hits[3:])
    found = answer(replace(result, hits=worse), "What has Bob bought?")
    assert [hit.fact_id for hit in (hits[0], hits[3])] == list(found.citations)


def test_what_is_of_another_time_is_not_told(memory: Memory) -> None:
    """However good; and when nothing else is there, the refusal names the time."""
    result = _result(memory, 0.9, 0.6, 0.5)
    late = tuple(replace(hit, timely=place > 0) for place, hit in enumerate(result))
    assert answer(replace(result, hits=late), "What?").citations[0] == late[1].fact_id
    none = tuple(replace(hit, timely=False) for hit in result)
    refused = answer(replace(result, hits=none, trace=Trace("embed", reading=("before 2019",))), "What?")
    assert (refused.found, refused.text) == (
        False,
        "Not in memory: nothing is remembered that fits the time: before 2019.",
    )
    unread = answer(replace(result, hits=none, trace=Trace("embed")), "What?")
    assert unread.text == "Not in memory: nothing is remembered that fits the time that is asked for."


def test_what_a_chain_does_not_hold_is_refused(memory: Memory) -> None:
    """In the words of the result."""
    found = answer(_result(memory, 0.9, message="no residence of Bob is remembered for: before 2019"), "Where?")
    assert (found.found, found.text) == (False, "Not in memory: no residence of Bob is remembered for: before 2019.")


def test_of_two_who_are_named_one_may_be_known(memory: Memory) -> None:
    """What is there is told, though the other's is missing."""
    result = _result(memory, 0.9, message="no residence of Eve is remembered for: current")
    singled = tuple(replace(hit, note="current: residence") for hit in result)
    assert answer(replace(result, hits=singled), "Where do Bob and Eve live?")


@pytest.mark.parametrize(("lead", "found"), [(None, True), (LEAD_MIN, True), (LEAD_MIN - 0.01, False), (-3.0, False)])
def test_another_persons_words_are_refused(memory: Memory, lead: float | None, found: bool) -> None:
    """Unless nobody can be confused, or time singled something out of a chain of his."""
    result = _result(memory, 0.8, lead=lead)
    assert bool(answer(result, "What has Bob bought?")) is found
    singled = tuple(replace(hit, note="current: car") for hit in result)
    assert answer(replace(result, hits=singled), "What has Bob bought?")


def test_what_is_certain_needs_no_score(memory: Memory) -> None:
    """The chain of exactly whom and what is asked for holds however the question is worded."""
    memory.told("a", "2023-05-08", "Bob moved to Oslo", kind=Kind.STATE, subject="Bob", attribute="residence")
    result = memory.ask("Where does Bob live now?")
    assert result.certain
    low = replace(result, hits=(replace(result[0], score=0.01),))
    assert answer(low, "Where does Bob live now?")
    assert not answer(replace(low, certain=False), "Where does Bob live now?")
    assert not memory.ask("Where does Bob live and what does he eat?").certain


def test_whom_nobody_knows_is_named(memory: Memory) -> None:
    """Whatever was found."""
    found = answer(_result(memory, 0.9, strangers=("Eve", "Mia")), "What have Eve and Mia bought?")
    assert (found.found, found.text) == (False, "Not in memory: nothing is remembered of Eve or Mia.")


@pytest.mark.parametrize(
    ("scores", "aside", "told"),
    [
        ((0.9, 0.8, 0.7), (0,), 2),
        ((0.9, 0.8, 0.7), (1,), 2),
        ((0.9, 0.5, 0.5), (0,), 0),  # much worse than what is somebody else's
        ((0.9, 0.3), (0,), 0),
        ((0.9,), (0,), 0),
    ],
)
def test_what_is_of_somebody_else_is_not_told(
    memory: Memory, scores: tuple[float, ...], aside: tuple[int, ...], told: int
) -> None:
    """What is left must be about as good."""
    found = answer(_result(memory, *scores, aside=aside), "What has Bob bought?")
    assert len(found.citations) == told
    if not told:
        assert found.text == "Not in memory: what is remembered of this is somebody else's."


@pytest.mark.parametrize(
    ("text", "speaker", "told"),
    [
        ("Bob bought a kiln", "Bob", True),
        ("Bob: Noted.", "Bob", False),
        ("assistant: I hope that it went well.", "assistant", False),
        ("assistant: You bought a kiln.", "assistant", True),
    ],
)
def test_what_says_nothing_is_not_told_beside(memory: Memory, text: str, speaker: str, told: bool) -> None:
    """Nor what an assistant says of something else."""
    result = _result(memory, 0.9, 0.8)
    other = replace(result[1], text=text, speaker=speaker)
    assert len(answer(replace(result, hits=(result[0], other)), "What has Bob bought?").citations) == 1 + told


def test_a_corrected_turn_is_not_singled_out(memory: Memory) -> None:
    """Its note says why it stands below, not that it is the answer."""
    result = _result(memory, 0.9, 0.8)
    corrected = replace(result[1], note=CORRECTED)
    assert (
        answer(replace(result, hits=(result[0], corrected)), "What has Bob bought?").citations[0] == result[0].citation
    )


@pytest.mark.parametrize(("lead", "found"), [(LEAD_OF_SURE_MIN, True), (LEAD_OF_SURE_MIN - 0.01, False)])
def test_what_hardly_could_be_better_needs_less_lead(memory: Memory, lead: float, found: bool) -> None:
    """If it is the best of all, and not only of what is left."""
    result = _result(memory, 0.95, 0.93, lead=lead)
    assert bool(answer(result, "What has Bob bought?")) is found
    assert not answer(replace(result, aside=(0,)), "What has Bob bought?")


@pytest.mark.parametrize(
    ("text", "question", "score", "found"),
    [
        ("Bob paid 80 euros for the map", "How much did Bob pay for the map?", 0.2, True),
        ("Bob paid eighty euros for the map", "How much did the map cost?", 0.2, True),
        ("Bob paid 80 euros for the map", "How much did Bob pay for the map?", SINGLED_MIN - 0.01, False),
        ("Bob paid a lot for the map", "How much did Bob pay for the map?", 0.2, False),
        ("Bob paid 80 euros for the map", "How much did Bob pay for the atlas?", 0.2, False),
        ("Bob paid 80 euros for the map", "What did Bob pay for the map?", 0.2, False),
    ],
)
def test_an_amount_of_all_that_is_asked_for_needs_less_evidence(
    memory: Memory, text: str, question: str, score: float, found: bool
) -> None:
    """It holds every word that is asked for, and a number."""
    result = _result(memory, score)
    hits = (replace(result[0], text=text),)
    assert bool(answer(replace(result, hits=hits), question)) is found
