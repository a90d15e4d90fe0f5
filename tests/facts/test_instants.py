"""Instants: every common way to write a time."""

from datetime import UTC, date, datetime, timedelta, timezone
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.errors import InvalidInput
from memforest_ray.facts.instants import INSTANT_MAX_MS, INSTANT_MIN_MS, ParsedInstant, parse_instant, zone_of
from memforest_ray.facts.times import to_datetime


def shown(text: str, zone: str | None = None) -> str:
    """The instant of `text` as UTC text, with a mark when it was naive."""
    parsed = parse_instant(text, zone)
    return to_datetime(parsed.ms).strftime("%Y-%m-%d %H:%M:%S") + (" naive" if parsed.naive else "")


WRITTEN = {
    "2024-01-02T10:00:00": "2024-01-02 10:00:00 naive",
    "2024-01-02 10:00": "2024-01-02 10:00:00 naive",
    "2024-01-02T10:00:00Z": "2024-01-02 10:00:00",
    "2024-01-02T10:00:00+05:30": "2024-01-02 04:30:00",
    "2024-01-02T10:00:00.123456789Z": "2024-01-02 10:00:00",
    "2024-01-02": "2024-01-02 00:00:00 naive",
    "20240102": "2024-01-02 00:00:00 naive",
    "20240102101530": "2024-01-02 10:15:30 naive",
    "2023/05/20 (Sat) 02:21": "2023-05-20 02:21:00 naive",
    "2023/05/20 (Sat)": "2023-05-20 00:00:00 naive",
    "1:56 pm on 8 May, 2023": "2023-05-08 13:56:00 naive",
    "12:09 am on 13 September, 2023": "2023-09-13 00:09:00 naive",
    "12:30 PM on 1 Dec 2022": "2022-12-01 12:30:00 naive",
    "Mon, 20 Nov 1995 19:12:08 -0500": "1995-11-21 00:12:08",
    "Mon, 20 Nov 1995 19:12:08 EST": "1995-11-21 00:12:08",
    "Mon, 20 Nov 1995 19:12:08 GMT": "1995-11-20 19:12:08",
    "Mon May 08 2023 13:56:00 GMT+0200 (Central European Summer Time)": "2023-05-08 11:56:00",
    "May 8th, 2023 1pm": "2023-05-08 13:00:00 naive",
    "5/20/23, 2:21\u202fPM": "2023-05-20 14:21:00 naive",
    "\u200e2023-05-20 ": "2023-05-20 00:00:00 naive",
    "8.5.2023 10:00": "2023-05-08 10:00:00 naive",
    "1/2/70": "1970-01-02 00:00:00 naive",
    "1/2/68": "2068-01-02 00:00:00 naive",
    "2023年5月20日": "2023-05-20 00:00:00 naive",
    "2023年5月20日 下午2:21": "2023-05-20 14:21:00 naive",
    "2023年5月20日 星期六 14:21": "2023-05-20 14:21:00 naive",
    "29 February 2024": "2024-02-29 00:00:00 naive",
    "1683554160": "2023-05-08 13:56:00",
    "1683554160000": "2023-05-08 13:56:00",
    "1683554160.25": "2023-05-08 13:56:00",
    "-1e9": "1938-04-24 22:13:20",
    "1904-02-03": "1904-02-03 00:00:00 naive",
    "9999-12-31T23:59:59": "9999-12-31 23:59:59 naive",
    "2024-01-02T10:00:00[Europe/Madrid]": "2024-01-02 09:00:00",
    "2024-07-02T10:00:00+02:00[Europe/Madrid]": "2024-07-02 08:00:00",
    "2024-01-02 10:00 America/New_York": "2024-01-02 15:00:00",
    "2024-01-02T10:00:00\u221205:00": "2024-01-02 15:00:00",
    "2024-01-02 10:00:00.5 -0500 EST": "2024-01-02 15:00:00",
    "1683554160000000": "2023-05-08 13:56:00",
    "1683554160000000000": "2023-05-08 13:56:00",
}


