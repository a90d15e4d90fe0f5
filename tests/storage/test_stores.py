"""One contract, held by every store."""

import asyncio
from collections.abc import Callable

import obstore.store
import pytest

from memforest_ray.storage.cloud import CloudStore
from memforest_ray.storage.disk import DiskStore
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.storage.open import open_store
from memforest_ray.storage.store import AlreadyExists, Missing, ObjectStore, Precondition
from memforest_ray.testing.store import FaultyStore

STORES: dict[str, Callable[[pytest.FixtureRequest], ObjectStore]] = {
    "memory": lambda _: MemoryStore(),
    "disk": lambda test: DiskStore(test.getfixturevalue("tmp_path") / "store"),
    "cloud": lambda _: CloudStore(obstore.store.MemoryStore(), "s3://bucket"),
    "s3": lambda test: open_store(test.getfixturevalue("s3")),
    "azure": lambda test: open_store(test.getfixturevalue("azure")),
    "faulty": lambda _: FaultyStore(MemoryStore()),
}


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest) -> ObjectStore:
    return STORES[request.param](request)


async def test_an_object_is_read_as_written(store: ObjectStore) -> None:
    """Bytes come back whole, also none and many."""
    for body in (b"", b"\x00\xff", bytes(3_000_000)):
        key = f"v1/{len(body)}"
        tag = await store.create(key, body)
        stored = await store.get(key)
        assert (body, tag) == (stored.body, stored.tag)


async def test_what_is_not_there_is_missing(store: ObjectStore) -> None:
    """A missing key names itself, also in a folder that never was."""
    with pytest.raises(Missing, match="v1/no/such"):
        await store.get("v1/no/such")


async def test_a_name_is_created_once(store: ObjectStore) -> None:
    """The second create is refused and changes nothing."""
    await store.create("a/b", b"first")
    with pytest.raises(AlreadyExists):
        await store.create("a/b", b"second")
    assert (await store.get("a/b")).body == b"first"


async def test_a_stale_tag_is_refused(store: ObjectStore) -> None:
    """A swap under an old tag changes nothing; one under the present tag does."""
    first = await store.create("a", b"1")
    second = await store.swap("a", b"2", first)
    with pytest.raises(Precondition):
        await store.swap("a", b"3", first)
    assert (b"2", second) == ((await store.get("a")).body, (await store.get("a")).tag)


async def test_nothing_cannot_be_swapped(store: ObjectStore) -> None:
    """A swap of a missing object is a failed precondition."""
    tag = await store.create("a", b"1")
    await store.delete("a")
    with pytest.raises(Precondition):
        await store.swap("a", b"2", tag)


async def test_deleting_twice_is_no_error(store: ObjectStore) -> None:
    """A deleted object is missing, and its name is free again."""
    await store.create("a/b", b"1")
    await store.delete("a/b")
    await store.delete("a/b")
    await store.delete("never/was")
    assert await store.create("a/b", b"2")


async def test_overwrite_needs_no_condition(store: ObjectStore) -> None:
    """It writes over something and over nothing."""
    for body in (b"1", b"2"):
        await store.overwrite("wal/1", body)
        assert body == (await store.get("wal/1")).body


async def test_keys_are_listed_in_order(store: ObjectStore) -> None:
    """Only those under the prefix, sorted, in any depth."""
    for key in ("p/b", "p/a/2", "p/a/10", "q/a", "pp/a"):
        await store.create(key, b"")
    assert [key async for key in store.list("p/")] == ["p/a/10", "p/a/2", "p/b"]
    assert [key async for key in store.list("none/")] == []


@pytest.mark.parametrize("writers", [16])
async def test_racing_creates_have_one_winner(store: ObjectStore, writers: int) -> None:
    """Of many creates at once exactly one succeeds."""
    answers = await asyncio.gather(*(store.create("race", bytes([n])) for n in range(writers)), return_exceptions=True)
    assert writers - 1 == sum(isinstance(answer, AlreadyExists) for answer in answers)


async def test_racing_swaps_lose_no_step(store: ObjectStore) -> None:
    """A counter raised by many at once is exact."""
    await store.create("count", b"0")

    async def raise_it() -> None:
        while True:
            held = await store.get("count")
            try:
                await store.swap("count", str(int(held.body) + 1).encode(), held.tag)
            except Precondition:
                continue
            return

    await asyncio.gather(*(raise_it() for _ in range(12)))
    assert (await store.get("count")).body == b"12"
