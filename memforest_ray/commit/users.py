"""The users of a store: who there is, and how one leaves."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memforest_ray.ambient import Clock, Random
from memforest_ray.commit.claim import Claim, fenced, take_over
from memforest_ray.commit.doubt import settle
from memforest_ray.commit.erase import cover_slots, remove_all, slot_of
from memforest_ray.commit.fencing import shut_out
from memforest_ray.commit.frames import corrupt
from memforest_ray.commit.garbage import RETENTION_MS, retire_slots
from memforest_ray.commit.loaded import Held, load, read_manifest
from memforest_ray.commit.manifest import LENT, Manifest, encode
from memforest_ray.commit.slots import Slot, encode_slot, put_slot
from memforest_ray.errors import CorruptState, Fenced, NotFound
from memforest_ray.ids import UserId
from memforest_ray.storage.keys import UserKeys, shard_prefix, user_of_key
from memforest_ray.storage.store import Missing, ObjectStore

__all__ = ["UserPage", "delete_user", "list_users"]

_log = logging.getLogger(__name__)

_TRIES_MAX = 8
"""Times that a deletion is begun again because another owner came between."""
_SHARDS = 256
_SHARDS_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class UserPage:
    """Some users, in the order of their hashes."""

    users: tuple[UserId, ...]
    damaged: tuple[str, ...]
    """Hashes of users whose manifest is missing or cannot be read; their ids stand only in there.

    `delete_user(force=True)` removes such a one, for whoever knows the id.
    """
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
            else:
                if user is not None and user.startswith(prefix):
                    users.append(user)
            if len(users) + len(damaged) == limit:
                return UserPage(tuple(users), tuple(damaged), name)
    return UserPage(tuple(users), tuple(damaged), "")


async def _hashes(store: ObjectStore, shard: int) -> Sequence[str]:
    return list(dict.fromkeys([user_of_key(key) async for key in store.list(shard_prefix(shard))]))


async def _user_of(store: ObjectStore, name: str) -> UserId | None:
    keys = UserKeys(name)
    held = await read_manifest(store, keys)
    if held is None:
        # It was listed for some object, and a forest's first object is its manifest.
        raise corrupt(keys.manifest, "it is missing, though other objects are there")
    return None if held.manifest.state == "deleted" else held.manifest.user


async def delete_user(
    store: ObjectStore, user: UserId, clock: Clock, random: Random, *, force: bool = False
) -> tuple[UserId, ...]:
    """Remove all of a user: snapshots, what is pinned, damaged parts too. The manifest stays without the id.

    Cut off anywhere it can be called again. A new life of the same id continues epoch and version. Returns the users
    who were lent the memory: copies of it may be with them, or on their way to them.

    Raises:
        NotFound: there is no such user.
        CorruptState: the manifest is damaged, missing or from the future; with `force` what is left is removed.
        Fenced: other owners keep claiming it and nothing was removed; or somebody else removes it, too.
    """
    keys = UserKeys.of(user)
    for left in reversed(range(_TRIES_MAX)):
        try:
            claim, last, lent = await _ended(store, user, keys, clock, random, force=force)
            break
        except Fenced:  # nothing was removed yet; once the tombstone stands, what is there may be another life
            if not left:
                raise
    for borrower in lent:
        await shut_out(store, borrower, clock, random)
    await remove_all(store, keys, claim.epoch)
    await cover_slots(store, keys, last)
    await claim.replace(replace(claim.manifest, erasures=(), birth={}))
    return lent


async def _ended(
    store: ObjectStore, user: UserId, keys: UserKeys, clock: Clock, random: Random, *, force: bool
) -> tuple[Claim, int, tuple[UserId, ...]]:
    """Put the tombstone in the place of the memory, which we own then: nobody reads or writes it any more.

    Also the number of its last slot, and who was lent it. Raises as `delete_user`.
    """
    try:
        held = await _held(store, keys)
    except CorruptState:
        if not force:
            raise
        held = await _held_anew(store, keys, random)
    if held is None or (held.manifest.state == "deleted" and not held.manifest.erasures):
        raise NotFound.memory(user)
    claim = await _take_any(store, keys, clock, random, held)
    last = await _fence_end(store, keys, claim, random)
    lent = await _lent(store, keys, claim.manifest)
    await claim.replace(_tombstone(claim.manifest, keys.slot(last), last, clock.now_ms(), lent))
    return claim, last, lent


async def _lent(store: ObjectStore, keys: UserKeys, manifest: Manifest) -> tuple[UserId, ...]:
    """Who was lent the memory; nobody else can be now, since its log is fenced. Damage must not keep it from going."""
    lent = {*manifest.lent}
    if manifest.state != "deleted":
        try:
            lent.update(map(UserId, (await load(store, keys)).tables.get("copies", {})))
        except CorruptState as error:
            _log.warning("it is not known to whom %s was lent: %s", keys.hash[:12], error)
    return tuple(sorted(lent))


async def _held(store: ObjectStore, keys: UserKeys) -> Held | None:
    held = await read_manifest(store, keys)
    if held is None and await _highest(store, keys) != (0, 0):
        # The user may have been born between the two looks.
        held = await read_manifest(store, keys)
        if held is None:
            raise corrupt(keys.manifest, "it is missing, though other objects are there")
    return held


async def _held_anew(store: ObjectStore, keys: UserKeys, random: Random) -> Held:
    """Put the manifest of a user who is being deleted in the place of one that cannot be read.

    Its numbers are above all that can be seen: whoever still holds the forest loses it, and nothing comes back.
    """
    epoch, last = await _highest(store, keys)
    manifest = Manifest(
        UserId(""), "deleted", epoch + 1, random.nonce(), last + 1, last + 1, {}, {}, erasures=("delete",)
    )
    body = encode(manifest, keys.manifest)
    try:
        tag: str | None = (await store.get(keys.manifest)).tag
    except Missing:
        tag = None
    stored = await settle(store, keys.manifest, body, tag)
    if stored is None or stored.body != body:
        raise fenced(keys)
    return Held(manifest, stored.tag)


async def _highest(store: ObjectStore, keys: UserKeys) -> tuple[int, int]:
    """Epoch and version that can be seen in the names of a user's objects, and in slots; (0, 0) for nobody."""
    epoch = version = 0
    async for key in store.list(keys.prefix):
        seq = keys.seq_of(key)
        slot = await slot_of(store, key, seq) if seq is not None else None
        epoch = max(epoch, keys.epoch_of(key) or 0, slot.epoch if slot else 0)
        version = max(version, seq or 0)
    return epoch, version


