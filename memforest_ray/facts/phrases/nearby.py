"""English phrases that name a time by its distance from today: weekdays, "ago", "next", "the past weeks"."""

import re
from datetime import date, timedelta
from typing import Final

from memforest_ray.facts.periods import (
    Period,
    day,
    decade,
    month,
    month_from,
    nearest_month,
    nearest_season,
    season,
    span,
    week,
    weekday_from,
    weekend,
    year,
)
from memforest_ray.facts.phrases.phrase import Setting, ago, ahead, amount
from memforest_ray.facts.phrases.vocabulary import (
    ALSO_WORDS,
    UNITS,
    WEEKDAYS,
    is_capital,
    month_of,
    open_ended,
    relative,
)

__all__ = ["NEARBY"]

_DAYS: Final = {
    "day before yesterday": -2,
    "yesterday": -1,
    "last night": -1,
    "tomorrow": 1,
    "day after tomorrow": 2,
}


def _near_day(found: re.Match[str], setting: Setting) -> Period | None:
    if re.search(
        r"\blike\s{1,3}(?:(?:just|only|it\s{1,3}was)\s{1,3}){0,2}$",
        setting.text[: found.start()][-24:],
        re.IGNORECASE,
    ):
        return None  # "it feels like yesterday"
    return day(setting.today + timedelta(_DAYS.get(" ".join(found["near"].lower().removeprefix("the ").split()), 0)))


def _other_day(_: re.Match[str], setting: Setting) -> Period:
    return span(setting.today - timedelta(7), setting.today - timedelta(1))


def _unit(found: re.Match[str]) -> str:
    name = found["unit"].lower()
    return UNITS.get(name, name)


def _ago(found: re.Match[str], setting: Setting) -> Period:
    return ago(setting.today, *amount(found["count"]), _unit(found))


def _ahead(found: re.Match[str], setting: Setting) -> Period | None:
    if not (found["sure"] or setting.future(found)):
        return None  # "I learnt it in two weeks"
    return ahead(setting.today, *amount(found["count"]), _unit(found))


def _trailing(found: re.Match[str], setting: Setting) -> Period:
    """The past few weeks: from then until it was said."""
    count = amount(found["count"])[1] if found["count"] else 1
    unit = _unit(found)
    days = {"hour": 0, "day": 1, "weekend": 7, "week": 7, "month": 30, "year": 365, "decade": 3652}[unit]
    return span(setting.today - timedelta(count * days), setting.today)


def _weekdays_ago(found: re.Match[str], setting: Setting) -> Period:
    nearest = weekday_from(setting.today, WEEKDAYS[found["weekday"].lower()], -1)
    least, most = amount(found["count"])
    if least == most:
        return day(nearest - timedelta(weeks=least - 1))
    return span(nearest - timedelta(weeks=most - 1), nearest - timedelta(weeks=least - 1))


_DIRECTIONS: Final = {"last": -1, "past": -1, "previous": -1, "this past": -1, "this last": -1, "this": 0}


def _direction(found: re.Match[str]) -> int:
    return _DIRECTIONS.get(" ".join(found["which"].lower().split()), 1)


