"""Rank: every fact and every turn of a corpus with one absolute score, then the candidates in order."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memforest_ray.ids import FactId, ItemId
from memforest_ray.index.lexical import Floats
from memforest_ray.index.strongest import strongest
from memforest_ray.index.table import UNKNOWN, Integers
from memforest_ray.query.allowed import Allowed
from memforest_ray.query.browse import Browsed, Reached
from memforest_ray.query.inquiry import Inquiry, fact_order
from memforest_ray.query.rereading import Reread
from memforest_ray.query.timing.anniversaries import yearly
from memforest_ray.query.timing.temporal import TimeReading, told_ahead, within
from memforest_ray.trees.tree import OrderKey, order_key

__all__ = ["Found", "Ranking", "Scores", "in_order", "leaf_order", "score", "without"]


_FIRST: Final = 256
"""Facts and places that are put in order at once: more than most queries show."""


_GRAINS: Final = np.float32(1e6)
"""Scores that are told apart."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Weights of a logistic model over absolute signals: a cosine, a share of the question, yes or no.

    Fitted once to open dialogue, by maximum likelihood of the evidence among all facts and turns, on three
    conversations (with each left out in turn the recall was the same within 0.01), then rounded. A weight is what
    the evidence gains when its signal goes from 0 to 1.
    """

    bias: float = -10.5
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
    speaker: float = 2.0
    """The question names one person, and that one speaks."""
    length: float = 0.34
    """Per e-fold of words: "Sounds great!" answers nothing."""
    stated: float = 0.7
    """It is a fact, not a turn that holds none."""
    dated: float = 0.67
    """The question asks for a time, and the fact has one."""
    within: float = 1.75
    """The question names a time, and this lies in it."""
    ahead: float = 1.0
    """The question asks for what is to come, and this was told before it was to happen; and once more, when it lies
    after the instant at which the question is asked."""
    tree: float = 1.05
    """Likeness, above `tree_floor`, of the node that a browse found it under."""
    tree_floor: float = 0.15
    """Likeness that most nodes have with most questions."""
    judged: float = 6.0
    """What a model that was shown it says of it, from 0 to 1: as much as all words and likenesses of a good answer."""
    untimely: float = 3.0
    """Taken from what is known to be of another time than the question asks for."""
    root_share: float = 0.5
    """Part of a tree's recall score that its root has; the best of its facts has the rest."""


@dataclass(frozen=True, slots=True)
class Scores:
    """One score in [0, 1] for each fact and each place (turn) of a corpus, and what it is made of."""

    facts: Floats
    places: Floats
    fact_parts: Mapping[str, Floats] = field(default_factory=dict)
    """What each signal gives to each fact."""
    place_parts: Mapping[str, Floats] = field(default_factory=dict)
    shared: Mapping[str, Floats] = field(default_factory=dict)
    """What each signal gives to each place and, the best of theirs, to its facts."""
    untimely: NDArray[np.bool_] | None = None
    """Which facts are known to be of another time than the question asks for."""

    def parts_of_fact(self, inquiry: Inquiry, number: int) -> tuple[tuple[str, float], ...]:
        """What each signal gives to a fact, the greatest first; of its dialogue the best place's."""
        statements = inquiry.corpus.statements
        places = statements.told.of_left(number)
        around = sum(self.shared.values(), np.zeros(len(self.places), np.float32))[places]
        best = int(places[np.argmax(around)]) if len(places) else -1
        return _parts(self.fact_parts, number) if best < 0 else _joined(self, self.fact_parts, number, best)

    def parts_of_place(self, number: int) -> tuple[tuple[str, float], ...]:
        """What each signal gives to a place, the greatest first."""
        return _joined(self, self.place_parts, number, number)


def _joined(scores: Scores, own: Mapping[str, Floats], number: int, place: int) -> tuple[tuple[str, float], ...]:
    found = {**dict(_parts(own, number)), **dict(_parts(scores.shared, place))}
    return tuple(sorted(found.items(), key=lambda part: -abs(part[1])))


def _parts(parts: Mapping[str, Floats], number: int) -> tuple[tuple[str, float], ...]:
    return tuple((name, float(values[number])) for name, values in parts.items() if values[number])


