"""An inquiry: one question held against one version of a forest, with every likeness that the stages share."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from memforest_ray.commit.version import Version
from memforest_ray.facts.canonical import Fact
from memforest_ray.facts.cells import Cell
from memforest_ray.ids import CellId, FactId, ItemId, SessionId
from memforest_ray.index.corpus import Corpus
from memforest_ray.index.foliage import NodeLikenesses
from memforest_ray.index.lexical import Floats
from memforest_ray.index.table import UNKNOWN, Integers, place_key, place_of
from memforest_ray.index.view import IndexView
from memforest_ray.query.nearness import (
    Said,
    Sessions,
    likenesses,
    likenesses_within,
    may_narrow,
    near_sessions,
    part_of,
    said_in,
    with_sessions_of,
)
from memforest_ray.query.question import Question
from memforest_ray.query.request import QueryRequest
from memforest_ray.query.speakers import own_speaker
from memforest_ray.query.timing.temporal import TimeReading, read_time
from memforest_ray.trees.routing import entity_key
from memforest_ray.trees.tree import Child, Leaf, Node, OrderKey, order_key

__all__ = ["Inquiry", "fact_order", "inquire", "rephrased", "widened"]


@dataclass(frozen=True, slots=True)
class Inquiry:
    """Shared by recall, browse, time and rank. Arrays run over the corpus: facts, places, cells by their numbers."""

    version: Version
    request: QueryRequest
    question: Question
    corpus: Corpus
    facts: Floats
    """Likeness of each fact: its vector's, or where vectors say nothing its words'."""
    words: Floats
    """Share of the question's words in each fact."""
    cells: Floats
    """Likeness of each cell."""
    nodes: NodeLikenesses
    """Likeness of each node, by row of the shelf."""
    windows: Floats
    """Share of the question's words at each place with the two on each side."""
    sessions: Floats
    """Share of the question's words in the session of each place."""
    has_vector: bool
    """Whether the embedder understood the question."""
    speakers: Mapping[int, str]
    """Who speaks in what it may see: number -> name."""
    asked_ms: int | None
    """When the question was asked, as far as known: else the latest time in what it may see."""
    reading: TimeReading
    """What it says about time."""
    near: NDArray[np.bool_] | None
    """Which sessions of the whole are near the question, where the corpus is only these."""

    def fact(self, id: FactId) -> Fact | None:  # noqa: A002 - the field's name
        """The fact as it was known at the instant asked for; None when it was not."""
        fact = self.version.facts.get(id)
        as_of = self.request.as_of_ms
        return fact if fact is None or as_of is None else fact.as_of(as_of)

    def fact_number(self, id: FactId) -> int:  # noqa: A002 - the field's name
        """A fact's number in the corpus; -1 when this query may not see it."""
        row = self.version.index.row_of(id)
        return -1 if row is None else int(self.corpus.statements.number_of_row[row])

    def allows(self, id: FactId, allowed: NDArray[np.bool_]) -> bool:  # noqa: A002 - the field's name
        """Whether a mask over the facts of the corpus holds this one."""
        number = self.fact_number(id)
        return number >= 0 and bool(allowed[number])

    def allows_leaf(self, leaf: Leaf, facts: NDArray[np.bool_], places: NDArray[np.bool_]) -> bool:
        """Whether masks over facts and places hold the leaf's fact, or a turn of its cell."""
        if leaf.item[0] == "f":
            return self.allows(FactId(leaf.item), facts)
        row = self.version.index.row_of(leaf.item)
        number = -1 if row is None else int(self.corpus.dialogue.number_of_row[row])
        return number >= 0 and bool(places[self.corpus.dialogue.places_in(number)].any())

    def cell_at(self, place: int) -> Cell:
        """The cell that holds a place, by its number; of a turn that was split the part most like the question."""
        dialogue = self.corpus.dialogue
        cells = dialogue.cells_at(place)
        best = cells[np.argmax(self.cells[cells])]
        return self.version.cells[CellId(self.version.index.cells.ids[dialogue.cells[best]])]

    def place_number(self, session: SessionId, turn: int) -> int:
        """A turn's number in the corpus; -1 when this query may not see it."""
        number = self.version.index.registers.sessions.get(session)
        return -1 if number is None else self.corpus.dialogue.number_of(place_key(number, turn))

    def known(self, node: Node) -> bool:
        """Whether everything below a node was said by the instant asked for."""
        as_of = self.request.as_of_ms
        if as_of is None:
            return True
        return not node.undated and node.source_ms is not None and node.source_ms[1] <= as_of

    def turn(self, place: int) -> tuple[SessionId, int]:
        """Session and position of a place, by its number."""
        session, turn = place_of(int(self.corpus.dialogue.places[place]))
        return SessionId(self.version.index.registers.sessions.names[session]), turn

    def may_show(self, rows: Integers) -> NDArray[np.bool_]:
        """Which nodes hold nothing that was said after the instant asked for."""
        as_of = self.request.as_of_ms
        if as_of is None:
            return np.ones(rows.shape, bool)
        return np.less_equal(self.version.index.nodes.table["latest"][rows], as_of)

    def likenesses_of(self, nodes: Integers, otherwise: Floats) -> Floats:
        """Those of nodes, by their rows; `otherwise` where a summary tells what is not to be known yet."""
        found = self.nodes.at(nodes)
        return found if self.request.as_of_ms is None else np.where(self.may_show(nodes), found, otherwise)

    def node_likeness(self, node: Node, otherwise: float) -> float:
        """The node's likeness; `otherwise` when its summary tells what is not to be known yet."""
        row = self.version.index.row_of(node.id)
        return otherwise if row is None or not self.known(node) else self.nodes.of(row)

    @property
    def bounded(self) -> bool:
        """Whether `overlaps` leaves anything out."""
        return self.request.since_ms is not None or self.request.until_ms is not None

    def overlaps(self, child: Child) -> bool:
        """Whether anything below lies, by event or source time, between `since` and `until`."""
        since, until = self.request.since_ms, self.request.until_ms
        if since is None and until is None:
            return True
        return any(
            span is not None and (until is None or span[0] < until) and (since is None or span[1] >= since)
            for span in (child.event_ms, child.source_ms)
        )


