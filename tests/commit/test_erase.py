"""Erasure: no byte of a dropped row is left, wherever it was cut off."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from memforest_ray.commit.changes import Changes
from memforest_ray.commit.log import CommitLog
from memforest_ray.errors import StoreUnavailable
from memforest_ray.ids import OpId, UserId
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.clock import ManualClock
from memforest_ray.testing.store import Crashed, FaultyStore
from tests.commit.residue import residue

Own = Callable[..., Awaitable[CommitLog]]
Row = Callable[..., Changes]
KEYS = UserKeys.of(UserId("ann"))
FINGERPRINT = {"model": "tiny", "dimension": 4}
SECRET = "HERON-7"
DAY = 24 * 3600


async def _told(log: CommitLog, row: Row) -> None:
    """The secret in a part, a merged part and the log; among others."""
    for number in range(9):
        changes = row(number)
        changes.put("cells", f"secret{number}", {"text": f"word {SECRET} {number}"})
        changes.put("vectors", f"secret{number}", SECRET.encode() + b"!")
        await log.commit(changes)
        if number < 8:
            await log.checkpoint()
    await log.compact()


def _forgetting() -> Changes:
    changes = Changes()
    for number in range(9):
        changes.drop("cells", f"secret{number}")
        changes.drop("vectors", f"secret{number}")
    return changes


async def _forget(log: CommitLog) -> None:
    await log.commit(_forgetting(), [OpId("forget")], opens=["forget"])
    await log.erase()


async def test_nothing_is_left(store: MemoryStore, owner: Own, make_log: Any, row: Row) -> None:
    """Not in parts, slots, caches or leftovers; the rest is there, and the erasure is closed by a version."""
    log = await owner(store)
    await _told(log, row)
    await store.create(f"{KEYS.caches}0001", SECRET.encode())
    await store.create(KEYS.part(0, 1, "a" * 32), SECRET.encode())
    assert len(await residue(store, SECRET)) >= 19
    version = await log.commit(_forgetting(), [OpId("forget")], opens=["forget"])
    erased = await log.erase()
    assert await residue(store, SECRET) == []
    assert (erased.version, erased.slots) == (version + 1, 10)
    assert not log.erasing
    loaded = await make_log(store).read()
    assert loaded.version == erased.version
    assert loaded.tables["cells"].keys() == {f"c{number}" for number in range(9)}
    assert loaded.tables["vectors"].keys() == {f"v{number}" for number in range(9)}


async def test_it_goes_on_after_a_crash_at_any_call(make_log: Any, owner: Own, row: Row) -> None:
    """The heir finds it open, finishes it, and closes it; once closed nothing is left anywhere."""
    whole = FaultyStore(MemoryStore())
    log = await owner(whole)
    await _told(log, row)
    begun = len(whole.calls)
    await _forget(log)
    for place in range(begun, len(whole.calls)):
        store = MemoryStore()
        log = await owner(FaultyStore(store, crash_at=place, crash_after=bool(place % 2)))
        await _told(log, row)
        with pytest.raises(Crashed):
            await _forget(log)
        heir = await owner(store)
        if not heir.erasing:
            # Either not yet begun, or closed: then nothing may be left.
            assert await residue(store, SECRET) == [] or "secret0" in (await make_log(store).read()).tables["cells"]
            continue
        await heir.erase()
        assert await residue(store, SECRET) == []
        assert (await make_log(store).read()).erasing == ()


async def test_open_erasures_survive_checkpoint_and_close(
    store: MemoryStore, owner: Own, make_log: Any, row: Row
) -> None:
    """An owner that leaves before it erased leaves the entry behind."""
    log = await owner(store)
    await log.commit(row(1), opens=["one"])
    await log.close()
    assert (await make_log(store).read()).erasing == ("one",)
    heir = await owner(store)
    assert heir.erasing == ("one",)
    await heir.commit(row(2), opens=["two"])
    await heir.erase()
    await heir.commit(row(3))
    assert (await make_log(store).read()).erasing == ()
    assert (await owner(store)).erasing == ()


async def test_a_stalled_writers_part_is_swept_for_a_day(
    store: MemoryStore, owner: Own, row: Row, clock: ManualClock
) -> None:
    """What an older epoch drops after the erasure goes at the next checkpoint or claim; later, only by collection."""
    await owner(store)
    log = await owner(store)
    await _told(log, row)
    await _forget(log)
    late = KEYS.part(1, 1, "a" * 32)
    await store.create(late, SECRET.encode())
    await log.commit(row(20))
    await log.checkpoint()
    assert await residue(store, SECRET) == []
    await store.create(late, SECRET.encode())
    heir = await owner(store)
    assert await residue(store, SECRET) == []
    clock.advance(DAY + 1)
    await store.create(late, SECRET.encode())
    await heir.commit(row(21))
    await heir.checkpoint()
    assert await residue(store, SECRET) == [late]
    await heir.collect()
    assert await residue(store, SECRET) == []


async def test_a_covered_slot_is_not_free(store: MemoryStore, owner: Own, row: Row) -> None:
    """A stalled commit of before meets the tombstone, and recognises whether it was its own."""
    stalled = await owner(store)
    heir = await owner(store)
    await heir.commit(row(1))
    await _forget(heir)
    with pytest.raises(Exception, match="taken over"):
        await stalled.commit(row(9))
    assert "c9" not in (await heir.read()).tables["cells"]


async def test_a_store_that_keeps_showing_the_removed_leaves_it_open(store: MemoryStore, owner: Own, row: Row) -> None:
    """No receipt for an erasure that cannot be seen to have worked."""

    class Clinging(FaultyStore):
        async def delete(self, key: str) -> None:
            if "/seg/" not in key:
                await super().delete(key)

    log = await owner(Clinging(store))
    await log.commit(row(1))
    await log.checkpoint()
    await log.commit(row(2), opens=["x"])
    with pytest.raises(StoreUnavailable, match="stays open"):
        await log.erase()
    assert log.erasing == ("x",)


async def test_an_erasure_is_not_undone_by_a_merge_under_way(store: MemoryStore, owner: Own, row: Row) -> None:
    """Merging old rows and erasing them exclude each other."""
    log = await owner(store)
    await _told(log, row)
    for number in range(30, 38):
        await log.commit(row(number))
        await log.checkpoint()
    await log.commit(_forgetting(), opens=["x"])
    await asyncio.gather(log.compact(), log.erase(), log.compact())
    assert await residue(store, SECRET) == []
