"""Times of statements: our own reading of the words before a model's."""

from datetime import UTC, datetime

import pytest

from memforest_ray.facts.candidates import TurnInput
from memforest_ray.facts.reported_times import reported_time
from memforest_ray.facts.times import LIFETIME, EventTime, Precision

SAID = datetime(2023, 5, 17, 9, 5, tzinfo=UTC)  # a Wednesday
SAID_MS = int(SAID.timestamp() * 1000)


def turn(text: str, source_ms: int | None = SAID_MS) -> TurnInput:
    return TurnInput(0, "Ivo", "user", text, source_ms)


def when(words: str, first: str, last: str, text: str, source_ms: int | None = SAID_MS) -> tuple[str, str, str] | None:
    """First day, day after the last, precision."""
    event = reported_time(words, first, last, [turn(text, source_ms)], None)
    return None if event is None else (f"{event.start:%Y-%m-%d}", f"{event.end:%Y-%m-%d}", event.precision.value)


def test_our_reading_of_the_words_goes_before_the_model_s() -> None:
    """Models are not good at calendars."""
    assert when("last week", "2023-05-10", "2023-05-12", "We left last week.") == ("2023-05-08", "2023-05-15", "week")


def test_words_are_read_where_they_stand() -> None:
    """What is around them counts: "the week before 9 June" is not 9 June."""
    said = "It was the week before 9 June 2023."
    assert when("9 June 2023", "2023-06-09", "2023-06-09", said) == ("2023-05-29", "2023-06-05", "week")


def test_a_yearly_day_gets_no_year_from_a_model() -> None:
    """None was said. A day of one year is read as ever, and what lies ahead is ours to read."""
    assert when("12 November", "2022-11-12", "2022-11-12", "My birthday is 12 November.") is None
    assert when("12 November", "2022-11-12", "2022-11-12", "I was born on 12 November.") is None
    assert when("12 November 1990", "1990-11-12", "", "I was born on 12 November 1990.") == (
        "1990-11-12",
        "1990-11-13",
        "day",
    )
    assert when("12 November", "2022-11-12", "", "The fair is planned for 12 November.") == (
        "2023-11-12",
        "2023-11-13",
        "day",
    )


def test_of_a_limit_the_model_s_reading_counts() -> None:
    """What was before Christmas was not at Christmas; without a reading the limit is all that is known."""
    said = "We left just before Christmas 2022."
    assert when("just before Christmas 2022", "2022-12-20", "2022-12-24", said) == ("2022-12-20", "2022-12-25", "range")
    assert when("just before Christmas 2022", "", "", said) == ("2022-12-25", "2022-12-26", "day")


def test_white_space_and_case_do_not_matter() -> None:
    """Models fold both."""
    assert when("Last Week", "", "", "We left last\n  week.") == ("2023-05-08", "2023-05-15", "week")


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ("2023-04-08", "2023-04-08", ("2023-04-08", "2023-04-09", "day")),
        ("2023-04-08", "", ("2023-04-08", "2023-04-09", "day")),
        ("2023-04-10", "2023-04-16", ("2023-04-10", "2023-04-17", "week")),
        ("2023-04-01", "2023-04-30", ("2023-04-01", "2023-05-01", "month")),
        ("2022-01-01", "2022-12-31", ("2022-01-01", "2023-01-01", "year")),
        ("2023-04-08", "2023-04-10", ("2023-04-08", "2023-04-11", "range")),
        ("2023-04", "2023-04", ("2023-04-01", "2023-05-01", "month")),
        ("2022", "2022", ("2022-01-01", "2023-01-01", "year")),
        ("2023-04-08T10:00:00", "", ("2023-04-08", "2023-04-09", "day")),
        ("2023-04-10", "2023-04-08", ("2023-04-10", "2023-04-11", "day")),
    ],
)
def test_words_that_we_do_not_know_are_as_the_model_reads_them(
    first: str, last: str, expected: tuple[str, str, str]
) -> None:
    """With the precision of the calendar unit, if it is one; an end before its start is none."""
    assert when("just before Holi", first, last, "Just before Holi we left.") == expected


@pytest.mark.parametrize("first", ["soon", "", "2023-02-30", "0000-01-01", "9999-12-31", "1023-04-08", "20230408", "x"])
def test_a_reading_that_cannot_be_is_none(first: str) -> None:
    """No day, no such day, or out of reach."""
    assert when("just before Holi", first, "", "Just before Holi we left.") is None


def test_nothing_is_dated_by_when_it_was_said() -> None:
    """Words that nobody said, for the day of the turn: that is the model's own time."""
    assert when("at the time of the talk", "2023-05-17", "2023-05-17", "I like tea.") is None
    assert when("", "2023-05-17", "2023-05-17", "I like tea.") is None


def test_words_of_the_model_for_another_day_are_taken() -> None:
    """A model that sets an expression right has read it all the same."""
    assert when("on Easter day", "2023-04-09", "2023-04-09", "It was easter.") == ("2023-04-09", "2023-04-10", "day")


def test_an_open_beginning_reaches_back_a_lifetime() -> None:
    """ "Used to" ends when it was said."""
    event = reported_time("used to", "", "2023-05-17", [turn("I used to smoke.")], None)
    start = SAID_MS - int(LIFETIME.total_seconds() * 1000)
    assert event == EventTime(start, SAID_MS, Precision.RANGE, "used to", SAID_MS)


def test_without_a_time_of_the_turn_only_a_named_year_counts() -> None:
    """A model that has nothing to reckon from has guessed."""
    assert when("around Easter", "2023-04-09", "", "around Easter", None) is None
    assert when("around Easter 2023", "2023-04-09", "", "around Easter 2023", None) is not None


def test_days_are_those_of_the_session_s_zone() -> None:
    """Midnight in Auckland, not in Greenwich."""
    event = reported_time("just before Holi", "2023-04-08", "", [turn("just before Holi")], "Pacific/Auckland")
    assert event is not None
    assert event.start == datetime(2023, 4, 7, 12, tzinfo=UTC)


def test_any_source_turn_may_say_it() -> None:
    """The question in one turn, its time in the other."""
    turns = [turn("When did you leave?"), turn("Last week.")]
    event = reported_time("Last week", "", "", turns, None)
    assert event is not None
    assert event.precision is Precision.WEEK
