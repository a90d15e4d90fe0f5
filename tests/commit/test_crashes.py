"""Death and silence at every single call: no acknowledged commit is lost, none happens twice."""

from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any

import pytest

from memforest_ray.commit.changes import Changes
from memforest_ray.commit.log import CommitLog
from memforest_ray.errors import Fenced, OutcomeUnknown, StoreUnavailable
from memforest_ray.ids import OpId, UserId
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.storage.open import open_store
from memforest_ray.storage.store import ObjectStore
from memforest_ray.testing.clock import ManualClock
from memforest_ray.testing.store import Crashed, Fault, FaultyStore, scripted

Own = Callable[..., Awaitable[CommitLog]]
Row = Callable[..., Changes]
Fresh = Callable[[], ObjectStore]
KEYS = UserKeys.of(UserId("ann"))
FINGERPRINT = {"model": "tiny", "dimension": 4}
COMMITS = 10


@pytest.fixture(params=["memory", "s3", "azure"])
def fresh(request: pytest.FixtureRequest) -> Fresh:
    """Makes empty stores, of memory or over HTTP."""
    if request.param == "memory":
        return MemoryStore
    url, number = request.getfixturevalue(request.param), count()
    return lambda: open_store(f"{url}/{next(number)}")


@pytest.fixture
def commits(fresh: Fresh) -> int:
    """Enough for a merge where calls are cheap; over HTTP the calls of each kind."""
    return COMMITS if fresh is MemoryStore else 2


async def _life(log: CommitLog, row: Row, acknowledged: list[int], commits: int = COMMITS) -> None:
    """Everything an owner does; `acknowledged` outlives him."""
    await log.read()
    await log.claim({}, FINGERPRINT)
    for number in range(commits):
        await log.commit(row(number), [OpId(str(number))])
        acknowledged.append(number)
        await log.checkpoint()
    await log.compact()
    await log.collect()
    await log.close()


async def _calls_of_a_life(make_log: Any, row: Row, commits: int = COMMITS) -> int:
    faulty = FaultyStore(MemoryStore())
    await _life(make_log(faulty), row, [], commits)
    return len(faulty.calls)


async def _numbers(make_log: Any, store: ObjectStore) -> list[int]:
    loaded = await make_log(store).read()
    numbers = sorted(int(key[1:]) for key in loaded.tables.get("cells", {}))
    assert sorted(loaded.tables.get("vectors", {})) == sorted(f"v{number}" for number in numbers)
    return numbers


@pytest.mark.parametrize("after", [False, True])
async def test_a_crash_at_any_call_loses_nothing(
    make_log: Any, row: Row, fresh: Fresh, commits: int, after: bool
) -> None:
    """What is found is a prefix holding every acknowledged commit, at most one more; and life goes on."""
    for place in range(await _calls_of_a_life(make_log, row, commits)):
        store = fresh()
        acknowledged: list[int] = []
        with pytest.raises(Crashed):
            await _life(make_log(FaultyStore(store, crash_at=place, crash_after=after)), row, acknowledged, commits)
        found = await _numbers(make_log, store)
        assert found == list(range(len(found)))
        assert len(acknowledged) <= len(found) <= len(acknowledged) + 1
        heir = make_log(store)
        version = (await heir.read()).version
        await heir.claim({}, FINGERPRINT)
        assert await heir.commit(row(99)) == version + 2
        await heir.checkpoint()
        await heir.compact()
        assert await _numbers(make_log, store) == [*found, 99]


@pytest.mark.parametrize("fault", [Fault.FAIL_AFTER, Fault.DUPLICATE, Fault.DELAY, Fault.CONFLICT])
async def test_one_lost_or_doubled_answer_changes_nothing(make_log: Any, row: Row, fault: Fault) -> None:
    """A write whose answer is lost, repeated or refused at random is settled without the caller's help."""
    for place in range(await _calls_of_a_life(make_log, row)):
        store = MemoryStore()
        faulty = FaultyStore(store, scripted({place: fault}))
        acknowledged: list[int] = []
        try:
            await _life(make_log(faulty), row, acknowledged)
        except StoreUnavailable:
            # Reads, lists and deletes are the store client's to repeat.
            assert faulty.calls[place].verb in {"get", "list", "delete"}
        found = await _numbers(make_log, store)
        assert found[: len(acknowledged)] == acknowledged


async def test_silence_leaves_the_outcome_open_and_the_claim_given_up(
    store: MemoryStore, owner: Own, make_log: Any, row: Row
) -> None:
    """A commit that the store never answers is unknown, by its op id; a new claim finds it and goes on."""
    faulty = FaultyStore(store)
    log = await owner(faulty)
    first = len(faulty.calls)
    faulty._plan = scripted({first: Fault.LATE, **{first + n: Fault.FAIL_BEFORE for n in range(1, 8)}})
    with pytest.raises(OutcomeUnknown) as caught:
        await log.commit(row(1), [OpId("op-1")])
    assert caught.value.op_id == "op-1"
    assert not log.owned
    with pytest.raises(Fenced):
        await log.commit(row(2))
    await faulty.land()
    assert await log.claim({}, FINGERPRINT) == [row(1)]
    assert await log.commit(row(2)) == 4
    assert await _numbers(make_log, store) == [1, 2]


