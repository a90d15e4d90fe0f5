"""Time in a question: the interval it names, and which way along a chain of states it looks."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memforest_ray.facts.expressions import AnyYear, find_any_year, find_times
from memforest_ray.facts.words import words
from memforest_ray.index.table import UNKNOWN, Integers
from memforest_ray.trees.leaves import day_of

__all__ = ["Direction", "Interval", "TimeReading", "read_time", "within"]

_DAY_MS: Final = 86_400_000

Interval = tuple[int | None, int | None]
"""Half-open, in ms since 1970 UTC; None is open."""


class Direction(StrEnum):
    """Which entry of a chain a question wants."""

    CURRENT = "current"
    PREVIOUS = "previous"
    FIRST = "first"
    BEFORE = "before"
    AFTER = "after"
    BETWEEN = "between"


@dataclass(frozen=True, slots=True)
class TimeReading:
    """What a question says about time."""

    intervals: tuple[Interval, ...] = ()
    any_year: tuple[AnyYear, ...] = ()
    """Days or months it names without a year."""
    only_time: bool = False
    """Whether it asks for nothing but what lies in that time ("What happened on 18 March?")."""
    direction: Direction | None = None
    topic: str = ""
    """What is asked for, without the words about time."""
    anchors: tuple[str, ...] = ()
    """For before, after and between: the happening, or the two, that it is measured from."""

    @property
    def names_time(self) -> bool:
        return bool(self.intervals or self.any_year)

    @property
    def phrases(self) -> tuple[str, ...]:
        """The reading in words, for the trace."""
        return (*self._direction(), *(span_text(*interval) for interval in self.intervals), *self._any_year())

    def _direction(self) -> Iterator[str]:
        if self.direction is not None:
            yield " ".join((self.direction, *self.anchors[:1], *(f"and {anchor}" for anchor in self.anchors[1:])))

    def _any_year(self) -> Iterator[str]:
        for each in self.any_year:
            yield f"{each.month:02d}" + (f"-{each.day:02d}" if each.day else "") + " of any year"


def span_text(since: int | None, until: int | None) -> str:
    """An interval as people read it: its first and last day."""
    last = None if until is None else until - 1
    return f"{day_of(since) or '...'} to {day_of(last) or '...'}"


_VAGUE: Final = frozenset(
    [
        "what",
        "when",
        "which",
        "who",
        "did",
        "do",
        "does",
        "was",
        "were",
        "is",
        "are",
        "happen",
        "happened",
        "happening",
        "happens",
        "anything",
        "something",
        "go",
        "going",
        "went",
        "gone",
        "on",
        "in",
        "at",
        "of",
        "the",
        "a",
        "an",
        "to",
        "about",
        "up",
        "any",
        "event",
        "events",
        "thing",
        "things",
        "there",
        "during",
        "for",
        "i",
        "we",
        "you",
        "me",
        "us",
        "my",
        "our",
        "they",
        "he",
        "she",
        "everyone",
        "day",
        "date",
        "month",
        "year",
        "time",
        "that",
        "this",
        "say",
        "said",
        "talk",
        "talked",
        "tell",
        "told",
        "happenings",
        "been",
        "have",
        "has",
        "had",
        "new",
        "took",
        "take",
        "place",
        "发生",
        "生",
        "了",
        "什",
        "么",
        "什么",
        "有",
        "事",
        "情",
        "事情",
        "做",
        "क्या",
        "हुआ",
        "हुई",
        "था",
        "थी",
        "को",
        "में",
    ]
)
"""Words that ask for nothing in particular."""

_CLAUSE: Final = r"(?P<anchor>[^?？。.,;]+)"
_DIRECTIONS: Final = (
    (
        Direction.BETWEEN,
        re.compile(r"\b(?:in )?between (?P<anchor>.+?) and (?P<second>[^?？。.,;]+)", re.IGNORECASE),
    ),
    (Direction.BEFORE, re.compile(rf"\b(?:(?:right |just |shortly )?before|prior to|until) {_CLAUSE}", re.IGNORECASE)),
    (
        Direction.AFTER,
        re.compile(rf"\b(?:(?:right |just |shortly )?after|following|ever since|since) {_CLAUSE}", re.IGNORECASE),
    ),
    (Direction.BEFORE, re.compile(r"(?P<anchor>[^，,。？?的]{2,})(?:之前|以前)|(?P<second>\S+(?: \S+){0,3}) से पहले")),
    (Direction.AFTER, re.compile(r"(?P<anchor>[^，,。？?的]{2,})(?:之后|以后)|(?P<second>\S+(?: \S+){0,3}) के बाद")),
    (
        Direction.PREVIOUS,
        re.compile(
            r"\b(previous(ly)?|former(ly)?|used to|earlier|prior|old job|last (job|employer|home))\b|"
            r"\bbefore\W*$|以前|之前|从前|原来|पहले",
            re.IGNORECASE,
        ),
    ),
    (
        Direction.FIRST,
        re.compile(
            r"\b(first|originally|initially|at first|to begin with|earliest)\b|最初|最早|सबसे पहले", re.IGNORECASE
        ),
    ),
    (
        Direction.CURRENT,
        re.compile(
            r"\b(current(ly)?|now|nowadays|these days|still|at present|at the moment|latest|most recent(ly)?|today)\b|"
            r"现在|目前|如今|अभी|आजकल|इस समय",
            re.IGNORECASE,
        ),
    ),
)
_PRESENT: Final = re.compile(
    r"^\W*(where|who|what|which|how|for whom|with whom)\b.{0,20}?\b(does|do|is|are|am)\b", re.IGNORECASE
)


def read_time(text: str, base_ms: int | None, zone: str | None) -> TimeReading:
    """Read what `text` says about time. `base_ms` is when it was asked. Never raises."""
    years = find_any_year(text)
    taken = [(each.start, each.end) for each in years]
    found = [
        each
        for each in find_times(text, base_ms, zone)
        if not any(start < each.end and each.start < end for start, end in taken)
    ]
    spans = taken + [(each.start, each.end) for each in found]
    direction, topic, anchors = _direction(text)
    measured = direction in _MEASURED
    return TimeReading(
        intervals=() if measured else tuple(each.event.interval for each in found),
        any_year=() if measured else tuple(years),
        only_time=bool(spans) and not measured and _says_no_more(text, spans),
        direction=direction,
        topic=topic,
        anchors=anchors,
    )


_POINTING: Final = re.compile(r"(that|this|then|now|it|这|那|这个|那个)( one| place)?", re.IGNORECASE)
"""A happening that is not named: what was before it is what was before now."""
_MEASURED: Final = (Direction.BEFORE, Direction.AFTER, Direction.BETWEEN)


def _direction(text: str) -> tuple[Direction | None, str, tuple[str, ...]]:
    for direction, pattern in _DIRECTIONS:
        match = pattern.search(text)
        if match is None:
            continue
        anchors = tuple(part.strip() for part in match.groupdict().values() if part and part.strip())
        if direction in _MEASURED and not anchors:
            continue
        if direction is Direction.BEFORE and _POINTING.fullmatch(anchors[0]):
            return Direction.PREVIOUS, text[: match.start()], ()
        return direction, text[: match.start()] + " " + text[match.end() :], anchors
    if _PRESENT.search(text):
        return Direction.CURRENT, text, ()
    return None, text, ()


def _says_no_more(text: str, spans: list[tuple[int, int]]) -> bool:
    kept = list(text)
    for start, end in spans:
        kept[start:end] = " " * (end - start)
    return all(word.removesuffix("'s") in _VAGUE for word in words("".join(kept)))


def within(reading: TimeReading, starts: Integers, ends: Integers, sources: Integers) -> NDArray[np.bool_]:
    """Which items lie in the time that a question names: by event time, or by source time where that is unknown."""
    known = starts != UNKNOWN
    first = np.where(known, starts, sources)
    last = np.where(known, ends, np.where(sources == UNKNOWN, UNKNOWN, sources + 1))
    inside = np.zeros(len(first), bool)
    for since, until in reading.intervals:
        inside |= overlapping(first, last, since, until)
    for each in reading.any_year:
        inside |= _on_any_year(first, last, each)
    return inside


def overlapping(first: Integers, last: Integers, since: int | None, until: int | None) -> NDArray[np.bool_]:
    """Which half-open intervals meet [since, until); unknown ones never do."""
    meets: NDArray[np.bool_] = np.not_equal(first, UNKNOWN)
    if since is not None:
        meets &= last > since
    if until is not None:
        meets &= first < until
    return meets


def _on_any_year(first: Integers, last: Integers, wanted: AnyYear) -> NDArray[np.bool_]:
    """Which intervals, no longer than what is asked for, begin in that month or on that day of some year."""
    days = np.where(first == UNKNOWN, 0, first // _DAY_MS).astype("datetime64[D]")
    months = days.astype("datetime64[M]")
    inside: NDArray[np.bool_] = np.not_equal(first, UNKNOWN)
    inside &= (months.astype(np.int64) % 12) + 1 == wanted.month
    inside &= last - first <= (31 if wanted.day is None else 1) * _DAY_MS
    if wanted.day is not None:
        inside &= (days - months.astype("datetime64[D]")).astype(np.int64) + 1 == wanted.day
    return inside
