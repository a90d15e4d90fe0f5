"""Damage in the store: refused by name, never believed, never an empty start, never another error."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.commit.changes import Changes
from memforest_ray.commit.frames import FORMAT, pack, pack_small, seal, unpack_small
from memforest_ray.commit.log import CommitLog
from memforest_ray.commit.slots import Slot, encode_slot, tombstone
from memforest_ray.commit.users import delete_user, list_users
from memforest_ray.errors import CorruptState, NotFound
from memforest_ray.ids import UserId
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.clock import ManualClock, SeededRandom
from memforest_ray.testing.store import Crashed, FaultyStore, contents

Own = Callable[..., Awaitable[CommitLog]]
ANN = UserId("ann")
KEYS = UserKeys.of(ANN)
FINGERPRINT = {"model": "tiny", "dimension": 4}
KINDS = ("manifest", "slot", "text", "vectors", "snapshot")
PREFIX = 10
"""Bytes before the head: magic, format, length."""


def _row(number: int) -> Changes:
    changes = Changes()
    changes.put("cells", f"c{number}", {"text": f"said {number}"})
    changes.put("vectors", f"v{number}", number.to_bytes(8, "little"))
    return changes


async def _fill(store: MemoryStore) -> MemoryStore:
    """A snapshot of two deltas, a base that the forest uses instead, a delta, and a log of three slots above."""
    log = CommitLog(store, ANN, ManualClock(), SeededRandom())
    await log.read()
    await log.claim({"turns_max": 2}, FINGERPRINT)
    for number in range(2):
        await log.commit(_row(number))
        await log.checkpoint()
    await log.save("a")
    for number in range(2, 9):
        await log.commit(_row(number))
        await log.checkpoint()
    await log.compact()
    for number in range(9, 12):
        await log.commit(_row(number))
    return store


@pytest.fixture
async def full(store: MemoryStore) -> MemoryStore:
    return await _fill(store)


async def _read_all(store: MemoryStore) -> None:
    """What a user of every object asks for."""
    log = CommitLog(store, ANN, ManualClock(), SeededRandom())
    assert (await log.read()).version == 13
    assert set((await log.read_snapshot("a")).tables["cells"]) == {"c0", "c1"}


async def _needed(store: MemoryStore) -> dict[str, list[str]]:
    """Keys by kind, of all objects that a reader needs: not of slots that are contained in parts."""
    kinds: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for key, body in (await contents(store)).items():
        told = unpack_small(body[PREFIX : PREFIX + int.from_bytes(body[6:10], "little")], key)["kind"]
        kind = told if told in KINDS else "slot"
        if kind != "slot" or (KEYS.seq_of(key) or 0) > 10:
            kinds[kind].append(key)
    merged = {"text", "vectors"}
    return {kind: keys if kind not in merged else await _listed(store, keys) for kind, keys in kinds.items()}


async def _listed(store: MemoryStore, keys: list[str]) -> list[str]:
    """Without the deltas that were merged and that no snapshot has."""
    listed = []
    for key in keys:
        body = (await store.get(key)).body
        await store.delete(key)
        try:
            await _read_all(store)
        except CorruptState:
            listed.append(key)
        await store.overwrite(key, body)
    return listed


async def test_there_is_something_of_each_kind(full: MemoryStore) -> None:
    """Else the matrix below would prove nothing."""
    assert {kind: len(keys) for kind, keys in (await _needed(full)).items()} == {
        "manifest": 1,
        "slot": 3,
        "text": 4,
        "vectors": 4,
        "snapshot": 1,
    }
    await _read_all(full)


def _damages(body: bytes) -> Iterator[tuple[str, bytes]]:
    size, head = len(body), int.from_bytes(body[6:10], "little")
    digest = PREFIX + head
    joints = (PREFIX, PREFIX + head // 2, digest, digest + 31, digest + 32, size // 2, size - 1)
    for end in (0, 1, 3, 4, PREFIX - 1, *joints):
        yield f"cut at {end}", body[:end]
    for place in (0, 4, 6, 9, *joints):
        place = min(place, size - 1)  # noqa: PLW2901 - a fence has no body
        yield f"flipped at {place}", body[:place] + bytes([body[place] ^ 4]) + body[place + 1 :]
    yield "one byte more", body + b"\0"
    yield "twice", body + body
    yield "zeros", bytes(size)
    yield "from the future", body[:4] + (FORMAT + 1).to_bytes(2, "little") + body[6:]
    yield "from before the first format", body[:4] + bytes(2) + body[6:]
    yield "text of another program", b'{"version": 1}'
    yield "bytes of another program", bytes(range(256)) * 4


@pytest.mark.parametrize("kind", KINDS)
async def test_every_damage_of_every_object_is_named(full: MemoryStore, kind: str) -> None:
    """The error names the object and nothing else; the store is left as it was found."""
    for key in (await _needed(full))[kind]:
        whole = (await full.get(key)).body
        for what, body in _damages(whole):
            if body == whole:
                continue
            await full.overwrite(key, body)
            before = await contents(full)
            with pytest.raises(CorruptState) as caught:
                await _read_all(full)
            assert (caught.value.detail["key"], what) == (key, what)
            assert await contents(full) == before
        await full.overwrite(key, whole)
    await _read_all(full)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_missing_object_is_named(full: MemoryStore, kind: str) -> None:
    """Whatever it was; only the newest slot's loss cannot be seen, since nothing needs it."""
    for key in (await _needed(full))[kind]:
        if key == KEYS.slot(13):
            continue
        whole = (await full.get(key)).body
        await full.delete(key)
        with pytest.raises(CorruptState, match=key):
            await _read_all(full)
        await full.overwrite(key, whole)


