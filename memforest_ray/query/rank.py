"""Rank: every fact and every turn of a corpus with one absolute score, then the candidates in order."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from memforest_ray.facts.candidates import CANDIDATES_MAX
from memforest_ray.ids import FactId, ItemId
from memforest_ray.index.lexical import Floats
from memforest_ray.index.table import UNKNOWN, Integers, sessions_of
from memforest_ray.query.inquiry import Inquiry, fact_order
from memforest_ray.query.temporal import TimeReading, within
from memforest_ray.trees.routing import entity_key
from memforest_ray.trees.tree import OrderKey, order_key

__all__ = ["Allowed", "Found", "Ranking", "Scores", "filtered", "in_order", "in_time", "leaf_order", "score"]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Weights of a logistic model over absolute signals: a cosine, a share of the question, yes or no.

    Fitted once to open dialogue, by maximum likelihood of the evidence among all facts and turns, on three
    conversations (with each left out in turn the recall was the same within 0.01), then rounded. A weight is what
    the evidence gains when its signal goes from 0 to 1.
    """

    bias: float = -11.0
    """Most of a memory answers nothing. Set so that 0.5 parts what answers from what does not."""
    temperature: float = 2.0
    """Divides the logit: signals go together, so their sum is surer of itself than it is right."""
    fact: float = 1.3
    """Likeness of the statement itself."""
    turn: float = 4.5
    """Likeness of the best statement of its turn: what was said in one breath belongs together."""
    cell: float = 2.8
    """Likeness of the cell around it: a reply is found through its question."""
    region: float = 3.3
    """Mean likeness of the cells around the four turns before and after."""
    window: float = 7.2
    """Share of the question's words in the turn with two on each side, where names and pronouns complete each other;
    or in the statement itself, where a model may have completed them."""
    words: float = 1.0
    """The same share in the statement alone: of those of one turn, the one that says it."""
    session: float = 3.6
    """The same share in the whole session: what it is about."""
    speaker: float = 1.0
    """The question names one person, and that one speaks."""
    length: float = 0.34
    """Per e-fold of words: "Sounds great!" answers nothing."""
    stated: float = 0.7
    """It is a fact, not a turn that holds none."""
    dated: float = 0.67
    """The question asks for a time, and the fact has one."""
    within: float = 1.75
    """The question names a time, and this lies in it."""
    tree: float = 1.05
    """Likeness, above `tree_floor`, of the node that a browse found it under."""
    tree_floor: float = 0.15
    """Likeness that most nodes have with most questions."""
    root_share: float = 0.5
    """Part of a tree's recall score that its root has; the best of its facts has the rest."""


@dataclass(frozen=True, slots=True)
class Scores:
    """One score in [0, 1] for each fact and each place (turn) of a corpus."""

    facts: Floats
    places: Floats


def score(inquiry: Inquiry, browsed: Mapping[ItemId, float], reading: TimeReading, ranking: Ranking) -> Scores:
    """Fuse what the question's words, vector, people and times say, and the browse."""
    dialogue, statements = inquiry.corpus.dialogue, inquiry.corpus.statements
    named = inquiry.question.named(inquiry.speakers)
    tree_facts, tree_cells = _spread(inquiry, browsed, ranking.tree_floor)
    cells = dialogue.best_of_cells(inquiry.cells)
    turns = statements.to_places(inquiry.facts, cells)
    around = (
        ranking.turn * turns
        + ranking.cell * cells
        + ranking.region * dialogue.region_mean(cells)
        + ranking.session * inquiry.sessions
    )
    facts = (
        statements.from_places(around)
        + ranking.window * np.maximum(inquiry.words, statements.from_places(inquiry.windows))
        + ranking.words * inquiry.words
        + ranking.stated
        + ranking.fact * inquiry.facts
        + ranking.length * np.log1p(statements.lengths)
        + ranking.speaker * (statements.speakers == named)
        + ranking.tree * np.maximum(tree_facts, statements.from_places(dialogue.best_of_cells(tree_cells)))
    )
    places = (
        around
        + ranking.window * inquiry.windows
        + ranking.fact * turns
        + ranking.length * np.log1p(dialogue.lengths)
        + ranking.speaker * (dialogue.speakers == named)
        + ranking.tree * dialogue.best_of_cells(tree_cells)
    )
    if inquiry.question.wants_time:
        facts = facts + ranking.dated * (statements.starts != UNKNOWN)
    if reading.names_time:
        unknown = np.full(len(dialogue.places), UNKNOWN)
        facts = facts + ranking.within * within(reading, statements.starts, statements.ends, statements.sources)
        places = places + ranking.within * within(reading, unknown, unknown, dialogue.sources)
    return Scores(_probability(facts, ranking), _probability(places, ranking))


def _spread(inquiry: Inquiry, browsed: Mapping[ItemId, float], floor: float) -> tuple[Floats, Floats]:
    """What the browse says of each fact and each cell, above `floor`; 0 for those that it did not come to."""
    statements, dialogue = inquiry.corpus.statements, inquiry.corpus.dialogue
    facts, cells = np.zeros(len(statements.facts), np.float32), np.zeros(len(dialogue.cells), np.float32)
    for item, likeness in browsed.items():
        row = inquiry.version.index.row_of(item)
        of_fact = item[0] == "f"
        numbers = statements.number_of_row if of_fact else dialogue.number_of_row
        number = -1 if row is None else numbers[row]
        if number >= 0:
            (facts if of_fact else cells)[number] = max(likeness - floor, 0.0)
    return facts, cells


