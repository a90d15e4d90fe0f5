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
from memforest_ray.facts.phrases.holidays import holiday
from memforest_ray.facts.phrases.phrase import Annual, Setting
from memforest_ray.facts.phrases.tense import puts_off
from memforest_ray.facts.phrases.vocabulary import (
    ALSO_WORDS,
    MONTHS,
    ORDINALS,
    WEEKDAYS,
    absolute,
    century_of,
    day_of,
    is_capital,
    month_of,
    nearest_day,
    open_ended,
    opens_sentence,
    refined,
    relative,
    year_of,
)

__all__ = ["DATES", "nth_of"]


def _year_said(found: re.Match[str]) -> int:
    """The year of a pattern that has one."""
    number = year_of(found)
    assert number is not None, "the pattern matches with a year only"
    return number


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
        return day(date(year_number, number, day_of(found)))
    return day(nearest_day(setting.today, number, day_of(found), future=setting.future(found)))


def _day_first(found: re.Match[str], setting: Setting) -> Period | None:
    return _day_of_month(found, setting, day_first=True)


def _month_first(found: re.Match[str], setting: Setting) -> Period | None:
    return _day_of_month(found, setting, day_first=False)


def _annual_day_first(found: re.Match[str]) -> Annual | None:
    return Annual(month_of(found), day_of(found)) if _is_day(found, True) else None


def _annual_month_first(found: re.Match[str]) -> Annual | None:
    return Annual(month_of(found), day_of(found)) if _is_day(found, False) else None


def _adjoin(found: re.Match[str]) -> bool:
    """Whether "and" joins days to a range: "between 3 and 7 April", "5 and 6 May", not "5 and 9 May"."""
    return "between" in found[0].lower() or int(found["last"]) == int(found["day"]) + 1


def _days_of_month(found: re.Match[str], setting: Setting) -> Period | None:
    number, year_number = month_of(found), year_of(found)
    sure = bool(year_number) or found["month"].lower() not in ALSO_WORDS or is_capital(found, "month")
    if not sure or (" and " in found[0].lower() and not _adjoin(found)):
        return None
    if puts_off(found.string, found.start("last")):
        last = int(found["last"])
        return day(
            date(year_number, number, last) if year_number else nearest_day(setting.today, number, last, future=True)
        )
    if year_number is None:
        year_number = nearest_day(setting.today, number, day_of(found), future=setting.future(found)).year
    return span(date(year_number, number, day_of(found)), date(year_number, number, int(found["last"])))


def _annual_days(found: re.Match[str]) -> Annual | None:
    """Of several days of a month the month: they lie in it."""
    return Annual(month_of(found), None) if is_capital(found, "month") or month_of(found) != _MAY else None


_MAY: Final = 5


def _numeric(found: re.Match[str], _: Setting) -> Period:
    return day(date(int(found["y"]), int(found["m"]), int(found["d"])))


def _slashed(found: re.Match[str], _: Setting) -> Period | None:
    """12/25/2023 and 25/12/2023 are sure; 5/6/2023 is one day here and another there."""
    one, other, year_number = int(found["a"]), int(found["b"]), int(found["y"])
    if one != other and one <= 12 and other <= 12:
        return None
    return day(date(year_number, min(one, other), max(one, other)))


def _day_of_this_month(found: re.Match[str], setting: Setting) -> Period | None:
    number, future = day_of(found), setting.future(found)
    if found["preposition"].lower() in ("to", "for") and not future:
        return None  # "I went to the 3rd"
    for away in (0, 1, 2) if future else (0, -1, -2):
        near = month_from(setting.today, away)
        if number > near.last.day:
            continue
        named = near.first.replace(day=number)
        if named >= setting.today if future else named <= setting.today:
            return day(named)
    return None


# Months, seasons, years, decades.


def _month_of_year(found: re.Match[str], _: Setting) -> Period:
    return refined(month(_year_said(found), month_of(found)), found)


def _is_month(found: re.Match[str]) -> bool:
    name, before = found["month"].lower(), " ".join(found["preposition"].lower().split())
    if before == "to" and not puts_off(found.string, found.start("month")):
        return False
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
    return open_ended(refined(whole, found), found, setting.today)


