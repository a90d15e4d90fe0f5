"""English phrases that name a time inside of another one: "in May last year", "Tuesday of next week"."""

import re
from datetime import date, timedelta
from typing import Final

from memforest_ray.facts.periods import Period, day, month, month_from, season, week
from memforest_ray.facts.phrases.dates import nth_of
from memforest_ray.facts.phrases.holidays import holiday
from memforest_ray.facts.phrases.numbers import counted
from memforest_ray.facts.phrases.phrase import Setting
from memforest_ray.facts.phrases.vocabulary import (
    ALSO_WORDS,
    WEEKDAYS,
    day_of,
    is_capital,
    month_of,
    refined,
    relative,
)

__all__ = ["WITHIN"]

_AWAY: Final = {"last": -1, "this": 0, "next": 1}


def _away(found: re.Match[str]) -> int:
    return _AWAY[found["which"].lower()]


def _year_number(found: re.Match[str], setting: Setting) -> int | None:
    """The year that was said; nothing where it may be one of several ("a few years ago")."""
    if found["which"]:
        return setting.today.year + _away(found)
    least, most, unit = counted(found["count"], "year")
    return setting.today.year - least if least == most and unit == "year" else None


def _is_month(found: re.Match[str]) -> bool:
    return bool(found["in"]) or found["month"].lower() not in ALSO_WORDS or is_capital(found, "month")


def _month_within(found: re.Match[str], setting: Setting) -> Period | None:
    number = _year_number(found, setting)
    return refined(month(number, month_of(found)), found) if number is not None and _is_month(found) else None


def _day_within(found: re.Match[str], setting: Setting) -> Period | None:
    number = _year_number(found, setting)
    return None if number is None else day(date(number, month_of(found), day_of(found)))


def _season_within(found: re.Match[str], setting: Setting) -> Period | None:
    number = _year_number(found, setting)
    return None if number is None else refined(season(number, found["season"].lower()), found)


def _holiday_within(found: re.Match[str], setting: Setting) -> Period | None:
    number = _year_number(found, setting)
    name = " ".join(found["holiday"].lower().replace("’", "'").split())
    return None if number is None else day(holiday(name, number))


def _weekday_within(found: re.Match[str], setting: Setting) -> Period:
    monday = week(setting.today, _away(found)).first
    return day(monday + timedelta(WEEKDAYS[found["weekday"].lower()]))


def _day_of_month_within(found: re.Match[str], setting: Setting) -> Period:
    return day(month_from(setting.today, _away(found)).first.replace(day=day_of(found)))


def _nth_within(found: re.Match[str], setting: Setting) -> Period:
    return nth_of(month_from(setting.today, _away(found)), found)


WITHIN: Final = (
    relative(r"\b(?P<in>(?:back )?(?:in|during) )?(?:{part})?{month},? (?:of )?{within_year}", _month_within),
    relative(r"\b{within_year},? (?P<in>(?:back )?in) (?:{part})?{month}(?! \d)", _month_within),
    relative(r"\b{dated}(?:the )?{day}(?: of)? {month},? (?:of )?{within_year}", _day_within),
    relative(r"\b{dated}{month} (?:the )?{day}\b,? (?:of )?{within_year}", _day_within),
    relative(r"\b{within_year},? on (?:the )?{day}(?: of)? {month}", _day_within),
    relative(r"\b{within_year},? on {month} (?:the )?{day}\b", _day_within),
    relative(r"\b(?:in |during )?(?:the )?(?:{part})?{season},? (?:of )?{within_year}", _season_within),
    relative(r"\b{within_year},? (?:in|during) (?:the )?(?:{part})?{season}", _season_within),
    relative(r"\b{holiday},? (?:of )?{within_year}", _holiday_within),
    relative(r"\b{within_year},? (?:on|at|over) {holiday}", _holiday_within),
    relative(r"\b(?:on )?{full_weekday},? (?:of )?{within_week}", _weekday_within),
    relative(r"\b{within_week},? (?:on )?{full_weekday}\b", _weekday_within),
    relative(r"\b(?:on )?the {day},? of {within_month}", _day_of_month_within),
    relative(r"\b{nth} {span} (?:of|in) {within_month}", _nth_within),
    relative(r"\b{within_month},? on the {day}\b", _day_of_month_within),
)
"""All of them."""