async def test_a_late_commit_cannot_land_behind_a_fence(
    store: MemoryStore, owner: Own, make_log: Any, row: Row
) -> None:
    """The new owner took the slot; the old one's write comes to nothing."""
    faulty = FaultyStore(store)
    log = await owner(faulty)
    first = len(faulty.calls)
    faulty._plan = scripted({first + n: Fault.LATE if n == 0 else Fault.FAIL_BEFORE for n in range(9)})
    with pytest.raises(OutcomeUnknown):
        await log.commit(row(1))
    heir = await owner(store)
    await faulty.land()
    await heir.commit(row(2))
    assert await _numbers(make_log, store) == [2]


async def test_a_refusal_costs_no_claim(store: MemoryStore, owner: Own, make_log: Any, row: Row) -> None:
    """A full disk refuses for sure: nothing happened, and the same call succeeds later."""
    full = True

    class Full(FaultyStore):
        async def create(self, key: str, body: bytes) -> str:
            if full and key == KEYS.slot(2):
                raise StoreUnavailable("full", refused=True)
            return await super().create(key, body)

    log = await owner(Full(store))
    with pytest.raises(StoreUnavailable, match="full"):
        await log.commit(row(1))
    full = False
    assert await log.commit(row(1)) == 2


async def test_a_stalled_owner_does_not_acknowledge(
    store: MemoryStore, owner: Own, make_log: Any, row: Row, clock: ManualClock
) -> None:
    """The heir's collection freed the slot's name, so the create succeeds: only the manifest tells the truth."""
    stalled = await owner(store)
    heir = await owner(store)
    for number in range(3):
        await heir.commit(row(number))
    await heir.checkpoint()
    clock.advance(25 * 3600)
    assert await heir.collect()
    with pytest.raises(OutcomeUnknown):
        await stalled.commit(row(9))
    assert await _numbers(make_log, store) == [0, 1, 2]
    assert await heir.commit(row(3)) == 6


async def test_ownership_is_looked_up_only_after_five_minutes(
    store: MemoryStore, owner: Own, row: Row, clock: ManualClock
) -> None:
    """Each commit proves ownership too, so a busy owner never has to look."""
    faulty = FaultyStore(store)
    log = await owner(faulty)
    before = len(faulty.calls)
    for seconds in (200, 200, 301):
        clock.advance(seconds)
        await log.commit(row(seconds))
    assert [call.verb for call in faulty.calls[before:]] == ["create", "create", "create", "get"]


async def test_a_reader_starts_over_when_the_floor_moves(store: MemoryStore, owner: Own, row: Row) -> None:
    """Parts of before and log of after are never mixed."""
    log = await owner(store)
    await log.commit(row(1))

    class Moving(FaultyStore):
        moved = False

        async def list(self, prefix: str) -> Any:
            if not self.moved:
                self.moved = True
                await log.commit(row(2, drop=1))
                await log.checkpoint()
            async for key in super().list(prefix):
                yield key

    reader = CommitLog(Moving(store), UserId("ann"), ManualClock(), None)  # type: ignore[arg-type]  # never used
    loaded = await reader.read()
    assert (loaded.version, set(loaded.tables["cells"])) == (3, {"c2"})
    assert loaded.tail == ()


async def test_a_stalled_reader_believes_no_damage_of_the_past(store: MemoryStore, owner: Own, row: Row) -> None:
    """While it stood still the floor moved and a freed name was filled by a stalled writer: it starts over."""
    log = await owner(store)
    await log.commit(row(1))

    class Stalling(FaultyStore):
        stalled = False

        async def get(self, key: str) -> Any:
            if key == KEYS.slot(2) and not self.stalled:
                self.stalled = True
                await log.checkpoint()
                await store.overwrite(key, b"whatever")
            return await super().get(key)

    reader = CommitLog(Stalling(store), UserId("ann"), ManualClock(), None)  # type: ignore[arg-type]  # never used
    assert set((await reader.read()).tables["cells"]) == {"c1"}


async def test_a_reader_outruns_no_endless_movement(store: MemoryStore, owner: Own, row: Row) -> None:
    """After so many fresh starts it says so, instead of going on for ever."""
    log = await owner(store)

    class Moving(FaultyStore):
        async def list(self, prefix: str) -> Any:
            await log.commit(row(1))
            await log.checkpoint()
            async for key in super().list(prefix):
                yield key

    reader = CommitLog(Moving(store), UserId("ann"), ManualClock(), None)  # type: ignore[arg-type]  # never used
    with pytest.raises(StoreUnavailable, match="changed 50 times"):
        await reader.read()
