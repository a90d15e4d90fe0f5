"""The test kit's own faults do what they say."""

import asyncio

import pytest

from memforest_ray.errors import StoreUnavailable
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.storage.store import AlreadyExists, Precondition
from memforest_ray.testing.store import Crashed, Fault, FaultyStore, Turnstile, contents, scripted, seeded


async def test_a_call_fails_before_or_after_it_happens() -> None:
    """The caller hears the same; the store differs."""
    for fault, kept in ((Fault.FAIL_BEFORE, {}), (Fault.FAIL_AFTER, {"a": b"1"})):
        store = MemoryStore()
        with pytest.raises(StoreUnavailable):
            await FaultyStore(store, scripted({0: fault})).create("a", b"1")
        assert await contents(store) == kept


async def test_a_late_write_happens_when_told() -> None:
    """After its caller has given up; a late refusal bothers nobody."""
    store = MemoryStore()
    faulty = FaultyStore(store, scripted({0: Fault.LATE, 1: Fault.LATE, 2: Fault.LATE}))
    for act in (faulty.create("a", b"1"), faulty.create("a", b"2"), faulty.get("a")):
        with pytest.raises(StoreUnavailable):
            await act
    assert await contents(store) == {}
    await faulty.land()
    assert await contents(store) == {"a": b"1"}


async def test_an_echo_happens_twice() -> None:
    """Answered at once; the copy finds the name taken, or free again."""
    store = MemoryStore()
    faulty = FaultyStore(store, scripted({0: Fault.ECHO, 1: Fault.ECHO, 2: Fault.ECHO}))
    await faulty.create("a", b"1")
    await faulty.create("b", b"2")
    await faulty.get("a")
    await store.delete("b")
    await faulty.land()
    await faulty.land()
    assert await contents(store) == {"a": b"1", "b": b"2"}


async def test_a_doubled_create_meets_itself() -> None:
    """As a client's own retry does."""
    store = MemoryStore()
    with pytest.raises(AlreadyExists):
        await FaultyStore(store, scripted({0: Fault.DUPLICATE})).create("a", b"1")
    assert await contents(store) == {"a": b"1"}


async def test_a_conflict_changes_nothing() -> None:
    """A 409 with nothing landed, in the words of each verb."""
    store = MemoryStore()
    faulty = FaultyStore(store, scripted({0: Fault.CONFLICT, 1: Fault.CONFLICT, 2: Fault.CONFLICT}))
    with pytest.raises(AlreadyExists):
        await faulty.create("a", b"1")
    with pytest.raises(Precondition):
        await faulty.swap("a", b"1", "t")
    with pytest.raises(StoreUnavailable):
        await faulty.get("a")
    assert await contents(store) == {}


async def test_a_crash_ends_every_later_call() -> None:
    """Before or just after the call; then nothing happens any more."""
    for after, kept in ((False, {"a"}), (True, {"a", "b"})):
        store = MemoryStore()
        faulty = FaultyStore(store, crash_at=1, crash_after=after)
        await faulty.create("a", b"")
        for key in ("b", "c"):
            with pytest.raises(Crashed):
                await faulty.create(key, b"")
        assert (await contents(store)).keys() == kept


def test_a_seed_gives_the_same_faults() -> None:
    """At about the given rate."""
    one, two = seeded(5, 0.3), seeded(5, 0.3)
    faults = [one(None) for _ in range(1000)]  # type: ignore[arg-type]  # not looked at
    assert faults == [two(None) for _ in range(1000)]  # type: ignore[arg-type]  # not looked at
    assert 250 < sum(fault is not None for fault in faults) < 350


async def test_a_turnstile_interleaves_by_seed() -> None:
    """The same seed the same order, another seed another; nobody is left out, whatever stalls."""

    async def order(seed: int) -> list[str]:
        turnstile = Turnstile(seed)
        seen: list[str] = []

        async def walk(name: str) -> None:
            store = FaultyStore(MemoryStore(), turn=turnstile.turn_of(name))
            for _ in range(5):
                await store.delete("x")
                seen.append(name)

        await turnstile.run({name: walk(name) for name in "abc"}, stall_rate=0.2, stall_turns=9)
        return seen

    assert await order(1) == await order(1)
    assert len({tuple(await order(seed)) for seed in range(8)}) > 4
    assert sorted(await order(3)) == sorted("abc" * 5)


async def test_a_killed_process_is_reported() -> None:
    """Its result is the cancellation; the others go on."""
    turnstile = Turnstile(1)

    async def walk() -> str:
        await FaultyStore(MemoryStore(), turn=turnstile.turn_of("a")).delete("x")
        return "done"

    ended = await turnstile.run({"a": walk()}, crash_rate=1.0)
    assert isinstance(ended["a"], asyncio.CancelledError)
