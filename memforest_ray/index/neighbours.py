"""Neighbours: the rows most like a question, by a graph where there is one, by all the vectors where there is none.

A graph is older than the version that asks it. What it does not know is looked at one by one beside it, and what it
knows and the version does not hold is left out.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memforest_ray.index.graphs import Graph, prints_of
from memforest_ray.index.lexical import Floats
from memforest_ray.index.table import Integers
from memforest_ray.index.vectors import Asked, VectorsView, similarities_of

__all__ = ["Coverage", "GraphRules", "Neighbourhood"]

_WIDEN: Final = 4
"""How much more is asked for when too little of what a graph gave lives in this version."""
_BESIDE_SHARE_MAX: Final = 0.1
"""Of the rows, those that a graph does not know: beyond it a larger one pays."""
_DEAD_SHARE_MAX: Final = 0.3
"""Of a graph's items, those that are no more: beyond it a fresh one pays."""


@dataclass(frozen=True, slots=True)
class GraphRules:
    """From how many rows on there are graphs; below half of that they go again."""

    tree_rows_min: int = 4_096
    """Leaves of one tree: below it numpy is as fast, and an hnswlib object costs 2.6 MB even when it is empty."""
    forest_rows_min: int = 16_384
    """Facts, or cells, of the whole forest."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """A graph, and where its items stand on their shelf."""

    graph: Graph
    rows: Integers
    """For each item its row, -1 for one that is no more."""

    @classmethod
    def of(cls, graph: Graph, row_of: Callable[[str], int | None], vectors: VectorsView) -> "Coverage":
        """As the rows are now. An item whose vector is another one counts as gone."""
        found = map(row_of, graph.ids)
        rows = np.array([-1 if row is None else row for row in found], np.int64)
        here = np.flatnonzero(rows >= 0)
        changed = prints_of(vectors.rows(rows[here]).astype(np.float16)) != graph.prints[here]
        rows[here[changed]] = -1
        return cls(graph, rows)

    @property
    def gone(self) -> int:
        """Items that are no more."""
        return int(np.count_nonzero(self.rows < 0))

    def moved(self, numbers: Integers) -> "Coverage":
        """After the shelf was written anew."""
        return Coverage(self.graph, np.append(numbers, -1)[self.rows])

    def covered(self, size: int) -> NDArray[np.bool_]:
        """Which of so many rows the graph knows."""
        known = np.zeros(size + 1, bool)
        known[np.minimum(self.rows, size)] = True  # -1 and what came later than these rows mark the last, which goes
        return known[:size]


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Some rows of a shelf, those that live in one version, and how to find the nearest among them."""

    vectors: VectorsView
    members: NDArray[np.bool_]
    """Over all rows of the shelf."""
    rows: Integers
    """Those that are members."""
    coverage: Coverage | None
    beside: Integers
    """Members that the graph does not know."""

    @classmethod
    def of(cls, vectors: VectorsView, members: NDArray[np.bool_], coverage: Coverage | None) -> "Neighbourhood":
        rows = np.flatnonzero(members)
        beside = rows if coverage is None else np.flatnonzero(members & ~coverage.covered(len(members)))
        return cls(vectors, members, rows, coverage, beside)

    def nearest(self, query: Floats, count: int) -> tuple[Integers, Floats]:
        """The `count` rows most like `query`, the most alike first, and their likenesses; all, if there are no more."""
        found, likenesses = self._by_graph(query, count)
        if len(found) < min(count, len(self.rows) - len(self.beside)):
            return _best(self.rows, similarities_of(self.vectors, self.rows, Asked.of(query)), count)
        if not len(self.beside):
            return _best(found, likenesses, count)
        rows = np.concatenate([found, self.beside])
        beside = similarities_of(self.vectors, self.beside, Asked.of(query))
        return _best(rows, np.concatenate([likenesses, beside]), count)

    def _by_graph(self, query: Floats, count: int) -> tuple[Integers, Floats]:
        """Members among what the graph finds; more is asked for when too many are not."""
        if self.coverage is None:
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        graph, asked = self.coverage.graph, count
        while True:
            items, likenesses = graph.nearest(query, asked)
            rows = self.coverage.rows[items]
            here = (rows >= 0) & (rows < len(self.members))
            here[here] = self.members[rows[here]]
            if here.sum() >= count or asked >= len(graph):
                return rows[here], likenesses[here]
            asked *= _WIDEN

    def wants_graph(self, rows_min: int) -> bool:
        """Whether another graph than the present one would pay."""
        if self.coverage is None:
            return len(self.rows) >= rows_min
        return self.outworn or len(self.beside) > _BESIDE_SHARE_MAX * len(self.rows)

    @property
    def outworn(self) -> bool:
        """Whether too many of the graph's items are none of these rows any more."""
        known = len(self.rows) - len(self.beside)
        return self.coverage is not None and known < (1 - _DEAD_SHARE_MAX) * len(self.coverage.graph)


def _best(rows: Integers, likenesses: Floats, count: int) -> tuple[Integers, Floats]:
    if len(rows) > count:
        near = np.argpartition(-likenesses, count - 1)[:count]
        rows, likenesses = rows[near], likenesses[near]
    order = np.lexsort((rows, -likenesses))
    return rows[order], likenesses[order]
