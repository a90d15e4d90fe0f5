"""Borrowing: another user's memory, read from the store while its owner keeps it pinned.

No lane but the reader's own is held. The pin holds off erasures: what was read is still all there when the copy becomes
durable, or the copy is made again.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from memforest_ray.ambient import Clock
from memforest_ray.commit.garbage import live_pins
from memforest_ray.commit.loaded import Loaded, load, read_manifest
from memforest_ray.commit.manifest import Manifest
from memforest_ray.commit.version import Version
from memforest_ray.errors import NotFound, Overloaded
from memforest_ray.forest.errands import Merge
from memforest_ray.ids import OpId, UserId
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.store import ObjectStore

__all__ = ["MARGIN_MS", "Borrowed", "check_unerased", "holders", "pinned_for", "read_borrowed", "read_neighbour"]

MARGIN_MS = 30_000
"""A pin must last for this long when a copy is about to become durable: longer than any one write takes."""


@dataclass(frozen=True, slots=True)
class Borrowed:
    """The memory of another user, as it was read under a pin."""

    version: Version
    manifest: Manifest
    """That it was read from."""


async def read_neighbour(store: ObjectStore, user: UserId) -> Loaded:
    """All rows of a user's memory. Raises NotFound, CorruptState."""
    loaded = await load(store, UserKeys.of(user))
    if loaded.manifest is None or loaded.manifest.state == "deleted" or not loaded.tables:
        raise NotFound.memory(user)
    return loaded


async def read_borrowed(store: ObjectStore, write: Merge, clock: Clock) -> Loaded:
    """The rows of the source of a merge, read under its pin. Raises NotFound, Overloaded, CorruptState."""
    await _pinned(store, write, clock)
    return await read_neighbour(store, write.source)


async def check_unerased(store: ObjectStore, write: Merge, read: Manifest, clock: Clock) -> None:
    """Make sure that nothing of what was read from `read` has been erased since, nor will be for a while.

    The pin of today may be a later one than that which it was read under: whoever makes the same merge elsewhere pins
    under the same name, perhaps after an erasure. But that has replaced every part there was.

    Raises:
        NotFound: there is no such user any more.
        Overloaded: that cannot be said; who merges pins it anew and asks again.
    """
    now = await _pinned(store, write, clock)
    if not {part.key for part in read.parts} & {part.key for part in now.parts}:
        raise _unpinned(write)


async def _pinned(store: ObjectStore, write: Merge, clock: Clock) -> Manifest:
    """The manifest of the source, which is pinned for this merge and stays so for a while. Raises as above."""
    held = await read_manifest(store, UserKeys.of(write.source))
    if held is None or held.manifest.state == "deleted":
        raise NotFound.memory(write.source)
    if not pinned_for(held.manifest, write.op_id, clock.now_ms() + MARGIN_MS):
        raise _unpinned(write)
    return held.manifest


def _unpinned(write: Merge) -> Overloaded:
    return Overloaded(
        f"the memory of {write.source!r} is no longer pinned for this merge; nothing was changed; "
        "make the same call again, with the same op_id",
        retry_after=0.0,
        loan=write.op_id,
    )


def pinned_for(manifest: Manifest, loan: OpId, until_ms: int) -> bool:
    """Whether a memory is pinned under `loan` until then."""
    return any(pin.operation == loan for pin in live_pins(manifest.pins, until_ms))


async def holders(store: ObjectStore, user: UserId, lent: Iterable[UserId]) -> list[UserId]:
    """Users whose memories hold a copy of what came from `user`, which was `lent` to these; sorted.

    At second hand, too. Who has forgotten it again, or is deleted, is not among them. Raises CorruptState.
    """
    found: set[UserId] = set()
    waiting = [*lent]
    asked = {user, *waiting}
    while waiting:
        borrower = waiting.pop()
        tables = (await load(store, UserKeys.of(borrower))).tables
        if any(user in path for path in tables.get("origins", {}).values()):
            found.add(borrower)
        further = {UserId(name) for name in tables.get("copies", {})} - asked
        asked |= further
        waiting += further
    return sorted(found)
