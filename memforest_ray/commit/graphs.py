"""Graphs as they stand in the store: derived objects that no manifest lists, each checked before it is believed.

Kind `graph`. Head: rows. Body: packed map of `name` (what it is a graph of) and the fields of `Graph.plain`: no
vectors. They stand under the user's caches, which every erasure empties. Each is named by the epoch that wrote it;
those of older epochs are leftovers.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from memforest_ray.commit.frames import off_loop, pack, seal, shaped, unpack, unseal
from memforest_ray.errors import CorruptState
from memforest_ray.index.graphs import Graph
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.store import Missing, ObjectStore

__all__ = ["StoredGraph", "decode_graph", "encode_graph", "stored_graphs"]


@dataclass(frozen=True, slots=True)
class StoredGraph:
    """One object under the caches' prefix that should be a graph."""

    key: str
    name: str
    """What it is a graph of."""
    plain: Mapping[str, Any]
    """For `Graph.of_plain`."""

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(self.plain["ids"])


def encode_graph(name: str, graph: Graph, key: str) -> bytes:
    """The object. Deterministic but for what zstd makes of it."""
    return seal("graph", key, {"rows": len(graph)}, pack({"name": name, **graph.plain()}))


def decode_graph(raw: bytes, key: str) -> StoredGraph:
    """Open one. Raises CorruptState: damaged, of another place, or from the future."""
    plain = unpack(unseal(raw, key, "graph").body, key)
    with shaped(key):
        return StoredGraph(key, str(plain["name"]), {**plain, "ids": [str(name) for name in plain["ids"]]})


async def stored_graphs(store: ObjectStore, keys: UserKeys) -> AsyncIterator[StoredGraph | CorruptState]:
    """All that stand in the store, newest last; a damaged one as what is wrong with it."""
    async for key in store.list(keys.graphs):
        try:
            body = (await store.get(key)).body
            yield await off_loop(len(body), decode_graph, body, key)
        except Missing:
            continue  # its owner has just put another in its place
        except CorruptState as error:
            yield error
