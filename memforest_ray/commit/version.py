"""One immutable version of a forest, and the rows of its dialogue.

A version is never changed: an edit makes the next one, which shares everything untouched. `load` builds a version
from the rows that the log keeps; the tests hold that what was loaded equals what was live.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from immutables import Map
from numpy.typing import NDArray

from memforest_ray.commit.changes import VECTORS, Changes
from memforest_ray.errors import CorruptState
from memforest_ray.facts.canonical import Fact, Facts
from memforest_ray.facts.cells import Cell, Span
from memforest_ray.facts.sessions import SessionRecord, TurnRecord
from memforest_ray.ids import AtomId, CellId, FactId, ItemId, NodeId, OpId, SessionId, TurnId, UserId
from memforest_ray.index.index import Index, IndexView
from memforest_ray.index.rows import NodeRow, Row, cell_row, fact_row
from memforest_ray.trees.edits import Placements, Trees
from memforest_ray.trees.leaves import cell_leaf, fact_leaf
from memforest_ray.trees.nodes import Leaf
from memforest_ray.trees.routing import FAMILIES, Entities, Moves, UnreadEntities, scope_family
from memforest_ray.trees.scenes import Scenes, Thresholds
from memforest_ray.trees.stored import StoredForest
from memforest_ray.trees.summaries import Summary, summary_of_row

__all__ = ["OPERATIONS_KEPT", "Birth", "Tables", "Vector", "Version", "load_sessions", "put_cells", "put_sessions"]

Tables = Mapping[str, Mapping[str, Any]]
"""What the log keeps: table -> key -> row."""
Vector = NDArray[np.float16]

_HOLE_FIELDS = 2
"""Of the row of a forgotten turn: its keyed hash and its time."""
OPERATIONS_KEPT = 1_024
"""Newest operations whose receipts are kept, so that a late retry is answered and not done again."""


@dataclass(frozen=True, slots=True)
class Birth:
    """What shapes a forest for ever; from its manifest."""

    cell_turns: int
    cell_chars_max: int
    cell_gap_ms: int
    fanouts: Map[str, int]
    """Children per node, by tree family."""
    families: frozenset[str] = FAMILIES
    """Of trees; no tree of another one is ever built here."""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Birth":
        """Raises CorruptState when the row is not a birth row of a format we know."""
        try:
            sizes = (row["cell_turns"], row["cell_chars_max"], row["cell_gap_ms"])
            return cls(*sizes, Map(row["fanouts"]), frozenset(row.get("families", FAMILIES)))
        except (KeyError, TypeError) as error:
            raise CorruptState(f"the forest's birth row cannot be read ({error!r}); nothing was changed") from error

    @property
    def limits(self) -> dict[str, int]:
        """For `facts.cells.cut` and `grow`."""
        return {
            "turns_max": self.cell_turns,
            "chars_max": self.cell_chars_max,
            "gap_ms_max": self.cell_gap_ms,
        }

    def planted(self, moves: Moves) -> Moves:
        """Of some moves those into and out of trees that there are here."""
        return {scope: move for scope, move in moves.items() if scope_family(scope) in self.families}


@dataclass(frozen=True, slots=True)
class Version:
    """Everything a reader needs, as of one commit."""

    number: int
    """Of the last commit; 0 for a forest that was never written."""
    birth: Birth
    secret: str
    """Hex; keys the hashes of what was forgotten."""
    sessions: Map[SessionId, SessionRecord]
    session_cells: Map[SessionId, tuple[CellId, ...]]
    """In order."""
    cells: Map[CellId, Cell]
    failed: Map[CellId, str]
    """Cells whose extraction failed, with the reason."""
    forgotten: Map[str, tuple[str, ...]]
    """Keyed hash of the id of a session that was forgotten, whole or in part -> keyed hashes of its turns."""
    origins: Map[SessionId, tuple[str, ...]]
    """Of sessions that were merged: the users through whose memories they came, the nearest first."""
    lineage: Map[str, tuple[str, str]]
    """Prefix of sessions that were merged -> secret of the memory they came from, which keys what that has forgotten,
    and what speakers without a name are labelled with."""
    copies: Map[UserId, int]
    """Users who were lent this memory to copy it, with the version that the first of their copies was made of."""
    journal: Map[str, dict[str, list[str]]]
    """What came, changed and went with the newest commits, by their numbers; see `commit/journal.py`."""
    facts: Facts
    entities: Entities
    scenes: Scenes
    trees: Trees
    placements: Placements
    summaries: Map[NodeId, Summary]
    echoes: Map[AtomId, bytes]
    """Vectors (fp16) of atoms that no fact is shown by: joined to a lesser one, or withheld (`forest/likeness.py`)."""
    operations: Map[OpId, dict[str, Any]]
    """Receipts, as JSON, of the newest operations."""
    index: IndexView

    @property
    def exists(self) -> bool:
        """Whether there is a memory: something was written in the life that it has; its number outlives a deletion."""
        return bool(self.sessions or self.operations)

    @classmethod
    def empty(cls, birth: Birth, secret: str, thresholds: Thresholds, index: IndexView) -> "Version":
        """A forest that holds nothing yet."""
        return cls(
            number=0,
            birth=birth,
            secret=secret,
            sessions=Map(),
            session_cells=Map(),
            cells=Map(),
            failed=Map(),
            forgotten=Map(),
            origins=Map(),
            lineage=Map(),
            copies=Map(),
            journal=Map(),
            facts=Facts(),
            entities=Entities(),
            scenes=Scenes(thresholds),
            trees=Map(),
            placements=Map(),
            summaries=Map(),
            echoes=Map(),
            operations=Map(),
            index=index,
        )

    @classmethod
    def load(cls, tables: Tables, number: int, birth: Birth, thresholds: Thresholds, index: Index) -> "Version":
        """The version that `tables` hold; fills `index`, which is empty. Raises CorruptState naming the row."""
        secret = tables.get("birth", {}).get("secret")
        if not isinstance(secret, str):
            raise CorruptState("the forest has no birth row; nothing was changed, restore the store from a copy")
        sessions = load_sessions(tables)
        cells, session_cells = _load_cells(tables, sessions)
        facts = Facts.load(tables)
        vectors = {key: np.frombuffer(raw, np.float16) for key, raw in tables.get(VECTORS, {}).items()}
        zero = np.zeros(index.dimension, np.float16)

        def vector_of(item: Any) -> Vector:
            return vectors.get(item.id, zero)

        half = cls.empty(birth, secret, thresholds, index.view())
        half = replace(half, number=number, sessions=sessions, cells=cells, session_cells=session_cells, facts=facts)
        latest = dict(half.latest_times())
        stored = StoredForest(tables.get("trees", {}), tables.get("nodes", {}), latest, half.leaf)
        full = replace(
            half,
            failed=Map({CellId(key): why for key, why in tables.get("failed", {}).items()}),
            forgotten=Map({key: tuple(turns) for key, turns in tables.get("forgotten", {}).items()}),
            origins=Map({SessionId(name): tuple(users) for name, users in tables.get("origins", {}).items()}),
            lineage=Map({prefix: (line[0], line[1]) for prefix, line in tables.get("lineage", {}).items()}),
            copies=Map({UserId(name): first for name, first in tables.get("copies", {}).items()}),
            journal=Map(dict(tables.get("journal", {}))),
            entities=UnreadEntities(facts),
            scenes=Scenes.load(thresholds, tables.get("scenes", {}), facts.get, vector_of),
            trees=stored.trees,
            placements=stored.placements,
            summaries=Map({NodeId(key): summary_of_row(row) for key, row in tables.get("summaries", {}).items()}),
            echoes=Map(_echoes(tables.get(VECTORS, {}), facts)),
            operations=Map({OpId(key): row for key, row in tables.get("operations", {}).items()}),
        )
        nodes = [NodeRow(*outline, vectors.get(outline.name)) for outline in stored.outlines]
        return replace(full, index=index.apply([*full.item_rows(vectors), *nodes]))

    # ---- items -------------------------------------------------------------------------------------------

    def leaf(self, item: ItemId) -> Leaf | None:
        """The leaf that stands for a fact or cell of this version in every tree."""
        cell = self.cells.get(CellId(item))
        if cell is not None:
            return cell_leaf(self.sessions[cell.session_id], cell)
        fact = self.facts.shown.get(FactId(item))
        return None if fact is None else fact_leaf(fact)

    def leaf_of(self, item: ItemId) -> Leaf:
        """Like `leaf`, for an item that is known to be there. Raises KeyError."""
        leaf = self.leaf(item)
        if leaf is None:
            raise KeyError(item)
        return leaf

    def vector(self, item: str) -> Vector:
        """The vector of a fact, cell or node of this version. Raises KeyError when it is not there."""
        shelf = {"f": self.index.facts, "c": self.index.cells, "n": self.index.nodes}[item[0]]
        row = self.index.row_of(item)
        if row is None:
            raise KeyError(item)
        vector: Vector = shelf.vectors[row].astype(np.float16)
        return vector

    def atom_vector(self, atom: AtomId) -> Vector | None:
        """The vector of an atom, if one is kept."""
        echo = self.echoes.get(atom)
        if echo is not None:
            return np.frombuffer(echo, np.float16)
        return self.vector(atom) if FactId(atom) in self.facts.shown else None

    def spoken(self, cell: Cell) -> bool:
        """Whether anything of the cell is left: one whose turns were all forgotten has no leaf and no row."""
        turns = self.sessions[cell.session_id].turns
        return any(turns[span.turn].hole is None for span in cell.spans)

    def latest_times(self) -> Iterable[tuple[str, int | None]]:
        """For each item that has a leaf the latest time at which it was said; None when any of it is unknown."""
        for fact in self.facts:
            yield fact.id, None if fact.undated else fact.latest_source_ms
        for cell in self.cells.values():
            session = self.sessions[cell.session_id]
            said = [session.source_ms(span.turn) for span in cell.spans]
            yield cell.id, None if None in said else max(said)  # type: ignore[type-var]  # None is not among them

    def item_rows(self, vectors: Mapping[str, Vector]) -> Iterable[Row]:
        """Index rows of facts and cells, those of one session beside each other."""
        for fact in sorted(self.facts, key=_said_at):
            yield fact_row(fact, vectors.get(fact.id))
        for cell in (self.cells[name] for names in self.session_cells.values() for name in names):
            if self.spoken(cell):
                yield cell_row(cell, self.sessions[cell.session_id], vectors.get(cell.id))

    def read_all(self) -> None:
        """Read what is read when it is first asked for. Raises CorruptState."""
        for tree in self.trees.values():
            len(tree)
        len(self.entities.by_key)

    def find_fact(self, name: str) -> Fact | None:
        """The fact that a fact or atom id addresses, if it is shown."""
        return self.facts.get(FactId(name))


def _said_at(fact: Fact) -> tuple[str, int, str]:
    least = fact.mentions[0]
    return least.session_id, least.candidate.turns[0], fact.id


def _echoes(vectors: Mapping[str, bytes], facts: Facts) -> Iterable[tuple[AtomId, bytes]]:
    for name, row in vectors.items():
        if name[0] == "f" and FactId(name) not in facts.shown and AtomId(name) in facts.atoms:
            yield AtomId(name), bytes(row)


# ---- rows of the dialogue ---------------------------------------------------------------------------------


def put_sessions(
    changes: Changes,
    before: Map[SessionId, SessionRecord],
    after: Map[SessionId, SessionRecord],
    touched: Iterable[SessionId],
) -> None:
    """What became of the sessions `touched`: heads, and the turns that differ."""
    for name in touched:
        old, new = before.get(name), after.get(name)
        old_turns = () if old is None else old.turns
        new_turns = () if new is None else new.turns
        if new is None:
            changes.drop("sessions", name)
        elif old is None or (old.time_ms, old.zone, old.metadata, len(old_turns)) != (
            new.time_ms,
            new.zone,
            new.metadata,
            len(new_turns),
        ):
            changes.put("sessions", name, _session_row(new))
        for index, turn in enumerate(new_turns):
            if index >= len(old_turns) or old_turns[index] is not turn:
                changes.put("turns", f"{index}:{name}", _turn_row(turn))
        for index in range(len(new_turns), len(old_turns)):
            changes.drop("turns", f"{index}:{name}")


def put_cells(changes: Changes, before: Map[CellId, Cell], after: Iterable[Cell], gone: Iterable[CellId]) -> None:
    """Cells that are no more, and those that are new or were closed."""
    for name in gone:
        changes.drop("cells", name)
    for cell in after:
        if before.get(cell.id) != cell:
            changes.put("cells", cell.id, _cell_row(cell))


def _session_row(session: SessionRecord) -> dict[str, Any]:
    return {
        "time": session.time_ms,
        "zone": session.zone,
        "metadata": [list(pair) for pair in session.metadata],
        "turns": len(session.turns),
    }


def _turn_row(turn: TurnRecord) -> list[Any]:
    if turn.hole is not None:
        return [turn.hole, turn.time_ms]
    return [turn.role, turn.speaker, turn.text, turn.time_ms, turn.id]


def _cell_row(cell: Cell) -> dict[str, Any]:
    spans = [[span.turn, span.start, span.end] for span in cell.spans]
    return {
        "session": cell.session_id,
        "number": cell.number,
        "spans": spans,
        "source": cell.source_ms,
        "open": cell.open,
    }


def load_sessions(tables: Tables) -> Map[SessionId, SessionRecord]:
    """The sessions that `tables` hold. Raises CorruptState naming the session."""
    turns = tables.get("turns", {})
    return Map({SessionId(name): _session(name, row, turns) for name, row in tables.get("sessions", {}).items()})


def _session(name: str, row: Mapping[str, Any], turns: Mapping[str, Any]) -> SessionRecord:
    try:
        return SessionRecord(
            SessionId(name),
            tuple(_turn(turns[f"{index}:{name}"]) for index in range(row["turns"])),
            row["time"],
            row["zone"],
            tuple((key, value) for key, value in row["metadata"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise CorruptState(f"session {name!r} cannot be read ({error!r}); nothing was changed") from error


def _turn(row: list[Any]) -> TurnRecord:
    if len(row) == _HOLE_FIELDS:
        hole, time_ms = row
        turn = TurnRecord(role="", speaker="", text="", time_ms=time_ms, hole=hole)
        texts = [hole]
    else:
        role, speaker, text, time_ms, name = row
        turn = TurnRecord(role, speaker, text, time_ms, None if name is None else TurnId(name))
        texts = [role, speaker, text, name or ""]
    if not all(isinstance(text, str) for text in texts) or not isinstance(time_ms, int | None):
        raise TypeError(f"a turn of {[type(value).__name__ for value in row]}")
    return turn


def _load_cells(
    tables: Tables, sessions: Map[SessionId, SessionRecord]
) -> tuple[Map[CellId, Cell], Map[SessionId, tuple[CellId, ...]]]:
    cells = [_cell(name, row) for name, row in tables.get("cells", {}).items()]
    cells.sort(key=lambda cell: (cell.session_id, cell.number))
    by_session: dict[SessionId, list[Cell]] = {name: [] for name in sessions}
    for cell in cells:
        by_session.setdefault(cell.session_id, []).append(cell)
    for name, mine in by_session.items():
        _check_cells(name, sessions.get(name), mine)
    return (
        Map({cell.id: cell for cell in cells}),
        Map({session: tuple(cell.id for cell in mine) for session, mine in by_session.items()}),
    )


def _check_cells(name: SessionId, session: SessionRecord | None, cells: list[Cell]) -> None:
    """That the cells cover the session's turns, all of them and in order."""
    turns = [span.turn for cell in cells for span in cell.spans]
    if (
        session is None
        or [cell.number for cell in cells] != list(range(len(cells)))
        or list(dict.fromkeys(turns)) != list(range(len(session.turns)))
    ):
        raise CorruptState(f"the cells of session {name!r} do not cover its turns; nothing was changed", session=name)


def _cell(name: str, row: Mapping[str, Any]) -> Cell:
    try:
        spans = tuple(Span(turn, start, end) for turn, start, end in row["spans"])
        return Cell(CellId(name), SessionId(row["session"]), row["number"], spans, row["source"], row["open"])
    except (KeyError, TypeError, ValueError) as error:
        raise CorruptState(f"cell {name} cannot be read ({error!r}); nothing was changed") from error
