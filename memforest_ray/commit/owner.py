"""One possible owner of a forest: reads it, claims it, proves the claim, and lands slots under it."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

from memforest_ray.ambient import Clock, Random
from memforest_ray.commit.changes import Changes
from memforest_ray.commit.claim import Claim, fenced, take
from memforest_ray.commit.frames import off_loop
from memforest_ray.commit.garbage import sweep
from memforest_ray.commit.loaded import Loaded, load, read_manifest
from memforest_ray.commit.manifest import Manifest
from memforest_ray.commit.pending import ROW_BYTES, Pending
from memforest_ray.commit.slots import Slot, encode_slot, put_slot
from memforest_ray.errors import CorruptState, Fenced, OutcomeUnknown, StoreUnavailable
from memforest_ray.ids import OpId, UserId
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.store import Missing, ObjectStore

__all__ = ["Owner"]

_log = logging.getLogger(__name__)


class Owner:
    """The part of a `CommitLog` that knows whose the forest is, and what stands in its log."""

    def __init__(self, store: ObjectStore, user: UserId, clock: Clock, random: Random, prove_after_s: float) -> None:
        self._store = store
        self._user = user
        self._keys = UserKeys.of(user)
        self._clock = clock
        self._random = random
        self._prove_after_s = prove_after_s
        self._lane = asyncio.Lock()
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
            Fenced: another owner has written since we claimed it.
            CorruptState: an object is damaged or missing; it is named.
        """
        async with self._lane:
            loaded = await load(self._store, self._keys)
            if self.owned:
                self._expect_ours(loaded)
            else:
                self._pending = Pending.after(loaded)
            return loaded

    def _expect_ours(self, loaded: Loaded) -> None:
        """What was read must be what our log knows, or it would be answered for with what only our log knows."""
        claim = self._owned()
        manifest = loaded.manifest
        ours = manifest and (manifest.epoch, manifest.nonce) == (claim.epoch, claim.manifest.nonce)
        if not ours or loaded.version != self.version:
            claim.lost = True
            raise fenced(self._keys)

    async def moved(self) -> bool:
        """Whether anything was committed or checkpointed past our version since we read it; two small requests."""
        # The slot first: were the manifest older than the look at the slot, this could be a slot freed meanwhile.
        try:
            await self._store.get(self._keys.slot(self.version + 1))
        except Missing:
            held = await read_manifest(self._store, self._keys)
            return self.version > 0 if held is None else held.manifest.floor > self.version
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

    async def _sweep(self, claim: Claim) -> None:
        """For a day after an erasure: remove what a stalled writer of an older epoch may have dropped."""
        if self._clock.now_ms() >= claim.manifest.sweep_until_ms:
            return
        try:
            async with claim.certain():
                await sweep(self._store, self._keys, claim.manifest)
        except CorruptState as error:
            # What the snapshot needs is unknown, so everything stays. Whoever reads, erases or collects is told;
            # the owner must be able to come in and delete it.
            _log.warning("nothing was swept: %s", error)

    def _owned(self) -> Claim:
        if self._claim is None or self._claim.lost:
            raise fenced(self._keys)
        return self._claim


def _unknown(slot: Slot) -> OutcomeUnknown:
    operation = slot.operations[0] if slot.operations else ""
    return OutcomeUnknown(
        f"the store did not say whether version {slot.seq} was written; what was acknowledged before is "
        "kept; make the same call again with the same op_id to find out",
        op_id=operation,
        version=slot.seq,
    )
