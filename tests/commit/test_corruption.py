"""Damage in the store: refused by name, never believed, never an empty start."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from memforest_ray.commit.changes import Changes
from memforest_ray.commit.log import CommitLog
from memforest_ray.commit.slots import Slot, encode_slot, tombstone
from memforest_ray.errors import CorruptState
from memforest_ray.ids import UserId
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.store import contents

Own = Callable[..., Awaitable[CommitLog]]
KEYS = UserKeys.of(UserId("ann"))
DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda body: b"",
    "cut": lambda body: body[: len(body) // 2],
    "one byte short": lambda body: body[:-1],
    "one byte more": lambda body: body + b"\0",
    "flipped at the start": lambda body: bytes([body[0] ^ 1]) + body[1:],
    "flipped in the middle": lambda body: (
        body[: len(body) // 2] + bytes([body[len(body) // 2] ^ 8]) + body[len(body) // 2 + 1 :]
    ),
    "flipped at the end": lambda body: body[:-1] + bytes([body[-1] ^ 128]),
    "from the future": lambda body: body[:4] + b"\x63\x00" + body[6:],
    "another text": lambda body: b"{}",
}


@pytest.fixture
async def full(store: MemoryStore, owner: Own, row: Callable[..., Changes]) -> MemoryStore:
    """Two deltas of two parts, and a log of three slots above the floor."""
    log = await owner(store)
    for number in range(2):
        await log.commit(row(number))
        await log.checkpoint()
    for number in range(2, 5):
        await log.commit(row(number))
    return store


async def _needed(store: MemoryStore) -> list[str]:
    """Objects that a reader needs: all but the slots that are contained in parts."""
    return [key for key in await contents(store) if (KEYS.seq_of(key) or 9) > 3]


@pytest.mark.parametrize("damage", DAMAGES)
async def test_every_damage_of_every_object_is_named(full: MemoryStore, make_log: Any, damage: str) -> None:
    """The error names the object; the store is left as it was found."""
    keys = await _needed(full)
    assert len(keys) == 8
    for key in keys:
        whole = (await full.get(key)).body
        await full.overwrite(key, DAMAGES[damage](whole))
        before = await contents(full)
        with pytest.raises(CorruptState, match=key):
            await make_log(full).read()
        assert await contents(full) == before
        await full.overwrite(key, whole)
    assert (await make_log(full).read()).version == 6


async def test_a_missing_object_is_named(full: MemoryStore, make_log: Any) -> None:
    """A part, the manifest, or a slot below another; only the newest slot's loss cannot be seen."""
    for key in await _needed(full):
        if key == KEYS.slot(6):
            continue
        whole = (await full.get(key)).body
        await full.delete(key)
        with pytest.raises(CorruptState, match=key):
            await make_log(full).read()
        await full.overwrite(key, whole)


async def test_objects_that_changed_places_are_refused(full: MemoryStore, make_log: Any) -> None:
    """A whole slot under another number is not the log."""
    four, five = (await full.get(KEYS.slot(4))).body, (await full.get(KEYS.slot(5))).body
    await full.overwrite(KEYS.slot(4), five)
    await full.overwrite(KEYS.slot(5), four)
    with pytest.raises(CorruptState, match=f"{KEYS.slot(4)} cannot be believed: it belongs to {KEYS.slot(5)}"):
        await make_log(full).read()


async def test_a_tombstone_above_the_floor_is_refused(full: MemoryStore, make_log: Any) -> None:
    """Only slots contained in parts are ever erased."""
    key = KEYS.slot(5)
    await full.overwrite(key, encode_slot(tombstone(Slot("commit", 1, 5, "n")), key))
    with pytest.raises(CorruptState, match=key):
        await make_log(full).read()


async def test_an_epoch_that_goes_back_is_refused(full: MemoryStore, make_log: Any) -> None:
    """After a fence of epoch 2, nothing of epoch 1 can have been written."""
    for seq, epoch in ((7, 2), (8, 1)):
        await full.create(KEYS.slot(seq), encode_slot(Slot("fence", epoch, seq, "n"), KEYS.slot(seq)))
    with pytest.raises(CorruptState, match=KEYS.slot(8)):
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
    with pytest.raises(CorruptState, match=f"{bob.manifest} cannot be believed: it belongs to"):
        await log.read()


async def test_claiming_over_damage_changes_nothing(full: MemoryStore, make_log: Any) -> None:
    """A damaged manifest is never replaced by a fresh one."""
    await full.overwrite(KEYS.manifest, b"")
    before = await contents(full)
    log = make_log(full)
    with pytest.raises(CorruptState, match="it is empty"):
        await log.claim({}, {"model": "tiny", "dimension": 4})
    assert await contents(full) == before
