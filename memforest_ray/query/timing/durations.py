"""Durations: how long it is from one piece of evidence to another, no finer than their times are known."""

from datetime import datetime
from typing import Final

from dateutil.relativedelta import relativedelta

from memforest_ray.facts.times import Precision
from memforest_ray.query.result import Hit

__all__ = ["duration", "has_begun"]

_FINE: Final = frozenset({Precision.INSTANT, Precision.DAY})
_DAYS: Final = {"days": 1, "weeks": 7}
_MONTHS: Final = {"months": 1, "years": 12}


def duration(one: Hit, other: Hit | datetime, unit: str | None = None) -> str:
    """The time between two dated hits, or from one to an instant, in years, months and days, or whole `unit`s.

    "about" where days are unknown.
    """
    first, last = sorted((_start(one), _start(other) if isinstance(other, Hit) else _day(other)))
    dated = [hit for hit in (one, other) if isinstance(hit, Hit) and hit.event_time is not None]
    fine = all(hit.event_time is None or hit.event_time.precision in _FINE for hit in dated)
    return ("" if fine else "about ") + (_in_unit(first, last, unit.lower()) if unit else _calendar(first, last, fine))


def has_begun(hit: Hit, by: datetime) -> bool:
    """Whether a dated hit began no later than an instant's day: else no time can have passed since."""
    return _start(hit) <= _day(by)


def _start(hit: Hit) -> datetime:
    """When it happened, else when it was said. Callers give dated hits only."""
    start = hit.event_time.start if hit.event_time is not None else hit.source_time
    assert start is not None, "a hit that a time is measured from has one"
    return _day(start)


def _day(of: datetime) -> datetime:
    return of.replace(hour=0, minute=0, second=0, microsecond=0)


def _in_unit(first: datetime, last: datetime, unit: str) -> str:
    if unit in _DAYS:
        count = (last - first).days // _DAYS[unit]
    else:
        apart = relativedelta(last, first)
        count = (apart.years * 12 + apart.months) // _MONTHS[unit]
    return _counted(count, unit.removesuffix("s"))


def _calendar(first: datetime, last: datetime, fine: bool) -> str:
    apart = relativedelta(last, first)
    parts = [_counted(count, unit) for count, unit in ((apart.years, "year"), (apart.months, "month")) if count]
    if fine and (apart.days or not parts):
        parts.append(_counted(apart.days, "day"))
    if not parts:
        return "less than a month"
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else parts[0]


def _counted(count: int, unit: str) -> str:
    return f"{count} {unit}" + "s" * (count != 1)
