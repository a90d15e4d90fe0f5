"""Physical effects of one commit: rows put and dropped in named tables. Replay needs no model and no rule.

Packed, they are zstd over the msgpack map {"puts": {table: {key: row}}, "drops": {table: [key, sorted]}}.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from memforest_ray.commit.frames import pack, shaped, unpack

__all__ = ["VECTORS", "Changes", "difference", "pack_changes", "unpack_changes"]

VECTORS = "vectors"
"""The one table whose values are raw bytes of equal length; it is kept apart in parts."""


@dataclass(slots=True)
class Changes:
    """Puts and drops by table. Later changes win; `absorb` folds a later one into this."""

    puts: dict[str, dict[str, Any]] = field(default_factory=dict)
    """table -> key -> value of msgpack types (str, int, float, bool, None, bytes, list, dict)."""
    drops: dict[str, set[str]] = field(default_factory=dict)
    """table -> keys."""

    def put(self, table: str, key: str, value: Any) -> None:
        """Set a row; withdraws a drop of the same key."""
        self.puts.setdefault(table, {})[key] = value
        self.drops.get(table, set()).discard(key)

    def drop(self, table: str, key: str) -> None:
        """Remove a row; withdraws a put of the same key."""
        self.puts.get(table, {}).pop(key, None)
        self.drops.setdefault(table, set()).add(key)

    def absorb(self, later: "Changes") -> None:
        """Fold `later` in, as if it had happened after this."""
        for table, keys in later.drops.items():
            for key in keys:
                self.drop(table, key)
        for table, rows in later.puts.items():
            for key, value in rows.items():
                self.put(table, key, value)

    @property
    def rows(self) -> int:
        """Puts and drops together."""
        return sum(map(len, self.puts.values())) + sum(map(len, self.drops.values()))

    @property
    def empty(self) -> bool:
        return not any(self.puts.values()) and not any(self.drops.values())

    def dropped_from(self, tables: Mapping[str, Mapping[str, Any]]) -> "Changes":
        """Our drops of rows that are in `tables`, and nothing else."""
        drops = {table: keys & tables.get(table, {}).keys() for table, keys in self.drops.items()}
        return Changes(drops={table: keys for table, keys in drops.items() if keys})


def difference(
    now: Mapping[str, Mapping[str, Any]], then: Mapping[str, Mapping[str, Any]], *, kept: Collection[str] = ()
) -> Changes:
    """What makes the rows of `now` those of `then`; the tables `kept` stay as they are."""
    changes = Changes()
    for table in sorted({*now, *then} - {*kept}):
        ours, theirs = now.get(table, {}), then.get(table, {})
        for key in ours.keys() - theirs.keys():
            changes.drop(table, key)
        for key, row in theirs.items():
            if key not in ours or ours[key] != row:
                changes.put(table, key, row)
    return changes


def pack_changes(changes: Changes) -> bytes:
    """Deterministic."""
    return pack({"puts": changes.puts, "drops": {table: sorted(keys) for table, keys in changes.drops.items()}})


def unpack_changes(body: bytes | memoryview, key: str) -> Changes:
    """Inverse of `pack_changes`. Raises CorruptState naming the object `key`."""
    plain = unpack(body, key)
    with shaped(key):
        puts = {str(table): dict(rows) for table, rows in plain["puts"].items()}
        return Changes(puts, {str(table): set(keys) for table, keys in plain["drops"].items()})
