"""Objects that no version needs any more, and when they may go.

Age counts from the checkpoint that *retired* an object, never from its creation: a reader may still hold a
manifest that names it. Only the owner collects, in its lane.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace

from memforest_ray.commit.manifest import Manifest, Retired, decode
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.store import Missing, ObjectStore

__all__ = ["RETENTION_MS", "Collected", "collect", "kept_parts", "retire_parts", "retire_slots", "sweep"]

RETENTION_MS = 24 * 3600 * 1000
"""Far longer than any owner goes without proving its claim (5 minutes), or a reader holds a manifest."""
_BUCKET_MS = 3600 * 1000
"""Retired slots are kept as one entry for each hour, so that the manifest stays small."""


@dataclass(frozen=True, slots=True)
class Collected:
    """What a collection removed, and the manifest to write after it."""

    objects: int
    manifest: Manifest


def retire_slots(retired: tuple[Retired, ...], key: str, now_ms: int) -> tuple[Retired, ...]:
    """Add: all slots up to `key`. Joining the entry of the same hour lets them live a little longer."""
    last = retired[-1] if retired else None
    same_hour = last and _is_slot(last.key) and last.at_ms // _BUCKET_MS == now_ms // _BUCKET_MS
    return (*(retired[:-1] if same_hour else retired), Retired(key, now_ms))


def retire_parts(retired: tuple[Retired, ...], keys: Collection[str], now_ms: int) -> tuple[Retired, ...]:
    """Add parts. They go before the last slot entry, which stays last so that it can be joined."""
    entries = tuple(Retired(key, now_ms) for key in keys)
    if retired and _is_slot(retired[-1].key):
        return (*retired[:-1], *entries, retired[-1])
    return (*retired, *entries)


def _is_slot(key: str) -> bool:
    return "/wal/" in key


async def collect(store: ObjectStore, keys: UserKeys, manifest: Manifest, now_ms: int) -> Collected:
    """Remove what was retired over 24 hours ago and what older epochs left unfinished; idempotent.

    The caller owns the forest and has just proven it, and writes the manifest afterwards: if it cannot, the
    same objects are found gone the next time.
    """
    manifest = replace(manifest, pins=tuple(pin for pin in manifest.pins if pin.expires_ms > now_ms))
    if manifest.pins:
        return Collected(0, manifest)
    saved = await saved_parts(store, keys)
    due = {entry for entry in manifest.retired if entry.at_ms + RETENTION_MS <= now_ms and entry.key not in saved}
    removed = 0
    for entry in due:
        if not _is_slot(entry.key):
            await store.delete(entry.key)
            removed += 1
    removed += await _remove_slots(store, keys, max((keys.seq_of(entry.key) or 0 for entry in due), default=0))
    removed += await sweep(store, keys, manifest)
    rest = tuple(entry for entry in manifest.retired if entry not in due)
    return Collected(removed, replace(manifest, retired=rest))


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
    """Remove parts of older epochs that nothing names: leftovers of crashes and of stalled writers.

    Whatever their age: an older epoch can no longer change the manifest, so no one will ever name them.
    """
    kept = kept_parts(manifest) | await saved_parts(store, keys)
    removed = 0
    async for key in store.list(keys.parts):
        epoch = keys.epoch_of(key)
        if key not in kept and epoch is not None and epoch < manifest.epoch:
            await store.delete(key)
            removed += 1
    return removed


def kept_parts(manifest: Manifest) -> set[str]:
    """Parts that a reader may still ask for."""
    return {part.key for part in manifest.parts} | {entry.key for entry in manifest.retired}


async def saved_parts(store: ObjectStore, keys: UserKeys) -> set[str]:
    """Parts that a snapshot needs."""
    kept: set[str] = set()
    async for key in store.list(keys.snapshots):
        try:
            saved = decode((await store.get(key)).body, key)
        except Missing:
            continue
        kept |= {part.key for part in saved.parts}
    return kept
