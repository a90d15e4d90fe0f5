"""Merges under faults: cut off anywhere, or at the same time, each is done once and nobody waits for ever."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

import pytest

import memforest_ray as mf
from memforest_ray.forest.errands import LOAN_MS
from memforest_ray.ids import OpId, UserId
from memforest_ray.local import LocalRuntime, Models
from memforest_ray.local.examination import examine
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.storage.store import ObjectStore
from memforest_ray.testing.clock import SeededRandom
from memforest_ray.testing.forests import decided
from memforest_ray.testing.store import Crashed, Fault, FaultyStore, contents, scripted
from tests.local.merging import World

Say = Callable[..., mf.Session]


def _client(world: World, store: ObjectStore, seed: int) -> mf.AsyncClient:
    """One more process."""
    models: Models = world.forests.models
    runtime = LocalRuntime(world.client.settings, store, models, world.clock, SeededRandom(seed))
    return mf.AsyncClient(world.client.settings, runtime, SeededRandom(seed + 1))


async def _two(world: World, say: Say) -> None:
    ann, ben = world.client.user("ann"), world.client.user("ben")
    await ann.ingest(say("s1", "I live in Davis.", "Nice."))
    await ben.ingest(say("s1", "I moved to Oslo.", "I like tea."))
    await world.client.close()


async def _merged(world: World) -> None:
    """The memory that took over the other one holds it once, and is sound; the other stands, and can forget."""
    version = await world.version("ann")
    assert set(version.sessions) == {"s1", "ben/s1"}
    assert {fact.text for fact in version.facts} == {"Bob lives in Davis.", "Bob moved to Oslo.", "Ann likes tea."}
    assert set((await world.version("ben")).sessions) == {"s1"}


async def _calls(say: Say) -> int:
    """Calls of the store that one merge takes."""
    world = World()
    await _two(world, say)
    store = FaultyStore(world.store)
    await _client(world, store, 50).user("ann").merge_from("ben")
    return len(store.calls)


@pytest.mark.parametrize("after", [False, True])
async def test_cut_off_anywhere_it_is_done_once(say: Say, after: bool) -> None:
    """The process dies in any call of the store, before or after it happens; another goes on under the same op id."""
    for place in range(await _calls(say)):
        world = World()
        await _two(world, say)
        store = FaultyStore(world.store, crash_at=place, crash_after=after)
        with suppress(Crashed):
            await _client(world, store, 50).user("ann").merge_from("ben", op_id="merge")
        other = _client(world, world.store, 60)
        world.clock.advance(world.client.settings.fresh_s + 1)
        told = await other.user("ann").merge_from("ben", op_id="merge")
        assert (told.source, told.duplicate) == ("ben", False)
        await _merged(world)
        world.clock.advance(LOAN_MS / 1000 + 1)
        await other.user("ben").forget(session="s1")  # whatever the dead one pinned has expired
        await other.close()


@pytest.mark.parametrize("fault", [Fault.FAIL_BEFORE, Fault.FAIL_AFTER, Fault.DUPLICATE])
async def test_a_store_that_fails_once(say: Say, fault: Fault) -> None:
    """The caller is told, or not even that; the same call again does it, once."""
    for place in range(0, await _calls(say), 3):
        world = World()
        await _two(world, say)
        client = _client(world, FaultyStore(world.store, scripted({place: fault})), 50)
        with suppress(mf.StoreUnavailable, mf.OutcomeUnknown):
            await client.user("ann").merge_from("ben", op_id="merge")
        await client.user("ann").merge_from("ben", op_id="merge")
        await client.close()
        await _merged(world)


async def test_two_that_take_each_other_over(say: Say) -> None:
    """At the same time, while both are written to: none waits for the other's lane, and both come out whole."""
    world = World()
    ann, ben = world.client.user("ann"), world.client.user("ben")
    for number, user in enumerate((ann, ben)):
        await user.ingest(say("s1", f"I bought boat number {number}.", "Nice."))
    await asyncio.gather(
        ann.merge_from(ben),
        ben.merge_from(ann),
        ann.ingest(say("s2", "I like tea.", time="2023-06-01")),
        ben.ingest(say("s3", "I like figs.", time="2023-06-01")),
    )
    assert {"s1", "s2", "ben/s1"} <= set((await world.version("ann")).sessions)
    assert {"s1", "s3", "ann/s1"} <= set((await world.version("ben")).sessions)
    await world.client.close()
    assert (await examine(world.store, UserId("ann"))).findings == ()


