"""Tense: whether a day that may lie before or after the telling lies ahead, by the words around it.

The sign nearest before the phrase in its sentence decides. Where the phrase opens a clause of its own, or nothing
stands before it, the first sign after it does. Weaker signs (a day that is fixed in the present, an appointment without
any verb) count only where nothing speaks of the past. Without any sign it is past.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from memforest_ray.facts.phrases import signs

__all__ = ["puts_off", "speaks_of_future"]

_BEFORE_CHARS: Final = 120
_AFTER_CHARS: Final = 80
_SENTENCE_END: Final = re.compile(r"(?<!\b[ap]\.m)(?<!\bDr)(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bSt)[.!?\n](?=\s|$)")

_CLAUSE_END: Final = re.compile(r"[,;:]")


@dataclass(frozen=True, slots=True)
class _Around:
    """The sentence about a phrase."""

    before: str
    led: str
    """What is before, and the preposition where it is part of the phrase."""
    phrase: str
    after: str


def speaks_of_future(text: str, start: int, end: int, *, asked: bool = False) -> bool:
    """Whether the sentence around `text[start:end]` speaks of what is to come there.

    In a question (`asked`) "dinner with Ana on Friday" may be about any Friday: then it is no appointment.
    """
    around = _around(text, start, end)
    if signs.SINCE_THEN.search(around.led) and not signs.IS_FIXED.match(around.after):
        return False
    if _is_promised(around.led):
        return True
    if signs.OPENS_CLAUSE.search(around.before):
        after = next(_tenses(around.after), None)
        if after is not None:
            return after
        if signs.APPOINTED.search(around.after):
            return True
    before = _said_before(around)
    if before is not None:
        return before
    after = next(_tenses(around.after), None)
    return after if after is not None else _is_meant(around, asked)


def _said_before(around: _Around) -> bool | None:
    """What is said before the phrase: by the nearest tense, by what is fixed, by an appointment that is not over."""
    tense = list(_tenses(around.before))
    if tense:
        return tense[-1]
    if _since_then(around):
        return None
    if _is_fixed(around):
        return True
    if signs.APPOINTED.search(around.before):
        return next(_tenses(_CLAUSE_END.split(around.after, maxsplit=1)[0]), True)
    return None


def puts_off(text: str, end: int) -> bool:
    """Whether what follows `text[:end]`, which ends with "to", is the day to which something is put off."""
    return bool(signs.PUT_OFF.search(_last_sentence(text, end)))


def _around(text: str, start: int, end: int) -> _Around:
    before = _last_sentence(text, start)
    after = _SENTENCE_END.split(text[end : end + _AFTER_CHARS], maxsplit=1)[0].replace("’", "'")
    lead = signs.LEAD.match(text, start, end)
    return _Around(before, before + (lead[0] if lead else ""), text[start:end], after)


def _last_sentence(text: str, end: int) -> str:
    return _SENTENCE_END.split(text[max(0, end - _BEFORE_CHARS) : end])[-1].replace("’", "'").lstrip()


def _is_promised(led: str) -> bool:
    """Whether the day is one that something was put off to, that was promised, or that is waited for."""
    if signs.PUT_OFF.search(led):
        return True
    return bool(signs.PROMISED.search(led) or signs.COUNTS_DOWN.search(led)) and not signs.WAS.search(led)


def _tenses(text: str) -> Iterator[bool]:
    """Of each form that has a tense, whether it speaks of the future."""
    return (sign.lastgroup != "past" for sign in signs.TENSE.finditer(text) if sign.lastgroup != "neither")


def _is_fixed(around: _Around) -> bool:
    """Whether a sentence says, before the phrase and without a tense, that something is fixed for that time."""
    return bool(
        signs.FIXED.search(around.led) or signs.UNTIL.match(around.phrase) or signs.WHEREABOUTS.search(around.led)
    )


def _since_then(around: _Around) -> bool:
    if signs.THROUGH.search(around.phrase) or signs.THROUGH.match(around.after):
        return False  # "from 4 March to 6 March"
    return bool(signs.LOOKS_BACK.search(around.before) or signs.SINCE.match(around.phrase))


def _is_meant(around: _Around, asked: bool) -> bool:
    """Whether, without any tense, it is fixed by what follows, or meant: an appointment, a verb without its subject."""
    if _since_then(around):
        return False
    if signs.FIXED_AFTER.search(around.after) or signs.APPOINTED.search(around.after):
        return True
    if signs.ASKED_FOR.search(around.before) or signs.MEANT.search(around.before):
        return True
    return not asked and _is_engagement(around)


def _is_engagement(around: _Around) -> bool:
    """Nothing but what one goes to, or what is at some hour."""
    hour = signs.HOUR.search(around.before) or signs.HOUR_AFTER.search(around.after)
    return bool(signs.NO_VERB.search(around.led) or (hour and signs.AT_SOME_HOUR.search(around.led)))