def _annual_month(found: re.Match[str]) -> Annual | None:
    return Annual(month_of(found), None) if _is_month(found) else None


def _part_of_month(found: re.Match[str], setting: Setting) -> Period | None:
    if found["month"].lower() in ALSO_WORDS and not is_capital(found, "month"):
        return None
    return refined(nearest_month(setting.today, month_of(found), future=setting.future(found)), found)


def _season_of_year(found: re.Match[str], _: Setting) -> Period:
    return refined(season(_year_said(found), found["season"].lower()), found)


def _bare_season(found: re.Match[str], setting: Setting) -> Period:
    return nearest_season(setting.today, found["season"].lower(), future=setting.future(found))


def _coming_season(found: re.Match[str], setting: Setting) -> Period | None:
    """In spring, of this year or the next; of what returns nobody says a time."""
    return _bare_season(found, setting) if setting.future(found) else None


def _bare_year(found: re.Match[str], setting: Setting) -> Period:
    return open_ended(year(_year_said(found)), found, setting.today)


def _part_of_year(found: re.Match[str], _: Setting) -> Period:
    return refined(year(_year_said(found)), found)


def _years(found: re.Match[str], _: Setting) -> Period | None:
    first, last = year(_year_said(found)), year(int(found["last"]))
    return span(first.first, last.last) if first.first < last.first else None


def _decade(found: re.Match[str], _: Setting) -> Period:
    digits = found["decade"].lower()
    if digits in _DECADES:
        return refined(decade(_DECADES[digits]), found)
    first = int(digits) if len(digits) == 4 else century_of(int(digits))
    hundred = len(digits) == 4 and first < 2000 and first % 100 == 0  # "the 1800s"
    return refined(span(year(first).first, year(first + 99).last) if hundred else decade(first), found)


_DECADES: Final = {
    "forties": 1940,
    "fifties": 1950,
    "sixties": 1960,
    "seventies": 1970,
    "eighties": 1980,
    "nineties": 1990,
}