@pytest.mark.parametrize(("text", "expected"), WRITTEN.items())
def test_written_times(text: str, expected: str) -> None:
    """Each common way to write a time is read, and says whether its zone was open."""
    assert expected == shown(text)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (datetime(2024, 1, 2, 10, tzinfo=UTC), ParsedInstant(1_704_189_600_000, naive=False)),
        (
            datetime(2024, 1, 2, 12, tzinfo=timezone(timedelta(hours=2))),
            ParsedInstant(1_704_189_600_000, naive=False),
        ),
        (datetime(2024, 1, 2, 10), ParsedInstant(1_704_189_600_000, naive=True)),  # noqa: DTZ001
        (date(2024, 1, 2), ParsedInstant(1_704_153_600_000, naive=True)),
        (0, ParsedInstant(0, naive=False)),
        (-1, ParsedInstant(-1000, naive=False)),
        (1_704_189_600, ParsedInstant(1_704_189_600_000, naive=False)),
        (1_704_189_600_123, ParsedInstant(1_704_189_600_123, naive=False)),
        (1_704_189_600.123, ParsedInstant(1_704_189_600_123, naive=False)),
        (Fraction(1, 2), ParsedInstant(500, naive=False)),
        (1_704_189_600_123_456, ParsedInstant(1_704_189_600_123, naive=False)),
        (1_704_189_600_123_456_789, ParsedInstant(1_704_189_600_123, naive=False)),
        (253_402_300_799_999, ParsedInstant(253_402_300_799_999, naive=False)),
    ],
)
def test_objects_and_numbers(value: datetime | date | float, expected: ParsedInstant) -> None:
    """Datetimes, dates and numbers of seconds, milli-, micro- or nanoseconds are read exactly."""
    assert expected == parse_instant(value, None)


def test_naive_times_take_the_zone() -> None:
    """A time without a zone is meant in the zone given; a time with one is not touched."""
    assert shown("1:56 pm on 8 May, 2023", "Asia/Tokyo") == "2023-05-08 04:56:00 naive"
    assert shown("2024-07-01 12:00", "America/New_York") == "2024-07-01 16:00:00 naive"
    assert shown("2024-07-01T12:00Z", "America/New_York") == "2024-07-01 12:00:00"


REFUSED = [
    "", "   ", "soon", "yesterday", "nan", "inf", "2024", "12", "May 2023", "2024-01", "Monday 10:00",
    "10:00",     "2023-02-30", "13:99 pm on 8 May, 2023", "14:10 pm on 8 May, 2023", "1:56 pm on 8 Foo, 2023",
    "8 May 2023 10:00 IST", "1" * 30, "9999-12-31T23:59:59-05:00", "x" * 5000, "1e400",
]  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_text_that_is_no_time(text: str) -> None:
    """What names no day, or none that exists, is refused with a message that shows its beginning."""
    with pytest.raises(InvalidInput) as caught:
        parse_instant(text, None)
    assert text[:20] in caught.value.message
    assert len(caught.value.message) < 300


@pytest.mark.parametrize(
    "value", [True, float("nan"), float("inf"), -float("inf"), 1e20, 10**400, None, b"2024", [2024]]
)
def test_values_that_are_no_time(value: object) -> None:
    """Booleans, infinities and foreign types are refused, never guessed at."""
    with pytest.raises(InvalidInput):
        parse_instant(value, None)  # type: ignore[arg-type]


@pytest.mark.parametrize("zone", ["", "Mars/Base", "../etc/passwd", "Europe", "a\0b", "/etc/localtime"])
def test_unknown_zone(zone: str) -> None:
    """A zone that is not in the database is named in the refusal."""
    with pytest.raises(InvalidInput, match="time zone"):
        parse_instant("2024-01-02", zone)


def test_zone_of_none_is_utc() -> None:
    """UTC needs no database."""
    assert UTC is zone_of(None)
    assert UTC is zone_of("UTC")


@given(st.text(max_size=60) | st.from_regex(r"[0-9a-zA-Z:/.,() +-]{1,40}", fullmatch=True))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text raises anything but InvalidInput, and what is read can be shown."""
    try:
        parsed = parse_instant(text, None)
    except InvalidInput:
        return
    to_datetime(parsed.ms)


@given(st.datetimes(timezones=st.just(UTC)))
def test_iso_text_round_trips(moment: datetime) -> None:
    """The ISO form of an instant is that instant, from year 1 to 9999."""
    parsed = parse_instant(moment.isoformat(), "Asia/Tokyo")
    assert ParsedInstant((moment - to_datetime(0)) // timedelta(milliseconds=1), naive=False) == parsed
    assert INSTANT_MIN_MS <= parsed.ms <= INSTANT_MAX_MS


@pytest.mark.parametrize(("name", "hours"), [("-05:00", -5), ("+05:30", 5.5), ("+00:00", 0)])
def test_an_offset_is_a_zone(name: str, hours: float) -> None:
    """So far from UTC, all year."""
    assert timedelta(hours=hours) == zone_of(name).utcoffset(None)


def test_an_unknown_zone_behind_a_time_is_refused() -> None:
    """Not taken for UTC."""
    with pytest.raises(InvalidInput, match="unknown time zone 'Mars/Base'"):
        parse_instant("2024-01-02T10:00[Mars/Base]")
