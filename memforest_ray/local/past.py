"""Snapshots that are open for reading, beside the present version: writing goes on meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable

from memforest_ray.commit.loaded import Loaded
from memforest_ray.commit.log import CommitLog
from memforest_ray.commit.version import Version

__all__ = ["OPEN_MAX", "OpenSnapshots"]

OPEN_MAX = 2
"""Of one forest: each is a version of its own in memory, with an index."""


class OpenSnapshots:
    """Versions by name, each with the object that keeps it: once that is replaced, or has to forget, it is another."""

    def __init__(self, log: CommitLog, build: Callable[[Loaded], Awaitable[Version]]) -> None:
        self._log = log
        self._build = build
        self._open: dict[str, tuple[str, Version]] = {}
        self._opening = asyncio.Lock()

    async def version(self, name: str) -> Version:
        """The snapshot as a version; one small request when it is open. A reader may hold it for as long as it likes.

        Raises:
            NotFound: there is none of that name.
            CorruptState, EmbeddingMismatch, StoreUnavailable.
        """
        key = await self._log.key_of_snapshot(name)
        held = self._held(name, key)
        if held is not None:
            return held
        async with self._opening:
            held = self._held(name, key)
            if held is None:
                open_then = self._open
                # Should it have been rewritten meanwhile, this is the newer one: the next reader finds another key.
                held = await self._build(await self._log.read_snapshot(name))
                if self._open is open_then:  # else all were let go of, since something was forgotten
                    self._keep(name, key, held)
            return held

    def _held(self, name: str, key: str) -> Version | None:
        kept, version = self._open.get(name, ("", None))
        return version if kept == key else None

    def _keep(self, name: str, key: str, version: Version) -> None:
        others = [(other, held) for other, held in self._open.items() if other != name]
        self._open = dict([*others[1 - OPEN_MAX :], (name, (key, version))])

    def close(self) -> None:
        """Let go of all: what was forgotten must not stay in memory."""
        self._open = {}
