"""Instants: what callers write for a time, read into milliseconds since 1970-01-01 UTC.

Common written forms are matched by patterns of our own; anything else goes to dateutil, which is slow and is
loaded only then. Nothing here looks at the clock: a time without day, month or year is refused.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from functools import cache
from numbers import Real
from typing import Final
from zoneinfo import ZoneInfo

from memforest_ray.errors import InvalidInput

__all__ = ["INSTANT_MAX_MS", "INSTANT_MIN_MS", "ParsedInstant", "TimeLike", "parse_instant", "zone_of"]

TimeLike = datetime | date | str | int | float | None
"""What callers write for a time: a datetime, a date, seconds since 1970 (or milli-, micro- or nanoseconds), or text."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
INSTANT_MIN_MS: Final = -62_135_596_800_000
"""The first millisecond of year 1: the first that a datetime can show."""
INSTANT_MAX_MS: Final = 253_402_300_799_999
"""The last millisecond of year 9999: the last that a datetime can show."""
_SECONDS_MAX: Final = 1e11
"""Numbers from here on are milliseconds: 1e11 seconds is in the year 5138, 1e11 milliseconds in 1973."""
_MILLISECONDS_MAX: Final = 2.6e14
"""Numbers from here on are microseconds, and a thousand times further nanoseconds: as milliseconds of no year to 9999.
As microseconds they begin in 1978."""
_NANOSECONDS_MAX: Final = 2.0**63
"""In the year 2262: what counts nanoseconds counts them in 64 bits."""
_TEXT_MAX: Final = 120
"""Characters of the longest text that is tried as a time; a date with its zone spelled out takes about 70."""


@dataclass(frozen=True, slots=True)
class ParsedInstant:
    """An instant, and whether its text or object left the zone open."""

    ms: int
    """Milliseconds since 1970-01-01 UTC; negative before."""
    naive: bool
    """True when no zone or offset was given, so that the session's zone (else UTC) was taken."""
    offset: str | None = field(default=None, compare=False)
    """The offset from UTC that was given with it (`-05:00`); None for none, and for UTC."""


def parse_instant(value: TimeLike, zone: str | None = None) -> ParsedInstant:
    """The instant that `value` names; a time without a zone is meant in `zone` (IANA name), else in UTC.

    Where day and month cannot be told apart (`5/6/2023`) the month comes first, as dateutil reads it.
    Raises InvalidInput, naming the value, when it is no time or lies outside the years 1 to 9999.
    """
    if isinstance(value, datetime):
        return _of_datetime(value, zone)
    if isinstance(value, date):
        return _of_datetime(datetime(value.year, value.month, value.day), zone)  # noqa: DTZ001 - a date has no zone
    if isinstance(value, str):
        return _of_text(value, zone)
    return _of_number(value)


def zone_of(name: str | None) -> tzinfo:
    """The zone of that IANA name, or so far from UTC (`-05:00`); UTC for None.

    Raises InvalidInput for an unknown name.
    """
    if name is None or name in {"UTC", "Z"}:
        return UTC
    try:
        if offset := _OFFSET.fullmatch(name):
            distance = timedelta(hours=int(offset[2]), minutes=int(offset[3]))
            return timezone(-distance if offset[1] == "-" else distance)
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError, TypeError) as error:
        # KeyError: not in the database; the others: not even a possible name ("../x", "Europe", 5).
        raise InvalidInput(f"unknown time zone {name!r}; use an IANA name such as 'Europe/Madrid'") from error


