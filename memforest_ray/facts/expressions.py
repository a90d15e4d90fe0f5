"""Time expressions in a text, resolved to intervals with the precision in which they were said.

Our own patterns find them, calendar arithmetic resolves them against the day on which they were said. What
they combine to is found around them: "the week before 9 June 2023", "since last May", "from 3 to 10 May".
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from typing import Final

from memforest_ray.facts.instants import zone_of
from memforest_ray.facts.periods import Period, day, month, month_from, span, week, weekday_from, weekend, year
from memforest_ray.facts.phrases.chinese import CHINESE
from memforest_ray.facts.phrases.dates import DATES
from memforest_ray.facts.phrases.hindi import HINDI
from memforest_ray.facts.phrases.nearby import NEARBY
from memforest_ray.facts.phrases.numbers import COUNT, counted
from memforest_ray.facts.phrases.phrase import Phrase, Setting, ago, ahead
from memforest_ray.facts.phrases.tense import puts_off, speaks_of_future
from memforest_ray.facts.phrases.vocabulary import MONTHS, WEEKDAYS, compiled, hooks_in
from memforest_ray.facts.phrases.within import WITHIN
from memforest_ray.facts.phrases.yearly import is_yearly
from memforest_ray.facts.times import EPOCH, EventTime, Precision, to_datetime
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
    "ago back minute hour day week month year night morning afternoon evening tomorrow decade spring summer fall "
    "autumn winter christmas halloween thanksgiving easter valentine forties fifties sixties seventies eighties "
    "nineties"
) | {"from now"}
_NAMES: Final = frozenset((*MONTHS, *WEEKDAYS, *word_set("min mins hr hrs yr yrs")))
_LETTERS: Final = re.compile(r"[a-z]+")
_SCRIPTS: Final = re.compile(r"[\d\u4e00-\u9fff\u0900-\u097f]")
_WIDE_DIGITS: Final = {0x966 + digit: str(digit) for digit in range(10)} | {
    0xFF10 + digit: str(digit) for digit in range(10)
}
_LANGUAGES: Final = (
    (re.compile(r"[a-z]|\d", re.IGNORECASE | re.ASCII), (*WITHIN, *DATES, *NEARBY)),
    (re.compile(r"[\u4e00-\u9fff]"), CHINESE),
    (re.compile(r"[\u0900-\u097f]"), HINDI),
)


def find_times(
    text: str, base_ms: int | None, zone: str | None, *, future: bool | None = None, asked: bool = False
) -> list[Found]:
    """Time expressions of `text` in order, not overlapping.

    `base_ms` is when it was said; relative expressions ("last week", "on 18 March") are left out without it.
    Days are those of `zone` (IANA name, UTC when not given). Where an expression may lie before or after the
    base ("in May"), `future` decides, or when it is `None` the words around it do; without a sign it is past. So is
    what stands without any verb in a question (`asked`); in a statement ("dentist on Friday") it may lie ahead.
    """
    if not _may_tell(text):
        return []
    place = zone_of(zone)
    now = _now(base_ms, place)
    hits = _compose(text, _hits(text, now, future, asked), now)
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
            if annual is not None and not _in_a_year(plain, match):
                found.append(AnyYear(match.start(), match.end(), annual.month, annual.day))
    return sorted(found, key=lambda each: each.start)


def _in_a_year(text: str, match: re.Match[str]) -> bool:
    """Whether the year is told beside it: "in May last year"."""
    return "year" in text.lower() and any(
        match.start() < whole.end() and whole.start() < match.end()
        for phrase in WITHIN
        for whole in phrase.pattern.finditer(text)
    )


def _may_tell(text: str) -> bool:
    """Whether a text may tell a time. A single pattern for all of this is forty times slower."""
    plain = text.lower()
    if _SCRIPTS.search(text) or any(hook in plain for hook in _HOOKS):
        return True
    return not _NAMES.isdisjoint(_LETTERS.findall(plain))


def _now(base_ms: int | None, zone: tzinfo) -> datetime | None:
    """What the clocks of the zone show then."""
    if base_ms is None:
        return None
    try:
        return to_datetime(base_ms).astimezone(zone).replace(tzinfo=None)
    except OverflowError:  # no calendar has that day
        return None


def _phrases(text: str) -> Iterator[Phrase]:
    """Those that a text may hold, by its script and its words."""
    held = hooks_in(text)
    for number, (script, _) in enumerate(_LANGUAGES):
        if script.search(text):
            yield from _hooked(number, held)


@lru_cache(maxsize=256)
def _hooked(language: int, held: frozenset[str]) -> tuple[Phrase, ...]:
    """Phrases of a language that a text with these hooks may hold."""
    _, phrases = _LANGUAGES[language]
    return tuple(phrase for phrase in phrases if not any(held.isdisjoint(hooks) for hooks in phrase.hooks))


def _hits(text: str, now: datetime | None, future: bool | None, asked: bool) -> list[_Hit]:
    plain = text.translate(_WIDE_DIGITS) if not text.isascii() else text
    setting = Setting(
        plain,
        now or EPOCH.replace(tzinfo=None),
        lambda match: speaks_of_future(plain, *match.span(), asked=asked) if future is None else future,
    )
    hits = [
        hit
        for phrase in _phrases(plain)
        if now is not None or not phrase.relative
        for hit in _resolved(phrase, setting)
    ]
    return list(_apart(sorted(hits, key=lambda hit: (hit.start, -hit.end))))


def _resolved(phrase: Phrase, setting: Setting) -> Iterator[_Hit]:
    for match in phrase.pattern.finditer(setting.text):
        try:
            period = phrase.resolve(match, setting)
        except (ValueError, OverflowError, IndexError):  # 30 February, a fifth Monday, the year 10,000
            continue
        if period is not None and not (phrase.relative and _returns(phrase, setting, match, period)):
            yield _Hit(match.start(), match.end(), period, phrase.relative)


_SENTENCE_CHARS: Final = 80
_EACH_YEAR: Final = compiled(
    r"\b(?:(?:every|each)(?: single)? (?:year|week|month)|annually|yearly|weekly|monthly)\b"
    r"(?:(?!\b(?:but|and|so|then|this)\b)[^.!?,;\n]){0,60}$"
)
_EACH_AFTER: Final = compiled(
    r",? (?:(?:every|each|of (?:every|each))(?: single)? (?:year|week|month)|annually|yearly)\b"
)
_ONE_OF_THEM: Final = compiled(
    r"\b(?:last|next|this|past|coming|ago|back|yesterday|today|tonight|tomorrow|since|from)\b"
)


def _returns(phrase: Phrase, setting: Setting, match: re.Match[str], period: Period) -> bool:
    """Whether it returns each year or week ("every year in May", a birthday): then no one time is meant."""
    if _ONE_OF_THEM.search(match[0]):
        return False
    text, days = setting.text, (setting.today - period.first).days
    annual = phrase.annual(match) if phrase.annual is not None else None
    if annual is not None and is_yearly(text, *match.span(), a_day=annual.day is not None, days=days):
        return True
    before = text[max(0, match.start() - _SENTENCE_CHARS) : match.start()]
    return bool(_EACH_YEAR.search(before) or _EACH_AFTER.match(text, match.end()))


def _apart(hits: list[_Hit]) -> Iterator[_Hit]:
    end = 0
    for hit in hits:
        if hit.start >= end:
            yield hit
            end = hit.end


# "The week before" that stands before a date, in a window of so many characters.
_BEFORE_CHARS: Final = 48
_FROM_DATE: Final = compiled(
    rf"(?<!\w)(?:the )?(?:{COUNT} )?(?P<unit>day|night|morning|evening|weekend|week|fortnight|month|year|monday|tuesday"
    r"|wednesday|thursday|friday|saturday|sunday)s? (?P<side>before|prior to|preceding|after|following|of|ago|from)"
    r" (?:the )?$"
)
_LEAD: Final = compiled(r"(?:before|after|of) ")
_SINCE: Final = re.compile(r"\bsince\s{1,3}(?:about\s{1,3}|around\s{1,3})?$", re.ASCII | re.IGNORECASE)
_FROM: Final = re.compile(r"\b(?:from|between)\s{1,3}$", re.ASCII | re.IGNORECASE)
_TO: Final = re.compile(
    r"\s{1,2}(?:to|until|till|through|and)\s{1,2}|\s{0,2}[-–—~～到至]\s{0,2}", re.ASCII | re.IGNORECASE
)
_UNTIL_IN: Final = compiled(r"(?:until|till|til) ")
_UNTIL_BEFORE: Final = compiled(r"\b(?:until|till|til)(?: the)? $")
_NOT_UNTIL: Final = compiled(
    r"(?:\b(?:not|never|no|nothing|nobody)\b|n['’]t\b)[^.!?\n]{0,60}$"
    r"|\b(?!(?:an?|each|every|per)\b)\w{1,10} (?:days?|weeks?|months?|sleeps|nights?)(?: left)? \w{3,5}(?: the)? $"
)
_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def _compose(text: str, hits: list[_Hit], now: datetime | None) -> list[_Hit]:
    composed: list[_Hit] = []
    place = 0
    while place < len(hits):
        hit = hits[place]
        joined = _joined(text, hit, hits[place + 1]) if place + 1 < len(hits) else None
        place += 1 if joined is None else 2
        whole = joined or _from_date(text, hit) or _since(text, hit, now) or _until(text, hit, now) or hit
        if composed and composed[-1].end > whole.start:
            composed.pop()
        composed.append(whole)
    return composed


def _joined(text: str, one: _Hit, other: _Hit) -> _Hit | None:
    """ "From 3 May to 10 May" as one range, and "28 June - 3 July 2022"."""
    to = _TO.fullmatch(text, one.end, other.start)
    if to is None:
        return None
    if puts_off(text, other.start):
        return other
    before = _FROM.search(text[max(0, one.start - 10) : one.start])
    if before is None and ("and" in to[0].lower() or one.period.precision is not other.period.precision):
        return None
    first, last = _of_one_year(text, one, other)
    if last.last <= first.first:
        return None
    start = one.start - len(before[0]) if before else one.start
    return _Hit(start, other.end, span(first.first, last.last), one.relative and other.relative)


def _of_one_year(text: str, one: _Hit, other: _Hit) -> tuple[Period, Period]:
    """Two ends of a range: where only one of them names its year, the other lies in it or beside it."""
    first, last = one.period, other.period
    if one.relative and not other.relative and _is_open(text, one):
        first = _in_year(first, last.first.year)
        return (first if first.first <= last.first else _in_year(first, last.first.year - 1)), last
    if other.relative and not one.relative and _is_open(text, other):
        last = _in_year(last, first.first.year)
        return first, (last if first.first <= last.first else _in_year(last, first.first.year + 1))
    return first, last


def _is_open(text: str, hit: _Hit) -> bool:
    """Whether it is a day or month that leaves the year open."""
    named = hit.period.precision in (Precision.DAY, Precision.MONTH)
    return named and any(each.start < hit.end and hit.start < each.end for each in find_any_year(text[: hit.end]))


def _in_year(period: Period, year_number: int) -> Period:
    """The same day or month of that year."""
    if period.precision is Precision.MONTH:
        return month(year_number, period.first.month)
    return day(period.first.replace(year=year_number))


def _since(text: str, hit: _Hit, now: datetime | None) -> _Hit | None:
    before = _SINCE.search(text[max(0, hit.start - 16) : hit.start])
    if before is None or now is None:
        return None
    return replace(hit, start=hit.start - len(before[0]), period=hit.period.until(now.date()), relative=True)


def _until(text: str, hit: _Hit, now: datetime | None) -> _Hit | None:
    """What holds until a day to come holds from when it was said; what does not until then begins that day."""
    inside = _UNTIL_IN.match(text, hit.start, hit.end)
    begin, end = max(0, hit.start - _BEFORE_CHARS), inside.end() if inside else hit.start
    before = text[begin:end]
    until = _UNTIL_BEFORE.search(before)
    if until is None or now is None or hit.period.first <= now.date():
        return None
    if _NOT_UNTIL.search(before) or puts_off(text, end):
        return None
    return replace(hit, start=begin + until.start(), period=span(now.date(), hit.period.last), relative=True)


def _from_date(text: str, hit: _Hit) -> _Hit | None:
    """ "The week before 9 June 2023", "a week ago yesterday": the period that is counted from another."""
    lead = _LEAD.match(text, hit.start, hit.end)  # in "the day before Christmas" the hit is "before Christmas"
    end = lead.end() if lead else hit.start
    window = text[max(0, end - _BEFORE_CHARS) : end]
    match = _FROM_DATE.search(window)
    if match is None:
        return None
    try:
        period = _counted(match, hit.period)
    except (ValueError, OverflowError):  # before the first year of the calendar
        return None
    return None if period is None else replace(hit, start=end - len(window) + match.start(), period=period)


def _counted(match: re.Match[str], base: Period) -> Period | None:
    unit, side = match["unit"].lower(), " ".join(match["side"].lower().split())
    unit = "day" if unit in ("night", "morning", "evening") else unit
    if side == "of":
        return _holding(unit, base)
    before = side in ("before", "preceding", "prior to", "ago")
    edge = base.first if before else base.last
    if unit in _WEEKDAYS:
        return day(weekday_from(edge, _WEEKDAYS.index(unit), -1 if before else 1))
    least, most, unit = counted(match["count"], unit) if match["count"] else (1, 1, unit)
    if side in ("ago", "from"):
        return _shifted(base, -least if before else least, unit) if match["count"] and least == most else None
    counting = ago if before else ahead
    return counting(datetime.combine(edge, time()), least, most, unit)


def _shifted(base: Period, count: int, unit: str) -> Period | None:
    """A period so many units away, as fine as it was: "a year ago today" is a day."""
    if unit in ("day", "week"):
        distance = timedelta(count * (7 if unit == "week" else 1))
        return replace(base, first=base.first + distance, last=base.last + distance)
    if unit not in ("month", "year"):
        return None
    moved = month_from(base.first, count * (12 if unit == "year" else 1))
    first = moved.first.replace(day=min(base.first.day, moved.last.day))
    return {Precision.DAY: day, Precision.WEEK: week, Precision.WEEKEND: weekend}.get(base.precision, _month_of)(first)


def _month_of(first: date) -> Period:
    return month_from(first, 0)


def _holding(unit: str, base: Period) -> Period | None:
    """The week, weekend or weekday of a date."""
    if unit in ("week", "weekend"):  # of a day: the week of a month may be any
        whole = week(base.first) if unit == "week" else weekend(base.first)
        return whole if base.last - base.first < timedelta(7) else None
    if unit == "month":
        return month_from(base.first, 0)
    if unit == "year":
        return year(base.first.year)
    return base if unit == "day" else None


_STOPPED: Final = re.compile(r"[^.]{4,}\.")


def _ends_sentence(text: str, start: int, end: int) -> bool:
    """Whether the last letter is the full stop of the sentence, which a pattern takes for that of "Fri."."""
    if not _STOPPED.fullmatch(text, start, end):
        return False
    follows = text[end : end + 3].lstrip()[:1]
    return not (follows.islower() or follows.isdigit())


def _found(text: str, hit: _Hit, base_ms: int | None, zone: tzinfo) -> Found | None:
    try:
        start_ms, end_ms = _instant(hit.period.first, zone), _instant(hit.period.last + timedelta(1), zone)
    except OverflowError:  # the last day of the calendar
        return None
    end = hit.end - _ends_sentence(text, hit.start, hit.end)
    expression = " ".join(text[hit.start : end].split())
    event = EventTime(start_ms, end_ms, hit.period.precision, expression, base_ms if hit.relative else None)
    return Found(hit.start, end, event)


def _instant(of: date, zone: tzinfo) -> int:
    """The instant at which that day begins in that zone."""
    return (datetime(of.year, of.month, of.day, tzinfo=zone) - EPOCH) // timedelta(milliseconds=1)
