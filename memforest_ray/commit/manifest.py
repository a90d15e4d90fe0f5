"""The manifest `M`: who owns a forest, and which objects make it up. The one object ever replaced.

Kind `manifest`. Head: user, state, epoch. Body: msgpack of the map of all fields of `Manifest`, tuples as arrays,
`Part`, `Retired`, `Pin`, `Saved` and `Settled` as maps of their fields. Format 1 had no `settled`.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from memforest_ray.commit.frames import corrupt, pack_small, seal, shaped, unpack_small, unseal
from memforest_ray.errors import EmbeddingMismatch
from memforest_ray.ids import OpId, UserId

__all__ = [
    "LENT",
    "Deed",
    "Manifest",
    "Part",
    "PartKind",
    "Pin",
    "Retired",
    "Saved",
    "Settled",
    "State",
    "check_fingerprint",
    "decode",
    "encode",
    "from_plain",
    "retired_anew",
    "retired_at_last",
]

State = Literal["active", "clean", "deleted"]
"""`clean`: its last owner left in order; `deleted`: only the numbers are kept."""
PartKind = Literal["text", "vectors"]
Deed = Literal["save", "delete"]
"""What was done to a snapshot."""

LENT = "lent"
"""In `birth`: who was lent the memory. Kept of a user who is being deleted until somebody has been told of them."""
_OPERATIONS_MAX = 256
"""Recent op ids kept in the manifest itself; the table `operations` knows them all."""
_LISTS = ("parts", "retired", "pins", "saved", "settled")
"""Fields that hold entries with fields of their own."""
_LANDING_MS = 60_000
"""Time that a change of the manifest may take; a minute less of the day that retired objects are kept harms nobody."""
_SETTLED_MAX = 32
"""Writes to snapshots that are remembered (5 KB): these are not in the log."""


@dataclass(frozen=True, slots=True)
class Part:
    """One immutable object holding rows of the slots `first` to `last`. Later parts win over earlier ones."""

    key: str
    kind: PartKind
    tier: int
    """0 for a checkpoint; merging eight of a tier makes one of the next."""
    first: int
    last: int
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Retired:
    """An object that no newer manifest needs; a slot's key stands for all slots up to it."""

    key: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class Pin:
    """Somebody copies our objects: nothing is collected until it expires."""

    operation: OpId
    expires_ms: int


@dataclass(frozen=True, slots=True)
class Saved:
    """One snapshot: a manifest of the past, in an object of its own, whose parts are kept."""

    key: str
    name: str
    operation: OpId
    """That saved it: a retry finds its own."""
    version: int
    created_ms: int
    rows: int
    bytes: int
    """Of its parts, which others may need too."""
    sha256: str
    """Of the object, as for a part."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A save or a removal of a snapshot that is done, whatever became of that snapshot since: for a late retry."""

    operation: OpId
    deed: Deed
    name: str
    """Hash of the snapshot's name: a name may be told to nobody once it is gone."""
    version: int
    """What its caller was told."""
    created_ms: int
    rows: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """One state of `M`. Frozen; each change is a new one, written by compare-and-swap."""

    user: UserId
    state: State
    epoch: int
    nonce: str
    """The owner's, fresh at each claim."""
    version: int
    """Last version contained in `parts`: equals `floor`, and outlives the user's deletion."""
    floor: int
    """Slots up to this one are contained in `parts`; the log begins above."""
    fingerprint: Mapping[str, Any]
    birth: Mapping[str, Any]
    parts: tuple[Part, ...] = ()
    retired: tuple[Retired, ...] = ()
    pins: tuple[Pin, ...] = ()
    erasures: tuple[str, ...] = ()
    """Open ones, by id: text is out of the forest, but not yet out of the store."""
    sweep_until_ms: int = 0
    """Until then a stalled writer of an older epoch may still drop an object that holds erased text."""
    operations: tuple[OpId, ...] = ()
    saved: tuple[Saved, ...] = ()
    settled: tuple[Settled, ...] = ()
    edition: int = 0
    """Raised by each writing, so that no two are alike: a store's tag may be a hash of the content."""

    @property
    def lent(self) -> tuple[UserId, ...]:
        """Who was lent the memory of a former life whose deletion was not finished when this one began."""
        return tuple(self.birth.get(LENT, ()))

    def claimed(self, nonce: str) -> "Manifest":
        """The same, under a new owner."""
        return replace(self, state="active", epoch=self.epoch + 1, nonce=nonce)

    def remembering(self, operations: tuple[OpId, ...]) -> "Manifest":
        """The same, with the newest op ids kept."""
        return replace(self, operations=(*self.operations, *operations)[-_OPERATIONS_MAX:])

    def settling(self, settled: Settled) -> "Manifest":
        """The same, with one more write to snapshots kept in mind."""
        return replace(self, settled=(*self.settled, settled)[-_SETTLED_MAX:])


