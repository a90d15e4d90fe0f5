"""Holidays that have a day in every year, by date or by rule. Those of two countries on two days are left out."""

import calendar
from datetime import date, timedelta
from typing import Final

__all__ = ["HOLIDAYS", "holiday"]

_FIXED: Final = {
    "boxing day": (12, 26),
    "christmas": (12, 25),
    "christmas day": (12, 25),
    "christmas eve": (12, 24),
    "halloween": (10, 31),
    "independence day": (7, 4),
    "4th of july": (7, 4),
    "fourth of july": (7, 4),
    "july 4th": (7, 4),
    "new year's day": (1, 1),
    "new year's eve": (12, 31),
    "new year's": (1, 1),
    "saint patrick's day": (3, 17),
    "st patrick's day": (3, 17),
    "st. patrick's day": (3, 17),
    "valentine's day": (2, 14),
    "valentine's": (2, 14),
    "veterans day": (11, 11),
}
_FROM_EASTER: Final = {"good friday": -2, "easter": 0, "easter sunday": 0, "easter monday": 1}
_FROM_THANKSGIVING: Final = {"thanksgiving": 0, "thanksgiving day": 0, "black friday": 1}

HOLIDAYS: Final = (*_FIXED, *_FROM_EASTER, *_FROM_THANKSGIVING, "memorial day", "labor day", "labour day")
"""Their names, folded, with a straight apostrophe."""


def holiday(name: str, year: int) -> date:
    """The day of a holiday (one of `HOLIDAYS`) in a year."""
    if name in _FIXED:
        return date(year, *_FIXED[name])
    if name in _FROM_EASTER:
        return _easter(year) + timedelta(_FROM_EASTER[name])
    if name in _FROM_THANKSGIVING:
        return _weekday(year, 11, calendar.THURSDAY, 3) + timedelta(_FROM_THANKSGIVING[name])
    month = 5 if name == "memorial day" else 9
    return _weekday(year, month, calendar.MONDAY, -1 if month == 5 else 0)


def _weekday(year: int, month: int, weekday: int, place: int) -> date:
    """The day of the month that is that weekday, the `place`th from 0; -1 is the last."""
    days = (date(year, month, day) for day in range(1, calendar.monthrange(year, month)[1] + 1))
    return [each for each in days if each.weekday() == weekday][place]


def _easter(year: int) -> date:
    """Easter Sunday of the Gregorian calendar: the anonymous algorithm (Meeus, Jones, Butcher)."""
    golden, century, of_century = year % 19, year // 100, year % 100
    correction = century - century // 4 - (century - (century + 8) // 25 + 1) // 3
    epact = (19 * golden + correction + 15) % 30
    weekday = (32 + 2 * (century % 4) + 2 * (of_century // 4) - epact - of_century % 4) % 7
    late = (golden + 11 * epact + 22 * weekday) // 451
    month, day = divmod(epact + weekday - 7 * late + 114, 31)
    return date(year, month, day + 1)
