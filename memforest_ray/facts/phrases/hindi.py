"""Hindi phrases that name a time.

"कल" is yesterday or tomorrow: the verb of the sentence says which, and without one it is neither.
"""

import re
from datetime import date, timedelta
from typing import Final

from memforest_ray.facts.periods import Period, day, month, month_from, nearest_month, week, weekday_from, year
from memforest_ray.facts.phrases.phrase import Annual, Phrase, Setting, ago, ahead

__all__ = ["HINDI"]

_WEEKDAYS: Final = {
    name: number
    for number, names in enumerate(
        (("सोमवार",), ("मंगलवार",), ("बुधवार",), ("गुरुवार", "बृहस्पतिवार"), ("शुक्रवार",), ("शनिवार",), ("रविवार", "इतवार"))
    )
    for name in names
}
_UNITS: Final = {
    "मिनट": "minute", "घंटा": "hour", "घंटे": "hour", "घण्टे": "hour", "घंटों": "hour",
    "दिन": "day", "दिनों": "day",
    "हफ्ते": "week", "हफ़्ते": "week", "हफ्तों": "week", "हफ़्तों": "week", "सप्ताह": "week",
    "महीने": "month", "महीनों": "month", "महिने": "month", "माह": "month",
    "साल": "year", "सालों": "year", "वर्ष": "year", "वर्षों": "year",
}  # fmt: skip
_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            ("जनवरी",), ("फरवरी", "फ़रवरी"),
            ("मार्च",), ("अप्रैल",), ("मई",), ("जून",),
            ("जुलाई",),
            ("अगस्त",), ("सितंबर", "सितम्बर"), ("अक्टूबर", "अक्तूबर"), ("नवंबर", "नवम्बर"), ("दिसंबर", "दिसम्बर"),
        ),
        start=1,
    )
    for name in names
}  # fmt: skip
_NUMBERS: Final = {
    "एक": 1, "दो": 2, "तीन": 3, "चार": 4, "पांच": 5, "पाँच": 5, "छह": 6, "सात": 7, "आठ": 8, "नौ": 9, "दस": 10,
}  # fmt: skip
_WHICH: Final = {"पिछले": -1, "पिछली": -1, "पिछला": -1, "गत": -1, "इस": 0, "अगले": 1, "अगली": 1, "अगला": 1}

_S = r"\s{1,3}"
_EDGE, _END = r"(?<![\u0900-\u097f])", r"(?![\u0900-\u0963\u0966-\u097f])"
_FUTURE_VERB = re.compile(rf"ग[ाेी]{_END}")
_PAST_VERB = re.compile(rf"(?:था|थे|थी|थीं|गया|गयी|गई|गए|गये|किया|मिला|मिली|मिले|हुआ|हुई|हुए|देखा|खरीदा|आया|आई|आए|की){_END}")


def _any(names: dict[str, int] | dict[str, str]) -> str:
    return "|".join(sorted(names, key=len, reverse=True))


_UNIT = rf"(?P<unit>{_any(_UNITS)}){_END}"
_MONTH = rf"(?P<month>{_any(_MONTHS)}){_END}"
_YEAR = r"(?P<year>(?:19|20)\d\d)(?!\d)"


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(_EDGE + pattern)


def _today(_: re.Match[str], setting: Setting) -> Period:
    return day(setting.today)


def _direction(found: re.Match[str], setting: Setting) -> int:
    """1 where the verb of the sentence lies in the future, -1 in the past, 0 where nothing says so."""
    after = re.split(r"[।.!?\n]", setting.text[found.end() : found.end() + 120], maxsplit=1)[0]
    if _FUTURE_VERB.search(after):
        return 1
    return -1 if _PAST_VERB.search(after) else 0


def _kal(found: re.Match[str], setting: Setting) -> Period | None:
    days = _direction(found, setting) * (2 if found[0].startswith("परसों") else 1)
    return day(setting.today + timedelta(days)) if days else None


