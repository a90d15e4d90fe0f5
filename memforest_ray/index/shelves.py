"""Shelves: the rows of one family, facts, cells or nodes, with their parts, their vectors and their words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

import numpy as np

from memforest_ray.index.lexical import Floats, Lexicon, LexiconView
from memforest_ray.index.rows import Vector
from memforest_ray.index.table import Integers, Table, TableView, renumbering
from memforest_ray.index.vectors import Matrix

__all__ = ["OWNER", "Entry", "Names", "Shelf", "ShelfView"]

OWNER: Final = "owner"
"""The column of a part that names its row."""

_DEAD_SHARE_MAX: Final = 0.3
"""Above it a shelf is written anew: half as much again is the most that dead rows may cost a query."""
_DEAD_MIN: Final = 64
"""Fewer dead rows than this are not worth a new shelf."""


class Names:
    """Numbers for names, in order of arrival, never taken back. A number decides nothing but equality."""

    __slots__ = ("_numbers", "names")

    def __init__(self) -> None:
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}

    def get(self, name: str) -> int | None:
        """The name's number; None when it has none."""
        return self._numbers.get(name)

    def number(self, name: str) -> int:
        """The name's number, a new one when it has none."""
        found = self._numbers.get(name)
        if found is None:
            found = self._numbers[name] = len(self.names)
            self.names.append(name)
        return found

    def kept(self, used: Integers) -> tuple["Names", Integers]:
        """Only the names of these numbers, numbered anew; and for each old number the new one, -1 for none."""
        fresh = Names()
        numbers = np.full(len(self.names) + 1, -1, np.int64)  # the last is where the number -1 leads
        for number in np.unique(used[used >= 0]):
            numbers[number] = fresh.number(self.names[number])
        return fresh, numbers


@dataclass(frozen=True, slots=True)
class Entry:
    """One row to be written."""

    id: str
    vector: Vector | None
    values: tuple[int, ...]
    parts: Sequence[tuple[int, ...]] = ()
    """Their columns but the first, which is the row."""
    words: Sequence[list[str]] = field(default=())
    """The words of the row, or of each of its parts, as the shelf keeps them."""


@dataclass(frozen=True, slots=True)
class ShelfView:
    """The shelf as one version sees it, dead rows among the living. Valid for ever."""

    table: TableView
    parts: TableView
    vectors: Floats
    words: LexiconView
    ids: Sequence[str]
    """By row; it may run on with what later versions added."""


class Shelf:
    """The owner's side of a shelf: its only writer."""

    __slots__ = ("_ids", "_parts", "_parts_of", "_table", "_vectors", "_words", "_words_in_parts")

    def __init__(
        self,
        dimension: int,
        columns: Sequence[str],
        parts: Sequence[str] = (),
        *,
        words_in_parts: bool = False,
    ) -> None:
        self._table = Table(*columns)
        self._parts = Table(OWNER, *parts)
        self._vectors = Matrix(dimension)
        self._words = Lexicon()
        self._ids: list[str] = []
        self._parts_of: list[range] = []
        self._words_in_parts = words_in_parts

    def add(self, entries: Sequence[Entry]) -> range:
        """Write entries; their rows."""
        written = self._table.append([entry.values for entry in entries])
        parts = [(row, *part) for row, entry in zip(written, entries, strict=True) for part in entry.parts]
        numbers = self._parts.append(parts)
        first = numbers.start
        for entry in entries:
            self._parts_of.append(range(first, first + len(entry.parts)))
            first += len(entry.parts)
        self._vectors.append([self._filled(entry.vector) for entry in entries])
        where = numbers if self._words_in_parts else written
        texts = list(chain.from_iterable(entry.words for entry in entries))
        self._words.add(dict(zip(where, texts, strict=True)) if texts else {})
        self._ids.extend(entry.id for entry in entries)
        return written

    def bury(self, row: int, version: int) -> None:
        """The row and its parts do not exist from `version` on."""
        self._table.bury([row], version)
        self._parts.bury(self._parts_of[row], version)

    def vector(self, row: int) -> Floats:
        return self._vectors.row(row)

    def value(self, column: str, row: int) -> int:
        return self._table.value(column, row)

    def view(self, version: int) -> ShelfView:
        return ShelfView(
            self._table.view(version),
            self._parts.view(version),
            self._vectors.view(),
            self._words.view(),
            self._ids,
        )

    def column(self, name: str, *, of_parts: bool = False) -> Integers:
        """A column of the rows, or of their parts."""
        return (self._parts if of_parts else self._table).column(name)

    def recode(self, name: str, change: Callable[[Integers], Integers], *, of_parts: bool = False) -> None:
        """Replace the values of a column; views keep theirs."""
        (self._parts if of_parts else self._table).recode(name, change)

    @property
    def sparse(self) -> bool:
        """Whether so much has died that a new shelf pays."""
        dead = self._table.dead
        return dead >= _DEAD_MIN and dead > _DEAD_SHARE_MAX * self._table.count

    def compact(self) -> dict[str, int]:
        """Write the living rows anew, in the same order; ids with their new rows. Views keep the old arrays."""
        kept, kept_parts = self._table.kept(), self._parts.kept()
        numbers, part_numbers = renumbering(kept), renumbering(kept_parts)
        owners = numbers[self._parts.column(OWNER)]
        self._table = self._table.compacted(kept)
        self._parts = self._parts.compacted(kept_parts, **{OWNER: owners})
        self._vectors = self._vectors.compacted(kept)
        self._words = self._words.compacted(part_numbers if self._words_in_parts else numbers)
        rows = np.flatnonzero(kept)
        self._ids = [self._ids[row] for row in rows]
        self._parts_of = [_moved(self._parts_of[row], part_numbers) for row in rows]
        return {name: row for row, name in enumerate(self._ids)}

    def _filled(self, vector: Vector | None) -> Vector:
        return np.zeros(self._vectors.dimension, np.float16) if vector is None else vector


def _moved(parts: range, numbers: Integers) -> range:
    if not parts:
        return range(0)
    first = int(numbers[parts.start])
    return range(first, first + len(parts))
