"""Shutting out: what somebody has begun to write does not land any more, and nothing else is changed."""

from collections.abc import Awaitable, Callable

import pytest

from memforest_ray.commit.changes import Changes
from memforest_ray.commit.fencing import shut_out
from memforest_ray.commit.log import CommitLog
from memforest_ray.commit.users import delete_user
from memforest_ray.errors import Fenced
from memforest_ray.ids import UserId
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.clock import ManualClock, SeededRandom
from memforest_ray.testing.store import contents

Own = Callable[..., Awaitable[CommitLog]]
Row = Callable[..., Changes]
ANN = UserId("ann")


async def test_an_owner_is_shut_out(store: MemoryStore, owner: Own, row: Row, clock: ManualClock) -> None:
    """He cannot commit; what he has committed stands; the next owner goes on."""
    log = await owner(store)
    for number in range(3):
        await log.commit(row(number))
    before = (await log.read()).tables
    await shut_out(store, ANN, clock, SeededRandom(5))
    with pytest.raises(Fenced):
        await log.commit(row(3))
    heir = await owner(store)
    assert (await heir.read()).tables == before
    await heir.commit(row(4))


async def test_a_commit_that_was_begun_before_does_not_land(
    store: MemoryStore, owner: Own, row: Row, clock: ManualClock
) -> None:
    """Not even one whose request goes out after all that."""

    class Slow(MemoryStore):
        async def create(self, key: str, body: bytes) -> str:
            if UserKeys.of(ANN).seq_of(key) == slow:
                await shut_out(store, ANN, clock, SeededRandom(5))
            return await store.create(key, body)

        async def get(self, key: str):  # type: ignore[no-untyped-def]  # as the store's
            return await store.get(key)

        async def swap(self, key: str, body: bytes, tag: str) -> str:
            return await store.swap(key, body, tag)

    slow = 0
    log = await owner(Slow())
    await log.commit(row(0))
    slow = log.version + 1
    with pytest.raises(Fenced):
        await log.commit(row(1))
    assert set((await (await owner(store)).read()).tables["cells"]) == {"c0"}


async def test_where_nobody_can_commit_nothing_is_done(
    store: MemoryStore, owner: Own, row: Row, clock: ManualClock
) -> None:
    """Nobody is there, or not any more, or he is damaged."""
    await shut_out(store, ANN, clock, SeededRandom(5))
    assert await contents(store) == {}
    await (await owner(store)).commit(row(0))
    await delete_user(store, ANN, clock, SeededRandom(6))
    left = await contents(store)
    await shut_out(store, ANN, clock, SeededRandom(5))
    await store.overwrite(UserKeys.of(ANN).manifest, b"damaged")
    await shut_out(store, ANN, clock, SeededRandom(5))
    assert await contents(store) == {**left, UserKeys.of(ANN).manifest: b"damaged"}
