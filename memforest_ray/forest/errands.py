"""Errands: what may be asked of a forest beyond reading in, forgetting and keeping; and what each is answered."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from memforest_ray.forest.reports import PricedReport, Report
from memforest_ray.ids import FactId, OpId, SessionId, TurnId, UserId
from memforest_ray.models.usage import Usage

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
    landed: bool = True
    """Whether it is made; else it may still be on its way."""

    @property
    def subject(self) -> str:
        return self.loan


@dataclass(frozen=True, slots=True)
class Merged(PricedReport):
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


@dataclass(frozen=True, slots=True)
class Corrected(Report):
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


@dataclass(frozen=True, slots=True)
class Renewed(Report):
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
    refreshed: bool = True
    """Whether these are there, too; else the old ones serve, and they are tried again (`notes` say why)."""
    vectors: int = 0
    """That have changed."""
    usage: Mapping[str, Usage] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        return self.what


@dataclass(frozen=True, slots=True)
class Reembedded(Report):
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


Errand: TypeAlias = Merge | Correct | Renew
ErrandDone: TypeAlias = Merged | Corrected | Renewed | Reembedded
ERRAND_ANSWERS: Mapping[type, type[ErrandDone]] = {Merge: Merged, Correct: Corrected, Renew: Renewed}