def _probability(evidence: Floats, ranking: Ranking) -> Floats:
    """The logistic function, rounded so that equal evidence compares equal."""
    logit = (ranking.bias + evidence.astype(np.float64)) / ranking.temperature
    return np.round(1.0 / (1.0 + np.exp(-logit)), 6).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Found:
    """A fact, or a turn that no fact stands for, with its score."""

    score: float
    fact: FactId | None
    place: int
    """Number of the turn among the dialogue's places; -1 for a fact."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """Which facts and places may be hits."""

    facts: NDArray[np.bool_]
    places: NDArray[np.bool_]

    @property
    def any(self) -> bool:
        return bool(self.facts.any() or self.places.any())


def in_time(inquiry: Inquiry, reading: TimeReading) -> Allowed:
    """What lies between `since` and `until`, and, when the question asks for nothing but a time, in that time."""
    request, dialogue, statements = inquiry.request, inquiry.corpus.dialogue, inquiry.corpus.statements
    facts, places = np.ones(len(statements.facts), bool), np.ones(len(dialogue.places), bool)
    unknown = np.full(len(places), UNKNOWN)
    bounds = TimeReading(intervals=((request.since_ms, request.until_ms),))
    bounded = request.since_ms is not None or request.until_ms is not None
    for each in (bounds,) * bounded + (reading,) * reading.only_time:
        facts &= within(each, statements.starts, statements.ends, statements.sources)
        places &= within(each, unknown, unknown, dialogue.sources)
    return Allowed(facts, places)


def filtered(inquiry: Inquiry, allowed: Allowed) -> Allowed:
    """What the request's filters leave of `allowed`."""
    filters, registers = inquiry.request.filters, inquiry.version.index.registers
    dialogue, statements = inquiry.corpus.dialogue, inquiry.corpus.statements
    facts, places = allowed.facts.copy(), allowed.places.copy()
    if filters.speaker is not None:
        wanted = entity_key(filters.speaker)
        speakers = [number for number, name in inquiry.speakers.items() if entity_key(name) == wanted]
        facts &= np.isin(statements.speakers, speakers)
        places &= np.isin(dialogue.speakers, speakers)
    if filters.session_id is not None:
        inside = sessions_of(dialogue.places) == registers.sessions.get(filters.session_id)
        places &= inside
        facts &= statements.from_places(inside.astype(np.float32)) > 0
    if filters.entity is not None:
        facts &= _carrying(inquiry, entity_key(filters.entity))
        places &= False
    return Allowed(facts & (filters.kind != "cell"), places & (filters.kind != "fact"))


def _carrying(inquiry: Inquiry, key: str) -> NDArray[np.bool_]:
    """Facts that carry an entity."""
    statements, index = inquiry.corpus.statements, inquiry.version.index
    rows = [row for member in inquiry.version.entities.members(key) if (row := index.row_of(member)) is not None]
    carrying = np.zeros(len(statements.facts), bool)
    numbers = statements.number_of_row[np.array(rows, np.int64)]
    carrying[numbers[numbers >= 0]] = True
    return carrying


def in_order(inquiry: Inquiry, scores: Scores, allowed: Allowed) -> Iterator[Found]:
    """The best first: facts, and turns that no allowed fact stands for. Ties in the order of leaves.

    Of a cell that gave as many statements as one may give, more may be in its words: its turns are always shown.
    """
    facts = np.flatnonzero(allowed.facts)
    told = inquiry.corpus.statements.to_places(
        allowed.facts.astype(np.float32), np.zeros(len(allowed.places), np.float32)
    )
    cut = inquiry.corpus.places_with(CANDIDATES_MAX)
    places = np.flatnonzero(allowed.places & ((told == 0) | cut))
    values = np.concatenate([scores.facts[facts], scores.places[places]])
    order = np.argsort(-values, kind="stable")
    for _, run in groupby(order, key=lambda number: values[number]):
        entries = [_found(inquiry, int(number), facts, places, float(values[number])) for number in run]
        if len(entries) > 1:
            entries.sort(key=lambda found: leaf_order(inquiry, found))
        yield from entries


def _found(inquiry: Inquiry, number: int, facts: Integers, places: Integers, value: float) -> Found:
    value = round(value, 6)
    if number >= len(facts):
        return Found(value, None, int(places[number - len(facts)]))
    row = inquiry.corpus.statements.facts[facts[number]]
    return Found(value, FactId(inquiry.version.index.facts.ids[row]), -1)


def leaf_order(inquiry: Inquiry, found: Found) -> OrderKey:
    """Where it stands among leaves, a turn where its cell stands."""
    if found.fact is not None:
        fact = inquiry.version.facts.get(found.fact)
        if fact is not None:
            return fact_order(fact)
    session, turn = inquiry.turn(found.place)
    said = int(inquiry.corpus.dialogue.sources[found.place])
    return order_key(
        event_ms=None, source_ms=None if said == UNKNOWN else said, session_id=session, turn=turn, item=ItemId("")
    )
