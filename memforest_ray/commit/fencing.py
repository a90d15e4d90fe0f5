"""Shutting out: from here on nothing lands any more in a memory that its owner of this moment has begun to write.

What another memory lends may be erased there while a copy of it is on its way. Once the borrower's log has a fence
behind all that has landed, a copy that was read before does not come in any more: its writer starts over.
"""

import logging

from memforest_ray.ambient import Clock, Random
from memforest_ray.commit.claim import fenced, take_over
from memforest_ray.commit.loaded import read_manifest
from memforest_ray.commit.slots import Slot, encode_slot, put_slot
from memforest_ray.errors import CorruptState
from memforest_ray.ids import UserId
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.store import ObjectStore

__all__ = ["shut_out"]

_log = logging.getLogger(__name__)

_ROUNDS_MAX = 16
"""Lost races for the manifest before it is given up: each winner made progress."""


async def shut_out(store: ObjectStore, user: UserId, clock: Clock, random: Random) -> None:
    """Overtake the owner of a memory, whoever that is, and leave it to the next one. Nothing in it changes.

    A memory that is deleted, or whose manifest cannot be read, has no owner who could still commit and be believed.
    Raises Fenced (others keep claiming it), StoreUnavailable.
    """
    keys = UserKeys.of(user)
    for _ in range(_ROUNDS_MAX):
        try:
            held = await read_manifest(store, keys)
        except CorruptState as error:
            _log.warning("nobody was shut out of %s: %s", keys.hash[:12], error)
            return
        if held is None or held.manifest.state == "deleted":
            return
        claim = await take_over(store, keys, clock, held, held.manifest.claimed(random.nonce()))
        if claim is not None:
            await _fence(store, keys, claim.epoch, claim.manifest.floor, random)
            return
    raise fenced(keys)


async def _fence(store: ObjectStore, keys: UserKeys, epoch: int, floor: int, random: Random) -> None:
    """Take the first free slot, unless a newer owner has fenced the log already."""
    seq = floor
    while True:
        seq += 1
        key = keys.slot(seq)
        fence = Slot("fence", epoch, seq, random.nonce())
        other = await put_slot(store, key, fence, encode_slot(fence, key))
        if other is None or other.epoch > epoch:
            return
