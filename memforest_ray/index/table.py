"""Tables: append-only rows of integers that many versions look at without copying.

A row is written once. When it goes, only the version of its end is noted beside it, in place: a view of version v
counts a row as live while its end lies after v, so every older view stays right, and publishing one costs a few
array slices whatever the table's length. Arrays grow by doubling; a view made before keeps the array it has.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "UNKNOWN",
    "Integers",
    "Table",
    "TableView",
    "grown",
    "place_key",
    "place_of",
    "renumbering",
    "sessions_of",
    "with_sessions",
]

Integers: TypeAlias = NDArray[np.int64]

UNKNOWN: Final = int(np.iinfo(np.int64).max)
"""An instant that is not known: later than any other, so that no "until" and no `as_of` holds it."""

_ROWS_MIN: Final = 16
_TURN_BITS: Final = 32


def place_key(session: int, turn: int) -> int:
    """A turn as one integer, so that the turns of a session are neighbours in order."""
    return session << _TURN_BITS | turn


def place_of(key: int) -> tuple[int, int]:
    """Session number and turn of a place key."""
    return key >> _TURN_BITS, key & ((1 << _TURN_BITS) - 1)


def sessions_of(places: Integers) -> Integers:
    """The session numbers in place keys."""
    return places >> _TURN_BITS


def with_sessions(places: Integers, numbers: Integers) -> Integers:
    """Place keys whose session numbers are replaced: `numbers` holds the new one for each old one."""
    turns = places & ((1 << _TURN_BITS) - 1)
    return numbers[sessions_of(places)] << _TURN_BITS | turns


def grown(array: NDArray[Any], rows: int) -> NDArray[Any]:
    """`array` itself when it holds `rows`, else a copy in an array at least twice as long."""
    if rows <= len(array):
        return array
    longer = np.zeros((max(rows, 2 * len(array), _ROWS_MIN), *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


def renumbering(kept: NDArray[np.bool_]) -> Integers:
    """New row numbers when only the rows `kept` remain; -1 for the others."""
    numbers = np.cumsum(kept, dtype=np.int64) - 1
    numbers[~kept] = -1
    return numbers


@dataclass(frozen=True, slots=True)
class TableView:
    """The rows of a table as one version sees them. Valid for ever."""

    version: int
    columns: dict[str, Integers]
    ends: Integers

    def __getitem__(self, column: str) -> Integers:
        return self.columns[column]

    def __len__(self) -> int:
        return len(self.ends)

    def live(self) -> NDArray[np.bool_]:
        """Which rows exist in this version."""
        return np.greater(self.ends, self.version)


class Table:
    """The owner's side of a table: the only writer."""

    __slots__ = ("_columns", "_ends", "count", "dead")

    def __init__(self, *columns: str) -> None:
        self._columns: dict[str, Integers] = {name: np.zeros(0, np.int64) for name in columns}
        self._ends: Integers = np.zeros(0, np.int64)
        self.count = 0
        self.dead = 0

    @property
    def width(self) -> int:
        """How many columns it has."""
        return len(self._columns)

    def append(self, rows: Sequence[tuple[int, ...]] | Integers) -> range:
        """Write rows, one value for each column; their numbers."""
        written = range(self.count, self.count + len(rows))
        values = np.asarray(rows, np.int64).reshape(len(rows), len(self._columns))
        for place, (name, column) in enumerate(self._columns.items()):
            self._columns[name] = grown(column, written.stop)
            self._columns[name][written.start : written.stop] = values[:, place]
        self._ends = grown(self._ends, written.stop)
        self._ends[written.start : written.stop] = UNKNOWN
        self.count = written.stop
        return written

    def bury(self, rows: Iterable[int], version: int) -> None:
        """Note that `rows` do not exist from `version` on."""
        for row in rows:
            self._ends[row] = version
            self.dead += 1

    def value(self, column: str, row: int) -> int:
        return int(self._columns[column][row])

    def column(self, name: str) -> Integers:
        return self._columns[name][: self.count]

    def view(self, version: int) -> TableView:
        """What `version` sees; 0.1 microseconds a column."""
        columns = {name: column[: self.count] for name, column in self._columns.items()}
        return TableView(version, columns, self._ends[: self.count])

    def kept(self) -> NDArray[np.bool_]:
        """Which rows have no end."""
        return np.equal(self._ends[: self.count], UNKNOWN)

    def recode(self, name: str, change: Callable[[Integers], Integers]) -> None:
        """Replace the values of a column, in a copy: views keep theirs."""
        self._columns[name] = change(self.column(name))

    def compacted(self, kept: NDArray[np.bool_], **replaced: Integers) -> "Table":
        """A new table of the rows `kept`; columns in `replaced` are taken from there (old length)."""
        fresh = Table(*self._columns)
        fresh.count = int(kept.sum())
        for name, column in self._columns.items():
            fresh._columns[name] = replaced.get(name, column[: self.count])[kept].copy()
        fresh._ends = np.full(fresh.count, UNKNOWN, np.int64)
        return fresh