def score(
    inquiry: Inquiry, browsed: Browsed, reading: TimeReading, ranking: Ranking, again: Reread | None = None
) -> Scores:
    """Fuse what the question's words, vector, people and times say, the browse, and what was read `again`."""
    if browsed.own is not None:
        own = browsed.own
        inquiry = replace(
            inquiry, facts=np.maximum(inquiry.facts, own.facts), cells=np.maximum(inquiry.cells, own.cells)
        )
    told = _Told.of(inquiry)
    found = _found_in_trees(inquiry, browsed, ranking)
    shared = _shared(inquiry, ranking, told)
    around = sum(shared.values(), np.zeros(len(inquiry.corpus.dialogue.places), np.float32))
    of_models = Reached.of(inquiry, browsed.judged) if browsed.judged else None
    facts = _fact_parts(inquiry, ranking, told, found, of_models)
    places = _place_parts(inquiry, ranking, told, found, of_models)
    if again is not None:
        places["passage"] = _passages(inquiry, again, ranking, told)
    if reading.names_time:
        dialogue, statements = inquiry.corpus.dialogue, inquiry.corpus.statements
        unknown = np.full(len(dialogue.places), UNKNOWN)
        inside = within(reading, statements.starts, statements.ends, statements.sources)
        facts["within"] = np.float32(ranking.within) * inside
        places["within"] = np.float32(ranking.within) * within(reading, unknown, unknown, dialogue.sources)
    if reading.ahead:
        facts["ahead"] = np.float32(ranking.ahead) * _ahead(inquiry)
    return Scores(
        _probability(sum(facts.values(), inquiry.corpus.statements.from_places(around)), ranking),
        _probability(sum(places.values(), around), ranking),
        facts,
        places,
        shared,
    )


@dataclass(frozen=True, slots=True)
class _FoundInTrees:
    """How far above the floor the nodes are under which a browse came to facts and places."""

    facts: Floats
    places: Floats


def _found_in_trees(inquiry: Inquiry, browsed: Browsed, ranking: Ranking) -> _FoundInTrees:
    reached, floor = browsed.reached, np.float32(ranking.tree_floor)
    if reached is None or browsed.leaves:
        reached = Reached.of(inquiry, browsed.leaves).joined(reached)
    places = inquiry.corpus.dialogue.best_of_cells(np.maximum(reached.cells - floor, 0))
    facts = np.maximum(reached.facts - floor, inquiry.corpus.statements.from_places(places))
    return _FoundInTrees(np.maximum(facts, 0), places)


def _ahead(inquiry: Inquiry) -> Floats:
    """Of each fact, whether it was told ahead, plus whether it is still to come."""
    statements, asked_ms = inquiry.corpus.statements, inquiry.asked_ms
    known = statements.starts != UNKNOWN
    told = told_ahead(statements.starts, statements.sources)
    coming = known & (statements.ends > asked_ms) if asked_ms is not None else np.zeros(len(known), bool)
    return np.asarray(told.astype(np.float32) + coming, np.float32)


def without(
    scores: Scores, untimely: NDArray[np.bool_] | None, elsewhere: NDArray[np.bool_] | None, ranking: Ranking
) -> Scores:
    """The same with what is untimely held back, and what lies elsewhere only marked as untimely."""
    if untimely is None and elsewhere is None:
        return scores
    untimely = np.zeros(len(scores.facts), bool) if untimely is None else untimely
    marked = untimely if elsewhere is None else untimely | elsewhere
    if not marked.any():
        return scores
    certain = scores.facts.astype(np.float64)
    odds = np.exp(-ranking.untimely / ranking.temperature) * certain / np.maximum(1 - certain, 1e-9)
    facts = np.where(untimely, np.round(odds / (1 + odds), 6), certain).astype(np.float32)
    parts = {**scores.fact_parts, "untimely": np.float32(-ranking.untimely) * untimely}
    return replace(scores, facts=facts, fact_parts=parts, untimely=marked)


@dataclass(frozen=True, slots=True)
class _Told:
    """What several signals are made of, by number of the place; and who is named."""

    cells: Floats
    """Likeness of the cell around it."""
    turns: Floats
    """Likeness of the best statement of it, the cell's where there is none."""
    speaker: int
    """The number of the one speaker whom the question names; -1 for none."""

    @classmethod
    def of(cls, inquiry: Inquiry) -> "_Told":
        cells = inquiry.corpus.dialogue.best_of_cells(inquiry.cells)
        turns = inquiry.corpus.statements.to_places(inquiry.facts, cells)
        named = inquiry.question.named(inquiry.speakers)
        return cls(cells, turns, -1 if named is None else named)


def _shared(inquiry: Inquiry, ranking: Ranking, told: _Told) -> dict[str, Floats]:
    return {
        "turn": np.float32(ranking.turn) * told.turns,
        "cell": np.float32(ranking.cell) * told.cells,
        "region": np.float32(ranking.region) * inquiry.corpus.dialogue.region_mean(told.cells),
        "session": np.float32(ranking.session) * inquiry.sessions,
    }


