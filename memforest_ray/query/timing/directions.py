"""Directions: which way along time a question looks, what it asks for apart from that, and what it measures from."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

__all__ = ["MEASURED", "Direction", "Look", "look", "plain_words"]


class Direction(StrEnum):
    """What a question wants of things that follow each other in time."""

    CURRENT = "current"
    PREVIOUS = "previous"
    FIRST = "first"
    LAST = "last"
    BEFORE = "before"
    AFTER = "after"
    BETWEEN = "between"
    AT = "at"
    """What was so at the time of something."""
    COUNT = "count"
    """How often something happened."""
    SPAN = "span"
    """How long it was from one thing to another."""
    AGO = "ago"
    """How long it is since something."""


MEASURED: Final = frozenset(
    {Direction.BEFORE, Direction.AFTER, Direction.BETWEEN, Direction.AT, Direction.SPAN, Direction.AGO}
)
"""Directions that start from happenings, or dates."""


@dataclass(frozen=True, slots=True)
class Look:
    """A question, taken apart."""

    direction: Direction | None
    topic: str
    """What is asked for, without the words about time."""
    anchors: tuple[str, ...] = ()
    """The happening, or the two, that it is measured from."""


# A full stop after a title or an initial, or inside of a number, ends nothing: "before Dr. Okoro", "J. Park", "7.5".
_WORDS: Final = r"(?:[^?？。.,;]|(?<=\b(?:dr|mr|ms|st))\.|(?<=\b(?:mrs))\.|(?<=\b[a-z])\.|\.(?=\w))+"
_CLAUSE: Final = rf"(?P<anchor>{_WORDS})"
_SECOND: Final = rf"(?P<second>{_WORDS})"
_LONG: Final = r"\bhow (?:long|much time|many (?:days|weeks|months|years))\b"


def _pattern(text: str) -> "re.Pattern[str]":
    return re.compile(text, re.IGNORECASE)


_BEFORE_IT: Final = re.compile(r"(?P<anchor>[^，,。？?的]{2,})(?:之前|以前)|(?P<second>\S+(?: \S+){0,3}) से पहले")
_AFTER_IT: Final = re.compile(r"(?P<anchor>[^，,。？?的]{2,})(?:之后|以后)|(?P<second>\S+(?: \S+){0,3}) के बाद")
_DIRECTIONS: Final = (
    (Direction.COUNT, _pattern(r"\bhow (?:many times|often (?:did|has|have|had|was|were))\b|几次|多少次|कितनी बार")),
    (Direction.AGO, _pattern(rf"{_LONG} ago (?:did|was|were|has|have|had|is) {_CLAUSE}")),
    (Direction.AGO, _pattern(rf"{_LONG} (?:has it been|is it|have passed|has passed|passed)(?: now)? since {_CLAUSE}")),
    (Direction.SPAN, _pattern(rf"{_LONG}.*?\bbetween (?P<anchor>.+?) and {_SECOND}")),
    (Direction.SPAN, _pattern(rf"{_LONG}.*?\bfrom (?P<anchor>.+?) (?:to|until|till) {_SECOND}")),
    (Direction.SPAN, _pattern(rf"{_LONG} (?:after|before) (?P<anchor>.+?) (?:did|was|were) {_SECOND}")),
    (Direction.BETWEEN, _pattern(rf"\b(?:in )?between (?P<anchor>.+?) and {_SECOND}")),
    (Direction.BEFORE, _pattern(rf"\b(?:(?:right |just |shortly )?before|prior to|until) {_CLAUSE}")),
    (Direction.AFTER, _pattern(rf"\b(?:(?:right |just |shortly )?after|following|ever since|since) {_CLAUSE}")),
    (Direction.BEFORE, _BEFORE_IT),
    (Direction.AFTER, _AFTER_IT),
    (
        Direction.PREVIOUS,
        _pattern(
            r"\b(previous(ly)?|former(ly)?|used to|earlier|prior|last (job|employer|home)|"
            r"old (?=(?:\w+ )?(?:job|employer|company|boss|home|house|apartment|flat|address|city|phone|number|email"
            r"|code|password|pin|car|school|dentist|doctor|therapist|landlord|roommate)\b))\b|"
            r"\bbefore\W*$|以前|之前|从前|原来|पहले"
        ),
    ),
    (Direction.AT, _pattern(rf"\b(?:at the time (?:of|when)|as of|by the time|during) {_CLAUSE}")),
    (Direction.AT, _pattern(rf"(?<=\w )(?:when|while) {_CLAUSE}|^\W*(?:when|while) (?P<second>[^,?]+), *(?=wh|how)")),
    (
        Direction.LAST,
        _pattern(
            r"\b(latest|most recent(ly)?|(the )?last time)\b|"
            r"\b(?:did|has|have|had)(?: \w+){1,3} last(?= \w)"
            r"(?! (?:day|night|week|weekend|month|year|spring|summer|fall|winter))"
        ),
    ),
    (
        Direction.FIRST,
        _pattern(r"\b(first|originally|original(?= \w)|initially|at first|to begin with|earliest)\b|最初|最早|सबसे पहले"),
    ),
    (
        Direction.CURRENT,
        _pattern(
            r"\b(current(ly)?|now|nowadays|these days|still|at present|at the moment|today)\b|"
            r"现在|目前|如今|अभी|आजकल|इस समय"
        ),
    ),
)
_SIGNS: Final = (
    "how",
    "how",
    "how",
    "how",
    "how",
    "how",
    "between",
    "before prior until",
    "after following since",
    "",
    "",
    "previous previously former formerly used earlier prior old last before",
    "time of during",
    "when while",
    "latest recent recently last",
    "first originally original initially begin earliest",
    "current currently now nowadays these still present moment today",
)
"""Of each of them the English words of which one must stand in a text that it matches."""
_IN_ASCII: Final = tuple(
    (direction, pattern, frozenset(signs.split()))
    for (direction, pattern), signs in zip(_DIRECTIONS, _SIGNS, strict=True)
    if signs
)
"""Those that can match plain text: to find that the others do not takes longer than all the rest."""
_WORD: Final = re.compile(r"\w+")
_PRESENT: Final = _pattern(
    r"^\W*(?:(?:where|who|what|which|how|whose|(?:for|with) whom)(?:'s|\b.{0,24}?\b(?:does|do|is|are|am))"
    r"|is|are|am|does|do)\b"
    r"|哪|谁|誰|什么|什麼|多少|吗|\b(?:है|हैं)\W*$"
)
_NOT_PRESENT: Final = _pattern(
    r"\b(did|was|were|had|will|would|going to|plan(s|ned|ning)?|scheduled|upcoming|ever|next)\b"
    r"|[了过過曾将將会會]|当时|當時|打算|计划|計劃|明天|下[周个個]|[年月日号號]|从[没未]"
)
_POINTING: Final = _pattern(r"(that|this|then|now|it|这|那|这个|那个)( one| place)?")
"""A happening that is not named: what was before it is what was before now."""


@lru_cache(maxsize=256)
def look(text: str) -> Look:
    """Take a question apart. Never raises."""
    for direction, pattern in _possible(text):
        match = pattern.search(text)
        if match is None:
            continue
        anchors = tuple(part.strip() for part in match.groupdict().values() if part and part.strip())
        if direction in MEASURED and not anchors:
            continue
        if direction is Direction.BEFORE and _POINTING.fullmatch(anchors[0]):
            return Look(Direction.PREVIOUS, text[: match.start()])
        return Look(direction, text[: match.start()] + " " + text[match.end() :], anchors)
    if _PRESENT.search(text) and not _NOT_PRESENT.search(text):
        return Look(Direction.CURRENT, text)
    return Look(None, text)


def _possible(text: str) -> Iterator[tuple[Direction, "re.Pattern[str]"]]:
    """The directions that a text may look in, by its words: to look for a word is quicker than for a pattern."""
    if not text.isascii():
        yield from _DIRECTIONS
        return
    words = plain_words(text)
    for direction, pattern, signs in _IN_ASCII:
        if not signs.isdisjoint(words):
            yield direction, pattern


@lru_cache(maxsize=256)
def plain_words(text: str) -> frozenset[str]:
    """The words of a text in ASCII, in small letters."""
    return frozenset(_WORD.findall(text.lower()))
