"""A concordance: where each word stands among the texts of one version, found out once and kept with the version.

A frequent word stands in a fifth of all texts and comes in many questions; where it stands, and what holds it back
there, is the same for all of them. What is kept of a word takes twice what its postings do.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memforest_ray.index.lexical import Floats, Found, LexiconView, shares
from memforest_ray.index.table import Integers

__all__ = ["Concordance", "Standing"]


@dataclass(frozen=True, slots=True)
class Standing:
    """One word: an entry for each row that holds it."""

    places: Integers
    """In which text. Several entries may name the same: rows of one place."""
    counts: Floats
    """How often there."""
    against: Floats
    """What BM25 divides that by."""

    @property
    def nbytes(self) -> int:
        return self.places.nbytes + self.counts.nbytes + self.against.nbytes


class Concordance:
    """Of one set of texts. Threads may share it: what two of them find out at once is the same."""

    __slots__ = ("_held", "_known", "_places", "_words")

    def __init__(self, words: LexiconView, places: Integers, held: Floats) -> None:
        """`places` says for each row of the lexicon which text it belongs to, -1 for none; `held` is the `damping`."""
        self._words = words
        self._places = places
        self._held = held
        self._known: dict[str, Standing] = {}

    def __call__(self, word: str) -> Standing:
        """Where it stands."""
        known = self._known.get(word)
        return self._known.setdefault(word, self._looked_up(word)) if known is None else known

    def _looked_up(self, word: str) -> Standing:
        found = self._words.found((word,), self._places)
        return Standing(found.places, found.counts, found.counts + self._held[found.places])

    def matches(self, words: Sequence[str]) -> Floats:
        """BM25 of every text: what `bm25_of` makes of the same words."""
        standings = [self(word) for word in words]
        values = np.zeros(len(self._held), np.float32)
        weights = shares(np.array([len(each.places) for each in standings], np.int64), len(values))
        if weights is not None:
            for weight, each in zip(weights, standings, strict=True):
                gains = weight * each.counts
                gains /= each.against
                np.add.at(values, each.places, gains)
        return values

    def among(self, words: Sequence[str], numbers: Integers) -> Found:
        """Where they stand in the texts that have a number of 0 or more among some, by that."""
        standings = [self(word) for word in words]
        places = [numbers.take(each.places) for each in standings]
        here = [np.flatnonzero(mine >= 0) for mine in places]
        none = np.zeros(0, np.int64)
        return Found(
            asked=len(words),
            words=np.repeat(np.arange(len(words)), np.array(list(map(len, here)), np.int64)),
            places=np.concatenate([none, *(mine[kept] for mine, kept in zip(places, here, strict=True))]),
            counts=np.concatenate(
                [none.astype(np.float32), *(each.counts[kept] for each, kept in zip(standings, here, strict=True))]
            ),
        )

    @property
    def nbytes(self) -> int:
        """Bytes of what is kept."""
        return sum(each.nbytes for each in self._known.values())
