"""Pairs: which of one kind belong to which of another, laid out so that a maximum over them is a pass or two."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from memforest_ray.index.lexical import Floats
from memforest_ray.index.table import Integers

__all__ = ["Pairs", "Runs", "distinct", "first_of_each", "numbering", "ranges"]

_SHORT: Final = np.iinfo(np.int16).max
"""Length up to which runs are put in order by their digits, in one pass."""
_RUNS_MIN: Final = 1_024
"""Runs from which it pays to lay them out: fewer are gone through in 20 microseconds."""


def ranges(firsts: Integers, ends: Integers) -> Integers:
    """All numbers of some ranges, one range after the other."""
    lengths = ends - firsts
    before = np.cumsum(lengths) - lengths
    numbers: Integers = np.arange(int(lengths.sum()), dtype=np.int64) + np.repeat(firsts - before, lengths)
    return numbers


def distinct(numbers: Integers, size: int) -> Integers:
    """Each of some numbers below `size` once, ascending."""
    there = np.zeros(size, bool)
    there[numbers] = True
    return np.flatnonzero(there)


def first_of_each(numbers: Integers) -> NDArray[np.bool_]:
    """Of ascending numbers which differ from the one before."""
    first = np.ones(len(numbers), bool)
    np.not_equal(numbers[1:], numbers[:-1], out=first[1:])
    return first


def numbering(kept: Integers, size: int) -> Integers:
    """For each of `size` numbers its place among `kept`, -1 for none."""
    numbers = np.full(size, -1, np.int64)
    numbers[kept] = np.arange(len(kept))
    return numbers


@dataclass(frozen=True, slots=True)
class Runs:
    """Runs of an array's elements, laid out by their places: the first of each run, the second of those that have one.

    A run is two or three elements long, and numpy's `reduceat` spends 16 ns on each; a pass over whole columns 3.
    """

    order: Integers
    """The runs, the longest first."""
    columns: tuple[Integers, ...]
    """Of each place in a run the elements that stand there, of as many runs of `order` as are that long."""

    @classmethod
    def of(cls, starts: Integers, size: int) -> "Runs":
        """Runs that begin at `starts`, none empty, together all of `size` elements."""
        lengths = np.diff(starts, append=size)
        short = len(lengths) and lengths.max() <= _SHORT
        order = np.argsort(-lengths.astype(np.int16) if short else -lengths, kind="stable")
        first, sizes = starts[order], lengths[order]
        longest = int(sizes[0]) if len(sizes) else 0
        counts = np.searchsorted(-sizes, -np.arange(longest), side="left")
        return cls(order, tuple(first[:count] + place for place, count in enumerate(counts.tolist())))

    def elements(self, numbers: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        """What an array has at these places, column by column."""
        return tuple(numbers[column] for column in self.columns)


@dataclass(frozen=True)
class _Side:
    """The pairs in the order of one side."""

    numbers: Integers
    """Of this side, ascending."""
    others: Integers
    """Those of the other side that they are paired with."""
    starts: Integers
    """Where the pairs of each number present begin."""
    present: Integers
    """Numbers that have a pair, ascending."""
    size: int
    """Numbers there are, with pairs or without."""

    @classmethod
    def of(cls, numbers: Integers, others: Integers, size: int) -> "_Side":
        order = np.argsort(numbers, kind="stable")
        return cls.sorted(numbers[order], others[order], size)

    @classmethod
    def sorted(cls, numbers: Integers, others: Integers, size: int) -> "_Side":
        """Of pairs that are in order."""
        starts = np.flatnonzero(first_of_each(numbers))
        return cls(numbers, others, starts, numbers[starts], size)

    def spread(self, values: Floats, otherwise: Floats | float) -> Floats:
        """For each number the highest value of its others; `otherwise` for one without a pair."""
        single = len(self.starts) == len(self.others)
        if single and len(self.present) == self.size:
            return values[self.others]
        if isinstance(otherwise, float):
            found = np.full(self.size, otherwise, np.float32)
        else:
            found = otherwise.astype(np.float32)
        if single:
            found[self.present] = values[self.others]
        elif len(self.starts) < _RUNS_MIN:
            found[self.present] = np.maximum.reduceat(values[self.others], self.starts)
        else:
            numbers, columns = self._columns
            best = values[columns[0]]
            for column in columns[1:]:
                mine = best[: len(column)]
                np.maximum(mine, values[column], out=mine)
            found[numbers] = best
        return found

    @cached_property
    def _columns(self) -> tuple[Integers, tuple[Integers, ...]]:
        """The numbers present, those with the most pairs first; and the others of each, first, second ..."""
        runs = Runs.of(self.starts, len(self.others))
        return self.present[runs.order], runs.elements(self.others)

    def slices(self, firsts: Integers, ends: Integers) -> tuple[Integers, Integers]:
        """The pairs of some ranges of numbers, ascending and apart: numbers, and others."""
        pairs = ranges(np.searchsorted(self.numbers, firsts), np.searchsorted(self.numbers, ends))
        return self.numbers[pairs], self.others[pairs]

    def others_of(self, number: int) -> Integers:
        """What belongs to one number, in the order of the pairs."""
        place = int(np.searchsorted(self.present, number))
        if place == len(self.present) or self.present[place] != number:
            return np.zeros(0, np.int64)
        end = self.starts[place + 1] if place + 1 < len(self.starts) else len(self.others)
        return self.others[self.starts[place] : end]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of a left and a right number."""

    left: Integers
    right: Integers
    _by_left: _Side
    _by_right: _Side

    @classmethod
    def of(cls, left: Integers, right: Integers, left_size: int, right_size: int) -> "Pairs":
        """Of two columns of equal length, whose numbers lie below the sizes."""
        return cls(left, right, _Side.of(left, right, left_size), _Side.of(right, left, right_size))

    @classmethod
    def by_right(cls, left: Integers, right: Integers, left_size: int, right_size: int) -> "Pairs":
        """The same of columns in which the right ones ascend."""
        return cls(left, right, _Side.of(left, right, left_size), _Side.sorted(right, left, right_size))

    def to_left(self, values: Floats, otherwise: Floats | float = 0.0) -> Floats:
        """For each on the left the highest value of those on its right; `otherwise` where there are none."""
        return self._by_left.spread(values, otherwise)

    def to_right(self, values: Floats, otherwise: Floats | float = 0.0) -> Floats:
        """For each on the right the highest value of those on its left; `otherwise` where there are none."""
        return self._by_right.spread(values, otherwise)

    def of_left(self, number: int) -> Integers:
        """Those on the right of one on the left."""
        return self._by_left.others_of(number)

    def of_right(self, number: int) -> Integers:
        """Those on the left of one on the right."""
        return self._by_right.others_of(number)

    def between(self, firsts: Integers, ends: Integers) -> tuple[Integers, Integers]:
        """The pairs whose right numbers lie in some ranges, ascending and apart: lefts, and rights."""
        rights, lefts = self._by_right.slices(firsts, ends)
        return lefts, rights

    def rights_of(self, lefts: Integers) -> Integers:
        """Those on the right of some on the left, with repetitions."""
        wanted = distinct(lefts, self._by_left.size)
        return self._by_left.slices(wanted, wanted + 1)[1]

    def counts_right(self) -> NDArray[np.int64]:
        """How many pairs each on the right has."""
        return np.bincount(self.right, minlength=self._by_right.size)
