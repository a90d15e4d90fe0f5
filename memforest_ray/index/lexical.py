"""The lexical index: which words stand in which rows, how often; and BM25 over any grouping of the rows.

Postings are append-only like the tables, so a version shares them; a row that died is left out by whoever looks.
Document frequencies and lengths are counted from what is live at the moment of the query, so a ranking is a function
of the set of texts, never of the order in which they came or of what was there before.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Final

import numpy as np
from immutables import Map
from numpy.typing import NDArray

from memforest_ray.index.table import Integers, grown

__all__ = ["Floats", "Found", "Lexicon", "LexiconView", "Postings", "bm25", "bm25_of", "damping", "shares"]

Floats = NDArray[np.float32]

SATURATION: Final = 1.2
"""BM25's k1, at its customary value: a word's fourth occurrence adds little."""
LENGTH_SHARE: Final = 0.75
"""BM25's b, at its customary value: how far long texts are held back."""

_COUNT_BITS = 8
_COUNT_MAX = (1 << _COUNT_BITS) - 1
_ROW_BITS = 40


@dataclass(frozen=True, slots=True)
class Postings:
    """The rows that hold one word: row number and occurrences (at most 255), in one integer each."""

    entries: Integers
    count: int

    def appended(self, entries: Integers) -> "Postings":
        """With more entries, written behind those that older versions see, in the same array while it has room.

        The first ones are kept as they come: most words never get any others.
        """
        if not self.count:
            return Postings(entries, len(entries))
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
class Found:
    """Where the words of a query stand: one entry for each word and text that holds it, word after word."""

    asked: int
    """How many words were looked for."""
    words: Integers
    """By entry: which of them."""
    places: Integers
    """In which text. Several entries of one word may name the same: rows of one place."""
    counts: Floats
    """How often there."""

    @property
    def holding(self) -> NDArray[np.int64]:
        """Of each word how many entries it has."""
        return np.bincount(self.words, minlength=self.asked)

    def dense(self, length: int) -> Floats:
        """A row for each word over `length` places."""
        spread = np.zeros((self.asked, length), np.float32)
        np.add.at(spread.reshape(-1), self.words * length + self.places, self.counts)
        return spread


@dataclass(frozen=True, slots=True)
class LexiconView:
    """The words of one version."""

    words: Map[str, Postings]

    def found(self, words: Sequence[str], places: Integers) -> Found:
        """Where each of `words` stands. `places` says for each row which place it belongs to, -1 for none."""
        postings = [self.words.get(word, _NOTHING) for word in words]
        entries = np.concatenate([each.entries[: each.count] for each in postings] or [_NOTHING.entries])
        numbers = np.repeat(np.arange(len(words)), np.array([each.count for each in postings], np.int64))
        where, counts = places[entries >> _COUNT_BITS], (entries & _COUNT_MAX).astype(np.float32)
        if where.size and where.min() < 0:
            seen = where >= 0
            numbers, where, counts = numbers[seen], where[seen], counts[seen]
        return Found(len(words), numbers, where, counts)

    def occurrences(self, words: Sequence[str], places: Integers, length: int) -> Floats:
        """How often each of `words` stands at each of `length` places, shape (words, length). See `found`."""
        return self.found(words, places).dense(length)


def _posted(texts: Mapping[int, Sequence[str]]) -> tuple[list[str], Integers, list[int]]:
    """The words of some texts, the entries of all of them one after the other, and where those of each word end."""
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    words = list(chain.from_iterable(texts.values()))
    codes = np.fromiter(map(numbers.__getitem__, words), np.int64, len(words))
    rows = np.repeat(np.fromiter(texts, np.int64, len(texts)), list(map(len, texts.values())))
    # Every word once for each row, in the order of words, then rows.
    pairs, counts = np.unique(codes << _ROW_BITS | rows, return_counts=True)
    ends = np.searchsorted(pairs, np.arange(1, len(numbers) + 1) << _ROW_BITS)
    entries = (pairs & (1 << _ROW_BITS) - 1) << _COUNT_BITS | np.minimum(counts, _COUNT_MAX)
    return list(numbers), entries, ends.tolist()


class Lexicon:
    """The owner's side: the only writer."""

    __slots__ = ("_words",)

    def __init__(self, words: Map[str, Postings] | None = None) -> None:
        self._words: Map[str, Postings] = Map() if words is None else words

    def add(self, texts: Mapping[int, Sequence[str]]) -> None:
        """Write the words of new rows: row -> words. Costs the words written, not those that are there."""
        words, entries, ends = _posted(texts)
        with self._words.mutate() as edited:
            for word, start, end in zip(words, [0, *ends], ends, strict=False):
                edited[word] = edited.get(word, _NOTHING).appended(entries[start:end])
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


def bm25(
    occurrences: Floats, held: Floats, texts: int | None = None, holding: NDArray[np.int64] | None = None
) -> Floats:
    """Share of the query's weight that each text holds, in [0, 1]. `held` is the texts' `damping`.

    `texts` says how many there are, where some columns stand for none or they are part of more; `holding` then, how
    many of all of them hold each word.

    BM25 (Robertson and Zaragoza, 2009; idf as in Lucene, never negative) divided by the most that any text could
    reach for these words, so that scores of different queries and memories can be compared. A word that stands
    nowhere counts in that most: a query of unknown words scores low everywhere.
    """
    texts = occurrences.shape[1] if texts is None else texts
    if holding is None:
        holding = np.array([np.count_nonzero(line) for line in occurrences > 0], np.int64)
    weights = shares(holding, texts)
    if weights is None or not texts:
        return np.zeros(len(held), np.float32)
    gains = occurrences + held
    np.divide(occurrences, gains, out=gains)
    return np.asarray(weights @ gains, np.float32)


def bm25_of(found: Found, held: Floats) -> Floats:
    """`bm25` of all texts, made of what was found alone: for words that stand in few of many texts.

    Where a text comes several times for a word its occurrences do not damp each other.
    """
    values = np.zeros(len(held), np.float32)
    weights = shares(found.holding, len(held))
    if weights is not None:
        gains = weights[found.words] * found.counts
        gains /= found.counts + held[found.places]
        np.add.at(values, found.places, gains)
    return values


def shares(holding: NDArray[np.int64], texts: int) -> Floats | None:
    """Of each word, which so many of `texts` hold, the part in the most that a text can have; None for no word."""
    weights = np.log1p((texts - holding + 0.5) / (holding + 0.5))
    most = float(weights.sum())
    return (weights / most).astype(np.float32) if most > 0 else None
