"""English words for times: months, weekdays, units, signs of tense, and what patterns are made of."""

import calendar
import re
from collections.abc import Callable, Iterable
from datetime import date
from typing import Final

from memforest_ray.facts.periods import SEASONS, Period
from memforest_ray.facts.phrases.phrase import Annual, Phrase, Setting

__all__ = [
    "ALSO_WORDS",
    "HOLIDAYS",
    "MONTHS",
    "ORDINALS",
    "UNITS",
    "WEEKDAYS",
    "absolute",
    "is_capital",
    "month_of",
    "nearest_day",
    "open_ended",
    "opens_sentence",
    "relative",
    "speaks_of_future",
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
HOLIDAYS: Final = {
    "christmas": (12, 25),
    "christmas day": (12, 25),
    "christmas eve": (12, 24),
    "new year's day": (1, 1),
    "new year's eve": (12, 31),
    "halloween": (10, 31),
    "valentine's day": (2, 14),
    "independence day": (7, 4),
    "4th of july": (7, 4),
    "fourth of july": (7, 4),
}
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

UNITS: Final = {"minute": "hour", "min": "hour", "hr": "hour", "night": "day", "yr": "year"}
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
    "year": r"(?P<year>(?:1[5-9]|20)\d\d)\b(?![-/.,:]?\d)",
    "recent": r"(?P<year>(?:19[3-9]|20[0-4])\d)\b",
    "recent_year": r"(?P<year>(?:19[3-9]|20[0-4])\d)\b(?![-/.,:]?\d)",
    "day": r"(?P<day>[12]\d|3[01]|0?[1-9])(?P<th>st|nd|rd|th)?",
    "last_day": r"(?P<last>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?",
    "count": (
        r"(?P<count>\d{1,4}|(?:a )?couple(?: of)?|(?:a )?few|several|an?|one|two|three|four|five|six|seven"
        r"|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty)"
    ),
    "unit": r"(?P<unit>minute|min|hour|hr|day|night|weekend|week|month|year|yr|decade)s?\b",
    "span": r"(?P<unit>weekend|week|day|(?:mon|tues|wednes|thurs|fri|satur|sun)day)",
    "nth": rf"(?:the )?(?P<nth>{_any(ORDINALS)})",
    "holiday": rf"(?P<holiday>{_any(HOLIDAYS)})\b".replace("'", "['’]"),
    "hours": r"(?: (?:morning|afternoon|evening|night))?",
    "part": (r"(?P<part>(?:the )?(?:beginning|start|middle|end)(?: of)?|early|mid|late)(?: (?:in )?(?:the )?|-)"),
    "which": r"(?P<which>this past|this last|this coming|last|past|previous|this|next|coming|upcoming)",
    "to": r"\s{0,2}(?:to|until|till|through|-|–|—)\s{0,2}",
}


def _compile(pattern: str) -> "re.Pattern[str]":
    """`{month}` and its like stand for the fragments above, a space for one to three of any kind."""
    filled = re.sub(r"\{([a-z_]+)\}", lambda name: _FRAGMENTS[name[1]], pattern)
    return re.compile(filled.replace(" ", r"\s{1,3}"), re.ASCII | re.IGNORECASE)


_Resolver = Callable[["re.Match[str]", Setting], Period | None]


def relative(
    pattern: str, resolve: _Resolver, annual: "Callable[[re.Match[str]], Annual | None] | None" = None
) -> Phrase:
    """A phrase that means something only beside the day on which it was said."""
    return Phrase(_compile(pattern), resolve, True, annual)


def absolute(pattern: str, resolve: _Resolver) -> Phrase:
    """A phrase that names its time whoever says it when."""
    return Phrase(_compile(pattern), resolve, False)


# Tense: the sign nearest before the phrase in its sentence decides, else the first after it, else it is past.
_SIGN = _compile(
    r"\b(?:(?P<future>will|won't|shall|gonna|going to|plans?|planning|next|upcoming|hop(?:e|ing) to|forward to"
    r"|(?:have|has|needs?|got|ought) to"
    r"|can't wait|wants? to|scheduled|booked|see you|let's"
    r"|(?:i'm|we're|they're|he's|she's|am|are|is) \w{2,12}ing)"
    r"|(?P<past>was|were|had|did|didn't|went|got|met|saw|took|came|made|bought|ran|left|gave|held|won|lost"
    r"|began|started|visited|\w{2,12}ed))\b|(?P<short>'ll)\b"
)
# What is fixed for a day is said in the present ("the exam is on 4 March", "my flight leaves on 4 March"), or without
# any verb ("dentist appointment 4 March"). Weaker than a tense: it counts where nothing in the sentence is past.
_FIXED = _compile(
    r"\b(?:(?:is|are|it's|that's|starts?|begins?|opens?|leaves?|departs?|arrives?|ends?|closes?|expires?|runs out"
    r"|takes? place|falls?)(?: (?:due|set|only|not|still)){0,2}(?: (?:on|at|for))?|by|until|till) ?$"
)
_APPOINTED = _compile(
    r"\b(?:appointments?|deadlines?|reservations?|due|remind|remember to|don't forget|must|should"
    r"|(?:have|has|got) (?:an?|my|our|another|no)"
    r"|(?:i|we|they|you) (?:fly|leave|travel|go|move|meet|return|arrive|depart|start|begin|graduate|marry|perform|sail)"
    r"|flies|travels|moves|meets|returns|graduates|marries|performs|sails)\b"
)
_UNTIL = _compile(r"(?:by|until|till|til)\b")
_LOOKS_BACK = _compile(r"\b(?:from|of|since|dated|back in|birthday.{0,20}|anniversary.{0,20}) ?$")
_SINCE = _compile(r"(?:from|since|back in)\b")
_FIXED_AFTER = _compile(r"^,? ?(?:is|are|starts?|begins?)\b")
_SENTENCE_END = re.compile(r"[.!?\n](?=\s|$)")


def speaks_of_future(text: str, start: int, end: int) -> bool:
    """Whether the sentence around `text[start:end]` speaks of what is to come there."""
    before = _SENTENCE_END.split(text[max(0, start - 120) : start])[-1].replace("’", "'")
    signs = list(_SIGN.finditer(before))
    if signs:
        return signs[-1].lastgroup != "past"
    after = _SENTENCE_END.split(text[end : end + 80], maxsplit=1)[0].replace("’", "'")
    sign = _SIGN.search(after)
    if _is_fixed(before, text[start:end]):
        return True
    if sign is not None:
        return sign.lastgroup != "past"
    return not _since_then(before, text[start:end]) and bool(_FIXED_AFTER.search(after) or _APPOINTED.search(after))


def _is_fixed(before: str, phrase: str) -> bool:
    """Whether a sentence says, before the phrase and without a tense, that something is fixed for that time."""
    said = _FIXED.search(before) or _UNTIL.match(phrase) or _APPOINTED.search(before)
    return bool(said) and not _since_then(before, phrase)


def _since_then(before: str, phrase: str) -> bool:
    return bool(_LOOKS_BACK.search(before) or _SINCE.match(phrase))


def year_of(found: re.Match[str]) -> int | None:
    """The year that was said."""
    said = found["year"]
    return int(said) if said else None


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
