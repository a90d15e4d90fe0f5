"""Pins and bounds: what is being copied stays, and nothing grows for ever."""

from collections.abc import Awaitable, Callable

import pytest

from memforest_ray.commit import garbage
from memforest_ray.commit import log as commit_log
from memforest_ray.commit.changes import Changes
from memforest_ray.commit.garbage import RETIRED_MAX
from memforest_ray.commit.log import CommitLog
from memforest_ray.errors import InvalidInput, Overloaded
from memforest_ray.ids import OpId, UserId
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.clock import ManualClock
from memforest_ray.testing.store import FaultyStore, contents
from tests.commit.residue import residue

Own = Callable[..., Awaitable[CommitLog]]
Row = Callable[..., Changes]
KEYS = UserKeys.of(UserId("ann"))
DAY = 24 * 3600


async def _grown(log: CommitLog, row: Row, numbers: range) -> None:
    for number in numbers:
        await log.commit(row(number))
        await log.checkpoint()
        await log.compact()


async def test_what_is_pinned_is_kept_until_it_expires(
    store: MemoryStore, owner: Own, row: Row, clock: ManualClock
) -> None:
    """Every part of the manifest that was handed out, through merges and collections, and no longer."""
    log = await owner(store)
    await log.commit(row(0))
    pinned = await log.pin(OpId("copy"), clock.now_ms() + DAY * 1000)
    assert pinned.floor == log.version
    assert pinned.parts
    await _grown(log, row, range(1, 20))
    clock.advance(DAY - 1)
    await log.collect()
    assert {part.key for part in pinned.parts} <= (await contents(store)).keys()
    clock.advance(2)
    await log.collect()
    assert not {part.key for part in pinned.parts} & (await contents(store)).keys()


async def test_what_is_pinned_does_not_go_early(
    store: MemoryStore, owner: Own, row: Row, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does the bound of what is retired reach it."""
    for module in (garbage, commit_log):
        monkeypatch.setattr(module, "RETIRED_MAX", 2)
    log = await owner(store)
    await log.commit(row(0))
    pinned = await log.pin(OpId("copy"), clock.now_ms() + 1000)
    await _grown(log, row, range(1, 20))
    assert {part.key for part in pinned.parts} <= (await contents(store)).keys()
    clock.advance(2)
    await log.collect()
    assert not {part.key for part in pinned.parts} & (await contents(store)).keys()


async def test_no_two_manifests_are_alike(store: MemoryStore, owner: Own, clock: ManualClock) -> None:
    """A store's tag may be a hash of the content: a late copy of a write must not find its tag again."""
    seen: list[bytes] = []

    class Watched(FaultyStore):
        async def swap(self, key: str, body: bytes, tag: str) -> str:
            seen.append(body)
            return await super().swap(key, body, tag)

    log = await owner(Watched(store))
    for _ in range(3):
        await log.pin(OpId("copy"), clock.now_ms() + 1000)
        await log.unpin(OpId("copy"))
    assert len(set(seen)) == len(seen) == 6


async def test_an_erasure_waits_for_pins(store: MemoryStore, owner: Own, row: Row, clock: ManualClock) -> None:
    """It is refused before anything changes, says for how long, and goes once the pin is gone; nor the reverse."""
    log = await owner(store)
    await log.commit(row(1))
    forgetting = row(2, drop=1)
    await log.pin(OpId("copy"), clock.now_ms() + 60_000)
    before = await contents(store)
    with pytest.raises(Overloaded, match=r"being copied, .* for 60 s more") as caught:
        await log.commit(forgetting, opens=["e"])
    assert caught.value.retry_after == 60.0
    assert await contents(store) == before
    await log.unpin(OpId("copy"))
    await log.unpin(OpId("copy"))
    await log.commit(forgetting, opens=["e"])
    for act in (log.pin(OpId("copy"), clock.now_ms() + 60_000), log.save("a")):
        with pytest.raises(Overloaded, match="not finished"):
            await act
    await log.erase()
    assert await residue(store, "said 1") == []


async def test_a_pin_has_bounds(store: MemoryStore, owner: Own, row: Row, clock: ManualClock) -> None:
    """In time and number; the same operation again moves its own pin."""
    log = await owner(store)
    now = clock.now_ms()
    for expires in (now, now + DAY * 1000 + 1):
        with pytest.raises(InvalidInput, match="24 hours"):
            await log.pin(OpId("o"), expires)
    for number in range(16):
        await log.pin(OpId(f"o{number}"), now + 1000)
    with pytest.raises(Overloaded, match="16 copies"):
        await log.pin(OpId("one more"), now + 1000)
    manifest = await log.pin(OpId("o3"), now + 2000)
    assert len(manifest.pins) == 16
    clock.advance(1.5)
    pins = (await log.pin(OpId("late"), now + 3000)).pins
    assert [pin.operation for pin in pins if pin.expires_ms > clock.now_ms()] == ["o3", "late"]
    assert len(pins) == 3


async def test_a_pin_that_nobody_gave_back_is_remembered_until_an_erasure(
    store: MemoryStore, owner: Own, row: Row, clock: ManualClock
) -> None:
    """Expired, or let go of without a copy that stands: one for all of them, which holds up nothing."""
    log = await owner(store)
    await log.commit(row(1))
    await log.pin(OpId("stands"), clock.now_ms() + 60_000)
    await log.unpin(OpId("stands"))
    assert not log.unreturned
    for number in range(20):
        await log.pin(OpId(f"late{number}"), clock.now_ms() + 60_000)
        await log.unpin(OpId(f"late{number}"), landed=False)
    await log.unpin(OpId("never was"), landed=False)
    await log.pin(OpId("dead"), clock.now_ms() + 1000)
    clock.advance(2)
    await log.collect()
    heir = await owner(store)
    unreturned = [heir.unreturned]
    assert heir.manifest
    pins = [len(heir.manifest.pins)]
    await heir.commit(row(2, drop=1), opens=["e"])
    await heir.erase()
    unreturned.append(heir.unreturned)
    pins.append(len(heir.manifest.pins))
    assert (unreturned, pins) == ([True, False], [1, 0])


async def test_what_is_retired_is_bounded_without_a_collection(
    store: MemoryStore, owner: Own, row: Row, clock: ManualClock
) -> None:
    """Months of checkpoints that nobody collects after keep the manifest small, and every row."""
    log = await owner(store)
    for number in range(700):
        await log.commit(row(number % 20))
        await log.checkpoint()
        await log.compact()
        clock.advance(3600)
    assert log.manifest
    assert len(log.manifest.retired) <= RETIRED_MAX + 48
    assert sum("/wal/" in entry.key for entry in log.manifest.retired) <= 48
    assert len((await store.get(KEYS.manifest)).body) < 100_000
    assert len((await log.read()).tables["cells"]) == 20


async def test_beyond_the_bound_the_oldest_parts_go_early(store: MemoryStore, owner: Own, row: Row) -> None:
    """Within one hour: the oldest are removed though they are young; a new reader finds every row."""
    log = await owner(store)
    for number in range(RETIRED_MAX // 2 + 60):
        await log.commit(row(number % 20))
        await log.checkpoint()
        await log.compact()
    assert log.manifest
    assert len(log.manifest.retired) <= RETIRED_MAX + 1
    parts = [key for key in await contents(store) if "/seg/" in key]
    assert len(parts) <= RETIRED_MAX + len(log.manifest.parts)
    assert len((await log.read()).tables["cells"]) == 20
