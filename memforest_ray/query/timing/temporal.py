"""Time in a question: the interval it names, and which way along time it looks."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memforest_ray.facts.expressions import AnyYear, find_any_year, find_times
from memforest_ray.facts.words import word_set, words
from memforest_ray.index.table import UNKNOWN, Integers
from memforest_ray.query.timing.directions import MEASURED, Direction, Look, look, plain_words
from memforest_ray.trees.leaves import day_of

__all__ = [
    "Interval",
    "TimeReading",
    "looks_ahead",
    "overlapping",
    "read_time",
    "span_text",
    "told_after",
    "told_ahead",
    "within",
]

_DAY_MS: Final = 86_400_000

Interval = tuple[int | None, int | None]
"""Half-open, in ms since 1970 UTC; None is open."""


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
    """For before, after, between, at and how long: the happening, or the two, that it is measured from."""
    ahead: bool = False
    """Whether it asks for what is to come, or was planned."""
    coming: bool = False
    """Whether it asks for nothing but what is to come: "When will she see the dentist?"."""
    gone: bool = False
    """Whether it asks when something was that is over: "When did she see the dentist?"."""

    @property
    def names_time(self) -> bool:
        return bool(self.intervals or self.any_year)

    @property
    def phrases(self) -> tuple[str, ...]:
        """The reading in words, for the trace."""
        return (*self._direction(), *("ahead",) * self.ahead, *self.times)

    @property
    def times(self) -> tuple[str, ...]:
        """The times that it names, in words."""
        return (*(span_text(*interval) for interval in self.intervals), *self._any_year())

    def _direction(self) -> Iterator[str]:
        if self.direction is not None:
            yield " ".join((self.direction, *self.anchors[:1], *(f"and {anchor}" for anchor in self.anchors[1:])))

    def _any_year(self) -> Iterator[str]:
        for each in self.any_year:
            yield f"{each.day} " * bool(each.day) + f"{date(2000, each.month, 1):%B} of any year"


def span_text(since: int | None, until: int | None) -> str:
    """An interval as people read it: its first and last day; where one end is open, the other."""
    last = None if until is None else until - 1
    if since is None and last is None:
        return "any time"
    if last is None:
        return f"{day_of(since)} or later"
    return f"{day_of(since)} to {day_of(last)}" if since is not None else f"{day_of(last)} or earlier"


_VAGUE: Final = word_set("""
    what when which who did do does was were is are happen happened happening happens anything something go going
    went gone on in at of the a an to about up any event events thing things there during for i we you me us my our
    they he she everyone day date month year time that this say said talk talked tell told happenings been have has
    had new took take place will planned scheduled upcoming coming ahead
    发生 生 了 什 么 什么 有 事 情 事情 做 क्या हुआ हुई था थी को में
""")
"""Words that ask for nothing in particular."""


_AHEAD: Final = re.compile(
    r"\b(?:(?-i:will)|^\W*will|won't|going to|gonna|about to|upcoming|coming up|scheduled)\b"
    r"|\b(?:plan(?:s|ned|ning)?|intend(?:s|ed|ing)?)\b|\bnext\b(?! to\b)"
    r"|会(?:去|在)|将|打算|计划|下次|होगा|होगी|करेगा|करेगी|जाएगा|जाएगी",
    re.IGNORECASE,
)
_AHEAD_WORDS: Final = word_set(
    "will won going gonna about upcoming coming scheduled plan plans planned planning intend intends intended "
    "intending next"
)
"""Of which one stands in every plain text that has a sign."""
_PLANNED: Final = re.compile(r"\b(?:plan|intend)", re.IGNORECASE)
_WHEN_PAST: Final = re.compile(r"^\W*(?:when|(?:on |in )?(?:what|which) \w+) (?:did|was|were)\b", re.IGNORECASE)
_PAST: Final = re.compile(r"\b(?:did|was|were|had)\b", re.IGNORECASE)


def looks_ahead(text: str) -> bool:
    """Whether a question asks for what is to come, or was planned: "What did she do next?" does not."""
    if text.isascii() and _AHEAD_WORDS.isdisjoint(plain_words(text)):
        return False
    signs = {match[0].lower() for match in _AHEAD.finditer(text)}
    return bool(signs - {"next"} or (signs and not _PAST.search(text)))


def read_time(
    text: str, base_ms: int | None, zone: str | None, names: Collection[str] = (), *, dated: bool = False
) -> TimeReading:
    """Read what `text` says about time. Never raises.

    `base_ms` is when it was asked; `names` (folded) are words that ask for nothing in particular. When it is `dated`,
    somebody said when it was asked: then "planned for June" means the coming June, else that of any year.
    """
    ahead = looks_ahead(text)
    years = [] if ahead and dated else find_any_year(text)
    taken = [(each.start, each.end) for each in years]
    found = [
        each
        for each in find_times(text, base_ms, zone, future=True if ahead and dated else None, asked=True)
        if not any(start < each.end and each.start < end for start, end in taken)
    ]
    spans = taken + [(each.start, each.end) for each in found]
    looked = _of_somebody(look(text), text, names)
    measured = looked.direction in MEASURED
    return TimeReading(
        intervals=() if measured else tuple(each.event.interval for each in found),
        any_year=() if measured else tuple(years),
        only_time=bool(spans) and not measured and says_no_more(_without(text, spans), names),
        direction=looked.direction,
        topic=looked.topic,
        anchors=looked.anchors,
        ahead=ahead,
        coming=ahead and not measured and not (_PAST.search(text) or _PLANNED.search(text)),
        gone=not ahead and not measured and _WHEN_PAST.search(text) is not None,
    )


def _of_somebody(looked: Look, text: str, names: Collection[str]) -> Look:
    """In Chinese "before" stands behind its clause: behind a mere name it means formerly."""
    if looked.direction is Direction.BEFORE and looked.anchors[0] in names:
        return Look(Direction.PREVIOUS, text)
    return looked


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    kept = list(text)
    for start, end in spans:
        kept[start:end] = " " * (end - start)
    return "".join(kept)


def says_no_more(text: str, names: Collection[str] = ()) -> bool:
    """Whether a text asks for nothing in particular, but perhaps of someone named."""
    asked = (word.removesuffix("'s") for word in words(text))
    return all(word in _VAGUE or word in names for word in asked)


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


def told_after(starts: Integers, sources: Integers) -> NDArray[np.bool_]:
    """Which items are known to have begun when they were told."""
    after: NDArray[np.bool_] = (starts != UNKNOWN) & (sources != UNKNOWN) & (starts <= sources)
    return after


def told_ahead(starts: Integers, sources: Integers) -> NDArray[np.bool_]:
    """Which items were told before they were to happen."""
    ahead: NDArray[np.bool_] = (starts != UNKNOWN) & (sources != UNKNOWN) & (starts > sources)
    return ahead


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
