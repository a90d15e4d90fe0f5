"""Clauses: what a turn is cut into, each of which may say one thing."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from memforest_ray.facts.words import STOP_WORDS, word_set, words

__all__ = ["Clause", "clauses", "content_words"]

_CLAUSE_CHARS_MAX: Final = 600
"""Longer runs without a sentence's end are cut at a space: a statement is not a page."""


@dataclass(frozen=True, slots=True)
class Clause:
    """Part of a text: `text` stands at `start` of it, up to but without `end`."""

    text: str
    start: int
    end: int
    question: bool = False
    image: bool = False
    """A caption in brackets, without them."""


# A full stop ends a sentence before white space, unless it belongs to an abbreviation or an initial.
_END = re.compile(
    r"""(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)(?<!\bProf)(?<!\bvs)(?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<!\b[A-Z])
    \.(?=["'”’)\]]?(?:\s|$))["'”’)\]]?
    |[!?]+["'”’)\]]?(?=\s|$)["'”’)\]]?|[。！？；।॥…]+[」』”’]?|\n+""",
    re.VERBOSE,
)
_IMAGE = re.compile(r"\[(?:image|photo|picture)\s{0,2}:\s{0,2}([^\[\]\n]{1,600})\]", re.IGNORECASE)
# Where one sentence says two things: the second part has its own subject, one that needs no antecedent.
_JOINT = re.compile(
    r"(?:\s{0,2},?\s{1,2}(?:and|but|so|then|although|though|while)\s{1,2}|\s{0,2}[;—–]\s{0,2}|\s-{1,2}\s)"
    r"(?=(?:I|I'm|I've|I'll|we|we're|we've|he|she|my|our)\s)|，(?=[我他她但]|不过|所以|后来)"
)
# Where one sentence names two times, the second may be that of something else: "tea on Monday and a film on Friday".
_TIME: Final = (
    r"(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|\d{1,2}(?:st|nd|rd|th)|\d{1,2}(?::\d\d)?\s?[ap]m"
    r"|(?:January|February|March|April|May|June|July|August|September|October|November|December)(?:\s\d{1,2})?"
    r"|today|tonight|yesterday|tomorrow|morning|afternoon|evening|night|week|weekend|month|year)"
)
_AND = re.compile(r"\s{0,2},?\s{1,2}(?:and|but|then)\s{1,2}")
_TIME_BEFORE = re.compile(rf"(?<!between\s)\b{_TIME}$")
_TIME_AFTER = re.compile(rf"(?:(?!(?:and|but|then)\b)[\w'.&-]{{1,30}}\s{{1,2}}){{3,8}}?(?:the\s)?{_TIME}\b")
_TIME_CHARS_MAX: Final = 24
# What readers note in place of what is no text: "[image]", "[file: plan.pdf]", "[tool call: search]".
_NOTE = re.compile(
    r"\[(?:tool call: [^\[\]\n]{1,200}|(?:image|audio|video|file|media)(?:: [^\[\]\n]{1,600})?)\]", re.IGNORECASE
)
_HAN = re.compile(r"[\u4e00-\u9fff]")
_QUESTION_MARK = re.compile(r"[?？]")
# Han, kana, Thai and the like have no spaces: their words are counted as pairs of characters.
_PART_WORDS_MIN: Final = 4

_FILLERS: Final = word_set("""
    absolutely aha ah agree agreed alright amazing appreciate aw aww awesome awww beautiful bet bravo btw bye
    catch cheers congrats congratulations cool cute definitely easy enjoy exactly excellent fab fantastic fine
    for-sure gee glad god good goodbye gosh great haha hahaha happy hear hello heck hey hi hm hmm hooray hope
    impressive incredible indeed inspiring interesting kinda kudos later lol looks lovely luck lucky man mate
    maybe mean neat nice nope oh ok okay omg ooh oops perfect phew please pleasure pretty proud respect right
    see seems soon sorry sounds stunning such super sure surely sweet talk tell thank thanks thankyou thing
    things totally true truly ugh uh um wait way welcome well whoa woah wonderful wow ya yay yeah yep yes
    yup y'all you'd you're you've guess know care day days guys dear buddy friend bro hang gotta gonna lot lots
    let lets much many got get go going say said look take give thought words kind support want think feel make
    love loved one ones that'd there'd here's it'll always ever never yet even still around back too
    blessed supportive wish hey
""")
"""Words that keep a talk going: a clause of nothing else says nothing."""


def content_words(text: str, names: frozenset[str] = frozenset()) -> list[str]:
    """Words that say something: no stop words, no words of courtesy, none of `names` (folded)."""
    return [
        word
        for word in words(text)
        if word not in STOP_WORDS and word not in _FILLERS and word.removesuffix("'s") not in names
    ]


def clauses(text: str) -> list[Clause]:
    """The clauses of `text` in order; captions apart, notes of files and tools left out. Linear in its length."""
    plain = text.replace("’", "'")
    found: list[Clause] = []
    start = 0
    for image in _IMAGE.finditer(plain):
        found.extend(_sentences(plain, start, image.start()))
        found.append(Clause(image[1].strip(), image.start(), image.end(), image=True))
        start = image.end()
    found.extend(_sentences(plain, start, len(plain)))
    return [clause for clause in found if clause.text and not _NOTE.fullmatch(clause.text)]


def _sentences(text: str, start: int, end: int) -> Iterator[Clause]:
    for mark in _END.finditer(text, start, end):
        yield from _sentence(text, start, mark.end(), bool(_QUESTION_MARK.search(mark[0])))
        start = mark.end()
    yield from _sentence(text, start, end, False)


def _sentence(text: str, start: int, end: int, question: bool) -> Iterator[Clause]:
    while end - start > _CLAUSE_CHARS_MAX:
        space = text.rfind(" ", start + _CLAUSE_CHARS_MAX // 2, start + _CLAUSE_CHARS_MAX)
        cut = space if space > 0 else start + _CLAUSE_CHARS_MAX
        yield _clause(text, start, cut, False)
        start = cut
    for one, other in _parts(text, start, end):
        yield _clause(text, one, other, question)


def _parts(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The sentence, cut where both parts are long enough to stand alone."""
    parts = [(start, end)]
    for one, other in _joints(text, start, end):
        first = parts[-1][0]
        if min(_word_count(text[first:one]), _word_count(text[other:end])) >= _PART_WORDS_MIN:
            parts[-1:] = [(first, one), (other, end)]
    return parts


def _joints(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Where a sentence may be cut: what joins its parts."""
    joints = {joint.span() for joint in _JOINT.finditer(text, start, end)}
    for joint in _AND.finditer(text, start, end):
        before = text[max(start, joint.start() - _TIME_CHARS_MAX) : joint.start()]
        if _TIME_BEFORE.search(before) and _TIME_AFTER.match(text, joint.end(), end):
            joints.add(joint.span())
    return sorted(joints)


def _word_count(text: str) -> int:
    """Words, or characters that are words."""
    return max(len(text.split()), 0 if text.isascii() else len(_HAN.findall(text)))


def _clause(text: str, start: int, end: int, question: bool) -> Clause:
    raw = text[start:end]
    left = len(raw) - len(raw.lstrip())
    return Clause(raw.strip(), start + left, start + left + len(raw.strip()), question)
