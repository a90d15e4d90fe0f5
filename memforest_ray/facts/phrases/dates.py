"""English dates: days of a month, months, seasons, years, decades, holidays.

Months that are also words ("may", "march") need more signs: a capital, a year, an ordinal.
"""

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
    weekend,
    year,
)
from memforest_ray.facts.phrases.phrase import Annual, Setting
from memforest_ray.facts.phrases.vocabulary import (
    ALSO_WORDS,
    HOLIDAYS,
    MONTHS,
    ORDINALS,
    WEEKDAYS,
    absolute,
    is_capital,
    month_of,
    nearest_day,
    open_ended,
    opens_sentence,
    relative,
    year_of,
)

__all__ = ["DATES"]

# Days of a month.


def _is_day(found: re.Match[str], day_first: bool) -> bool:
    """Whether "may 5" is a date: sure with a year or an ordinal, else the month needs its capital."""
    if found["month"].lower() not in ALSO_WORDS or found["year"] or (found["th"] and not day_first):
        return True
    if day_first:
        return is_capital(found, "month")
    follows = found.string[found.end() : found.end() + 2].strip()
    return is_capital(found, "month") and not (opens_sentence(found) and follows[:1].isalpha())


def _day_of_month(found: re.Match[str], setting: Setting, day_first: bool) -> Period | None:
    if not _is_day(found, day_first):
        return None
    number, year_number = month_of(found), year_of(found)
    if year_number is not None:
        return day(date(year_number, number, int(found["day"])))
    return day(nearest_day(setting.today, number, int(found["day"]), future=setting.future(found)))


def _day_first(found: re.Match[str], setting: Setting) -> Period | None:
    return _day_of_month(found, setting, day_first=True)


def _month_first(found: re.Match[str], setting: Setting) -> Period | None:
    return _day_of_month(found, setting, day_first=False)


def _annual_day_first(found: re.Match[str]) -> Annual | None:
    return Annual(month_of(found), int(found["day"])) if _is_day(found, True) else None


def _annual_month_first(found: re.Match[str]) -> Annual | None:
    return Annual(month_of(found), int(found["day"])) if _is_day(found, False) else None


def _days_of_month(found: re.Match[str], setting: Setting) -> Period:
    number, year_number = month_of(found), year_of(found)
    if year_number is None:
        year_number = nearest_day(setting.today, number, int(found["day"]), future=setting.future(found)).year
    return span(date(year_number, number, int(found["day"])), date(year_number, number, int(found["last"])))


def _numeric(found: re.Match[str], _: Setting) -> Period:
    return day(date(int(found["y"]), int(found["m"]), int(found["d"])))


def _slashed(found: re.Match[str], _: Setting) -> Period | None:
    """12/25/2023 and 25/12/2023 are sure; 5/6/2023 is one day here and another there."""
    one, other, year_number = int(found["a"]), int(found["b"]), int(found["y"])
    if one != other and one <= 12 and other <= 12:
        return None
    return day(date(year_number, min(one, other), max(one, other)))


def _day_of_this_month(found: re.Match[str], setting: Setting) -> Period | None:
    number, future = int(found["day"]), setting.future(found)
    for away in (0, 1, 2) if future else (0, -1, -2):
        near = month_from(setting.today, away)
        if number > near.last.day:
            continue
        named = near.first.replace(day=number)
        if named >= setting.today if future else named <= setting.today:
            return day(named)
    return None


# Months, seasons, years, decades.