async def test_objects_that_changed_places_are_refused(full: MemoryStore) -> None:
    """With one of its kind, with one of another, with the same one of an older state: all whole, none believed."""
    needed = await _needed(full)
    for keys in needed.values():
        for key in keys:
            whole = (await full.get(key)).body
            for other in (other for others in needed.values() for other in others if other != key):
                await full.overwrite(key, (await full.get(other)).body)
                with pytest.raises(CorruptState, match=f"{key} cannot be used: it belongs to {other}"):
                    await _read_all(full)
            await full.overwrite(key, whole)


@pytest.mark.parametrize("kind", ["text", "vectors", "snapshot"])
async def test_another_whole_object_under_the_same_key_is_refused(full: MemoryStore, kind: str) -> None:
    """What a manifest lists it lists with its checksum."""
    for key in (await _needed(full))[kind]:
        whole = (await full.get(key)).body
        await full.overwrite(key, seal(kind, key, {}, b""))
        with pytest.raises(CorruptState, match=f"{key} .* not the object that the manifest names"):
            await _read_all(full)
        await full.overwrite(key, whole)


@given(st.data())
def test_no_random_damage_is_believed(data: st.DataObject) -> None:
    """Any object, any stretch of it replaced by anything: named, or it was the same bytes."""

    async def damage_and_read() -> None:
        store = await _fill(MemoryStore())
        key = data.draw(st.sampled_from(await _needed_once()))
        whole = (await store.get(key)).body
        start, stop = sorted((data.draw(st.integers(0, len(whole))), data.draw(st.integers(0, len(whole)))))
        damaged = whole[:start] + data.draw(st.binary(max_size=40)) + whole[stop:]
        if damaged == whole:
            return
        await store.overwrite(key, damaged)
        with pytest.raises(CorruptState, match=key):
            await _read_all(store)

    asyncio.run(damage_and_read())


_ONCE: list[str] = []


async def _needed_once() -> list[str]:
    if not _ONCE:
        needed = await _needed(await _fill(MemoryStore()))
        _ONCE.extend(sorted(key for keys in needed.values() for key in keys))
    return _ONCE


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3) | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(("puts", "drops", "parts", "saved", "retired", "pins", "state", "name", "manifest"))


@given(st.sampled_from(("manifest", "commit")), PLAIN | st.dictionaries(FIELDS, PLAIN), st.booleans(), st.data())
def test_content_of_another_shape_is_damage(kind: str, content: object, packed: bool, data: st.DataObject) -> None:
    """A true checksum over content that we would not have written: refused as damage, not as a bug of ours."""

    async def write_and_read() -> None:
        store = await _fill(MemoryStore())
        key = KEYS.manifest if kind == "manifest" else KEYS.slot(12)
        head = data.draw(st.dictionaries(st.sampled_from(("seq", "epoch", "nonce", "operations", "opens")), PLAIN))
        await store.overwrite(key, seal(kind, key, head, (pack if packed else pack_small)(content)))
        with pytest.raises(CorruptState, match=key):
            await _read_all(store)

    asyncio.run(write_and_read())


async def test_a_tombstone_above_the_floor_is_refused(full: MemoryStore, make_log: Any) -> None:
    """Only slots contained in parts are ever erased."""
    key = KEYS.slot(12)
    await full.overwrite(key, encode_slot(tombstone(Slot("commit", 1, 12, "n")), key))
    with pytest.raises(CorruptState, match=key):
        await make_log(full).read()


async def test_an_epoch_that_goes_back_is_refused(full: MemoryStore, make_log: Any) -> None:
    """After a fence of epoch 2, nothing of epoch 1 can have been written."""
    for seq, epoch in ((14, 2), (15, 1)):
        await full.create(KEYS.slot(seq), encode_slot(Slot("fence", epoch, seq, "n"), KEYS.slot(seq)))
    with pytest.raises(CorruptState, match=KEYS.slot(15)):
        await make_log(full).read()


