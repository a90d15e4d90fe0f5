"""The index of one forest: rows, their vectors and their words. One writer, any number of lasting views.

A view costs a few dozen array slices (under 0.1 ms), whatever the forest's size: arrays are shared with the writer,
which only ever appends to them and notes the ends of rows. When more than 30 % of a family's rows are dead they are
written anew; views made before keep the old arrays until they go.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Final

import numpy as np
from immutables import Map

from memforest_ray.index.corpus import Corpus
from memforest_ray.index.lexical import Floats
from memforest_ray.index.rows import CellRow, FactRow, NodeRow, Row, index_words
from memforest_ray.index.shelves import Entry, Names, Shelf, ShelfView
from memforest_ray.index.table import UNKNOWN, Integers, place_key, sessions_of, with_sessions
from memforest_ray.index.vectors import mean_vector

__all__ = ["Index", "IndexView", "Registers"]


FACT_COLUMNS: Final = ("source", "event_start", "event_end", "speaker", "chain", "length")
"""Instants; speaker; subject and attribute (-1: none); words."""
CELL_COLUMNS: Final = ("latest",)
"""Latest source time, unknown when any of it is unknown."""
PASSAGE_COLUMNS: Final = ("place", "speaker", "source", "length")
"""Its turn; who said it when; words."""
NODE_COLUMNS: Final = ("scope", "level", "latest", "embedded")
"""Tree; level; latest source time, unknown when any is; items below that have a vector."""


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


class IndexView:
    """The index as one version of the forest sees it. Never changes."""

    def __init__(
        self, facts: ShelfView, cells: ShelfView, nodes: ShelfView, rows: Map[str, int], registers: Registers
    ) -> None:
        self.facts = facts
        """table: FACT_COLUMNS. parts, the source turns: owner, place."""
        self.cells = cells
        """table: CELL_COLUMNS. parts, the passages: owner, PASSAGE_COLUMNS."""
        self.nodes = nodes
        """table: NODE_COLUMNS."""
        self.registers = registers
        """What the numbers in the columns mean; they may run on with what later versions added."""
        self._rows = rows

    def row_of(self, item: str) -> int | None:
        """The row of a fact, cell or node on its shelf; None when this version does not hold it."""
        return self._rows.get(item)

    def __len__(self) -> int:
        return len(self._rows)

    @cached_property
    def corpus(self) -> Corpus:
        """Everything that lives in this version, laid out for queries: made at the first, kept for the others."""
        return Corpus.of(self.facts, self.cells, as_of=None)

    def corpus_as_of(self, instant_ms: int | None) -> Corpus:
        """What was known at an instant, laid out for one query."""
        return self.corpus if instant_ms is None else Corpus.of(self.facts, self.cells, as_of=instant_ms)

    @cached_property
    def roots(self) -> Integers:
        """Rows of the nodes that are roots: the highest of their scope."""
        live = np.flatnonzero(self.nodes.table.live())
        scopes, levels = self.nodes.table["scope"][live], self.nodes.table["level"][live]
        highest = np.lexsort((levels, scopes))
        last = np.append(scopes[highest][1:] != scopes[highest][:-1], True) if len(live) else np.zeros(0, bool)
        return np.asarray(live[highest[last]], np.int64)


class Index:
    """The owner's side: the only writer."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._facts = Shelf(dimension, FACT_COLUMNS, ("place",))
        self._cells = Shelf(dimension, CELL_COLUMNS, PASSAGE_COLUMNS, words_in_parts=True)
        self._nodes = Shelf(dimension, NODE_COLUMNS)
        self._rows: Map[str, int] = Map()
        self._registers = Registers()
        self._version = 0

    def apply(self, add: Sequence[Row], drop: Iterable[str] = ()) -> IndexView:
        """Drop rows by id, then add rows (an id that is there is replaced); what came of it, as a view.

        What a node stands on is there already or added with it. Ids to drop that are not there are passed over.
        """
        self._version += 1
        for item in drop:
            self._bury(item)
        for row in add:
            self._bury(row.id)
        self._write(self._facts, [self._fact(row) for row in add if isinstance(row, FactRow)])
        self._write(self._cells, [self._cell(row) for row in add if isinstance(row, CellRow)])
        # Level by level: a node's vector is made of those below it.
        for _, level in groupby(sorted((row for row in add if isinstance(row, NodeRow)), key=_level), key=_level):
            self._write(self._nodes, [self._node(row) for row in level])
        for shelf in (self._facts, self._cells, self._nodes):
            if shelf.sparse:
                self._rows = self._rows.update(shelf.compact())
        return self.view()

    def purge(self) -> IndexView:
        """Write everything anew without what was dropped: no word, vector or name of it is left, but in older views."""
        for shelf in (self._facts, self._cells, self._nodes):
            self._rows = self._rows.update(shelf.compact())
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
        return IndexView(facts, cells, nodes, self._rows, self._registers)

    def _bury(self, item: str) -> None:
        row = self._rows.get(item)
        if row is not None:
            self._shelf(item).bury(row, self._version)
            self._rows = self._rows.delete(item)

    def _shelf(self, item: str) -> Shelf:
        return {"f": self._facts, "c": self._cells, "n": self._nodes}[item[0]]

    def _write(self, shelf: Shelf, entries: Sequence[Entry]) -> None:
        written = shelf.add(entries)
        self._rows = self._rows.update({entry.id: row for row, entry in zip(written, entries, strict=True)})

    def _fact(self, row: FactRow) -> Entry:
        words = index_words(row.text)
        start, end = (UNKNOWN, UNKNOWN) if row.event_ms is None else row.event_ms
        values = (
            _instant(row.source_ms),
            start,
            end,
            self._registers.speakers.number(row.speaker),
            -1 if row.chain is None else self._registers.chains.number(row.chain),
            len(words),
        )
        places = dict.fromkeys(self._registers.place(session, turn) for session, turn in row.places)
        return Entry(row.id, row.vector, values, [(place,) for place in places], [words])

    def _cell(self, row: CellRow) -> Entry:
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
        return Entry(row.id, row.vector, (latest,), parts, words)

    def _node(self, row: NodeRow) -> Entry:
        weights = [self._weight(child) for child in row.children]
        vector = row.vector
        if vector is None:
            vector = mean_vector([self._vector(child) for child in row.children], weights, self.dimension)
        scope = self._registers.scopes.number(row.scope)
        return Entry(row.id, vector, (scope, row.level, _instant(row.source_ms), sum(weights)))

    def _vector(self, item: str) -> Floats:
        return self._shelf(item).vector(self._rows[item])

    def _weight(self, item: str) -> int:
        """Items below that the embedder understood: a text of unknown script does not dilute a mean."""
        if item[0] == "n":
            return self._nodes.value("embedded", self._rows[item])
        return int(bool(self._vector(item).any()))


def _level(row: NodeRow) -> int:
    return row.level


def _instant(value: int | None) -> int:
    return UNKNOWN if value is None else value
