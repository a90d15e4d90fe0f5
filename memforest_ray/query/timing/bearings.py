"""Bearings: when the happenings are that a question measures from, and which facts tell of them."""

import re
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from memforest_ray.facts.candidates import Kind
from memforest_ray.facts.canonical import Fact
from memforest_ray.facts.expressions import find_times
from memforest_ray.facts.letters import UPPER
from memforest_ray.ids import FactId
from memforest_ray.index.lexical import Floats
from memforest_ray.index.rows import index_words
from memforest_ray.index.strongest import strongest
from memforest_ray.index.vectors import Asked, similarities
from memforest_ray.query.inquiry import Inquiry, fact_order
from memforest_ray.query.steps import Vectors
from memforest_ray.query.timing.directions import Direction
from memforest_ray.query.timing.temporal import TimeReading

__all__ = ["EXACT", "Bearings", "Span", "bearings_of"]

_CANDIDATES: Final = 16
"""Best matches of a happening's words among which its kind and likeness decide."""
_SHARE_MIN: Final = 0.5
"""Share of a happening's words that a fact must hold to be it ..."""
_SHARE_LIKE_MIN: Final = 0.25
"""... or, where the others may be in another form ("flying", "flew"), this share ..."""
_LIKE_MIN: Final = 0.5
"""... and this likeness."""
_HELD_MIN: Final = 0.75
"""Share of an anchor's words, in any form, from which a fact is it whatever its likeness."""
EXACT: Final = frozenset({Direction.SPAN, Direction.AGO})
"""Directions in which a wrong happening makes a wrong answer: a time between two other things."""
_NAME: Final = re.compile(rf"(?:(?<=\s)|^)(?!I\b)[{UPPER}][\w-]*")
_OF_THE_NAMED: Final = re.compile(r"(?:he|she|they|his|her|their|him|them|i|my|\w+ing)\b", re.IGNORECASE)
"""How an anchor begins that is of whoever is named elsewhere in the question."""
_SAME: Final = (
    "quit leave resign",
    "start begin join hire",
    "move relocate",
    "wedding marry married marriage",
    "birth born",
    "buy get purchase",
    "adopt get adoption",
    "visit go went trip travel fly flight see",
    "die death dead",
    "divorce separate split",
    "graduate graduation",
    "holiday vacation trip",
    "surgery operation operate",
    "meet met",
)
"""Words for one happening."""
_FORMS: Final = {
    term: frozenset(chain.from_iterable(line for line in map(index_words, _SAME) if term in line))
    for line in map(index_words, _SAME)
    for term in line
}
"""Of a term all those that may tell of the same happening."""


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
    unfound: tuple[str, ...] = ()
    """Anchors of which it is not known when they were."""
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
    told = _told_exactly if reading.direction in EXACT else _happening
    spans = {anchor: _span_of(inquiry, anchor, told(inquiry, anchor, vectors)) for anchor in reading.anchors}
    unfound = tuple(anchor for anchor, span in spans.items() if span is None)
    found = () if unfound else tuple(span for span in spans.values() if span is not None)
    return Bearings(reading, found, unfound, vectors)


def _likeness(inquiry: Inquiry, vector: NDArray[np.floating[Any]] | None) -> Floats:
    """Of each fact with part of the question; with all of it where the part has no vector."""
    if vector is None or not vector.any():
        return inquiry.facts
    found = similarities(inquiry.version.index.facts.vectors, Asked.of(vector.astype(np.float32)))
    return found[inquiry.corpus.statements.facts]


def _span_of(inquiry: Inquiry, anchor: str, fact: Fact | None) -> Span | None:
    """When an anchor is: the time it names, else that of the fact which tells it."""
    times = find_times(anchor, inquiry.asked_ms, inquiry.request.zone, asked=True)
    if times and not index_words(anchor[: times[0].start] + " " + anchor[times[0].end :]):
        return Span(*times[0].event.interval, None)
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


def _told_exactly(inquiry: Inquiry, anchor: str, vectors: Vectors) -> Fact | None:
    """The same where a time is measured: it must hold the anchor's names, and most of its words, in whatever form.

    Whose name the anchor holds must have said it, or be spoken of; where it only says what they did ("quitting"), those
    whom the question names.
    """
    people = {word for name in inquiry.speakers.values() for word in index_words(name)}
    terms = [term for term in dict.fromkeys(index_words(anchor)) if term not in people]
    names = {term for word in _NAME.findall(anchor) for term in index_words(word)}
    if not terms:
        return None
    whose = names & people
    if not whose and _OF_THE_NAMED.match(anchor):
        whose = people & set(inquiry.question.terms)
    forms = [_FORMS.get(term, frozenset({term})) for term in terms]
    near = inquiry.corpus.statements.coverage([word for each in forms for word in each])
    likeness = _likeness(inquiry, vectors.get(anchor))
    found: list[tuple[float, Fact]] = []
    for number in strongest(near + 0.3 * likeness, _CANDIDATES):
        fact = inquiry.fact(FactId(inquiry.version.index.facts.ids[inquiry.corpus.statements.facts[number]]))
        if fact is None or (fact.kind is Kind.PLAN and fact.event is None):
            continue
        said = set(index_words(fact.text))
        held = sum(not each.isdisjoint(said) for each in forms) / len(forms)
        concerned = whose <= said.union(*map(index_words, (fact.speaker, fact.subject or "")))
        if concerned and names - people <= said and _is_enough(held, float(likeness[number])):
            happened = 0.2 * (fact.kind in (Kind.TRANSITION, Kind.EVENT)) + 0.2 * _concerns(inquiry, fact)
            found.append((held + 0.3 * float(likeness[number]) + happened, fact))
    return min(found, key=lambda entry: (-round(entry[0], 6), fact_order(entry[1])))[1] if found else None


def _is_enough(held: float, likeness: float) -> bool:
    return held >= _HELD_MIN or (held >= _SHARE_MIN and likeness >= _LIKE_MIN)


def _concerns(inquiry: Inquiry, fact: Fact) -> bool:
    """Whether the fact is of someone whom the question names."""
    return any(inquiry.question.names(name) for name in (fact.subject or "", fact.speaker) if name)
