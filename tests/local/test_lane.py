"""The lane: who may overtake whom, how many may wait."""

import asyncio

import pytest

from memforest_ray.errors import Overloaded, Passivating
from memforest_ray.facts.sessions import SessionRecord, TurnRecord
from memforest_ray.forest.intents import Forget, Ingest, Intent, Repair
from memforest_ray.ids import OpId, SessionId
from memforest_ray.local.lane import Lane


def _ingest(name: str) -> Ingest:
    record = SessionRecord(SessionId(name.rstrip("'")), (TurnRecord("user", "Bob", name),))
    return Ingest(OpId(name), record)


def _names(batch: list[object]) -> list[str]:
    return [ticket.write.op_id for ticket in batch]  # type: ignore[attr-defined]


async def test_prepared_ingests_leave_as_one_batch() -> None:
    """Those that are not prepared are overtaken, and come with the next batch."""
    lane = Lane(10)
    slow, *quick = [lane.enter(_ingest(name)) for name in ("slow", "b", "c")]
    for ticket in quick:
        lane.prepared(ticket)
    assert _names([*await lane.take()]) == ["b", "c"]
    lane.prepared(slow)
    assert _names([*await lane.take()]) == ["slow"]


async def test_writes_of_one_session_keep_their_order() -> None:
    """A prepared write waits for the earlier one of its session; both may leave in one batch, in order."""
    lane = Lane(10)
    first, other, second = [lane.enter(_ingest(name)) for name in ("a", "b", "a'")]
    lane.prepared(second)
    lane.prepared(other)
    assert _names([*await lane.take()]) == ["b"]
    lane.prepared(first)
    assert _names([*await lane.take()]) == ["a", "a'"]


@pytest.mark.parametrize("write", [Forget(OpId("x"), session="a"), Repair(OpId("x"))])
async def test_a_forget_and_a_repair_keep_their_place_among_all(write: Intent) -> None:
    """What came before goes first, prepared or not; what came after waits."""
    lane = Lane(10)
    before = lane.enter(_ingest("before"))
    lane.enter(write)
    after = lane.enter(_ingest("after"))
    lane.prepared(after)
    taking = asyncio.create_task(lane.take())
    await asyncio.sleep(0)
    assert not taking.done()
    lane.prepared(before)
    assert _names([*await taking]) == ["before"]
    assert _names([*await lane.take()]) == ["x"]
    assert _names([*await lane.take()]) == ["after"]


async def test_the_lane_is_bounded() -> None:
    """Beyond its depth, the batch under way included, a write is refused and told when to call again."""
    lane = Lane(2)
    for name in ("a", "b"):
        lane.prepared(lane.enter(_ingest(name)))
    await lane.take()
    with pytest.raises(Overloaded) as caught:
        lane.enter(_ingest("c"))
    assert caught.value.retry_after == 1.0
    assert await lane.take() == []
    lane.enter(_ingest("c"))
    assert len(lane) == 1


async def test_a_closed_lane_takes_in_nothing() -> None:
    """What waits is still served."""
    lane = Lane(2)
    lane.prepared(lane.enter(_ingest("a")))
    lane.close()
    with pytest.raises(Passivating):
        lane.enter(_ingest("b"))
    assert _names([*await lane.take()]) == ["a"]


async def test_who_leaves_holds_up_nobody() -> None:
    """A write that was answered before its turn is gone from the lane."""
    lane = Lane(2)
    first, second = lane.enter(_ingest("a")), lane.enter(_ingest("a'"))
    lane.prepared(second)
    lane.leave(first)
    assert _names([*await lane.take()]) == ["a'"]
