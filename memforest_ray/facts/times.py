"""Source and event time: when something was said, and when it is true or happened. Never one field.

Inside the library an instant is an `int`, milliseconds since 1970-01-01 UTC; people see aware datetimes.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum

__all__ = ["EPOCH", "LIFETIME", "EventTime", "Precision", "to_datetime"]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

LIFETIME = timedelta(days=36_525)
"""How far back "used to" reaches: before anything that is dated in somebody's life."""


_DAY_MS = 86_400_000
_WEST_MS = 36_000_000
"""Ten hours: at most so long after UTC's midnight is that of those who live west of Greenwich."""


def to_datetime(instant_ms: int) -> datetime:
    """The instant as an aware UTC datetime (exact, no platform limits)."""
    return EPOCH + timedelta(milliseconds=instant_ms)


class Precision(StrEnum):
    """How fine an event time is known."""

    INSTANT = "instant"
    DAY = "day"
    WEEKEND = "weekend"
    WEEK = "week"
    MONTH = "month"
    SEASON = "season"
    YEAR = "year"
    DECADE = "decade"
    RANGE = "range"


@dataclass(frozen=True, slots=True)
class EventTime:
    """When something is true or happened: a half-open interval with where it came from.

    Unknown event time is `None` in place of this object; it is never "now".
    """

    start_ms: int
    end_ms: int
    precision: Precision
    expression: str
    """The words it came from, e.g. "last week"."""
    base_ms: int | None
    """The instant they were resolved against; `None` for an absolute expression."""

    def __post_init__(self) -> None:
        if self.end_ms <= self.start_ms:
            raise ValueError(f"an interval ends after it starts: {self.start_ms} .. {self.end_ms}")

    @property
    def start(self) -> datetime:
        """Its first instant, in UTC."""
        return to_datetime(self.start_ms)

    @property
    def end(self) -> datetime:
        """The first instant after it, in UTC: intervals are half-open."""
        return to_datetime(self.end_ms)

    @property
    def days(self) -> tuple[date, date]:
        """Its first and last day on the calendar of those who told it; an instant's is UTC's.

        Their day begins at their midnight, and that tells how far from UTC they are, from UTC-10 to before UTC+14.
        """
        if self.precision is Precision.INSTANT:
            return self.start.date(), to_datetime(self.end_ms - 1).date()
        return _day_begun(self.start_ms), _day_begun(self.end_ms) - timedelta(1)

    @property
    def open_start(self) -> bool:
        """Whether only its end is known: it reaches back as far as a life does."""
        return self.end - self.start >= LIFETIME

    @property
    def interval(self) -> tuple[int, int]:
        """What decides whether two event times agree."""
        return self.start_ms, self.end_ms


def _day_begun(midnight_ms: int) -> date:
    """The day that begins at somebody's midnight."""
    return to_datetime((midnight_ms + _DAY_MS - _WEST_MS - 1) // _DAY_MS * _DAY_MS).date()