def encode(manifest: Manifest, key: str) -> bytes:
    """The bytes of `M`. Deterministic, so that a write that is read back can be recognised."""
    plain = _row(manifest)
    for name in _LISTS:
        plain[name] = [_row(entry) for entry in plain[name]]
    head = {"user": manifest.user, "state": manifest.state, "epoch": manifest.epoch}
    return seal("manifest", key, head, pack_small(plain))


def _row(entry: Any) -> dict[str, Any]:
    """Fields by name, in order. (`asdict` copies all that is inside too, which is a tenth of a small commit.)"""
    return {name: getattr(entry, name) for name in entry.__slots__}


def decode(raw: bytes, key: str) -> Manifest:
    """Open a manifest.

    Raises:
        CorruptState: damaged, of another user, or written by a newer release.
    """
    return from_plain(unpack_small(unseal(raw, key, "manifest").body, key), key)


def from_plain(plain: Any, key: str) -> Manifest:
    """From the map of its fields. Raises CorruptState naming the object `key`, which holds it."""
    with shaped(key):
        manifest = Manifest(
            **{
                **plain,
                "parts": tuple(Part(**part) for part in plain["parts"]),
                "retired": tuple(Retired(**entry) for entry in plain["retired"]),
                "pins": tuple(Pin(**pin) for pin in plain["pins"]),
                "erasures": tuple(plain["erasures"]),
                "operations": tuple(plain["operations"]),
                "saved": tuple(Saved(**entry) for entry in plain["saved"]),
                "settled": tuple(Settled(**entry) for entry in plain.get("settled", ())),
            }
        )
        _check(manifest, key)
    return manifest


def _check(manifest: Manifest, key: str) -> None:
    if manifest.state not in get_args(State):
        raise corrupt(key, f"its state {manifest.state!r} is unknown")
    last = [part.last for part in manifest.parts]
    if last != sorted(last) or (last and last[-1] > manifest.floor):
        raise corrupt(key, "its parts are out of order")
    if len({saved.name for saved in manifest.saved}) != len(manifest.saved):
        raise corrupt(key, "two of its snapshots have one name")


def retired_anew(retired: tuple[Retired, ...], before: Collection[Retired], now_ms: int) -> tuple[Retired, ...]:
    """`retired` as written just now: what is not in `before` and was dated too long ago is dated `now_ms`."""
    known = {*before}
    return tuple(
        replace(entry, at_ms=now_ms) if entry not in known and entry.at_ms < now_ms - _LANDING_MS else entry
        for entry in retired
    )


def retired_at_last(retired: tuple[Retired, ...], now_ms: int) -> tuple[Retired, ...]:
    """`retired` as whoever claims the forest at `now_ms` found it: what was retired last is dated anew.

    Its owner may have died after that had landed and before it could say when. What was retired earlier has been
    dated by the time that something was retired after it.
    """
    newest = max((entry.at_ms for entry in retired), default=0)
    return tuple(
        replace(entry, at_ms=now_ms) if newest - _LANDING_MS <= entry.at_ms < now_ms - _LANDING_MS else entry
        for entry in retired
    )


def check_fingerprint(manifest: Manifest, fingerprint: Mapping[str, Any]) -> None:
    """Refuse another model or dimension; thresholds may be tuned, the stored ones stay in force.

    Raises:
        EmbeddingMismatch: vectors of two models cannot be compared.
    """
    for name in ("model", "dimension"):
        stored, ours = manifest.fingerprint.get(name), fingerprint.get(name)
        if stored != ours:
            raise EmbeddingMismatch(
                f"this memory was written with the embedding {name} {stored!r}, not {ours!r}; nothing was "
                "changed; connect with that embedder, or `reembed` the memory",
                stored=stored,
                ours=ours,
            )