async def _take_any(store: ObjectStore, keys: UserKeys, clock: Clock, random: Random, held: Held) -> Claim:
    state = held.manifest.state
    manifest = replace(held.manifest.claimed(random.nonce()), state=state)
    claim = await take_over(store, keys, clock, held, manifest)
    if claim is None:
        raise fenced(keys)
    return claim


async def _fence_end(store: ObjectStore, keys: UserKeys, claim: Claim, random: Random) -> int:
    """Take the slot after the last, whatever the others hold, unless a newer owner wrote it.

    Only a last slot that is damaged is passed over unseen: then nobody can be a worse owner than we.
    """
    last = claim.manifest.floor
    async for key in store.list(keys.slots):
        last = max(last, keys.seq_of(key) or 0)
    newest = await slot_of(store, keys.slot(last), last)
    if newest is not None and newest.epoch > claim.epoch:
        raise fenced(keys)
    while True:
        last += 1
        key = keys.slot(last)
        fence = Slot("fence", claim.epoch, last, random.nonce())
        other = await put_slot(store, key, fence, encode_slot(fence, key))
        if other is None:
            return last
        if other.epoch >= claim.epoch:
            raise fenced(keys)


def _tombstone(manifest: Manifest, slot_key: str, last: int, now_ms: int, lent: tuple[UserId, ...]) -> Manifest:
    """What is left of a user. Its version is one that nobody can have read: whoever read the last slot must see
    that all of it is gone, before claiming the next life.
    """
    return Manifest(
        user=UserId(""),
        state="deleted",
        epoch=manifest.epoch,
        nonce=manifest.nonce,
        version=last + 1,
        floor=last + 1,
        fingerprint={},
        birth={LENT: list(lent)} if lent else {},
        retired=retire_slots(manifest.retired, slot_key, now_ms),
        erasures=("delete",),
        sweep_until_ms=now_ms + RETENTION_MS,
    )
