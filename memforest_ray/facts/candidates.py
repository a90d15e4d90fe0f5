"""Candidates: what an extractor says about one cell, before canonicalisation; mentions: candidates, kept whole."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from memforest_ray.facts.times import EventTime
from memforest_ray.ids import CellId, MentionId, SessionId, digest
from memforest_ray.models.usage import Usage

__all__ = [
    "CANDIDATES_MAX",
    "DOMAINS",
    "Candidate",
    "CellInput",
    "Extraction",
    "Extractor",
    "Kind",
    "Mention",
    "TurnInput",
]

CANDIDATES_MAX = 15
"""Most candidates that one cell may give: a bound on a reply, not a target."""

DOMAINS = (
    "home",
    "work",
    "study",
    "family",
    "people",
    "health",
    "food",
    "travel",
    "leisure",
    "money",
    "things",
    "other",
)
"""The closed list that gates scenes: facts of different domains never share one."""


class Kind(StrEnum):
    """What a statement is; decides how its time is compared."""

    EVENT = "event"
    STATE = "state"
    TRANSITION = "transition"
    PREFERENCE = "preference"
    CONSTRAINT = "constraint"
    PLAN = "plan"
    DETAIL = "detail"


@dataclass(frozen=True, slots=True)
class TurnInput:
    """One turn (or its part that lies in the cell) as an extractor sees it."""

    index: int
    """Position in the session, from 0."""
    speaker: str
    role: str
    text: str
    source_ms: int | None


@dataclass(frozen=True, slots=True)
class CellInput:
    """One cell as an extractor sees it: history-free, so that all cells can be extracted at once."""

    cell_id: CellId
    turns: tuple[TurnInput, ...]
    zone: str | None
    names: tuple[str, ...] = ()
    """People who have spoken up to this cell's end, in order of appearance, so that "you" can be resolved."""
    recurring: tuple[str, ...] = ()
    """Words of this cell that are in at least 3 of the turns up to its end: entity hints for scripts without case."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One statement found in a cell. `text` is self-contained and in the language of its source."""

    text: str
    kind: Kind
    speaker: str
    role: str
    turns: tuple[int, ...]
    """Indexes of its source turns in the session, ascending, at least one."""
    subject: str | None = None
    """Of a state, preference or transition: whose."""
    attribute: str | None = None
    """A short normal-form noun (residence, employer, phone): with `subject`, what makes a chain of states."""
    value: str | None = None
    """What the attribute is, where the statement says it in so many words ("Davis")."""
    entities: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    domain: str = "other"
    confidence: float = 1.0
    event: EventTime | None = None
    corrected_from: str | None = None
    """The fact that somebody put this in the place of; None for what an extractor said."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """What came of one cell: candidates, or the reason why there are none."""

    cell_id: CellId
    candidates: tuple[Candidate, ...] = ()
    failure: str | None = None
    """Set when the answer could not be used: the cell is failed, its dialogue stays searchable."""
    answered: bool = True
    """Whether the model answered at all, however badly."""
    usage: Usage = field(default_factory=Usage)
    """What it has cost."""


class Extractor(Protocol):
    """Finds candidates. One `Extraction` for each cell, in order; a failure is a value, not an exception."""

    async def extract(self, cells: Sequence[CellInput]) -> list[Extraction]:
        """Read `cells`, in any order and as many at once as it likes. Raises LLMUnavailable where no model answers."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A candidate with its place: the evidence that a fact is computed from."""

    id: MentionId
    cell_id: CellId
    session_id: SessionId
    number: int
    """The candidate's number in its cell."""
    source_ms: int | None
    """When it was said (its first source turn)."""
    candidate: Candidate

    @classmethod
    def of(
        cls, cell_id: CellId, session_id: SessionId, number: int, source_ms: int | None, candidate: Candidate
    ) -> "Mention":
        """The mention of `candidate`, its id made from its place."""
        return cls(MentionId("m" + digest(cell_id, number)), cell_id, session_id, number, source_ms, candidate)
