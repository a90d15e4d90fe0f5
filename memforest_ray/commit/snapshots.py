"""Snapshots: manifests of the past under names of the user's. Their parts are shared with the forest, and kept.

A snapshot is an immutable object that the manifest lists: replacing, deleting or rewriting one is a change of the
manifest, so a stalled owner can neither add one nor bring one back. Kind `snapshot`. Head: user, version. Body:
msgpack of {"name", "created_ms", "manifest": map of the fields of the `Manifest` as it was saved}.
"""

import hashlib
from collections.abc import Awaitable, Callable, Collection
from dataclasses import asdict, dataclass, replace

from memforest_ray.commit.changes import Changes
from memforest_ray.commit.frames import corrupt, pack_small, seal, shaped, unpack_small, unseal
from memforest_ray.commit.loaded import Loaded, read_manifest, read_parts
from memforest_ray.commit.manifest import Deed, Manifest, Part, Saved, Settled, from_plain
from memforest_ray.errors import CorruptState, InvalidInput, NotFound
from memforest_ray.ids import OpId
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.store import Missing, ObjectStore

__all__ = [
    "NAME_MAX",
    "SNAPSHOTS_MAX",
    "Rewrite",
    "Snapshot",
    "SnapshotInfo",
    "check_name",
    "find",
    "find_settled",
    "layered",
    "listed",
    "load_snapshot",
    "read_snapshot",
    "saved_parts",
    "seal_snapshot",
    "settled",
    "unshared_parts",
]

SNAPSHOTS_MAX = 64
"""Of one forest: an erasure reads each."""
NAME_MAX = 200
"""Characters."""
_STARTS_MAX = 50
"""Times a read starts over because the snapshot was rewritten under it."""

Rewrite = Callable[[Loaded], Awaitable[Changes]]
"""What to change in the rows of a snapshot so that it no longer holds what is being erased; empty if it never did.

Asked again when an erasure is resumed: of a snapshot that was rewritten it must want nothing more.
"""


