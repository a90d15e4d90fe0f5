"""Erasure: what was dropped from a forest leaves the store too.

Deleting and covering are repeatable: an erasure that was cut off is done again, by whoever claims next.
"""

from collections.abc import Collection
from dataclasses import dataclass

from memforest_ray.commit.manifest import Manifest
from memforest_ray.commit.slots import Slot, decode_slot, encode_slot, tombstone
from memforest_ray.commit.snapshots import saved_parts
from memforest_ray.errors import CorruptState, StoreUnavailable
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.store import Missing, ObjectStore

__all__ = ["Erased", "check_erased", "cover_slots", "remove_all", "remove_older", "slot_of"]


@dataclass(frozen=True, slots=True)
class Erased:
    """What an erasure did."""

    version: int
    """The version that closed it."""
    objects: int
    """Objects removed."""
    slots: int
    """Log slots whose content was overwritten."""
    sweep_until_ms: int
    """Until then each activation and checkpoint also removes what a stalled writer may still drop."""


async def remove_older(store: ObjectStore, keys: UserKeys, manifest: Manifest) -> int:
    """Remove every object that `manifest` does not list, and all caches; snapshots keep what they name."""
    removed = 0
    for key in await _unneeded(store, keys, manifest):
        await store.delete(key)
        removed += 1
    return removed


async def _unneeded(store: ObjectStore, keys: UserKeys, manifest: Manifest) -> list[str]:
    kept = {part.key for part in manifest.parts} | {saved.key for saved in manifest.saved}
    kept |= await saved_parts(store, manifest)
    return [
        key
        for prefix in (keys.parts, keys.snapshots, keys.caches)
        async for key in store.list(prefix)
        # An object of a later epoch is another owner's: then our next write will find that we are fenced.
        if key not in kept and (keys.epoch_of(key) or 0) <= manifest.epoch
    ]


async def remove_all(store: ObjectStore, keys: UserKeys, epoch: int) -> int:
    """Remove whatever a deleted user has, up to `epoch`, but for the manifest and the slots' names."""
    removed = 0
    async for key in store.list(keys.prefix):
        if key != keys.manifest and keys.seq_of(key) is None and (keys.epoch_of(key) or 0) <= epoch:
            await store.delete(key)
            removed += 1
    return removed


async def cover_slots(store: ObjectStore, keys: UserKeys, floor: int) -> int:
    """Overwrite the slots up to `floor` with empty tombstones: a free name could swallow a stalled commit."""
    covered = 0
    async for key in store.list(keys.slots):
        seq = keys.seq_of(key)
        if seq is None or seq > floor:
            continue
        slot = await slot_of(store, key, seq)
        if slot is not None and slot.kind == "commit":
            await store.overwrite(key, encode_slot(tombstone(slot), key))
            covered += 1
    return covered


async def slot_of(store: ObjectStore, key: str, seq: int) -> Slot | None:
    """The slot as it stands; None for a free name, a nameless commit for a damaged one."""
    try:
        return decode_slot((await store.get(key)).body, key, seq)
    except Missing:
        return None
    except CorruptState:
        # Contained in the parts already, so nobody needs it; but it may hold text.
        return Slot("commit", 0, seq, "")


async def check_erased(store: ObjectStore, keys: UserKeys, manifest: Manifest) -> None:
    """Look again, before anyone is told: nothing but listed parts, snapshots and empty slots may be left.

    Raises:
        StoreUnavailable: the store still shows an object that was removed; the erasure stays open.
    """
    _expect_none(await _unneeded(store, keys, manifest))
    covered = [seq async for key in store.list(keys.slots) if (seq := keys.seq_of(key)) and seq <= manifest.floor]
    slots = [await slot_of(store, keys.slot(seq), seq) for seq in covered]
    _expect_none([keys.slot(slot.seq) for slot in slots if slot and slot.kind == "commit"])


def _expect_none(left: Collection[str]) -> None:
    if left:
        raise StoreUnavailable(
            f"the store still shows {len(left)} objects after their removal, {min(left)} among them; the "
            "erasure stays open and is taken up again when the memory is next opened",
            keys=sorted(left),
        )