def _part_of_year_numbered(found: re.Match[str], setting: Setting) -> Period:
    """A quarter or half of a year: three or six months."""
    place, months = ORDINALS.get(found["nth"].lower()), 12 // _PARTS[found["unit"].lower()]
    place = int(found["nth"]) - 1 if place is None else place % (12 // months)
    number = year_of(found) or setting.today.year
    return span(month(number, place * months + 1).first, month(number, place * months + months).last)


_PARTS: Final = {"quarter": 4, "q": 4, "half": 2, "h": 2}


def _half_of_month(found: re.Match[str], setting: Setting) -> Period:
    number, said = month_of(found), year_of(found)
    whole = month(said, number) if said else nearest_month(setting.today, number, future=setting.future(found))
    first = ORDINALS[found["nth"].lower()] == 0
    return span(whole.first, whole.first.replace(day=15)) if first else span(whole.first.replace(day=16), whole.last)


def _months(found: re.Match[str], setting: Setting) -> Period | None:
    first, last, year_number = month_of(found), MONTHS[found["last"].lower()], year_of(found)
    if puts_off(found.string, found.start("last")):
        return month(year_number, last) if year_number else nearest_month(setting.today, last, future=True)
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
    return nth_of(whole, found)


def nth_of(whole: Period, found: re.Match[str]) -> Period:
    """The week, weekend or weekday of a month that was said; IndexError when it has none."""
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
    name = " ".join(found["holiday"].lower().replace("’", "'").split())
    said, which = year_of(found), (found["which"] or "").lower()
    if said is not None:
        return day(holiday(name, said))
    future = which == "next" or (which != "last" and setting.future(found))
    years = range(setting.today.year, setting.today.year + (2 if future else -2), 1 if future else -1)
    days = [holiday(name, number) for number in years]
    near = next(each for each in days if (each >= setting.today if future else each <= setting.today))
    return day(near).until(setting.today) if which == "since" else day(near)


def _coming_holiday(found: re.Match[str], setting: Setting) -> Period | None:
    """ "Easter in Rome is booked": of what returns every year nobody says a time."""
    return _holiday(found, setting) if setting.future(found) else None


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
    absolute(
        r"\b(?:(?:from|between) )?(?:the )?{day}(?:{to}| and )(?:the )?{last_day} (?:of )?{month},? {year}",
        _days_of_month,
    ),
    absolute(r"\b(?:(?:from|between) )?{month} {day}(?:{to}| and ){last_day},? {year}", _days_of_month),
    relative(
        r"\b(?:(?:from|between) )?(?:the )?{day}(?:{to}| and )(?:the )?{last_day} (?:of )?{month}(?P<year>)"
        r"(?!,?\s{0,3}\d{4})",
        _days_of_month,
        _annual_days,
    ),
    relative(
        r"\b(?:(?:from|between) )?{month} (?:the )?{day}(?:{to}| and )(?:the )?{last_day}\b(?P<year>)"
        r"(?![-/:.,]?\d|,?\s{0,3}(?:1[5-9]|20)\d\d|\s(?:{any_month}))",
        _days_of_month,
        _annual_days,
    ),
    relative(
        r"\b(?P<preposition>on|by|until|since|to|for) the (?P<day>[12]\d|3[01]|[1-9])(?:st|nd|rd|th)\b"
        r"(?= (?:and|at|we|i|with|to|for|because|when)\b|\s{0,2}(?:[.,!?;)]|$))",
        _day_of_this_month,
    ),
    absolute(r"\b{dated}(?:the )?{ordinal} (?:day )?of {month},? (?:of )?{year}", _day_first),
    relative(
        r"\b{dated}(?:the )?{ordinal} (?:day )?of {month}(?P<year>)(?!,?\s{0,3}\d{4})",
        _day_first,
        _annual_day_first,
    ),
    relative(
        r"\b{dated}{month} (?:the )?{ordinal}(?P<year>)(?=\s{0,3}(?:[.,!?;)]|$|(?:and|we|i|at|in|when|was|is)\b))"
        r"(?!,?\s{0,3}\d{4})",
        _month_first,
        _annual_month_first,
    ),
    absolute(r"\b{dated}{month} (?:the )?{ordinal},? (?:of )?{year}", _month_first),
    # Months.
    absolute(r"\b(?:{part})?{month},? (?:of )?(?:in )?{year}", _month_of_year),
    relative(
        r"\b(?P<preposition>back in|(?:planned|scheduled|booked|set|due) for|in|during|since|from|for|to|by|until|till"
        r"|til|before|after|around|through) {month}(?! \d|[-']\w)",
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
    relative(r"\b(?:in|by|until|till) {season}(?=\s{0,2}(?:[.,!?;)]|$))", _coming_season),
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
    absolute(
        r"\b(?:in|during|from|since|until|of|back in) the (?:{part})?"
        r"(?P<decade>forties|fifties|sixties|seventies|eighties|nineties)\b",
        _decade,
    ),
    absolute(r"\b{nth} (?P<unit>half|quarter) of (?:the year )?{year}", _part_of_year_numbered),
    absolute(r"\b(?P<unit>q)(?P<nth>[1-4]),?(?: of)? {year}", _part_of_year_numbered),
    absolute(r"\b(?P<unit>h)(?P<nth>[12]),?(?: of)? {year}", _part_of_year_numbered),
    absolute(r"\bthe (?P<nth>first|second) (?P<unit>half) of {month},? (?:of )?{year}", _half_of_month),
    relative(r"\bthe (?P<nth>first|second) (?P<unit>half) of {month}(?P<year>)(?!,? \d)", _half_of_month),
    # Holidays.
    absolute(r"\b(?P<which>){holiday},? (?:in |of )?{year}", _holiday),
    relative(
        r"\b(?P<which>last|this|next|on|at|for|over|since|before|after|by|until|around) {holiday}(?P<year>)"
        r"(?: (?:day|night|morning|evening)\b)?(?!,? (?:in |of )?\d{4}|['’]?\w)",
        _holiday,
    ),
    relative(r"\b(?P<which>){holiday}(?P<year>) (?:night|morning|evening)\b", _holiday),
    relative(r"{spent}(?P<which>){holiday}(?P<year>)(?!,? (?:in |of )?\d{4}|['’]?\w)", _holiday),
    relative(r"(?:^|(?<=[.!?]\s))(?P<which>){holiday}(?P<year>)(?= (?:in|at|with)\b)", _coming_holiday),
)
"""All of them."""
