"""The time of a statement, from the words in which a turn says it and from how a model has read them.

Words that our own patterns know are resolved by these, against the time of the turn, whatever the model made of
them: calendar arithmetic is not what models are good at. The model's reading stands for the rest.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta, tzinfo
from typing import Final

from memforest_ray.facts.candidates import TurnInput
from memforest_ray.facts.expressions import Found, find_any_year, find_times
from memforest_ray.facts.instants import zone_of
from memforest_ray.facts.periods import Period, day, month_from, span, week, year
from memforest_ray.facts.phrases.yearly import is_yearly
from memforest_ray.facts.times import EPOCH, LIFETIME, EventTime, Precision, to_datetime

__all__ = ["reported_time"]

_DAY: Final = re.compile(r"(\d{4})(?!\d)(?:-(\d{1,2})(?:-(\d{1,2})(?!\d))?(?!\d))?")
_REACH_YEARS: Final = 150
"""Nobody tells of days further from the time of telling; a year outside is a misreading."""
_YEARS: Final = (1000, 2999)
_EXPRESSION_CHARS_MAX: Final = 100
_LIMITS: Final = r"(?:before|after|until|till?|prior to)"
_LIMIT: Final = re.compile(rf"{_LIMITS}\b", re.IGNORECASE)
_LIMIT_BEFORE: Final = re.compile(rf"\b{_LIMITS}$", re.IGNORECASE)
_LIFETIME_MS: Final = LIFETIME // timedelta(milliseconds=1)


def reported_time(words: str, first: str, last: str, turns: Sequence[TurnInput], zone: str | None) -> EventTime | None:
    """When it was, by `words` of one of `turns` or by the days that a model gave; None where nothing is sure.

    An empty `first` with a `last`: all the time until then ("used to").
    """
    words = " ".join(words.split())[:_EXPRESSION_CHARS_MAX]
    if not words or not turns or _is_yearly(words, turns):
        return None
    ours = _in_place(words, turns, zone) or _alone(words, turns, zone)
    if ours is not None and not ours.limit:
        return ours.event
    return _read(words, first, last, turns, zone) or (None if ours is None else ours.event)


@dataclass(frozen=True, slots=True)
class _Ours:
    """What our patterns make of the words."""

    event: EventTime
    limit: bool
    """What is known to be before or after a day is not of that day: a model's reading is worth more than ours."""


def _ours(text: str, found: Found) -> _Ours:
    before = text[max(0, found.start - 12) : found.start].rstrip()
    return _Ours(found.event, bool(_LIMIT.match(found.event.expression) or _LIMIT_BEFORE.search(before)))


def _is_yearly(words: str, turns: Sequence[TurnInput]) -> bool:
    """Whether they name a day of every year, to which a model adds a year: "my birthday is 4 March"."""
    return any(
        is_yearly(turn.text, each.start, each.end, a_day=each.day is not None)
        for turn, match in _places(words, turns)
        for each in find_any_year(turn.text)
        if each.start < match.end() and match.start() < each.end
    )


def _in_place(words: str, turns: Sequence[TurnInput], zone: str | None) -> _Ours | None:
    """As our patterns read it where it stands, with what is around it."""
    for turn, match in _places(words, turns):
        for found in find_times(turn.text, turn.source_ms, zone):
            if found.start < match.end() and match.start() < found.end:
                return _ours(turn.text, found)
    return None


def _places(words: str, turns: Sequence[TurnInput]) -> Iterator[tuple[TurnInput, re.Match[str]]]:
    """Where they stand first in each turn that holds them."""
    pattern = re.compile(r"\s+".join(map(re.escape, words.split())), re.IGNORECASE)
    for turn in turns:
        match = pattern.search(turn.text)
        if match is not None:
            yield turn, match


def _alone(words: str, turns: Sequence[TurnInput], zone: str | None) -> _Ours | None:
    """As our patterns read the words by themselves: a model may have set them right."""
    found = find_times(words, turns[0].source_ms, zone)
    return _ours(words, found[0]) if found else None


def _read(words: str, first: str, last: str, turns: Sequence[TurnInput], zone: str | None) -> EventTime | None:
    """As the model has read it, if that can be."""
    turn = turns[0]
    began, ended = _period(first), _period(last)
    place = zone_of(zone)
    if began is None:
        return None if first.strip() or ended is None else _open(words, ended, turn, place)
    period = began if ended is None or ended.last <= began.last else _whole(began.first, ended.last)
    if turn.source_ms is None:
        # Without a time to reckon from, only what names its year can have been read.
        if not re.search(r"\d{4}", words):
            return None
    else:
        said = to_datetime(turn.source_ms).astimezone(place).date()
        if abs(period.first.year - said.year) > _REACH_YEARS or abs(period.last.year - said.year) > _REACH_YEARS:
            return None
        if period == day(said) and not _says(words, turns):
            return None  # words of the model's own for the day on which it was said
    return EventTime(
        _instant(period.first, place),
        _instant(period.last + timedelta(1), place),
        period.precision,
        words,
        None if re.search(r"\d{4}", words) else turn.source_ms,
    )


def _open(words: str, ended: Period, turn: TurnInput, place: tzinfo) -> EventTime:
    """All the time before an end, which is not later than when it was said."""
    end_ms = _instant(ended.last + timedelta(1), place)
    if turn.source_ms is not None:
        end_ms = min(end_ms, turn.source_ms)
    return EventTime(end_ms - _LIFETIME_MS, end_ms, Precision.RANGE, words, turn.source_ms)


def _says(words: str, turns: Sequence[TurnInput]) -> bool:
    return any(words.casefold() in " ".join(turn.text.split()).casefold() for turn in turns)


def _period(text: str) -> Period | None:
    """A day, month or year as a model writes it; None for anything else."""
    match = _DAY.match(text.strip())
    if match is None:
        return None
    number, month, of_month = (int(part) if part else None for part in match.groups())
    if number is None or not _YEARS[0] <= number <= _YEARS[1]:
        return None
    try:
        first = date(number, month or 1, of_month or 1)
    except ValueError:  # 30 February
        return None
    if of_month is not None:
        return day(first)
    return year(number) if month is None else month_from(first, 0)


def _whole(first: date, last: date) -> Period:
    """The days from `first` to `last`, as the calendar unit that they are, if any."""
    units = (day(first), week(first), month_from(first, 0), year(first.year))
    return next((unit for unit in units if (unit.first, unit.last) == (first, last)), span(first, last))


def _instant(of: date, zone: tzinfo) -> int:
    midnight = EPOCH.replace(year=of.year, month=of.month, day=of.day, tzinfo=zone)
    return (midnight - EPOCH) // timedelta(milliseconds=1)
