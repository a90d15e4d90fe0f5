"""English phrases that name a time by its distance from today: weekdays, "ago", "next", "the past weeks"."""

import re
from datetime import date, timedelta
from typing import Final

from memforest_ray.facts.periods import (
    SEASONS,
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
from memforest_ray.facts.phrases.numbers import amount, counted
from memforest_ray.facts.phrases.phrase import Setting, ago, ahead
from memforest_ray.facts.phrases.tense import puts_off
from memforest_ray.facts.phrases.vocabulary import (
    ALSO_WORDS,
    UNITS,
    WEEKDAYS,
    compiled,
    is_capital,
    month_of,
    open_ended,
    refined,
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


def _other(found: re.Match[str], setting: Setting) -> Period:
    """The other day is one of the last seven, the other week one of the last two."""
    unit = found["unit"].lower()
    return ago(setting.now, 1, 2, unit) if unit in ("week", "month") else ago(setting.now, 1, 7, "day")


def _unit(found: re.Match[str]) -> str:
    name = found["unit"].lower()
    return UNITS.get(name, name)


def _ago(found: re.Match[str], setting: Setting) -> Period:
    return ago(setting.now, *_counted(found))


def _counted(found: re.Match[str]) -> tuple[int, int, str]:
    half = " and a half" if found.groupdict().get("half") else ""
    return counted(found["count"] + half, _unit(found))


def _ahead(found: re.Match[str], setting: Setting) -> Period | None:
    if not (found["sure"] or setting.future(found)):
        return None  # "I learnt it in two weeks"
    return ahead(setting.now, *_counted(found))


def _leading(found: re.Match[str], setting: Setting) -> Period | None:
    """The next few days: from when it was said."""
    if not setting.future(found):
        return None  # "we spent the next two weeks in Rome"
    _, most, unit = counted(found["count"] or "few", _unit(found))
    return span(setting.today, ahead(setting.now, most, most, unit).last)


def _trailing(found: re.Match[str], setting: Setting) -> Period:
    """The past few weeks: from then until it was said."""
    _, count, unit = counted(found["count"] or "a", _unit(found))
    return span((setting.now - count * _LENGTHS[unit]).date(), setting.today)


_LENGTHS: Final = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(1),
    "weekend": timedelta(7),
    "week": timedelta(7),
    "month": timedelta(30),
    "year": timedelta(365),
    "decade": timedelta(3652),
}


def _weekdays_ago(found: re.Match[str], setting: Setting) -> Period:
    nearest = weekday_from(setting.today, WEEKDAYS[found["weekday"].lower()], -1)
    least, most = amount(found["count"])
    if least == most:
        return day(nearest - timedelta(weeks=least - 1))
    return span(nearest - timedelta(weeks=most - 1), nearest - timedelta(weeks=least - 1))


_DIRECTIONS: Final = {"last": -1, "past": -1, "previous": -1, "this past": -1, "this last": -1, "this": 0, "the": 0}


def _direction(found: re.Match[str]) -> int:
    return _DIRECTIONS.get(" ".join(found["which"].lower().split()), 1)


def _unit_around(found: re.Match[str], setting: Setting) -> Period:
    return refined(_whole_unit(found, setting), found)


def _edge(found: re.Match[str], setting: Setting) -> Period | None:
    """The end of this year, unless it is to come and was all the same: then it is that of a year not named."""
    part = _unit_around(found, setting)
    return part if part.first <= setting.today or setting.future(found) else None


def _whole_unit(found: re.Match[str], setting: Setting) -> Period:
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


_TELLS_DAY: Final = compiled(r"\b(?:today|tomorrow|yesterday|it|this|that|day|date)(?: is)? $")


def _coming_weekday(found: re.Match[str], setting: Setting) -> Period | None:
    """ "The demo is Thursday at 10", "a table for Friday"; not "today is Thursday"."""
    start = found.start("weekday")
    if found["preposition"].lower() == "to" and not puts_off(setting.text, start):
        return None
    if _TELLS_DAY.search(setting.text, max(0, start - 24), start):
        return None
    return _bare_weekday(found, setting) if setting.future(found) else None


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
    return _seasons_ago(setting.today, unit, 2) if unit in SEASONS else ago(setting.now, 2, 2, _unit(found))


def _after_next(found: re.Match[str], setting: Setting) -> Period:
    unit = found["unit"].lower()
    if unit in WEEKDAYS:
        return day(weekday_from(setting.today, WEEKDAYS[unit], 1) + timedelta(7))
    return ahead(setting.now, 2, 2, unit)


def _season_ago(found: re.Match[str], setting: Setting) -> Period:
    return _seasons_ago(setting.today, found["season"].lower(), amount(found["count"])[0])


def _seasons_ago(today: date, name: str, count: int) -> Period:
    """Counted back from the last one that is over."""
    near = nearest_season(today, name, future=False)
    over = near.first.year - (near.last >= today)
    return season(over - count + 1, name)


NEARBY: Final = (
    relative(
        r"\b(?P<near>(?:the )?day before yesterday|yesterday|last night|(?:earlier )?today|tonight"
        r"|this morning|this afternoon|this evening|tomorrow|(?:the )?day after tomorrow)\b{hours}",
        _near_day,
    ),
    relative(r"\bthe other (?P<unit>day|night|evening|week|month)\b", _other),
    relative(r"{count} {unit}(?P<half> and a half)? (?:ago\b|back\b(?! (?:to|and forth|in|at)\b))", _ago),
    relative(r"{count} {full_weekday}s? ago\b", _weekdays_ago),
    relative(r"{count} {season_again}s? ago\b", _season_ago),
    relative(
        r"\bin (?:about |around )?{count} {unit}(?P<half> and a half)?(?:(?P<sure>['’]?s? time)\b|(?!['’]))",
        _ahead,
    ),
    relative(r"{count} {unit}(?P<half> and a half)? (?P<sure>from (?:now|today))\b", _ahead),
    relative(r"\b(?:within|(?:the|these) (?:next|coming)) {count} {unit}", _leading),
    relative(r"\b(?:the|these) coming(?P<count>) (?P<unit>day|week|month|year)s\b", _leading),
    relative(r"\b(?:the|these|this) (?:last|past) {count} {unit}", _trailing),
    relative(r"\b(?P<count>)(?:the|over|for) (?:the )?past {unit}", _trailing),
    relative(
        r"\b(?:the )?(?P<unit>night|weekend|week|month|year|spring|summer|autumn|fall|winter"
        r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day) before last\b",
        _before_last,
    ),
    relative(
        r"\b(?:the )?(?P<unit>weekend|week|month|year|(?:mon|tues|wednes|thurs|fri|satur|sun)day) after next\b",
        _after_next,
    ),
    relative(
        r"\b(?:{part}|earlier |later |the |in the |during (?:the )?)?{which} "
        r"(?P<unit>weekend|week|month|year|decade)\b(?!['’]s end)",
        _unit_around,
    ),
    relative(r"\b(?:at |by |until |since |towards )?{edge}(?P<which>the) (?P<unit>week|month|year)\b", _edge),
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
    relative(
        r"{after_pronoun}(?P<preposition>){capital_weekday}"
        r"(?=\s{0,2}(?:[.,!?;)]|$))",
        _bare_weekday,
    ),
    relative(
        r"\b(?P<preposition>for|to) {capital_weekday}{hours}(?!,? (?:the )?(?:\d|of\b|{any_month}))", _coming_weekday
    ),
    relative(
        r"{after_is}(?P<preposition>){capital_weekday}{hours}(?=\s{0,2}(?:[.,!?;)]|$)| (?:at|from|and)\b)",
        _coming_weekday,
    ),
    relative(r"\b(?:in )?{which} {month}(?! \d|'\w)", _month_around),
    relative(r"\b{which} {season}", _season_around),
)
"""All of them."""