def fact_order(fact: Fact) -> OrderKey:
    """Where a fact stands among the leaves of any tree."""
    event = fact.event
    return order_key(
        event_ms=None if event is None else event.start_ms,
        source_ms=fact.source_ms,
        session_id=fact.session_id,
        turn=fact.turn,
        item=ItemId(fact.id),
    )


@dataclass(frozen=True, slots=True)
class _Held:
    """What a question says of a corpus: fields of an `Inquiry`."""

    corpus: Corpus
    facts: Floats
    cells: Floats
    nodes: NodeLikenesses
    said: Said

    @classmethod
    def against(
        cls, index: IndexView, whole: Corpus, terms: Sequence[str], query: Floats | None, near: Sessions | None
    ) -> "_Held":
        """All of a corpus, or those of its sessions that are near."""
        if query is None or near is None:
            said = said_in(whole, terms)
            return cls(whole, *likenesses(index, whole, query), said)
        part, said = part_of(whole, near, terms)
        return cls(part, *likenesses_within(index, part, query), said)

    @property
    def of_cells(self) -> Floats:
        return _likeness(self.cells, self.corpus.dialogue.to_cells(self.said.windows))


def inquire(version: Version, request: QueryRequest, vector: NDArray[np.floating[Any]] | None) -> Inquiry:
    """Hold a question against a version: all of it, or where graphs are the part that is near the question."""
    index = version.index
    corpus = index.corpus_as_of(request.as_of_ms)
    asked_ms = _asked_ms(request, corpus)
    names = index.registers.speakers.names
    speakers = {number: names[number] for number in corpus.speakers.tolist()}
    question = _question(version, request, speakers)
    reading = _reading(request, asked_ms, speakers.values())
    query = _known(vector)
    near = None
    if query is not None and may_narrow(index, request, reading):
        near = near_sessions(index, corpus, query, question, reading)
    held = _Held.against(index, corpus, question.terms, query, near)
    return Inquiry(
        version=version,
        request=request,
        question=question,
        corpus=held.corpus,
        facts=_likeness(held.facts, held.said.words),
        words=held.said.words,
        cells=held.of_cells,
        nodes=held.nodes,
        windows=held.said.windows,
        sessions=held.said.sessions,
        has_vector=query is not None,
        speakers=speakers,
        asked_ms=asked_ms,
        reading=reading,
        near=near,
    )


