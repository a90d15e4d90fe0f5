"""Hits: what was found, as people are shown it, with its sources, its times and its place in a tree."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, lru_cache

from memforest_ray.facts.candidates import Mention
from memforest_ray.facts.canonical import Fact
from memforest_ray.facts.cells import Cell, cell_text
from memforest_ray.facts.instants import zone_of
from memforest_ray.facts.sessions import SessionRecord
from memforest_ray.facts.times import EventTime, to_datetime
from memforest_ray.ids import CellId, FactId, ItemId, ScopeId, SessionId, TurnId
from memforest_ray.query.corrected import CORRECTED, corrected_turns
from memforest_ray.query.inquiry import Inquiry, fact_order
from memforest_ray.query.rank import Scores
from memforest_ray.query.recall import scopes_of
from memforest_ray.query.result import Hit, Why
from memforest_ray.trees.leaves import cell_order, day_of
from memforest_ray.trees.nodes import UNKNOWN_MS
from memforest_ray.trees.routing import session_scope
from memforest_ray.trees.tree import Leaf, OrderKey

__all__ = ["HitMaker"]


@dataclass(frozen=True)
class HitMaker:
    """Makes the hits of one query."""

    inquiry: Inquiry
    scores: Scores
    recalled: Mapping[ScopeId, float]
    """Recall score by tree."""

    def of_fact(self, fact: Fact, score: float, mention: Mention | None = None, note: str = "") -> Hit:
        """A fact; with a mention (the entry of a chain that matched) it shows that one's text and times."""
        told = mention or self._shown(fact)
        candidate = told.candidate
        session = self.inquiry.version.sessions.get(told.session_id)
        event = candidate.event if mention is not None and candidate.event is not None else fact.event
        scope = self._scope(ItemId(fact.id), self._session_scope(told.session_id))
        return Hit(
            text=candidate.text,
            kind="fact",
            fact_id=fact.id,
            cell_id=None,
            turn_ids=tuple(self._turn_ids(fact, told)),
            session_id=told.session_id,
            speaker=candidate.speaker,
            source_time=_told_at(told.source_ms, session),
            event_time=event,
            score=score,
            tree=scope,
            path=self._path(scope, self._order(fact)),
            note=note,
            timely=self._timely(fact.id),
            why=self._why_fact(fact, told, event) if self.inquiry.request.explain else None,
        )

    def _shown(self, fact: Fact) -> Mention:
        """The mention whose words and times are shown: the first that passes the filters."""
        filters, sessions = self.inquiry.request.filters, self.inquiry.version.sessions
        if not filters.of_mentions:
            return fact.mentions[0]
        return next((mention for mention in fact.mentions if filters.passes(mention, sessions)), fact.mentions[0])

    def _turn_ids(self, fact: Fact, told: Mention) -> Iterator[TurnId]:
        """Its source turns as far as they are there, those of the mention that is shown first."""
        turns: Iterable[tuple[SessionId, int]] = fact.turns
        if told is not fact.mentions[0]:
            turns = dict.fromkeys((*((told.session_id, turn) for turn in told.candidate.turns), *turns))
        sessions = self.inquiry.version.sessions
        for name, turn in turns:
            session = sessions.get(name)
            if session is not None:
                yield session.turn_id(turn)

    def _timely(self, id: FactId) -> bool:  # noqa: A002 - the field's name
        if self.scores.untimely is None:
            return True
        number = self.inquiry.fact_number(id)
        return number < 0 or not self.scores.untimely[number]

    def _why_fact(self, fact: Fact, told: Mention, event: EventTime | None) -> Why:
        session = self.inquiry.version.sessions.get(told.session_id)
        return Why(
            parts=self.scores.parts_of_fact(self.inquiry, self.inquiry.fact_number(fact.id)),
            mention=None if session is None else session.turn_id(told.candidate.turns[0]),
            mentions=len(fact.mentions),
            time="event" if event is not None else "unknown" if told.source_ms is None else "source",
        )

    def _why_cell(self, cell: Cell, turns: Sequence[int], score: float) -> Why:
        """Of the turn that has the score: a better one may be told by a fact of its own."""
        turn = min(turns, key=lambda each: abs(self._place_score(cell, each) - score))
        number = self.inquiry.place_number(cell.session_id, turn)
        return Why(
            parts=self.scores.parts_of_place(number),
            mention=self.inquiry.version.sessions[cell.session_id].turn_id(turn),
            time="unknown" if cell.source_ms is None else "source",
        )

    def of_leaf(self, leaf: Leaf, scope: ScopeId) -> Iterator[Hit]:
        """The hit of a leaf that is shown with its whole tree; none for what this query may not see."""
        if leaf.item[0] == "f":
            fact = self.inquiry.fact(FactId(leaf.item))
            if fact is not None:
                yield replace(self.of_fact(fact, self.score_of(fact.id)), tree=scope)
            return
        cell = self.inquiry.version.cells[CellId(leaf.item)]
        best = max((self._place_score(cell, span.turn) for span in cell.spans), default=0.0)
        yield self.of_cell(cell, round(best, 6))

    def score_of(self, id: FactId) -> float:  # noqa: A002 - the field's name
        """A fact's score; 0 when this query does not see it."""
        number = self.inquiry.fact_number(id)
        return round(float(self.scores.facts[number]), 6) if number >= 0 else 0.0

    def _order(self, fact: Fact) -> OrderKey:
        """Its place among leaves, which is that of the whole fact, whatever the query may know of it."""
        whole = None if self.inquiry.request.as_of_ms is None else self.inquiry.version.facts.get(fact.id)
        return fact_order(whole or fact)

    def of_cell(self, cell: Cell, score: float) -> Hit:
        """A cell, its best turn named first."""
        session = self.inquiry.version.sessions[cell.session_id]
        turns = dict.fromkeys(span.turn for span in cell.spans if session.turns[span.turn].hole is None)
        ranked = sorted(turns, key=lambda turn: -self._place_score(cell, turn))  # stable: equals in order
        scope = self._session_scope(cell.session_id)
        return Hit(
            text=cell_text(session, cell),
            kind="cell",
            fact_id=None,
            cell_id=cell.id,
            turn_ids=tuple(session.turn_id(turn) for turn in ranked),
            session_id=cell.session_id,
            speaker=session.turns[ranked[0]].speaker if ranked else "",
            source_time=_told_at(cell.source_ms, session),
            event_time=None,
            score=score,
            tree=scope,
            path=self._path(scope, cell_order(cell)),
            note=CORRECTED if self._corrected(cell) else "",
            why=self._why_cell(cell, ranked, score) if ranked and self.inquiry.request.explain else None,
        )

    def _corrected(self, cell: Cell) -> bool:
        return not self.corrected.isdisjoint((cell.session_id, span.turn) for span in cell.spans)

    @cached_property
    def corrected(self) -> frozenset[tuple[SessionId, int]]:
        """Turns that say what was corrected."""
        return corrected_turns(self.inquiry.version)

    def _place_score(self, cell: Cell, turn: int) -> float:
        number = self.inquiry.place_number(cell.session_id, turn)
        return float(self.scores.places[number]) if number >= 0 else 0.0

    def _session_scope(self, session: SessionId) -> ScopeId:
        """Where a session's dialogue stands; nowhere in a forest without such trees."""
        return session_scope(session) if "session" in self.inquiry.version.birth.families else ScopeId("")

    def _scope(self, item: ItemId, otherwise: ScopeId) -> ScopeId:
        """The tree it was most likely found in."""
        best, found = -2.0, otherwise
        for scope in scopes_of(self.inquiry, item):
            recalled = self.recalled.get(scope, -1.0)
            if recalled > best or (recalled == best and scope < found):
                best, found = recalled, scope
        return found

    def _path(self, scope: ScopeId, order: OrderKey) -> tuple[str, ...]:
        """First to last day of each node on the way to it, of those that hold nothing from after `as_of`."""
        tree = self.inquiry.version.trees.get(scope)
        if tree is None:
            return ()
        if self.inquiry.request.as_of_ms is None:
            return tuple([_interval(first, last) for first, last in tree.spans(order)])
        nodes = filter(self.inquiry.known, tree.path(order))
        return tuple([_interval(node.first[0], node.last[0]) for node in nodes])


def _told_at(source_ms: int | None, session: SessionRecord | None) -> datetime | None:
    """When something was said, by the clock of those who said it."""
    if source_ms is None:
        return None
    said = to_datetime(source_ms)
    return said if session is None or session.zone is None else said.astimezone(zone_of(session.zone))


@lru_cache(maxsize=4_096)
def _interval(first_ms: int, last_ms: int) -> str:
    """From day to day; the same nodes are shown again and again."""
    return f"{_day(first_ms)} to {_day(last_ms)}"


def _day(instant_ms: int) -> str:
    return "unknown" if instant_ms >= UNKNOWN_MS else day_of(instant_ms)
