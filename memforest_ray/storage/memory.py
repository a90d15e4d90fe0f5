"""A store in this process: for tests, notebooks and `memory://`."""

import threading
from collections.abc import AsyncIterator
from itertools import count

from memforest_ray.storage.store import AlreadyExists, Missing, Precondition, Stored

__all__ = ["MemoryStore"]


class MemoryStore:
    """Objects in a dict. Safe to share between threads and event loops."""

    def __init__(self, name: str = "") -> None:
        self.url = f"memory://{name}"
        self._objects: dict[str, Stored] = {}
        self._tags = count(1)
        # A client's own loop and a notebook's may use one store at once.
        self._lock = threading.Lock()

    async def get(self, key: str) -> Stored:
        try:
            return self._objects[key]
        except KeyError:
            raise Missing(key) from None

    async def create(self, key: str, body: bytes) -> str:
        with self._lock:
            if key in self._objects:
                raise AlreadyExists(key)
            return self._put(key, body)

    async def swap(self, key: str, body: bytes, tag: str) -> str:
        with self._lock:
            held = self._objects.get(key)
            if held is None or held.tag != tag:
                raise Precondition(key)
            return self._put(key, body)

    async def delete(self, key: str) -> None:
        with self._lock:
            self._objects.pop(key, None)

    async def list(self, prefix: str) -> AsyncIterator[str]:
        for key in sorted(key for key in self._objects.copy() if key.startswith(prefix)):
            yield key

    async def overwrite(self, key: str, body: bytes) -> None:
        with self._lock:
            self._put(key, body)

    def _put(self, key: str, body: bytes) -> str:
        stored = Stored(bytes(body), str(next(self._tags)))
        self._objects[key] = stored
        return stored.tag
