"""Work: what is known so far of a forest's next version, step by step; and what a batch came to."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from memforest_ray.commit.changes import Changes
from memforest_ray.commit.journal import News
from memforest_ray.commit.version import Vector, Version
from memforest_ray.errors import MemForestError
from memforest_ray.facts.candidates import CellInput, Extraction, Mention
from memforest_ray.facts.canonical import FactsEdit
from memforest_ray.facts.cells import Cell
from memforest_ray.facts.inputs import cell_inputs
from memforest_ray.forest.adoption import Adoption, Grafts
from memforest_ray.forest.comparing import Compared
from memforest_ray.forest.dialogue import Dialogue
from memforest_ray.forest.errands import ErrandDone
from memforest_ray.forest.intents import Forgotten, Receipt, Refreshed, Restored
from memforest_ray.ids import AtomId, CellId, NodeId, ScopeId, SessionId
from memforest_ray.index.rows import Row
from memforest_ray.models.usage import Usage
from memforest_ray.trees.nodes import Node
from memforest_ray.trees.summaries import Summary

__all__ = ["Answer", "Takeover", "Work", "Written"]

Answer = Receipt | Forgotten | Restored | Refreshed | ErrandDone | MemForestError
"""Of one write: an error is an answer too, and does not keep the others of its batch from landing."""


@dataclass(frozen=True, slots=True)
class Takeover:
    """What comes from another forest and need not be made: with a merge; any other write takes over nothing."""

    adoption: Adoption | None = None
    told: Mapping[CellId, tuple[Mention, ...]] = field(default_factory=dict)
    """What the write's cells have told there."""
    origins: Mapping[SessionId, tuple[str, ...]] = field(default_factory=dict)
    """Of sessions that come: through whose hands, the nearest first."""
    lineage: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """What is new of `Version.lineage`."""

    @property
    def vectors(self) -> Mapping[str, Vector]:
        """Those that are known already, by text."""
        return {} if self.adoption is None else self.adoption.vectors


class Work:
    """A batch under way."""

    def __init__(self, version: Version, dialogue: Dialogue) -> None:
        self.version = version
        """What it starts from."""
        self.dialogue = dialogue
        self.born = dialogue.born
        self.dead = dialogue.dead
        self.retry = dialogue.retry
        self.extractions: dict[CellId, Extraction] = {}
        self.facts = FactsEdit(version.facts)
        self.vectors: dict[str, Vector] = {}
        """Of facts, cells and summaries that have to be written."""
        self.made: dict[NodeId, Summary] = {}
        """New summaries, children before parents."""
        self.summarised = Usage()
        """What they have cost."""
        self.judging = False
        """Whether somebody judges: then every statement keeps its vector, for later ones to be compared with."""
        self.compared_before: Sequence[Compared] = ()
        """What vectors were held against before its turn came."""
        self.compared: Compared | None = None
        """What they are held against now."""
        self.draining = False
        """Whether pairs that earlier writes left pending are to be judged, too."""
        self.judged = Usage()
        """What verdicts have cost."""
        self.takeover = Takeover()
        self.grafts = Grafts()
        """What of its trees comes whole."""

    @property
    def idle(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.born or self.dead or self.retry or self.dialogue.touched)

    @property
    def moved(self) -> set[AtomId]:
        """Atoms that may be shown otherwise than before: that lead a fact, or do no more, or have come or gone."""
        return {*self.facts.touched, *(AtomId(fact.id) for fact in self.facts.added)}

    @property
    def spoken(self) -> list[Cell]:
        """New cells of which something is left: one whose turns were all forgotten has no leaf, no row, no vector."""
        sessions = self.dialogue.sessions
        return [
            cell
            for cell in self.born.values()
            if any(sessions[cell.session_id].turns[span.turn].hole is None for span in cell.spans)
        ]

    def inputs(self) -> tuple[CellInput, ...]:
        """What an extractor is to be shown; cells of which nothing is left are passed over."""
        by_session: dict[SessionId, list[Cell]] = {}
        for cell in (*self.born.values(), *self.retry.values()):
            by_session.setdefault(cell.session_id, []).append(cell)
        return tuple(_shown(self.dialogue, by_session))


def _shown(dialogue: Dialogue, cells: dict[SessionId, list[Cell]]) -> Iterable[CellInput]:
    for session, mine in cells.items():
        for shown in cell_inputs(dialogue.sessions[session], sorted(mine, key=lambda cell: cell.number)):
            if shown.turns:
                yield shown


@dataclass(frozen=True, slots=True)
class Written:
    """What a batch makes of a version; nothing has happened yet."""

    version: Version
    """The next version, but for its number (`receipts.seal`) and its index; the given one when nothing is new."""
    changes: Changes = field(default_factory=Changes)
    add: tuple[Row, ...] = ()
    """Index rows, children before the nodes above them."""
    drop: tuple[str, ...] = ()
    answers: tuple[Answer, ...] = ()
    """One for each write of the batch, in order."""
    news: News | None = None
    """What came, changed and went, but for the numbers; for the journal."""
    erases: bool = False
    """Text was removed: an erasure must follow the commit."""
    stale: tuple[tuple[ScopeId, Node], ...] = ()
    """Nodes that it leaves with a stand-in, children before parents: their summaries are to follow."""
