"""A pool's members and the nodes that they live on, without Ray."""

import asyncio
from typing import Any

import pytest

from memforest_actors import refs
from memforest_actors.options import OFFLINE
from memforest_actors.pool import Pool, open_pool
from memforest_actors.refs import Gone, Here
from memforest_ray.config import Settings
from memforest_ray.testing.clock import SeededRandom


class _Member:
    """One that tells its node, while that is there, and takes a turn of the loop for it, as an actor does."""

    def __init__(self, cluster: "_Cluster", name: str, node_id: str) -> None:
        self._cluster = cluster
        self._node_id = node_id
        self.name = name

    async def call(self, _: str, *__: Any, timeout_s: float) -> str:
        await asyncio.sleep(0)
        if self._node_id not in self._cluster.nodes:
            raise Gone(self.name)
        return self._node_id

    async def pid(self, within_s: float) -> int | None:
        return 1 if self._node_id in self._cluster.nodes else None


class _Cluster:
    """Nodes that can go, and what was created on them."""

    def __init__(self, *nodes: str) -> None:
        self.nodes = list(nodes)
        self.created: list[tuple[str, str]] = []

    async def present(self) -> list[str]:
        return self.nodes

    async def create(self, _: str, name: str, *__: Any, node_id: str) -> _Member:
        self.created.append((name, node_id))
        return _Member(self, name, node_id)


async def _opened(monkeypatch: pytest.MonkeyPatch, cluster: _Cluster, here: str) -> Pool:
    monkeypatch.setattr(refs, "nodes", cluster.present)
    monkeypatch.setattr(refs, "create", cluster.create)
    monkeypatch.setattr(refs, "whereabouts", lambda: Here(here))
    return await open_pool("extractor", OFFLINE, Settings(), SeededRandom())


async def test_the_own_nodes_member_is_asked_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is one on each node; of those that have nothing to do the nearest is taken."""
    cluster = _Cluster("a", "b", "c")
    pool = await _opened(monkeypatch, cluster, "b")
    assert await pool.call("where") == "b"
    assert sorted(node for _, node in cluster.created) == ["a", "b", "c"]


async def test_the_seat_of_a_lost_node_goes_to_another_nodes_member(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is started in the name of a node that is gone; the pool keeps its seats."""
    cluster = _Cluster("a", "b")
    pool = await _opened(monkeypatch, cluster, "b")
    cluster.nodes.remove("b")
    assert await pool.call("where") == "a"
    while pool.sound < 2:
        await pool.call("where")
    assert {node for _, node in cluster.created[2:]} == {"a"}
