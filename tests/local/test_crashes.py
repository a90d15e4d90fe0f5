"""Death at every single call of the store: what was acknowledged is there, what is there is whole."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from memforest_ray.facts.sessions import Session
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.forests import Forests, TestForest, check_forest, check_same, decided, residue
from memforest_ray.testing.store import Crashed, FaultyStore

Say = Callable[..., Session]
Deed = Callable[[TestForest], Awaitable[Any]]


async def _born(forests: Forests, deeds: list[Deed], store: MemoryStore) -> TestForest:
    forest = forests.open(store=store)
    for deed in deeds:
        await deed(forest)
    return forest


async def _states(deeds: list[Deed]) -> list[dict[str, Any]]:
    """What is decided before and after each deed."""
    forest = Forests().open()
    states = [decided(await forest.version())]
    for deed in deeds:
        await deed(forest)
        states.append(decided(await forest.version()))
    return states


async def _lived(forest: TestForest, deeds: list[Deed], done: list[int]) -> None:
    for number, deed in enumerate(deeds):
        await deed(forest)
        done.append(number)
    await forest.driver.close()


@pytest.mark.parametrize("after", [False, True])
async def test_a_crash_at_any_call_leaves_a_prefix(say: Say, after: bool) -> None:
    """Ingests, growth and a forget, killed anywhere: the next owner finds a prefix, and can go on to the same end."""
    deeds: list[Deed] = [
        lambda forest: forest.ingest(say("s1", "I live in Davis.", "Nice."), "a"),
        lambda forest: forest.ingest(say("s2", "My PIN word is HERON-7.", "I like chess."), "b"),
        lambda forest: forest.ingest(say("s1", "I live in Davis.", "Nice.", "I moved to Oslo."), "c"),
        lambda forest: forest.forget("d", session="s2"),
    ]
    states = await _states(deeds)
    forests = Forests(checkpoint_commits=2)
    probing = FaultyStore(MemoryStore())
    await _lived(forests.open(store=probing), deeds, [])
    for place in range(len(probing.calls)):
        store, done = MemoryStore(), list[int]()
        faulty = FaultyStore(store, crash_at=place, crash_after=after)
        with pytest.raises(Crashed):
            await _lived(forests.open(store=faulty), deeds, done)
        version = await forests.open(store=store).version()
        check_forest(version)
        assert decided(version) in states[len(done) : len(done) + 2]
        heir = await _born(forests, deeds, store)
        check_same(await heir.version(), await forests.open(store=store).version())
        assert decided(await heir.version()) == states[-1]
        assert await residue("HERON", store, await heir.version()) == []
