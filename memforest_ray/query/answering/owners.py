"""Owners: whose a thing is that a question asks of: "Gwen's wedding" is not Nell's, though Gwen told of it."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from memforest_ray.facts.words import STOP_WORDS, fold, stem, unaccented, word_set
from memforest_ray.query.whom import KEPT_CHARS_MAX, kin_of

__all__ = ["Owned", "is_anothers", "owned_in"]

_OWNED: Final = re.compile(
    r"(?<![\w'’-])(?:(?P<of>my|our|your|his|her|their)|(?P<name>[^\W\d_][\w-]*)['’]s)(?=(?P<things>(?: [\w-]+){1,2}))",
    re.IGNORECASE,
)
_NO_OWNERS: Final = word_set(
    "what who where when how that there here it he she let tonight today tomorrow yesterday everyone everybody"
)
"""Words that have "is" shortened behind them, and those of times and of everybody."""

_THIRD: Final = frozenset({"his", "her", "their"})
_OWN: Final = {True: frozenset({"my", "our"}), False: _THIRD | {"our", "your"}}
"""Words that may mean whoever is asked for, when that one speaks, and when somebody else does."""
_PRONOUNS: Final = _THIRD | {"my", "our", "your"}


@dataclass(frozen=True, slots=True)
class Owned:
    """A thing and whose it is."""

    owner: str
    """A name, folded, or "my", "our", "your", "his", "her", "their"."""
    things: frozenset[str]
    """Stems of what follows, up to two words: "Arabic exam"."""


def owned_in(text: str) -> tuple[Owned, ...]:
    """What a text says that somebody has. Never raises."""
    return _short_owned(text) if len(text) <= KEPT_CHARS_MAX else tuple(_owned(text))


def _owned(text: str) -> Iterator[Owned]:
    for match in _OWNED.finditer(text):
        owner = fold(match["of"] or match["name"])
        words = [word for word in fold(match["things"]).split() if word not in STOP_WORDS]
        if words and owner not in _NO_OWNERS:
            yield Owned(unaccented(owner), frozenset(stem(unaccented(word)) for word in words))


@lru_cache(maxsize=1 << 9)
def _short_owned(text: str) -> tuple[Owned, ...]:
    return tuple(_owned(text))


def is_anothers(asked: Owned, said: Iterable[tuple[str, bool]]) -> bool:
    """Whether texts tell of such a thing, but only of others' ones. Each with whether the owner asked for says it.

    "Her" may be anybody but whoever speaks, a relative has several words ("mom", "mother"), and a name, too: who asks
    for his wife's car may have told of Mia's.
    """
    alike = [(each, speaks) for text, speaks in said for each in owned_in(text) if asked.things & each.things]
    return bool(alike) and not any(_may_be(asked.owner, each.owner, speaks) for each, speaks in alike)


def _may_be(asked: str, owner: str, speaks: bool) -> bool:
    """Whether the owner who is asked for may be the one of whom a text tells."""
    kin = kin_of(asked)
    if owner == asked or owner in kin or owner in _OWN[speaks]:
        return True
    return bool(kin) and owner not in _PRONOUNS and not kin_of(owner)
