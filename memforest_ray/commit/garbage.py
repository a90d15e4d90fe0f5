"""Objects that no version needs any more, and when they may go.

Age counts from the checkpoint that *retired* an object, never from its creation: a reader may still hold a
manifest that names it. Only the owner collects, in its lane.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace

from memforest_ray.commit.manifest import Manifest, Pin, Retired
from memforest_ray.commit.snapshots import saved_parts
from memforest_ray.ids import OpId
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.store import ObjectStore

__all__ = [
    "RETENTION_MS",
    "RETIRED_MAX",
    "Collected",
    "collect",
    "kept_objects",
    "let_go",
    "live_pins",
    "overdue",
    "retire_parts",
    "retire_slots",
    "sweep",
]

RETENTION_MS = 24 * 3600 * 1000
"""Far longer than any owner goes without proving its claim (5 minutes), or a reader holds a manifest."""
_BUCKET_MS = 3600 * 1000
"""Retired slots are kept as one entry for each hour, so that the manifest stays small."""
_BUCKETS_MAX = 48
"""Entries of slots: an older one than these is covered by the next, which lets its slots live a little longer."""
RETIRED_MAX = 512
"""Retired objects a manifest lists (50 KB). Beyond it the oldest go early, as at an erasure: who reads them starts
over. Under the default settings these are the leftovers of 8,000 commits."""


@dataclass(frozen=True, slots=True)
class Collected:
    """What a collection removed, and the manifest to write after it."""

    objects: int
    manifest: Manifest


def retire_slots(retired: tuple[Retired, ...], key: str, now_ms: int) -> tuple[Retired, ...]:
    """Add: all slots up to `key`. Joining the entry of the same hour lets them live a little longer."""
    last = retired[-1] if retired else None
    same_hour = last and _is_slot(last.key) and last.at_ms // _BUCKET_MS == now_ms // _BUCKET_MS
    entries = (*(retired[:-1] if same_hour else retired), Retired(key, now_ms))
    slots = [entry for entry in entries if _is_slot(entry.key)]
    return tuple(entry for entry in entries if entry not in slots[:-_BUCKETS_MAX])


def retire_parts(retired: tuple[Retired, ...], keys: Collection[str], now_ms: int) -> tuple[Retired, ...]:
    """Add objects, anew where they stood already. The last slot entry stays last, so that it can be joined."""
    entries = tuple(Retired(key, now_ms) for key in keys)
    retired = tuple(entry for entry in retired if entry.key not in keys)
    if retired and _is_slot(retired[-1].key):
        return (*retired[:-1], *entries, retired[-1])
    return (*retired, *entries)


def _is_slot(key: str) -> bool:
    return "/wal/" in key


def live_pins(pins: tuple[Pin, ...], now_ms: int) -> tuple[Pin, ...]:
    """Those that have not expired."""
    return tuple(pin for pin in pins if pin.expires_ms > now_ms)


def overdue(pins: tuple[Pin, ...], now_ms: int) -> tuple[Pin, ...]:
    """The pins that count: those that have not expired and, of all others, one.

    Whoever pinned a memory and never said that the copy stands may have stood still since, and go on: before something
    is erased they are to be kept from it. For that one pin is enough.
    """
    late = tuple(pin for pin in pins if pin.expires_ms <= now_ms)
    return (*late[-1:], *live_pins(pins, now_ms))


def let_go(pins: tuple[Pin, ...], operation: OpId, now_ms: int, *, landed: bool) -> tuple[Pin, ...]:
    """The pins without that of `operation`; unless its copy `landed`, it has expired instead."""
    own = tuple(pin for pin in pins if pin.operation == operation)
    others = tuple(pin for pin in pins if pin.operation != operation)
    if landed or not own:
        return others
    return overdue((*others, *(replace(pin, expires_ms=min(pin.expires_ms, now_ms)) for pin in own)), now_ms)


async def collect(store: ObjectStore, keys: UserKeys, manifest: Manifest, now_ms: int) -> Collected:
    """Remove what was retired over 24 hours ago and what older epochs left unfinished; idempotent.

    The caller owns the forest and has just proven it, and writes the manifest afterwards: if it cannot, the
    same objects are found gone the next time.
    """
    manifest = replace(manifest, pins=overdue(manifest.pins, now_ms))
    if live_pins(manifest.pins, now_ms):
        return Collected(0, manifest)
    saved = await saved_parts(store, manifest)
    due = {entry for entry in _due(manifest.retired, now_ms) if entry.key not in saved}
    removed = 0
    for entry in manifest.retired:
        if entry in due and not _is_slot(entry.key):
            await store.delete(entry.key)
            removed += 1
    removed += await _remove_slots(store, keys, max((keys.seq_of(entry.key) or 0 for entry in due), default=0))
    removed += await sweep(store, keys, manifest)
    rest = tuple(entry for entry in manifest.retired if entry not in due)
    return Collected(removed, replace(manifest, retired=rest))


def _due(retired: tuple[Retired, ...], now_ms: int) -> set[Retired]:
    objects = [entry for entry in retired if not _is_slot(entry.key)]
    return {entry for entry in retired if entry.at_ms + RETENTION_MS <= now_ms} | set(objects[:-RETIRED_MAX])


async def _remove_slots(store: ObjectStore, keys: UserKeys, last: int) -> int:
    removed = 0
    if not last:
        return removed
    async for key in store.list(keys.slots):
        if (keys.seq_of(key) or last + 1) > last:
            break
        await store.delete(key)
        removed += 1
    return removed


async def sweep(store: ObjectStore, keys: UserKeys, manifest: Manifest) -> int:
    """Remove parts, snapshots, graphs and answers of older epochs that nothing names: leftovers of crashes and stalls.

    Whatever their age: an older epoch can no longer change the manifest, so no one will ever name them.

    Raises:
        CorruptState: a snapshot is damaged; what it needs is unknown, so nothing was removed.
    """
    kept = kept_objects(manifest) | await saved_parts(store, manifest)
    removed = 0
    for prefix in (keys.parts, keys.snapshots, keys.graphs, keys.answers):
        async for key in store.list(prefix):
            epoch = keys.epoch_of(key)
            if key not in kept and epoch is not None and epoch < manifest.epoch:
                await store.delete(key)
                removed += 1
    return removed


def kept_objects(manifest: Manifest) -> set[str]:
    """Parts and snapshots that a reader may still ask for."""
    listed = {part.key for part in manifest.parts} | {saved.key for saved in manifest.saved}
    return listed | {entry.key for entry in manifest.retired}
