"""Leaves: what a fact or a cell is to a tree."""

from functools import lru_cache

from memforest_ray.facts.canonical import Fact
from memforest_ray.facts.cells import Cell, cell_text
from memforest_ray.facts.sessions import SessionRecord
from memforest_ray.facts.times import to_datetime
from memforest_ray.ids import ItemId
from memforest_ray.trees.nodes import Leaf, OrderKey, order_key

__all__ = ["cell_leaf", "cell_order", "day_of", "fact_leaf"]

_DAY_MS = 86_400_000


def day_of(instant_ms: int | None) -> str:
    """The UTC day as `2023-05-08`; nothing for an unknown time."""
    return "" if instant_ms is None else _day(instant_ms // _DAY_MS)


@lru_cache(maxsize=1 << 14)
def _day(number: int) -> str:
    """A day, by its number since 1970: most of what is said falls on few of them."""
    return f"{to_datetime(number * _DAY_MS):%Y-%m-%d}"


def _dated(day: str, text: str) -> str:
    return f"{day} {text}" if day else text


def fact_leaf(fact: Fact) -> Leaf:
    """A fact stands where it happened, else where it was first said."""
    least = fact.mentions[0]
    event = fact.event
    item = ItemId(fact.id)
    return Leaf(
        item=item,
        order=order_key(
            event_ms=None if event is None else event.start_ms,
            source_ms=fact.source_ms,
            session_id=least.session_id,
            turn=least.candidate.turns[0],
            item=item,
        ),
        source_ms=None
        if fact.source_ms is None or fact.latest_source_ms is None
        else (fact.source_ms, fact.latest_source_ms),
        undated=fact.undated,
        event_ms=None if event is None else event.interval,
        text=_dated(day_of(fact.source_ms) if event is None else event.days[0].isoformat(), fact.text),
    )


def cell_order(cell: Cell) -> OrderKey:
    """Where a cell stands among the leaves of any tree."""
    return order_key(
        event_ms=None,
        source_ms=cell.source_ms,
        session_id=cell.session_id,
        turn=cell.spans[0].turn,
        item=ItemId(cell.id),
    )


def cell_leaf(session: SessionRecord, cell: Cell) -> Leaf:
    """A cell stands where it was said."""
    said = [session.source_ms(span.turn) for span in cell.spans]
    known = [instant for instant in said if instant is not None]
    return Leaf(
        item=ItemId(cell.id),
        order=cell_order(cell),
        source_ms=(min(known), max(known)) if known else None,
        undated=len(known) < len(said),
        event_ms=None,
        text=_dated(day_of(cell.source_ms), cell_text(session, cell)),
    )
