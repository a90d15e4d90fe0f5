"""Phrases that name a time: one pattern each, with how its match becomes a period.

Patterns bound every repetition, so that a text of any length and shape is searched in linear time.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from memforest_ray.facts.periods import Period, day, month_from, span, week, weekend, year

__all__ = ["Annual", "Phrase", "Setting", "ago", "ahead"]


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a phrase stands: in what text, and when it was said."""

    text: str
    now: datetime
    """On the clocks of the session's zone; without a base any time serves: only absolute phrases are resolved then."""
    tense: Callable[["re.Match[str]"], bool]
    """Whether the words around the phrase speak of the future."""

    @property
    def today(self) -> date:
        return self.now.date()

    def future(self, found: "re.Match[str]") -> bool:
        return self.tense(found)


@dataclass(frozen=True, slots=True)
class Annual:
    """A month, or a day of it, of a year that was not said."""

    month: int
    day: int | None


@dataclass(frozen=True, slots=True)
class Phrase:
    """One way to name a time."""

    pattern: "re.Pattern[str]"
    resolve: "Callable[[re.Match[str], Setting], Period | None]"
    """The period, or nothing when it is no time after all; `ValueError` when no calendar has it."""
    relative: bool = True
    """Whether it means nothing without the day on which it was said."""
    annual: "Callable[[re.Match[str]], Annual | None] | None" = None
    """What it names when it leaves the year open, where it can."""
    hooks: "tuple[frozenset[str], ...]" = ()
    """Where a text holds none of one of these, it holds no such phrase: nothing is searched for it."""


def ago(now: datetime, least: int, most: int, unit: str) -> Period:
    """`least` to `most` units before a time: the calendar unit when they are one, else a range of days."""
    return _away(now, -least, unit) if least == most else _join(_away(now, -most, unit), _away(now, -least, unit))


def ahead(now: datetime, least: int, most: int, unit: str) -> Period:
    """`least` to `most` units after a time."""
    return _away(now, least, unit) if least == most else _join(_away(now, least, unit), _away(now, most, unit))


def _join(early: Period, late: Period) -> Period:
    return span(early.first, late.last)


def _away(now: datetime, count: int, unit: str) -> Period:
    if unit in _CLOCK:
        return day((now + count * _CLOCK[unit]).date())
    if unit not in _UNITS:
        raise ValueError(f"not a unit of time: {unit!r}")
    return _UNITS[unit](now.date(), count)


_CLOCK: Final = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1)}
"""Finer than a day: they tell the day that it is then, which may be tomorrow."""
_UNITS: Final[dict[str, Callable[[date, int], Period]]] = {
    "day": lambda today, count: day(today + timedelta(count)),
    "week": week,
    "weekend": weekend,
    "month": month_from,
    "year": lambda today, count: year(today.year + count),
    "decade": lambda today, count: year(today.year + 10 * count),
}
