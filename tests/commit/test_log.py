"""A log in fair weather: read, claim, commit, checkpoint, merge, collect, close."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from memforest_ray.commit import claim
from memforest_ray.commit.changes import Changes
from memforest_ray.commit.log import CommitLog, Reload
from memforest_ray.errors import EmbeddingMismatch, Fenced, InvalidInput, StoreUnavailable
from memforest_ray.ids import OpId, UserId
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.clock import ManualClock
from memforest_ray.testing.store import Crashed, FaultyStore, contents

Own = Callable[..., Awaitable[CommitLog]]
Row = Callable[..., Changes]
HOUR = 3600
KEYS = UserKeys.of(UserId("ann"))


async def _cells(log: CommitLog) -> list[str]:
    return sorted((await log.read()).tables.get("cells", {}))


async def test_an_unknown_user_is_empty(store: MemoryStore, make_log: Any) -> None:
    """Version 0, no rows, and reading wrote nothing."""
    loaded = await make_log(store).read()
    assert (loaded.tables, loaded.version, loaded.manifest) == ({}, 0, None)
    assert await contents(store) == {}


async def test_a_commit_is_one_write_and_the_next_version(store: MemoryStore, owner: Own, row: Row) -> None:
    """The fence takes version 1; each commit the next, with a single create and nothing else."""
    faulty = FaultyStore(store)
    log = await owner(faulty)
    before = len(faulty.calls)
    assert [await log.commit(row(n)) for n in (1, 2)] == [2, 3]
    assert [call.verb for call in faulty.calls[before:]] == ["create", "create"]


async def test_what_was_committed_is_read(store: MemoryStore, owner: Own, make_log: Any, row: Row) -> None:
    """By a reader without a claim, which leaves the store byte for byte unchanged."""
    log = await owner(store)
    for number in range(5):
        await log.commit(row(number, drop=number - 2), [OpId(f"o{number}")])
    before = await contents(store)
    loaded = await make_log(store).read()
    assert loaded.version == log.version
    assert loaded.tables["cells"] == {"c3": {"text": "said 3"}, "c4": {"text": "said 4"}}
    assert loaded.tables["vectors"]["v4"] == (4).to_bytes(8, "little")
    assert await contents(store) == before


@pytest.mark.parametrize("commits", [1, 31, 40, 300])
async def test_checkpoints_and_merges_change_no_row(
    store: MemoryStore, owner: Own, make_log: Any, row: Row, commits: int
) -> None:
    """However often the log is shortened, what is read is the same, and the lists stay short."""
    log = await owner(store, checkpoint_commits=3)
    for number in range(commits):
        await log.commit(row(number, drop=number // 2 if number % 3 else None))
        if log.due:
            await log.checkpoint()
            await log.compact()
    dropped = {n // 2 for n in range(1, commits) if n % 3}
    loaded = await make_log(store).read()
    assert loaded.tables["cells"].keys() == {f"c{n}" for n in range(commits) if n not in dropped}
    assert loaded.tables["vectors"].keys() == {f"v{n}" for n in range(commits) if n not in dropped}
    assert loaded.version == commits + 1
    assert loaded.manifest
    assert len(loaded.manifest.parts) <= 2 * 7 * 3


async def test_without_compaction_the_list_of_parts_is_still_bounded(store: MemoryStore, owner: Own, row: Row) -> None:
    """A checkpoint merges by itself before more than 64 parts are listed."""
    log = await owner(store)
    most = 0
    for number in range(70):
        await log.commit(row(number))
        await log.checkpoint()
        assert log.manifest
        most = max(most, len(log.manifest.parts))
    assert 40 < most <= 64
    assert len(await _cells(log)) == 70


async def test_a_checkpoint_is_due_by_commits_or_bytes(store: MemoryStore, owner: Own, row: Row) -> None:
    """Whichever comes first; afterwards it is not."""
    log = await owner(store, checkpoint_commits=2, checkpoint_bytes=5000)
    assert [(await log.commit(row(n)), log.due)[1] for n in range(2)] == [False, True]
    await log.checkpoint()
    assert not log.due
    changes = Changes()
    changes.put("vectors", "big", bytes(range(256)) * 40)
    changes.put("cells", "noise", {"text": "".join(chr(n * 7919 % 50_000 + 32) for n in range(5000))})
    await log.commit(changes)
    assert log.due


async def test_closing_leaves_a_short_log(store: MemoryStore, owner: Own, make_log: Any, row: Row) -> None:
    """State clean, nothing above the floor; a closed log owns nothing."""
    log = await owner(store)
    await log.commit(row(1))
    await log.close()
    loaded = await make_log(store).read()
    assert loaded.manifest
    assert (loaded.manifest.state, loaded.tail, loaded.version) == ("clean", (), 2)
    with pytest.raises(Fenced):
        await log.commit(row(2))


async def test_closing_without_a_claim_writes_nothing(store: MemoryStore, owner: Own, make_log: Any, row: Row) -> None:
    """A reader that goes leaves the store byte for byte unchanged."""
    await (await owner(store)).commit(row(1))
    before = await contents(store)
    reader = make_log(store)
    await reader.read()
    await reader.close()
    assert await contents(store) == before


async def test_a_claim_brings_what_others_committed(store: MemoryStore, owner: Own, make_log: Any, row: Row) -> None:
    """In order, and the former owner is fenced at its next commit."""
    first = await owner(store)
    second = make_log(store)
    await second.read()
    for number in (1, 2):
        await first.commit(row(number))
    assert await second.claim({}, {"model": "tiny", "dimension": 4}) == [row(1), row(2)]
    with pytest.raises(Fenced):
        await first.commit(row(3))
    with pytest.raises(Fenced):
        await first.prove()
    assert await second.commit(row(4)) == 5
    assert await _cells(second) == ["c1", "c2", "c4"]


async def test_a_claim_over_a_moved_floor_asks_for_a_new_read(
    store: MemoryStore, owner: Own, make_log: Any, row: Row
) -> None:
    """It changes nothing: not even the epoch."""
    first = await owner(store)
    second = make_log(store)
    await second.read()
    await first.commit(row(1))
    await first.checkpoint()
    with pytest.raises(Reload):
        await second.claim({}, {"model": "tiny", "dimension": 4})
    assert await first.commit(row(2)) == 3
    await second.read()
    assert await second.claim({}, {"model": "tiny", "dimension": 4}) == []


async def test_birth_is_kept_and_another_embedder_refused(store: MemoryStore, owner: Own, make_log: Any) -> None:
    """The first claim decides; a later one with another dimension changes nothing."""
    await (await owner(store)).close()
    before = await contents(store)
    log = make_log(store)
    await log.read()
    with pytest.raises(EmbeddingMismatch, match="dimension"):
        await log.claim({"turns_max": 9}, {"model": "tiny", "dimension": 8})
    assert await contents(store) == before
    await log.claim({"turns_max": 9}, {"model": "tiny", "dimension": 4})
    assert log.manifest
    assert log.manifest.birth == {"turns_max": 2}


async def test_a_reader_sees_cheaply_whether_others_have_written(
    store: MemoryStore, owner: Own, make_log: Any, row: Row
) -> None:
    """After a birth, a commit and a checkpoint past it, but not after its own read; two requests at most."""
    faulty = FaultyStore(store)
    reader = make_log(faulty)
    await reader.read()
    assert not await reader.moved()
    log = await owner(store)
    for act in (lambda: log.commit(row(1)), log.checkpoint, lambda: log.commit(row(2))):
        await act()
        moved = await reader.moved()
        assert moved == ((await make_log(store).read()).version > reader.version)
        await reader.read()
        before = len(faulty.calls)
        assert not await reader.moved()
        assert len(faulty.calls) - before <= 2


async def test_a_follower_that_stalls_for_days_still_sees_that_something_moved(
    store: MemoryStore, owner: Own, make_log: Any, row: Row, clock: ManualClock
) -> None:
    """The slot it looks for was committed, checkpointed and collected while it stood between its two requests."""
    log = await owner(store)

    class Stalling(FaultyStore):
        async def get(self, key: str) -> Any:
            held = None
            if "/wal/" not in key and len(self.calls) > 3:
                held = await super().get(key)
            if log.version == 1 and len(self.calls) > 3:
                await log.commit(row(1))
                await log.checkpoint()
                clock.advance(25 * HOUR)
                await log.collect()
            return held or await super().get(key)

    reader = make_log(Stalling(store))
    await reader.read()
    assert await reader.moved()


async def test_versions_never_go_back(store: MemoryStore, owner: Own, row: Row) -> None:
    """Over owners, checkpoints and fences, numbers only rise."""
    seen = []
    for number in range(6):
        log = await owner(store)
        seen += [log.version, await log.commit(row(number))]
        if number % 2:
            await log.close()
    assert seen == sorted(set(seen))


async def test_a_change_that_cannot_be_encoded_costs_no_claim(store: MemoryStore, owner: Own, row: Row) -> None:
    """Vectors of two lengths fail at the checkpoint before anything is written; the log goes on."""
    log = await owner(store)
    bad = row(1)
    bad.put("vectors", "odd", b"1")
    await log.commit(bad)
    with pytest.raises(InvalidInput):
        await log.checkpoint()
    mend = Changes()
    mend.drop("vectors", "odd")
    await log.commit(mend)
    await log.checkpoint()
    assert log.owned


async def test_ownership_is_proven_only_as_often_as_asked(store: MemoryStore, owner: Own, clock: ManualClock) -> None:
    """Within the given seconds no request is made."""
    faulty = FaultyStore(store)
    log = await owner(faulty)
    before = len(faulty.calls)
    await log.prove(within_s=5)
    clock.advance(5)
    await log.prove(within_s=5)
    assert [call.verb for call in faulty.calls[before:]] == ["get"]


async def test_only_what_was_retired_a_day_ago_is_collected(
    store: MemoryStore, owner: Own, make_log: Any, row: Row, clock: ManualClock
) -> None:
    """Age counts from retirement: old slots of a young checkpoint stay, then go, and nothing is lost."""
    log = await owner(store)
    await log.commit(row(1))
    clock.advance(48 * HOUR)
    await log.checkpoint()
    assert await log.collect() == 0
    clock.advance(23 * HOUR)
    assert await log.collect() == 0
    await log.commit(row(2))
    clock.advance(2 * HOUR)
    assert await log.collect() == 2
    assert [KEYS.seq_of(key) async for key in store.list(KEYS.slots)] == [3]
    assert await _cells(make_log(store)) == ["c1", "c2"]


async def test_age_counts_from_when_a_retirement_has_landed(
    store: MemoryStore, owner: Own, row: Row, clock: ManualClock
) -> None:
    """An owner stands still for a day within its checkpoint: who read the manifest just before has his day, too."""

    async def turn() -> None:
        if faulty.calls[-1].verb == "swap":
            clock.advance(25 * HOUR / len(faulty.calls))  # shorter each time it is tried

    faulty = FaultyStore(store)
    log = await owner(faulty, prove_after_s=1e9)
    await log.commit(row(1))
    faulty._turn = turn
    await log.checkpoint()
    faulty._turn = None
    landed = clock.now_ms()
    manifest = log.manifest
    assert manifest is not None
    assert [entry.at_ms for entry in manifest.retired] == [pytest.approx(landed, abs=60_000)]
    assert await log.collect() == 0


async def _dies_undated(store: MemoryStore, owner: Own, row: Row, clock: ManualClock) -> int:
    """An owner stands still within its checkpoint and dies before it has said when that landed; when that was."""

    async def turn() -> None:
        if faulty.calls[-1].verb == "swap" and not faulty._crash_at:
            clock.advance(25 * HOUR)
            faulty._crash_at = len(faulty.calls)

    faulty = FaultyStore(store)
    log = await owner(faulty, prove_after_s=1e9)
    await log.commit(row(1))
    faulty._turn = turn
    with pytest.raises(Crashed):
        await log.checkpoint()
    return clock.now_ms()


async def test_a_successor_dates_what_its_predecessor_could_not(
    store: MemoryStore, owner: Own, row: Row, clock: ManualClock
) -> None:
    """From its own claim on: nothing goes before its day is over; and no claim puts off what is dated rightly."""
    landed = await _dies_undated(store, owner, row, clock)
    clock.advance(HOUR)
    heir = await owner(store)
    assert heir.manifest
    assert [entry.at_ms for entry in heir.manifest.retired] == [landed + HOUR * 1000]
    clock.advance(23 * HOUR)
    assert await heir.collect() == 0
    await heir.commit(row(2))
    await heir.checkpoint()
    again = await owner(store)
    clock.advance(2 * HOUR)
    assert await again.collect() == 2


async def test_a_successor_that_believes_the_date_would_collect_early(
    store: MemoryStore, owner: Own, row: Row, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever read the manifest of before would miss what it names."""
    monkeypatch.setattr(claim, "retired_at_last", lambda retired, _: retired)
    await _dies_undated(store, owner, row, clock)
    assert await (await owner(store)).collect() > 0


