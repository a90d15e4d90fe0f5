"""The lexical index: which words stand in which rows, how often; and BM25 over any grouping of the rows.

Postings are append-only like the tables, so a version shares them; a row that died is left out by whoever looks.
Document frequencies and lengths are counted from what is live at the moment of the query, so a ranking is a function
of the set of texts, never of the order in which they came or of what was there before.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from immutables import Map
from numpy.typing import NDArray

from memforest_ray.index.table import Integers, grown

__all__ = ["Floats", "Lexicon", "LexiconView", "Postings", "bm25", "bm25_of", "damping", "dense"]

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

    def found(self, words: Sequence[str], places: Integers) -> list[tuple[Integers, Floats]]:
        """For each of `words` the places where it stands, and how often there.

        `places` says for each row which place it belongs to, -1 for none: several rows may share a place, which then
        comes several times.
        """
        return [self._of(word, places) for word in words]

    def _of(self, word: str, places: Integers) -> tuple[Integers, Floats]:
        postings = self.words.get(word, _NOTHING)
        where, counts = places[postings.rows], postings.occurrences.astype(np.float32)
        if where.size and where.min() < 0:
            seen = where >= 0
            where, counts = where[seen], counts[seen]
        return where, counts

    def occurrences(self, words: Sequence[str], places: Integers, length: int) -> Floats:
        """How often each of `words` stands at each of `length` places, shape (words, length). See `found`."""
        return dense(self.found(words, places), length)


def dense(found: Sequence[tuple[Integers, Floats]], length: int) -> Floats:
    """What was found, as a row for each word over `length` places."""
    spread = np.zeros((len(found), length), np.float32)
    for line, (where, counts) in zip(spread, found, strict=True):
        np.add.at(line, where, counts)
    return spread


class Lexicon:
    """The owner's side: the only writer."""

    __slots__ = ("_words",)

    def __init__(self, words: Map[str, Postings] | None = None) -> None:
        self._words: Map[str, Postings] = Map() if words is None else words

    def add(self, texts: Mapping[int, Sequence[str]]) -> None:
        """Write the words of new rows: row -> words. Costs the words written, not those that are there."""
        entries: defaultdict[str, list[int]] = defaultdict(list)
        for row, words in texts.items():
            once = row << _COUNT_BITS | 1
            if len(frozenset(words)) == len(words):  # as in most short texts
                for word in words:
                    entries[word].append(once)
            else:
                for word, count in Counter(words).items():
                    entries[word].append(once - 1 | min(count, _COUNT_MAX))
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


def damping(lengths: Floats) -> Floats:
    """BM25's hold on long texts: what occurrences have to come up against, for texts of so many words."""
    mean = max(float(lengths.mean()), 1e-9) if len(lengths) else 1.0
    return np.asarray(SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * lengths / mean), np.float32)


def bm25(occurrences: Floats, held: Floats, holding: Floats | None = None, texts: int | None = None) -> Floats:
    """Share of the query's weight that each text holds, in [0, 1]. `held` is the texts' `damping`.

    Of a part of the texts `holding` tells in how many of all `texts` each word stands.

    BM25 (Robertson and Zaragoza, 2009; idf as in Lucene, never negative) divided by the most that any text could
    reach for these words, so that scores of different queries and memories can be compared. A word that stands
    nowhere counts in that most: a query of unknown words scores low everywhere.
    """
    if holding is None or texts is None:
        texts, holding = occurrences.shape[1], np.array([np.count_nonzero(line) for line in occurrences], np.float32)
    weights = np.log1p((texts - holding + 0.5) / (holding + 0.5))
    most = float(weights.sum())
    if most <= 0 or not occurrences.shape[1]:
        return np.zeros(occurrences.shape[1], np.float32)
    gains = occurrences + held
    np.divide(occurrences, gains, out=gains)
    return np.asarray((weights / most).astype(np.float32) @ gains, np.float32)


def bm25_of(found: Sequence[tuple[Integers, Floats]], held: Floats) -> Floats:
    """`bm25` of all texts, made of what was found alone: for words that stand in few of many texts.

    Where a text comes several times for a word its occurrences do not damp each other.
    """
    holding = np.array([len(where) for where, _ in found], np.float64)
    weights = np.log1p((len(held) - holding + 0.5) / (holding + 0.5))
    most = float(weights.sum())
    values = np.zeros(len(held), np.float32)
    for (where, counts), weight in zip(found, weights.tolist(), strict=True):
        np.add.at(values, where, np.float32(weight / most) * counts / (counts + held[where]))
    return values
