"""Vectors of rows: one matrix a family, grown by doubling, that every version reads without copying."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memforest_ray.index.lexical import Floats
from memforest_ray.index.table import grown
from memforest_ray.models.embedder import Vectors

__all__ = ["Matrix", "mean_vector", "similarities"]


class Matrix:
    """Rows of unit length (or zero: a text that the embedder does not understand). Append-only."""

    __slots__ = ("_rows", "count")

    def __init__(self, dimension: int, rows: Floats | None = None) -> None:
        self._rows: Floats = np.zeros((0, dimension), np.float32) if rows is None else rows
        self.count = len(self._rows)

    @property
    def dimension(self) -> int:
        return int(self._rows.shape[1])

    def append(self, vectors: Sequence[NDArray[np.float16]]) -> None:
        """Write rows. They come rounded to fp16, so what a reload reads is what was decided with."""
        total = self.count + len(vectors)
        self._rows = grown(self._rows, total)
        if vectors:
            self._rows[self.count : total] = np.stack(vectors)
        self.count = total

    def row(self, number: int) -> Floats:
        row: Floats = self._rows[number]
        return row

    def view(self) -> Floats:
        """The rows written so far; later ones never show."""
        return self._rows[: self.count]

    def compacted(self, kept: NDArray[np.bool_]) -> "Matrix":
        return Matrix(self.dimension, self.view()[kept])


def similarities(matrix: Floats, query: Floats | None) -> Floats:
    """Cosine of `query` with every row; zeros where either is unknown."""
    if query is None or not len(matrix):
        return np.zeros(len(matrix), np.float32)
    return np.asarray(matrix @ query, np.float32)


def mean_vector(vectors: Sequence[Floats], weights: Sequence[int], dimension: int) -> Vectors:
    """The item-weighted mean of unit vectors, of unit length, rounded to fp16; zero when nothing was embedded."""
    total = np.zeros(dimension, np.float64)
    for vector, weight in zip(vectors, weights, strict=True):
        total += vector.astype(np.float64) * weight
    length = float(np.linalg.norm(total))
    return (total / length if length > 1e-9 else total).astype(np.float16)
