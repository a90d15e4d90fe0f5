"""Wordings: how a question is put to the embedder. What names somebody is like everything that they said.

A name weighs more in a sentence's vector than what the sentence is about: of two people's dialogue half holds it. So
a question is looked up half as it stands, and half as whoever is named would say it ("When did I buy the kayak?"),
which is how dialogue speaks. Who is named counts by itself (`Ranking.speaker`, attribution).
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from memforest_ray.commit.version import Version
from memforest_ray.facts.words import STOP_WORDS, content_tokens, fold, unaccented
from memforest_ray.index.lexical import Floats
from memforest_ray.query.request import QueryRequest
from memforest_ray.query.speakers import ROLES

__all__ = ["nameless", "vector_of", "wordings"]

_NAME_CHARS_MIN: Final = 2
"""Of a part of a name: initials are words of their own."""
_SPACELESS: Final = "\u0e00"
"""From here on scripts have no spaces between words."""
_NAMES_MAX: Final = 1_024
"""People who are looked for in a question: a group chat has a hundred."""


def wordings(version: Version, request: QueryRequest) -> tuple[str, ...]:
    """What to embed for a question: its text, and if it names somebody who speaks, the same in their own words."""
    bare = nameless(request.text, _speakers(version, request.as_of_ms))
    return (request.text,) if bare is None else (request.text, bare)


def _speakers(version: Version, as_of_ms: int | None) -> Iterable[str]:
    """Names of those who have spoken by then."""
    names = version.index.registers.speakers.names
    if as_of_ms is None:
        return names[:_NAMES_MAX]
    return [names[number] for number in version.index.corpus_as_of(as_of_ms).speakers[:_NAMES_MAX].tolist()]


def nameless(text: str, names: Iterable[str]) -> str | None:
    """The text with "I" and "my" for these names, or parts of them; None where it holds none, or asks for nothing else.

    In other scripts than Latin the names are left out. Accents count for nothing, and are lost.
    """
    parts = frozenset(unaccented(part) for name in names for part in _parts(name))
    plain = " ".join(map(unaccented, text.split()))
    if not parts:
        return None
    bare = " ".join(_named(parts).sub(_in_first_person, plain).split())
    return bare if bare != plain and content_tokens(bare) else None


def _in_first_person(name: "re.Match[str]") -> str:
    if not name[0][0].isascii():
        return " "
    return "my" if name["whose"] else "I"


def _parts(name: str) -> Iterator[str]:
    """A name and the words that it is made of, but those that are words of every text ("Will"); a role is no name."""
    for part in {name, *name.split()} if name not in ROLES else ():
        if len(part) >= _NAME_CHARS_MIN and fold(part) not in STOP_WORDS:
            yield part


@lru_cache(maxsize=64)
def _named(parts: Collection[str]) -> "re.Pattern[str]":
    ordered = sorted(parts, key=lambda part: (-len(part), part))
    spaced = "|".join(re.escape(part) for part in ordered if part[0] < _SPACELESS)
    spaceless = "".join(f"|{re.escape(part)}" for part in ordered if part[0] >= _SPACELESS)
    word = rf"(?<![^\W_])(?:{spaced})(?P<whose>['’]s)?(?![^\W_])" if spaced else r"(?!)(?P<whose>)"
    return re.compile(word + spaceless, re.IGNORECASE)


def vector_of(texts: Iterable[str], vectors: Mapping[str, NDArray[np.floating[Any]]]) -> Floats | None:
    """The mean of the wordings' vectors, so that a likeness is the mean of theirs; None where none is known."""
    known = [vectors[text].astype(np.float32) for text in texts if text in vectors and vectors[text].any()]
    return np.mean(known, axis=0, dtype=np.float32) if known else None
