"""Foliage: how like a question every node is, given how like it every leaf is.

The vector of a node is the mean of its items', and a mean's product with a question is the mean of the products. So
no node has to be multiplied with the question but those for which a model wrote a summary: one gather and one sum a
level, over all trees together.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, Protocol

import numpy as np

from memforest_ray.index.lexical import Floats
from memforest_ray.index.pairs import Runs, first_of_each
from memforest_ray.index.shelves import OWNER, ShelfView
from memforest_ray.index.table import Integers
from memforest_ray.index.vectors import VectorsView

__all__ = ["CELL", "CHILD_KINDS", "FACT", "NODE", "AllNodes", "Foliage", "NodeLikenesses", "SomeNodes"]

FACT, CELL, NODE = 0, 1, 2
"""Kinds of children."""
CHILD_KINDS: Final = 4
"""A child is its row times this, plus its kind."""


_RECENT_PART: Final = 4
"""What came since the base costs each question some microseconds a level, and a new base a pass over all."""
_ROOM_MIN: Final = 64


@dataclass(frozen=True, slots=True)
class _Level:
    """Nodes of one level, of all trees."""

    children: tuple[Integers, ...]
    """Of each node its first child, the second of those that have two ...: places in the row of all likenesses, which
    are those of facts, then cells, then nodes, each with some room."""
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
    """The nodes of one version over its rows, level by level: those of a base, then what came since.

    What came since stands on the base and on itself, never the other way round; and what died since does no harm, as
    nobody asks for it. So a version is laid out at the cost of what was written since the base.
    """

    room: tuple[int, int]
    """Rows of facts and of cells that there is room for."""
    base: tuple[_Level, ...]
    based: int
    """Children of the nodes in the base; it is made anew when a fourth as many have come."""
    recent: tuple[_Level, ...]
    nodes: int
    """Rows of the nodes' shelf."""

    @classmethod
    def of(cls, facts: ShelfView, cells: ShelfView, nodes: ShelfView, before: "Foliage | None" = None) -> "Foliage":
        """What lives on the nodes' shelf; `before` is of an earlier version of the same shelves, none compacted."""
        parts, size = len(nodes.parts), len(nodes.table)
        if before is not None and before._has_room(len(facts.table), len(cells.table), parts):
            fresh = np.arange(before.based, parts)
            recent = tuple(_levels(nodes, fresh, before.room)) if len(fresh) else ()
            return replace(before, recent=recent, nodes=size)
        room = (_with_room(len(facts.table)), _with_room(len(cells.table)))
        return cls(room, tuple(_levels(nodes, np.flatnonzero(nodes.parts.live()), room)), parts, (), size)

    def _has_room(self, facts: int, cells: int, parts: int) -> bool:
        few = parts - self.based <= self.based // _RECENT_PART
        return few and facts <= self.room[FACT] and cells <= self.room[CELL]

    def likenesses(self, facts: Floats, cells: Floats, own: Floats) -> Floats:
        """For each row of the nodes' shelf its likeness, given those of all rows of facts, cells and own vectors."""
        first = self.room[FACT] + self.room[CELL]
        values = np.zeros(first + self.nodes, np.float32)
        values[: len(facts)] = facts
        values[self.room[FACT] : self.room[FACT] + len(cells)] = cells
        for level in (*self.base, *self.recent):
            sums = np.zeros(len(level.nodes), np.float32)
            for children, scales in zip(level.children, level.scales, strict=True):
                products = values.take(children, mode="wrap")  # a third faster than to check that they are inside
                products *= scales
                sums[: len(children)] += products
            values[level.nodes] = sums
            values[level.written] = own[level.own]
        return values[first:]


def _with_room(rows: int) -> int:
    return rows + rows // _RECENT_PART + _ROOM_MIN


def _levels(nodes: ShelfView, parts: Integers, room: tuple[int, int]) -> Iterator[_Level]:
    """The nodes whose children are `parts`, ascending, from the lowest level up."""
    above = nodes.parts[OWNER][parts]
    levels, codes = nodes.table["level"][above], nodes.parts["child"][parts]
    children = codes // CHILD_KINDS + np.array([0, room[FACT], sum(room), 0])[codes % CHILD_KINDS]
    divisors = nodes.table["length"].view(np.float64)[above]
    weights = nodes.parts["weight"][parts]
    scales = np.divide(weights, divisors, out=np.zeros(len(parts)), where=divisors > 0).astype(np.float32)
    for level in range(1, int(levels.max(initial=0)) + 1):
        here = np.flatnonzero(levels == level)
        owners = above[here]
        starts = np.flatnonzero(first_of_each(owners))
        parents = owners[starts]
        own = nodes.table["own"][parents]
        runs = Runs.of(starts, len(here))
        yield _Level(
            children=runs.elements(children[here]),
            scales=runs.elements(scales[here]),
            nodes=parents[runs.order] + sum(room),
            written=parents[own >= 0] + sum(room),
            own=own[own >= 0],
        )


class NodeLikenesses(Protocol):
    """How like a question nodes are, by their rows."""

    @property
    def complete(self) -> bool:
        """Whether asking for all of them at once is cheap."""

    def of(self, row: int) -> float:
        """That of the node in one row."""

    def at(self, rows: Integers) -> Floats:
        """Those of the nodes in many rows, in their order."""


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
