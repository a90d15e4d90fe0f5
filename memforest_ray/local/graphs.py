"""Keeps the graphs of one forest: taken from the store where they still hold, built beside the work, and stored.

Nothing waits for a graph and nothing fails for want of one: until it is there, and should it never be, vectors are
scanned. Builds run in a thread, one at a time; a write never builds one.
"""

import asyncio
import logging
from collections.abc import Mapping
from typing import Protocol

from memforest_ray.ambient import Random
from memforest_ray.commit.doubt import put_part
from memforest_ray.commit.graphs import StoredGraph, encode_graph, stored_graphs
from memforest_ray.errors import CorruptState, MemForestError
from memforest_ray.forest.overviews import GraphCounts
from memforest_ray.index.graphs import Graph
from memforest_ray.index.index import Index, IndexView
from memforest_ray.index.neighbours import GraphRules
from memforest_ray.index.plans import GraphPlan, plans, unwanted
from memforest_ray.local.derived import opened_graph
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.store import ObjectStore

__all__ = ["GraphKeeper", "Keeping"]

_log = logging.getLogger(__name__)


class Keeping(Protocol):
    """What has an index: the one whose graphs are kept."""

    def indexed(self) -> tuple[Index, IndexView]:
        """The index, and its newest view."""

    async def graphed(self, index: Index, graphs: Mapping[str, Graph | None], purges: int) -> bool:
        """Take in graphs, None to do without one; whether `index` is still the one, and nothing was purged since."""

    @property
    def epoch(self) -> int | None:
        """Under which the forest is ours; None when it is not."""


class GraphKeeper:
    """One background task at most, begun by `wake` and gone when there is nothing to do."""

    def __init__(self, store: ObjectStore, keys: UserKeys, random: Random, rules: GraphRules) -> None:
        self.rules = rules
        self.built = 0
        self.reused = 0
        """Taken from the store."""
        self.damaged = 0
        """Found in the store, and of no use."""
        self.storing = asyncio.Lock()
        """Held while one is written to the store: an erasure must not run beside that."""
        self._store = store
        self._keys = keys
        self._random = random
        self._looked_for: Index | None = None
        """The index for which the store was looked through."""
        self._stored: dict[str, tuple[Graph, int, str]] = {}
        """What stands in the store of ours: by name the graph, the epoch and the key."""
        self._task: asyncio.Task[None] | None = None
        self._again = False
        self._closing = False

    def wake(self, keeping: Keeping) -> None:
        """Something has changed: see whether graphs are to be built or stored. Costs nothing in a small forest."""
        _, view = keeping.indexed()
        if self._closing or (not view.graphs and len(view) < min(self.rules.tree_rows_min, self.rules.forest_rows_min)):
            return
        self._again = True
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._tend(keeping))

    async def settled(self) -> None:
        """Wait until there is nothing to do; for tests and tools."""
        while self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

    async def close(self) -> None:
        """Stop; a build ends within the second."""
        self._closing = True
        await self.settled()

    def erased(self) -> None:
        """Nothing of ours is in the store any more."""
        self._stored = {}

    def to_json(self) -> GraphCounts:
        """For `stats`: since this owner has opened the forest."""
        return {"built": self.built, "reused": self.reused, "damaged": self.damaged}

    async def _tend(self, keeping: Keeping) -> None:
        """The supervising loop: whatever goes wrong with a graph, the forest does without."""
        while self._again and not self._closing:
            self._again = False
            try:
                await self._build(keeping)
                await self._store_all(keeping)
            except MemForestError as error:
                _log.warning("graphs of %s: %s; vectors are scanned meanwhile", self._keys.hash[:12], error.kind)
            except Exception as error:  # noqa: BLE001 - a derived thing must not take its forest down
                _log.error("graphs of %s failed; vectors are scanned", self._keys.hash[:12], exc_info=error)

    async def _build(self, keeping: Keeping) -> None:
        while not self._closing:
            index, view = keeping.indexed()
            purges = index.purges
            gone = unwanted(view, self.rules)
            if gone and not await keeping.graphed(index, dict.fromkeys(gone), purges):
                continue
            missing = await asyncio.to_thread(plans, view, self.rules)
            if not missing:
                return
            if self._looked_for is not index:
                self._looked_for = index
                await self._reuse(keeping, {plan.name for plan in missing})
                continue
            if not await self._build_one(keeping, index, missing[0], purges):
                return

    async def _build_one(self, keeping: Keeping, index: Index, plan: GraphPlan, purges: int) -> bool:
        """Whether to go on: not when the driver is leaving."""
        graph = await asyncio.to_thread(plan.build, lambda: self._wanted(keeping, index, purges))
        if graph is not None and await keeping.graphed(index, {plan.name: graph}, purges):
            self.built += 1
        return not self._closing

    def _wanted(self, keeping: Keeping, index: Index, purges: int) -> bool:
        return not self._closing and keeping.indexed()[0] is index and index.purges == purges

    async def _reuse(self, keeping: Keeping, missing: set[str]) -> None:
        """Take what the store has. The newest of a name serves best; what does not fit is built anew."""
        found: dict[str, StoredGraph] = {}
        async for each in stored_graphs(self._store, self._keys):
            if isinstance(each, CorruptState):
                self.damaged += 1
            elif each.name in missing:
                found[each.name] = each
        for stored in found.values():
            index, view = keeping.indexed()
            purges = index.purges
            graph = await asyncio.to_thread(opened_graph, stored, view)
            if graph is None:
                self.damaged += 1
            elif await keeping.graphed(index, {stored.name: graph}, purges):
                self.reused += 1
                self._stored[stored.name] = (graph, self._keys.epoch_of(stored.key) or 0, stored.key)

    async def _store_all(self, keeping: Keeping) -> None:
        """Store what is not stored yet, under our epoch: what an older one wrote counts as a leftover."""
        index, _ = keeping.indexed()
        if keeping.epoch is None:
            return
        for name, coverage in list(index.graphs.items()):
            known = self._stored.get(name)
            if known is None or known[0] is not coverage.graph or known[1] != keeping.epoch:
                await self._store_one(keeping, index, name, coverage.graph)
        if self._stored or not index.graphs:
            await self._remove_others(keeping, index)

    async def _store_one(self, keeping: Keeping, index: Index, name: str, graph: Graph) -> None:
        async with self.storing:
            epoch = keeping.epoch
            coverage = index.graphs.get(name)
            if epoch is None or coverage is None or coverage.graph is not graph:
                return  # something in it was forgotten meanwhile, or another owner has come
            key = self._keys.graph(name, epoch, self._random.nonce())
            body = await asyncio.to_thread(encode_graph, name, graph, key)
            await put_part(self._store, key, body)
            self._stored[name] = (graph, epoch, key)

    async def _remove_others(self, keeping: Keeping, index: Index) -> None:
        """What stands in the store beside ours: older ones, and those of what has none any more."""
        for name in self._stored.keys() - set(index.graphs):
            del self._stored[name]
        kept = {key for _, _, key in self._stored.values()}
        async for key in self._store.list(self._keys.graphs):
            if key not in kept and keeping.epoch is not None and (self._keys.epoch_of(key) or 0) <= keeping.epoch:
                await self._store.delete(key)
