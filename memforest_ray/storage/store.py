"""What an object store is to the rest of the library: six verbs, every write with its precondition."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

__all__ = ["AlreadyExists", "Missing", "ObjectStore", "Precondition", "StoreError", "Stored"]


class StoreError(Exception):
    """A store answered no. The three below are answers of the protocol; all else is `StoreUnavailable`."""


class Missing(StoreError):
    """No object of that key."""


class AlreadyExists(StoreError):
    """A create found the key taken. Ambiguous until read back: it may be our own write."""


class Precondition(StoreError):
    """A compare-and-swap found another tag. Ambiguous until read back: it may be our own write."""


@dataclass(frozen=True, slots=True)
class Stored:
    """One object and the tag under which it was read."""

    body: bytes
    tag: str
    """Opaque; handed back to `swap`."""


class ObjectStore(Protocol):
    """A flat map of keys to bytes. Keys are ours alone: lower-case hex, digits, `/`, `-`, `.`."""

    url: str
    """Canonical form, without credentials: two clients of one store have the same."""

    async def get(self, key: str) -> Stored:
        """The object. Raises `Missing`."""

    async def create(self, key: str, body: bytes) -> str:
        """Write only if the key is free; durable when it returns. The new tag. Raises `AlreadyExists`."""

    async def swap(self, key: str, body: bytes, tag: str) -> str:
        """Replace only the version `tag`; durable when it returns. The new tag. Raises `Precondition`."""

    async def delete(self, key: str) -> None:
        """Remove; a missing key is no error."""

    def list(self, prefix: str) -> AsyncIterator[str]:
        """Keys under `prefix` (ending in `/`), sorted."""

    async def overwrite(self, key: str, body: bytes) -> None:
        """Write whatever is there; only for tombstones over slots that no reader needs any more."""
