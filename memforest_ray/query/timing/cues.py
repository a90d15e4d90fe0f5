"""Cues: what a statement says of a thing that ends, changes, or is so now: "stopped eating fish", "goes up to 1,020".

A cue counts only where it is said of the thing: "my sister sold her car" ends nothing that a sister is owed. So the
words of the thing are marked in the statement first, and the patterns stand around the mark, inside of one clause.
"""

import re
from collections.abc import Collection, Iterator
from enum import IntEnum
from functools import lru_cache
from typing import Final

from memforest_ray.index.rows import index_words

__all__ = ["OWN", "THING", "Cue", "cues", "marked", "regards"]

THING: Final = "§"
"""Stands for every word of the thing in a marked statement."""
OWN: Final = "@"
"""Stands for whoever says it: "I", "my", and the name in "Ann stopped" and "Ann's dog"."""


_KEPT_CHARS: Final = 500
"""Longest statement that is kept with its marks: what is longer is read anew."""


class Cue(IntEnum):
    """What is said of a thing; the higher, the less else is needed to take it for the latest."""

    DENIED = 1
    """It is not so: an answer to "Is it so?" alone."""
    NOW = 2
    """It is so now."""
    CHANGED = 3
    """It was made another, by whomever."""
    ENDED = 4
    """It is no longer so."""


_NO_MARKS: Final = {ord(THING): " ", ord(OWN): " "}
_WORD: Final = re.compile(r"[^\W_]+(?:['’.,-][^\W_]+)*")
_SELF: Final = {"i": OWN, "i'm": f"{OWN} am", "i've": f"{OWN} have", "i'd": f"{OWN} had", "i'll": f"{OWN} will"}
_POSSESSIVE: Final = re.compile(r"['’]s?$")


def _clause(patterns: str) -> "re.Pattern[str]":
    """Alternatives, one a line, each with white space as any one space."""
    lines = [line.strip().replace(" ", r"\s") for line in patterns.strip().splitlines()]
    return re.compile("|".join(lines), re.IGNORECASE)


_SMALL: Final = (
    r"(?:(?:the|an?|my|our|his|her|their|its|your|that|this|those|all|any|old|as|@)(?:['’]s)? |\w+ing |§ ){0,3}"
)
"""What may stand between a verb and the thing."""
_FAR: Final = rf"(?:(?:to|on|with|of|in|at|for|next) |{_SMALL}){{0,3}}"
_BE: Final = r"(?:is|are|was|were|'s|'re|am|be|been|got|gets|has been|have been|will be)"
_SINCE: Final = r"(?=\W*$|[.,;!?]| (?:on|in|at|last|this|yesterday|today|because|after|and|for|from)\b)"
_ALONE: Final = (
    r"(?=\W*$|[.,;!?§]| (?:and|but|for|to|because|last|this|yesterday|today|in|on|at|after|when|since|so|again|now|a"
    r"|two|from|with|completely|altogether|back)\b)"
)
"""Behind the thing itself: who lost "the cello bow" has the cello."""
_PLAIN: Final = r"(?! (?:at|by|in|to|on|for|the|there|here)\b)"
"""Not behind what ends: "over at five", "off to Rome"."""
_ENDED: Final = _clause(
    rf"""
    \b(?:stop(?:s|ped|ping)?|quit(?:s|ting)?|g(?:ave|ives?|iving|iven) up|done|through|finished) {_FAR}§
    \b(?:cancel(?:s|l?ed|l?ing)?|call(?:ed|ing) off|(?:broke|split) up with|paid off) {_SMALL}§
    \b(?:dropp?(?:s|ed|ing)?|sold|selling|lost|deleted|removed|returned|got rid of) {_SMALL}§{_ALONE}
    \b(?:thr[eo]wn? (?:out|away)|g(?:ave|iven) away) {_SMALL}§{_ALONE}
    \bp(?:aid|ay) {_SMALL}§ (?:back|off)\b
    \b(?:no longer|never again) (?:\w+ ){{0,3}}?§
    (?:\bnot|n['’]t|\bnever) (?:[\w'’-]+ ){{0,3}}?§.*?\b(?:any ?more|any longer|after all|again)\b
    § {_BE} (?:now |all |finally |already |officially )?(?:off the list|off the table|off|over|gone)\b{_PLAIN}
    § {_BE} (?:now |all |finally |already |officially )?(?:cancell?ed|called off|dead|closed|stolen)\b
    § {_BE} (?:now |finally |already )?(?:sold(?! out)|finished|ended|lost|history|no more|no longer)\b
    § (?:just |finally |has |have )?(?:died|passed away|left|quit|resigned|retired|expired|ended|moved out){_SINCE}
    § (?:just |finally |has |have )?(?:fell|fallen) through\b
    """
)
_CHANGED: Final = _clause(
    rf"""
    \b(?:cut|rais(?:ed|es|ing)|lower(?:ed|s|ing)|increas(?:ed|es|ing)|reduc(?:ed|es|ing)|renam(?:ed|es|ing)) {_SMALL}§
    \b(?:chang(?:ed|es|ing)|mov(?:ed|es|ing)|switch(?:ed|es|ing)|swap(?:ped|s|ping)|replac(?:ed|es|ing)) {_SMALL}§
    \b(?:postpon(?:ed|es|ing)|reschedul(?:ed|es|ing)|push(?:ed|es|ing)(?: back)?|(?:re)?paint(?:ed|ing)) {_SMALL}§
    \bt(?:ook|akes?|aking|aken) over {_SMALL}§
    § (?:goes|go|went|is going|are going|has gone|have gone|will go) (?:up|down)\b
    § (?:rises|rose|increases|increased|dropped|fell|climbed|went) to\b
    § (?:has |have )?(?:changed|moved)\b
    § {_BE} (?:now )?(?:moved|postponed|rescheduled|renamed|changed|replaced|cut)\b
    § {_BE} (?:now )?(?:raised|pushed|delayed|lowered|reduced)\b
    """
)
_NOW_WORD: Final = r"\b(?:now|nowadays|these days|from now on|from today|instead|meanwhile|currently|at the moment)\b"
_NOW: Final = _clause(
    rf"""
    §.*{_NOW_WORD}
    {_NOW_WORD}.*§
    \bnew §
    """
)
_KNOWING: Final = "know|remember|think|believe|forget|mind|care|worry|tell|say|ask|need|find|understand"
_IS_NOT: Final = r"\b(?:am|is|are|do|does|has|have|will) not|\b(?:is|are|do|does|has|have|wo)n['’]t"
_DENIED: Final = _clause(
    rf"""
    (?:{_IS_NOT}|\bnever) (?!(?:{_KNOWING})\b)(?:[\w'’-]+ ){{0,3}}?§
    """
)
_PATTERNS: Final = ((Cue.ENDED, _ENDED), (Cue.CHANGED, _CHANGED), (Cue.NOW, _NOW), (Cue.DENIED, _DENIED))
_CLAUSES: Final = re.compile(r"(?<=[,;!?])\s+|(?<=\w\w[.])\s+|\s+but\s+|\s+(?=and (?:I|he|she|they|we|it|@|§)\b)")
_LEADING: Final = re.compile(
    r"^(?:(?:and|so|well|yes|no|oh|ok|okay|actually|unfortunately|sadly|btw) ?,? ?)+", re.IGNORECASE
)
_OTHERS: Final = re.compile(
    rf"^(?:(?:{OWN}|his|her|their|our|your|[\w-]+)['’]s |(?:my|our|his|her|their|your) )(?P<noun>[\w§-]+)"
)
_PRONOUN: Final = re.compile(r"^(?:he|she|they)\b", re.IGNORECASE)


