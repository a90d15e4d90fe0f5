"""Rows of the dialogue, and versions loaded from rows."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from memforest_ray.commit.changes import Changes
from memforest_ray.commit.loaded import load
from memforest_ray.commit.version import Birth, Tables, Version, put_cells, put_sessions
from memforest_ray.errors import CorruptState
from memforest_ray.facts.cells import cut
from memforest_ray.facts.sessions import SessionRecord, TurnRecord
from memforest_ray.ids import SessionId, UserId
from memforest_ray.index.index import Index
from memforest_ray.storage.keys import UserKeys
from memforest_ray.testing.conversations import conversation
from memforest_ray.testing.forests import Forests, check_same
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.trees.scenes import Thresholds

S1 = SessionId("s1")
ANN, BOB, HOLE = TurnRecord("user", "Ann", "a"), TurnRecord("user", "Bob", "b", 5), TurnRecord("", "", "", 5, hole="ab")


def _session(*turns: TurnRecord, time_ms: int | None = 1) -> SessionRecord:
    return SessionRecord(S1, turns, time_ms, None, (("topic", "tea"),))


def _told(before: SessionRecord | None, after: SessionRecord | None) -> Changes:
    changes = Changes()
    empty = Version.empty(Birth.of(Forests().settings.birth), "ab", _thresholds(), Index(64).view()).sessions
    maps = [empty if record is None else empty.set(S1, record) for record in (before, after)]
    put_sessions(changes, maps[0], maps[1], [S1])
    return changes


def _thresholds() -> Thresholds:
    return Thresholds.of(HashEmbedder().fingerprint)


def test_a_session_is_a_head_and_its_turns() -> None:
    """Turn by turn, so that growth writes only what is new; a hole is its hash and its time."""
    told = _told(None, _session(ANN, HOLE))
    assert told.puts == {
        "sessions": {"s1": {"time": 1, "zone": None, "metadata": [["topic", "tea"]], "turns": 2}},
        "turns": {"0:s1": ["user", "Ann", "a", None, None], "1:s1": ["ab", 5]},
    }


def test_growth_writes_the_new_turn_and_the_head() -> None:
    """The turns that were there are not written again."""
    told = _told(_session(ANN), _session(ANN, BOB))
    assert {table: set(rows) for table, rows in told.puts.items()} == {"sessions": {"s1"}, "turns": {"1:s1"}}


def test_a_shorter_session_drops_its_other_turns() -> None:
    """And one that is gone drops all."""
    assert _told(_session(ANN, BOB), _session(ANN)).drops == {"turns": {"1:s1"}}
    assert _told(_session(ANN, BOB), None).drops == {"sessions": {"s1"}, "turns": {"0:s1", "1:s1"}}


def test_only_cells_that_differ_are_written() -> None:
    """A closed cell is written again under its id, one that is as it was is not."""
    cells = {cell.id: cell for cell in cut(_session(ANN, BOB, ANN))}
    first, last = cells.values()
    changes = Changes()
    before = Version.empty(Birth.of(Forests().settings.birth), "ab", _thresholds(), Index(64).view()).cells.update(
        cells
    )
    put_cells(changes, before, [first, replace(last, open=False)], [])
    assert set(changes.puts["cells"]) == {last.id}


async def _stored() -> tuple[Tables, Version]:
    forests = Forests()
    forest = forests.open()
    for session in conversation(2, sessions=3):
        await forest.ingest(session)
    loaded = await load(forests.store, UserKeys.of(UserId("ann")))
    return loaded.tables, await forest.version()


def _load(tables: Tables, number: int) -> Version:
    return Version.load(tables, number, Birth.of(Forests().settings.birth), _thresholds(), Index(64))


async def test_what_is_loaded_is_what_was_live() -> None:
    """Everything but the history of the index."""
    tables, version = await _stored()
    check_same(version, _load(tables, version.number))


def _drop(table: str) -> Callable[[dict[str, Any]], None]:
    def damage(tables: dict[str, Any]) -> None:
        rows = dict(tables[table])
        rows.pop(min(rows))
        tables[table] = rows

    return damage


def _spoil(table: str, row: object) -> Callable[[dict[str, Any]], None]:
    def damage(tables: dict[str, Any]) -> None:
        tables[table] = {**tables[table], min(tables[table]): row}

    return damage


@pytest.mark.parametrize(
    "damage",
    [
        _drop("birth"),
        _drop("turns"),
        _drop("cells"),
        _drop("sessions"),
        _drop("nodes"),
        _drop("mentions"),
        _spoil("sessions", {"time": 1}),
        _spoil("turns", ["user", "Bob"]),
        _spoil("turns", [1, 2, 3]),
        _spoil("cells", {"session": "s1"}),
    ],
)
async def test_damaged_rows_are_refused(damage: Callable[[dict[str, Any]], None]) -> None:
    """A row that is missing or cannot be read is CorruptState, never an error of Python, never less memory."""
    tables, version = await _stored()
    damaged = dict(tables)
    damage(damaged)
    with pytest.raises(CorruptState):
        _load(damaged, version.number)


@pytest.mark.parametrize("row", [{}, {"cell_turns": 2}, {"fanouts": 3}])
def test_a_birth_row_of_another_format_is_refused(row: dict[str, Any]) -> None:
    """It shapes the forest for ever, so it is not guessed."""
    with pytest.raises(CorruptState):
        Birth.of(row)
