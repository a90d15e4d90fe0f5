"""Snapshots and pins: what was saved comes back, is kept as long as it is wanted, and leaves when it must."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from memforest_ray.commit.changes import Changes
from memforest_ray.commit.loaded import Loaded
from memforest_ray.commit.log import CommitLog
from memforest_ray.commit.snapshots import NAME_MAX, SNAPSHOTS_MAX
from memforest_ray.commit.users import delete_user
from memforest_ray.errors import (
    CorruptState,
    EmbeddingMismatch,
    Fenced,
    InvalidInput,
    NotFound,
)
from memforest_ray.ids import OpId, UserId
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.clock import ManualClock, SeededRandom
from memforest_ray.testing.store import Crashed, FaultyStore, contents
from tests.commit.residue import residue

Own = Callable[..., Awaitable[CommitLog]]
Row = Callable[..., Changes]
KEYS = UserKeys.of(UserId("ann"))
DAY = 24 * 3600
ODD = ["before the trip", "../..", "a/b", "", "nul\0", "x" * NAME_MAX, "😀 \ud800", "שלום", "s", "S", "s "]


async def _cells(log: CommitLog, name: str) -> set[str]:
    return set((await log.read_snapshot(name)).tables.get("cells", {}))


async def _grown(log: CommitLog, row: Row, numbers: range) -> None:
    for number in numbers:
        await log.commit(row(number))
        await log.checkpoint()
        await log.compact()


async def test_what_was_saved_is_read_whatever_follows(
    store: MemoryStore, owner: Own, make_log: Any, row: Row, clock: ManualClock
) -> None:
    """Through growth, merges, collections and owners, by a reader without a claim."""
    log = await owner(store)
    await _grown(log, row, range(5))
    await log.commit(row(5, drop=0))
    saved = await log.save("before")
    assert (saved.name, saved.version, saved.created_ms) == ("before", log.version, clock.now_ms())
    await _grown(log, row, range(6, 30))
    clock.advance(2 * DAY)
    await log.collect()
    heir = await owner(store)
    await heir.collect()
    reader = make_log(store)
    assert await _cells(reader, "before") == {"c1", "c2", "c3", "c4", "c5"}
    assert (await reader.read_snapshot("before")).version == saved.version
    assert await reader.snapshots() == (saved,)
    assert (await reader.read()).tables["cells"].keys() == {f"c{n}" for n in range(1, 30)}


async def test_any_text_is_a_name(store: MemoryStore, owner: Own, row: Row) -> None:
    """Names differ as texts differ, come back as given, and stand in no key."""
    log = await owner(store)
    for number, name in enumerate(ODD):
        await log.commit(row(number))
        if not name:
            with pytest.raises(InvalidInput, match="1 to 200 characters"):
                await log.save(name)
            continue
        await log.save(name)
    assert [saved.name for saved in await log.snapshots()] == [name for name in ODD if name]
    assert [len(await _cells(log, name)) for name in ODD if name] == [n + 1 for n, name in enumerate(ODD) if name]
    assert not any("trip" in key for key in await contents(store))


async def test_a_taken_name_is_refused_unless_it_is_replaced(store: MemoryStore, owner: Own, row: Row) -> None:
    """Refused, nothing changes; replaced, the name means the new rows."""
    log = await owner(store)
    await log.commit(row(1))
    await log.save("a")
    await log.commit(row(2))
    before = await contents(store)
    with pytest.raises(InvalidInput, match="there is already a snapshot 'a'"):
        await log.save("a")
    assert await contents(store) == before
    replaced = await log.save("a", replace=True)
    assert await _cells(log, "a") == {"c1", "c2"}
    assert await log.snapshots() == (replaced,)


async def test_a_retried_save_finds_its_own(store: MemoryStore, owner: Own, row: Row) -> None:
    """Under the same operation, after a takeover too; nothing is written again, and its rows stay the first ones."""
    log = await owner(store)
    await log.commit(row(1))
    saved = await log.save("a", operation=OpId("o1"))
    heir = await owner(store)
    await heir.commit(row(2))
    for replacing in (False, True):
        assert await heir.save("a", replace=replacing, operation=OpId("o1")) == saved
    with pytest.raises(InvalidInput):
        await heir.save("a", operation=OpId("o2"))
    assert await _cells(heir, "a") == {"c1"}


async def test_a_late_retry_is_told_what_was_told(store: MemoryStore, owner: Own, row: Row) -> None:
    """Though the snapshot was replaced or removed since: a save is not done again, a removal is not "not found"."""
    log = await owner(store)
    await log.commit(row(1))
    saved = await log.save("a", operation=OpId("o1"))
    await log.commit(row(2))
    await log.save("a", replace=True, operation=OpId("o2"))
    heir = await owner(store)
    assert await heir.save("a", replace=True, operation=OpId("o1")) == saved
    assert await _cells(heir, "a") == {"c1", "c2"}
    version = await heir.delete_snapshot("a", operation=OpId("o3"))
    assert version == heir.version
    await heir.commit(row(3))
    assert await heir.save("a", operation=OpId("o1")) == saved
    assert await heir.delete_snapshot("a", operation=OpId("o3")) == version
    assert await heir.deleted("a", OpId("o3")) == version
    with pytest.raises(NotFound):
        await heir.deleted("a", OpId("o4"))
    assert await heir.snapshots() == ()


async def test_an_operation_does_one_thing(store: MemoryStore, owner: Own, row: Row) -> None:
    """Its id on another deed, or another name, is a mistake of the caller."""
    log = await owner(store)
    await log.commit(row(1))
    await log.save("a", operation=OpId("o1"))
    for act in (log.save("b", operation=OpId("o1")), log.delete_snapshot("a", operation=OpId("o1"))):
        with pytest.raises(InvalidInput, match="'o1' names another write"):
            await act
    with pytest.raises(InvalidInput, match="'o1' names another write"):
        await log.deleted("a", OpId("o1"))


async def test_only_the_newest_writes_to_snapshots_are_remembered(
    store: MemoryStore, owner: Own, row: Row, clock: ManualClock
) -> None:
    """So that the manifest stays small; none names a snapshot that is gone."""
    log = await owner(store)
    await log.commit(row(1))
    for number in range(40):
        await log.save("a secret name", operation=OpId(f"save {number}"))
        await log.delete_snapshot("a secret name", operation=OpId(f"delete {number}"))
    manifest = log.manifest
    assert manifest is not None
    assert [entry.operation for entry in manifest.settled[-2:]] == ["save 39", "delete 39"]
    assert len(manifest.settled) == 32
    clock.advance(2 * DAY)
    await log.collect()
    assert await residue(store, "a secret name") == []


@pytest.mark.parametrize("known", [False, True])
async def test_a_restore_beside_a_deletion_is_fenced(
    store: MemoryStore, owner: Own, row: Row, clock: ManualClock, known: bool
) -> None:
    """Deleted between the looks at the snapshot and at the present: neither embedder nor rows are to blame.

    Also where another call of the same owner has found out meanwhile.
    """
    log = await owner(store)
    await log.commit(row(1))
    await log.save("a")
    read_snapshot = log.read_snapshot

    async def read_slowly(name: str) -> Loaded:
        loaded = await read_snapshot(name)
        await delete_user(store, UserId("ann"), clock, SeededRandom(9))
        if known:
            with pytest.raises(Fenced):
                await log.commit(row(2))
        return loaded

    log.read_snapshot = read_slowly  # type: ignore[method-assign]  # the deletion comes in between
    with pytest.raises(Fenced):
        await log.restore("a")


async def test_there_are_not_too_many(store: MemoryStore, owner: Own, row: Row) -> None:
    """The one too many is refused, replacing one is not; the manifest stays small."""
    log = await owner(store)
    await log.commit(row(1))
    for number in range(SNAPSHOTS_MAX):
        await log.save(f"s{number}")
    with pytest.raises(InvalidInput, match="64 snapshots"):
        await log.save("one more")
    await log.save("s0", replace=True)
    assert len((await store.get(KEYS.manifest)).body) < 32_000


async def test_a_deleted_snapshot_leaves_after_a_day(
    store: MemoryStore, owner: Own, row: Row, clock: ManualClock
) -> None:
    """At once from the list; from the store a day later, with the parts that only it needed, and no others."""
    log = await owner(store)
    await _grown(log, row, range(3))
    await log.save("a")
    await log.commit(row(3))
    await log.save("b")
    await _grown(log, row, range(4, 20))
    clock.advance(2 * DAY)
    await log.collect()
    both = await contents(store)
    await log.delete_snapshot("b")
    assert [saved.name for saved in await log.snapshots()] == ["a"]
    for act in (log.delete_snapshot("b"), log.read_snapshot("b")):
        with pytest.raises(NotFound, match="no snapshot 'b'"):
            await act
    await log.collect()
    assert {key for key in both if "/seg/" in key or "/snap/" in key} <= (await contents(store)).keys()
    clock.advance(DAY + 1)
    await log.collect()
    assert await _cells(log, "a") == {"c0", "c1", "c2"}
    gone = both.keys() - (await contents(store)).keys()
    assert sum("/snap/" in key for key in gone) == 1
    assert sum("/seg/" in key for key in gone) == 2
    await log.delete_snapshot("a")
    clock.advance(DAY + 1)
    await log.collect()
    assert log.manifest
    left = {key for key in await contents(store) if "/seg/" in key or "/snap/" in key}
    assert left == {part.key for part in log.manifest.parts}


async def test_a_restore_is_what_to_commit(store: MemoryStore, owner: Own, make_log: Any, row: Row) -> None:
    """Committed, the rows are the snapshot's; tables that the caller keeps are left alone; the version rises."""
    log = await owner(store)
    await log.commit(row(1))
    await log.commit(row(2))
    await log.save("a")
    later = row(3, drop=1)
    later.put("forgotten", "f", 1)
    later.put("cells", "c2", {"text": "changed"})
    await log.commit(later)
    before = log.version
    changes = await log.restore("a", kept=("forgotten",))
    assert changes.drops == {"cells": {"c3"}, "vectors": {"v3"}}
    assert {table: set(rows) for table, rows in changes.puts.items()} == {"cells": {"c1", "c2"}, "vectors": {"v1"}}
    assert await log.commit(changes) == before + 1
    tables = (await make_log(store).read()).tables
    assert tables == {**(await log.read_snapshot("a")).tables, "forgotten": {"f": 1}}
    assert (await log.restore("a", kept=("forgotten",))).empty
    assert set((await log.restore("a")).drops) == {"forgotten"}


