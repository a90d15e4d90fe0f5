"""Answers that are kept until they are committed: found again by the next owner, gone with an erasure."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from memforest_ray.commit.garbage import sweep
from memforest_ray.commit.manifest import Manifest
from memforest_ray.commit.responses import Responses
from memforest_ray.errors import StoreUnavailable
from memforest_ray.ids import UserId
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.storage.store import Stored
from memforest_ray.testing.clock import ManualClock, SeededRandom

KEYS = UserKeys.of(UserId("alice"))
DAY_S = 24 * 3600


class Owner:
    """One owner's answers over a store."""

    def __init__(self, store: MemoryStore, clock: ManualClock | None = None, epoch: int | None = 1) -> None:
        self.epoch = epoch
        self.clock = clock or ManualClock()
        self.responses = Responses(store, KEYS, self.clock, SeededRandom(epoch or 0), lambda: self.epoch)

    def put(self, **answers: object) -> None:
        self.responses.put(answers, self.responses.generation)


async def stored(store: MemoryStore) -> list[str]:
    return [key async for key in store.list(KEYS.answers)]


async def test_the_next_owner_finds_what_was_answered() -> None:
    """Written behind the caller's back, read at the first question."""
    store = MemoryStore()
    one = Owner(store)
    one.put(a=[1, "x"], b=None)
    await one.responses.flushed()
    assert await Owner(store, epoch=2).responses.known(["a", "b", "c"]) == {"a": [1, "x"], "b": None}


async def test_answers_that_come_together_make_one_object() -> None:
    """And those that come while it is written make the next."""
    store = MemoryStore()
    one = Owner(store)
    one.put(a=1)
    one.put(b=2)
    await asyncio.sleep(0)
    one.put(c=3)
    await one.responses.flushed()
    assert 1 <= len(await stored(store)) <= 2
    assert await Owner(store).responses.known("abc") == {"a": 1, "b": 2, "c": 3}


async def test_what_is_committed_is_forgotten() -> None:
    """An object goes with the last of its entries; what was not written yet never is."""
    store = MemoryStore()
    one = Owner(store)
    one.put(a=1, b=2)
    await one.responses.flushed()
    one.responses.settle(["a"])
    await one.responses.flushed()
    assert (len(await stored(store)), await one.responses.known("ab")) == (1, {"b": 2})
    one.responses.settle(["b"])
    await one.responses.flushed()
    one.put(c=3)
    one.responses.settle(["c"])
    await one.responses.flushed()
    assert (await stored(store), len(one.responses)) == ([], 0)


async def test_nothing_is_stored_for_a_user_who_has_no_memory_yet() -> None:
    """An object without a manifest beside it would look like a damaged memory; it is stored with the next answer."""
    store = MemoryStore()
    one = Owner(store, epoch=None)
    one.put(a=1)
    await one.responses.flushed()
    assert (await stored(store), await one.responses.known("a")) == ([], {"a": 1})
    one.epoch = 1
    one.put(b=2)
    await one.responses.flushed()
    assert await Owner(store).responses.known("ab") == {"a": 1, "b": 2}


async def test_an_erasure_leaves_nothing() -> None:
    """Not in memory, not in the store, and not from an answer that comes after it to what was asked before."""
    store = MemoryStore()
    one = Owner(store)
    one.put(a="secret")
    await one.responses.flushed()
    before = one.responses.generation
    async with one.responses.erasing():
        for key in await stored(store):
            await store.delete(key)
        one.responses.put({"late": "secret"}, before)
        one.put(b="new")
        assert await stored(store) == []
    one.responses.put({"later": "secret"}, before)
    one.put(c="new")
    await one.responses.flushed()
    assert await one.responses.known(["a", "late", "later", "b", "c"]) == {"b": "new", "c": "new"}
    assert await Owner(store).responses.known(["a", "late", "later", "b", "c"]) == {"b": "new", "c": "new"}


async def test_an_erasure_waits_for_what_is_being_written() -> None:
    """So that it can be removed."""

    class Slow(MemoryStore):
        begun, go = asyncio.Event(), asyncio.Event()

        async def create(self, key: str, body: bytes) -> str:
            self.begun.set()
            await self.go.wait()
            return await super().create(key, body)

    store = Slow()
    one = Owner(store)
    one.put(a="secret")
    await store.begun.wait()
    erased = asyncio.Event()

    async def erase() -> None:
        async with one.responses.erasing():
            for key in await stored(store):
                await store.delete(key)
        erased.set()

    erasing = asyncio.create_task(erase())
    await asyncio.sleep(0)
    assert not erased.is_set()
    store.go.set()
    await erasing
    await one.responses.flushed()
    assert await stored(store) == []


async def test_a_stalled_owner_s_answers_are_swept() -> None:
    """What an older epoch drops after an erasure goes with the next sweep."""
    store = MemoryStore()
    stalled = Owner(store, epoch=1)
    stalled.put(a="secret")
    await stalled.responses.flushed()
    manifest = Manifest(UserId("alice"), "active", 2, "nonce", 0, 0, {}, {})
    assert await sweep(store, KEYS, manifest) == 1
    assert await stored(store) == []


async def test_old_and_damaged_objects_are_removed() -> None:
    """After a day nobody tries again; what cannot be read is of no use."""
    store = MemoryStore()
    clock = ManualClock()
    old = Owner(store, clock)
    old.put(a=1)
    await old.responses.flushed()
    clock.advance(DAY_S + 1)
    await store.create(KEYS.answers_object(1, clock.now_ms(), "0" * 32), b"damaged")
    await store.create(f"{KEYS.answers}odd", b"foreign")
    one = Owner(store, clock, epoch=2)
    assert await one.responses.known("a") == {}
    await one.responses.flushed()
    assert await stored(store) == []


async def test_a_store_that_does_not_answer_is_done_without(caplog: pytest.LogCaptureFixture) -> None:
    """Answers stay in memory; a line in the log, without text, says so."""

    class Down(MemoryStore):
        def list(self, prefix: str) -> AsyncIterator[str]:
            raise StoreUnavailable("down")

        async def create(self, key: str, body: bytes) -> str:
            raise StoreUnavailable("down")

        async def get(self, key: str) -> Stored:
            raise StoreUnavailable("down")

    one = Owner(Down())
    assert await one.responses.known("a") == {}
    one.put(a="secret")
    await one.responses.flushed()
    assert await one.responses.known("a") == {"a": "secret"}
    assert "secret" not in caplog.text
    assert caplog.text.count("store_unavailable") == 2


async def test_there_is_a_bound() -> None:
    """What is over it is not kept."""
    one = Owner(MemoryStore(), epoch=None)
    one.put(**{f"n{number}": 0 for number in range(20_000)})
    one.put(over=1)
    assert await one.responses.known(["n0", "over"]) == {"n0": 0}


def test_names_tell_epoch_and_time() -> None:
    """Of answers; of any other key no time."""
    key = KEYS.answers_object(12, 1_700_000_000_000, "0" * 32)
    assert (KEYS.epoch_of(key), KEYS.written_ms(key)) == (12, 1_700_000_000_000)
    others = (KEYS.manifest, KEYS.part(12, 5, "0" * 32), f"{KEYS.answers}x", f"{KEYS.answers}{12:010d}-zz")
    assert [KEYS.written_ms(other) for other in others] == [0, 0, 0, 0]
