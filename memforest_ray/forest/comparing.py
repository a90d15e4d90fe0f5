"""Comparing: which statements are as alike as a threshold, by a look at every vector that there is.

A look is worth remembering: rows of the index are only ever added, so a vector that has been held against so many of
them needs to be held against the later ones only. A write is compared before its turn comes, and in its turn again.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memforest_ray.ids import AtomId
from memforest_ray.index.shelves import ShelfView
from memforest_ray.index.vectors import BLOCK_ROWS

__all__ = ["Alike", "Compared", "alike_among", "compare", "stored_alike"]

Alike: TypeAlias = Mapping[AtomId, Mapping[AtomId, float]]
"""Of some atoms: which others are alike to them, and how much."""
_Found: TypeAlias = tuple[tuple[int, float], ...]

_DIGITS: Final = 4
"""To which a cosine is rounded: sums of floats come out differently in matrices of another shape."""


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """What some vectors are alike to, of the first rows of a shelf, dead ones among the living."""

    ids: Sequence[str]
    """The shelf's own list, by which it is known: one that was written anew has another."""
    rows: int
    """So many."""
    threshold: float
    found: Mapping[bytes, _Found]
    """By vector: rows and likeness."""


def compare(
    shelf: ShelfView, vectors: Iterable[NDArray[np.float16]], threshold: float, known: Iterable[Compared] = ()
) -> Compared:
    """Hold vectors against all rows of a shelf, or, where some of that is `known`, against the others."""
    rows = len(shelf.table)
    before = [each for each in known if each.ids is shelf.ids and each.threshold == threshold and each.rows <= rows]
    found: dict[bytes, _Found] = {}
    by_start: dict[int, dict[bytes, NDArray[np.float16]]] = {}
    for vector in vectors:
        name = vector.tobytes()
        seen = max((each for each in before if name in each.found), key=lambda each: each.rows, default=None)
        found[name] = () if seen is None else seen.found[name]
        by_start.setdefault(0 if seen is None else seen.rows, {})[name] = vector
    for start, asked in by_start.items():
        for name, more in _scanned(shelf, asked, start, rows, threshold).items():
            found[name] += tuple(more)
    return Compared(shelf.ids, rows, threshold, found)


def stored_alike(
    shelf: ShelfView, compared: Compared, vectors: Mapping[AtomId, NDArray[np.float16]]
) -> Iterator[tuple[AtomId, AtomId, float]]:
    """Each of some atoms with what is alike to it among the living rows."""
    live = shelf.table.live()
    for atom, vector in vectors.items():
        for row, cosine in compared.found[vector.tobytes()]:
            if live[row]:
                yield atom, AtomId(shelf.ids[row]), cosine


def alike_among(
    asked: Mapping[AtomId, NDArray[np.float16]], others: Mapping[AtomId, NDArray[np.float16]], threshold: float
) -> Iterator[tuple[AtomId, AtomId, float]]:
    """Each of some atoms with what is alike to it among others."""
    if asked and others:
        names, those = list(asked), list(others)
        rows, columns = _matrix(asked.values()), _matrix(others.values())
        for place, other, cosine in _above(rows, columns, threshold):
            yield names[place], those[other], cosine


def _scanned(
    shelf: ShelfView, asked: Mapping[bytes, NDArray[np.float16]], start: int, stop: int, threshold: float
) -> dict[bytes, list[tuple[int, float]]]:
    """What is alike to each vector among the rows from `start` on: block by block, so that nothing is copied."""
    names, rows = list(asked), _matrix(asked.values())
    found: dict[bytes, list[tuple[int, float]]] = {name: [] for name in names}
    for number, block in enumerate(shelf.vectors.blocks):
        first = number * BLOCK_ROWS
        here = block[max(start - first, 0) : max(stop - first, 0)]
        for place, row, cosine in _above(rows, here, threshold):
            found[names[place]].append((first + max(start - first, 0) + row, cosine))
    return found


def _matrix(vectors: Iterable[NDArray[np.float16]]) -> NDArray[np.float32]:
    return np.stack(list(vectors)).astype(np.float32)


def _above(rows: NDArray[np.float32], others: NDArray[Any], threshold: float) -> Iterator[tuple[int, int, float]]:
    """Which rows are as alike to which others as `threshold`, and how much."""
    if not len(others):
        return
    cosines = (rows @ others.T).ravel()
    for place in np.flatnonzero(cosines >= np.float32(threshold - 10**-_DIGITS)).tolist():
        cosine = np.round(cosines[place], _DIGITS)
        if cosine >= np.float32(threshold):
            yield *divmod(place, len(others)), round(float(cosine), _DIGITS)
