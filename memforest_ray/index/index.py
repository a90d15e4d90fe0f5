"""The index of one forest: rows, their vectors and their words. One writer, any number of lasting views.

A view costs a few dozen array slices (under 0.1 ms), whatever the forest's size: arrays are shared with the writer,
which only ever appends to them and notes the ends of rows. When more than 30 % of a family's rows are dead they are
written anew; views made before keep the old arrays until they go.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Final, TypeVar

import numpy as np
from immutables import Map

from memforest_ray.index.foliage import CELL, CHILD_KINDS, FACT, NODE
from memforest_ray.index.graphs import Graph
from memforest_ray.index.lexical import Floats
from memforest_ray.index.neighbours import Coverage
from memforest_ray.index.rows import CellRow, FactRow, NodeRow, Row, index_words
from memforest_ray.index.shelves import Compaction, Entry, Shelf
from memforest_ray.index.table import UNKNOWN, Integers, renumbering, sessions_of, with_sessions
from memforest_ray.index.vectors import Matrix, mean_vectors
from memforest_ray.index.view import (
    CELL_COLUMNS,
    CHILD_COLUMNS,
    FACT_COLUMNS,
    NODE_COLUMNS,
    PASSAGE_COLUMNS,
    IndexView,
    Laid,
    Registers,
    kind_of,
)

__all__ = ["Index", "IndexView", "Registers"]

_Item = TypeVar("_Item", FactRow, CellRow)

_NODES_TOGETHER: Final = 1_024
"""Nodes whose vectors are made at once: bounds the memory of a load."""


class Index:
    """The owner's side: the only writer."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._facts = Shelf(dimension, FACT_COLUMNS, ("place",))
        self._cells = Shelf(dimension, CELL_COLUMNS, PASSAGE_COLUMNS, words_in_parts=True)
        self._nodes = Shelf(dimension, NODE_COLUMNS, CHILD_COLUMNS, dtype=np.float16)
        self._own = Matrix(dimension)
        self._rows: Map[str, int] = Map()
        self._registers = Registers()
        self._graphs: Map[str, Coverage] = Map()
        self._version = 0
        self._laid = Laid()
        self.purges = 0
        """How often it was written anew without what was forgotten: what was begun before then must not come in."""

    def apply(self, add: Sequence[Row], drop: Iterable[str] = ()) -> IndexView:
        """Drop rows by id, then add rows (an id that is there is replaced); what came of it, as a view.

        What a node stands on is there already or added with it. Ids to drop that are not there are passed over.
        """
        self._version += 1
        for item in drop:
            self._bury(item)
        if self._rows:
            for row in add:
                self._bury(row.id)
        self._write(self._facts, [row for row in add if isinstance(row, FactRow)], self._fact)
        self._write(self._cells, [row for row in add if isinstance(row, CellRow)], self._cell)
        # Level by level: a node's vector is made of those below it.
        for _, level in groupby(sorted((row for row in add if isinstance(row, NodeRow)), key=_level), key=_level):
            nodes = list(level)
            for start in range(0, len(nodes), _NODES_TOGETHER):
                self._write_nodes(nodes[start : start + _NODES_TOGETHER])
        self._compact([kind for kind, shelf in self._shelves.items() if shelf.sparse])
        return self.view()

    def purge(self) -> IndexView:
        """Write everything anew without what was dropped: no word, vector or name of it is left, but in older views."""
        self._compact(self._shelves)
        # A graph holds the vectors of its items, those that are no more among them.
        self._graphs = Map({name: coverage for name, coverage in self._graphs.items() if not coverage.gone})
        self.purges += 1
        facts, cells, nodes = self._facts, self._cells, self._nodes
        sessions, session_numbers = self._registers.sessions.kept(
            sessions_of(np.concatenate([shelf.column("place", of_parts=True) for shelf in (facts, cells)]))
        )
        speakers, speaker_numbers = self._registers.speakers.kept(
            np.concatenate([facts.column("speaker"), cells.column("speaker", of_parts=True)])
        )
        scopes, scope_numbers = self._registers.scopes.kept(nodes.column("scope"))
        chains, chain_numbers = self._registers.chains.kept(facts.column("chain"))
        for shelf in (facts, cells):
            shelf.recode("place", lambda places: with_sessions(places, session_numbers), of_parts=True)
        facts.recode("speaker", speaker_numbers.__getitem__)
        cells.recode("speaker", speaker_numbers.__getitem__, of_parts=True)
        nodes.recode("scope", scope_numbers.__getitem__)
        facts.recode("chain", chain_numbers.__getitem__)
        self._registers = Registers(sessions, speakers, scopes, chains)
        return self.view()

    def view(self) -> IndexView:
        """What stands in the index now."""
        version = self._version
        facts, cells, nodes = self._facts.view(version), self._cells.view(version), self._nodes.view(version)
        return IndexView(facts, cells, nodes, self._own.view(), self._rows, self._registers, self._graphs, self._laid)

    @property
    def _shelves(self) -> dict[int, Shelf]:
        return {FACT: self._facts, CELL: self._cells, NODE: self._nodes}

    def _compact(self, kinds: Collection[int]) -> None:
        """Write these shelves anew without what is dead. What refers to their rows follows."""
        moved: dict[int, Compaction] = {}
        if NODE in kinds:
            own = np.zeros(self._own.count, bool)
            own[[number for number in self._nodes.living("own") if number >= 0]] = True
            self._own = self._own.compacted(own)
            self._nodes.recode("own", np.append(renumbering(own), -1).__getitem__)
        for kind in kinds:
            moved[kind] = self._shelves[kind].compact()
            self._rows = self._rows.update(moved[kind].rows)
        if moved:
            self._laid = Laid()
            self._nodes.recode("child", lambda codes: _followed(codes, moved), of_parts=True)
            self._graphs = Map({name: self._moved(name, coverage, moved) for name, coverage in self._graphs.items()})

    def _moved(self, name: str, coverage: Coverage, moved: Mapping[int, Compaction]) -> Coverage:
        compaction = moved.get(kind_of(name))
        return coverage if compaction is None else coverage.moved(compaction.numbers)

    # ---- graphs ------------------------------------------------------------------------------------------

    @property
    def graphs(self) -> Map[str, Coverage]:
        return self._graphs

    def graph(self, graphs: Mapping[str, Graph | None]) -> None:
        """Take in graphs, over the rows as they are now; None to do without one from now on."""
        for name, graph in graphs.items():
            if graph is None:
                self._graphs = self._graphs.delete(name)
            else:
                shelf = self._shelves[kind_of(name)]
                self._graphs = self._graphs.set(name, Coverage.of(graph, self._rows.get, shelf.vectors()))

    def _bury(self, item: str) -> None:
        row = self._rows.get(item)
        if row is not None:
            self._shelf(item).bury(row, self._version)
            self._rows = self._rows.delete(item)

    def _shelf(self, item: str) -> Shelf:
        return {"f": self._facts, "c": self._cells, "n": self._nodes}[item[0]]

    def _write(self, shelf: Shelf, rows: Sequence[_Item], entry_of: Callable[[_Item, int], Entry]) -> None:
        """Write facts, or cells; `entry_of` is told of each whether it has a vector."""
        if rows:
            unknown = np.zeros(self.dimension, np.float16)
            vectors = np.concatenate([unknown if row.vector is None else row.vector for row in rows])
            vectors = vectors.reshape(len(rows), self.dimension)
            embedded = np.logical_or.reduce(vectors, axis=1).astype(np.int64)
            written = shelf.add([entry_of(*each) for each in zip(rows, embedded.tolist(), strict=True)], vectors)
            self._rows = self._rows.update({row.id: number for number, row in zip(written, rows, strict=True)})

    def _fact(self, row: FactRow, embedded: int) -> Entry:
        words = index_words(row.text)
        start, end = (UNKNOWN, UNKNOWN) if row.event_ms is None else row.event_ms
        values = (
            _instant(row.source_ms),
            start,
            end,
            self._registers.speakers.number(row.speaker),
            -1 if row.chain is None else self._registers.chains.number(row.chain),
            len(words),
            embedded,
        )
        places = dict.fromkeys([self._registers.place(session, turn) for session, turn in row.places])
        return Entry(row.id, values, [(place,) for place in places], [words])

    def _cell(self, row: CellRow, embedded: int) -> Entry:
        words = [index_words(f"{passage.speaker} {passage.text}") for passage in row.passages]
        parts = [
            (
                self._registers.place(row.session_id, passage.turn),
                self._registers.speakers.number(passage.speaker),
                _instant(passage.source_ms),
                len(found),
            )
            for passage, found in zip(row.passages, words, strict=True)
        ]
        latest = max((_instant(passage.source_ms) for passage in row.passages), default=UNKNOWN)
        return Entry(row.id, (latest, embedded), parts, words)

    def _write_nodes(self, nodes: Sequence[NodeRow]) -> None:
        """Nodes of one level. Vectors of those that have none of their own are made together."""
        children = [child for node in nodes for child in node.children]
        kinds = np.array([_KINDS[child[0]] for child in children], np.int64)
        rows = np.array(list(map(self._rows.__getitem__, children)), np.int64)
        counts = [len(node.children) for node in nodes]
        starts = np.cumsum([0, *counts[:-1]])
        weights = np.zeros(len(rows), np.int64)
        for kind, shelf in self._shelves.items():
            here = np.flatnonzero(kinds == kind)
            # A text of unknown script does not dilute a mean.
            weights[here] = shelf.column("embedded")[rows[here]]
        own = np.array([node.vector is not None for node in nodes])
        vectors, lengths = np.zeros((len(nodes), self.dimension), np.float16), np.zeros(len(nodes))
        if own.any():
            vectors[own] = [node.vector for node in nodes if node.vector is not None]
        if not own.all():  # nobody asks for the mean below a vector of its own
            sizes, below = np.array(counts)[~own], np.flatnonzero(np.repeat(~own, counts))
            rows_of = self._rows_of(kinds[below], rows[below])
            vectors[~own], lengths[~own] = mean_vectors(rows_of, weights[below], sizes.cumsum() - sizes, self.dimension)
        values = np.zeros((len(nodes), len(NODE_COLUMNS)), np.int64)
        values[:, 0] = [self._registers.scopes.number(node.scope) for node in nodes]
        values[:, 1] = [node.level for node in nodes]
        values[:, 2] = [_instant(node.source_ms) for node in nodes]
        values[:, 3] = np.add.reduceat(weights, starts)
        values[:, 4] = np.where(own, self._own.count - 1 + own.cumsum(), -1)
        values[:, 5] = lengths.view(np.int64)
        self._own.append(vectors[own])
        parts = np.column_stack([rows * CHILD_KINDS + kinds, weights])
        ids = [node.id for node in nodes]
        written = self._nodes.add_rows(ids, vectors, values, parts, counts)
        self._rows = self._rows.update(dict(zip(ids, written, strict=True)))

    def _rows_of(self, kinds: Integers, rows: Integers) -> Callable[[Integers], Floats]:
        """Gives the vectors of some of these rows, each on the shelf of its kind."""
        views = {kind: shelf.vectors() for kind, shelf in self._shelves.items()}

        def rows_of(elements: Integers) -> Floats:
            vectors = np.empty((len(elements), self.dimension), np.float32)
            for kind, view in views.items():
                here = np.flatnonzero(kinds[elements] == kind)
                if len(here):
                    vectors[here] = view.rows(rows[elements[here]])
            return vectors

        return rows_of


_KINDS: Final = {"f": FACT, "c": CELL, "n": NODE}
"""By the first letter of an id."""


def _followed(codes: Integers, moved: Mapping[int, Compaction]) -> Integers:
    """Children, where they are now; -1 for one that is no more, which only dead nodes have."""
    fresh = codes.copy()
    for kind, compaction in moved.items():
        here = np.flatnonzero((codes % CHILD_KINDS == kind) & (codes >= 0))
        rows = compaction.heirs[codes[here] // CHILD_KINDS]
        fresh[here] = np.where(rows < 0, -1, rows * CHILD_KINDS + kind)
    return fresh


def _level(row: NodeRow) -> int:
    return row.level


def _instant(value: int | None) -> int:
    return UNKNOWN if value is None else value