def _part_of(whole: Period, part: str) -> Period:
    """Early, mid or late: the first, second or last third."""
    third = timedelta(((whole.last - whole.first).days + 1) // 3)
    if "early" in part or "start" in part or "begin" in part:
        return span(whole.first, whole.first + third - timedelta(1))
    if "mid" in part:
        return span(whole.first + third, whole.last - third)
    return span(whole.last - third + timedelta(1), whole.last)


def _refine(whole: Period, found: re.Match[str]) -> Period:
    part = found.groupdict().get("part")
    return _part_of(whole, part.lower()) if part else whole


def _month_of_year(found: re.Match[str], _: Setting) -> Period:
    return _refine(month(int(found["year"]), month_of(found)), found)


def _is_month(found: re.Match[str]) -> bool:
    name, before = found["month"].lower(), " ".join(found["preposition"].lower().split())
    if before in ("for", "from", "before", "after", "through", "by") and name in (
        "may",
        "march",
        "april",
        "june",
        "august",
    ):
        return is_capital(found, "month") and before != "for"
    return name not in ALSO_WORDS or before in ("in", "during", "since", "until") or is_capital(found, "month")


def _bare_month(found: re.Match[str], setting: Setting) -> Period | None:
    if not _is_month(found):
        return None
    whole = nearest_month(setting.today, month_of(found), future=setting.future(found))
    return open_ended(_refine(whole, found), found, setting.today)


def _annual_month(found: re.Match[str]) -> Annual | None:
    return Annual(month_of(found), None) if _is_month(found) else None


def _part_of_month(found: re.Match[str], setting: Setting) -> Period | None:
    if found["month"].lower() in ALSO_WORDS and not is_capital(found, "month"):
        return None
    return _refine(nearest_month(setting.today, month_of(found), future=setting.future(found)), found)


def _season_of_year(found: re.Match[str], _: Setting) -> Period:
    return _refine(season(int(found["year"]), found["season"].lower()), found)


def _bare_season(found: re.Match[str], setting: Setting) -> Period:
    return nearest_season(setting.today, found["season"].lower(), future=setting.future(found))


def _bare_year(found: re.Match[str], setting: Setting) -> Period:
    return open_ended(year(int(found["year"])), found, setting.today)


def _part_of_year(found: re.Match[str], _: Setting) -> Period:
    return _refine(year(int(found["year"])), found)


def _years(found: re.Match[str], _: Setting) -> Period | None:
    first, last = year(int(found["year"])), year(int(found["last"]))
    return span(first.first, last.last) if first.first < last.first else None


def _decade(found: re.Match[str], _: Setting) -> Period:
    digits = found["decade"]
    first = int(digits) if len(digits) == 4 else int(digits) + (1900 if int(digits) >= 30 else 2000)
    return _refine(decade(first), found)


def _months(found: re.Match[str], setting: Setting) -> Period | None:
    first, last, year_number = month_of(found), MONTHS[found["last"].lower()], year_of(found)
    if year_number is None:
        if {found["month"].lower(), found["last"].lower()} & ALSO_WORDS and not is_capital(found, "month"):
            return None
        year_number = nearest_month(setting.today, last, future=setting.future(found)).last.year
    return span(month(year_number - (first > last), first).first, month(year_number, last).last)


def _nth(found: re.Match[str], setting: Setting) -> Period | None:
    """The first weekend of August 2023."""
    number = month_of(found)
    said = year_of(found)
    whole = month(said, number) if said else nearest_month(setting.today, number, future=setting.future(found))
    place, unit = ORDINALS[found["nth"].lower()], found["unit"].lower()
    if unit == "week":
        return _nth_week(whole, place)
    days = [whole.first + timedelta(away) for away in range(whole.last.day)]
    if unit == "day":
        return day(days[place])
    number_of_day = WEEKDAYS.get(unit, 5)
    named = [each for each in days if each.weekday() == number_of_day][place]
    return weekend(named) if unit == "weekend" else day(named)


def _nth_week(whole: Period, place: int) -> Period:
    if place < 0:
        return span(whole.last - timedelta(6), whole.last)
    first = whole.first + timedelta(weeks=place)
    return span(first, min(first + timedelta(6), whole.last))


def _holiday(found: re.Match[str], setting: Setting) -> Period | None:
    number, day_number = HOLIDAYS[" ".join(found["holiday"].lower().replace("’", "'").split())]
    if found["year"]:
        return day(date(int(found["year"]), number, day_number))
    which = (found["which"] or "").lower()
    if not which:
        return None
    future = which in ("next", "this") and setting.future(found)
    return day(nearest_day(setting.today, number, day_number, future=future or which == "next"))


DATES: Final = (
    # Figures.
    absolute(r"(?<![\d/.-])(?P<y>(?:1[5-9]|20)\d\d)([-/.])(?P<m>\d{1,2})\2(?P<d>\d{1,2})(?![\d/-]|\.\d)", _numeric),
    absolute(r"(?<![\d/.-])(?P<a>\d{1,2})/(?P<b>\d{1,2})/(?P<y>(?:19|20)\d\d)(?![\d/-])", _slashed),
    absolute(r"(?<![\d/.-])(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>(?:19|20)\d\d)(?![\d/-]|\.\d)", _numeric),
    # Days.
    absolute(r"\b{dated}(?:the )?{day}(?: (?:day )?of)? {month},? (?:of )?{year}", _day_first),
    relative(
        r"\b{dated}(?:the )?{day}(?: (?:day )?of)? {month}(?P<year>)(?!,?\s{0,3}\d{4})",
        _day_first,
        _annual_day_first,
    ),
    absolute(r"\b{dated}{month} (?:the )?{day}\b,? (?:of )?{year}", _month_first),
    relative(
        r"\b{dated}{month} (?:the )?{day}\b(?P<year>)(?![-/:.,]?\d|,?\s{0,3}(?:1[5-9]|20)\d\d)",
        _month_first,
        _annual_month_first,
    ),
    absolute(r"\b(?:from )?(?:the )?{day}{to}(?:the )?{last_day} (?:of )?{month},? {year}", _days_of_month),
    absolute(r"\b(?:from )?{month} {day}{to}{last_day},? {year}", _days_of_month),
    relative(
        r"\b(?:on|by|until|since) the (?P<day>[12]\d|3[01]|[1-9])(?:st|nd|rd|th)\b"
        r"(?= (?:and|at|we|i|with|to|for|because|when)\b|\s{0,2}(?:[.,!?;)]|$))",
        _day_of_this_month,
    ),
    # Months.
    absolute(r"\b(?:{part})?{month},? (?:of )?(?:in )?{year}", _month_of_year),
    relative(
        r"\b(?P<preposition>back in|(?:planned|scheduled|booked|set|due) for|in|during|since|from|for|by|until|till|til"
        r"|before|after|around|through) {month}(?! \d|[-']\w)",
        _bare_month,
        _annual_month,
    ),
    relative(r"\b{part}{month}(?!,? \d)", _part_of_month),
    absolute(r"\b(?:from|between) {month}(?:{to}| and ){last_month},? (?:of )?{year}", _months),
    relative(r"\b(?:from|between) {month}(?:{to}| and ){last_month}(?P<year>)(?!,? \d)", _months),
    absolute(r"\b{nth} {span} (?:of|in) {month},? (?:of )?{year}", _nth),
    relative(r"\b{nth} {span} (?:of|in) {month}(?P<year>)(?!,? \d)", _nth),
    # Seasons, years, decades.
    absolute(r"\b(?:{part})?(?:the )?{season},? (?:of )?{year}", _season_of_year),
    relative(r"\b(?:in|during|over|for|through) the {season}(?! (?:of|\d))", _bare_season),
    absolute(
        r"\b(?P<preposition>(?:back )?in|during|from|by|until|till|before|after|around|circa|class of|year) "
        r"{recent_year}",
        _bare_year,
    ),
    relative(r"\b(?P<preposition>since) {recent_year}", _bare_year),
    absolute(r"\bsince(?P<preposition>) {recent_year}", _bare_year),
    absolute(r"\((?P<preposition>){recent}\)", _bare_year),
    absolute(r"^\s{0,3}(?P<preposition>){recent}\s{0,3}[?.!]?$", _bare_year),
    absolute(r"\b{part}(?:of )?{recent_year}", _part_of_year),
    absolute(r"\b(?:(?:from|between) )?{recent}(?:{to}| and )(?P<last>(?:19|20)\d\d)\b(?![-/.,:]?\d)", _years),
    absolute(r"\b(?:in |during )?the (?:{part})?['’]?(?P<decade>(?:1[89]|20)\d0|\d0)['’]?s\b", _decade),
    # Holidays.
    absolute(r"\b(?P<which>){holiday},? (?:in |of )?{year}", _holiday),
    relative(r"\b(?P<which>last|this|next|on|at|for|over) {holiday}(?P<year>)(?! (?:in |of )?\d{4})", _holiday),
)
"""All of them."""