@dataclass(frozen=True, slots=True)
class SnapshotInfo:
    """What there is to know of a snapshot without reading it."""

    name: str
    version: int
    created_ms: int
    rows: int
    """In its parts, rows that were put or dropped again counted each time."""
    bytes: int

    @classmethod
    def of(cls, saved: Saved) -> "SnapshotInfo":
        return cls(saved.name, saved.version, saved.created_ms, saved.rows, saved.bytes)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One opened snapshot."""

    name: str
    created_ms: int
    manifest: Manifest
    """As it was saved, but for what concerns only its owner."""


def check_name(name: str) -> None:
    """Raises InvalidInput for a name that is empty or too long."""
    if not 0 < len(name) <= NAME_MAX:
        raise InvalidInput(f"a snapshot's name has 1 to {NAME_MAX} characters, not {len(name)}; nothing was changed")


def find(manifest: Manifest, name: str) -> Saved | None:
    """The snapshot of that name."""
    return next((saved for saved in manifest.saved if saved.name == name), None)


def listed(manifest: Manifest | None, name: str) -> Saved:
    """The snapshot of that name. Raises NotFound."""
    saved = find(manifest, name) if manifest else None
    if saved is None:
        raise NotFound(f"there is no snapshot {name!r}; nothing was changed", what="snapshot", name=name)
    return saved


def settled(saved: Saved, deed: Deed, operation: OpId, version: int) -> Settled:
    """What a late retry of `operation`, which did this to the snapshot, is told."""
    name = _hashed(saved.name)
    return Settled(operation, deed, name, version, saved.created_ms, saved.rows, saved.bytes)


def find_settled(manifest: Manifest, deed: Deed, operation: OpId, name: str) -> Settled | None:
    """What was told when `operation` did this to the snapshot `name`; None when it has not.

    Raises:
        InvalidInput: it did something else.
    """
    known = next((entry for entry in manifest.settled if operation and entry.operation == operation), None)
    if known is not None and (known.deed, known.name) != (deed, _hashed(name)):
        raise InvalidInput(
            f"op_id {operation!r} names another write to this memory; nothing was changed; "
            "give each write an op_id of its own",
            op_id=operation,
        )
    return known


def _hashed(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def seal_snapshot(snapshot: Snapshot, key: str, operation: OpId) -> tuple[Saved, bytes]:
    """The object, and what the manifest lists of it. Deterministic."""
    own = snapshot.manifest
    plain = replace(
        own, state="clean", nonce="", retired=(), pins=(), erasures=(), operations=(), saved=(), settled=(), edition=0
    )
    content = {"name": snapshot.name, "created_ms": snapshot.created_ms, "manifest": asdict(plain)}
    body = seal("snapshot", key, {"user": own.user, "version": own.version}, pack_small(content))
    saved = Saved(
        key=key,
        name=snapshot.name,
        operation=operation,
        version=own.version,
        created_ms=snapshot.created_ms,
        rows=sum(part.rows for part in own.parts),
        bytes=sum(part.bytes for part in own.parts),
        sha256=unseal(body, key, "snapshot").digest,
    )
    return saved, body


async def load_snapshot(store: ObjectStore, saved: Saved) -> Snapshot:
    """The snapshot that the manifest lists as `saved`. Raises CorruptState; Missing when it is not there."""
    frame = unseal((await store.get(saved.key)).body, saved.key, "snapshot")
    if frame.digest != saved.sha256:
        raise corrupt(saved.key, "it is not the object that the manifest names")
    plain = unpack_small(frame.body, saved.key)
    with shaped(saved.key):
        return Snapshot(plain["name"], plain["created_ms"], from_plain(plain["manifest"], saved.key))


async def read_snapshot(store: ObjectStore, keys: UserKeys, name: str) -> Loaded:
    """All rows of a snapshot; its manifest is the saved one.

    Raises:
        NotFound: there is none of that name.
        CorruptState: an object is damaged or missing.
    """
    saved: Saved | None = None
    damage: CorruptState | None = None
    for _ in range(_STARTS_MAX):
        held = await read_manifest(store, keys)
        again = listed(held.manifest if held else None, name)
        # Damage counts only if the manifest still lists the same object.
        if damage and again == saved:
            raise damage
        saved = again
        try:
            return await _read(store, saved)
        except Missing as error:
            damage = corrupt(str(error), "it is missing, though a snapshot needs it")
        except CorruptState as error:
            damage = error
    assert damage is not None
    raise damage


async def _read(store: ObjectStore, saved: Saved) -> Loaded:
    manifest = (await load_snapshot(store, saved)).manifest
    tables: dict[str, dict[str, object]] = {}
    await read_parts(store, manifest.parts, tables)
    return Loaded(tables, manifest.version, manifest)


async def saved_parts(store: ObjectStore, manifest: Manifest, but: Collection[str] = ()) -> set[str]:
    """Parts that a listed snapshot needs; snapshots whose keys are in `but` do not count.

    Raises:
        CorruptState: a snapshot is damaged or missing: what it needs is unknown, so nothing may be removed.
    """
    kept: set[str] = set()
    for saved in manifest.saved:
        if saved.key not in but:
            kept |= {part.key for part in (await _expect(store, saved)).manifest.parts}
    return kept


async def _expect(store: ObjectStore, saved: Saved) -> Snapshot:
    try:
        return await load_snapshot(store, saved)
    except Missing as error:
        raise corrupt(saved.key, "the manifest lists it, but it is missing") from error


async def unshared_parts(store: ObjectStore, manifest: Manifest, saved: Saved) -> list[str]:
    """Parts that only the snapshot `saved` needs; none known when it is damaged: a later owner sweeps them."""
    try:
        own = [part.key for part in (await _expect(store, saved)).manifest.parts]
        others = await saved_parts(store, manifest, [saved.key])
    except CorruptState:
        return []
    listed = {part.key for part in manifest.parts}
    return [key for key in own if key not in others and key not in listed]


def layered(parts: Collection[Part]) -> bool:
    """Whether later parts may hide rows of earlier ones, which are then still in the store."""
    return len({(part.first, part.last) for part in parts}) > 1
