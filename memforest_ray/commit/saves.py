"""What an owner does to snapshots: takes, drops and rewrites them. Each is one change of the manifest."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from memforest_ray.ambient import Clock, Random
from memforest_ray.commit.changes import Changes
from memforest_ray.commit.claim import Claim
from memforest_ray.commit.deltas import Deltas
from memforest_ray.commit.doubt import put_part
from memforest_ray.commit.garbage import retire_parts
from memforest_ray.commit.loaded import Loaded, read_parts
from memforest_ray.commit.manifest import Manifest, Saved, Settled
from memforest_ray.commit.parts import Span, apply
from memforest_ray.commit.snapshots import (
    SNAPSHOTS_MAX,
    Rewrite,
    Snapshot,
    find,
    layered,
    listed,
    load_snapshot,
    seal_snapshot,
    settled,
    unshared_parts,
)
from memforest_ray.errors import InvalidInput
from memforest_ray.ids import OpId
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.store import ObjectStore

__all__ = ["Saves", "check_free"]


class Saves:
    """Snapshots of one forest, changed under a claim."""

    def __init__(self, store: ObjectStore, keys: UserKeys, clock: Clock, random: Random, deltas: Deltas) -> None:
        self._store = store
        self._keys = keys
        self._clock = clock
        self._random = random
        self._deltas = deltas

    async def take(self, claim: Claim, name: str, operation: OpId) -> Saved:
        """Save what the manifest lists, in the place of an older one of that name. The log must be empty."""
        old = find(claim.manifest, name)
        saved = await self._write(claim, Snapshot(name, self._clock.now_ms(), claim.manifest), operation)
        after = await self._without(claim.manifest, old, saved)
        await claim.replace(_settling(after, settled(saved, "save", operation, saved.version)))
        return saved

    async def drop(self, claim: Claim, name: str, operation: OpId, version: int) -> None:
        """Remove one, a damaged one too; `version` is what is told. Raises NotFound."""
        old = listed(claim.manifest, name)
        after = await self._without(claim.manifest, old)
        await claim.replace(_settling(after, settled(old, "delete", operation, version)))

    async def _without(self, manifest: Manifest, old: Saved | None, *fresh: Saved) -> Manifest:
        if old is None:
            return replace(manifest, saved=(*manifest.saved, *fresh))
        kept = tuple(entry for entry in manifest.saved if entry != old)
        changed = replace(manifest, saved=(*kept, *fresh))
        gone = [old.key, *await unshared_parts(self._store, changed, old)]
        return replace(changed, retired=retire_parts(manifest.retired, gone, self._clock.now_ms()))

    async def _write(self, claim: Claim, snapshot: Snapshot, operation: OpId) -> Saved:
        key = self._keys.snapshot(snapshot.name, claim.epoch, self._random.nonce())
        saved, body = seal_snapshot(snapshot, key, operation)
        await put_part(self._store, key, body)
        return saved

    async def holders(self, manifest: Manifest, rewrite: Rewrite) -> list[Saved]:
        """Snapshots in which `rewrite` would change something. Raises Missing, CorruptState."""
        found = []
        for saved in manifest.saved:
            loaded = await self._load(await load_snapshot(self._store, saved))
            if not (await rewrite(loaded)).empty:
                found.append(saved)
        return found

    async def rewritten(self, claim: Claim, rewrite: Rewrite) -> tuple[Saved, ...]:
        """What the manifest shall list instead of its snapshots. Raises Missing, CorruptState."""
        return tuple([await self._rewritten(claim, saved, rewrite) for saved in claim.manifest.saved])

    async def _rewritten(self, claim: Claim, saved: Saved, rewrite: Rewrite) -> Saved:
        snapshot = await load_snapshot(self._store, saved)
        loaded = await self._load(snapshot)
        changes = await rewrite(loaded)
        parts = snapshot.manifest.parts
        # Without anything to change it may still hold rows that were dropped before it was saved.
        if changes.empty and not layered(parts):
            return saved
        apply(loaded.tables, changes)
        rows = Changes(puts={table: rows for table, rows in loaded.tables.items() if rows})
        span = Span(max((part.tier for part in parts), default=1), 1, snapshot.manifest.floor)
        fresh = await self._deltas.write(claim.epoch, rows, span, sum(part.bytes for part in parts))
        changed = replace(snapshot, manifest=replace(snapshot.manifest, parts=fresh))
        return await self._write(claim, changed, saved.operation)

    async def refitted(self, claim: Claim, fingerprint: Mapping[str, Any], rewrite: Rewrite) -> tuple[Saved, ...]:
        """What the manifest shall list instead of its snapshots once they are another embedder's."""
        return tuple([await self._refitted(claim, saved, fingerprint, rewrite) for saved in claim.manifest.saved])

    async def _refitted(self, claim: Claim, saved: Saved, fingerprint: Mapping[str, Any], rewrite: Rewrite) -> Saved:
        snapshot = await load_snapshot(self._store, saved)
        loaded = await self._load(snapshot)
        apply(loaded.tables, await rewrite(loaded))
        rows = Changes(puts={table: rows for table, rows in loaded.tables.items() if rows})
        manifest = snapshot.manifest
        span = Span(max((part.tier for part in manifest.parts), default=1), 1, manifest.floor)
        fresh = await self._deltas.write(claim.epoch, rows, span, sum(part.bytes for part in manifest.parts))
        changed = replace(snapshot, manifest=replace(manifest, parts=fresh, fingerprint=dict(fingerprint)))
        return await self._write(claim, changed, saved.operation)

    async def _load(self, snapshot: Snapshot) -> Loaded:
        loaded = Loaded({}, snapshot.manifest.version, snapshot.manifest)
        await read_parts(self._store, snapshot.manifest.parts, loaded.tables)
        return loaded


def _settling(manifest: Manifest, done: Settled) -> Manifest:
    """Who names no operation does not ask again."""
    return manifest.settling(done) if done.operation else manifest


def check_free(manifest: Manifest, name: str, replacing: bool) -> None:
    """Raises InvalidInput when the name is taken, or there are too many."""
    held = find(manifest, name)
    if held is not None:
        if not replacing:
            raise InvalidInput(
                f"there is already a snapshot {name!r}, of version {held.version}; nothing was changed; "
                "choose another name, or pass replace=True",
                name=name,
                version=held.version,
            )
    elif len(manifest.saved) >= SNAPSHOTS_MAX:
        raise InvalidInput(
            f"there are {SNAPSHOTS_MAX} snapshots already, the most allowed; nothing was changed; delete one first",
            snapshots=[saved.name for saved in manifest.saved],
        )