def marked(text: str, speaker: str, things: frozenset[str]) -> str:
    """The statement without the name in front of it, the words of the thing and of the speaker as marks.

    `things` are words as the index keeps them (`index_words`).
    """
    return (_marked if len(text) <= _KEPT_CHARS else _marked.__wrapped__)(text, speaker, things)


@lru_cache(maxsize=1_024)
def _marked(text: str, speaker: str, things: frozenset[str]) -> str:
    said = text.removeprefix(f"{speaker}: ").translate(_NO_MARKS)
    own = speaker.casefold()

    def mark(found: "re.Match[str]") -> str:
        word = found[0]
        bare = _POSSESSIVE.sub("", word)
        if bare.casefold() == own:
            return OWN if bare == word else f"{OWN}'s"
        plain = _SELF.get(word.replace("’", "'").casefold())
        if plain:
            return plain
        if word.casefold() == "my":
            return f"{OWN}'s"
        terms = index_words(bare)
        return THING if terms and terms[0] in things else word

    return _WORD.sub(mark, said)


def cues(statement: str) -> Iterator[tuple[Cue, str]]:
    """What a marked statement says of the thing, clause by clause; with the part of the clause before it."""
    for clause in _CLAUSES.split(statement):
        if THING in clause:
            for cue, pattern in _PATTERNS:
                match = pattern.search(clause)
                if match:
                    yield cue, clause[: match.start()]
                    break


def regards(before: str, names: Collection[str], *, own: bool) -> bool:
    """Whether what stands before a cue leaves it to be said of whom the thing is: "my sister" stopped, "Enzo" died.

    `names` may be the subject; `own` says that the thing is the speaker's, so that "she" is somebody else.
    """
    lead = _LEADING.sub("", before.strip())
    if _PRONOUN.match(lead):
        return not own
    whose = _OTHERS.match(lead)
    if whose and whose["noun"] != THING:
        return False
    first = _WORD.match(lead)
    return first is None or not first[0][0].isupper() or first[0].casefold() in names or not index_words(first[0])
