"""Derived objects of one forest: what stands in the store, and all of it made anew, without claiming the forest."""

import asyncio
from dataclasses import dataclass

from memforest_ray.ambient import Random
from memforest_ray.commit.doubt import put_part
from memforest_ray.commit.graphs import StoredGraph, encode_graph, stored_graphs
from memforest_ray.commit.loaded import load, read_manifest
from memforest_ray.commit.manifest import Manifest
from memforest_ray.commit.version import Birth, Version
from memforest_ray.errors import CorruptState, NotFound, Overloaded
from memforest_ray.ids import UserId
from memforest_ray.index.graphs import Graph
from memforest_ray.index.index import Index, IndexView
from memforest_ray.index.neighbours import GraphRules
from memforest_ray.index.plans import GraphPlan, plans
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.store import ObjectStore
from memforest_ray.trees.scenes import Thresholds

__all__ = ["NO_THRESHOLDS", "Derived", "derived_of", "opened_graph", "rebuild"]

NO_THRESHOLDS = Thresholds(assign=1.0, spawn=0.0, merge=1.0)
"""They decide where new facts go; for whoever adds nothing."""


@dataclass(frozen=True, slots=True)
class Derived:
    """Graphs in the store. Damage costs a rebuild and nothing else: no finding."""

    whole: int = 0
    damaged: int = 0


def opened_graph(stored: StoredGraph, view: IndexView) -> Graph | None:
    """The graph over the vectors that are there now; None when it is none."""
    try:
        return Graph.of_plain(stored.plain, view.vectors_of(stored.ids))
    except (CorruptState, KeyError, TypeError, ValueError):
        return None


async def derived_of(store: ObjectStore, keys: UserKeys, index: Index) -> Derived:
    """What stands there, each graph opened over the vectors of `index`."""
    whole = damaged = 0
    view = index.view()
    async for each in stored_graphs(store, keys):
        graph = await asyncio.to_thread(opened_graph, each, view) if isinstance(each, StoredGraph) else None
        whole, damaged = whole + (graph is not None), damaged + (graph is None)
    return Derived(whole, damaged)


async def rebuild(store: ObjectStore, user: UserId, rules: GraphRules, random: Random) -> dict[str, int]:
    """Make all derived objects anew, in the place of those that stand there; their names, with their rows.

    Claims nothing: an owner that has the forest open puts its own in their place when it next stores one.

    Raises:
        CorruptState: the forest itself is damaged; the object is named.
        NotFound: there is no such user.
        Overloaded: the forest was changed meanwhile; nothing is left of what was made.
    """
    keys = UserKeys.of(user)
    loaded = await load(store, keys)
    manifest = loaded.manifest
    if manifest is None or manifest.state == "deleted":
        raise NotFound.memory(user)
    index = Index(int(manifest.fingerprint["dimension"]))
    if loaded.tables:
        birth = Birth.of(manifest.birth)
        await asyncio.to_thread(Version.load, loaded.tables, loaded.version, birth, NO_THRESHOLDS, index)
    built = await asyncio.to_thread(_built, plans(index.view(), rules))
    before = [key async for key in store.list(keys.graphs)]
    fresh = [keys.graph(name, manifest.epoch, random.nonce()) for name in built]
    for key, (name, graph) in zip(fresh, built.items(), strict=True):
        await put_part(store, key, encode_graph(name, graph, key))
    unchanged = await _unchanged(store, keys, manifest)
    await _remove(store, before if unchanged else fresh)
    if not unchanged:
        raise Overloaded(
            "this memory changed while its graphs were rebuilt; none of them was kept; "
            "call again, or leave it to its owner",
            retry_after=1.0,
        )
    return {name: len(graph) for name, graph in built.items()}


def _built(wanted: list[GraphPlan]) -> dict[str, Graph]:
    graphs = {plan.name: plan.build(lambda: True) for plan in wanted}
    return {name: graph for name, graph in graphs.items() if graph is not None}


async def _unchanged(store: ObjectStore, keys: UserKeys, manifest: Manifest) -> bool:
    """Whether nothing can have been erased since: an erasure changes the manifest."""
    held = await read_manifest(store, keys)
    return held is not None and held.manifest == manifest


async def _remove(store: ObjectStore, keys: list[str]) -> None:
    for key in keys:
        await store.delete(key)
