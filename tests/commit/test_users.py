"""Who is in a store, and how one leaves it."""

import builtins
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any

import pytest

from memforest_ray.commit.changes import Changes
from memforest_ray.commit.log import CommitLog, Reload
from memforest_ray.commit.users import delete_user, list_users
from memforest_ray.errors import Fenced, NotFound
from memforest_ray.ids import UserId
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.clock import ManualClock, SeededRandom
from memforest_ray.testing.store import Crashed, FaultyStore, contents

Own = Callable[..., Awaitable[CommitLog]]
Row = Callable[..., Changes]
ANN = UserId("ann")
KEYS = UserKeys.of(ANN)
FINGERPRINT = {"model": "tiny", "dimension": 4}
ODD = [
    "../x",
    "..",
    "/etc",
    "a%2Fb",
    "a\\b",
    "nul\0",
    "x" * 300,
    "dot.",
    "space ",
    "a@b.c",
    "😀",
    "שלום",
    "a",
    "a1",
    "a/1",
]


async def _born(store: MemoryStore, user: str) -> None:
    log = CommitLog(store, UserId(user), ManualClock(), SeededRandom())
    await log.claim({}, FINGERPRINT)
    await log.close()


async def test_all_ids_come_back_page_by_page(store: MemoryStore) -> None:
    """Every id as it was given, each once, whatever the page size; the filter is on the id."""
    for user in ODD:
        await _born(store, user)
    for limit in (1, 4, 1000):
        users: list[str] = []
        after = ""
        while True:
            page = await list_users(store, after=after, limit=limit)
            users += page.users
            after = page.after
            if not after:
                break
        assert sorted(users) == sorted(ODD)
    assert sorted((await list_users(store, prefix="a")).users) == ["a", "a%2Fb", "a/1", "a1", "a@b.c", "a\\b"]


async def test_a_damaged_user_does_not_hide_the_others(store: MemoryStore) -> None:
    """It is named by its hash, the only name that is left."""
    await _born(store, "ann")
    await _born(store, "bob")
    await store.overwrite(KEYS.manifest, b"?")
    page = await list_users(store)
    assert (page.users, page.damaged) == (("bob",), (KEYS.hash,))


async def test_an_empty_store_has_no_users(store: MemoryStore) -> None:
    """And the last page says that there is no next."""
    page = await list_users(store)
    assert (page.users, page.damaged, page.after) == ((), (), "")


async def test_a_deleted_user_is_gone(
    store: MemoryStore, owner: Own, make_log: Any, row: Row, clock: ManualClock
) -> None:
    """No text, no id, not listed; deleting again finds nobody."""
    log = await owner(store)
    await log.commit(row(1))
    await log.checkpoint()
    await log.commit(row(2))
    await store.create(KEYS.snapshot("s", 1, "0" * 32), b"said 1")
    await delete_user(store, ANN, clock, SeededRandom(9))
    left = await contents(store)
    assert {key for key in left if not key.startswith(KEYS.slots)} == {KEYS.manifest}
    assert not any(word in body for body in left.values() for word in (b"said", b"ann"))
    assert (await list_users(store)).users == ()
    assert (await make_log(store).read()).tables == {}
    with pytest.raises(NotFound):
        await delete_user(store, ANN, clock, SeededRandom(9))
    with pytest.raises(NotFound):
        await delete_user(store, UserId("nobody"), clock, SeededRandom(9))


async def test_a_new_life_continues_the_numbers(store: MemoryStore, owner: Own, row: Row, clock: ManualClock) -> None:
    """Empty, usable, another embedder allowed; neither epoch nor version starts again."""
    log = await owner(store)
    await log.commit(row(1))
    await delete_user(store, ANN, clock, SeededRandom(9))
    with pytest.raises(Fenced):
        await log.commit(row(2))
    again = await owner(store)
    assert again.manifest
    assert (again.manifest.epoch, again.version, again.erasing) == (3, 5, ())
    assert await again.commit(row(3)) == 6
    assert (await again.read()).tables["cells"].keys() == {"c3"}


async def test_who_read_the_very_end_of_a_life_must_read_again(
    store: MemoryStore, owner: Own, make_log: Any, row: Row, clock: ManualClock
) -> None:
    """He saw the fence of the deletion, and not the deletion: he may not go on with what he remembers."""
    log = await owner(store)
    await log.commit(row(1))
    reader = make_log(store)

    class Watched(FaultyStore):
        async def swap(self, key: str, body: bytes, tag: str) -> str:
            if [call.verb for call in self.calls].count("swap") == 1:
                assert "c1" in (await reader.read()).tables["cells"]
            return await super().swap(key, body, tag)

    await delete_user(Watched(store), ANN, clock, SeededRandom(9))
    assert reader.version == 3
    assert await reader.moved()
    await owner(store)
    with pytest.raises(Reload):
        await reader.claim({}, FINGERPRINT)


