"""What stands in the index for a fact, a cell or a node of a tree.

Facts and cells are embedded, once per distinct text; a node takes the mean of its children unless a model wrote its
summary. The words of a cell are kept turn by turn, so that a turn can be found through the turns beside it.
"""

from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memforest_ray.facts.candidates import Mention
from memforest_ray.facts.canonical import Fact
from memforest_ray.facts.cells import Cell, cell_text
from memforest_ray.facts.sessions import SessionRecord
from memforest_ray.facts.times import to_datetime
from memforest_ray.facts.words import content_tokens, fold
from memforest_ray.ids import CellId, FactId, NodeId, ScopeId, SessionId
from memforest_ray.trees.tree import Leaf, Node

__all__ = [
    "CellRow",
    "FactRow",
    "NodeRow",
    "Passage",
    "Place",
    "Row",
    "Vector",
    "cell_embedding_text",
    "cell_row",
    "chain_name",
    "fact_embedding_text",
    "fact_row",
    "index_words",
    "mention_embedding_text",
    "node_row",
]

Vector: TypeAlias = NDArray[np.float16]
Place: TypeAlias = tuple[SessionId, int]
"""One turn: its session and its position there."""


class FactRow(NamedTuple):
    """A fact as the index sees it."""

    id: FactId
    vector: Vector | None
    text: str
    speaker: str
    places: tuple[Place, ...]
    """Its source turns, in the order of its mentions."""
    source_ms: int | None
    """When it was said first."""
    event_ms: tuple[int, int] | None
    """When it is true or happened, half-open."""
    chain: str | None = None
    """Whose and which attribute it tells (`chain_name`)."""


class Passage(NamedTuple):
    """A turn, or the part of a long one that lies in a cell."""

    turn: int
    speaker: str
    text: str
    source_ms: int | None


class CellRow(NamedTuple):
    """A cell as the index sees it; what was forgotten is not among its passages."""

    id: CellId
    vector: Vector | None
    session_id: SessionId
    passages: tuple[Passage, ...]


class NodeRow(NamedTuple):
    """A node of a tree. Without a vector of its own it takes the item-weighted mean of its children's."""

    id: NodeId
    scope: ScopeId
    level: int
    children: tuple[str, ...]
    """Node ids, or the item ids of leaves. Each stands in the index before its parent."""
    source_ms: int | None
    """Latest source time below it; unknown when any of it is unknown."""
    vector: Vector | None = None


Row: TypeAlias = FactRow | CellRow | NodeRow


def fact_row(fact: Fact, vector: Vector | None) -> FactRow:
    """What the index keeps of `fact`."""
    least, event = fact.mentions[0], fact.event
    return FactRow(
        id=fact.id,
        vector=vector,
        text=least.candidate.text,
        speaker=least.candidate.speaker,
        places=fact.turns,
        source_ms=least.source_ms,
        event_ms=None if event is None else event.interval,
        chain=chain_name(fact.subject, fact.attribute),
    )


def cell_row(cell: Cell, session: SessionRecord, vector: Vector | None) -> CellRow:
    """What the index keeps of `cell`."""
    said = [(span, session.turns[span.turn]) for span in cell.spans]
    passages = tuple(
        [
            Passage(span.turn, turn.speaker, turn.text[span.start : span.end], session.source_ms(span.turn))
            for span, turn in said
            if turn.hole is None
        ]
    )
    return CellRow(cell.id, vector, cell.session_id, passages)


def node_row(node: Node, scope: ScopeId, vector: Vector | None = None) -> NodeRow:
    """What the index keeps of `node`; `vector` only for a summary that a model wrote."""
    children = tuple(child.item if isinstance(child, Leaf) else child.id for child in node.children)
    latest = None if node.undated or node.source_ms is None else node.source_ms[1]
    return NodeRow(node.id, scope, node.level, children, latest, vector)


def chain_name(subject: str | None, attribute: str | None) -> str | None:
    """Under which facts of one subject and attribute meet; None when one of them is unknown."""
    if not subject or not attribute:
        return None
    return f"{_folded(subject)}\n{_folded(attribute)}"


@lru_cache(maxsize=1 << 14)
def _folded(name: str) -> str:
    return " ".join(fold(name).split())


def fact_embedding_text(fact: Fact) -> str:
    """What is embedded for a fact: the day it was said, who said it, what.

    Without the speaker's name a small model finds half as much; the day adds some points.
    """
    return mention_embedding_text(fact.mentions[0])


def mention_embedding_text(mention: Mention) -> str:
    """What is embedded for a statement: a fact has the vector of its least mention."""
    said, speaker = mention.candidate.text, mention.candidate.speaker
    return _day(mention.source_ms) + (said if speaker in said else f"{speaker}: {said}")


def cell_embedding_text(cell: Cell, session: SessionRecord) -> str:
    """What is embedded for a cell: the day, then its turns."""
    return _day(cell.source_ms) + cell_text(session, cell)


def _day(source_ms: int | None) -> str:
    if source_ms is None:
        return ""
    day = to_datetime(source_ms)
    return f"[{day.day} {day:%B} {day.year}] "


def index_words(text: str) -> list[str]:
    """The words under which a text is found: stems without stop words, which say nothing about it."""
    return content_tokens(text)