async def test_a_snapshot_of_another_embedder_is_not_restored(
    store: MemoryStore, owner: Own, make_log: Any, row: Row
) -> None:
    """Its vectors could not be compared."""
    log = await owner(store)
    await log.commit(row(1))
    await log.save("a")
    assert log._claim
    await log._claim.replace(
        type(log._claim.manifest)(**{**_fields(log._claim.manifest), "fingerprint": {"model": "other", "dimension": 4}})
    )
    with pytest.raises(EmbeddingMismatch):
        await log.restore("a")


def _fields(manifest: Any) -> dict[str, Any]:
    return {name: getattr(manifest, name) for name in manifest.__slots__}


async def test_only_the_owner_changes_snapshots(store: MemoryStore, owner: Own, row: Row) -> None:
    """A stalled one is fenced, and what it wrote is in no list and is swept."""
    stalled = await owner(store)
    await stalled.commit(row(1))
    await stalled.save("a")
    heir = await owner(store)
    for act in (stalled.save("b"), stalled.delete_snapshot("a"), stalled.pin(OpId("o"), 1)):
        with pytest.raises((Fenced, InvalidInput)):
            await act
    await heir.commit(row(2))
    await heir.checkpoint()
    await heir.collect()
    assert [saved.name for saved in await heir.snapshots()] == ["a"]
    assert len([key for key in await contents(store) if "/snap/" in key]) == 1


