"""What may be asked of a forest's writer, and what it answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from memforest_ray.facts.sessions import SessionRecord, TurnRecord
from memforest_ray.facts.verdicts import Pair
from memforest_ray.forest.errands import Errand, ErrandDone, Lend, Lent, Return, Returned
from memforest_ray.forest.reports import PricedReport, Report
from memforest_ray.ids import AtomId, CellId, FactId, OpId, ScopeId, SessionId, TurnId
from memforest_ray.models.usage import Usage
from memforest_ray.trees.nodes import Node

__all__ = [
    "WAITS",
    "Answered",
    "DeleteSnapshot",
    "Deleted",
    "Forget",
    "Forgotten",
    "Ingest",
    "Intent",
    "Receipt",
    "Refreshed",
    "Relics",
    "Repair",
    "Restore",
    "Restored",
    "Save",
    "Saved",
    "Upkeep",
    "Wait",
]

Wait = Literal["refreshed", "facts"]
"""When the caller of an ingest is told: when the summaries of what it wrote are published, too, or a stage earlier,
when its facts can be found."""
WAITS: tuple[Wait, ...] = get_args(Wait)


@dataclass(frozen=True, slots=True)
class Ingest:
    """Make one session memory."""

    op_id: OpId
    session: SessionRecord
    naive_times: int = 0
    """Times that came without a zone."""
    undated_turns: int = 0
    replacing: bool = False
    wait: Wait = "refreshed"


@dataclass(frozen=True, slots=True)
class Relics:
    """What snapshots alone hold of what is to be forgotten."""

    sessions: tuple[SessionRecord, ...] = ()
    """The session, as each of them holds it."""
    turns: tuple[tuple[SessionId, int, TurnRecord], ...] = ()
    """Turns, and where they stand."""
    atoms: tuple[AtomId, ...] = ()
    """Of the fact."""
    told: tuple[TurnId, ...] = ()
    """Turns that tell the fact."""


@dataclass(frozen=True, slots=True)
class Forget:
    """Erase a session, or turns, or one fact, or what came from another user: exactly one of the four."""

    op_id: OpId
    session: str | None = None
    """With `turns`: where to look for them."""
    turns: tuple[str, ...] | None = None
    fact: str | None = None
    origin: str | None = None
    """A user: every session that came from them, at first or second hand."""
    with_dialogue: bool = False
    including_snapshots: bool = False
    """Take it out of snapshots, too; without it a snapshot that holds it stands in the way."""
    kept: Relics = Relics()
    """Whoever performs the write looks for it, where it is not stored otherwise."""


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


@dataclass(frozen=True, slots=True)
class Upkeep:
    """Take in what was made beside the lane. Nobody's call: the forest's own, after a write."""

    op_id: OpId
    nodes: tuple[tuple[ScopeId, Node], ...] = ()
    """Whose summaries were made; those that are no more are passed over."""
    pairs: tuple[Pair, ...] = ()
    """That were judged; those that are decided or gone are passed over."""


Intent = Ingest | Forget | Repair | Save | Restore | DeleteSnapshot | Upkeep | Errand | Lend | Return


@dataclass(frozen=True, slots=True)
class Receipt(PricedReport):
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
    """By stage: extract, judge, summarise. What a batch shares is on the first of its receipts: sums are right."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """By stage; a batch shares its refresh and its commit."""
    notes: tuple[str, ...] = ()
    refreshed: bool = True
    """Whether the summaries of what it wrote are published; else they are extractive, and follow."""
    depth: int = 0
    """Model calls of its refresh that had to be made one after the other."""
    idle_share: float | None = None
    """Of the time it took, the share in which this memory had no model or embedding call in flight."""


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What was made beside the lane has become a commit."""

    version: int
    op_id: OpId


@dataclass(frozen=True, slots=True)
class Forgotten(Report):
    """What a forget has removed, and what still speaks of it."""

    version: int
    op_id: OpId
    turns: int = 0
    """Turns whose text was erased."""
    facts: tuple[FactId, ...] = ()
    """Facts that are no longer shown."""
    still_in: tuple[TurnId, ...] = ()
    """Turns that still hold the forgotten fact's dialogue; `with_dialogue` erases them, too."""


@dataclass(frozen=True, slots=True)
class Restored(Report):
    """A restore has become a commit."""

    version: int
    """Its number: versions only rise."""
    op_id: OpId
    snapshot: str
    snapshot_version: int
    """The version whose state came back."""
    turns_left_out: int = 0
    """Turns that were forgotten since then, as far as that is still known: they do not come back."""
    facts_left_out: tuple[FactId, ...] = ()
    """Facts of that version that were forgotten or corrected since then: they do not come back."""


@dataclass(frozen=True, slots=True)
class Saved(Report):
    """A state is kept."""

    version: int
    """The version that was kept."""
    op_id: OpId
    name: str


@dataclass(frozen=True, slots=True)
class Deleted:
    """A snapshot is no more."""

    version: int
    """Of the forest; it is the same as before."""
    op_id: OpId
    name: str


Answered = Receipt | Forgotten | Restored | Saved | Deleted | Refreshed | ErrandDone | Lent | Returned
"""What a write is told when it is done."""
