"""A claim: the right to write one forest, held through the manifest's epoch and nonce, and proven again."""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from typing import Any

from memforest_ray.ambient import Clock, Random
from memforest_ray.commit.doubt import settle
from memforest_ray.commit.frames import corrupt
from memforest_ray.commit.loaded import Held, read_manifest
from memforest_ray.commit.manifest import (
    LENT,
    Manifest,
    Retired,
    check_fingerprint,
    encode,
    retired_anew,
    retired_at_last,
)
from memforest_ray.errors import CorruptState, Fenced, StoreUnavailable
from memforest_ray.ids import UserId
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.store import Missing, ObjectStore

__all__ = ["Claim", "Reload", "take", "take_over"]

_ROUNDS_MAX = 16
"""Lost races for the manifest before a claim gives up: each winner made progress."""


class Reload(Exception):
    """The floor has passed what the caller read: read again, then claim again. Nothing was changed."""


class Claim:
    """Ownership of one forest. Once `lost` it stays lost: the forest must be read and claimed anew."""

    def __init__(self, store: ObjectStore, keys: UserKeys, clock: Clock, held: Held, proven: float) -> None:
        self._store = store
        self._keys = keys
        self._clock = clock
        self.manifest = held.manifest
        self._tag = held.tag
        self._dated = held.manifest.retired
        """What is known to be dated rightly."""
        self.proven = proven
        """`Clock.elapsed` at which the last proof of ownership began."""
        self.lost = False

    @property
    def epoch(self) -> int:
        return self.manifest.epoch

    @property
    def age(self) -> float:
        """Seconds since ownership was last proven."""
        return self._clock.elapsed() - self.proven

    def confirm(self, started: float) -> None:
        """Something that began at `started` proved that we own the forest."""
        self.proven = max(self.proven, started)

    async def prove(self) -> None:
        """Look whether the manifest still names us.

        Raises:
            Fenced: it names another owner.
        """
        started = self._clock.elapsed()
        held = await read_manifest(self._store, self._keys)
        if held is None or (held.manifest.epoch, held.manifest.nonce) != (self.epoch, self.manifest.nonce):
            self.lost = True
            raise fenced(self._keys)
        self.confirm(started)

    async def replace(self, manifest: Manifest) -> None:
        """Put `manifest` in the place of ours.

        Raises:
            Fenced: another owner has changed it.
            StoreUnavailable: unless `refused`, the outcome is unknown and the claim is lost.
        """
        await self._replace(manifest)
        # An object is retired from now on, not from when we meant to: in between it was listed, and may have been read.
        while (retired := self._dated_anew()) != self.manifest.retired:
            await self._replace(replace(self.manifest, retired=retired))
        self._dated = retired

    def _dated_anew(self) -> tuple[Retired, ...]:
        return retired_anew(self.manifest.retired, self._dated, self._clock.now_ms())

    async def _replace(self, manifest: Manifest) -> None:
        started = self._clock.elapsed()
        manifest = replace(manifest, edition=self.manifest.edition + 1)
        with self.unsure():
            body = encode(manifest, self._keys.manifest)
            held = await settle(self._store, self._keys.manifest, body, self._tag)
            if held is None or held.body != body:
                raise fenced(self._keys)
        self.manifest, self._tag = manifest, held.tag
        self.confirm(started)

    @contextmanager
    def unsure(self) -> Iterator[None]:
        """An error (or cancellation) in here leaves open what was written, so the claim is given up.

        Going on would mean to guess; reading and claiming anew finds out.
        """
        try:
            yield
        except StoreUnavailable as error:
            self.lost = self.lost or not error.detail.get("refused", False)
            raise
        except BaseException:
            self.lost = True
            raise

    @asynccontextmanager
    async def certain(self) -> AsyncIterator[None]:
        """Damage met in here is damage only while the forest is ours: a newer owner removes what we still list.

        Raises:
            Fenced: it is not ours any more.
            CorruptState: an object that our manifest lists is damaged or missing.
        """
        try:
            yield
        except Missing as error:
            await self.prove()
            raise corrupt(str(error), "the manifest lists it, but it is missing") from error
        except CorruptState:
            await self.prove()
            raise


def fenced(keys: UserKeys) -> Fenced:
    """The error of one who is not, or no longer, the owner."""
    return Fenced(
        f"another owner has taken over the memory {keys.hash[:12]}, or it was never claimed here; "
        "what was acknowledged is kept; open the memory again",
        user_hash=keys.hash,
    )


async def take(
    store: ObjectStore,
    user: UserId,
    clock: Clock,
    random: Random,
    *,
    known: int,
    birth: Mapping[str, Any],
    fingerprint: Mapping[str, Any],
) -> Claim:
    """Become the owner: epoch + 1 in the manifest, or a first manifest, or a new life for a deleted user.

    `known` is the version the caller has read; whatever is above it still stands in the log.

    Raises:
        Reload: the floor is above `known`.
        EmbeddingMismatch: the forest was written with another embedder.
    """
    keys = UserKeys.of(user)
    newborn = Manifest(user, "active", 1, random.nonce(), 0, 0, dict(fingerprint), dict(birth))

    def next_of(manifest: Manifest | None) -> Manifest:
        if manifest is None:
            return newborn
        if manifest.floor > known:
            raise Reload(keys.hash)
        manifest = replace(manifest, retired=retired_at_last(manifest.retired, clock.now_ms()))
        if manifest.state == "deleted":
            return _reborn(manifest, newborn)
        check_fingerprint(manifest, fingerprint)
        return manifest.claimed(newborn.nonce)

    for _ in range(_ROUNDS_MAX):
        held = await read_manifest(store, keys)
        claim = await take_over(store, keys, clock, held, next_of(held.manifest if held else None))
        if claim is not None:
            return claim
    raise fenced(keys)


async def take_over(
    store: ObjectStore, keys: UserKeys, clock: Clock, held: Held | None, manifest: Manifest
) -> Claim | None:
    """Put `manifest` in the place of `held`; None if another was faster."""
    started = clock.elapsed()
    body = encode(manifest, keys.manifest)
    stored = await settle(store, keys.manifest, body, held.tag if held else None)
    if stored is None:
        raise corrupt(keys.manifest, "it has vanished")
    return Claim(store, keys, clock, Held(manifest, stored.tag), started) if stored.body == body else None


def _reborn(deleted: Manifest, newborn: Manifest) -> Manifest:
    """A new life continues both numbers, what its former one still has to clear away, and who holds copies of that."""
    return replace(
        newborn,
        birth={**newborn.birth, LENT: list(deleted.lent)} if deleted.lent else newborn.birth,
        epoch=deleted.epoch + 1,
        version=deleted.version,
        floor=deleted.floor,
        retired=deleted.retired,
        erasures=deleted.erasures,
        sweep_until_ms=deleted.sweep_until_ms,
    )
