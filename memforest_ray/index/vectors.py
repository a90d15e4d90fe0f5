"""Vectors of rows: blocks of one matrix a family, which every version reads without copying.

A block is written once and never moves, so an append costs what it appends, however many rows there are. Where there
are many rows they stand there in eight bits a dimension, too (`codes.py`), and a question is held against those.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import DTypeLike, NDArray

from memforest_ray.index.codes import CODED_DIMENSION_MIN, Codes, coded, products
from memforest_ray.index.lexical import Floats
from memforest_ray.index.pairs import Runs
from memforest_ray.index.strongest import strongest
from memforest_ray.index.table import Integers, grown
from memforest_ray.models.embedder import Vectors

__all__ = [
    "BLOCK_ROWS",
    "CODED_ROWS_MIN",
    "Asked",
    "Matrix",
    "VectorsView",
    "mean_vectors",
    "similarities",
    "similarities_of",
]

BLOCK_ROWS: Final = 4_096
"""Rows of a block: 16 MB of 1,024 dimensions. The last block of a family grows by doubling up to it."""
CODED_ROWS_MIN: Final = 1_024
"""Rows from which they are kept as codes, too: fewer are read in a sixth of a millisecond."""
_EXACT: Final = 32
"""Best rows whose likeness is computed from the vectors themselves: several times what a query shows."""
_CODES_MIN: Final = 512
"""Rows, of many, from which their codes are read first."""
_RUN_MIN: Final = 4
"""Mean length of runs of rows from which they are multiplied where they lie, and not gathered first."""
_TOGETHER: Final = 512
"""Rows that are gathered at once: 2 MB of 1,024 dimensions, which stay in a core's cache."""
_NOTHING: Final = 1e-6
"""Length of a sum that is no direction: vectors that cancel each other out."""


