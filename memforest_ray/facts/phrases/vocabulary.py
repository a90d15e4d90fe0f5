"""English words for times: months, weekdays, units, signs of tense, and what patterns are made of."""

import calendar
import re
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from typing import Final

from memforest_ray.facts.periods import SEASONS, Period, span
from memforest_ray.facts.phrases.holidays import HOLIDAYS
from memforest_ray.facts.phrases.numbers import COUNT
from memforest_ray.facts.phrases.phrase import Annual, Phrase, Setting

__all__ = [
    "ALSO_WORDS",
    "MONTHS",
    "ORDINALS",
    "UNITS",
    "WEEKDAYS",
    "absolute",
    "century_of",
    "compiled",
    "day_of",
    "hooks_in",
    "is_capital",
    "month_of",
    "nearest_day",
    "open_ended",
    "opens_sentence",
    "refined",
    "relative",
    "year_of",
]

MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            ("january", "jan"),
            ("february", "feb"),
            ("march", "mar"),
            ("april", "apr"),
            ("may",),
            ("june", "jun"),
            ("july", "jul"),
            ("august", "aug"),
            ("september", "sept", "sep"),
            ("october", "oct"),
            ("november", "nov"),
            ("december", "dec"),
        ),
        start=1,
    )
    for name in names
}
WEEKDAYS: Final = {
    name: number
    for number, names in enumerate(
        (
            ("monday", "mon"),
            ("tuesday", "tues", "tue"),
            ("wednesday", "weds", "wed"),
            ("thursday", "thurs", "thur", "thu"),
            ("friday", "fri"),
            ("saturday", "sat"),
            ("sunday", "sun"),
        )
    )
    for name in names
}
ALSO_WORDS = frozenset({"may", "march", "mar", "dec", "jan", "sep", "mon", "wed", "sat", "sun", "tue", "thu"})
_ORDINAL_DAYS: Final = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth",
    "twenty-first", "twenty-second", "twenty-third", "twenty-fourth", "twenty-fifth", "twenty-sixth", "twenty-seventh",
    "twenty-eighth", "twenty-ninth", "thirtieth", "thirty-first",
)  # fmt: skip
ORDINALS: Final = {
    "first": 0,
    "1st": 0,
    "second": 1,
    "2nd": 1,
    "third": 2,
    "3rd": 2,
    "fourth": 3,
    "4th": 3,
    "last": -1,
}

UNITS: Final = {"min": "minute", "hr": "hour", "night": "day", "yr": "year"}
"""Units that are counted as another one."""


def _any(names: Iterable[str]) -> str:
    """An alternation that prefers the longest name."""
    return "|".join(sorted(names, key=len, reverse=True))


