"""A view of the index: what one version of a forest sees of it. Never changes."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np
from immutables import Map
from numpy.typing import NDArray

from memforest_ray.index.corpus import Corpus
from memforest_ray.index.foliage import CELL, CHILD_KINDS, FACT, Foliage
from memforest_ray.index.lexical import Floats
from memforest_ray.index.neighbours import Coverage, Neighbourhood
from memforest_ray.index.shelves import OWNER, Names, ShelfView
from memforest_ray.index.table import Integers, place_key
from memforest_ray.index.vectors import VectorsView

__all__ = [
    "CELLS",
    "CELL_COLUMNS",
    "CHILD_COLUMNS",
    "FACTS",
    "FACT_COLUMNS",
    "NODE_COLUMNS",
    "PASSAGE_COLUMNS",
    "IndexView",
    "Laid",
    "Registers",
    "kind_of",
]


FACT_COLUMNS: Final = ("source", "event_start", "event_end", "speaker", "chain", "length", "embedded")
"""Instants; speaker; subject and attribute (-1: none); words; whether it has a vector."""
CELL_COLUMNS: Final = ("latest", "embedded")
"""Latest source time, unknown when any of it is unknown; whether it has a vector."""
PASSAGE_COLUMNS: Final = ("place", "speaker", "source", "length")
"""Its turn; who said it when; words."""
NODE_COLUMNS: Final = ("scope", "level", "latest", "embedded", "own", "length")
"""Tree; level; latest source time, unknown when any is; items below that have a vector; number of the vector that a
model's summary has (-1: none); bits of the float64 that the sum of its children was divided by (0: none was made)."""
CHILD_COLUMNS: Final = ("child", "weight")
"""A child (its row times `CHILD_KINDS`, plus its kind), and the items below it that have a vector."""

FACTS: Final = "facts"
"""The name of the graph over all facts."""
CELLS: Final = "cells"
"""The name of the graph over all cells."""


@dataclass(frozen=True, slots=True)
class Registers:
    """Numbers for sessions, speakers, tree scopes, and chains (`chain_name`)."""

    sessions: Names = field(default_factory=Names)
    speakers: Names = field(default_factory=Names)
    scopes: Names = field(default_factory=Names)
    chains: Names = field(default_factory=Names)

    def place(self, session: str, turn: int) -> int:
        """The key of a turn."""
        return place_key(self.sessions.number(session), turn)


class Laid:
    """What was laid out for the newest version that was asked anything: the next takes it over, with what has changed.

    One for all versions between two compactions. Threads may race: each takes over what is of no later version.
    """

    __slots__ = ("_corpus", "_foliage")

    def __init__(self) -> None:
        self._corpus: tuple[int, Corpus] | None = None
        self._foliage: tuple[int, Foliage] | None = None

    def corpus_before(self, version: int) -> Corpus | None:
        """What a version may take over."""
        kept = self._corpus
        return kept[1] if kept is not None and kept[0] <= version else None

    def keep_corpus(self, version: int, corpus: Corpus) -> None:
        """Unless there is a newer one."""
        if self._corpus is None or self._corpus[0] <= version:
            self._corpus = version, corpus

    def foliage_before(self, version: int) -> Foliage | None:
        """What a version may take over."""
        kept = self._foliage
        return kept[1] if kept is not None and kept[0] <= version else None

    def keep_foliage(self, version: int, foliage: Foliage) -> None:
        """Unless there is a newer one."""
        if self._foliage is None or self._foliage[0] <= version:
            self._foliage = version, foliage


