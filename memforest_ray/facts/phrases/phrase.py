"""Phrases that name a time: one pattern each, with how its match becomes a period.

Patterns bound every repetition, so that a text of any length and shape is searched in linear time.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from memforest_ray.facts.periods import Period, day, month_from, span, week, weekend, year

__all__ = ["AMOUNT", "Annual", "Phrase", "Setting", "ago", "ahead", "amount"]


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a phrase stands: in what text, and on which day it was said."""

    text: str
    today: date
    """In the session's zone; without a base any day serves, since only absolute phrases are resolved."""
    tense: Callable[["re.Match[str]"], bool]
    """Whether the words around the phrase speak of the future."""

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


_ONE_TO_TWELVE = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
AMOUNT: Final = {word: (number, number) for number, word in enumerate(_ONE_TO_TWELVE, start=1)} | {
    "a": (1, 1),
    "an": (1, 1),
    "fifteen": (15, 15),
    "twenty": (20, 20),
    "thirty": (30, 30),
    "forty": (40, 40),
    "fifty": (50, 50),
    "couple": (2, 3),
    "few": (2, 6),
    "several": (3, 7),
}
"""Counting words, with the least and the most that they may mean."""


def amount(words: str) -> tuple[int, int]:
    """The number that is written in figures or words, as its least and most: "a few" is 2 to 6."""
    if words.isdecimal():
        return int(words), int(words)
    for word in reversed(words.lower().split()):
        if word in AMOUNT:
            return AMOUNT[word]
    raise ValueError(f"not a number: {words!r}")


def ago(today: date, least: int, most: int, unit: str) -> Period:
    """`least` to `most` units before a day: the calendar unit when they are one, else a range of days."""
    return _away(today, -least, unit) if least == most else _join(_away(today, -most, unit), _away(today, -least, unit))


def ahead(today: date, least: int, most: int, unit: str) -> Period:
    """`least` to `most` units after a day."""
    return _away(today, least, unit) if least == most else _join(_away(today, least, unit), _away(today, most, unit))


def _join(early: Period, late: Period) -> Period:
    return span(early.first, late.last)


def _away(today: date, count: int, unit: str) -> Period:
    if unit not in _UNITS:
        raise ValueError(f"not a unit of time: {unit!r}")
    return _UNITS[unit](today, count)


_UNITS: Final[dict[str, Callable[[date, int], Period]]] = {
    "hour": lambda today, _: day(today),
    "day": lambda today, count: day(today + timedelta(count)),
    "week": week,
    "weekend": weekend,
    "month": month_from,
    "year": lambda today, count: year(today.year + count),
    "decade": lambda today, count: year(today.year + 10 * count),
}
