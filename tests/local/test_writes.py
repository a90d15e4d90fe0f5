"""Writes at the same time: each is done once, in order, and answered with the truth."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from memforest_ray.errors import InvalidInput, Overloaded, Passivating, SessionConflict
from memforest_ray.facts.sessions import Session, Turn
from memforest_ray.forest.intents import Receipt
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.conversations import conversation
from memforest_ray.testing.extraction import ScriptedExtractor, says
from memforest_ray.testing.forests import Forests, check_forest, check_same
from memforest_ray.testing.store import contents

Say = Callable[..., Session]


async def test_sixteen_at_once_all_land(forests: Forests) -> None:
    """Concurrent ingests of one user share batches; each has its receipt, nothing is lost."""
    sessions = conversation(5, sessions=16, turns_max=5)
    forest = forests.open()
    receipts = await asyncio.gather(*map(forest.ingest, sessions))
    version = await forest.version()
    check_forest(version)
    assert [receipt.session_id for receipt in receipts] == [session.id for session in sessions]
    assert set(version.sessions) == {session.id for session in sessions}
    assert sum(receipt.facts_added for receipt in receipts) == len(version.facts)
    assert version.number < 16
    check_same(version, await forests.open().version())


async def test_twenty_users_do_not_see_each_other(forests: Forests, say: Say) -> None:
    """Each finds his own secret word and no one else's."""
    runtime = forests.runtime()
    handles = {f"user/{number}": forests.open(f"user/{number}") for number in range(20)}

    async def live(name: str) -> str:
        await handles[name].ingest(say("s1", f"My secret word is zebra-{name[5:]}.", "I see."))
        return repr(await handles[name].read("tree", scope="session:s1"))

    told = await asyncio.gather(*map(live, handles))
    for number, text in enumerate(told):
        words = {f"zebra-{other}." for other in range(20) if f"zebra-{other}." in text}
        assert words == {f"zebra-{number}."}
    assert sorted(await runtime.users("")) == sorted(handles)


async def test_fifty_times_the_same_operation_is_one_write(forests: Forests, say: Say) -> None:
    """Joined while it is under way, remembered afterwards; every caller gets the one receipt."""
    forest = forests.open()
    receipts = await asyncio.gather(*(forest.ingest(say("s1", "I live in Davis."), "op") for _ in range(50)))
    assert [replace(receipt, seconds={}) for receipt in receipts] == [replace(receipts[0], seconds={})] * 50
    assert (await forest.version()).number == receipts[0].version


async def test_fifty_times_the_same_session_is_stored_once(forests: Forests, say: Say) -> None:
    """Without an operation id one is new, the others are duplicates."""
    forest = Forests(forests.store, lane_depth_max=50).open()
    receipts = await asyncio.gather(*(forest.ingest(say("s1", "I live in Davis.")) for _ in range(50)))
    version = await forest.version()
    check_forest(version)
    assert sorted(receipt.duplicate for receipt in receipts) == [False, *[True] * 49]
    assert [fact.text for fact in version.facts] == ["Bob lives in Davis."]


async def test_an_operation_is_answered_by_the_next_owner(forests: Forests, say: Say) -> None:
    """A retry after a restart gets the first receipt, of an ingest as of a forget; an owner that was there too."""
    first, reader = forests.open(), forests.open()
    await reader.version()
    receipt = await first.ingest(say("s1", "I live in Davis."), "in")
    report = await first.forget("out", session="s1")
    await first.driver.close()
    for other in (forests.open(), reader):
        assert replace(await other.ingest(say("s1", "I live in Davis."), "in"), seconds={}) == replace(
            receipt, seconds={}
        )
        assert await other.forget("out", session="s1") == report


async def test_an_operation_id_names_one_write(forests: Forests, say: Say) -> None:
    """The id of another write is refused, under way or done."""
    forest = forests.open()
    running = asyncio.create_task(forest.ingest(say("s1", "I live in Davis."), "op"))
    await asyncio.sleep(0)
    with pytest.raises(InvalidInput):
        await forest.ingest(say("s2", "I live in Oslo."), "op")
    await running
    for call in (forest.forget("op", session="s1"), forest.repair("op"), forest.ingest(say("s2", "Hi."), "op")):
        with pytest.raises(InvalidInput):
            await call


async def test_a_duplicate_writes_nothing(forests: Forests, store: MemoryStore, say: Say) -> None:
    """Sent again, whole or in part, to an owner or to a mere reader: the store does not change by a byte."""
    session = say("s1", "I live in Davis.", "Nice.", "I like chess.")
    forest = forests.open()
    await forest.ingest(session)
    before = await contents(store)
    for other in (forest, forests.open()):
        for part in (session, replace(session, turns=session.turns[1:])):
            receipt = await other.ingest(part)
            assert (receipt.duplicate, receipt.cells) == (True, 0)
    assert await contents(store) == before