_FRAGMENTS: Final = {
    "month": rf"(?P<month>{_any(MONTHS)})\b\.?",
    "last_month": rf"(?P<last>{_any(MONTHS)})\b\.?",
    "any_month": rf"(?:{_any(MONTHS)})\b",
    "weekday": rf"(?P<weekday>{_any(WEEKDAYS)})\b\.?",
    "full_weekday": r"(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day)",
    "dated": r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day,? )?",
    "season": rf"(?P<season>{_any(SEASONS)})\b",
    "year": r"(?P<year>(?:1[5-9]|20)\d\d|(?<!\w)['’]\d\d)\b(?![-/.,:]?\d)",
    "recent": r"(?P<year>(?:19[3-9]|20[0-4])\d)\b",
    "recent_year": r"(?P<year>(?:19[3-9]|20[0-4])\d|(?<!\w)['’]\d\d)\b(?![-/.,:]?\d)",
    "day": r"(?P<day>[12]\d|3[01]|0?[1-9])(?P<th>st|nd|rd|th)?",
    "ordinal": rf"(?P<day>{_any(_ORDINAL_DAYS)})(?P<th>\b)".replace("-", "(?:-| )"),
    "last_day": r"(?P<last>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?",
    "count": COUNT,
    "unit": r"(?P<unit>minute|min|hour|hr|day|night|weekend|week|fortnight|month|year|yr|decade)s?\b",
    "span": r"(?P<unit>weekend|week|day|(?:mon|tues|wednes|thurs|fri|satur|sun)day)",
    "nth": rf"(?:the )?(?P<nth>{_any(ORDINALS)})",
    "holiday": rf"(?P<holiday>{_any(HOLIDAYS)})\b".replace(".", r"\.").replace("'", "['’]"),
    # On "Sunday mornings" something returns: that is no time.
    "hours": r"(?: (?:morning|afternoon|evening|night)\b)?(?!\s{1,3}(?:morning|afternoon|evening|night)s\b)",
    "season_again": rf"(?P<season>{_any(SEASONS)})",
    "capital_weekday": r"(?P<weekday>(?-i:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)\b",
    "after_pronoun": (
        r"(?:(?<=\bme )|(?<=\bus )|(?<=\bit )|(?<=\byou )|(?<=\bhim )|(?<=\bher )|(?<=\bthem )|(?<=\bhome )"
        r"|(?<=\bhere )|(?<=\bback )|(?<=\bthere )|(?<=\bmeet )|(?<=\bmet ))"
    ).replace(" ", r"\s"),
    "spent": "(?:" + "|".join(rf"(?<=\b{verb}\s)" for verb in ("spent", "spend", "spending")) + ")",
    "after_is": "(?:" + "|".join(rf"(?<=\b{word}\s)" for word in ("is", "are", "due", "open", "closed")) + ")",
    "within_year": (r"(?:(?P<which>last|this|next) year\b(?!['’]s)|" + COUNT + r" years? ago\b)"),
    "within_week": r"(?P<which>last|this|next) week\b(?!['’]s)",
    "within_month": r"(?P<which>last|this|next) month\b(?!['’]s)",
    "edge": r"(?P<part>(?:the )?(?:beginning|start|middle|end) of )",
    "part": (r"(?P<part>(?:the )?(?:beginning|start|middle|end)(?: of)?|early|mid|late)(?: (?:in )?(?:the )?|-)"),
    "which": r"(?P<which>this past|this last|this coming|last|past|previous|this|next|coming|upcoming)",
    "to": r"\s{0,2}(?:to|until|till|through|-|–|—)\s{0,2}",
}


def compiled(pattern: str) -> "re.Pattern[str]":
    """`{month}` and its like stand for the fragments above, a space for one to three of any kind."""
    filled = re.sub(r"\{([a-z_]+)\}", lambda name: _FRAGMENTS[name[1]], pattern)
    return re.compile(filled.replace(" ", r"\s{1,3}"), re.ASCII | re.IGNORECASE)


_Resolver = Callable[["re.Match[str]", Setting], Period | None]


def relative(
    pattern: str, resolve: _Resolver, annual: "Callable[[re.Match[str]], Annual | None] | None" = None
) -> Phrase:
    """A phrase that means something only beside the day on which it was said."""
    return Phrase(compiled(pattern), resolve, True, annual, _hooks(pattern))


def absolute(pattern: str, resolve: _Resolver) -> Phrase:
    """A phrase that names its time whoever says it when."""
    return Phrase(compiled(pattern), resolve, False, hooks=_hooks(pattern))