@dataclass(frozen=True, slots=True)
class VectorsView:
    """The rows written so far; later ones never show."""

    blocks: tuple[NDArray[Any], ...]
    dimension: int
    codes: tuple[Codes, ...] = ()
    """The same rows, block by block, or none."""

    def __len__(self) -> int:
        return sum(map(len, self.blocks))

    def __getitem__(self, row: int) -> NDArray[Any]:
        found: NDArray[Any] = self.blocks[row // BLOCK_ROWS][row % BLOCK_ROWS]
        return found

    def rows(self, numbers: Integers) -> NDArray[Any]:
        """These rows, as one matrix of their own."""
        if len(self.blocks) == 1:
            return self.blocks[0][numbers]
        gathered = np.empty((len(numbers), self.dimension), self.blocks[0].dtype if self.blocks else np.float32)
        at = numbers // BLOCK_ROWS
        within = numbers - at * BLOCK_ROWS
        for place in set(at.tolist()):
            here = (at == place).nonzero()[0]
            gathered[here] = self.blocks[place][within[here]]
        return gathered

    def dot(self, first: int, query: Floats, out: Floats) -> None:
        """The products of `query` with as many rows from `first` on as `out` has room for."""
        done = 0
        while done < len(out):
            block, at = self.blocks[(first + done) // BLOCK_ROWS], (first + done) % BLOCK_ROWS
            taken = min(len(out) - done, len(block) - at)
            np.dot(block[at : at + taken], query, out=out[done : done + taken])
            done += taken

    @property
    def nbytes(self) -> int:
        return sum(block.nbytes for block in self.blocks) + sum(codes.nbytes for codes in self.codes)


class _Blocks:
    """Rows of one shape in arrays that never move. Append-only."""

    __slots__ = ("_blocks", "_dtype", "_shape", "count")

    def __init__(self, shape: tuple[int, ...], dtype: DTypeLike) -> None:
        self._shape = shape
        self._dtype = np.dtype(dtype)
        self._blocks: list[NDArray[Any]] = []
        self.count = 0

    def append(self, rows: NDArray[Any]) -> None:
        done = 0
        while done < len(rows):
            at = self.count % BLOCK_ROWS
            taken = min(BLOCK_ROWS - at, len(rows) - done)
            self._room(at, taken)[at : at + taken] = rows[done : done + taken]
            self.count += taken
            done += taken

    def _room(self, at: int, rows: int) -> NDArray[Any]:
        """The block that takes the next rows."""
        if not at:
            whole = self._blocks or rows == BLOCK_ROWS
            self._blocks.append(np.zeros((BLOCK_ROWS if whole else 0, *self._shape), self._dtype))
        block = self._blocks[-1]
        if at + rows > len(block):
            block = self._blocks[-1] = grown(block, at + rows)[:BLOCK_ROWS]
        return block

    def row(self, number: int) -> NDArray[Any]:
        row: NDArray[Any] = self._blocks[number // BLOCK_ROWS][number % BLOCK_ROWS]
        return row

    def filled(self) -> tuple[NDArray[Any], ...]:
        """The rows written so far."""
        return tuple(block[: self.count - place * BLOCK_ROWS] for place, block in enumerate(self._blocks))


class Matrix:
    """Rows of unit length (or zero: a text that the embedder does not understand). Append-only."""

    __slots__ = ("_coded", "_codes", "_dtype", "_rows", "_scales", "dimension")

    def __init__(self, dimension: int, dtype: DTypeLike = np.float32) -> None:
        """`dtype` fp32 for rows that are held against questions."""
        self.dimension = dimension
        self._dtype = np.dtype(dtype)
        self._coded = self._dtype == np.float32 and dimension >= CODED_DIMENSION_MIN
        self._rows = _Blocks((dimension,), dtype)
        self._codes = _Blocks((dimension,), np.int8)
        self._scales = _Blocks((), np.float32)

    @property
    def count(self) -> int:
        return self._rows.count

    def append(self, vectors: Sequence[NDArray[np.float16]] | NDArray[np.float16]) -> None:
        """Write rows. They come rounded to fp16, so what a reload reads is what was decided with."""
        self._rows.append(np.asarray(vectors, np.float16).reshape(-1, self.dimension))
        if self._coded and self.count >= CODED_ROWS_MIN:
            self._encode()

    def _encode(self) -> None:
        """Write codes of the rows that have none yet."""
        for place, block in enumerate(self._rows.filled()):
            fresh = block[max(self._codes.count - place * BLOCK_ROWS, 0) :]
            if len(fresh):
                codes = coded(fresh)
                self._codes.append(codes.values)
                self._scales.append(codes.scales)

    def row(self, number: int) -> NDArray[Any]:
        return self._rows.row(number)

    def view(self) -> VectorsView:
        """The rows written so far."""
        codes = map(Codes, self._codes.filled(), self._scales.filled())
        return VectorsView(self._rows.filled(), self.dimension, tuple(codes))

    def compacted(self, kept: NDArray[np.bool_]) -> "Matrix":
        """A new matrix of the rows `kept`."""
        fresh = Matrix(self.dimension, self._dtype)
        for place, block in enumerate(self._rows.filled()):
            fresh.append(block[kept[place * BLOCK_ROWS : place * BLOCK_ROWS + len(block)]].astype(np.float16))
        return fresh


@dataclass(frozen=True, slots=True)
class Asked:
    """What rows are held against."""

    vector: Floats
    codes: Codes

    @classmethod
    def of(cls, vector: Floats) -> "Asked":
        """One vector."""
        return cls(vector, coded(vector[None]))


def similarities(vectors: VectorsView, query: Asked | None) -> Floats:
    """Cosine of `query` with every row; zeros where either is unknown.

    Of many rows that of the best is exact, that of the others within 0.003, and off by 0.0005 on average.
    """
    found = np.zeros(len(vectors), np.float32)
    if query is None:
        return found
    if vectors.codes:
        products(vectors.codes, query.codes, found)
        best = _best(found)
        found[best] = vectors.rows(best) @ query.vector
    else:
        vectors.dot(0, query.vector, found)
    return found


def similarities_of(vectors: VectorsView, rows: Integers, query: Asked) -> Floats:
    """The same of some rows, ascending. Those that lie beside each other, as what came together does, cost least."""
    if len(rows) == len(vectors):
        return similarities(vectors, query)
    if vectors.codes and len(rows) > _CODES_MIN:
        found = np.zeros(len(rows), np.float32)
        bounds = np.searchsorted(rows, np.arange(len(vectors.blocks) + 1) * BLOCK_ROWS).tolist()
        places = enumerate(pairwise(bounds))
        products(
            [vectors.codes[at][rows[first:end] - at * BLOCK_ROWS] for at, (first, end) in places if first < end],
            query.codes,
            found,
        )
        best = _best(found)
        found[best] = vectors.rows(rows[best]) @ query.vector
        return found
    return _exact(vectors, rows, query.vector)


def _exact(vectors: VectorsView, rows: Integers, query: Floats) -> Floats:
    """By the vectors themselves: of long runs where they lie, else gathered."""
    found = np.zeros(len(rows), np.float32)
    starts = np.flatnonzero(np.diff(rows, prepend=-2) != 1)
    if not len(rows) or len(starts) * _RUN_MIN > len(rows):
        for start in range(0, len(rows), _TOGETHER):
            part = rows[start : start + _TOGETHER]
            np.dot(vectors.rows(part), query, out=found[start : start + len(part)])
        return found
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(rows)], strict=True):
        vectors.dot(int(rows[start]), query, found[start:end])
    return found


def _best(likenesses: Floats) -> Integers:
    """Places of the highest likenesses, and of all that equal the last of them, but of none that means nothing."""
    best = strongest(likenesses, _EXACT)
    told: Integers = best[likenesses[best] != 0]
    return told


def mean_vectors(
    rows_of: Callable[[Integers], Floats], weights: Integers, starts: Integers, dimension: int
) -> tuple[Vectors, NDArray[np.float64]]:
    """The weighted mean of each run of elements that begins at one of `starts`: of unit length, rounded to fp16.

    `rows_of` gives the rows of some elements, to be used up: first of all runs, second ..., so that few are held at
    once. Also the length that each sum was divided by. Zero, and length 0, where nothing was embedded. A run's mean
    depends on nothing outside it.
    """
    runs = Runs.of(starts, len(weights))
    totals = np.zeros((len(starts), dimension), np.float32)
    for elements in runs.columns:
        rows, counts = rows_of(elements), weights[elements]
        if (counts != 1).any():
            rows *= counts.astype(np.float32)[:, None]
        totals[: len(elements)] += rows
    lengths = np.sqrt(np.square(totals).sum(axis=1, dtype=np.float64))
    lengths[lengths <= _NOTHING] = 0
    totals /= np.where(lengths == 0, 1, lengths).astype(np.float32)[:, None]
    means, divisors = np.empty(totals.shape, np.float16), np.empty(len(starts))
    means[runs.order], divisors[runs.order] = totals, lengths
    return means, divisors