async def test_what_could_not_be_dated_at_once_is_dated_with_the_next_change(
    store: MemoryStore, owner: Own, row: Row, clock: ManualClock
) -> None:
    """The store refused the second write; the claim stands, and so does what it knows."""
    refusing = False

    class Refusing(FaultyStore):
        async def swap(self, key: str, body: bytes, tag: str) -> str:
            if refusing:
                raise StoreUnavailable("no", refused=True)
            return await super().swap(key, body, tag)

    async def turn() -> None:
        nonlocal refusing
        if faulty.calls[-1].verb == "swap":
            clock.advance(2 * HOUR)
            refusing = True

    faulty = Refusing(store)
    log = await owner(faulty, prove_after_s=1e9)
    await log.commit(row(1))
    faulty._turn = turn
    with pytest.raises(StoreUnavailable):
        await log.checkpoint()
    faulty._turn, refusing = None, False
    landed = clock.now_ms()
    assert log.owned
    clock.advance(HOUR)
    await log.commit(row(2))
    await log.checkpoint()
    assert log.manifest
    assert all(entry.at_ms >= landed for entry in log.manifest.retired)


async def test_an_owner_that_was_overtaken_is_told_when_it_reads(store: MemoryStore, owner: Own, row: Row) -> None:
    """What it would read is not what its log knows: it must not answer for the one with the other."""
    first = await owner(store)
    second = await owner(store)
    with pytest.raises(Fenced):
        await first.read()
    assert not first.owned
    await second.commit(row(1), [OpId("o")], opens=["o"])
    assert (await first.read()).erasing == ("o",) == first.erasing
    assert (await second.read()).version == second.version


