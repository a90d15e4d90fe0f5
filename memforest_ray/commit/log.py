"""The durable history of one forest: commit slots, checkpoints, and the manifest behind them.

One `CommitLog` is one possible owner. It knows rows in tables and never what they mean. Whoever creates the
next slot has made the next version; everything else only shortens the log.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from memforest_ray.ambient import Clock, Random
from memforest_ray.commit.changes import Changes
from memforest_ray.commit.claim import Claim, Reload, fenced, take
from memforest_ray.commit.doubt import put_part
from memforest_ray.commit.erase import Erased, check_erased, cover_slots, remove_older
from memforest_ray.commit.frames import corrupt, off_loop
from memforest_ray.commit.garbage import RETENTION_MS, collect, retire_parts, retire_slots, saved_parts, sweep
from memforest_ray.commit.loaded import Loaded, fetch_all, load, read_manifest
from memforest_ray.commit.manifest import Manifest, Part
from memforest_ray.commit.parts import PARTS_MAX, Span, base_of, decode_part, due_merge, encode_delta
from memforest_ray.commit.pending import ROW_BYTES, Pending
from memforest_ray.commit.slots import Slot, encode_slot, put_slot
from memforest_ray.errors import Fenced, OutcomeUnknown, StoreUnavailable
from memforest_ray.ids import OpId, UserId
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.store import Missing, ObjectStore

__all__ = ["CommitLog", "Reload"]


class CommitLog:
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
    ) -> None:
        """A checkpoint is `due` after so many commits, or bytes of log, whichever comes first.

        `prove_after_s`: a commit is acknowledged only if ownership was proven within that time.
        """
        self._store = store
        self._user = user
        self._keys = UserKeys.of(user)
        self._clock = clock
        self._random = random
        self._checkpoint_commits = checkpoint_commits
        self._checkpoint_bytes = checkpoint_bytes
        self._prove_after_s = prove_after_s
        self._lane = asyncio.Lock()
        # Compaction works outside the lane; an erasure must not run while it holds the old rows.
        self._merging = asyncio.Lock()
        self._claim: Claim | None = None
        self._pending = Pending(0)

    @property
    def version(self) -> int:
        """Number of the last commit known here; it never goes back."""
        return self._pending.version

    @property
    def owned(self) -> bool:
        """Whether commits can be made, as far as is known here."""
        return self._claim is not None and not self._claim.lost

    @property
    def manifest(self) -> Manifest | None:
        """The manifest under our claim; None without one."""
        return self._claim.manifest if self._claim else None

    @property
    def erasing(self) -> tuple[str, ...]:
        """Erasures begun and not finished: call `erase` before anything else."""
        return self._pending.erasing

    async def read(self) -> Loaded:
        """The newest version, for a reader; claims and writes nothing. An unknown user is empty, version 0.

        Raises:
            CorruptState: an object is damaged or missing; it is named.
        """
        async with self._lane:
            loaded = await load(self._store, self._keys)
            if not self.owned:
                self._pending = Pending.after(loaded)
            return loaded

    async def moved(self) -> bool:
        """Whether anything was committed or checkpointed past our version since we read it; two small requests."""
        held = await read_manifest(self._store, self._keys)
        if held is None:
            return self.version > 0
        if held.manifest.floor > self.version:
            return True
        try:
            await self._store.get(self._keys.slot(self.version + 1))
        except Missing:
            return False
        return True

    async def claim(self, birth: Mapping[str, Any], fingerprint: Mapping[str, Any]) -> list[Changes]:
        """Become the owner. Returns what others committed since our `read`: apply it first, in order.

        `birth` is kept with the forest when this is its first claim, else the stored one stays.

        Raises:
            Reload: the log no longer holds all since our `read`: read, then claim again.
            EmbeddingMismatch: the forest was written with another embedding model or dimension.
            Fenced: another claimed at the same time and was faster.
        """
        async with self._lane:
            claim = await take(
                self._store,
                self._user,
                self._clock,
                self._random,
                known=self.version,
                birth=birth,
                fingerprint=fingerprint,
            )
            others = await self._fence(claim)
            await self._sweep(claim)
            if claim.age >= self._prove_after_s:
                await claim.prove()
            self._claim = claim
            self._pending.begin(claim.manifest)
            for slot in others:
                self._pending.add(slot, 0)
            return [slot.changes for slot in others if slot.kind == "commit"]

    async def _fence(self, claim: Claim) -> list[Slot]:
        """Take the next slot, so that no earlier owner can commit any more. Returns what stood before it."""
        slots: list[Slot] = []
        while True:
            seq = self.version + len(slots) + 1
            key = self._keys.slot(seq)
            fence = Slot("fence", claim.epoch, seq, self._random.nonce())
            other = await put_slot(self._store, key, fence, encode_slot(fence, key))
            slots.append(other or fence)
            if other is None:
                return slots
            if other.epoch >= claim.epoch or other.kind == "tombstone":
                raise fenced(self._keys)

    async def commit(
        self,
        changes: Changes,
        operations: Collection[OpId] = (),
        *,
        opens: Sequence[str] = (),
    ) -> int:
        """Make `changes` the next version, durably, with one write. Returns its number.

        `opens` names erasures that begin with it: the text is out of `changes`, and `erase` must follow.

        Raises:
            Fenced: another owner has taken over; nothing was committed.
            StoreUnavailable: the store refused; nothing was committed, the same call can be made again.
            OutcomeUnknown: it may or may not be committed. The claim is given up: read and claim again, and
                look whether the operation is there.
        """
        async with self._lane:
            return await self._commit(changes, tuple(operations), tuple(opens), ())

    async def _commit(
        self, changes: Changes, operations: tuple[OpId, ...], opens: tuple[str, ...], closes: tuple[str, ...]
    ) -> int:
        claim = self._owned()
        seq = self.version + 1
        key = self._keys.slot(seq)
        slot = Slot("commit", claim.epoch, seq, self._random.nonce(), changes, operations, opens, closes)
        body = await off_loop(changes.rows * ROW_BYTES, encode_slot, slot, key)
        with claim.unsure():
            await self._land(claim, slot, body)
        self._pending.add(slot, len(body))
        return seq

    async def _land(self, claim: Claim, slot: Slot, body: bytes) -> None:
        """Create the slot, and make sure that it may be acknowledged."""
        started = self._clock.elapsed()
        try:
            other = await put_slot(self._store, self._keys.slot(slot.seq), slot, body)
        except StoreUnavailable as error:
            if error.detail.get("refused"):
                raise
            raise _unknown(slot) from error
        if other is not None:
            # A tombstone says that the place was erased, not whose it was.
            raise fenced(self._keys) if other.kind != "tombstone" else _unknown(slot)
        if claim.age < self._prove_after_s:
            claim.confirm(started)
            return
        # So late that the name may have been freed by a newer owner's collection: a create proves nothing.
        try:
            await claim.prove()
        except (Fenced, StoreUnavailable) as error:
            raise _unknown(slot) from error

    async def prove(self, within_s: float = 0.0) -> None:
        """Make sure that the forest is still ours, unless that was proven within `within_s` seconds.

        Raises:
            Fenced: it is not.
        """
        claim = self._owned()
        if claim.age >= within_s:
            await claim.prove()

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
        while len(self._owned().manifest.parts) > PARTS_MAX - 2 and await self.compact():
            pass
        async with self._lane:
            claim = self._owned()
            await self._checkpoint(claim, claim.manifest)
            await self._sweep(claim)

    async def _checkpoint(self, claim: Claim, manifest: Manifest) -> None:
        """`manifest` is ours with what else shall change."""
        pending = self._pending
        if pending.version == manifest.floor and manifest == claim.manifest:
            return
        span = Span(0, manifest.floor + 1, pending.version)
        parts = await self._write(claim, pending.changes, span, pending.bytes)
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

    async def _write(self, claim: Claim, changes: Changes, span: Span, size: int) -> tuple[Part, ...]:
        """Create the parts of one delta. Until a manifest lists them they do not exist for anyone."""
        now = self._clock.now_ms()
        text, vector = (self._keys.part(claim.epoch, now, self._random.nonce()) for _ in range(2))
        sealed = await off_loop(size, encode_delta, changes, span, text, vector)
        for part in sealed:
            await put_part(self._store, part.part.key, part.body)
        return tuple(part.part for part in sealed)

    async def compact(self) -> bool:
        """Merge eight deltas to one, if there are so many; commits go on meanwhile. Whether it did."""
        async with self._merging:
            claim = self._owned()
            run = due_merge(claim.manifest.parts)
            if not run:
                return False
            merged = await self._merge(claim, run, claim.manifest.parts[: len(run)] == run)
            async with self._lane:
                self._owned()
                # Checkpoints only append, and nothing else that changes parts runs beside us.
                await claim.replace(self._merged(claim.manifest, run, merged))
            return True

    async def _merge(self, claim: Claim, run: tuple[Part, ...], oldest: bool) -> tuple[Part, ...]:
        deltas = await self._fetch(run)
        size = sum(part.bytes for part in run)
        changes = await off_loop(size, base_of if oldest else _fold, deltas)
        span = Span(max(part.tier for part in run) + 1, run[0].first, run[-1].last)
        return await self._write(claim, changes, span, size)

    async def _fetch(self, parts: Sequence[Part]) -> list[Changes]:
        try:
            objects = await fetch_all(self._store, [part.key for part in parts])
        except Missing as error:
            # Either it is lost, or we are: a newer owner's erasure removes what we still list.
            await self._owned().prove()
            raise corrupt(str(error), "the manifest lists it, but it is missing") from error
        return [
            await off_loop(part.bytes, decode_part, stored.body, part)
            for part, stored in zip(parts, objects, strict=True)
        ]

    def _merged(self, manifest: Manifest, run: tuple[Part, ...], merged: tuple[Part, ...]) -> Manifest:
        place = manifest.parts.index(run[0])
        rest = tuple(part for part in manifest.parts if part not in run)
        retired = retire_parts(manifest.retired, [part.key for part in run], self._clock.now_ms())
        return replace(manifest, parts=(*rest[:place], *merged, *rest[place:]), retired=retired)

    async def collect(self) -> int:
        """Remove objects that were retired over 24 hours ago; their number."""
        async with self._lane:
            claim = self._owned()
            await claim.prove()
            collected = await collect(self._store, self._keys, claim.manifest, self._clock.now_ms())
            if collected.manifest != claim.manifest:
                await claim.replace(collected.manifest)
            return collected.objects

    async def erase(self) -> Erased:
        """Finish the open erasures: no object holds a dropped row any more, then a commit says so.

        Repeatable: cut off anywhere, the next owner finds the erasures open and calls this again. Snapshots
        are not touched: what they hold must be rewritten first.

        Raises:
            StoreUnavailable: the erasures stay open.
        """
        async with self._merging, self._lane:
            claim = self._owned()
            await claim.prove()
            await self._rewrite(claim)
            objects = await remove_older(self._store, self._keys, claim.manifest)
            slots = await cover_slots(self._store, self._keys, claim.manifest.floor)
            await check_erased(self._store, self._keys, claim.manifest)
            version = await self._commit(Changes(), (), (), self.erasing)
            return Erased(version, objects, slots, claim.manifest.sweep_until_ms)

    async def _rewrite(self, claim: Claim) -> None:
        """All rows into one fresh delta; nothing older is listed or needed afterwards."""
        manifest, pending = claim.manifest, self._pending
        size = sum(part.bytes for part in manifest.parts) + pending.bytes
        deltas = await self._fetch(manifest.parts)
        rows = await off_loop(size, base_of, [*deltas, pending.changes])
        tier = max((part.tier for part in manifest.parts), default=1)
        parts = await self._write(claim, rows, Span(max(tier, 1), 1, pending.version), size)
        saved = await saved_parts(self._store, self._keys)
        listed = [part.key for part in manifest.parts if part.key in saved]
        kept = tuple(entry for entry in manifest.retired if self._keys.seq_of(entry.key) or entry.key in saved)
        now = self._clock.now_ms()
        fresh = replace(
            manifest,
            parts=parts,
            retired=retire_parts(kept, listed, now),
            sweep_until_ms=now + RETENTION_MS,
        )
        await claim.replace(self._floored(fresh))
        self._pending = pending.emptied()

    async def close(self) -> None:
        """Checkpoint and leave in order. Writes nothing if the forest is not ours."""
        async with self._merging, self._lane:
            claim, self._claim = self._claim, None
            if claim is not None and not claim.lost:
                await self._checkpoint(claim, replace(claim.manifest, state="clean"))

    async def _sweep(self, claim: Claim) -> None:
        """For a day after an erasure: remove what a stalled writer of an older epoch may have dropped."""
        if self._clock.now_ms() < claim.manifest.sweep_until_ms:
            await sweep(self._store, self._keys, claim.manifest)

    def _owned(self) -> Claim:
        if self._claim is None or self._claim.lost:
            raise fenced(self._keys)
        return self._claim


def _fold(deltas: Sequence[Changes]) -> Changes:
    folded = Changes()
    for delta in deltas:
        folded.absorb(delta)
    return folded


def _unknown(slot: Slot) -> OutcomeUnknown:
    operation = slot.operations[0] if slot.operations else ""
    return OutcomeUnknown(
        f"The store did not say whether version {slot.seq} was written. What was acknowledged before is "
        "kept; make the same call again with the same op_id to learn it.",
        op_id=operation,
        version=slot.seq,
    )
