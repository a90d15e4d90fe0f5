"""Bearings: when the happenings are that a question measures from, and which facts tell of them."""

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from memforest_ray.facts.candidates import Kind
from memforest_ray.facts.canonical import Fact
from memforest_ray.facts.expressions import find_times
from memforest_ray.ids import FactId
from memforest_ray.index.lexical import Floats
from memforest_ray.index.rows import index_words
from memforest_ray.index.strongest import strongest
from memforest_ray.index.vectors import Asked, similarities
from memforest_ray.query.inquiry import Inquiry, fact_order
from memforest_ray.query.steps import Vectors
from memforest_ray.query.temporal import TimeReading

__all__ = ["Bearings", "Span", "bearings_of"]

_CANDIDATES: Final = 16
"""Best matches of a happening's words among which its kind and likeness decide."""
_SHARE_MIN: Final = 0.5
"""Share of a happening's words that a fact must hold to be it ..."""
_SHARE_LIKE_MIN: Final = 0.25
"""... or, where the others may be in another form ("flying", "flew"), this share ..."""
_LIKE_MIN: Final = 0.5
"""... and this likeness."""


@dataclass(frozen=True, slots=True)
class Span:
    """When an anchor is, half-open, and the fact that says so, if it is one."""

    start_ms: int
    end_ms: int
    fact: Fact | None


@dataclass(frozen=True, slots=True)
class Bearings:
    """A reading with its anchors found."""

    reading: TimeReading
    spans: tuple[Span, ...] = ()
    """One for each anchor, or none when one of them was not found."""
    vectors: Vectors = field(default_factory=dict)

    @property
    def happenings(self) -> tuple[Fact, ...]:
        """The facts that tell of the anchors."""
        return tuple(span.fact for span in self.spans if span.fact is not None)

    def likeness(self, inquiry: Inquiry) -> Floats:
        """How much each fact is like what is asked for, apart from the time."""
        return _likeness(inquiry, self.vectors.get(self.reading.topic))


def bearings_of(inquiry: Inquiry, reading: TimeReading, vectors: Vectors) -> Bearings:
    """Find what `reading` measures from; `vectors` are those of its topic and anchors, where the embedder gave some."""
    spans = [_span_of(inquiry, anchor, vectors) for anchor in reading.anchors]
    found = tuple(span for span in spans if span is not None)
    return Bearings(reading, found if len(found) == len(spans) else (), vectors)


def _likeness(inquiry: Inquiry, vector: NDArray[np.floating[Any]] | None) -> Floats:
    """Of each fact with part of the question; with all of it where the part has no vector."""
    if vector is None or not vector.any():
        return inquiry.facts
    found = similarities(inquiry.version.index.facts.vectors, Asked.of(vector.astype(np.float32)))
    return found[inquiry.corpus.statements.facts]


def _span_of(inquiry: Inquiry, anchor: str, vectors: Vectors) -> Span | None:
    """When an anchor is: the time it names, else that of the fact which tells it."""
    times = find_times(anchor, inquiry.asked_ms, inquiry.request.zone)
    if times and not index_words(anchor[: times[0].start] + " " + anchor[times[0].end :]):
        return Span(*times[0].event.interval, None)
    fact = _happening(inquiry, anchor, vectors)
    if fact is None:
        return None
    if fact.event is not None:
        return Span(*fact.event.interval, fact)
    return None if fact.source_ms is None else Span(fact.source_ms, fact.source_ms + 1, fact)


def _happening(inquiry: Inquiry, anchor: str, vectors: Vectors) -> Fact | None:
    """The fact that tells of `anchor`: its words first, then that it happened, then its likeness."""
    terms = list(dict.fromkeys(index_words(anchor)))
    if not terms:
        return None
    statements = inquiry.corpus.statements
    share, likeness = statements.coverage(terms), _likeness(inquiry, vectors.get(anchor))
    ranked = share + 0.3 * likeness
    enough = (share >= _SHARE_MIN) | ((share >= _SHARE_LIKE_MIN) & (likeness >= _LIKE_MIN))
    ids = inquiry.version.index.facts.ids
    found: list[tuple[float, Fact]] = []
    for number in strongest(ranked, _CANDIDATES):
        fact = inquiry.fact(FactId(ids[statements.facts[number]])) if enough[number] else None
        if fact is not None and fact.kind is not Kind.PLAN:
            happened = 0.2 * (fact.kind in (Kind.TRANSITION, Kind.EVENT)) + 0.2 * _concerns(inquiry, fact)
            found.append((float(ranked[number]) + happened, fact))
    return min(found, key=lambda entry: (-round(entry[0], 6), fact_order(entry[1])))[1] if found else None


def _concerns(inquiry: Inquiry, fact: Fact) -> bool:
    """Whether the fact is of someone whom the question names."""
    return any(inquiry.question.names(name) for name in (fact.subject or "", fact.speaker) if name)
