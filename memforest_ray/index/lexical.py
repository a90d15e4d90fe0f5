"""The lexical index: which words stand in which rows, how often; and BM25 over any grouping of the rows.

Postings are append-only like the tables, so a version shares them; a row that died is left out by whoever looks.
Document frequencies and lengths are counted from what is live at the moment of the query, so a ranking is a function
of the set of texts, never of the order in which they came or of what was there before.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from immutables import Map
from numpy.typing import NDArray

from memforest_ray.index.table import Integers, grown

__all__ = ["Floats", "Lexicon", "LexiconView", "Postings", "bm25"]

Floats = NDArray[np.float32]

SATURATION: Final = 1.2
"""BM25's k1, at its customary value: a word's fourth occurrence adds little."""
LENGTH_SHARE: Final = 0.75
"""BM25's b, at its customary value: how far long texts are held back."""

_COUNT_BITS = 8
_COUNT_MAX = (1 << _COUNT_BITS) - 1


@dataclass(frozen=True, slots=True)
class Postings:
    """The rows that hold one word: row number and occurrences (at most 255), in one integer each."""

    entries: Integers
    count: int

    def appended(self, entries: Sequence[int]) -> "Postings":
        """With more entries, written behind those that older versions see, in the same array while it has room."""
        total = self.count + len(entries)
        array = grown(self.entries, total) if total > len(self.entries) else self.entries
        array[self.count : total] = entries
        return Postings(array, total)

    @property
    def rows(self) -> Integers:
        return self.entries[: self.count] >> _COUNT_BITS

    @property
    def occurrences(self) -> Integers:
        return self.entries[: self.count] & _COUNT_MAX


_NOTHING: Final = Postings(np.zeros(0, np.int64), 0)


@dataclass(frozen=True, slots=True)
class LexiconView:
    """The words of one version."""

    words: Map[str, Postings]

    def occurrences(self, words: Sequence[str], places: Integers, length: int) -> Floats:
        """How often each of `words` stands at each of `length` places, shape (words, length).

        `places` says for each row which place it belongs to, -1 for none: several rows may share a place.
        """
        found = np.zeros((len(words), length), np.float32)
        for line, word in enumerate(words):
            postings = self.words.get(word)
            if postings is None:
                continue
            where = places[postings.rows]
            seen = where >= 0
            np.add.at(found[line], where[seen], postings.occurrences[seen].astype(np.float32))
        return found


class Lexicon:
    """The owner's side: the only writer."""

    __slots__ = ("_words",)

    def __init__(self, words: Map[str, Postings] | None = None) -> None:
        self._words: Map[str, Postings] = Map() if words is None else words

    def add(self, texts: Mapping[int, Iterable[str]]) -> None:
        """Write the words of new rows: row -> words. Costs the words written, not those that are there."""
        entries: dict[str, list[int]] = {}
        for row, words in texts.items():
            for word, count in Counter(words).items():
                entries.setdefault(word, []).append(row << _COUNT_BITS | min(count, _COUNT_MAX))
        with self._words.mutate() as edited:
            for word, written in entries.items():
                edited[word] = edited.get(word, _NOTHING).appended(written)
            self._words = edited.finish()

    def view(self) -> LexiconView:
        return LexiconView(self._words)

    def compacted(self, numbers: Integers) -> "Lexicon":
        """A new lexicon over renumbered rows (-1: gone)."""
        kept: dict[str, Postings] = {}
        for word, postings in self._words.items():
            rows = numbers[postings.rows]
            stay = rows >= 0
            if stay.any():
                entries = rows[stay] << _COUNT_BITS | postings.occurrences[stay]
                kept[word] = Postings(entries, len(entries))
        return Lexicon(Map(kept))


def bm25(occurrences: Floats, lengths: Floats) -> Floats:
    """Share of the query's weight that each text holds, in [0, 1].

    BM25 (Robertson and Zaragoza, 2009; idf as in Lucene, never negative) divided by the most that any text could
    reach for these words, so that scores of different queries and memories can be compared. A word that stands
    nowhere counts in that most: a query of unknown words scores low everywhere.
    """
    texts = occurrences.shape[1]
    holding = np.count_nonzero(occurrences, axis=1).astype(np.float32)
    weights = np.log1p((texts - holding + 0.5) / (holding + 0.5))
    most = float(weights.sum()) * (SATURATION + 1)
    if most <= 0 or not texts:
        return np.zeros(texts, np.float32)
    mean = max(float(lengths.mean()), 1e-9)
    damping = (SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * lengths / mean)).astype(np.float32)
    gains = occurrences * np.float32(SATURATION + 1) / (occurrences + damping)
    return np.asarray((weights / most) @ gains, np.float32)
