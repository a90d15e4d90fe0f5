"""A memory without storage or models: sessions and candidates in, a version out."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from immutables import Map

from memforest_ray.commit.version import Birth, Version
from memforest_ray.facts.candidates import Candidate, Kind, Mention
from memforest_ray.facts.canonical import Facts
from memforest_ray.facts.cells import Cell, cut
from memforest_ray.facts.instants import parse_instant
from memforest_ray.facts.sessions import Session, SessionRecord, Turn, admit
from memforest_ray.facts.times import EventTime, Precision
from memforest_ray.facts.words import stem, words
from memforest_ray.ids import CellId, FactId, ItemId, SessionId
from memforest_ray.index.index import Index
from memforest_ray.index.rows import (
    Vector,
    cell_embedding_text,
    cell_row,
    fact_embedding_text,
    fact_row,
    node_row,
)
from memforest_ray.query.request import QueryRequest
from memforest_ray.query.result import Result
from memforest_ray.query.search import search
from memforest_ray.trees.edits import plan_edits, session_moves
from memforest_ray.trees.leaves import cell_leaf, fact_leaf
from memforest_ray.trees.nodes import Leaf
from memforest_ray.trees.routing import Entities
from memforest_ray.trees.scenes import Scenes, Thresholds

DIMENSION = 256
THRESHOLDS = Thresholds(0.70, 0.58, 0.88)
DAY_MS = 86_400_000


def vector_of(text: str) -> Vector:
    """A bag of stems, hashed: a stand-in for a model. A text without a Latin letter is unknown to it."""
    vector = np.zeros(DIMENSION)
    for word in words(text):
        if word.isascii():
            root = stem(word)
            place = int.from_bytes(root.encode()[:12].ljust(12, b"."), "big") % 251
            vector[place] += 1
    length = float(np.linalg.norm(vector))
    return (vector / length if length else vector).astype(np.float16)


class Memory:
    """What was said, and what was made of it."""

    def __init__(self) -> None:
        self.records: dict[SessionId, SessionRecord] = {}
        self.cells: dict[CellId, Cell] = {}
        self.mentions: list[Mention] = []

    def say(self, session: str, time: str | None, *turns: str, speaker: str = "Bob") -> None:
        """A session; a turn may name its speaker ("Ann: hello")."""
        spoken = [turn.partition(": ") if ": " in turn else (speaker, "", turn) for turn in turns]
        record = admit(Session(session, [Turn(text, name) for name, _, text in spoken], time=time)).record
        self.records[record.id] = record
        self.cells.update({cell.id: cell for cell in cut(record)})

    def state(self, session: str, turn: int, text: str, **fields: object) -> None:
        """A fact that a turn tells."""
        cell = next(
            cell
            for cell in self.cells.values()
            if cell.session_id == session and any(span.turn == turn for span in cell.spans)
        )
        record = self.records[SessionId(session)]
        speaker = record.turns[turn].speaker
        given: dict[str, object] = {"kind": Kind.DETAIL, "entities": (speaker,), **fields}
        candidate = replace(Candidate(text, Kind.DETAIL, speaker, "user", (turn,)), **given)  # type: ignore[arg-type]  # fields of Candidate, checked by it
        number = sum(mention.cell_id == cell.id for mention in self.mentions)
        self.mentions.append(Mention.of(cell.id, record.id, number, record.source_ms(turn), candidate))

    def told(self, session: str, time: str | None, text: str, **fields: object) -> None:
        """A session of one turn that tells one fact in the same words."""
        self.say(session, time, text)
        self.state(session, 0, text, **fields)

    def version(self) -> Version:
        facts = Facts().edit(self.mentions).facts
        records, cells = self.records, self.cells
        by_fact = {fact.id: vector_of(fact_embedding_text(fact)) for fact in facts}
        entities = Entities().edit(facts)
        scenes = Scenes(THRESHOLDS).edit(facts.in_order(), vector_of=lambda fact: by_fact[fact.id])

        def leaf(item: ItemId) -> Leaf:
            if item in cells:
                cell = cells[CellId(item)]
                return cell_leaf(records[cell.session_id], cell)
            fact = facts.get(FactId(item))
            assert fact is not None
            return fact_leaf(fact)

        moved = [(cell.session_id, cell.id) for cell in cells.values()]
        forest = plan_edits(
            Map(),
            Map(),
            {**session_moves(moved), **entities.moves, **scenes.moves},
            leaf_before=leaf,
            leaf_after=leaf,
            fanouts={"session": 4, "entity": 8, "scene": 8},
        )
        rows = [
            *(fact_row(fact, by_fact[fact.id]) for fact in facts),
            *(
                cell_row(cell, records[cell.session_id], vector_of(cell_embedding_text(cell, records[cell.session_id])))
                for cell in cells.values()
            ),
            *(node_row(node, scope) for scope, node in forest.added),
        ]
        birth = Birth(2, 8000, 6 * 3_600_000, Map())
        empty = Version.empty(birth, "00", THRESHOLDS, Index(DIMENSION).apply(rows))
        return replace(
            empty,
            number=1,
            sessions=Map(records),
            cells=Map(cells),
            facts=facts,
            entities=entities.entities,
            scenes=scenes.scenes,
            trees=forest.trees,
            placements=forest.placements,
        )

    def ask(self, text: str, **options: object) -> Result:
        """The result of a query to this memory."""
        return search(self.version(), QueryRequest.of(text, **options), vector_of(text))  # type: ignore[arg-type]  # any option


Texts = Callable[[Iterable[object]], list[str]]


@pytest.fixture
def memory() -> Memory:
    return Memory()


def ms(text: str) -> int:
    """An instant, written."""
    return parse_instant(text).ms


def days(first: str, count: int = 1) -> EventTime:
    """An event of whole days."""
    return EventTime(ms(first), ms(first) + count * DAY_MS, Precision.DAY if count == 1 else Precision.RANGE, first, None)


def texts(hits: Sequence[object] | Result) -> list[str]:
    """What hits say."""
    return [hit.text for hit in hits]  # type: ignore[attr-defined]  # hits
