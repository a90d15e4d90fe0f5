"""Names: the entities that a clause speaks of.

In scripts with case a name is capitalised where an ordinary word would not be, or it is quoted. Elsewhere names
are quoted, those of the speakers, or words that return in the session.
"""

import re
from collections.abc import Iterator
from typing import Final

from memforest_ray.facts.words import STOP_WORDS, fold, word_set

__all__ = ["ENTITIES_MAX", "NOT_NAMES", "Speakers", "inner_names", "names_in"]

ENTITIES_MAX: Final = 8
"""Most entities of one statement: a list of thirty places belongs to no place."""

_WORD = re.compile(r"[^\W\d_][\w'’]*(?:-\w+)*(?:\+\+|#)?")
_GAP = re.compile(r"\s|\.\s|\s&\s")
_SHORTENED: Final = ("'ll", "'ve", "'re", "'d", "'m", "n't")
_LINKS: Final = frozenset({"of", "de", "del", "la", "van", "von", "der", "da"})
_INNER = re.compile(r"[^.!?\n\s]\s([^\W\d_a-z][\w'’-]+)")
_ODD = re.compile(r"\w[A-Z]|['’]\w{2}|[+#]|-[A-Z\d]|\d")
_QUOTED = re.compile(r"[\"“「『《〈«]([^\"“”「」『』《》〈〉«»\n]{1,60})[\"”」』》〉»]")
NOT_NAMES: Final = word_set("""
    january february march april may june july august september october november december jan feb mar apr jun jul
    aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thurs
    fri sat sun wow hey hi hello thanks thank yeah yep yes no nope oh ok okay sure totally absolutely definitely
    congrats congratulations good great nice awesome amazing cool sorry please mom dad mum mama papa god lol omg
    well actually also maybe btw haha woohoo yay bye today tomorrow yesterday christmas halloween easter
    thanksgiving pm am image photo english i'm i'll i've i'd
""")
"""Words that are written with a capital, or stand where one would be, and name nobody."""


class Speakers:
    """The people who speak in a session, and how they call each other."""

    __slots__ = ("_by_part", "folded", "names")

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self._by_part: dict[str, str | None] = {}
        for name in names:
            parts = fold(name).split()
            for part in {fold(name), *parts}:
                self._by_part[part] = None if part in self._by_part else name
        self.folded = frozenset(self._by_part)

    def called(self, word: str) -> str | None:
        """Whom a capitalised word means: a name, part of one, or its short form ("Mel" for Melanie)."""
        key = fold(word).removesuffix("'s")
        if key in self._by_part:
            return self._by_part[key]
        meant = {name for part, name in self._by_part.items() if name and len(key) >= 3 and part.startswith(key)}
        return meant.pop() if len(meant) == 1 else None

    def other(self, speaker: str) -> str | None:
        """Whom "you" means when that one speaks: the other of exactly two."""
        others = [name for name in self.names if name != speaker]
        return others[0] if len(others) == 1 and len(self.names) == 2 else None


def names_in(
    clause: str, speakers: Speakers, recurring: tuple[str, ...] = (), known: frozenset[str] = frozenset()
) -> tuple[str, ...]:
    """Names in the order in which they appear, without repeats; `known` are names for sure (`inner_names`)."""
    found: dict[str, str] = {}
    for name in (*_capitalised(clause, speakers, known), *_quoted(clause), *_returning(clause, recurring)):
        meant = speakers.called(name) or name
        found.setdefault(fold(meant), meant)
    for name in speakers.names:
        if not name.isascii() and name in clause:
            found.setdefault(fold(name), name)
    return tuple(found.values())[:ENTITIES_MAX]


def _quoted(clause: str) -> Iterator[str]:
    for match in _QUOTED.finditer(clause):
        name = match[1].strip(" ,.!?")
        if name and len(name.split()) <= 6 and (not name.isascii() or name[0].isupper()):
            yield name


def _returning(clause: str, recurring: tuple[str, ...]) -> Iterator[str]:
    return (word for word in recurring if word in clause)


def inner_names(text: str) -> frozenset[str]:
    """Capitalised words that stand inside a sentence: seen there, they are names at its start too."""
    return frozenset(match[1] for match in _INNER.finditer(text))


def _capitalised(clause: str, speakers: Speakers, known: frozenset[str]) -> Iterator[str]:
    held: list[re.Match[str]] = []
    for word in _WORD.finditer(clause):
        if held and not _GAP.fullmatch(clause, held[-1].end(), word.start()):
            yield from _name(clause, held, speakers, known)
            held = []
        if _is_name(word[0]) or (held and word[0] in _LINKS):
            held.append(word)
        elif held:
            yield from _name(clause, held, speakers, known)
            held = []
    yield from _name(clause, held, speakers, known)


def _is_name(word: str) -> bool:
    key = fold(word).removesuffix("'s")
    return word[0].isupper() and key not in STOP_WORDS and key not in NOT_NAMES and not key.endswith(_SHORTENED)


def _name(clause: str, held: list[re.Match[str]], speakers: Speakers, known: frozenset[str]) -> Iterator[str]:
    while held and held[-1][0] in _LINKS:
        held = held[:-1]
    if not held:
        return
    name = re.sub(r"['’]s$", "", clause[held[0].start() : held[-1].end()])
    # Every sentence starts with a capital, so a single word there needs another sign.
    if held[0].start() > 1 or len(held) > 1 or name in known or _ODD.search(name) or speakers.called(name):
        yield name