async def test_a_slow_deletion_takes_nothing_of_the_next_life(
    store: MemoryStore, owner: Own, make_log: Any, row: Row, clock: ManualClock
) -> None:
    """Between its tombstone and its clearing up the id came to life again."""
    log = await owner(store)
    await log.commit(row(1))

    class Slow(FaultyStore):
        async def list(self, prefix: str) -> Any:
            if prefix == KEYS.prefix:
                heir = await owner(store)
                await heir.erase()
                await heir.commit(row(2))
                await heir.checkpoint()
                await heir.save("mine")
            async for key in super().list(prefix):
                yield key

    with pytest.raises(Fenced):
        await delete_user(Slow(store), ANN, clock, SeededRandom(9))
    reader = make_log(store)
    assert (await reader.read()).tables["cells"].keys() == {"c2"}
    assert (await reader.read_snapshot("mine")).tables["cells"].keys() == {"c2"}


class _Overtaken(FaultyStore):
    """Another owner claims the forest while a deletion looks for the end of its log; `times` times."""

    def __init__(self, store: MemoryStore, owner: Own, times: int) -> None:
        super().__init__(store)
        self._store = store
        self._owner = owner
        self._left = times
        self.heirs: builtins.list[CommitLog] = []

    async def list(self, prefix: str) -> Any:
        if prefix == KEYS.slots and self._left:
            self._left -= 1
            self.heirs.append(await self._owner(self._store))
        async for key in super().list(prefix):
            yield key


async def test_a_deletion_that_was_overtaken_leaves_the_log_alone(
    store: MemoryStore, owner: Own, make_log: Any, row: Row, clock: ManualClock
) -> None:
    """New owners fenced the log while it was deleting: it is fenced too, and never writes behind the newest one."""
    await (await owner(store)).commit(row(1))
    faulty = _Overtaken(store, owner, times=100)
    with pytest.raises(Fenced):
        await delete_user(faulty, ANN, clock, SeededRandom(9))
    assert len(faulty.heirs) == 8
    await faulty.heirs[-1].commit(row(2))
    assert (await make_log(store).read()).tables["cells"].keys() == {"c1", "c2"}


async def test_a_deletion_that_was_overtaken_begins_again(
    store: MemoryStore, owner: Own, row: Row, clock: ManualClock
) -> None:
    """Nothing had been removed by then, so whoever was faster is deleted with all he wrote."""
    await (await owner(store)).commit(row(1))
    faulty = _Overtaken(store, owner, times=2)
    await delete_user(faulty, ANN, clock, SeededRandom(9))
    with pytest.raises(Fenced):
        await faulty.heirs[-1].commit(row(2))
    assert (await list_users(store)).users == ()


async def test_a_user_born_while_somebody_looked_is_no_damage(
    store: MemoryStore, owner: Own, clock: ManualClock
) -> None:
    """No manifest at the first look, objects at the second: the manifest is looked for again."""

    class Nursery(FaultyStore):
        async def list(self, prefix: str) -> Any:
            if prefix == KEYS.prefix and not [call for call in self.calls if call.verb == "list"]:
                await owner(store)
            async for key in super().list(prefix):
                yield key

    await delete_user(Nursery(store), ANN, clock, SeededRandom(9))
    assert (await list_users(store)).users == ()


async def test_a_deletion_cut_off_anywhere_can_be_repeated(owner: Own, row: Row, clock: ManualClock) -> None:
    """Either the user is still whole, or the next call, or the next life's erasure, clears the rest."""

    async def grown(store: Any) -> MemoryStore:
        log = await owner(store)
        await log.commit(row(1))
        await log.checkpoint()
        await log.commit(row(2))
        return store  # type: ignore[no-any-return]  # what went in

    whole = FaultyStore(await grown(MemoryStore()))
    await delete_user(whole, ANN, clock, SeededRandom(9))
    for place in range(len(whole.calls)):
        store = await grown(MemoryStore())
        with pytest.raises(Crashed):
            await delete_user(FaultyStore(store, crash_at=place), ANN, clock, SeededRandom(9))
        if place % 2:
            await delete_user(store, ANN, clock, SeededRandom(10))
        else:
            heir = await owner(store)
            rows = (await heir.read()).tables.get("cells", {})
            if rows:
                assert rows.keys() == {"c1", "c2"}
                continue
            await heir.erase()
        assert not any(b"said" in body for body in (await contents(store)).values())


async def test_a_life_that_began_before_a_deletion_was_done_knows_who_holds_copies(
    owner: Own, clock: ManualClock
) -> None:
    """Wherever it was cut off, nobody was told of them yet: whoever deletes the new life is, once."""
    told = []
    for place in count():
        store = MemoryStore()
        await (await owner(store)).commit(Changes(puts={"copies": {"ben": 1}}))
        try:
            await delete_user(FaultyStore(store, crash_at=place), ANN, clock, SeededRandom(9))
        except Crashed:
            await (await owner(store)).erase()
            told.append(await delete_user(store, ANN, clock, SeededRandom(10)))
            await owner(store)
            assert await delete_user(store, ANN, clock, SeededRandom(11)) == ()
        else:
            break
    assert {*told} == {("ben",)}
