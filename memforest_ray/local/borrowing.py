"""Borrowing: another user's memory, read from the store while its owner keeps it pinned.

No lane but the reader's own is held. The pin holds off erasures: what was read is still all there when the copy becomes
durable, or the copy is made again.
"""

from collections.abc import Iterable

from memforest_ray.ambient import Clock
from memforest_ray.commit.garbage import live_pins
from memforest_ray.commit.loaded import Loaded, load, read_manifest
from memforest_ray.commit.manifest import Manifest
from memforest_ray.errors import NotFound, Overloaded
from memforest_ray.forest.errands import Merge
from memforest_ray.ids import OpId, UserId
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.store import ObjectStore

__all__ = ["MARGIN_MS", "check_pinned", "holders", "pinned_for", "read_borrowed", "read_neighbour"]

MARGIN_MS = 30_000
"""A pin must last for this long when a copy is about to become durable: longer than any one write takes."""


async def read_neighbour(store: ObjectStore, user: UserId) -> Loaded:
    """All rows of a user's memory. Raises NotFound, CorruptState."""
    loaded = await load(store, UserKeys.of(user))
    if loaded.manifest is None or loaded.manifest.state == "deleted" or not loaded.tables:
        raise NotFound(f"nothing is remembered of {user!r}; nothing was changed", user=user)
    return loaded


async def read_borrowed(store: ObjectStore, write: Merge, clock: Clock) -> Loaded:
    """The rows of the source of a merge, read under its pin. Raises NotFound, Overloaded, CorruptState."""
    await check_pinned(store, write, clock)
    return await read_neighbour(store, write.source)


async def check_pinned(store: ObjectStore, write: Merge, clock: Clock) -> None:
    """Make sure that the source is pinned for this merge, and stays so for a while.

    Raises:
        NotFound: there is no such user.
        Overloaded: it is not pinned, or not for long enough; who merges pins it anew and asks again.
    """
    held = await read_manifest(store, UserKeys.of(write.source))
    if held is None or held.manifest.state == "deleted":
        raise NotFound(f"there is no user {write.source!r}; nothing was changed", user=write.source)
    if not pinned_for(held.manifest, write.op_id, clock.now_ms() + MARGIN_MS):
        raise Overloaded(
            f"the memory of {write.source!r} is not pinned for this merge any more; nothing was changed; "
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
