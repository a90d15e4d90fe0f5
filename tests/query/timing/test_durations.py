"""How long from one piece of evidence to another."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.facts.times import EventTime, Precision
from memforest_ray.query.result import Hit
from memforest_ray.query.timing.durations import duration, has_begun
from memforest_ray.testing.memory import Memory, instant

_MEMORY = Memory()
_MEMORY.told("s1", "2023-05-08", "Bob keeps bees")
_HIT = _MEMORY.ask("bees")[0]


def _on(first: str, precision: Precision = Precision.DAY, days: int = 1) -> Hit:
    start = instant(first)
    return replace(_HIT, event_time=EventTime(start, start + days * 86_400_000, precision, first, None))


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ("2023-01-01", "2023-01-01", "0 days"),
        ("2023-01-01", "2023-01-02", "1 day"),
        ("2023-01-31", "2023-02-27", "27 days"),
        ("2023-01-31", "2023-03-01", "1 month and 1 day"),
        ("2020-02-29", "2021-03-01", "1 year and 1 day"),
        ("2020-01-15", "2022-04-20", "2 years, 3 months and 5 days"),
        ("2020-01-15", "2022-01-15", "2 years"),
    ],
)
def test_days_are_counted_by_the_calendar(first: str, last: str, expected: str) -> None:
    """In either order."""
    assert duration(_on(first), _on(last)) == expected
    assert duration(_on(last), _on(first)) == expected


@pytest.mark.parametrize(
    ("unit", "expected"), [("days", "826 days"), ("weeks", "118 weeks"), ("months", "27 months"), ("Years", "2 years")]
)
def test_whole_units_that_are_asked_for(unit: str, expected: str) -> None:
    """Rounded down."""
    assert duration(_on("2020-01-15"), _on("2022-04-20"), unit) == expected


def test_no_finer_than_it_is_known() -> None:
    """A month has no day to count from."""
    april = _on("2020-04-01", Precision.MONTH, 30)
    assert duration(april, _on("2022-01-05")) == "about 1 year and 9 months"
    assert duration(april, _on("2020-04-20")) == "about less than a month"


def test_what_was_only_said_counts_from_then() -> None:
    """Its source time stands for the event's."""
    assert duration(replace(_HIT, event_time=None), _on("2023-05-10")) == "2 days"


def test_up_to_an_instant() -> None:
    """Whatever the hour."""
    asked = datetime(2024, 2, 10, 23, 59, tzinfo=UTC)
    assert duration(_on("2023-05-08"), asked) == "9 months and 2 days"
    assert duration(_on("2023-05-01", Precision.MONTH, 31), asked) == "about 9 months"
    assert duration(_on("2023-05-08"), asked, "weeks") == "39 weeks"


@given(st.dates(), st.dates())
def test_any_two_days(one: object, other: object) -> None:
    """Always words, the same in either order."""
    first, last = _on(f"{one}"), _on(f"{other}")
    assert duration(first, last) == duration(last, first) != ""


def test_what_is_yet_to_begin_has_not_begun() -> None:
    """Whatever the hour of its day."""
    asked = datetime(2024, 2, 10, 11, tzinfo=UTC)
    assert [has_begun(_on(day), asked) for day in ("2024-02-09", "2024-02-10", "2024-02-11")] == [True, True, False]
