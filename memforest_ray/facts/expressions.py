"""Time expressions in a text, resolved to intervals with the precision in which they were said.

Our own patterns find them, calendar arithmetic resolves them against the day on which they were said. What
they combine to is found around them: "the week before 9 June 2023", "since last May", "from 3 to 10 May".
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, tzinfo
from typing import Final

from memforest_ray.facts.instants import zone_of
from memforest_ray.facts.periods import Period, day, month_from, span, week, weekday_from, weekend, year
from memforest_ray.facts.phrases.chinese import CHINESE
from memforest_ray.facts.phrases.dates import DATES
from memforest_ray.facts.phrases.hindi import HINDI
from memforest_ray.facts.phrases.nearby import NEARBY
from memforest_ray.facts.phrases.phrase import Phrase, Setting, ago, ahead, amount
from memforest_ray.facts.phrases.vocabulary import MONTHS, WEEKDAYS, speaks_of_future
from memforest_ray.facts.times import EPOCH, EventTime, to_datetime
from memforest_ray.facts.words import word_set

__all__ = ["AnyYear", "Found", "find_any_year", "find_times"]


@dataclass(frozen=True, slots=True)
class Found:
    """A time expression: `text[start:end]`, and what it means."""

    start: int
    end: int
    event: EventTime


@dataclass(frozen=True, slots=True)
class AnyYear:
    """An expression that names a month or a day of it and leaves the year open: a question may mean any."""

    start: int
    end: int
    month: int
    day: int | None


@dataclass(frozen=True, slots=True)
class _Hit:
    start: int
    end: int
    period: Period
    relative: bool


# Nothing is searched in a text without any of these: parts of words, whole words, digits and other scripts.
_HOOKS: Final = word_set(
    "ago back day week month year night morning afternoon evening tomorrow decade spring summer fall autumn winter "
    "christmas halloween"
) | {"from now"}
_NAMES: Final = frozenset((*MONTHS, *WEEKDAYS))
_LETTERS: Final = re.compile(r"[a-z]+")
_SCRIPTS: Final = re.compile(r"[\d\u4e00-\u9fff\u0900-\u097f]")
_WIDE_DIGITS: Final = {0x966 + digit: str(digit) for digit in range(10)} | {
    0xFF10 + digit: str(digit) for digit in range(10)
}
_LANGUAGES: Final = (
    (re.compile(r"[a-z]|\d", re.IGNORECASE | re.ASCII), (*DATES, *NEARBY)),
    (re.compile(r"[\u4e00-\u9fff]"), CHINESE),
    (re.compile(r"[\u0900-\u097f]"), HINDI),
)


def find_times(text: str, base_ms: int | None, zone: str | None, *, future: bool | None = None) -> list[Found]:
    """Time expressions of `text` in order, not overlapping.

    `base_ms` is when it was said; relative expressions ("last week", "on 18 March") are left out without it.
    Days are those of `zone` (IANA name, UTC when not given). Where an expression may lie before or after the
    base ("in May"), `future` decides, or when it is `None` the words around it do; without a sign it is past.
    """
    if not _may_tell(text):
        return []
    place = zone_of(zone)
    today = _today(base_ms, place)
    hits = _compose(text, _hits(text, today, future), today)
    found = (_found(text, hit, base_ms, place) for hit in hits)
    return [each for each in found if each is not None]


def find_any_year(text: str) -> list[AnyYear]:
    """Expressions that leave the year open ("on 18 March", "in May"), whenever they were said."""
    found: list[AnyYear] = []
    if not _may_tell(text):
        return found
    plain = text.translate(_WIDE_DIGITS)
    for phrase in _phrases(plain):
        if phrase.annual is None:
            continue
        for match in phrase.pattern.finditer(plain):
            annual = phrase.annual(match)
            if annual is not None:
                found.append(AnyYear(match.start(), match.end(), annual.month, annual.day))
    return sorted(found, key=lambda each: each.start)


def _may_tell(text: str) -> bool:
    """Whether a text may tell a time. A single pattern for all of this is forty times slower."""
    plain = text.lower()
    if _SCRIPTS.search(text) or any(hook in plain for hook in _HOOKS):
        return True
    return not _NAMES.isdisjoint(_LETTERS.findall(plain))


def _today(base_ms: int | None, zone: tzinfo) -> date | None:
    if base_ms is None:
        return None
    try:
        return to_datetime(base_ms).astimezone(zone).date()
    except OverflowError:  # no calendar has that day
        return None


def _phrases(text: str) -> Iterator[Phrase]:
    for script, phrases in _LANGUAGES:
        if script.search(text):
            yield from phrases


def _hits(text: str, today: date | None, future: bool | None) -> list[_Hit]:
    plain = text.translate(_WIDE_DIGITS) if not text.isascii() else text
    setting = Setting(
        plain,
        today or EPOCH.date(),
        lambda match: speaks_of_future(plain, match.start(), match.end()) if future is None else future,
    )
    hits = [
        hit
        for phrase in _phrases(plain)
        if today is not None or not phrase.relative
        for hit in _resolved(phrase, setting)
    ]
    return list(_apart(sorted(hits, key=lambda hit: (hit.start, -hit.end))))


def _resolved(phrase: Phrase, setting: Setting) -> Iterator[_Hit]:
    for match in phrase.pattern.finditer(setting.text):
        try:
            period = phrase.resolve(match, setting)
        except (ValueError, OverflowError, IndexError):  # 30 February, a fifth Monday, the year 10,000
            continue
        if period is not None:
            yield _Hit(match.start(), match.end(), period, phrase.relative)


def _apart(hits: list[_Hit]) -> Iterator[_Hit]:
    end = 0
    for hit in hits:
        if hit.start >= end:
            yield hit
            end = hit.end


# "The week before" that stands before a date, in a window of so many characters.
_BEFORE_CHARS: Final = 48
_FROM_DATE: Final = re.compile(
    r"\b(?:the\s{1,3})?(?:(?P<count>\d{1,3}|(?:a\s{1,3})?(?:couple(?:\s{1,3}of)?|few)|an?|two|three|four|five|six|seven"
    r"|eight|nine|ten)\s{1,3})?(?P<unit>day|night|morning|evening|weekend|week|month|year|monday|tuesday|wednesday|thursday"
    r"|friday|saturday|sunday)s?\s{1,3}(?P<side>before|prior\s{1,3}to|preceding|after|following|of)\s{1,3}(?:the\s{1,3})?$",
    re.ASCII | re.IGNORECASE,
)
_SINCE: Final = re.compile(r"\bsince\s{1,3}(?:about\s{1,3}|around\s{1,3})?$", re.ASCII | re.IGNORECASE)
_FROM: Final = re.compile(r"\b(?:from|between)\s{1,3}$", re.ASCII | re.IGNORECASE)
_TO: Final = re.compile(r"\s{0,2}(?:to|until|till|through|and|-|–|—)\s{1,2}", re.ASCII | re.IGNORECASE)
_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def _compose(text: str, hits: list[_Hit], today: date | None) -> list[_Hit]:
    composed: list[_Hit] = []
    place = 0
    while place < len(hits):
        hit = hits[place]
        joined = _joined(text, hit, hits[place + 1]) if place + 1 < len(hits) else None
        place += 1 if joined is None else 2
        whole = joined or _from_date(text, hit) or _since(text, hit, today) or hit
        if composed and composed[-1].end > whole.start:
            composed.pop()
        composed.append(whole)
    return composed


def _joined(text: str, one: _Hit, other: _Hit) -> _Hit | None:
    """ "From 3 May to 10 May" as one range."""
    if not _TO.fullmatch(text, one.end, other.start):
        return None
    before = _FROM.search(text[max(0, one.start - 10) : one.start])
    if before is None or other.period.last <= one.period.first:
        return None
    period = span(one.period.first, other.period.last)
    return _Hit(one.start - len(before[0]), other.end, period, one.relative or other.relative)


def _since(text: str, hit: _Hit, today: date | None) -> _Hit | None:
    before = _SINCE.search(text[max(0, hit.start - 16) : hit.start])
    if before is None or today is None:
        return None
    return replace(hit, start=hit.start - len(before[0]), period=hit.period.until(today), relative=True)


def _from_date(text: str, hit: _Hit) -> _Hit | None:
    """ "The week before 9 June 2023": the period that is counted from another."""
    window = text[max(0, hit.start - _BEFORE_CHARS) : hit.start]
    match = _FROM_DATE.search(window)
    if match is None:
        return None
    try:
        period = _counted(match, hit.period)
    except (ValueError, OverflowError):  # before the first year of the calendar
        return None
    return None if period is None else replace(hit, start=hit.start - len(window) + match.start(), period=period)


def _counted(match: re.Match[str], base: Period) -> Period | None:
    unit, side = match["unit"].lower(), match["side"].lower()
    unit = "day" if unit in ("night", "morning", "evening") else unit
    if side == "of":
        return _holding(unit, base)
    before = side in ("before", "preceding") or side.startswith("prior")
    edge = base.first if before else base.last
    if unit in _WEEKDAYS:
        return day(weekday_from(edge, _WEEKDAYS.index(unit), -1 if before else 1))
    least, most = amount(match["count"]) if match["count"] else (1, 1)
    return ago(edge, least, most, unit) if before else ahead(edge, least, most, unit)


def _holding(unit: str, base: Period) -> Period | None:
    """The week, weekend or weekday of a date."""
    if unit == "week":
        return week(base.first)
    if unit == "weekend":
        return weekend(base.first)
    if unit == "month":
        return month_from(base.first, 0)
    if unit == "year":
        return year(base.first.year)
    return base if unit == "day" else None


def _found(text: str, hit: _Hit, base_ms: int | None, zone: tzinfo) -> Found | None:
    try:
        start_ms, end_ms = _instant(hit.period.first, zone), _instant(hit.period.last + timedelta(1), zone)
    except OverflowError:  # the last day of the calendar
        return None
    expression = " ".join(text[hit.start : hit.end].split())
    event = EventTime(start_ms, end_ms, hit.period.precision, expression, base_ms if hit.relative else None)
    return Found(hit.start, hit.end, event)


def _instant(of: date, zone: tzinfo) -> int:
    """The instant at which that day begins in that zone."""
    return (datetime(of.year, of.month, of.day, tzinfo=zone) - EPOCH) // timedelta(milliseconds=1)
