"""Calendar periods: whole days with the precision in which they are known. Plain arithmetic without zones.

Weeks start on Monday. Seasons are those of the northern hemisphere; winter 2018 ends in February 2019.
Functions raise `ValueError` or `OverflowError` for days that no calendar has (30 February, the year 10,000).
"""

import calendar
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final

from memforest_ray.facts.times import Precision

__all__ = [
    "SEASONS",
    "Period",
    "day",
    "decade",
    "month",
    "month_from",
    "nearest_month",
    "nearest_season",
    "season",
    "span",
    "week",
    "weekday_from",
    "weekend",
    "year",
]

SEASONS: Final = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}
"""Each season's first month."""


@dataclass(frozen=True, slots=True)
class Period:
    """Whole days from `first` to `last`, both included."""

    first: date
    last: date
    precision: Precision

    def until(self, last: date) -> "Period":
        """This period drawn out to `last`; itself when that is earlier."""
        return self if last <= self.last else replace(self, last=last, precision=Precision.RANGE)


def day(of: date) -> Period:
    """One day."""
    return Period(of, of, Precision.DAY)


def span(first: date, last: date) -> Period:
    """Several days that are no calendar unit."""
    return Period(first, last, Precision.RANGE)


def week(of: date, away: int = 0) -> Period:
    """The calendar week of a day, or the one `away` weeks later."""
    monday = of - timedelta(of.weekday()) + timedelta(weeks=away)
    return Period(monday, monday + timedelta(6), Precision.WEEK)


def weekend(of: date, away: int = 0) -> Period:
    """Saturday and Sunday of that calendar week."""
    monday = week(of, away).first
    return Period(monday + timedelta(5), monday + timedelta(6), Precision.WEEKEND)


def month(year_number: int, number: int) -> Period:
    """A calendar month; January is 1."""
    days = calendar.monthrange(year_number, number)[1]
    return Period(date(year_number, number, 1), date(year_number, number, days), Precision.MONTH)


def month_from(of: date, away: int) -> Period:
    """The calendar month `away` months after a day's."""
    count = of.year * 12 + of.month - 1 + away
    return month(count // 12, count % 12 + 1)


def season(year_number: int, name: str) -> Period:
    """The season that begins in that year."""
    first = month(year_number, SEASONS[name]).first
    return Period(first, month_from(first, 2).last, Precision.SEASON)


def year(number: int) -> Period:
    """A calendar year."""
    return Period(date(number, 1, 1), date(number, 12, 31), Precision.YEAR)


def decade(first_year: int) -> Period:
    """The ten years from `first_year`."""
    return Period(date(first_year, 1, 1), date(first_year + 9, 12, 31), Precision.DECADE)


def weekday_from(of: date, number: int, direction: int) -> date:
    """The nearest day of that weekday (Monday is 0) strictly before (`direction` -1) or after (1) a day."""
    if direction < 0:
        return of - timedelta((of.weekday() - number - 1) % 7 + 1)
    return of + timedelta((number - of.weekday() - 1) % 7 + 1)


def nearest_month(of: date, number: int, *, future: bool) -> Period:
    """The month of that number around a day: the last that has begun, or the first that has not ended."""
    if future:
        return month(of.year + (number < of.month), number)
    return month(of.year - (number > of.month), number)


def nearest_season(of: date, name: str, *, future: bool) -> Period:
    """The season of that name around a day: the last that has begun, or the first that has not ended."""
    found = [season(of.year + away, name) for away in (-1, 0, 1)]
    if future:
        return next(period for period in found if period.last >= of)
    return next(period for period in reversed(found) if period.first <= of)