async def test_a_save_cut_off_anywhere_is_whole_or_not_there(owner: Own, make_log: Any, row: Row) -> None:
    """And can be made again, under the same operation."""

    async def grown(store: Any) -> CommitLog:
        log = await owner(store)
        await _grown(log, row, range(2))
        await log.save("old")
        await log.commit(row(2))
        return log

    whole = FaultyStore(MemoryStore())
    log = await grown(whole)
    begun = len(whole.calls)
    await log.save("old", replace=True, operation=OpId("o"))
    for place in range(begun, len(whole.calls)):
        for after in (False, True):
            store = MemoryStore()
            log = await grown(FaultyStore(store, crash_at=place, crash_after=after))
            with pytest.raises(Crashed):
                await log.save("old", replace=True, operation=OpId("o"))
            assert await _cells(make_log(store), "old") in ({"c0", "c1"}, {"c0", "c1", "c2"})
            heir = await owner(store)
            await heir.save("old", replace=True, operation=OpId("o"))
            await heir.collect()
            assert await _cells(heir, "old") == {"c0", "c1", "c2"}


# ---- erasure ---------------------------------------------------------------------------------------------


def _secret(number: int) -> Changes:
    changes = Changes()
    changes.put("cells", f"secret{number}", {"text": f"HERON-{number}"})
    changes.put("vectors", f"secret{number}", b"HERON--%d" % number)
    return changes


def _without(*numbers: int) -> Changes:
    changes = Changes()
    for number in numbers:
        changes.drop("cells", f"secret{number}")
        changes.drop("vectors", f"secret{number}")
    return changes


async def test_a_snapshot_that_holds_the_text_stops_an_erasure_that_does_not_include_it(
    store: MemoryStore, owner: Own, row: Row
) -> None:
    """Named, and nothing is changed; one that does not hold it stops nothing."""
    log = await owner(store)
    await log.commit(row(1))
    await log.save("clean")
    await log.commit(_secret(1))
    await log.save("holds it")
    before = await contents(store)
    with pytest.raises(InvalidInput, match="'holds it'; nothing was changed") as caught:
        await log.commit(_without(1), opens=["e"])
    assert caught.value.detail["snapshots"] == ["holds it"]
    assert await contents(store) == before
    await log.delete_snapshot("holds it")
    await log.commit(_without(1), opens=["e"])
    await log.erase()
    assert await residue(store, "HERON") == []
    assert await _cells(log, "clean") == {"c1"}


