"""Drives one forest: reads its log, has its models called, makes batches durable, publishes versions.

Reads run on the published version and never wait for a write. All correctness comes from the log: a driver that
was overtaken by another owner finds out at its next write, or at a read within `fresh_s`, and is then of no use.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from memforest_ray.ambient import Clock, Random
from memforest_ray.commit.snapshots import SnapshotInfo, check_name
from memforest_ray.commit.version import Version
from memforest_ray.config import Settings
from memforest_ray.errors import Fenced, InvalidInput, Passivating
from memforest_ray.facts.sessions import Session, admit
from memforest_ray.forest import reading
from memforest_ray.forest.intents import (
    Answered,
    DeleteSnapshot,
    Forget,
    Ingest,
    Intent,
    Repair,
    Restore,
    Save,
)
from memforest_ray.ids import OpId, UserId, user_hash
from memforest_ray.local.effects import Models
from memforest_ray.local.published import Published
from memforest_ray.local.writer import Writer
from memforest_ray.query.answer import answer
from memforest_ray.query.request import QueryRequest
from memforest_ray.query.result import Answer, Result
from memforest_ray.query.search import search
from memforest_ray.storage.store import ObjectStore

__all__ = ["ForestDriver", "Models"]

_log = logging.getLogger(__name__)

INLINE_ROWS_MAX = 4_096
"""Facts, cells and nodes up to which a search stays on the event loop: it may hold that for 5 ms, no longer."""
INLINE_HITS_MAX = 50
"""Hits up to which it does: each is rendered with its path."""


class ForestDriver:
    """One user's forest on one event loop."""

    def __init__(
        self, user: UserId, store: ObjectStore, models: Models, settings: Settings, clock: Clock, random: Random
    ) -> None:
        self.user = user
        self._models = models
        self._settings = settings
        self._clock = clock
        self._published = Published(user, store, models, settings, clock, random)
        self._writer = Writer(self._published, models, clock, settings.lane_depth_max, user_hash(user)[:12])
        self._arriving = asyncio.Lock()
        """Writes take their places in the order in which they came, however long each takes to be checked."""
        self._closing = False
        self.last_used = clock.elapsed()
        """`Clock.elapsed` of the last call."""

    @property
    def fenced(self) -> bool:
        """Whether another owner has taken over: make a new driver."""
        return self._published.fenced

    # ---- verbs -------------------------------------------------------------------------------------------

    async def call(self, verb: str, arguments: Mapping[str, Any], *, op_id: OpId | None, seen: int) -> Any:
        """One call of a handle. Raises errors of `memforest_ray.errors`."""
        if self._closing:
            raise Passivating("this memory is being put away; the call was not begun; make it again")
        self.last_used = self._clock.elapsed()
        writes: dict[str, Callable[..., Awaitable[Intent]]] = {
            "ingest": self._ingest,
            "forget": self._forget,
            "repair": self._repair,
            "save": self._save,
            "restore": self._restore,
            "delete_snapshot": self._delete_snapshot,
        }
        reads: dict[str, Callable[..., Awaitable[Any]]] = {
            "query": self._query,
            "ask": self._ask,
            "stats": self._stats,
            "trees": self._trees,
            "tree": self._tree,
            "snapshots": self._snapshots,
        }
        try:
            if op_id is not None and verb in writes:
                return await self._write(partial(writes[verb], op_id, **arguments), seen)
            if op_id is None and verb in reads:
                return await reads[verb](await self._published.fresh(seen, self._settings.fresh_s), **arguments)
        except Fenced:
            self._published.fenced = True
            raise
        raise InvalidInput(f"unknown verb {verb!r}; known: {', '.join(sorted([*writes, *reads]))}")

    async def version(self, seen: int = 0) -> Version:
        """The published version, as fresh as a read's."""
        return await self._published.fresh(seen, self._settings.fresh_s)

    async def _write(self, intent: Callable[[], Awaitable[Intent]], seen: int) -> Answered:
        async with self._arriving:
            write = await intent()
            version = await self._published.fresh(seen, self._settings.fresh_s)
            done = self._writer.enter(write, version)
        # A caller that goes away does not take the write with it.
        return await asyncio.shield(done)

    async def _ingest(self, op_id: OpId, session: Session, replace: bool = False, wait: str = "refreshed") -> Intent:
        if wait != "refreshed":
            raise InvalidInput(f"wait={wait!r} is not known; known: 'refreshed'")
        admitted = await asyncio.to_thread(admit, session)
        return Ingest(op_id, admitted.record, admitted.naive_times, admitted.undated_turns, replace)

    async def _forget(self, op_id: OpId, **what: Any) -> Intent:
        return Forget(op_id, **what)

    async def _repair(self, op_id: OpId) -> Intent:
        return Repair(op_id)

    async def _save(self, op_id: OpId, name: str, replace: bool = False) -> Intent:
        check_name(name)
        return Save(op_id, name, replace)

    async def _restore(self, op_id: OpId, name: str) -> Intent:
        return Restore(op_id, name)

    async def _delete_snapshot(self, op_id: OpId, name: str) -> Intent:
        return DeleteSnapshot(op_id, name)

    async def _query(self, version: Version, request: QueryRequest) -> Result:
        vector = await self._query_vector(version, request)
        return await _searched(version, request, vector)

    async def _ask(self, version: Version, request: QueryRequest) -> Answer:
        vector = await self._query_vector(version, request)
        found = await _searched(version, request, vector)
        return answer(found, request.text)

    async def _query_vector(self, version: Version, request: QueryRequest) -> Any:
        if not version.facts and not version.cells:
            return None
        row = (await self._models.embedder.embed([request.text]))[0]
        return row.astype(np.float32) if row.any() else None

    async def _stats(self, version: Version) -> dict[str, Any]:
        counts = await asyncio.to_thread(reading.counts, version)
        return {**counts, "writes_waiting": len(self._writer), "owned": self._published.log.owned}

    async def _trees(self, version: Version) -> list[dict[str, Any]]:
        return await asyncio.to_thread(reading.tree_cards, version)

    async def _tree(self, version: Version, scope: str) -> dict[str, Any]:
        return await asyncio.to_thread(reading.whole_tree, version, scope)

    async def _snapshots(self, _: Version) -> list[SnapshotInfo]:
        return list(await self._published.log.snapshots())

    # ---- leaving -----------------------------------------------------------------------------------------

    async def close(self) -> None:
        """Refuse new calls, finish what waits, checkpoint. Writes nothing if nothing was written.

        Raises StoreUnavailable: no checkpoint was made, which costs the next opening some time and nothing else.
        """
        self._closing = True
        await self._writer.close()
        try:
            if not self.fenced:
                await self._published.log.close()
        except Fenced:
            self._published.fenced = True
            _log.info("%s has another owner by now; it was left to that one", user_hash(self.user)[:12])


async def _searched(version: Version, request: QueryRequest, vector: Any) -> Result:
    """The search itself: 2 to 3 ms in a small memory, which a thread would lengthen by its two changes of hand."""
    if len(version.index) <= INLINE_ROWS_MAX and request.k <= INLINE_HITS_MAX:
        return search(version, request, vector)
    return await asyncio.to_thread(search, version, request, vector)
