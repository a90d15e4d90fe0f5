"""Scores, and what may be a hit."""

from dataclasses import replace
from typing import Any

import numpy as np

from memforest_ray.ids import ItemId
from memforest_ray.query.allowed import Allowed, filtered, in_time
from memforest_ray.query.browse import Browsed
from memforest_ray.query.inquiry import Inquiry, inquire
from memforest_ray.query.rank import Ranking, Scores, in_order, score
from memforest_ray.query.request import QueryRequest
from memforest_ray.query.timing.temporal import TimeReading
from memforest_ray.testing.memory import Memory, days, word_vector

NO_TIME = TimeReading()


def _inquiry(memory: Memory, text: str, **options: Any) -> Inquiry:
    return inquire(memory.version, QueryRequest.of(text, **options), word_vector(text))


def _two(memory: Memory) -> Memory:
    memory.told("s1", "2023-05-01", "Bob keeps bees", event=days("2023-05-01"))
    memory.told("s2", "2023-06-01", "Ann keeps bees", speaker="Ann")
    return memory


def _by_text(memory: Memory, inquiry: Inquiry, scores: Scores) -> dict[str, float]:
    ids = inquiry.version.index.facts.ids
    texts: dict[str, str] = {fact.id: fact.text for fact in memory.version.facts}
    rows = inquiry.corpus.statements.facts
    return {texts[ids[row]]: float(value) for row, value in zip(rows, scores.facts, strict=True)}


def test_the_named_speaker_is_preferred(memory: Memory) -> None:
    """By the weight of one signal."""
    inquiry = _inquiry(_two(memory), "Who is Ann, and what are bees?")
    plain = _by_text(memory, inquiry, score(inquiry, Browsed(), NO_TIME, replace(Ranking(), speaker=0.0)))
    liked = _by_text(memory, inquiry, score(inquiry, Browsed(), NO_TIME, Ranking()))
    assert liked["Ann keeps bees"] > plain["Ann keeps bees"]
    assert liked["Bob keeps bees"] == plain["Bob keeps bees"]


def test_a_browse_lifts_what_it_found(memory: Memory) -> None:
    """Above the floor that any node has."""
    inquiry = _inquiry(_two(memory), "bees")
    fact = next(fact for fact in memory.version.facts if fact.speaker == "Bob")
    plain = _by_text(memory, inquiry, score(inquiry, Browsed(), NO_TIME, Ranking()))
    lifted = _by_text(memory, inquiry, score(inquiry, Browsed({ItemId(fact.id): 0.9}), NO_TIME, Ranking()))
    floored = _by_text(memory, inquiry, score(inquiry, Browsed({ItemId(fact.id): 0.1}), NO_TIME, Ranking()))
    assert lifted["Bob keeps bees"] > plain["Bob keeps bees"] == floored["Bob keeps bees"]
    assert lifted["Ann keeps bees"] == plain["Ann keeps bees"]


def test_unknown_items_of_a_browse_are_passed_over(memory: Memory) -> None:
    """A leaf that this query may not see has no score."""
    inquiry = _inquiry(_two(memory), "bees", as_of="2023-05-15")
    assert len(score(inquiry, Browsed({ItemId("fgone"): 1.0}), NO_TIME, Ranking()).facts) == 1


def test_what_lies_in_the_interval_is_allowed(memory: Memory) -> None:
    """Facts by event, else source; turns by source."""
    inquiry = _inquiry(_two(memory), "bees", since="2023-05-01", until="2023-05-02")
    allowed = in_time(inquiry, NO_TIME)
    assert (int(allowed.facts.sum()), int(allowed.places.sum())) == (1, 1)
    assert allowed.any


def test_filters_narrow_what_is_allowed(memory: Memory) -> None:
    """Never widen it."""
    inquiry = _inquiry(_two(memory), "bees", speaker="ann")
    everything = in_time(inquiry, NO_TIME)
    assert (int(filtered(inquiry, everything).facts.sum()), int(filtered(inquiry, everything).places.sum())) == (1, 1)
    nothing = Allowed(np.zeros_like(everything.facts), np.zeros_like(everything.places))
    assert not filtered(inquiry, nothing).any


def test_order_is_by_score_then_leaf(memory: Memory) -> None:
    """The best first; equals as they stand in time; a turn only where no allowed fact stands for it."""
    inquiry = _inquiry(_two(memory), "bees")
    level = Scores(np.array([0.5, 0.5], np.float32), np.array([0.9, 0.9], np.float32))
    both = Allowed(np.ones(2, bool), np.ones(2, bool))
    ids = [found.fact for found in in_order(inquiry, level, both)]
    texts = {fact.id: fact.text for fact in memory.version.facts}
    assert [texts[name] for name in ids if name] == ["Bob keeps bees", "Ann keeps bees"]
    turns = list(in_order(inquiry, level, Allowed(np.zeros(2, bool), np.ones(2, bool))))
    assert [(found.fact, inquiry.turn(found.place)[0]) for found in turns] == [(None, "s1"), (None, "s2")]
