"""A memory without storage, models or event loop: what was said in, a version and answers out."""

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from immutables import Map
from numpy.typing import NDArray

from memforest_ray.commit.version import Birth, Version
from memforest_ray.effects import carried_out
from memforest_ray.facts.candidates import Candidate, Kind, Mention
from memforest_ray.facts.canonical import Facts
from memforest_ray.facts.cells import Cell, cut
from memforest_ray.facts.instants import parse_instant
from memforest_ray.facts.sessions import Session, SessionRecord, Turn, admit
from memforest_ray.facts.times import EventTime, Precision
from memforest_ray.facts.words import query_tokens
from memforest_ray.ids import CellId, FactId, ItemId, NodeId, SessionId, digest
from memforest_ray.index.index import Index
from memforest_ray.index.rows import (
    Row,
    Vector,
    cell_embedding_text,
    cell_row,
    fact_embedding_text,
    fact_row,
    node_row,
)
from memforest_ray.query.request import QueryRequest
from memforest_ray.query.result import Result
from memforest_ray.query.search import search_steps
from memforest_ray.query.steps import Consult, Effect, Steps, Tell, unanswered
from memforest_ray.query.wordings import vector_of, wordings
from memforest_ray.trees.edits import ForestEdit, plan_edits, session_moves
from memforest_ray.trees.leaves import cell_leaf, fact_leaf
from memforest_ray.trees.nodes import Leaf
from memforest_ray.trees.routing import Entities
from memforest_ray.trees.scenes import Scenes, Thresholds
from memforest_ray.trees.selection import select_lines
from memforest_ray.trees.summaries import RefreshPlan, Summary

__all__ = ["Memory", "days", "embedding", "instant", "word_vector"]

T = TypeVar("T")

DIMENSION = 256
_THRESHOLDS = Thresholds(0.70, 0.58, 0.88)
_DAY_MS = 86_400_000


def instant(text: str) -> int:
    """A written time, in ms."""
    return parse_instant(text).ms


def days(first: str, count: int = 1) -> EventTime:
    """An event of whole days."""
    start = instant(first)
    precision = Precision.DAY if count == 1 else Precision.RANGE
    return EventTime(start, start + count * _DAY_MS, precision, first, None)


def word_vector(text: str) -> Vector:
    """Texts are alike as far as they share words; one without a Latin letter is unknown, and zero."""
    vector = np.zeros(DIMENSION)
    for word in query_tokens(text):
        if word.isascii():
            vector[int(digest(word), 16) % DIMENSION] += 1
    length = float(np.linalg.norm(vector))
    return (vector / length if length else vector).astype(np.float16)


def embedding(steps: Steps[T]) -> T:
    """What steps come to with word vectors, and without a chat model."""
    return carried_out(steps, _answer)


def _answer(effect: Effect) -> Any:
    if isinstance(effect, Consult | Tell):
        return unanswered(effect)
    return {text: word_vector(text) for text in effect.texts}


class Memory:
    """What was said, and what was made of it."""

    def __init__(self) -> None:
        self.records: dict[SessionId, SessionRecord] = {}
        self.cells: dict[CellId, Cell] = {}
        self.mentions: list[Mention] = []
        self._version: Version | None = None

    def say(self, session: str, time: str | None, *turns: tuple[str, str]) -> None:
        """A session of turns: speaker and text."""
        spoken = [Turn(text, speaker) for speaker, text in turns]
        record = admit(Session(session, spoken, time=time)).record
        self.records[record.id] = record
        self.cells.update({cell.id: cell for cell in cut(record)})
        self._version = None

    def state(self, session: str, turn: int, text: str, **fields: Any) -> None:
        """A fact that a turn tells; `fields` are those of a candidate."""
        record = self.records[SessionId(session)]
        held = (cell for cell in self.cells.values() if cell.session_id == session)
        cell = next(cell for cell in held if any(span.turn == turn for span in cell.spans))
        speaker, role = record.turns[turn].speaker, record.turns[turn].role
        plain = Candidate(text, Kind.DETAIL, speaker, role, (turn,), entities=(speaker,))
        number = sum(mention.cell_id == cell.id for mention in self.mentions)
        candidate = replace(plain, **fields)
        self.mentions.append(Mention.of(cell.id, record.id, number, record.source_ms(turn), candidate))
        self._version = None

    def told(self, session: str, time: str | None, text: str, speaker: str = "Bob", **fields: Any) -> None:
        """A session of one turn that tells one fact in the same words."""
        self.say(session, time, (speaker, text))
        self.state(session, 0, text, **fields)

    @property
    def version(self) -> Version:
        """All of it, as one commit would have made it."""
        if self._version is None:
            self._version = self._made()
        return self._version

    def ask(self, text: str, **options: Any) -> Result:
        """What a query finds without a chat model; `options` are those of `QueryRequest.of`."""
        request = QueryRequest.of(text, **options)
        return embedding(search_steps(self.version, request, self.vector(request)))

    def vector(self, request: QueryRequest) -> NDArray[np.float32] | None:
        """What the question is looked up by, with word vectors."""
        texts = wordings(self.version, request)
        return vector_of(texts, {text: word_vector(text) for text in texts})

    def _made(self) -> Version:
        facts = Facts().edit(self.mentions).facts
        vectors = {fact.id: word_vector(fact_embedding_text(fact)) for fact in facts}
        entities = Entities().edit(facts)
        scenes = Scenes(_THRESHOLDS).edit(facts.in_order(), vector_of=lambda fact: vectors[fact.id])
        moves = {**session_moves((cell.session_id, cell.id) for cell in self.cells.values())}
        forest = self._planted(facts, {**moves, **entities.moves, **scenes.moves})
        rows: list[Row] = [fact_row(fact, vectors[fact.id]) for fact in facts]
        rows += [self._cell_row(cell) for cell in self.cells.values()]
        rows += [node_row(node, scope) for scope, node in forest.added]
        birth = Birth(2, 8000, 6 * 3_600_000, Map())
        return replace(
            Version.empty(birth, "00", _THRESHOLDS, Index(DIMENSION).apply(rows)),
            number=1,
            sessions=Map(self.records),
            cells=Map(self.cells),
            facts=facts,
            entities=entities.entities,
            scenes=scenes.scenes,
            trees=forest.trees,
            placements=forest.placements,
            summaries=Map(_summaries(forest)),
        )

    def _cell_row(self, cell: Cell) -> Row:
        record = self.records[cell.session_id]
        return cell_row(cell, record, word_vector(cell_embedding_text(cell, record)))

    def _planted(self, facts: Facts, moves: Any) -> ForestEdit:
        def leaf(item: ItemId) -> Leaf:
            cell = self.cells.get(CellId(item))
            if cell is not None:
                return cell_leaf(self.records[cell.session_id], cell)
            fact = facts.get(FactId(item))
            assert fact is not None
            return fact_leaf(fact)

        fanouts = {"session": 4, "entity": 8, "scene": 8}
        return plan_edits(Map(), Map(), moves, leaf_before=leaf, leaf_after=leaf, fanouts=fanouts)


def _summaries(forest: ForestEdit) -> dict[NodeId, Summary]:
    """Of every node, by selection."""
    plan = RefreshPlan(forest.added, summaries={}, model="select-1")
    while not plan.finished:
        for request in plan.ready():
            lines = [line for text in request.texts for line in text.splitlines()]
            plan.done(request.node_id, "\n".join(select_lines(lines, request.chars_max)), "select")
    return plan.results()