class IndexView:
    """The index as one version of the forest sees it. Never changes."""

    def __init__(
        self,
        facts: ShelfView,
        cells: ShelfView,
        nodes: ShelfView,
        own: VectorsView,
        rows: Map[str, int],
        registers: Registers,
        graphs: Map[str, Coverage],
        laid: "Laid",
    ) -> None:
        self.facts = facts
        """table: FACT_COLUMNS. parts, the source turns: owner, place."""
        self.cells = cells
        """table: CELL_COLUMNS. parts, the passages: owner, PASSAGE_COLUMNS."""
        self.nodes = nodes
        """table: NODE_COLUMNS. parts, the children: owner, CHILD_COLUMNS. Vectors of means are there, too, in fp16."""
        self.own = own
        """Vectors of the summaries that a model wrote."""
        self.registers = registers
        """What the numbers in the columns mean; they may run on with what later versions added."""
        self.graphs = graphs
        """By what they are of: `FACTS`, `CELLS`, or a tree's scope."""
        self._rows = rows
        self._laid = laid
        self._near: dict[str, Neighbourhood] = {}

    @property
    def _version(self) -> int:
        return self.facts.table.version

    def adopt(self, graphs: Map[str, Coverage]) -> None:
        """Have other graphs from now on: what can be seen stays the same, some of it is found faster."""
        self.graphs, self._near = graphs, {}

    def vectors_of(self, ids: Sequence[str]) -> Floats:
        """Those of facts, or of cells; zeros for what is not there."""
        rows = self.rows_of(ids)
        here = np.flatnonzero(rows >= 0)
        shelf = self.cells if ids and ids[0][0] == "c" else self.facts
        found = np.zeros((len(ids), shelf.vectors.dimension), np.float32)
        found[here] = shelf.vectors.rows(rows[here])
        return found

    def near(self, name: str) -> Neighbourhood:
        """All facts (`FACTS`), all cells (`CELLS`), or the leaves of a tree (its scope), to look for the nearest in."""
        kept, graphs = self._near, self.graphs
        found = kept.get(name)
        if found is None:
            shelf, members = self._members(name)
            members = members & (shelf.table["embedded"] > 0)
            found = kept[name] = Neighbourhood.of(shelf.vectors, members, graphs.get(name))
        return found

    def shelf_of(self, name: str) -> ShelfView:
        """The shelf on which the rows of `near(name)` stand."""
        return self.cells if kind_of(name) == CELL else self.facts

    def _members(self, name: str) -> tuple[ShelfView, NDArray[np.bool_]]:
        shelf = self.shelf_of(name)
        if name in (FACTS, CELLS):
            return shelf, shelf.table.live()
        members = np.zeros(len(shelf.table), bool)
        members[self._leaves(name, CELL if shelf is self.cells else FACT)] = True
        return shelf, members & shelf.table.live()

    def _leaves(self, scope: str, kind: int) -> Integers:
        """Rows of a tree's leaves, as its lowest nodes know them: one that was written anew is found by its id."""
        nodes = self.nodes
        lowest = nodes.table.live() & (nodes.table["level"] == 1)
        lowest &= nodes.table["scope"] == self.registers.scopes.get(scope)
        owners = nodes.parts[OWNER]
        codes = nodes.parts["child"][np.flatnonzero(lowest[owners])] if len(owners) else owners
        rows: Integers = codes[codes % CHILD_KINDS == kind] // CHILD_KINDS
        return self._living(self.cells if kind == CELL else self.facts, rows)

    def _living(self, shelf: ShelfView, rows: Integers) -> Integers:
        """The same rows; instead of one that was written anew the one that has its id now."""
        for place in (shelf.table.ends[rows] <= shelf.table.version).nonzero()[0].tolist():
            rows[place] = self._rows.get(shelf.ids[rows[place]], rows[place])
        return rows

    def nodes_below(self, nodes: Integers) -> tuple[Integers, Integers]:
        """Children of nodes above the lowest level, in order: whose each is (a place among `nodes`), and its row."""
        above, codes = self._below(nodes)
        return above, self._living(self.nodes, codes // CHILD_KINDS)

    def leaves_below(self, nodes: Integers) -> tuple[Integers, Integers, Integers]:
        """The same of nodes of the lowest level: whose each leaf is, its kind, its row on the shelf of that kind."""
        above, codes = self._below(nodes)
        kinds, rows = codes % CHILD_KINDS, codes // CHILD_KINDS
        for kind, shelf in ((FACT, self.facts), (CELL, self.cells)):
            here = np.flatnonzero(kinds == kind)
            rows[here] = self._living(shelf, rows[here])
        return above, kinds, rows

    def _below(self, nodes: Integers) -> tuple[Integers, Integers]:
        owners = self.nodes.parts[OWNER]
        firsts = owners.searchsorted(nodes)
        counts = owners.searchsorted(nodes + 1) - firsts
        above = np.arange(len(nodes)).repeat(counts)
        shift = firsts - counts.cumsum() + counts
        return above, self.nodes.parts["child"][np.arange(len(above)) + shift[above]]

    def row_of(self, item: str) -> int | None:
        """The row of a fact, cell or node on its shelf; None when this version does not hold it."""
        return self._rows.get(item)

    def rows_of(self, items: Collection[str]) -> Integers:
        """The rows of facts, cells or nodes, each on its shelf; -1 for one that this version does not hold."""
        get = self._rows.get
        return np.fromiter((get(item, -1) for item in items), np.int64, len(items))

    def __len__(self) -> int:
        return len(self._rows)

    @cached_property
    def corpus(self) -> Corpus:
        """Everything that lives in this version, laid out for queries: made at the first, kept for the others."""
        made = Corpus.of(self.facts, self.cells, before=self._laid.corpus_before(self._version))
        self._laid.keep_corpus(self._version, made)
        return made

    def corpus_as_of(self, instant_ms: int | None) -> Corpus:
        """What was known at an instant, laid out for one query."""
        return self.corpus if instant_ms is None else Corpus.of(self.facts, self.cells, as_of=instant_ms)

    @cached_property
    def foliage(self) -> Foliage:
        """What the likeness of every node is made of."""
        made = Foliage.of(self.facts, self.cells, self.nodes, self._laid.foliage_before(self._version))
        self._laid.keep_foliage(self._version, made)
        return made

    @cached_property
    def roots(self) -> Integers:
        """Rows of the nodes that are roots: the highest of their scope."""
        live = np.flatnonzero(self.nodes.table.live())
        scopes, levels = self.nodes.table["scope"][live], self.nodes.table["level"][live]
        highest = np.zeros(1 + int(scopes.max(initial=-1)), np.int64)
        np.maximum.at(highest, scopes, levels)
        roots: Integers = live[levels == highest[scopes]]
        return roots

    @cached_property
    def _root_of(self) -> Integers:
        """For each scope's number the row of its root, -1 for none; the last is where unknown ones lead."""
        rows: Integers = np.full(len(self.registers.scopes.names) + 1, -1, np.int64)
        rows[self.nodes.table["scope"][self.roots]] = self.roots
        return rows

    def roots_of(self, scopes: Collection[str]) -> Integers:
        """The rows of trees' roots; -1 for a tree of one leaf, or none."""
        numbers = self.registers.scopes.numbers(scopes)
        return self._root_of[np.minimum(numbers, len(self._root_of) - 1)]


def kind_of(name: str) -> int:
    """Of the rows that a graph of that name is over."""
    return CELL if name == CELLS or name.startswith("session:") else FACT