def _fact_parts(
    inquiry: Inquiry, ranking: Ranking, told: _Told, found: _FoundInTrees, of_models: Reached | None
) -> dict[str, Floats]:
    statements = inquiry.corpus.statements
    windows = np.maximum(inquiry.words, statements.from_places(inquiry.windows))
    parts = {
        "fact": np.float32(ranking.fact) * inquiry.facts,
        "window": np.float32(ranking.window) * windows,
        "words": np.float32(ranking.words) * inquiry.words,
        "speaker": np.float32(ranking.speaker) * (statements.speakers == told.speaker),
        "length": np.float32(ranking.length) * statements.breadth,
        "stated": np.full(len(statements.facts), ranking.stated, np.float32),
        "tree": np.float32(ranking.tree) * found.facts,
    }
    if of_models is not None:
        parts["judged"] = np.float32(ranking.judged) * np.maximum(of_models.facts, 0)
    if inquiry.question.wants_time:
        parts["dated"] = np.float32(ranking.dated) * ((statements.starts != UNKNOWN) | yearly(inquiry))
    return parts


def _place_parts(
    inquiry: Inquiry, ranking: Ranking, told: _Told, found: _FoundInTrees, of_models: Reached | None
) -> dict[str, Floats]:
    dialogue = inquiry.corpus.dialogue
    parts = {
        "fact": np.float32(ranking.fact) * told.turns,
        "window": np.float32(ranking.window) * inquiry.windows,
        "speaker": np.float32(ranking.speaker) * (dialogue.speakers == told.speaker),
        "length": np.float32(ranking.length) * dialogue.breadth,
        "tree": np.float32(ranking.tree) * found.places,
    }
    if of_models is not None:
        parts["judged"] = np.float32(ranking.judged) * np.maximum(dialogue.best_of_cells(of_models.cells), 0)
    return parts


def _passages(inquiry: Inquiry, again: Reread, ranking: Ranking, told: _Told) -> Floats:
    """What a passage adds to a place: as if the place said nothing else."""
    added = (
        (ranking.turn + ranking.fact) * np.maximum(again.likeness - told.turns, 0)
        + ranking.cell * np.maximum(again.likeness - told.cells, 0)
        + ranking.window * np.maximum(again.words - inquiry.windows, 0)
        + ranking.stated
    )
    return np.where(again.likeness > 0, added, 0).astype(np.float32)


def _probability(evidence: Floats, ranking: Ranking) -> Floats:
    """The logistic function, rounded so that equal evidence compares equal."""
    values = evidence + np.float32(ranking.bias)
    values *= np.float32(-1 / ranking.temperature)
    np.exp(values, out=values)
    values += 1
    np.divide(_GRAINS, values, out=values)
    np.rint(values, out=values)
    values /= _GRAINS
    return values


@dataclass(frozen=True, slots=True)
class Found:
    """A fact, or a turn that no fact stands for, with its score."""

    score: float
    fact: FactId | None
    place: int
    """Number of the turn among the dialogue's places; -1 for a fact."""


def in_order(inquiry: Inquiry, scores: Scores, allowed: Allowed) -> Iterator[Found]:
    """The best first: facts, and turns that no allowed fact stands for. Ties in the order of leaves.

    Of a cell that gave as many statements as one may give, more may be in its words: its turns are always shown.
    """
    facts = np.flatnonzero(allowed.facts)
    places = np.flatnonzero(allowed.places & _told_by_none(inquiry, allowed))
    values = np.concatenate([scores.facts[facts], scores.places[places]])
    for value, run in groupby(_descending(values), key=itemgetter(0)):
        entries = [_found(inquiry, number, facts, places, value) for _, number in run]
        if len(entries) > 1:
            entries.sort(key=lambda found: leaf_order(inquiry, found))
        yield from entries


def _told_by_none(inquiry: Inquiry, allowed: Allowed) -> NDArray[np.bool_]:
    """Places that no allowed fact stands for, and those of which facts may not tell all."""
    corpus = inquiry.corpus
    if allowed.facts.all():
        return corpus.shown
    told = corpus.statements.to_places(allowed.facts.astype(np.float32), np.zeros(len(allowed.places), np.float32))
    return np.equal(told, 0) | corpus.crowded


def _descending(values: Floats) -> Iterator[tuple[float, int]]:
    """Values with their numbers, the highest first, equals in order; the many after the first few when asked for."""
    first = strongest(values, _FIRST)
    yield from _sorted(values, first)
    if len(first) < len(values):
        yield from _sorted(values, np.flatnonzero(values < values[first].min()))


def _sorted(values: Floats, numbers: Integers) -> Iterator[tuple[float, int]]:
    mine = values[numbers]
    order = np.argsort(-mine, kind="stable")
    return zip(mine[order].tolist(), numbers[order].tolist(), strict=True)


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