def widened(inquiry: Inquiry, vector: NDArray[np.floating[Any]] | None, chains: Collection[int]) -> Inquiry:
    """The same, if it looks at a part only: of these chains, by their numbers, it looks at all that tells them.

    At everything where that is too much, or where the dialogue of some of it is gone.
    """
    if inquiry.near is None or not chains:
        return inquiry
    index, whole = inquiry.version.index, inquiry.version.index.corpus
    facts = np.flatnonzero(np.isin(whole.statements.chains, list(chains)))
    rows = whole.statements.facts[facts]
    if _holds(inquiry.corpus, rows):
        return inquiry
    near = with_sessions_of(whole, inquiry.near, facts)
    query, terms = _known(vector), inquiry.question.terms
    held = _Held.against(index, whole, terms, query, near)
    if not _holds(held.corpus, rows):
        near, held = None, _Held.against(index, whole, terms, query, None)
    return replace(
        inquiry,
        corpus=held.corpus,
        facts=_likeness(held.facts, held.said.words),
        words=held.said.words,
        cells=held.of_cells,
        nodes=held.nodes,
        windows=held.said.windows,
        sessions=held.said.sessions,
        near=near,
    )


def _question(version: Version, request: QueryRequest, speakers: Mapping[int, str]) -> Question:
    question = Question.of(request.text)
    return replace(question, own=own_speaker(version, speakers)) if question.says_i else question


def _known(vector: NDArray[np.floating[Any]] | None) -> Floats | None:
    """A question's vector; None when the embedder does not understand it."""
    return None if vector is None or not vector.any() else vector.astype(np.float32)


def _holds(corpus: Corpus, facts: Integers) -> bool:
    """Whether all of these facts, by their rows, are in a corpus."""
    return bool((corpus.statements.number_of_row[facts] >= 0).all())


def _asked_ms(request: QueryRequest, corpus: Corpus) -> int | None:
    for given in (request.base_ms, request.as_of_ms):
        if given is not None:
            return given
    return None if corpus.latest_ms == UNKNOWN else corpus.latest_ms


def _reading(request: QueryRequest, asked_ms: int | None, speakers: Iterable[str]) -> TimeReading:
    """Words of the names of those who speak ask for nothing in particular."""
    names = frozenset(word for name in speakers for word in entity_key(name).split())
    dated = request.base_ms is not None or request.as_of_ms is not None
    return read_time(request.text, asked_ms, request.zone, names, dated=dated)


def rephrased(inquiry: Inquiry, vector: NDArray[np.floating[Any]]) -> Inquiry:
    """The same with the likenesses that another wording of the question has, by its vector."""
    query = vector.astype(np.float32) if vector.any() else None
    near = query is not None and not inquiry.nodes.complete
    index, corpus = inquiry.version.index, inquiry.corpus
    facts, cells, nodes = (
        likenesses_within(index, corpus, query) if near and query is not None else likenesses(index, corpus, query)
    )
    return replace(
        inquiry,
        facts=_likeness(facts, inquiry.words),
        cells=_likeness(cells, corpus.dialogue.to_cells(inquiry.windows)),
        nodes=nodes,
    )


AS_LIKENESS: Final = 2.0
"""What a share of words is worth where vectors say nothing: a text of mean length with every word of the question
once has a share of 1 / (k1 + 1) = 0.45, and a good answer a cosine of 0.5 to 0.9."""


def _likeness(dense: Floats, lexical: Floats) -> Floats:
    """The vectors' word where they have one: exactly 0 is what a text of unknown script has with anything."""
    return np.where(dense == 0, np.minimum(AS_LIKENESS * lexical, 1), dense)
