"""Time in questions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.index.table import UNKNOWN
from memforest_ray.query.result import EmptyReason
from memforest_ray.query.timing.directions import Direction
from memforest_ray.query.timing.temporal import overlapping, read_time, span_text, within
from memforest_ray.testing.memory import Memory, days, instant

ASKED = instant("2023-06-15T12:00:00Z")


@pytest.mark.parametrize(
    ("text", "direction", "anchors"),
    [
        ("Where did Bob live before moving to Miami?", Direction.BEFORE, ("moving to Miami",)),
        ("What did Ann do after the wedding?", Direction.AFTER, ("the wedding",)),
        ("What happened between the flood and the fair?", Direction.BETWEEN, ("the flood", "the fair")),
        ("Where did Bob work previously?", Direction.PREVIOUS, ()),
        ("Where did I live before?", Direction.PREVIOUS, ()),
        ("Where did Bob live before that?", Direction.PREVIOUS, ()),
        ("Where did Bob work before this one?", Direction.PREVIOUS, ()),
        ("Where did Bob live before that summer?", Direction.BEFORE, ("that summer",)),
        ("Where did Bob originally live?", Direction.FIRST, ()),
        ("Where does Bob live?", Direction.CURRENT, ()),
        ("What's Bob's current phone number?", Direction.CURRENT, ()),
        ("When did Bob move to Miami?", None, ()),
        ("小明搬到杭州之前住在哪里?", Direction.BEFORE, ("小明搬到杭州",)),
        ("小明现在住在哪里?", Direction.CURRENT, ()),
    ],
)
def test_directions(text: str, direction: Direction | None, anchors: tuple[str, ...]) -> None:
    """Which way a question looks, and from what."""
    reading = read_time(text, ASKED, None)
    assert (reading.direction, reading.anchors) == (direction, anchors)


def test_an_interval_that_a_question_names() -> None:
    """Resolved against the time of asking."""
    reading = read_time("What did Bob cook in May 2021?", ASKED, None)
    assert reading.intervals == ((instant("2021-05-01"), instant("2021-06-01")),)
    assert not reading.only_time


@pytest.mark.parametrize(
    ("text", "only"),
    [
        ("What happened on 18 March?", True),
        ("What did I do in May 2021?", True),
        ("What happened in 2021?", True),
        ("What did Bob cook on 18 March?", False),
        ("What happened?", False),
    ],
)
def test_whether_nothing_but_a_time_is_asked_for(text: str, only: bool) -> None:
    """Then what lies elsewhere is no answer."""
    assert read_time(text, ASKED, None).only_time == only


def test_a_day_with_nothing_says_none(memory: Memory) -> None:
    """What happened on another day is not shown in its place."""
    memory.told("s1", "2023-03-17", "Bob planted leeks", event=days("2023-03-17"))
    result = memory.ask("What happened on 18 March?")
    assert (len(result), result.reason) == (0, EmptyReason.NO_MATCH)
    assert "18 March" in result.message
    assert memory.ask("What happened on 17 March?")[0].text == "Bob planted leeks"


def test_a_named_time_prefers_what_lies_in_it(memory: Memory) -> None:
    """Two visits alike but for their day."""
    memory.told("s1", "2023-02-01", "Bob cooked a stew", event=days("2023-01-30"))
    memory.told("s2", "2023-05-01", "Bob cooked a stew", event=days("2023-04-20"))
    memory.told("s3", "2023-06-01", "Bob cooked a stew", event=days("2023-05-20"))
    assert memory.ask("What did Bob cook in April 2023?")[0].event_time == days("2023-04-20")
    assert memory.ask("What did Bob cook last month?", asked="2023-06-15")[0].event_time == days("2023-05-20")


def test_a_question_for_a_time_prefers_dated_facts(memory: Memory) -> None:
    """Of two that are alike, the one that says when."""
    memory.told("s1", "2023-04-01", "Bob adopted a parrot")
    memory.told("s2", "2023-05-01", "Bob adopted a parrot", event=days("2023-03-20"), speaker="Bob")
    assert memory.ask("When did Bob adopt a parrot?")[0].event_time == days("2023-03-20")


def test_a_day_of_any_year() -> None:
    """The day counts in every year; a whole year does not lie on one day."""
    reading = read_time("What did Bob cook on 18 March?", ASKED, None)
    starts = np.array([instant("2021-03-18"), instant("2021-03-19"), instant("2021-01-01"), UNKNOWN])
    ends = np.array([instant("2021-03-19"), instant("2021-03-20"), instant("2022-01-01"), UNKNOWN])
    sources = np.array([UNKNOWN, UNKNOWN, UNKNOWN, instant("2022-03-18T20:00:00Z")])
    assert within(reading, starts, ends, sources).tolist() == [True, False, False, True]


def test_unknown_times_meet_nothing() -> None:
    """Neither an open interval nor a closed one."""
    first = np.array([UNKNOWN, 5])
    assert overlapping(first, np.array([UNKNOWN, 9]), None, None).tolist() == [False, True]
    assert overlapping(first, np.array([UNKNOWN, 9]), 8, 9).tolist() == [False, True]
    assert overlapping(first, np.array([UNKNOWN, 9]), 9, None).tolist() == [False, False]
    assert overlapping(first, np.array([UNKNOWN, 9]), None, 5).tolist() == [False, False]


def test_an_interval_is_read_by_its_days() -> None:
    """The last day, not the first after it; where one end is open, the other."""
    assert span_text(instant("2023-01-01"), instant("2023-02-01")) == "2023-01-01 to 2023-01-31"
    assert span_text(None, None) == "any time"
    assert span_text(instant("2023-03-01"), None) == "2023-03-01 or later"
    assert span_text(None, instant("2023-03-01")) == "2023-02-28 or earlier"


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    """No question breaks the reading, nor its phrases."""
    assert isinstance(read_time(text, ASKED, None).phrases, tuple)


def test_formerly_is_no_happening() -> None:
    """In Chinese one word says "before" and "formerly": behind a mere name it is the latter."""
    assert read_time("李明以前住在哪里?", None, None, {"李明"}).direction is Direction.PREVIOUS
    assert read_time("搬家之前住在哪里?", None, None, {"李明"}).anchors == ("搬家",)


@pytest.mark.parametrize(
    ("text", "coming", "gone"),
    [
        ("When will Lena see the dentist?", True, False),
        ("What is Lena's next appointment?", True, False),
        ("What is Lena planning?", False, False),
        ("When was Lena going to see the dentist?", False, False),
        ("When did Lena see the dentist?", False, True),
        ("On which day was the fair?", False, True),
        ("What did Lena book?", False, False),
        ("Where does Lena live?", False, False),
    ],
)
def test_whether_only_what_is_to_come_or_what_is_over_is_meant(text: str, coming: bool, gone: bool) -> None:
    """A plan may have been made for any time."""
    reading = read_time(text, ASKED, None)
    assert (reading.coming, reading.gone) == (coming, gone)