def _weekday(found: re.Match[str], setting: Setting) -> Period | None:
    which = found["which"]
    direction = _WHICH[which] if which else _direction(found, setting)
    return day(weekday_from(setting.today, _WEEKDAYS[found["weekday"]], direction)) if direction else None


def _around(found: re.Match[str], setting: Setting) -> Period:
    away, today = _WHICH[found["which"]], setting.today
    match _UNITS[found["unit"]]:
        case "day":
            return day(today + timedelta(away))
        case "week":
            return week(today, away)
        case "month":
            return month_from(today, away)
    return year(today.year + away)


def _ago(found: re.Match[str], setting: Setting) -> Period:
    count = _number(found)
    return ago(setting.now, count, count, _UNITS[found["unit"]])


def _ahead(found: re.Match[str], setting: Setting) -> Period | None:
    if _direction(found, setting) < 0:
        return None  # two days later, in a story
    count = _number(found)
    return ahead(setting.now, count, count, _UNITS[found["unit"]])


def _number(found: re.Match[str]) -> int:
    return int(found["count"]) if found["count"].isdecimal() else _NUMBERS[found["count"]]


def _in_year(found: re.Match[str], _: Setting) -> Period:
    return year(int(found["year"]))


def _since(found: re.Match[str], setting: Setting) -> Period:
    return year(int(found["year"])).until(setting.today)


def _month_of_year(found: re.Match[str], _: Setting) -> Period:
    return month(int(found["year"]), _MONTHS[found["month"]])


def _day_of_year(found: re.Match[str], _: Setting) -> Period:
    return day(date(int(found["year"]), _MONTHS[found["month"]], int(found["day"])))


def _bare_month(found: re.Match[str], setting: Setting) -> Period:
    return nearest_month(setting.today, _MONTHS[found["month"]], future=False)


def _bare_day(found: re.Match[str], setting: Setting) -> Period:
    this_year = date(setting.today.year, _MONTHS[found["month"]], int(found["day"]))
    return day(this_year if this_year <= setting.today else this_year.replace(year=this_year.year - 1))


def _annual(found: re.Match[str]) -> Annual:
    said = found.groupdict().get("day")
    return Annual(_MONTHS[found["month"]], int(said) if said else None)


HINDI: Final = (
    Phrase(_compile(rf"आज{_END}"), _today),
    Phrase(_compile(rf"(?:कल|परसों){_END}"), _kal),
    Phrase(
        _compile(rf"(?:(?P<which>{_any(_WHICH)}){_S})?(?P<weekday>{_any(_WEEKDAYS)}){_END}"),
        _weekday,
    ),
    Phrase(_compile(rf"(?P<which>{_any(_WHICH)}){_S}{_UNIT}"), _around),
    Phrase(_compile(rf"(?P<count>\d{{1,3}}|{_any(_NUMBERS)}){_S}{_UNIT}{_S}पहले"), _ago),
    Phrase(_compile(rf"(?P<count>\d{{1,3}}|{_any(_NUMBERS)}){_S}{_UNIT}{_S}(?:बाद|में){_END}"), _ahead),
    Phrase(_compile(rf"(?:सन्?{_S})?{_YEAR}{_S}(?:में|के)"), _in_year, False),
    Phrase(_compile(rf"{_YEAR}{_S}से{_END}"), _since),
    Phrase(_compile(rf"{_MONTH},?{_S}{_YEAR}"), _month_of_year, False),
    Phrase(_compile(rf"(?P<day>\d{{1,2}}){_S}{_MONTH},?{_S}{_YEAR}"), _day_of_year, False),
    Phrase(_compile(rf"(?<!\d\s){_MONTH}{_S}में"), _bare_month, annual=_annual),
    Phrase(_compile(rf"(?P<day>\d{{1,2}}){_S}{_MONTH}(?!,?{_S}\d)"), _bare_day, annual=_annual),
)
"""All of them."""
