"""Parts: rows of many commits in one immutable object. A delta is a text part, a vector part, or both.

Kinds `text` and `vectors`. Head of both: tier, first, last, rows. Body of a text part: the packed changes (see
`changes`) of all tables but the rows of the vectors, and the drops of all. Body of a vector part: length of the keys
as u32, the keys as a msgpack array, then one raw little-endian fp16 matrix, a row per key in their order, all of one
width (compressing vectors saves 7 % at most).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from memforest_ray.commit.changes import VECTORS, Changes, pack_changes, unpack_changes
from memforest_ray.commit.frames import corrupt, pack_small, seal, shaped, unpack_small, unseal
from memforest_ray.commit.manifest import Part, PartKind
from memforest_ray.errors import InvalidInput

__all__ = [
    "FANOUT",
    "PARTS_MAX",
    "Sealed",
    "Span",
    "apply",
    "base_of",
    "decode_part",
    "due_merge",
    "encode_delta",
]

FANOUT = 8
"""Deltas of one tier that are merged to one of the next: each row is rewritten once per tier."""
PARTS_MAX = 64
"""Parts that a manifest lists at most: bounds the requests of a cold start."""

_LENGTH_BYTES = 4


@dataclass(frozen=True, slots=True)
class Span:
    """Where a delta stands: its tier and the slots it covers."""

    tier: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Sealed:
    """A part ready to be written, with what the manifest will list of it."""

    part: Part
    body: bytes


def encode_delta(changes: Changes, span: Span, text_key: str, vector_key: str) -> list[Sealed]:
    """The parts of one delta; none where nothing changed."""
    texts = {table: rows for table, rows in changes.puts.items() if rows and table != VECTORS}
    drops = {table: keys for table, keys in changes.drops.items() if keys}
    vectors = changes.puts.get(VECTORS, {})
    sealed = []
    if texts or drops:
        rows = sum(map(len, texts.values())) + sum(map(len, drops.values()))
        sealed.append(_seal("text", text_key, span, rows, pack_changes(Changes(texts, drops))))
    if vectors:
        sealed.append(_seal("vectors", vector_key, span, len(vectors), _matrix(vectors)))
    return sealed


def decode_part(raw: bytes, part: Part) -> Changes:
    """The rows of `part`, whose bytes must be those that the manifest lists."""
    frame = unseal(raw, part.key, part.kind)
    if frame.digest != part.sha256:
        raise corrupt(part.key, "it is not the object that the manifest names")
    if part.kind == "vectors":
        return Changes(puts={VECTORS: _rows(frame.body, part.key)})
    return unpack_changes(frame.body, part.key)


def apply(tables: dict[str, dict[str, Any]], changes: Changes) -> None:
    """Change `tables` in place."""
    for table, keys in changes.drops.items():
        rows = tables.get(table, {})
        for key in keys:
            rows.pop(key, None)
    for table, puts in changes.puts.items():
        tables.setdefault(table, {}).update(puts)


def base_of(deltas: Iterable[Changes]) -> Changes:
    """Fold the oldest deltas of a forest: below them there is nothing, so no drop needs to be kept."""
    tables: dict[str, dict[str, Any]] = {}
    for delta in deltas:
        apply(tables, delta)
    return Changes(puts={table: rows for table, rows in tables.items() if rows})


def due_merge(parts: tuple[Part, ...], fanout: int = FANOUT) -> tuple[Part, ...]:
    """The parts to merge next: `fanout` adjacent deltas of one tier, or all when too many are listed."""
    if len(parts) > PARTS_MAX - 2:
        return parts
    tiers: dict[int, dict[int, list[Part]]] = {}
    for part in parts:
        tiers.setdefault(part.tier, {}).setdefault(part.last, []).append(part)
    for _, deltas in sorted(tiers.items()):
        if len(deltas) >= fanout:
            oldest = sorted(deltas)[:fanout]
            return tuple(part for last in oldest for part in deltas[last])
    return ()


def _seal(kind: PartKind, key: str, span: Span, rows: int, packed: bytes) -> Sealed:
    head = {"tier": span.tier, "first": span.first, "last": span.last, "rows": rows}
    body = seal(kind, key, head, packed)
    digest = unseal(body, key, kind).digest
    return Sealed(Part(key, kind, span.tier, span.first, span.last, rows, len(body), digest), body)


def _matrix(vectors: Mapping[str, bytes]) -> bytes:
    """Length of the packed keys, the keys, then the rows, all of one length."""
    widths = {len(row) for row in vectors.values()}
    if len(widths) != 1:
        raise InvalidInput(f"vectors of {sorted(widths)} bytes cannot stand in one matrix; nothing was changed")
    keys = pack_small(list(vectors))
    return b"".join((len(keys).to_bytes(_LENGTH_BYTES, "little"), keys, *vectors.values()))


def _rows(body: memoryview, key: str) -> dict[str, bytes]:
    start = _LENGTH_BYTES + int.from_bytes(body[:_LENGTH_BYTES], "little")
    keys = unpack_small(body[_LENGTH_BYTES:start], key)
    matrix = bytes(body[start:])
    with shaped(key):
        width, rest = divmod(len(matrix), max(len(keys), 1))
        if rest or not keys:
            raise corrupt(key, "its matrix does not fit its keys")
        return {str(name): matrix[place * width : (place + 1) * width] for place, name in enumerate(keys)}