async def test_writes_of_one_session_keep_the_order_in_which_they_came(
    forests: Forests, extractor: ScriptedExtractor
) -> None:
    """The first is long to check and to extract, the second overtakes it nowhere."""
    turns = [Turn(f"I like pottery and chess, part {number}.", "Bob") for number in range(60)]
    extractor.held = says("part 0")
    forest = forests.open()
    writes = [asyncio.create_task(forest.ingest(Session("s1", turns[:end], "2023-05-08"))) for end in (40, 50, 60)]
    other = await forest.ingest(Session("s2", turns[1:3], "2023-05-08"))
    assert [write.done() for write in writes] == [False] * 3
    extractor.gate.set()
    receipts = await asyncio.gather(*writes)
    assert [receipt.version > other.version for receipt in receipts] == [True] * 3
    assert [receipt.duplicate for receipt in receipts] == [False] * 3
    assert len((await forest.version()).sessions[receipts[0].session_id or ""].turns) == 60  # type: ignore[index]


async def test_what_was_extracted_early_is_used_only_where_it_still_holds(
    forests: Forests, extractor: ScriptedExtractor
) -> None:
    """A session that is replaced while a write of it waits is read with its new times."""
    turns = [
        Turn("I went to the clinic yesterday.", "Bob"),
        Turn("Get well.", "Ann"),
        Turn("I was in Oslo yesterday.", "Bob"),
    ]
    forest = forests.open()
    await forest.ingest(Session("s1", turns[:2], "2023-05-08"))
    writes = [
        forest.ingest(Session("s1", turns[:2], "2024-01-02"), replace=True),
        forest.ingest(Session("s1", turns)),
    ]
    await asyncio.gather(*writes)
    version = await forest.version()
    check_forest(version)
    assert {
        str(mention.candidate.event.expression)
        for mention in version.facts.mentions.values()
        if mention.candidate.event
    } == {"yesterday"}
    assert {mention.source_ms for mention in version.facts.mentions.values()} == {1704153600000}


async def test_a_full_lane_refuses(forests: Forests, extractor: ScriptedExtractor, say: Say) -> None:
    """The twenty-first write is told to come again, and lands when it does."""
    extractor.held = lambda cell: True
    forest = forests.open()
    writes = [asyncio.create_task(forest.ingest(say(f"s{number}", "I live in Davis."))) for number in range(20)]
    await extractor.shown(20)
    with pytest.raises(Overloaded):
        await forest.ingest(say("more", "I live in Oslo."))
    extractor.gate.set()
    await asyncio.gather(*writes)
    assert (await forest.ingest(say("more", "I live in Oslo."))).facts_added == 1


async def test_a_conflict_does_not_spoil_its_batch(forests: Forests, say: Say) -> None:
    """Of a batch with one session that contradicts what is stored, the others land."""
    forest = forests.open()
    await forest.ingest(say("s1", "I live in Davis."))
    outcomes = await asyncio.gather(
        forest.ingest(say("s1", "I live in Oslo.")), forest.ingest(say("s2", "I like chess.")), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes] == [SessionConflict, Receipt]
    assert set((await forest.version()).sessions) == {"s1", "s2"}


async def test_a_caller_that_goes_away_does_not_take_the_write_along(
    forests: Forests, extractor: ScriptedExtractor, say: Say
) -> None:
    """The write lands; the same operation asked for again has its receipt."""
    extractor.held = lambda cell: True
    forest = forests.open()
    caller = asyncio.create_task(forest.ingest(say("s1", "I live in Davis."), "op"))
    await extractor.shown(1)
    caller.cancel()
    extractor.gate.set()
    with pytest.raises(asyncio.CancelledError):
        await caller
    receipt = await forest.ingest(say("s1", "I live in Davis."), "op")
    assert (receipt.duplicate, receipt.facts_added) == (False, 1)


async def test_closing_finishes_what_waits(forests: Forests, extractor: ScriptedExtractor, say: Say) -> None:
    """Writes under way land before the driver is gone, later calls are told to go elsewhere, a checkpoint is made."""
    extractor.held = lambda cell: True
    forest = forests.open()
    writes = [asyncio.create_task(forest.ingest(say(f"s{number}", "I live in Davis."))) for number in range(3)]
    await extractor.shown(3)
    closing = asyncio.create_task(forest.driver.close())
    await asyncio.sleep(0)
    with pytest.raises(Passivating):
        await forest.ingest(say("late", "I live in Oslo."))
    extractor.gate.set()
    await closing
    assert [write.result().facts_added for write in writes] == [1, 0, 0]
    loaded = await forests.open().version()
    assert set(loaded.sessions) == {"s0", "s1", "s2"}


async def test_a_call_that_was_begun_as_the_driver_closed_is_not_lost(forests: Forests, say: Say) -> None:
    """Whatever the moment, a write lands or is told to go elsewhere; none hangs."""
    forest = forests.open()
    writes = [asyncio.create_task(forest.ingest(say(f"s{number}", "I live in Davis."))) for number in range(5)]
    await asyncio.sleep(0)
    await forest.driver.close()
    outcomes = await asyncio.wait_for(asyncio.gather(*writes, return_exceptions=True), timeout=10)
    landed = {outcome.session_id for outcome in outcomes if isinstance(outcome, Receipt)}
    assert {type(outcome) for outcome in outcomes} <= {Receipt, Passivating}
    assert set((await forests.open().version()).sessions) == landed
