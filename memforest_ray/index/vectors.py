"""Vectors of rows: blocks of one matrix a family, which every version reads without copying.

A block is written once and never moves, so an append costs what it appends, however many rows there are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import DTypeLike, NDArray

from memforest_ray.index.lexical import Floats
from memforest_ray.index.table import Integers, grown
from memforest_ray.models.embedder import Vectors

__all__ = ["BLOCK_ROWS", "Matrix", "VectorsView", "mean_vectors", "similarities"]

BLOCK_ROWS: Final = 4_096
"""Rows of a block: 16 MB of 1,024 dimensions. The last block of a family grows by doubling up to it."""


_NOTHING: Final = 1e-6
"""Length of a sum that is no direction: vectors that cancel each other out."""


@dataclass(frozen=True, slots=True)
class VectorsView:
    """The rows written so far; later ones never show."""

    blocks: tuple[NDArray[Any], ...]
    dimension: int

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
        for place in np.unique(at).tolist():
            here = np.flatnonzero(at == place)
            gathered[here] = self.blocks[place][numbers[here] - place * BLOCK_ROWS]
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
        return sum(block.nbytes for block in self.blocks)


class Matrix:
    """Rows of unit length (or zero: a text that the embedder does not understand). Append-only."""

    __slots__ = ("_blocks", "_dtype", "count", "dimension")

    def __init__(self, dimension: int, dtype: DTypeLike = np.float32) -> None:
        self.dimension = dimension
        self._dtype = np.dtype(dtype)
        self._blocks: list[NDArray[Any]] = []
        self.count = 0

    def append(self, vectors: Sequence[NDArray[np.float16]] | NDArray[np.float16]) -> None:
        """Write rows. They come rounded to fp16, so what a reload reads is what was decided with."""
        rows = np.asarray(vectors, np.float16).reshape(-1, self.dimension)
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
            self._blocks.append(np.zeros((BLOCK_ROWS if whole else 0, self.dimension), self._dtype))
        block = self._blocks[-1]
        if at + rows > len(block):
            block = self._blocks[-1] = grown(block, at + rows)[:BLOCK_ROWS]
        return block

    def row(self, number: int) -> NDArray[Any]:
        row: NDArray[Any] = self._blocks[number // BLOCK_ROWS][number % BLOCK_ROWS]
        return row

    def view(self) -> VectorsView:
        """The rows written so far."""
        return VectorsView(tuple(self._filled()), self.dimension)

    def compacted(self, kept: NDArray[np.bool_]) -> "Matrix":
        """A new matrix of the rows `kept`."""
        fresh = Matrix(self.dimension, self._dtype)
        for place, block in enumerate(self._filled()):
            fresh.append(block[kept[place * BLOCK_ROWS : place * BLOCK_ROWS + len(block)]].astype(np.float16))
        return fresh

    def _filled(self) -> Iterator[NDArray[Any]]:
        for place, block in enumerate(self._blocks):
            yield block[: self.count - place * BLOCK_ROWS]


def similarities(vectors: VectorsView, query: Floats | None) -> Floats:
    """Cosine of `query` with every row; zeros where either is unknown."""
    found = np.zeros(len(vectors), np.float32)
    if query is not None:
        for place, block in enumerate(vectors.blocks):
            start = place * BLOCK_ROWS
            np.matmul(block, query, out=found[start : start + len(block)])
    return found


def mean_vectors(rows: Floats, weights: Integers, starts: Integers) -> tuple[Vectors, NDArray[np.float64]]:
    """The weighted mean of each run of rows that begins at one of `starts`: of unit length, rounded to fp16.

    Also the length that it was divided by. Zero, and length 0, where nothing was embedded. A run's mean depends on
    nothing outside it.
    """
    scaled = rows * weights.astype(np.float32)[:, None]
    totals = np.add.reduceat(scaled, starts, axis=0) if len(starts) else scaled[:0]
    lengths = np.sqrt(np.square(totals).sum(axis=1, dtype=np.float64))
    lengths[lengths <= _NOTHING] = 0
    totals /= np.where(lengths == 0, 1, lengths).astype(np.float32)[:, None]
    return totals.astype(np.float16), lengths
