"""Commit slots: what stands in `wal/<seq>`. Creating one is the commit.

Kinds `commit`, `fence` and `tombstone`. Head: epoch, seq, nonce, operations, opens, closes. Body: the packed changes
(see `changes`), or nothing where there are none.
"""

from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from memforest_ray.commit.changes import Changes, pack_changes, unpack_changes
from memforest_ray.commit.doubt import settle
from memforest_ray.commit.frames import corrupt, seal, shaped, unseal
from memforest_ray.ids import OpId
from memforest_ray.storage.store import ObjectStore

__all__ = ["Kind", "Slot", "decode_slot", "encode_slot", "put_slot", "tombstone"]

Kind = Literal["commit", "fence", "tombstone"]
_KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Slot:
    """One slot. Slots of all epochs stand in one row; an owner's first is its fence."""

    kind: Kind
    epoch: int
    seq: int
    nonce: str
    """Of this very write: tells a retry of ours from another's slot."""
    changes: Changes = field(default_factory=Changes)
    operations: tuple[OpId, ...] = ()
    opens: tuple[str, ...] = ()
    """Erasures that this commit begins: the text is out of the forest, not yet out of the store."""
    closes: tuple[str, ...] = ()
    """Erasures that were done before this commit."""


def encode_slot(slot: Slot, key: str) -> bytes:
    """Deterministic: a retry sends the same bytes."""
    head = {
        "epoch": slot.epoch,
        "seq": slot.seq,
        "nonce": slot.nonce,
        "operations": slot.operations,
        "opens": slot.opens,
        "closes": slot.closes,
    }
    return seal(slot.kind, key, head, b"" if slot.changes.empty else pack_changes(slot.changes))


def decode_slot(raw: bytes, key: str, seq: int) -> Slot:
    """Open the slot read from `key`, which must be number `seq`."""
    frame = unseal(raw, key, *_KINDS)
    head = frame.head
    with shaped(key):
        if head["seq"] != seq:
            raise corrupt(key, f"it is slot {head['seq']}, not {seq}")
        return Slot(
            kind=head["kind"],
            epoch=int(head["epoch"]),
            seq=seq,
            nonce=head["nonce"],
            changes=unpack_changes(frame.body, key) if frame.body else Changes(),
            operations=tuple(head["operations"]),
            opens=tuple(head["opens"]),
            closes=tuple(head["closes"]),
        )


def tombstone(slot: Slot) -> Slot:
    """What is left of an erased slot: its name stays taken, and its writer can still recognise it."""
    return replace(slot, kind="tombstone", changes=Changes(), operations=(), opens=(), closes=())


async def put_slot(store: ObjectStore, key: str, slot: Slot, body: bytes) -> Slot | None:
    """Create `slot`, encoded as `body`; None when it stands there, else the slot that took its place.

    Raises:
        StoreUnavailable: `refused` is set in its detail if nothing can have landed, else that is unknown.
    """
    held = await settle(store, key, body, None)
    if held is None or held.body == body:
        return None
    other = decode_slot(held.body, key, slot.seq)
    # Ours may have landed, and been erased by a newer owner, before we looked: the tombstone keeps the nonce.
    return None if other.nonce == slot.nonce else other
