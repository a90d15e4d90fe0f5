"""Shelves: the rows of one family, facts, cells or nodes, with their parts, their vectors and their words."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from memforest_ray.index.lexical import Lexicon, LexiconView
from memforest_ray.index.table import Integers, Table, TableView, renumbering
from memforest_ray.index.vectors import Matrix, VectorsView

__all__ = ["OWNER", "Compaction", "Entry", "Names", "Shelf", "ShelfView"]

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

    def numbers(self, names: Collection[str]) -> Integers:
        """Those of several names, -1 for one that has none."""
        get = self._numbers.get
        return np.array([get(name, -1) for name in names], np.int64)

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


class Entry(NamedTuple):
    """One row to be written, but for its vector."""

    id: str
    values: tuple[int, ...]
    parts: Sequence[tuple[int, ...]] = ()
    """Their columns but the first, which is the row."""
    words: Sequence[list[str]] = ()
    """The words of the row, or of each of its parts, as the shelf keeps them."""


@dataclass(frozen=True, slots=True)
class ShelfView:
    """The shelf as one version sees it, dead rows among the living. Valid for ever."""

    table: TableView
    parts: TableView
    vectors: VectorsView
    words: LexiconView
    ids: Sequence[str]
    """By row; it may run on with what later versions added."""


@dataclass(frozen=True, slots=True)
class Compaction:
    """Where rows are after a shelf was written anew."""

    rows: dict[str, int]
    """Ids with their new rows."""
    numbers: Integers
    """For each old row where it is now, -1 for one that was dead."""
    heirs: Integers
    """For each old row the one of the same id: a row that was replaced leads to what took its place."""


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
        dtype: DTypeLike = np.float32,
    ) -> None:
        """`dtype` of the vectors: fp32 where every one of them is compared with a question."""
        self._table = Table(*columns)
        self._parts = Table(OWNER, *parts)
        self._vectors = Matrix(dimension, dtype)
        self._words = Lexicon()
        self._ids: list[str] = []
        self._parts_of: list[range] = []
        self._words_in_parts = words_in_parts

    def add(self, entries: Sequence[Entry], vectors: NDArray[np.float16]) -> range:
        """Write entries with their vectors, zeros for what has none; their rows."""
        if not entries:
            return range(self._table.count, self._table.count)
        first_part = self._parts.count
        counts = [len(entry.parts) for entry in entries]
        written = self.add_rows(
            [entry.id for entry in entries],
            vectors,
            [entry.values for entry in entries],
            [part for entry in entries for part in entry.parts],
            counts,
        )
        where = range(first_part, self._parts.count) if self._words_in_parts else written
        texts = list(chain.from_iterable(entry.words for entry in entries))
        self._words.add(dict(zip(where, texts, strict=True)) if texts else {})
        return written

    def add_rows(
        self,
        ids: Sequence[str],
        vectors: NDArray[np.float16],
        values: Sequence[tuple[int, ...]] | Integers,
        parts: Sequence[tuple[int, ...]] | Integers,
        counts: Sequence[int],
    ) -> range:
        """Write rows without words; their numbers. Each has as many of the `parts`, in order, as `counts` says."""
        written = self._table.append(values)
        owners = np.repeat(np.arange(written.start, written.stop), counts)
        columns = np.asarray(parts, np.int64).reshape(len(owners), self._parts.width - 1)
        first = self._parts.append(np.column_stack([owners, columns])).start
        for count in counts:
            self._parts_of.append(range(first, first + count))
            first += count
        self._vectors.append(vectors)
        self._ids.extend(ids)
        return written

    def bury(self, row: int, version: int) -> None:
        """The row and its parts do not exist from `version` on."""
        self._table.bury([row], version)
        self._parts.bury(self._parts_of[row], version)

    def vector(self, row: int) -> NDArray[Any]:
        return self._vectors.row(row)

    def vectors(self) -> VectorsView:
        return self._vectors.view()

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

    def living(self, name: str) -> Integers:
        """A column of the rows that live."""
        return self._table.column(name)[self._table.kept()]

    def recode(self, name: str, change: Callable[[Integers], Integers], *, of_parts: bool = False) -> None:
        """Replace the values of a column; views keep theirs."""
        (self._parts if of_parts else self._table).recode(name, change)

    @property
    def sparse(self) -> bool:
        """Whether so much has died that a new shelf pays."""
        dead = self._table.dead
        return dead >= _DEAD_MIN and dead > _DEAD_SHARE_MAX * self._table.count

    def compact(self) -> "Compaction":
        """Write the living rows anew, in the same order. Views keep the old arrays."""
        kept, kept_parts = self._table.kept(), self._parts.kept()
        numbers, part_numbers = renumbering(kept), renumbering(kept_parts)
        owners = numbers[self._parts.column(OWNER)]
        self._table = self._table.compacted(kept)
        self._parts = self._parts.compacted(kept_parts, **{OWNER: owners})
        self._vectors = self._vectors.compacted(kept)
        self._words = self._words.compacted(part_numbers if self._words_in_parts else numbers)
        rows = np.flatnonzero(kept)
        ids, self._ids = self._ids, [self._ids[row] for row in rows]
        self._parts_of = [_moved(self._parts_of[row], part_numbers) for row in rows]
        fresh = {name: row for row, name in enumerate(self._ids)}
        heirs = numbers.copy()
        for row in np.flatnonzero(~kept):
            heirs[row] = fresh.get(ids[row], -1)
        return Compaction(fresh, numbers, heirs)


def _moved(parts: range, numbers: Integers) -> range:
    if not parts:
        return range(0)
    first = int(numbers[parts.start])
    return range(first, first + len(parts))
