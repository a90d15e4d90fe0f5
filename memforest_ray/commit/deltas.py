"""Deltas of one forest: rows written into fresh parts, and read back from them."""

from collections.abc import Sequence

from memforest_ray.ambient import Clock, Random
from memforest_ray.commit.changes import Changes
from memforest_ray.commit.doubt import put_part
from memforest_ray.commit.frames import off_loop
from memforest_ray.commit.loaded import fetch_all
from memforest_ray.commit.manifest import Part
from memforest_ray.commit.parts import Span, base_of, decode_part, encode_delta
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.store import ObjectStore

__all__ = ["Deltas"]


class Deltas:
    """Writes parts under names of its own making. Until a manifest lists them they do not exist for anyone."""

    def __init__(self, store: ObjectStore, keys: UserKeys, clock: Clock, random: Random) -> None:
        self._store = store
        self._keys = keys
        self._clock = clock
        self._random = random

    async def write(self, epoch: int, changes: Changes, span: Span, size: int) -> tuple[Part, ...]:
        """The parts of one delta of about `size` bytes; none where nothing changed."""
        now = self._clock.now_ms()
        text, vector = (self._keys.part(epoch, now, self._random.nonce()) for _ in range(2))
        sealed = await off_loop(size, encode_delta, changes, span, text, vector)
        for part in sealed:
            await put_part(self._store, part.part.key, part.body)
        return tuple(part.part for part in sealed)

    async def read(self, parts: Sequence[Part]) -> list[Changes]:
        """Their rows, each part for itself. Raises Missing, CorruptState."""
        objects = await fetch_all(self._store, [part.key for part in parts])
        return [
            await off_loop(part.bytes, decode_part, stored.body, part)
            for part, stored in zip(parts, objects, strict=True)
        ]

    async def write_base(
        self, epoch: int, parts: Sequence[Part], later: Changes, *, last: int, tier: int
    ) -> tuple[Part, ...]:
        """All rows of `parts` with `later` over them, in one delta without a past. Raises Missing, CorruptState."""
        size = sum(part.bytes for part in parts)
        rows = await off_loop(size, base_of, [*await self.read(parts), later])
        return await self.write(epoch, rows, Span(tier, 1, last), size)
