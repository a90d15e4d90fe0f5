"""Days of every year: a birthday or an anniversary has a day and a month, and no year unless one was said."""

import re
from typing import Final

from memforest_ray.facts.phrases.signs import TENSE, Sign

__all__ = ["is_yearly"]

_BEFORE_CHARS: Final = 120
_AFTER_CHARS: Final = 80
_NTH: Final = r"(?:\d{1,3}(?:st|nd|rd|th)|first|second|third|\w{3,12}th|golden|silver)"
_DAY: Final = r"(?:birthdays?|bday|b-day|anniversar(?:y|ies)|name day|birth\s?date|(?:date|day) of birth)"
# "Is" says it of every year, "was" of one. So does what is held on the day: "the birthday party is on 4 March".
_IS: Final = Sign(
    rf"(?<!\w)(?P<nth>{_NTH} )?(?:\w{{1,20}} )?{_DAY}(?: (?:of|in) [\w'\s-]{{1,40}}?)?"
    r"(?:(?: is| are|'s| falls?| always falls?| will always be)(?: (?:always|also|actually|just|every year))?|:)"
    r"(?: on| in)?(?: the)? $"
)
_IS_ONE: Final = Sign(
    rf"^,? (?:is|are) (?:also )?(?:[\w'-]{{1,20}} ){{0,3}}{_DAY}(?! (?:party|dinner|present|gift|cake|trip))\b"
)
_NAMED: Final = Sign(rf"\b{_DAY},?(?: on| in)?(?: the)? $")
_OF_ONE: Final = Sign(rf"\b(?:party|for|at|on|after|before|until|since|this|last|next|{_NTH})\b")
_BORN: Final = Sign(r"(?:[\w'-]{1,20} (?:was |were )?)?\bborn(?: (?:in|at) [\w'\s-]{1,24}?,?)?(?: on)?(?: the)? $")
_NEWLY_BORN: Final = Sign(
    r"\b(?:bab(?:y|ies)|newborns?|twins?|triplets|pupp(?:y|ies)|kittens?|foal|calf|lambs?|cubs?)\b"
)
_OF_OTHERS: Final = Sign(r"^(?!(?:i|we|you)\b)[\w'-]{1,20} (?:was|were) born\b")
_NEWS_DAYS: Final = range(15)
"""So long a birth is told as news, without its year."""
_WORDS: Final = ("birth", "bday", "b-day", "annivers", "name day", "born")
"""No such day is told without one of these."""
_SENTENCE_END: Final = re.compile(r"[.!?\n]\s")


def is_yearly(text: str, start: int, end: int, *, a_day: bool, days: int | None = None) -> bool:
    """Whether `text[start:end]`, a month or (`a_day`) a day of it without a year, is that of every year.

    Somebody is born on a day of a year that was not said; in a month, or of the newly born, it may be the last. Of
    somebody else it is the last, if no more than two weeks (`days`, if known) lie between it and the telling.
    """
    around = text[max(0, start - _BEFORE_CHARS) : end + _AFTER_CHARS].lower()
    if not any(word in around for word in _WORDS):
        return False
    sentence = _SENTENCE_END.split(text[max(0, start - _BEFORE_CHARS) : start].replace("’", "'"))[-1].lstrip()
    before = sentence + _preposition(text, start, end)
    told = _IS.search(before)
    if told is not None:
        return told["nth"] is None
    if _IS_ONE.search(text[end : end + _AFTER_CHARS].replace("’", "'")):
        return True
    if a_day and (born := _BORN.search(before)):
        is_news = days in _NEWS_DAYS and _OF_OTHERS.search(born[0]) is not None
        return not is_news and _NEWLY_BORN.search(before) is None
    named = _NAMED.search(before)
    return named is not None and not (_OF_ONE.search(before[: named.start()]) or TENSE.search(before))


def _preposition(text: str, start: int, end: int) -> str:
    """That with which the phrase begins, if any."""
    first = text[start:end].split(maxsplit=1)[0]
    return f"{first} " if first.lower() in ("in", "on") else ""