def _unit_around(found: re.Match[str], setting: Setting) -> Period:
    which, today = _direction(found), setting.today
    match found["unit"].lower():
        case "week":
            return week(today, which)
        case "weekend":
            return _weekend(which, found, setting)
        case "month":
            return month_from(today, which)
        case "year":
            return year(today.year + which)
    return decade((today.year // 10 + which) * 10)


def _weekend(which: int, found: re.Match[str], setting: Setting) -> Period:
    over = setting.today.weekday() < 5 and not setting.future(found)
    return weekend(setting.today, -1 if which == 0 and over else which)


def _this_weekend(found: re.Match[str], setting: Setting) -> Period:
    return _weekend(0, found, setting)


def _weekday_around(found: re.Match[str], setting: Setting) -> Period | None:
    name, which = found["weekday"].lower(), _direction(found)
    if name in ALSO_WORDS and not is_capital(found, "weekday"):
        return None
    number, today = WEEKDAYS[name], setting.today
    if which:
        return day(weekday_from(today, number, which))
    this_week = week(today).first + timedelta(number)
    return day(this_week if this_week >= today or not setting.future(found) else this_week + timedelta(7))


def _bare_weekday(found: re.Match[str], setting: Setting) -> Period | None:
    name = found["weekday"].lower()
    if (name in ALSO_WORDS or len(name) < 5) and not is_capital(found, "weekday"):
        return None
    near = day(weekday_from(setting.today, WEEKDAYS[name], 1 if setting.future(found) else -1))
    return open_ended(near, found, setting.today)


def _month_around(found: re.Match[str], setting: Setting) -> Period | None:
    if found["month"].lower() in ALSO_WORDS and not is_capital(found, "month"):
        return None  # "this may be"
    number, today, which = month_of(found), setting.today, _direction(found)
    if which == 0:
        return month(today.year, number)
    return nearest_month(month_from(today, which).first, number, future=which > 0)


def _season_around(found: re.Match[str], setting: Setting) -> Period | None:
    name, today, which = found["season"].lower(), setting.today, _direction(found)
    if which == 0:
        return nearest_season(today, name, future=True) if setting.future(found) else _current_season(today, name)
    near = nearest_season(today, name, future=which > 0)
    if which < 0:
        return near if near.last < today else season(near.first.year - 1, name)
    return near if near.first > today else season(near.first.year + 1, name)


def _current_season(today: date, name: str) -> Period:
    begun = nearest_season(today, name, future=False)
    return begun if begun.last.year == today.year else nearest_season(today, name, future=True)


def _before_last(found: re.Match[str], setting: Setting) -> Period:
    unit = found["unit"].lower()
    if unit in WEEKDAYS:
        return day(weekday_from(setting.today, WEEKDAYS[unit], -1) - timedelta(7))
    return ago(setting.today, 2, 2, UNITS.get(unit, unit))


NEARBY: Final = (
    relative(
        r"\b(?P<near>(?:the )?day before yesterday|yesterday|last night|(?:earlier )?today|tonight"
        r"|this morning|this afternoon|this evening|tomorrow|(?:the )?day after tomorrow)\b{hours}",
        _near_day,
    ),
    relative(r"\bthe other (?:day|night|evening)\b", _other_day),
    relative(r"\b{count} {unit} (?:ago|back)\b(?! (?:to|and forth|in|at)\b)", _ago),
    relative(r"\b{count} {full_weekday}s? ago\b", _weekdays_ago),
    relative(r"\b(?P<sure>)in (?:about )?{count} {unit}(?!['’])", _ahead),
    relative(r"\b{count} {unit} (?P<sure>from (?:now|today))\b", _ahead),
    relative(r"\b(?:the|these|this) (?:last|past) {count} {unit}", _trailing),
    relative(r"\b(?P<count>)(?:the|over|for) (?:the )?past {unit}", _trailing),
    relative(
        r"\b(?:the )?(?P<unit>night|weekend|week|month|year|(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
        r" before last\b",
        _before_last,
    ),
    relative(
        r"\b(?:earlier |later |the |in the |during (?:the )?)?{which} "
        r"(?P<unit>weekend|week|month|year|decade)\b(?!['’]s end)",
        _unit_around,
    ),
    relative(
        r"\b(?:the|during the|over the|at the|on the|for the|all) weekend\b"
        r"(?! (?:before|after|of|prior|following|preceding)\b)",
        _this_weekend,
    ),
    relative(r"\b(?:on )?{which} {weekday}{hours}", _weekday_around),
    relative(
        r"\b(?P<preposition>on|by|since|until|till|til) {weekday}{hours}"
        r"(?!,? (?:the )?(?:\d|of\b|{any_month}))",
        _bare_weekday,
    ),
    relative(r"\b(?P<preposition>){full_weekday} (?:morning|afternoon|evening|night)\b", _bare_weekday),
    relative(r"\b(?:in )?{which} {month}(?! \d|'\w)", _month_around),
    relative(r"\b{which} {season}", _season_around),
)
"""All of them."""
