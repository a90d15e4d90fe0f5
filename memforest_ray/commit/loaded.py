"""A forest's rows as they stand in the store, read without a claim: nothing is written."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from memforest_ray.commit.building import undisturbed
from memforest_ray.commit.frames import corrupt, off_loop
from memforest_ray.commit.manifest import Manifest, Part, decode
from memforest_ray.commit.parts import apply, decode_part
from memforest_ray.commit.slots import Slot, decode_slot
from memforest_ray.errors import CorruptState, StoreUnavailable
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.store import Missing, ObjectStore, Stored

__all__ = ["Held", "Loaded", "fetch_all", "load", "open_erasures", "read_manifest", "read_parts"]

_STARTS_MAX = 50
"""Times a read starts over when an owner moves the floor under it, before it says so."""
_REQUESTS_MAX = 16
"""Requests in flight of one read."""


@dataclass(frozen=True, slots=True)
class Held:
    """A manifest and the tag it was read under."""

    manifest: Manifest
    tag: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """All rows of one version."""

    tables: dict[str, dict[str, Any]]
    version: int
    """0 for a user that never was."""
    manifest: Manifest | None
    tail: tuple[Slot, ...] = ()
    """The slots above the manifest's floor; their changes are in `tables` already."""

    @property
    def erasing(self) -> tuple[str, ...]:
        """Erasures that were begun and not finished; whoever claims the forest finishes them first."""
        return open_erasures(self.manifest.erasures if self.manifest else (), self.tail)


def open_erasures(begun: Iterable[str], tail: Iterable[Slot]) -> tuple[str, ...]:
    """What is open after `tail`, given what was `begun` before; in order."""
    entries = dict.fromkeys(begun)
    for slot in tail:
        entries.update(dict.fromkeys(slot.opens))
        for entry in slot.closes:
            entries.pop(entry, None)
    return tuple(entries)


async def load(store: ObjectStore, keys: UserKeys) -> Loaded:
    """The newest version: manifest, parts, log, then the manifest again.

    If meanwhile the floor moved, what was read may be a mixture of two states: it is thrown away. Damage counts
    only if the manifest still stands: to a reader that stalled for a day, freed names may show anything.

    Raises:
        CorruptState: an object is damaged or missing, or there are objects but no manifest.
        StoreUnavailable: the store does not answer, or the forest moves faster than we can read.
    """
    for _ in range(_STARTS_MAX):
        held = await read_manifest(store, keys)
        if held is None:
            return await _load_unknown(store, keys)
        outcome = await _load_under(store, keys, held.manifest)
        again = await read_manifest(store, keys)
        if again is None or again.manifest.floor != held.manifest.floor:
            continue
        if isinstance(outcome, Loaded):
            return outcome
        if _place(again.manifest) == _place(held.manifest):
            raise outcome
    raise StoreUnavailable(
        f"the memory under {keys.prefix} changed {_STARTS_MAX} times while it was read; "
        "nothing was changed by the reader; make the same call again"
    )


def _place(manifest: Manifest) -> tuple[object, ...]:
    return manifest.state, manifest.parts


async def read_manifest(store: ObjectStore, keys: UserKeys) -> Held | None:
    """The manifest as it stands; None for a user that never was."""
    try:
        stored = await store.get(keys.manifest)
    except Missing:
        return None
    manifest = decode(stored.body, keys.manifest)
    if manifest.state != "deleted" and UserKeys.of(manifest.user) != keys:
        raise corrupt(keys.manifest, "it belongs to another user")
    return Held(manifest, stored.tag)


async def _load_unknown(store: ObjectStore, keys: UserKeys) -> Loaded:
    async for key in store.list(keys.prefix):
        # The user may have been born between our two looks.
        if await read_manifest(store, keys) is None:
            raise corrupt(keys.manifest, f"it is missing, though {key} is there")
        return await load(store, keys)
    return Loaded({}, 0, None)


async def _load_under(store: ObjectStore, keys: UserKeys, manifest: Manifest) -> Loaded | CorruptState:
    """What `manifest` describes, or what is wrong with it, if the manifest still stands."""
    if manifest.state == "deleted":
        return Loaded({}, manifest.version, manifest)
    tables: dict[str, dict[str, Any]] = {}
    try:
        await read_parts(store, manifest.parts, tables)
        tail = await _read_tail(store, keys, manifest.floor)
    except Missing as error:
        return corrupt(str(error), "it is missing, though the manifest or a later slot needs it")
    except CorruptState as error:
        return error
    for slot in tail:
        apply(tables, slot.changes)
    return Loaded(tables, manifest.floor + len(tail), manifest, tail)


async def read_parts(store: ObjectStore, parts: Sequence[Part], tables: dict[str, dict[str, Any]]) -> None:
    """Put the rows of `parts` into `tables`, oldest first. Raises `Missing`."""
    objects = await fetch_all(store, [part.key for part in parts])
    with undisturbed():
        for part, stored in zip(parts, objects, strict=True):
            apply(tables, await off_loop(part.bytes, decode_part, stored.body, part))


async def _read_tail(store: ObjectStore, keys: UserKeys, floor: int) -> tuple[Slot, ...]:
    """The slots above `floor`. A hole is `Missing`: a listing may miss what a read then finds."""
    last = floor
    async for seq in _slot_numbers(store, keys):
        last = max(last, seq)
    numbers = range(floor + 1, last + 1)
    objects = await fetch_all(store, [keys.slot(seq) for seq in numbers])
    size = sum(len(stored.body) for stored in objects)
    return await off_loop(size, _decode_tail, keys, numbers, objects)


async def _slot_numbers(store: ObjectStore, keys: UserKeys) -> AsyncIterator[int]:
    async for key in store.list(keys.slots):
        seq = keys.seq_of(key)
        if seq is None:
            raise corrupt(key, "no slot has such a name")
        yield seq


def _decode_tail(keys: UserKeys, numbers: range, objects: Sequence[Stored]) -> tuple[Slot, ...]:
    slots = []
    epoch = 0
    for seq, stored in zip(numbers, objects, strict=True):
        slot = decode_slot(stored.body, keys.slot(seq), seq)
        if slot.kind == "tombstone":
            raise corrupt(keys.slot(seq), "it was erased, though no part contains it")
        if slot.epoch < epoch:
            raise corrupt(keys.slot(seq), f"epoch {slot.epoch} wrote it after epoch {epoch} had fenced the log")
        epoch = slot.epoch
        slots.append(slot)
    return tuple(slots)


async def fetch_all(store: ObjectStore, keys: Sequence[str]) -> list[Stored]:
    """Objects of `keys`, in order, a bounded number at a time. Raises `Missing` for one that is not there."""
    free = asyncio.Semaphore(_REQUESTS_MAX)

    async def fetch(key: str) -> Stored:
        async with free:
            return await store.get(key)

    tasks = [asyncio.ensure_future(fetch(key)) for key in keys]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
