"""Foliage: how like a question every node is, given how like it every leaf is.

The vector of a node is the mean of its items', and a mean's product with a question is the mean of the products. So
no node has to be multiplied with the question but those for which a model wrote a summary: one gather and one sum a
level, over all trees together.
"""

from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from memforest_ray.index.lexical import Floats
from memforest_ray.index.pairs import Runs
from memforest_ray.index.shelves import OWNER, ShelfView
from memforest_ray.index.table import Integers
from memforest_ray.index.vectors import VectorsView

__all__ = ["CELL", "CHILD_KINDS", "FACT", "NODE", "AllNodes", "Foliage", "NodeLikenesses", "SomeNodes"]

FACT, CELL, NODE = 0, 1, 2
"""Kinds of children."""
CHILD_KINDS: Final = 4
"""A child is its row times this, plus its kind."""


@dataclass(frozen=True, slots=True)
class _Level:
    """Nodes of one level, of all trees."""

    children: tuple[Integers, ...]
    """Of each node its first child, the second of those that have two ...: places in the row of all likenesses, which
    are those of facts, then cells, then nodes."""
    scales: tuple[Floats, ...]
    """What each child's likeness counts for: its weight by the length of its parent's sum."""
    nodes: Integers
    """Places of the nodes, those with the most children first."""
    written: Integers
    """Rows of those among them that have a vector of their own ..."""
    own: Integers
    """... and its number."""


@dataclass(frozen=True, slots=True)
class Foliage:
    """The living nodes of one version over its rows, level by level."""

    facts: int
    cells: int
    nodes: int
    """Rows of each shelf."""
    levels: tuple[_Level, ...]

    @classmethod
    def of(cls, facts: ShelfView, cells: ShelfView, nodes: ShelfView) -> "Foliage":
        """What lives on the nodes' shelf."""
        sizes = np.array([0, len(facts.table), len(facts.table) + len(cells.table), 0], np.int64)
        live = nodes.table.live()
        owners = nodes.parts[OWNER]
        rows = np.flatnonzero(live[owners]) if len(owners) else owners
        levels = nodes.table["level"][owners[rows]]
        codes = nodes.parts["child"]
        lengths = nodes.table["length"].view(np.float64)
        found = []
        for level in range(1, int(levels.max(initial=0)) + 1):
            here = rows[levels == level]
            above = owners[here]
            starts = np.flatnonzero(np.diff(above, prepend=-1))
            parents = above[starts]
            divisors = lengths[above]
            scales = np.divide(nodes.parts["weight"][here], divisors, out=np.zeros(len(here)), where=divisors > 0)
            own = nodes.table["own"][parents]
            runs = Runs.of(starts, len(here))
            found.append(
                _Level(
                    children=runs.elements(codes[here] // CHILD_KINDS + sizes[codes[here] % CHILD_KINDS]),
                    scales=runs.elements(scales.astype(np.float32)),
                    nodes=parents[runs.order] + sizes[NODE],
                    written=parents[own >= 0] + sizes[NODE],
                    own=own[own >= 0],
                )
            )
        return cls(len(facts.table), len(cells.table), len(nodes.table), tuple(found))

    def likenesses(self, facts: Floats, cells: Floats, own: Floats) -> Floats:
        """For each row of the nodes' shelf its likeness, given those of all rows of facts, cells and own vectors."""
        values = np.zeros(self.facts + self.cells + self.nodes, np.float32)
        values[: self.facts] = facts
        values[self.facts : self.facts + self.cells] = cells
        for level in self.levels:
            sums = np.zeros(len(level.nodes), np.float32)
            for children, scales in zip(level.children, level.scales, strict=True):
                sums[: len(children)] += values[children] * scales
            values[level.nodes] = sums
            values[level.written] = own[level.own]
        return values[self.facts + self.cells :]


class NodeLikenesses(Protocol):
    """How like a question nodes are, by their rows."""

    @property
    def complete(self) -> bool:
        """Whether asking for all of them at once is cheap."""

    def of(self, row: int) -> float: ...

    def at(self, rows: Integers) -> Floats: ...


@dataclass(frozen=True, slots=True)
class AllNodes:
    """Made for all of them."""

    values: Floats
    complete: bool = True

    def of(self, row: int) -> float:
        return float(self.values[row])

    def at(self, rows: Integers) -> Floats:
        return self.values[rows]


@dataclass(frozen=True, slots=True)
class SomeNodes:
    """Made when they are asked for: where there are too many to make all."""

    vectors: VectorsView
    query: Floats
    complete: bool = False

    def of(self, row: int) -> float:
        return float(self.at(np.array([row]))[0])

    def at(self, rows: Integers) -> Floats:
        return self.vectors.rows(rows).astype(np.float32) @ self.query