async def test_a_foreign_name_among_the_slots_is_refused(full: MemoryStore, make_log: Any) -> None:
    """What we did not write there is not passed over."""
    await full.create(f"{KEYS.slots}7", b"")
    with pytest.raises(CorruptState, match=f"{KEYS.slots}7"):
        await make_log(full).read()


async def test_a_manifest_of_another_user_is_refused(full: MemoryStore, owner: Own, make_log: Any) -> None:
    """A copy of one user's folder does not become another's memory."""
    bob = UserKeys.of(UserId("bob"))
    for key, body in (await contents(full)).items():
        await full.create(key.replace(KEYS.prefix, bob.prefix), body)
    log = make_log(full)
    log._keys = bob
    with pytest.raises(CorruptState, match=f"{bob.manifest} cannot be used: it belongs to"):
        await log.read()


async def test_claiming_over_damage_changes_nothing(full: MemoryStore, make_log: Any) -> None:
    """A damaged manifest is never replaced by a fresh one."""
    await full.overwrite(KEYS.manifest, b"")
    before = await contents(full)
    log = make_log(full)
    with pytest.raises(CorruptState, match="it is empty"):
        await log.claim({}, {"model": "tiny", "dimension": 4})
    assert await contents(full) == before


async def test_a_damaged_user_can_be_deleted_by_force(full: MemoryStore, owner: Own) -> None:
    """Named until then; afterwards nothing is left, and a new life continues above all numbers ever seen."""
    for damage in ("cut", "missing"):
        whole = await contents(full)
        if damage == "cut":
            await full.overwrite(KEYS.manifest, whole[KEYS.manifest][:50])
        else:
            await full.delete(KEYS.manifest)
        await full.create(f"{KEYS.slots}7", b"foreign")
        before = await contents(full)
        assert (await list_users(full)).damaged == (KEYS.hash,)
        with pytest.raises(CorruptState, match=KEYS.manifest):
            await delete_user(full, ANN, ManualClock(), SeededRandom(9))
        assert await contents(full) == before
        await delete_user(full, ANN, ManualClock(), SeededRandom(9), force=True)
        left = await contents(full)
        assert {key for key in left if KEYS.seq_of(key) is None} == {KEYS.manifest}
        assert not any(b"said" in body for body in left.values())
        page = await list_users(full)
        assert (page.users, page.damaged) == ((), ())
        with pytest.raises(NotFound):
            await delete_user(full, ANN, ManualClock(), SeededRandom(9), force=True)
        log = await owner(full)
        assert log.manifest
        assert (log.version, log.manifest.epoch) == (17, 4)
        assert await log.commit(_row(1)) == 18
        for key in left:
            await full.delete(key)
        for key in await contents(full):
            await full.delete(key)
        await _fill(full)


async def test_a_forced_deletion_cut_off_anywhere_goes_on(owner: Own) -> None:
    """From its first write on the user counts as deleted: no half of him comes back."""

    async def damaged() -> MemoryStore:
        store = await _fill(MemoryStore())
        await store.overwrite(KEYS.manifest, b"?")
        return store

    whole = FaultyStore(await damaged())
    await delete_user(whole, ANN, ManualClock(), SeededRandom(9), force=True)
    for place in range(len(whole.calls)):
        store = await damaged()
        with pytest.raises(Crashed):
            await delete_user(FaultyStore(store, crash_at=place), ANN, ManualClock(), SeededRandom(9), force=True)
        log = CommitLog(store, ANN, ManualClock(), SeededRandom(8))
        try:
            assert (await log.read()).tables == {}
        except CorruptState:
            assert (await store.get(KEYS.manifest)).body == b"?"
        with suppress(NotFound):
            await delete_user(store, ANN, ManualClock(), SeededRandom(9), force=True)
        assert not any(b"said" in body for body in (await contents(store)).values())


async def test_pages_count_the_damaged_too(store: MemoryStore) -> None:
    """A page has at most `limit` names of both sorts, and none is lost between pages."""
    for user in "abcdef":
        log = CommitLog(store, UserId(user), ManualClock(), SeededRandom())
        await log.claim({}, FINGERPRINT)
    for user in "ace":
        await store.overwrite(UserKeys.of(UserId(user)).manifest, b"?")
    users: list[str] = []
    damaged: list[str] = []
    after = ""
    while True:
        page = await list_users(store, after=after, limit=2)
        assert len(page.users) + len(page.damaged) <= 2
        users += page.users
        damaged += page.damaged
        after = page.after
        if not after:
            break
    assert (sorted(users), len(damaged), len(set(damaged))) == (["b", "d", "f"], 3, 3)
