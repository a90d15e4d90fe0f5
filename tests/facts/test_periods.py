"""Calendar periods, against plain counting of days."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.facts import periods
from memforest_ray.facts.periods import Period, nearest_month, nearest_season, weekday_from
from memforest_ray.facts.times import Precision

DAYS = st.dates(date(1900, 1, 1), date(2100, 12, 31))


@given(DAYS, st.integers(-60, 60))
def test_weeks(of: date, away: int) -> None:
    """A week is seven days from Monday, its weekend the last two, and weeks follow each other."""
    week, weekend = periods.week(of, away), periods.weekend(of, away)
    assert (week.first.weekday(), (week.last - week.first).days) == (0, 6)
    assert (weekend.first, weekend.last) == (week.first + timedelta(5), week.last)
    assert periods.week(of, away + 1).first == week.last + timedelta(1)
    assert periods.week(of).first <= of <= periods.week(of).last


@given(DAYS, st.integers(-60, 60))
def test_months(of: date, away: int) -> None:
    """Months follow each other without a gap, in both directions."""
    this, following = periods.month_from(of, away), periods.month_from(of, away + 1)
    assert this.first.day == 1
    assert this.last + timedelta(1) == following.first
    assert periods.month_from(of, 0).first <= of <= periods.month_from(of, 0).last


@given(DAYS, st.integers(0, 6), st.sampled_from([-1, 1]))
def test_weekdays(of: date, number: int, direction: int) -> None:
    """The nearest such weekday lies strictly before or after, at most a week away."""
    found = weekday_from(of, number, direction)
    assert found.weekday() == number
    assert 1 <= (found - of).days * direction <= 7


@given(DAYS, st.integers(1, 12), st.booleans())
def test_nearest_month(of: date, number: int, future: bool) -> None:
    """The last such month that has begun, or the first that has not ended."""
    found = nearest_month(of, number, future=future)
    assert found.first.month == number
    assert found.last >= of if future else found.first <= of
    assert abs((found.first - of).days) <= 366


@given(DAYS, st.sampled_from(sorted(periods.SEASONS)), st.booleans())
def test_nearest_season(of: date, name: str, future: bool) -> None:
    """The last such season that has begun, or the first that has not ended."""
    found = nearest_season(of, name, future=future)
    assert found.first.month == periods.SEASONS[name]
    assert found.last >= of if future else found.first <= of
    assert abs((found.first - of).days) <= 456


def test_years_and_decades() -> None:
    """A decade is ten years, and winter ends in the next year."""
    assert periods.decade(1990) == Period(date(1990, 1, 1), date(1999, 12, 31), Precision.DECADE)
    assert periods.year(2019) == Period(date(2019, 1, 1), date(2019, 12, 31), Precision.YEAR)
    assert periods.season(2018, "winter") == Period(date(2018, 12, 1), date(2019, 2, 28), Precision.SEASON)


def test_drawn_out() -> None:
    """A period until later is a range; until earlier it stays."""
    year = periods.year(2019)
    assert year.until(date(2023, 6, 9)) == periods.span(date(2019, 1, 1), date(2023, 6, 9))
    assert year.until(date(2018, 1, 1)) == year


def test_no_such_day() -> None:
    """What no calendar has is an error, not another day."""
    with pytest.raises(ValueError, match="month"):
        periods.month(2023, 13)
    with pytest.raises(OverflowError):
        periods.week(date.max, 1)
