"""Allowed: which facts and turns may be hits, by time and by the filters of a request."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memforest_ray.facts.canonical import Fact
from memforest_ray.ids import FactId
from memforest_ray.index.table import UNKNOWN, sessions_of
from memforest_ray.query.inquiry import Inquiry
from memforest_ray.query.request import FACT_KINDS, NO_FILTERS
from memforest_ray.query.timing.anniversaries import naming
from memforest_ray.query.timing.temporal import TimeReading, told_after, within
from memforest_ray.trees.routing import entity_key

__all__ = ["Allowed", "filtered", "in_time"]


@dataclass(frozen=True, slots=True)
class Allowed:
    """Which facts and places may be hits."""

    facts: NDArray[np.bool_]
    places: NDArray[np.bool_]

    @property
    def any(self) -> bool:
        return bool(self.facts.any() or self.places.any())


def in_time(inquiry: Inquiry, reading: TimeReading) -> Allowed:
    """What lies between `since` and `until`, and, when the question asks for nothing but a time, in that time;
    of what is asked for as planned nothing that had happened when it was told.
    """
    request, dialogue, statements = inquiry.request, inquiry.corpus.dialogue, inquiry.corpus.statements
    facts, places = np.ones(len(statements.facts), bool), np.ones(len(dialogue.places), bool)
    bounds = TimeReading(intervals=((request.since_ms, request.until_ms),))
    bounded = request.since_ms is not None or request.until_ms is not None
    unknown = np.full(len(places) if bounded or reading.only_time else 0, UNKNOWN)
    for each in (bounds,) * bounded + (reading,) * reading.only_time:
        facts &= within(each, statements.starts, statements.ends, statements.sources)
        places &= within(each, unknown, unknown, dialogue.sources)
    if reading.only_time:
        facts |= naming(inquiry, reading)
        if reading.ahead:
            facts &= ~told_after(statements.starts, statements.sources)
        places &= ~_told_otherwise(inquiry, facts)
    return Allowed(facts, places)


def _told_otherwise(inquiry: Inquiry, facts: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Places that tell of nothing but what is known to be of another time: when they were said says nothing then."""
    statements, none = inquiry.corpus.statements, np.zeros(len(inquiry.corpus.dialogue.places), np.float32)
    told = statements.to_places(np.ones(len(facts), np.float32), none) > 0
    fitting = statements.to_places((facts | (statements.starts == UNKNOWN)).astype(np.float32), none) > 0
    otherwise: NDArray[np.bool_] = told & ~fitting
    return otherwise


def filtered(inquiry: Inquiry, allowed: Allowed) -> Allowed:
    """What the request's filters leave of `allowed`: facts by their mentions, one of which has to pass them all."""
    filters = inquiry.request.filters
    if filters == NO_FILTERS:
        return allowed
    facts, places = allowed.facts.copy(), allowed.places.copy()
    if filters.of_mentions:
        passing = _passing(inquiry)
        places &= passing
        facts &= _told_there(inquiry, passing)
    if filters.entity is not None:
        facts &= _carrying(inquiry, entity_key(filters.entity))
        places &= False
    if filters.kind in FACT_KINDS:
        facts &= _of_kind(inquiry, facts, filters.kind)
    return Allowed(facts & (filters.kind != "cell"), places & (filters.kind in (None, "cell")))


def _passing(inquiry: Inquiry) -> NDArray[np.bool_]:
    """Places whose session, speaker and role are those asked for."""
    filters, version, dialogue = inquiry.request.filters, inquiry.version, inquiry.corpus.dialogue
    passing = np.ones(len(dialogue.places), bool)
    if filters.session_id is not None or filters.metadata:
        numbers = inquiry.version.index.registers.sessions
        wanted = [numbers.get(name) for name, record in version.sessions.items() if filters.holds(record)]
        passing &= np.isin(sessions_of(dialogue.places), [number for number in wanted if number is not None])
    if filters.speaker is not None:
        key = entity_key(filters.speaker)
        passing &= np.isin(
            dialogue.speakers, [number for number, name in inquiry.speakers.items() if entity_key(name) == key]
        )
    if filters.role is not None:
        passing &= np.fromiter(_roles(inquiry, filters.role), bool, len(passing))
    return passing


def _roles(inquiry: Inquiry, role: str) -> Iterator[bool]:
    for place in range(len(inquiry.corpus.dialogue.places)):
        session, turn = inquiry.turn(place)
        yield inquiry.version.sessions[session].turns[turn].role == role


def _told_there(inquiry: Inquiry, passing: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Facts with a mention that passes the filters.

    One that has a single source turn passes when that does; what has several (a question and its answer, or the
    same told twice) is asked mention by mention.
    """
    statements = inquiry.corpus.statements
    told = statements.from_places(passing.astype(np.float32)) > 0
    turns = np.bincount(statements.told.left, minlength=len(statements.facts))
    for number in np.flatnonzero(turns != 1):
        fact = _fact(inquiry, int(number))
        told[number] = fact is not None and any(
            inquiry.request.filters.passes(mention, inquiry.version.sessions) for mention in fact.mentions
        )
    return told


def _of_kind(inquiry: Inquiry, facts: NDArray[np.bool_], kind: str | None) -> NDArray[np.bool_]:
    """Which of these facts say something of that kind."""
    found = np.zeros(len(facts), bool)
    for number in np.flatnonzero(facts):
        fact = _fact(inquiry, int(number))
        found[number] = fact is not None and fact.kind == kind
    return found


def _fact(inquiry: Inquiry, number: int) -> Fact | None:
    row = inquiry.corpus.statements.facts[number]
    return inquiry.fact(FactId(inquiry.version.index.facts.ids[row]))


def _carrying(inquiry: Inquiry, key: str) -> NDArray[np.bool_]:
    """Facts that carry an entity."""
    statements, index = inquiry.corpus.statements, inquiry.version.index
    rows = [row for member in inquiry.version.entities.members(key) if (row := index.row_of(member)) is not None]
    carrying = np.zeros(len(statements.facts), bool)
    numbers = statements.number_of_row[np.array(rows, np.int64)]
    carrying[numbers[numbers >= 0]] = True
    return carrying
