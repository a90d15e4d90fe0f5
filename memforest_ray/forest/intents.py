"""What may be asked of a forest's writer, and what it answers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Self

from memforest_ray.facts.sessions import SessionRecord
from memforest_ray.ids import CellId, FactId, OpId, SessionId, TurnId

__all__ = [
    "Answered",
    "Billed",
    "DeleteSnapshot",
    "Deleted",
    "Forget",
    "Forgotten",
    "Ingest",
    "Intent",
    "Receipt",
    "Repair",
    "Restore",
    "Restored",
    "Save",
    "Saved",
    "Usage",
]


@dataclass(frozen=True, slots=True)
class Ingest:
    """Make one session memory."""

    op_id: OpId
    session: SessionRecord
    naive_times: int = 0
    """Times that came without a zone."""
    undated_turns: int = 0
    replacing: bool = False


@dataclass(frozen=True, slots=True)
class Forget:
    """Erase a session, or turns, or one fact: exactly one of the three."""

    op_id: OpId
    session: str | None = None
    """With `turns`: where to look for them."""
    turns: tuple[str, ...] | None = None
    fact: str | None = None
    with_dialogue: bool = False
    including_snapshots: bool = False
    """Take it out of snapshots, too; without it a snapshot that holds it stands in the way."""


@dataclass(frozen=True, slots=True)
class Repair:
    """Retry failed cells and stale summaries."""

    op_id: OpId


@dataclass(frozen=True, slots=True)
class Save:
    """Keep the present state under a name."""

    op_id: OpId
    name: str
    replacing: bool = False


@dataclass(frozen=True, slots=True)
class Restore:
    """Make the state kept under a name the present one, but for what was forgotten since."""

    op_id: OpId
    name: str


@dataclass(frozen=True, slots=True)
class DeleteSnapshot:
    """Let go of what is kept under a name."""

    op_id: OpId
    name: str


Intent = Ingest | Forget | Repair | Save | Restore | DeleteSnapshot


@dataclass(frozen=True, slots=True)
class Usage:
    """What model calls of one stage cost; failed calls included."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @classmethod
    def of(cls, answers: Iterable["Billed"]) -> Self:
        """The sum over answers of a model."""
        calls, prompt, completion = 0, 0, 0
        for answer in answers:
            calls += answer.calls
            prompt += answer.prompt_tokens
            completion += answer.completion_tokens
        return cls(calls, prompt, completion)


class Billed(Protocol):
    """An answer that tells what it has cost."""

    @property
    def calls(self) -> int: ...
    @property
    def prompt_tokens(self) -> int: ...
    @property
    def completion_tokens(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of one session."""

    version: int
    """The forest's version that holds it."""
    op_id: OpId
    session_id: SessionId | None = None
    duplicate: bool = False
    """Nothing was new; nothing was written."""
    cells: int = 0
    """Cells extracted for it."""
    facts_added: int = 0
    facts_merged: int = 0
    """Mentions that joined a fact which was known already, or another of this write."""
    failed_cells: Mapping[CellId, str] = field(default_factory=dict)
    """Cells whose extraction failed, with the reason; their dialogue is stored and searchable."""
    turns_without_time: int = 0
    naive_times: int = 0
    """Times that came without a zone and were read in the session's, else in UTC."""
    usage: Mapping[str, Usage] = field(default_factory=dict)
    """By stage: extract, summarise. The summaries of a batch are on the first of its receipts: sums are right."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """By stage; a batch shares its refresh and its commit."""
    notes: tuple[str, ...] = ()

    def timed(self, seconds: Mapping[str, float]) -> Self:
        """With the seconds that a driver measured."""
        return replace(self, seconds={**self.seconds, **seconds})

    def to_json(self) -> dict[str, Any]:
        """As msgpack and JSON types."""
        return {
            "version": self.version,
            "op_id": self.op_id,
            "session_id": self.session_id,
            "duplicate": self.duplicate,
            "cells": self.cells,
            "facts_added": self.facts_added,
            "facts_merged": self.facts_merged,
            "failed_cells": dict(self.failed_cells),
            "turns_without_time": self.turns_without_time,
            "naive_times": self.naive_times,
            "usage": {
                stage: {
                    "calls": usage.calls,
                    "prompt_tokens": usage.prompt_tokens,
                    "completion_tokens": usage.completion_tokens,
                }
                for stage, usage in self.usage.items()
            },
            "seconds": {stage: round(spent, 4) for stage, spent in self.seconds.items()},
            "notes": list(self.notes),
        }

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> "Receipt":
        usage = {stage: Usage(**numbers) for stage, numbers in row["usage"].items()}
        return cls(**{**row, "usage": usage, "notes": tuple(row["notes"])})


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What a forget has removed, and what still speaks of it."""

    version: int
    op_id: OpId
    turns: int = 0
    """Turns whose text was erased."""
    facts: tuple[FactId, ...] = ()
    """Facts that are no longer shown."""
    still_in: tuple[TurnId, ...] = ()
    """Turns that still hold the forgotten fact's dialogue; `with_dialogue` erases them, too."""

    def to_json(self) -> dict[str, Any]:
        """As msgpack and JSON types."""
        return {
            "version": self.version,
            "op_id": self.op_id,
            "turns": self.turns,
            "facts": list(self.facts),
            "still_in": list(self.still_in),
        }

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> "Forgotten":
        return cls(**{**row, "facts": tuple(row["facts"]), "still_in": tuple(row["still_in"])})


@dataclass(frozen=True, slots=True)
class Restored:
    """A restore has become a commit."""

    version: int
    """Its number: versions only rise."""
    op_id: OpId
    snapshot: str
    snapshot_version: int
    """The version whose state came back."""

    def to_json(self) -> dict[str, Any]:
        """As msgpack and JSON types."""
        return {
            "version": self.version,
            "op_id": self.op_id,
            "snapshot": self.snapshot,
            "snapshot_version": self.snapshot_version,
        }

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> "Restored":
        return cls(**row)


@dataclass(frozen=True, slots=True)
class Saved:
    """A state is kept."""

    version: int
    """The version that was kept."""
    op_id: OpId
    name: str

    def to_json(self) -> dict[str, Any]:
        """As msgpack and JSON types."""
        return {"version": self.version, "op_id": self.op_id, "name": self.name}


@dataclass(frozen=True, slots=True)
class Deleted:
    """A snapshot is no more."""

    version: int
    """Of the forest; it is the same as before."""
    op_id: OpId
    name: str


Answered = Receipt | Forgotten | Restored | Saved | Deleted
"""What a write is told when it is done."""