async def test_an_erasure_rewrites_the_snapshots_it_includes(store: MemoryStore, owner: Own, row: Row) -> None:
    """Name, version and date stay; the dropped rows are gone from the store, all others are there."""
    log = await owner(store)
    await log.commit(row(1))
    await log.commit(_secret(1))
    first = await log.save("first")
    await log.commit(row(2))
    second = await log.save("second")
    await log.commit(row(3, drop=1))
    assert len(await residue(store, "HERON")) >= 2
    await log.commit(_without(1), opens=["e"], including_snapshots=True)
    await log.erase()
    assert await residue(store, "HERON") == []
    assert (await _cells(log, "first"), await _cells(log, "second")) == ({"c1"}, {"c1", "c2"})
    told = [(saved.name, saved.version, saved.created_ms) for saved in await log.snapshots()]
    assert told == [(saved.name, saved.version, saved.created_ms) for saved in (first, second)]


async def test_what_a_snapshot_only_hides_is_erased_too(store: MemoryStore, owner: Own, row: Row) -> None:
    """A row dropped before the save is in its parts, not in its rows: no reason to refuse, nor to leave it there."""
    log = await owner(store)
    await log.commit(_secret(1))
    await log.checkpoint()
    await log.commit(_without(1))
    await log.commit(row(1))
    await log.save("after")
    await log.commit(Changes(), opens=["e"])
    await log.erase()
    assert await residue(store, "HERON") == []
    assert await _cells(log, "after") == {"c1"}


async def test_the_forest_says_what_must_leave_a_snapshot(store: MemoryStore, owner: Own, row: Row) -> None:
    """Its rule is asked instead of the drops: rows of the past that the present never had can go too."""

    async def rule(loaded: Loaded) -> Changes:
        changes = Changes()
        for key in loaded.tables.get("cells", {}):
            if key.startswith("secret"):
                changes.drop("cells", key)
                changes.drop("vectors", key)
        if not changes.empty:
            changes.put("cells", "hole", {"text": "something was here"})
        return changes

    log = await owner(store)
    await log.commit(_secret(1))
    await log.save("a")
    await log.commit(_without(1))
    await log.commit(row(1))
    with pytest.raises(InvalidInput, match="'a'"):
        await log.commit(Changes(), opens=["e"], rewrite=rule)
    await log.commit(Changes(), opens=["e"], including_snapshots=True, rewrite=rule)
    await log.erase(rule)
    assert await residue(store, "HERON") == []
    assert await _cells(log, "a") == {"hole"}


async def test_an_erasure_of_snapshots_goes_on_after_a_crash_at_any_call(owner: Own, make_log: Any, row: Row) -> None:
    """The heir still knows what has to go, also when the dead one checkpointed meanwhile."""

    async def told(store: Any) -> CommitLog:
        log = await owner(store)
        await log.commit(_secret(1))
        await log.commit(row(1))
        await log.save("a")
        return log

    async def forget(log: CommitLog) -> None:
        await log.commit(_without(1), opens=["e"], including_snapshots=True)
        await log.checkpoint()
        await log.erase()

    whole = FaultyStore(MemoryStore())
    log = await told(whole)
    begun = len(whole.calls)
    await forget(log)
    for place in range(begun, len(whole.calls)):
        for after in (False, True):
            store = MemoryStore()
            log = await told(FaultyStore(store, crash_at=place, crash_after=after))
            with pytest.raises(Crashed):
                await forget(log)
            heir = await owner(store)
            if heir.erasing:
                await heir.close()
                heir = await owner(store)
                await heir.erase()
            elif "secret1" in (await make_log(store).read()).tables["cells"]:
                continue  # it was not begun
            assert await residue(store, "HERON") == []
            assert await _cells(heir, "a") == {"c1"}


async def test_a_damaged_snapshot_stops_an_erasure_until_it_is_deleted(
    store: MemoryStore, owner: Own, row: Row
) -> None:
    """What cannot be read cannot be cleaned; the owner can still come in, and remove it."""
    log = await owner(store)
    await log.commit(_secret(1))
    await log.save("a")
    (key,) = [key for key in await contents(store) if "/snap/" in key]
    await log.commit(_without(1), opens=["e"], including_snapshots=True)
    await store.overwrite(key, b"?")
    for act in (log.erase(), log.read_snapshot("a")):
        with pytest.raises(CorruptState, match=key):
            await act
    heir = await owner(store)
    assert heir.erasing == ("e",)
    await heir.delete_snapshot("a")
    await heir.erase()
    assert await residue(store, "HERON") == []