async def test_either_way_it_is_the_same(say: Say) -> None:
    """Who takes over whom decides names of sessions, and nothing else."""
    found = []
    for first, second in (("ann", "ben"), ("ben", "ann")):
        world = World()
        sessions = {
            "ann": [say("s1", "I live in Davis.", "Nice."), say("s2", "I like tea.", "Me too.", time="2023-06-01")],
            "ben": [say("s1", "I like tea.", "I paint.", time="2023-07-01"), say("s3", "I sing.", time="2023-08-01")],
        }
        for user, told in sessions.items():
            await world.client.user(user).ingest_many(told)
        await world.client.user(first).merge_from(second)
        state = decided(await world.version(first))
        leaves = {scope: len(items) for scope, items in state["leaves"].items() if scope.startswith("entity:")}
        facts = {name: (fact.text, fact.speakers, len(fact.mentions)) for name, fact in state["facts"].items()}
        found.append((facts, leaves))
        await world.client.close()
    assert found[0] == found[1]


class _Standing(FaultyStore):
    """Stands still before the next commit of `user`, or his memory's first claim, until it is told to go on."""

    def __init__(self, inner: ObjectStore, user: str) -> None:
        super().__init__(inner)
        self._keys = UserKeys.of(UserId(user))
        self.reached, self.released = asyncio.Event(), asyncio.Event()
        self.armed = False

    async def create(self, key: str, body: bytes) -> str:
        if self.armed and (self._keys.seq_of(key) or key == self._keys.manifest):
            self.reached.set()
            await self.released.wait()
        return await super().create(key, body)


@pytest.mark.parametrize("gone", ["session", "user"])
async def test_a_copy_that_stood_still_brings_nothing_back(say: Say, gone: str) -> None:
    """It was about to land when its pin expired; what is forgotten meanwhile does not land after all."""
    world = World()
    await _two(world, say)
    store = _Standing(world.store, "ann")
    client = _client(world, store, 50)
    await client.user("ann").ingest(say("s2", "I like tea."))  # so that its memory is claimed
    store.armed = True
    merging = asyncio.create_task(client.user("ann").merge_from("ben", op_id="merge"))
    await store.reached.wait()
    world.clock.advance(LOAN_MS / 1000 + 1)
    other = _client(world, world.store, 60)
    if gone == "session":
        await other.user("ben").forget(session="s1")
    else:
        assert await other.delete_user("ben") == []
    store.released.set()
    with suppress(mf.NotFound):
        await merging
    await other.close()
    await client.close()
    assert not any("Oslo" in fact.text for fact in (await world.version("ann")).facts)
    assert set((await world.version("ann")).sessions) == {"s1", "s2"}


async def test_a_first_copy_that_stood_still_brings_nothing_back(say: Say) -> None:
    """Nobody can be shut out of a memory that never was; and the pin of today is that of another attempt."""
    world = World()
    await world.client.user("ben").ingest(say("s1", "I moved to Oslo.", "I like tea."))
    await world.client.close()
    store = _Standing(world.store, "ann")
    store.armed = True
    client = _client(world, store, 50)
    merging = asyncio.create_task(client.user("ann").merge_from("ben", op_id="merge"))
    await store.reached.wait()
    world.clock.advance(LOAN_MS / 1000 + 1)
    other = _client(world, world.store, 60)
    await other.user("ben").forget(turns=["s1#0"])
    lend = {"loan": "merge", "borrower": "ann"}
    await other.call(UserId("ben"), "lend", lend, op_id=OpId("lend"), seen=0)
    store.released.set()
    await merging
    await other.close()
    await client.close()
    assert {fact.text for fact in (await world.version("ann")).facts} == {"Ann likes tea."}


async def test_a_deletion_that_was_cut_off_still_tells_who_holds_copies(say: Say) -> None:
    """Whoever goes on with it learns what the first one had learnt."""
    world = World()
    await _two(world, say)
    await world.client.user("ann").merge_from("ben")
    await world.client.close()
    counting = FaultyStore(world.store)
    whole = await _copied(world.store)
    assert await _client(world, counting, 50).delete_user("ben") == ["ann"]
    for place in range(len(counting.calls)):
        store = await _copied(whole)
        with suppress(Crashed):
            await _client(world, FaultyStore(store, crash_at=place), 60).delete_user("ben")
        with suppress(mf.NotFound):  # it was done, but for the answer
            assert await _client(world, store, 70).delete_user("ben") == ["ann"]


async def _copied(store: ObjectStore) -> MemoryStore:
    copy = MemoryStore()
    for key, body in (await contents(store)).items():
        await copy.create(key, body)
    return copy
