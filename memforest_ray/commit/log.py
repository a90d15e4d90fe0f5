"""The durable history of one forest: commit slots, checkpoints, and the manifest behind them.

One `CommitLog` is one possible owner. It knows rows in tables and never what they mean. Whoever creates the
next slot has made the next version; everything else only shortens the log.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from memforest_ray.ambient import Clock, Random
from memforest_ray.commit.changes import Changes, difference
from memforest_ray.commit.claim import Claim, Reload
from memforest_ray.commit.deltas import Deltas
from memforest_ray.commit.erase import Erased, check_erased, cover_slots, remove_older
from memforest_ray.commit.frames import off_loop
from memforest_ray.commit.garbage import (
    RETENTION_MS,
    RETIRED_MAX,
    collect,
    let_go,
    live_pins,
    overdue,
    retire_parts,
    retire_slots,
)
from memforest_ray.commit.loaded import Loaded, load, read_manifest
from memforest_ray.commit.manifest import Manifest, Part, Pin, Saved, check_fingerprint
from memforest_ray.commit.owner import Owner
from memforest_ray.commit.parts import FANOUT, PARTS_MAX, Span, apply, base_of, due_merge
from memforest_ray.commit.saves import Saves, check_free
from memforest_ray.commit.snapshots import (
    Rewrite,
    SnapshotInfo,
    check_name,
    find_settled,
    listed,
    read_snapshot,
    saved_parts,
)
from memforest_ray.errors import InvalidInput, Overloaded
from memforest_ray.ids import OpId, UserId
from memforest_ray.storage.store import ObjectStore

__all__ = ["CommitLog", "Reload"]

_PINS_MAX = 16
_NOBODY = OpId("")


class CommitLog(Owner):
    """Reads a forest, claims it, and makes its changes durable, one after the other."""

    def __init__(
        self,
        store: ObjectStore,
        user: UserId,
        clock: Clock,
        random: Random,
        *,
        checkpoint_commits: int = 32,
        checkpoint_bytes: int = 4 << 20,
        prove_after_s: float = 300.0,
        fanout: int = FANOUT,
    ) -> None:
        """A checkpoint is `due` after so many commits, or bytes of log, whichever comes first.

        `fanout`: deltas that are merged to one; fewer rewrite rows more often and shorten a cold start.
        `prove_after_s`: a commit is acknowledged only if ownership was proven within that time.
        """
        super().__init__(store, user, clock, random, prove_after_s)
        self._checkpoint_commits = checkpoint_commits
        self._checkpoint_bytes = checkpoint_bytes
        self._fanout = fanout
        # Compaction works outside the lane; an erasure must not run while it holds the old rows.
        self._merging = asyncio.Lock()
        self._deltas = Deltas(store, self._keys, clock, random)
        self._saves = Saves(store, self._keys, clock, random, self._deltas)

    async def commit(
        self,
        changes: Changes,
        operations: Collection[OpId] = (),
        *,
        opens: Sequence[str] = (),
        including_snapshots: bool = False,
        rewrite: Rewrite | None = None,
    ) -> int:
        """Make `changes` the next version, durably, with one write. Returns its number.

        `opens` names erasures that begin with it: the text is out of `changes`, and `erase` must follow, with
        the same `rewrite`: without one, the rows that `changes` drops are to leave the snapshots.

        Raises:
            InvalidInput: a snapshot holds what is to be erased, and `including_snapshots` was not said.
            Overloaded: somebody copies the forest; it can be erased from when they are done.
            Fenced: another owner has taken over; nothing was committed.
            StoreUnavailable: the store refused; nothing was committed, the same call can be made again.
            OutcomeUnknown: it may or may not be committed. The claim is given up: read and claim again, and
                look whether the operation is there.
        """
        async with self._lane:
            if opens:
                await self._check_erasable(rewrite or _dropping([changes]), including_snapshots)
            return await self._commit(changes, tuple(operations), tuple(opens), ())

    async def _check_erasable(self, rewrite: Rewrite, including_snapshots: bool) -> None:
        claim = self._owned()
        self._check_unpinned(claim)
        if including_snapshots:
            return
        async with claim.certain():
            holders = await self._saves.holders(claim.manifest, rewrite)
        if holders:
            names = [saved.name for saved in holders]
            raise InvalidInput(
                f"snapshots hold what is to be forgotten: {', '.join(map(repr, names))}; nothing was changed; pass "
                "including_snapshots=True to take it out of them too, or delete them first",
                snapshots=names,
            )

    def _check_unpinned(self, claim: Claim) -> None:
        now = self._clock.now_ms()
        pins = live_pins(claim.manifest.pins, now)
        if pins:
            left_s = (max(pin.expires_ms for pin in pins) - now) / 1000
            raise Overloaded(
                f"this memory is being copied, or its copier has died and is waited for {left_s:.0f} s more; "
                "nothing was erased; wait, then make the same call again",
                retry_after=left_s,
            )

    @property
    def due(self) -> bool:
        """Whether a checkpoint would pay."""
        return self._pending.commits >= self._checkpoint_commits or self._pending.bytes >= self._checkpoint_bytes

    async def checkpoint(self) -> None:
        """Put what changed since the last one into parts and move the log's floor. No new version.

        Raises:
            Fenced: another owner has taken over.
            StoreUnavailable: nothing changed, or (without `refused`) the claim is given up.
        """
        await self._make_room()
        async with self._lane:
            claim = self._owned()
            await self._checkpoint(claim, claim.manifest)
            await self._sweep(claim)

    async def _make_room(self) -> None:
        while len(self._owned().manifest.parts) > PARTS_MAX - 2 and await self.compact():
            pass

    async def _checkpoint(self, claim: Claim, manifest: Manifest) -> None:
        """`manifest` is ours with what else shall change."""
        pending = self._pending
        if pending.begun:
            # Only the log tells what the commits dropped that began an erasure; it stays until that is done.
            if manifest != claim.manifest:
                await claim.replace(manifest)
            return
        if pending.version == manifest.floor and manifest == claim.manifest:
            return
        span = Span(0, manifest.floor + 1, pending.version)
        parts = await self._deltas.write(claim.epoch, pending.changes, span, pending.bytes)
        await claim.replace(self._floored(replace(manifest, parts=(*manifest.parts, *parts))))
        self._pending = pending.emptied()

    def _floored(self, manifest: Manifest) -> Manifest:
        """`manifest` with its floor at our version."""
        pending = self._pending
        key = self._keys.slot(pending.version)
        return replace(
            manifest,
            version=pending.version,
            floor=pending.version,
            retired=retire_slots(manifest.retired, key, self._clock.now_ms()),
            erasures=pending.erasing,
        ).remembering(pending.operations)

    async def compact(self) -> bool:
        """Merge `fanout` deltas to one, if there are so many; commits go on meanwhile. Whether it did."""
        async with self._merging:
            claim = self._owned()
            run = due_merge(claim.manifest.parts, self._fanout)
            if not run:
                return False
            merged = await self._merge(claim, run, claim.manifest.parts[: len(run)] == run)
            async with self._lane:
                self._owned()
                # Checkpoints only append, and nothing else that changes parts runs beside us.
                await claim.replace(await self._merged(claim, run, merged))
                if len(claim.manifest.retired) > RETIRED_MAX:
                    await self._collect(claim)
            return True

    async def _merge(self, claim: Claim, run: tuple[Part, ...], oldest: bool) -> tuple[Part, ...]:
        async with claim.certain():
            deltas = await self._deltas.read(run)
        size = sum(part.bytes for part in run)
        changes = await off_loop(size, base_of if oldest else _fold, deltas)
        span = Span(max(part.tier for part in run) + 1, run[0].first, run[-1].last)
        return await self._deltas.write(claim.epoch, changes, span, size)

    async def _merged(self, claim: Claim, run: tuple[Part, ...], merged: tuple[Part, ...]) -> Manifest:
        manifest = claim.manifest
        place = manifest.parts.index(run[0])
        rest = tuple(part for part in manifest.parts if part not in run)
        async with claim.certain():
            saved = await saved_parts(self._store, manifest)
        # What a snapshot needs is retired when the snapshot goes.
        gone = [part.key for part in run if part.key not in saved]
        retired = retire_parts(manifest.retired, gone, self._clock.now_ms())
        return replace(manifest, parts=(*rest[:place], *merged, *rest[place:]), retired=retired)

    async def collect(self) -> int:
        """Remove objects that were retired over 24 hours ago; their number."""
        async with self._lane:
            return await self._collect(self._owned())

    async def _collect(self, claim: Claim) -> int:
        await claim.prove()
        async with claim.certain():
            collected = await collect(self._store, self._keys, claim.manifest, self._clock.now_ms())
        if collected.manifest != claim.manifest:
            await claim.replace(collected.manifest)
        return collected.objects

    async def erase(self, rewrite: Rewrite | None = None) -> Erased:
        """Finish the open erasures: no object holds a dropped row any more, then a commit says so.

        Snapshots are rewritten under their names as `rewrite` says; without it they lose the rows that were
        dropped by the commits that began the erasures. Repeatable: cut off anywhere, the next owner finds the
        erasures open and calls this again. Whoever had `unreturned` pins is to be shut out before.

        Raises:
            Overloaded: somebody copies the forest; the erasures stay open.
            StoreUnavailable: the erasures stay open.
            CorruptState: a snapshot cannot be read, so it cannot be cleaned; delete it, then call again.
        """
        async with self._merging, self._lane:
            claim = self._owned()
            self._check_unpinned(claim)
            await claim.prove()
            async with claim.certain():
                saved = await self._saves.rewritten(claim, rewrite or _dropping(self._pending.begun))
                await self._rewrite(claim, saved)
                objects = await remove_older(self._store, self._keys, claim.manifest)
                slots = await cover_slots(self._store, self._keys, claim.manifest.floor)
                await check_erased(self._store, self._keys, claim.manifest)
            version = await self._commit(Changes(), (), (), self.erasing)
            return Erased(version, objects, slots, claim.manifest.sweep_until_ms)

    async def _rewrite(self, claim: Claim, saved: tuple[Saved, ...]) -> None:
        """All rows into one fresh delta; nothing older is listed or needed afterwards, but by `saved`."""
        manifest, pending = claim.manifest, self._pending
        tier = max((part.tier for part in manifest.parts), default=1)
        parts = await self._deltas.write_base(
            claim.epoch, manifest.parts, pending.changes, last=pending.version, tier=max(tier, 1)
        )
        slots = tuple(entry for entry in manifest.retired if self._keys.seq_of(entry.key))
        sweep_until = self._clock.now_ms() + RETENTION_MS
        fresh = replace(manifest, parts=parts, saved=saved, retired=slots, pins=(), sweep_until_ms=sweep_until)
        await claim.replace(self._floored(fresh))
        self._pending = pending.emptied()

    async def refit(self, fingerprint: Mapping[str, Any], rewrite: Rewrite) -> int:
        """Put the rows of another embedder in the place of ours, those of snapshots too: one change of the manifest.

        `rewrite` gives, for what it is shown, all vectors anew, and what else shall change. What stood there before is
        collected 24 hours later. Erasures that are open stay open, and want a `rewrite` then: the log, which tells what
        was dropped, is behind the floor. Returns the version.

        Raises:
            Fenced: another owner has taken over; nothing was changed.
        """
        async with self._merging, self._lane:
            claim = self._owned()
            await claim.prove()
            manifest = claim.manifest
            async with claim.certain():
                needed = await saved_parts(self._store, manifest)
                parts = await self._refitted(claim, rewrite)
                saved = await self._saves.refitted(claim, fingerprint, rewrite)
            gone = {*needed, *(part.key for part in manifest.parts), *(entry.key for entry in manifest.saved)}
            retired = retire_parts(manifest.retired, gone, self._clock.now_ms())
            fresh = replace(manifest, fingerprint=dict(fingerprint), parts=parts, saved=saved, retired=retired)
            await claim.replace(self._floored(fresh))
            self._pending = self._pending.emptied()
            return self.version

    async def _refitted(self, claim: Claim, rewrite: Rewrite) -> tuple[Part, ...]:
        loaded = await load(self._store, self._keys)
        apply(loaded.tables, await rewrite(loaded))
        rows = Changes(puts={table: rows for table, rows in loaded.tables.items() if rows})
        tier = max((part.tier for part in claim.manifest.parts), default=1)
        size = sum(part.bytes for part in claim.manifest.parts)
        return await self._deltas.write(claim.epoch, rows, Span(max(tier, 1), 1, self.version), size)

    # ---- snapshots and pins ------------------------------------------------------------------------------

    async def save(self, name: str, *, replace: bool = False, operation: OpId = _NOBODY) -> SnapshotInfo:
        """Keep the present rows under `name`, any text. A retry with the same `operation` is told the same.

        Raises:
            InvalidInput: the name is taken and `replace` was not said, or is no name, or there are too many; or
                `operation` has done something else.
            Overloaded: an erasure is open; finish it first.
        """
        check_name(name)
        await self._make_room()
        async with self._lane:
            claim = self._owned()
            if done := find_settled(claim.manifest, "save", operation, name):
                return SnapshotInfo(name, done.version, done.created_ms, done.rows, done.bytes)
            check_free(claim.manifest, name, replace)
            self._check_whole()
            await self._checkpoint(claim, claim.manifest)
            async with claim.certain():
                return SnapshotInfo.of(await self._saves.take(claim, name, operation))

    def _check_whole(self) -> None:
        if self.erasing:
            raise Overloaded("an erasure is not finished yet; nothing was changed; call again", retry_after=1.0)

    async def snapshots(self) -> tuple[SnapshotInfo, ...]:
        """What there is, oldest first; for a reader too, with one request."""
        held = await read_manifest(self._store, self._keys)
        return tuple(SnapshotInfo.of(saved) for saved in held.manifest.saved) if held else ()

    async def key_of_snapshot(self, name: str) -> str:
        """The object that holds it now; for a reader too, with one request. Raises NotFound."""
        held = await read_manifest(self._store, self._keys)
        return listed(held.manifest if held else None, name).key

    async def read_snapshot(self, name: str) -> Loaded:
        """All rows of a snapshot; its manifest is the saved one. For a reader too.

        Raises:
            NotFound: there is none of that name.
            CorruptState: an object is damaged or missing; it is named.
        """
        return await read_snapshot(self._store, self._keys, name)

    async def restore(self, name: str, *, kept: Collection[str] = ()) -> Changes:
        """What the owner commits so that the rows are those of the snapshot again, but for the tables `kept`.

        Nothing is changed here: the caller takes out what was forgotten since, and commits the rest.

        Raises:
            NotFound, CorruptState: as `read_snapshot`.
            Fenced: it is not ours, or not any more: another owner has written, or the user was deleted.
            EmbeddingMismatch: the snapshot was saved with another embedder.
        """
        then = await self.read_snapshot(name)
        async with self._lane:
            now = await load(self._store, self._keys)
            self._expect_ours(now)
        if then.manifest and now.manifest:
            check_fingerprint(then.manifest, now.manifest.fingerprint)
        return difference(now.tables, then.tables, kept=kept)

    async def delete_snapshot(self, name: str, *, operation: OpId = _NOBODY) -> int:
        """Remove one; what only it needed goes 24 hours later. A retry with the same `operation` is told the same.

        Returns the forest's version at that time. Raises NotFound; InvalidInput: `operation` has done something else.
        """
        async with self._lane:
            claim = self._owned()
            if done := find_settled(claim.manifest, "delete", operation, name):
                return done.version
            version = self.version
            await self._saves.drop(claim, name, operation, version)
            return version

    async def deleted(self, name: str, operation: OpId) -> int | None:
        """Whether there is a snapshot `name`; for a reader too, with one request.

        None if there is; else the version at which `operation` removed it. Raises NotFound; InvalidInput as above.
        """
        held = await read_manifest(self._store, self._keys)
        if held and (done := find_settled(held.manifest, "delete", operation, name)):
            return done.version
        listed(held.manifest if held else None, name)
        return None

    async def pin(self, operation: OpId, expires_ms: int) -> Manifest:
        """Keep every object that the returned manifest lists until `expires_ms`, at most 24 hours from now.

        The manifest holds everything: the log is put into parts first. An erasure waits as long.

        Raises:
            InvalidInput: it would expire in the past, or too late.
            Overloaded: an erasure is open, or too many are copying.
        """
        await self._make_room()
        async with self._lane:
            claim = self._owned()
            self._check_whole()
            now = self._clock.now_ms()
            if not now < expires_ms <= now + RETENTION_MS:
                raise InvalidInput("a pin can last at most 24 hours; nothing was changed", expires_ms=expires_ms)
            others = tuple(pin for pin in overdue(claim.manifest.pins, now) if pin.operation != operation)
            if len(live_pins(others, now)) >= _PINS_MAX:
                raise Overloaded(
                    f"{_PINS_MAX} copies of this memory are under way; nothing was changed", retry_after=60.0
                )
            await self._checkpoint(claim, replace(claim.manifest, pins=(*others, Pin(operation, expires_ms))))
            return claim.manifest

    @property
    def unreturned(self) -> bool:
        """Whether somebody who was to copy this memory never said that the copy stands."""
        now = self._clock.now_ms()
        return any(pin.expires_ms <= now for pin in self.manifest.pins) if self.manifest else False

    async def unpin(self, operation: OpId, *, landed: bool = True) -> None:
        """The copy is made, or has been given up: then it may still be on its way. No error where the pin is gone."""
        async with self._lane:
            claim = self._owned()
            rest = let_go(claim.manifest.pins, operation, self._clock.now_ms(), landed=landed)
            if rest != claim.manifest.pins:
                await claim.replace(replace(claim.manifest, pins=rest))

    async def close(self) -> None:
        """Checkpoint and leave in order. Writes nothing if the forest is not ours."""
        async with self._merging, self._lane:
            claim, self._claim = self._claim, None
            if claim is not None and not claim.lost:
                await self._checkpoint(claim, replace(claim.manifest, state="clean"))


def _dropping(begun: Sequence[Changes]) -> Rewrite:
    """Takes the rows out of a snapshot that the commits `begun` dropped from the forest."""
    dropped = _fold(begun)

    async def rewrite(loaded: Loaded) -> Changes:
        return dropped.dropped_from(loaded.tables)

    return rewrite


def _fold(deltas: Sequence[Changes]) -> Changes:
    folded = Changes()
    for delta in deltas:
        folded.absorb(delta)
    return folded