_FIGURE: Final = "0-9"
"""Stands for any figure."""
_MONTHS_BEGIN: Final = frozenset(name[:3] for name in MONTHS)
_UNITS_BEGIN: Final = frozenset({"min", "hour", "hr", "day", "night", "week", "month", "year", "yr", "decade"})
_WEEKDAYS_BEGIN: Final = frozenset(name[:3] for name in WEEKDAYS)
_HOOKS: Final = {
    "month": _MONTHS_BEGIN,
    "weekday": _WEEKDAYS_BEGIN,
    "full_weekday": _WEEKDAYS_BEGIN,
    "capital_weekday": _WEEKDAYS_BEGIN,
    "unit": _UNITS_BEGIN,
    "span": frozenset({"week", "day"}),
    "season": frozenset(SEASONS),
    "season_again": frozenset(SEASONS),
    "year": frozenset({_FIGURE}),
    "recent": frozenset({_FIGURE}),
    "recent_year": frozenset({_FIGURE}),
    "day": frozenset({_FIGURE}),
    "holiday": frozenset({"day", "christmas", "halloween", "year", "july", "valentine", "thanksgiving", "easter"}),
    "within_year": frozenset({"year"}),
    "within_week": frozenset({"week"}),
    "within_month": frozenset({"month"}),
}
"""What each fragment holds one of; those that a pattern may go without are not among them."""
_ALL_HOOKS: Final = frozenset().union(*_HOOKS.values()) - {_FIGURE}
_FIGURES: Final = re.compile(r"\d", re.ASCII)


def _hooks(pattern: str) -> tuple[frozenset[str], ...]:
    return tuple(_HOOKS[name] for name in dict.fromkeys(re.findall(r"\{([a-z_]+)\}", pattern)) if name in _HOOKS)


def hooks_in(text: str) -> frozenset[str]:
    """Which hooks of English phrases a text holds."""
    plain = text.lower()
    found = [hook for hook in _ALL_HOOKS if hook in plain]
    return frozenset((*found, _FIGURE) if _FIGURES.search(text) else found)


def year_of(found: re.Match[str]) -> int | None:
    """The year that was said, in four figures or in two ("'98")."""
    said = found["year"]
    if not said:
        return None
    return int(said) if said.isdecimal() else century_of(int(said[1:]))


def century_of(two_figures: int) -> int:
    """The year that ends in them: 1930 to 2029."""
    return two_figures + (1900 if two_figures >= 30 else 2000)


def day_of(found: re.Match[str]) -> int:
    """The day of the month that was said, in figures or as an ordinal."""
    said = found["day"]
    return int(said) if said.isdecimal() else _ORDINAL_DAYS.index("-".join(re.split(r"[-\s]+", said.lower()))) + 1


def refined(whole: Period, found: re.Match[str]) -> Period:
    """The part of a period that was said: the early, middle or late third of it; without one all of it."""
    part = (found.groupdict().get("part") or "").lower()
    if not part:
        return whole
    third = timedelta(((whole.last - whole.first).days + 1) // 3)
    if "early" in part or "start" in part or "begin" in part:
        return span(whole.first, whole.first + third - timedelta(1))
    if "mid" in part:
        return span(whole.first + third, whole.last - third)
    return span(whole.last - third + timedelta(1), whole.last)


def is_capital(found: re.Match[str], group: str) -> bool:
    """Whether that group was written with a capital."""
    return found[group][0].isupper()


def month_of(found: re.Match[str]) -> int:
    """The number of the month that was named."""
    return MONTHS[found["month"].lower()]


def opens_sentence(found: re.Match[str]) -> bool:
    """Whether the phrase is the first of its sentence, so that its capital means nothing."""
    before = found.string[max(0, found.start() - 8) : found.start()].rstrip()
    return not before or before[-1] in ".!?\n"


def nearest_day(today: date, month_number: int, day_number: int, *, future: bool) -> date:
    """That day of the year around today; 29 February is looked for in leap years only."""
    for number in range(today.year, today.year + (9 if future else -9), 1 if future else -1):
        if (month_number, day_number) == (2, 29) and not calendar.isleap(number):
            continue
        found = date(number, month_number, day_number)
        if found >= today if future else found <= today:
            return found
    raise ValueError(f"no such day: {day_number} of month {month_number}")


def open_ended(whole: Period, found: "re.Match[str]", today: date) -> Period:
    """What holds since then holds until it was said."""
    return whole.until(today) if (found["preposition"] or "").lower() == "since" else whole