async def test_merged_parts_are_collected(
    store: MemoryStore, owner: Own, make_log: Any, row: Row, clock: ManualClock
) -> None:
    """A day after the merge the eight old deltas go; the new one stays."""
    log = await owner(store)
    for number in range(8):
        await log.commit(row(number))
        await log.checkpoint()
    assert await log.compact()
    clock.advance(25 * HOUR)
    await log.collect()
    assert log.manifest
    assert [key async for key in store.list(KEYS.parts)] == sorted(part.key for part in log.manifest.parts)
    assert log.manifest.retired == ()
    assert len(await _cells(make_log(store))) == 8


async def test_a_collection_beside_a_merge_takes_nothing_of_it(
    store: MemoryStore, owner: Own, make_log: Any, row: Row
) -> None:
    """What the merge has written and not yet listed is no leftover."""

    class Meeting(FaultyStore):
        merging = False

        async def create(self, key: str, body: bytes) -> str:
            tag = await super().create(key, body)
            if self.merging:
                self.merging = False
                await log.collect()
            return tag

    meeting = Meeting(store)
    log = await owner(meeting)
    for number in range(8):
        await log.commit(row(number))
        await log.checkpoint()
    meeting.merging = True
    assert await log.compact()
    assert not meeting.merging
    assert len(await _cells(make_log(store))) == 8


async def test_leftovers_of_older_epochs_are_collected(store: MemoryStore, owner: Own) -> None:
    """A part that no manifest ever named goes, if its epoch can no longer name it."""
    log = await owner(store)
    past, future = KEYS.part(0, 1, "a" * 32), KEYS.part(9, 1, "a" * 32)
    await store.create(past, b"of a crashed owner")
    await store.create(future, b"of an owner to come")
    assert await log.collect() == 1
    assert [key async for key in store.list(KEYS.parts)] == [future]
