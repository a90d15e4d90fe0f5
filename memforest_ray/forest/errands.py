"""Errands: what may be asked of a forest beyond reading in, forgetting and keeping; and what each is answered."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self, TypeAlias, get_args

from memforest_ray.forest.usage import Usage
from memforest_ray.ids import FactId, OpId, SessionId, TurnId, UserId

__all__ = [
    "ERRAND_ANSWERS",
    "LOAN_MS",
    "RENEWALS",
    "Correct",
    "Corrected",
    "Errand",
    "ErrandDone",
    "Lend",
    "Lent",
    "Merge",
    "Merged",
    "Reembedded",
    "Renew",
    "Renewal",
    "Renewed",
    "Return",
    "Returned",
]

LOAN_MS = 300_000
"""How long a memory that is being copied stays pinned unless that is renewed. Its erasures wait meanwhile."""

Renewal = Literal["resummarise", "rescene", "rebuild"]
RENEWALS: tuple[Renewal, ...] = get_args(Renewal)


@dataclass(frozen=True, slots=True)
class Merge:
    """Take over another user's memory, which is pinned under the same operation id."""

    op_id: OpId
    source: UserId
    replacing: bool = False
    """Put the source's sessions in the place of those that are stored under their names with other turns."""
    wait: Literal["refreshed", "facts"] = "refreshed"
    """When its caller is told: when summaries along the seams are published, too, or a stage earlier."""

    @property
    def subject(self) -> str:
        return self.source


@dataclass(frozen=True, slots=True)
class Correct:
    """Put another statement in the place of a fact."""

    op_id: OpId
    fact: str
    text: str
    value: str | None = None
    """What the fact's attribute is now; kept when the new text still holds it."""
    event_time: str | tuple[int, int] | None = None
    """When it is true or happened: words, read as on the day when it was said, or an interval; None: as before."""

    @property
    def subject(self) -> str:
        return self.fact


@dataclass(frozen=True, slots=True)
class Renew:
    """Make derived state anew: summaries, scenes, or everything that is not dialogue or evidence."""

    op_id: OpId
    what: Renewal
    scope: str | None = None
    """Of summaries: only this tree's."""

    @property
    def subject(self) -> str:
        return self.what if self.scope is None else f"{self.what} {self.scope}"


@dataclass(frozen=True, slots=True)
class Lend:
    """Pin this memory for somebody who copies it; again: for longer."""

    op_id: OpId
    loan: OpId
    borrower: UserId

    @property
    def subject(self) -> str:
        return self.loan


@dataclass(frozen=True, slots=True)
class Return:
    """The copy is made, or given up."""

    op_id: OpId
    loan: OpId

    @property
    def subject(self) -> str:
        return self.loan


@dataclass(frozen=True, slots=True)
class Merged:
    """Another memory has been taken over."""

    version: int
    op_id: OpId
    source: UserId
    source_version: int
    """The version of the source that was taken."""
    duplicate: bool = False
    """Nothing was new; nothing was written."""
    sessions: int = 0
    """New here, or grown."""
    facts_added: int = 0
    facts_joined: int = 0
    """Facts of the source that were known here already."""
    cells_read: int = 0
    """Cells that an extractor had to read: the words of their turns could be taken for a renamed speaker."""
    failed_cells: int = 0
    """Taken over as failed, or failed when they were read."""
    kept: tuple[SessionId, ...] = ()
    """Sessions of which the source has forgotten something that is still here; `forget` them to lose it here, too."""
    through: tuple[UserId, ...] = ()
    """Users whose memories the source had merged: theirs came along."""
    usage: Mapping[str, Usage] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    refreshed: bool = True
    """Whether the summaries of what it wrote are published; else they are extractive, and follow."""
    depth: int = 0
    """Model calls of its refresh that had to be made one after the other."""
    idle_share: float | None = None
    """Of the time it took, the share in which this memory had no model or embedding call in flight."""

    @property
    def subject(self) -> str:
        return self.source

    def timed(self, seconds: Mapping[str, float]) -> Self:
        """With the seconds that a driver measured."""
        return replace(self, seconds={**self.seconds, **seconds})

    def charged(self, usage: Mapping[str, Usage]) -> Self:
        """With what else it has cost, by stage."""
        stages = {stage: self.usage.get(stage, Usage()) + spent for stage, spent in usage.items()}
        return replace(self, usage={**self.usage, **stages})

    def to_json(self) -> dict[str, Any]:
        """As msgpack and JSON types."""
        return {
            "version": self.version,
            "op_id": self.op_id,
            "source": self.source,
            "source_version": self.source_version,
            "duplicate": self.duplicate,
            "sessions": self.sessions,
            "facts_added": self.facts_added,
            "facts_joined": self.facts_joined,
            "cells_read": self.cells_read,
            "failed_cells": self.failed_cells,
            "kept": list(self.kept),
            "through": list(self.through),
            "usage": {stage: usage.to_json() for stage, usage in self.usage.items()},
            "seconds": {stage: round(spent, 4) for stage, spent in self.seconds.items()},
            "notes": list(self.notes),
            "refreshed": self.refreshed,
            "depth": self.depth,
            "idle_share": None if self.idle_share is None else round(self.idle_share, 4),
        }

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> "Merged":
        lists = {name: tuple(row[name]) for name in ("kept", "through", "notes")}
        return cls(**{**row, **lists, "usage": _usage(row)})