def _of_datetime(moment: datetime, zone: str | None, shown: object = None) -> ParsedInstant:
    distance = moment.utcoffset()
    aware = moment.replace(tzinfo=zone_of(zone)) if distance is None else moment
    instant_ms = _bounded((aware - _EPOCH) // timedelta(milliseconds=1), shown or moment)
    return ParsedInstant(instant_ms, distance is None, _offset_of(distance) if distance else None)


def _offset_of(distance: timedelta) -> str:
    """`-05:00`; of old local times the seconds are left out."""
    minutes = abs(distance) // timedelta(minutes=1)
    return f"{'-' if distance < timedelta(0) else '+'}{minutes // 60:02d}:{minutes % 60:02d}"


def _of_number(value: object) -> ParsedInstant:
    """Seconds or parts of them, told apart by size; any real number, numpy's too, but no bool."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidInput(f"a time must be a datetime, a date, a number or text, not {type(value).__name__}")
    try:
        return _of_amount(float(value), value)
    except OverflowError as error:
        raise InvalidInput("a number of that size is not a time") from error


def _of_amount(number: float, shown: object) -> ParsedInstant:
    if not math.isfinite(number) or abs(number) > _NANOSECONDS_MAX:
        raise InvalidInput(f"{shown!r} is not a time")
    size = abs(number)
    if size >= _MILLISECONDS_MAX:
        milliseconds = number / (1_000 if size < _MILLISECONDS_MAX * 1_000 else 1_000_000)
    else:
        milliseconds = number if size >= _SECONDS_MAX else number * 1_000
    return ParsedInstant(_bounded(round(milliseconds), shown), naive=False)


def _bounded(instant_ms: int, shown: object) -> int:
    if not INSTANT_MIN_MS <= instant_ms <= INSTANT_MAX_MS:
        raise InvalidInput(
            f"{shown!r} lies outside the years 1 to 9999 (numbers are seconds since 1970, or parts of them)"
        )
    return instant_ms


# ---- text -------------------------------------------------------------------------------------------------

_DIRECTION_MARKS: Final[dict[int, str | None]] = {
    **dict.fromkeys(map(ord, "\u200e\u200f\u202a\u202b\u202c\ufeff")),
    ord("\u2212"): "-",
}
"""Invisible marks that chat exports put around their dates, and the minus of typesetters."""
_IN_ZONE = re.compile(r"(.*\d(?:Z|[+-]\d\d:?\d\d)?) ?(?:\[([A-Z]\w+(?:/[\w+-]+){0,2})\]|([A-Z]\w+(?:/[\w+-]+){1,2}))")
"""`2024-01-02T10:00[Europe/Madrid]`: a zone by its name, behind a time that may have an offset, too."""
_NAMED_TOO = re.compile(r"(?<=[+-]\d{4}) [A-Z]{3,5}$")
"""`+0000 UTC`, as Go prints a time: the offset says it all."""

_OFFSET = re.compile(r"([+-])([01]\d|2[0-3]):([0-5]\d)")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")
_COMPACT = re.compile(r"((?:19|20)\d{6})(\d{6})?")
_DAY_NAMED = re.compile(r"(\d{4})[/-](\d{1,2})[/-](\d{1,2}) \([^()]*\)(?: (\d{1,2}):(\d{2})(?::(\d{2}))?)?")
_SPOKEN = re.compile(r"(\d{1,2}):(\d{2}) ?([ap])\.?m\.? on (\d{1,2}) ([A-Za-z]{3,9}),? (\d{4})", re.IGNORECASE)
_CHINESE = re.compile(
    r"(\d{4})年(\d{1,2})月(\d{1,2})日"
    r"(?:[^\d上下]{0,8}(上午|下午)? ?(\d{1,2})[:：时點点](\d{1,2})?(?:[:：分](\d{1,2}))?分?秒?)?"
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_REMARK = re.compile(r" ?\([^()]*\)$")
"""`(Central European Summer Time)`, as browsers end a date with."""

_SIGNED_ZONE = re.compile(r"\b(?:GMT|UTC) ?(?=[+-]\d)")
"""`GMT+0200` lies two hours east of Greenwich wherever dates are written, but west to dateutil (POSIX)."""
_DOTTED = re.compile(r"^(\d{1,2})\. ?(\d{1,2})\. ?(\d{4})\b")
"""`8.5.2023`: who writes dots puts the day first."""

_OFFSETS_H = {
    "UTC": 0, "GMT": 0, "UT": 0, "Z": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6,
    "PST": -8, "PDT": -7,
}  # fmt: skip
"""The zone names of RFC 2822, section 4.3; any other abbreviation means several zones and is refused."""


def _of_text(value: str, zone: str | None) -> ParsedInstant:
    text = " ".join(value.translate(_DIRECTION_MARKS).split())
    if not text or len(text) > _TEXT_MAX:
        raise _unreadable(value)
    if _NUMBER.fullmatch(text) and not _COMPACT.fullmatch(text):
        return _of_numeric_text(text, value)
    if in_zone := _IN_ZONE.fullmatch(text):
        place = zone_of(in_zone[2] or in_zone[3])
        moment = _moment(in_zone[1], value)
        return _of_datetime(moment if moment.tzinfo else moment.replace(tzinfo=place), zone, shown=value)
    return _of_datetime(_moment(_NAMED_TOO.sub("", text), value), zone, shown=value)


def _moment(text: str, value: str) -> datetime:
    try:
        return _iso(text) or _patterned(text) or _by_dateutil(text)
    except (ValueError, OverflowError, ArithmeticError) as error:
        raise _unreadable(value) from error


def _of_numeric_text(text: str, value: str) -> ParsedInstant:
    if len(text) <= 4 and text.isdigit():
        example = f"{text if len(text) == 4 else 2024}-12-31"
        raise InvalidInput(f"{value!r} is not a time: day, month and year are needed, as in {example!r}")
    return _of_amount(float(text), value)


def _unreadable(value: str) -> InvalidInput:
    shown = value if len(value) <= _TEXT_MAX else value[:_TEXT_MAX] + "..."
    return InvalidInput(f"{shown!r} cannot be read as a time; write it like '2024-01-02T10:00:00+01:00'")


def _iso(text: str) -> datetime | None:
    """ISO 8601, and the same without separators; None when it is written otherwise."""
    compact = _COMPACT.fullmatch(text)
    if compact and compact[2]:
        text = f"{compact[1]}T{compact[2]}"
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _patterned(text: str) -> datetime | None:
    """The forms that dialogue data sets and chat exports use most; None when it is none of them."""
    for pattern, build in _PATTERNS:
        if match := pattern.fullmatch(text):
            return build(match)
    return None


def _day_named(match: re.Match[str]) -> datetime:
    return datetime(*(int(part or 0) for part in match.groups()))  # type: ignore[arg-type]  # noqa: DTZ001


def _spoken(match: re.Match[str]) -> datetime:
    hour, minute, half, day, month, year = match.groups()
    return datetime(int(year), _month(month), int(day), _hour(int(hour), half.lower()), int(minute))  # noqa: DTZ001


def _chinese(match: re.Match[str]) -> datetime:
    year, month, day, half, hour, minute, second = match.groups()
    hours = int(hour or 0) if half is None else _hour(int(hour), "p" if half == "下午" else "a")
    return datetime(int(year), int(month), int(day), hours, int(minute or 0), int(second or 0))  # noqa: DTZ001


_PATTERNS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], datetime]], ...] = (
    (_DAY_NAMED, _day_named),
    (_SPOKEN, _spoken),
    (_CHINESE, _chinese),
)


def _hour(hour: int, half: str) -> int:
    """Hour of the day for an hour of the twelve: 12 am is midnight, 12 pm is noon."""
    if not 1 <= hour <= 12:
        raise ValueError(f"no hour {hour} on a clock of twelve")
    return hour % 12 + (12 if half == "p" else 0)


def _month(name: str) -> int:
    """Number of an English month, spelled out or cut to three letters; ValueError for other words."""
    return _MONTHS.index(name[:3].lower()) + 1


def _by_dateutil(text: str) -> datetime:
    """`text` read with dateutil, with two unlike defaults: a date that changes with them was not complete."""
    text = _SIGNED_ZONE.sub("", _REMARK.sub("", text))
    text = _DOTTED.sub(r"\3-\2-\1", text)
    parse = _dateutil_parse()
    first, second = (parse(text, default) for default in _UNLIKE)
    if first.date() != second.date():
        raise ValueError("day, month and year are needed")
    return first


_UNLIKE = (datetime(2000, 1, 1), datetime(2004, 2, 2))  # noqa: DTZ001 - they only fill gaps
"""Two days unlike in year, month, day and weekday; both in leap years, so that 29 February stays readable."""


@cache
def _dateutil_parse() -> Callable[[str, datetime], datetime]:
    from dateutil.parser import parser, parserinfo  # noqa: PLC0415 - slow to load, seldom needed

    class FixedCentury(parserinfo):
        """Two-digit years as POSIX reads them (69 is 1969, 68 is 2068), whatever year it is now."""

        def convertyear(self, year: int, century_specified: bool = False) -> int:
            if year >= 100 or century_specified:
                return year
            return year + (1900 if year >= 69 else 2000)

    reader = parser(FixedCentury())
    return lambda text, default: reader.parse(text, default=default, tzinfos=_named_offset)


def _named_offset(name: str | None, offset_s: int | None) -> tzinfo | None:
    """The zone that dateutil found in a text, so that it never asks for the machine's own."""
    if offset_s is not None:
        return timezone(timedelta(seconds=offset_s))
    if name is None:
        return None
    if name not in _OFFSETS_H:
        raise ValueError(f"the zone {name} is not one of {', '.join(_OFFSETS_H)}")
    return timezone(timedelta(hours=_OFFSETS_H[name]))
