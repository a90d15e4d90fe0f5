"""The envelope of every object we write: it says what it is, where it belongs, and proves that it is whole.

    magic 4 | format u16 | head length u32 | head (msgpack) | sha256 32 of all the rest | body

Numbers are little-endian. The head carries the object's own key, so that an object copied or restored to a
wrong place is refused, and what must be read without the body.
"""

import asyncio
import hashlib
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar, TypeVarTuple

import msgpack
import zstandard

from memforest_ray.errors import CorruptState, InvalidInput

__all__ = [
    "FORMAT",
    "Frame",
    "corrupt",
    "framed",
    "off_loop",
    "pack",
    "pack_small",
    "seal",
    "shaped",
    "unpack",
    "unpack_small",
    "unseal",
]

FORMAT = 2
"""Raised by whoever changes the meaning of any object; older formats stay readable.

2: a manifest remembers what was done to snapshots (`settled`)."""

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_MAGIC = b"MFRY"
_PREFIX = struct.Struct("<4sHI")
_DIGEST_BYTES = 32
_OFF_LOOP_BYTES = 256 << 10  # about 1 ms of packing, compressing or hashing


@dataclass(frozen=True, slots=True)
class Frame:
    """One opened envelope."""

    head: dict[str, Any]
    body: memoryview
    digest: str
    """sha256 of head and body, hex: what a manifest lists of a part."""


async def off_loop(size: int, work: Callable[[*Ts], T], *arguments: *Ts) -> T:
    """Do `work` on about `size` bytes: at once when that is short, else in a thread, so that reads go on."""
    if size < _OFF_LOOP_BYTES:
        return work(*arguments)
    return await asyncio.to_thread(work, *arguments)


def pack(value: Any) -> bytes:
    """msgpack, then zstd. Any str goes in, a lone surrogate too."""
    return zstandard.ZstdCompressor(level=3).compress(pack_small(value))


def unpack(body: bytes | memoryview, key: str) -> Any:
    """Inverse of `pack`; `key` names the object in the error."""
    try:
        raw = zstandard.ZstdDecompressor().decompress(body)
    except zstandard.ZstdError as error:
        raise corrupt(key, f"its compressed body cannot be read ({error})") from error
    return unpack_small(raw, key)


def pack_small(value: Any) -> bytes:
    """msgpack alone, for what is read too often or is too short to be worth compressing.

    Raises:
        InvalidInput: it holds what msgpack has no form for, such as an integer over 64 bits.
    """
    try:
        return bytes(msgpack.packb(value, use_bin_type=True, unicode_errors="surrogatepass"))
    except (OverflowError, TypeError, ValueError) as error:
        raise InvalidInput(f"a value has no form in which it could be stored ({error}); nothing was changed") from error


def unpack_small(raw: bytes | memoryview, key: str) -> Any:
    """Inverse of `pack_small`."""
    try:
        return msgpack.unpackb(raw, raw=False, unicode_errors="surrogatepass")
    except (ValueError, TypeError, msgpack.exceptions.UnpackException) as error:
        raise corrupt(key, f"its body cannot be read ({error})") from error


def seal(kind: str, key: str, head: dict[str, Any], body: bytes) -> bytes:
    """An object of `kind` for `key`. Deterministic."""
    packed = pack_small({**head, "kind": kind, "key": key})
    prefix = _PREFIX.pack(_MAGIC, FORMAT, len(packed))
    return b"".join((prefix, packed, _digest(prefix, packed, body), body))


def framed(raw: bytes) -> bool:
    """Whether these bytes begin as an object of ours does, whatever is wrong with the rest."""
    return raw[: len(_MAGIC)] == _MAGIC


def unseal(raw: bytes, key: str, *kinds: str) -> Frame:
    """Open the object read from `key`, which must be one of `kinds`.

    Raises:
        CorruptState: it is empty, cut, altered, of another place or kind, or of a format from the future.
    """
    packed_length = _check_prefix(raw, key)
    digest_start = _PREFIX.size + packed_length
    body_start = digest_start + _DIGEST_BYTES
    view = memoryview(raw)
    packed, body = view[_PREFIX.size : digest_start], view[body_start:]
    digest = _digest(raw[: _PREFIX.size], packed, body)
    if view[digest_start:body_start] != digest:
        raise corrupt(key, "its checksum does not match")
    head = unpack_small(packed, key)
    with shaped(key):
        if head["key"] != key:
            raise corrupt(key, f"it belongs to {head['key']}")
        if head["kind"] not in kinds:
            raise corrupt(key, f"it is a {head['kind']}, not a {' or '.join(kinds)}")
    return Frame(head, body, digest.hex())


@contextmanager
def shaped(key: str) -> Iterator[None]:
    """Whatever in here does not have the shape that it should have is damage of the object `key`.

    A checksum proves that an object is as it was written, not that we would have written it so.
    """
    try:
        yield
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise corrupt(key, f"its content has another shape ({type(error).__name__}: {error})") from error


def _check_prefix(raw: bytes, key: str) -> int:
    """Length of the head. The format is judged first: a later one may have another envelope."""
    if len(raw) < _PREFIX.size or raw[:4] != _MAGIC:
        raise corrupt(key, f"it is {'empty' if not raw else 'truncated, or not one of ours'}")
    _, version, length = _PREFIX.unpack_from(raw)
    if not 1 <= version <= FORMAT:
        raise corrupt(key, f"its format {version} is from the future (known: up to {FORMAT}); use a newer release")
    return int(length)


def _digest(*pieces: bytes | memoryview) -> bytes:
    state = hashlib.sha256()
    for piece in pieces:
        state.update(piece)
    return state.digest()


def corrupt(key: str, what: str) -> CorruptState:
    """The error for the object `key`; `what` completes "it cannot be believed: ..."."""
    return CorruptState(
        f"the object {key} cannot be used: {what}; nothing was changed; restore it from a backup",
        key=key,
    )
