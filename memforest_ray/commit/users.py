"""The users of a store: who there is, and how one leaves."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memforest_ray.ambient import Clock, Random
from memforest_ray.commit.claim import Claim, fenced, take_over
from memforest_ray.commit.erase import cover_slots, remove_all
from memforest_ray.commit.garbage import RETENTION_MS, retire_slots
from memforest_ray.commit.loaded import Held, read_manifest
from memforest_ray.commit.manifest import Manifest
from memforest_ray.commit.slots import Slot, encode_slot, put_slot
from memforest_ray.errors import CorruptState, NotFound
from memforest_ray.ids import UserId, user_hash
from memforest_ray.storage.keys import UserKeys, shard_prefix, user_of_key
from memforest_ray.storage.store import ObjectStore

__all__ = ["UserPage", "delete_user", "list_users"]

_SHARDS = 256
_SHARDS_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class UserPage:
    """Some users, in the order of their hashes."""

    users: tuple[UserId, ...]
    damaged: tuple[str, ...]
    """Hashes of users whose manifest cannot be read; their ids stand only in there."""
    after: str
    """Where the next page begins; empty after the last."""


async def list_users(store: ObjectStore, *, prefix: str = "", after: str = "", limit: int = 1000) -> UserPage:
    """Users whose id begins with `prefix`, at most `limit`; ids are read from the manifests."""
    users: list[UserId] = []
    damaged: list[str] = []
    first = int(after[:2], 16) if after else 0
    for start in range(first, _SHARDS, _SHARDS_AT_ONCE):
        shards = range(start, min(start + _SHARDS_AT_ONCE, _SHARDS))
        found = await asyncio.gather(*(_hashes(store, shard) for shard in shards))
        for name in (name for names in found for name in names if name > after):
            try:
                user = await _user_of(store, name)
            except CorruptState:
                damaged.append(name)
                continue
            if user is not None and user.startswith(prefix):
                users.append(user)
            if len(users) == limit:
                return UserPage(tuple(users), tuple(damaged), name)
    return UserPage(tuple(users), tuple(damaged), "")


async def _hashes(store: ObjectStore, shard: int) -> Sequence[str]:
    return list(dict.fromkeys([user_of_key(key) async for key in store.list(shard_prefix(shard))]))


async def _user_of(store: ObjectStore, name: str) -> UserId | None:
    held = await read_manifest(store, UserKeys(name))
    return None if held is None or held.manifest.state == "deleted" else held.manifest.user


async def delete_user(store: ObjectStore, user: UserId, clock: Clock, random: Random) -> None:
    """Remove all of a user, damaged parts too. The manifest stays with its two numbers and without the id.

    Cut off anywhere it can be called again. A new life of the same id continues epoch and version.

    Raises:
        NotFound: there is no such user.
        Fenced: another owner claimed meanwhile; nothing was removed.
    """
    keys = UserKeys.of(user)
    held = await read_manifest(store, keys)
    if held is None or (held.manifest.state == "deleted" and not held.manifest.erasures):
        raise NotFound("There is no such user; nothing was changed.", user_hash=user_hash(user))
    claim = await _take_any(store, keys, clock, random, held)
    last = await _fence_end(store, keys, claim, random)
    await claim.replace(_tombstone(claim.manifest, keys.slot(last), last, clock.now_ms()))
    await remove_all(store, keys, claim.epoch)
    await cover_slots(store, keys, last)
    await claim.replace(replace(claim.manifest, erasures=()))


async def _take_any(store: ObjectStore, keys: UserKeys, clock: Clock, random: Random, held: Held) -> Claim:
    state = held.manifest.state
    manifest = replace(held.manifest.claimed(random.nonce()), state=state)
    claim = await take_over(store, keys, clock, held, manifest)
    if claim is None:
        raise fenced(keys)
    return claim


async def _fence_end(store: ObjectStore, keys: UserKeys, claim: Claim, random: Random) -> int:
    """Take the slot after the last, whatever the others hold."""
    last = claim.manifest.floor
    async for key in store.list(keys.slots):
        last = max(last, keys.seq_of(key) or 0)
    while True:
        last += 1
        key = keys.slot(last)
        fence = Slot("fence", claim.epoch, last, random.nonce())
        other = await put_slot(store, key, fence, encode_slot(fence, key))
        if other is None:
            return last
        if other.epoch >= claim.epoch:
            raise fenced(keys)


def _tombstone(manifest: Manifest, slot_key: str, last: int, now_ms: int) -> Manifest:
    return Manifest(
        user=UserId(""),
        state="deleted",
        epoch=manifest.epoch,
        nonce=manifest.nonce,
        version=last,
        floor=last,
        fingerprint={},
        birth={},
        retired=retire_slots(manifest.retired, slot_key, now_ms),
        erasures=("delete",),
        sweep_until_ms=now_ms + RETENTION_MS,
    )
