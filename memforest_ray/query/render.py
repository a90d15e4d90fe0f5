"""Render: evidence as a line that people and models read, with both its times; and how many tokens that is."""

import math
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from typing import Final

from memforest_ray.facts.times import EventTime, Precision
from memforest_ray.query.result import Hit

__all__ = ["day", "line", "times", "tokens", "when"]

_CHARS_PER_TOKEN: Final = 4
"""Of text in Latin letters; of other scripts a letter is counted as a token, which is about right or too many."""
_TOKENS_OF_ASTRAL: Final = 3
"""Of an emoji, or a rare ideograph: what lies outside of the first 65,536 characters."""


def line(hit: Hit) -> str:
    """One piece of evidence: who said it, what, when it happened and when it was said."""
    text = (
        hit.text if hit.kind == "cell" or not hit.speaker or hit.speaker in hit.text else f"{hit.speaker}: {hit.text}"
    )
    return f"{text} ({times(hit)})"


def times(hit: Hit) -> str:
    """Both times of a hit."""
    said = "said at an unknown time" if hit.source_time is None else f"said {day(hit.source_time)}"
    happened = when(hit.event_time)
    return f"time: {happened}; {said}" if happened else said


def tokens(text: str) -> int:
    """About how many tokens a model reads in a text."""
    plain = sum(letter < "\u0250" for letter in text)
    letters = len(text) - plain
    astral = 0 if text.isascii() else sum(letter > "\uffff" for letter in text)
    return math.ceil(plain / _CHARS_PER_TOKEN) + letters + (_TOKENS_OF_ASTRAL - 1) * astral


def when(event: EventTime | None) -> str:
    """An event time as people write it, no finer than it is known; nothing when it is unknown."""
    if event is None:
        return ""
    if event.open_start:
        return f"before {day(event.days[1] + timedelta(1))}"
    if event.precision is Precision.INSTANT:
        return f"{day(event.start)}, {event.start:%H:%M}"
    first, last = event.days
    format_of = _SHOWN.get(event.precision)
    return f"{day(first)} to {day(last)}" if format_of is None else format_of(first)


def day(of: date) -> str:
    """A day as people write it."""
    return f"{of.day} {of:%B} {of.year}"


_SHOWN: Final[Mapping[Precision, Callable[[date], str]]] = {
    Precision.DAY: day,
    Precision.MONTH: lambda start: f"{start:%B} {start.year}",
    Precision.YEAR: lambda start: str(start.year),
    Precision.DECADE: lambda start: f"the {start.year}s",
}
"""Precisions that are written by where they begin; the others by their first and last day."""