@dataclass(frozen=True, slots=True)
class Corrected:
    """A fact says something else now."""

    version: int
    op_id: OpId
    corrected: FactId
    """The fact as it was, which is withheld."""
    fact: FactId
    """The one in its place."""
    still_in: tuple[TurnId, ...] = ()
    """Turns that still say what was corrected. Once their text is forgotten, what was put in its place goes, too."""

    @property
    def subject(self) -> str:
        return self.corrected

    def to_json(self) -> dict[str, Any]:
        """As msgpack and JSON types."""
        return {
            "version": self.version,
            "op_id": self.op_id,
            "corrected": self.corrected,
            "fact": self.fact,
            "still_in": list(self.still_in),
        }

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> "Corrected":
        return cls(**{**row, "still_in": tuple(row["still_in"])})


@dataclass(frozen=True, slots=True)
class Renewed:
    """Derived state has been made anew."""

    version: int
    op_id: OpId
    what: str
    duplicate: bool = False
    """It came out as it was; nothing was written."""
    trees: int = 0
    """Whose shape or leaves have changed."""
    summaries: int = 0
    """That have changed, or will: those that a model writes follow as commits of their own."""
    vectors: int = 0
    """That have changed."""
    usage: Mapping[str, Usage] = field(default_factory=dict)

    @property
    def subject(self) -> str:
        return self.what

    def to_json(self) -> dict[str, Any]:
        """As msgpack and JSON types."""
        return {
            "version": self.version,
            "op_id": self.op_id,
            "what": self.what,
            "duplicate": self.duplicate,
            "trees": self.trees,
            "summaries": self.summaries,
            "vectors": self.vectors,
            "usage": {stage: usage.to_json() for stage, usage in self.usage.items()},
        }

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> "Renewed":
        return cls(**{**row, "usage": _usage(row)})


@dataclass(frozen=True, slots=True)
class Reembedded:
    """A memory has the vectors of another embedder."""

    version: int
    op_id: OpId
    model: str
    dimension: int
    duplicate: bool = False
    """It had them already; nothing was written."""
    vectors: int = 0
    snapshots: int = 0
    """That were moved with it."""

    @property
    def subject(self) -> str:
        return self.model

    def to_json(self) -> dict[str, Any]:
        """As msgpack and JSON types."""
        return {
            "version": self.version,
            "op_id": self.op_id,
            "model": self.model,
            "dimension": self.dimension,
            "duplicate": self.duplicate,
            "vectors": self.vectors,
            "snapshots": self.snapshots,
        }

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> "Reembedded":
        return cls(**row)


@dataclass(frozen=True, slots=True)
class Lent:
    """A memory is pinned."""

    version: int
    """That can be copied."""
    op_id: OpId
    expires_ms: int


@dataclass(frozen=True, slots=True)
class Returned:
    """A pin is gone."""

    version: int
    op_id: OpId


def _usage(row: Mapping[str, Any]) -> dict[str, Usage]:
    return {stage: Usage(**numbers) for stage, numbers in row["usage"].items()}


Errand: TypeAlias = Merge | Correct | Renew
ErrandDone: TypeAlias = Merged | Corrected | Renewed | Reembedded
ERRAND_ANSWERS: Mapping[type, type[ErrandDone]] = {Merge: Merged, Correct: Corrected, Renew: Renewed}
