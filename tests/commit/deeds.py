"""What a simulated world did and when, and what must therefore be seen by whoever looks."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count, pairwise
from typing import Literal

from memforest_ray.errors import InvalidInput, NotFound, Overloaded

__all__ = ["Deed", "Deeds"]

Kind = Literal["commit", "erase", "save", "unsave", "delete"]
_REFUSED = (InvalidInput, NotFound, Overloaded)
"""Raised before anything is changed."""


@dataclass(slots=True)
class Deed:
    """One try to change a forest, between two ticks."""

    kind: Kind
    begin: int
    rows: frozenset[int] = frozenset()
    """Commit: the one row it adds; erase: those it drops; save: those it keeps."""
    name: str = ""
    finish: int = 1 << 60
    acknowledged: bool = False
    refused: bool = False
    version: int = 0

    def removed_by(self, other: "Deed") -> bool:
        """Whether what this added may be removed by `other`, whatever became of that."""
        if other.kind == "delete":
            return self.begin < other.finish
        return other.kind == "erase" and bool(self.rows & other.rows)


@dataclass(slots=True)
class Deeds:
    """All of them. `wrong` collects what was seen and must not be."""

    all: list[Deed] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    _ticks: Iterator[int] = field(default_factory=count)

    def tick(self) -> int:
        """Now, in a count of what happened."""
        return next(self._ticks)

    @contextmanager
    def doing(self, kind: Kind, rows: Collection[int] = (), name: str = "") -> Iterator[Deed]:
        """A deed from here to the end of the block; an exception leaves open whether it was done."""
        deed = Deed(kind, self.tick(), frozenset(rows), name)
        self.all.append(deed)
        try:
            yield deed
            deed.acknowledged = True
        except _REFUSED:
            deed.refused = True
            raise
        finally:
            deed.finish = self.tick()

    def _of(self, *kinds: Kind) -> list[Deed]:
        return [deed for deed in self.all if deed.kind in kinds and not deed.refused]

    def due(self, since: int, until: int) -> set[int]:
        """Rows that a read between the two ticks must show."""
        removing = [deed for deed in self._of("erase", "delete") if deed.begin <= until]
        kept = (deed for deed in self._of("commit") if deed.acknowledged and deed.finish <= since)
        return {row for deed in kept if not any(map(deed.removed_by, removing)) for row in deed.rows}

    def gone(self, since: int) -> set[int]:
        """Rows that a read begun at `since` must not show: their removal had been acknowledged."""
        done = [deed for deed in self._of("erase", "delete") if deed.acknowledged and deed.finish <= since]
        erased = {row for deed in done if deed.kind == "erase" for row in deed.rows}
        deleted = max((deed.begin for deed in done if deed.kind == "delete"), default=-1)
        return erased | {row for deed in self._of("commit") if deed.finish <= deleted for row in deed.rows}

    def check_rows(self, who: str, rows: set[int], since: int, until: int) -> None:
        """`rows` were read between the two ticks."""
        if lost := self.due(since, until) - rows:
            self.wrong.append(f"{who}: acknowledged rows {sorted(lost)} are not there")
        if back := rows & self.gone(since):
            self.wrong.append(f"{who}: removed rows {sorted(back)} are there again")

    def check_snapshot(self, name: str, rows: set[int] | None, since: int, until: int) -> None:
        """The snapshot `name` had `rows` (None: there was none) between the two ticks."""
        saves = [deed for deed in self._of("save") if deed.name == name and deed.begin <= until]
        ends = [deed for deed in self._of("unsave", "delete") if deed.kind == "delete" or deed.name == name]
        if rows is None:
            kept = [deed for deed in saves if deed.acknowledged and deed.finish <= since]
            ending = [end for end in ends if end.begin <= until]
            if any(all(end.finish <= save.begin for end in ending) for save in kept):
                self.wrong.append(f"snapshot {name} is not there")
            return
        over = [deed for deed in (*saves, *ends) if deed.acknowledged and deed.finish <= since]
        candidates = [save for save in saves if not any(later.begin >= save.finish for later in over)]
        erasing = [deed for deed in self._of("erase") if deed.begin <= until]
        may = {row for deed in erasing for row in deed.rows}
        must = {row for deed in erasing if deed.acknowledged and deed.finish <= since for row in deed.rows}
        if not any(save.rows - may <= rows <= save.rows - must for save in candidates):
            self.wrong.append(
                f"snapshot {name} shows {sorted(rows)}, saved were {[sorted(s.rows) for s in candidates]}"
            )

    def check_versions(self) -> None:
        """No two commits have one number, and none that began after another ended has a lower one."""
        commits = sorted((deed for deed in self._of("commit") if deed.acknowledged), key=lambda deed: deed.version)
        for earlier, later in pairwise(commits):
            if earlier.version == later.version or later.finish < earlier.begin:
                self.wrong.append(f"versions {earlier.version} and {later.version} are out of order")

    def calm(self, since: int, *kinds: Kind) -> bool:
        """Whether none of these was under way after `since`."""
        return all(deed.finish < since for deed in self.all if deed.kind in kinds)
