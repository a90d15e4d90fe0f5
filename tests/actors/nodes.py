"""A cluster of a head and three nodes that lose one another, while users write: `python -m tests.actors.nodes FOLDER`.

A program of its own, since a process can be in one Ray cluster only and its way of authentication is fixed. Its last
line is what was seen, as JSON: what users were told is written, what is there, how long each waited.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import ray
from ray.cluster_utils import Cluster

from memforest_actors import calls, drain, refs
from memforest_actors.cluster import RayRuntime, connect
from memforest_actors.options import DIRECTORY, FOREST_PREFIX, forest_name
from memforest_ray.ambient import SystemClock
from memforest_ray.config import Settings
from memforest_ray.facts.sessions import Session, Turn
from memforest_ray.ids import OpId, UserId
from tests.actors.conftest import QUICK, TINY_MODELS

USERS = [UserId(f"user-{number}") for number in range(4)]
SESSIONS_EACH = 3
"""Of each user, before the loss, amid it and after it."""
NODE_MEMORY_BYTES = 2 << 30
OBJECT_STORE_BYTES = 80 << 20
CLOCK = SystemClock()
UNHURRIED = replace(QUICK, probe_s=2.0, probes_missed_max=15, beat_s=2.0)
"""Processes that start on a busy machine are slow, not hung: whoever ends them then only starts them again."""


@dataclass
class World:
    """The cluster, its users, and what they were told."""

    cluster: Cluster
    runtime: RayRuntime
    workers: dict[str, Any] = field(default_factory=dict)
    """Ray's nodes by their ids."""

    def add_node(self) -> str:
        node = self.cluster.add_node(num_cpus=1, memory=NODE_MEMORY_BYTES, object_store_memory=OBJECT_STORE_BYTES)
        self.workers[node.node_id] = node
        return str(node.node_id)

    async def call(self, user: UserId, verb: str, op_id: str | None = None, **arguments: Any) -> Any:
        name = None if op_id is None else OpId(op_id)
        return await self.runtime.call(user, verb, arguments, op_id=name, seen=0, deadline_s=60.0)

    async def place(self, user: UserId) -> tuple[str, int] | None:
        """Node and process of a user's actor."""
        ref = await refs.find(forest_name(self.runtime.settings, user))
        if ref is None:
            return None
        status = await ref.call("status", timeout_s=5.0)
        return status.node_id, status.pid

    async def busiest(self) -> tuple[str, dict[UserId, int]]:
        """The node with the most forests of users: it, and these users' processes."""
        places = {user: where for user in USERS if (where := await self.place(user)) is not None}
        nodes = [node for node, _ in places.values() if node in self.workers]
        node = max(set(nodes), key=nodes.count)
        return node, {user: pid for user, (where, pid) in places.items() if where == node}


def _session(scene: str, number: int) -> Session:
    turns = [
        Turn(f"I bought lamp number {number} in {scene}.", speaker="Ann"),
        Turn("Where did you put it?", speaker="Bob"),
    ]
    return Session(id=f"{scene}-{number}", time="2024-05-01", turns=turns)


@dataclass
class _Cue:
    """What writers wait for: all have begun, and what is to be lost is lost."""

    begun: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))
    losing: asyncio.Event = field(default_factory=asyncio.Event)
    lost: asyncio.Event = field(default_factory=asyncio.Event)


async def _write(world: World, user: UserId, scene: str, cue: _Cue) -> list[str]:
    """One user's sessions, some before, some amid and some after the loss; ids of those that were acknowledged."""
    acknowledged = []
    for number in range(3 * SESSIONS_EACH):
        session = _session(scene, number)
        await world.call(user, "ingest", f"{user}-{session.id}", session=session)
        acknowledged.append(session.id)
        if number + 1 == SESSIONS_EACH:
            cue.begun.release()
            await cue.losing.wait()
        if number + 1 == 2 * SESSIONS_EACH:
            await cue.lost.wait()
    return acknowledged


async def _scene(world: World, scene: str, lose: Callable[[], Awaitable[set[UserId]]]) -> dict[str, Any]:
    """Users write; amid it `lose` takes something away and names who is hit by it. What was seen."""
    cue = _Cue()
    async with asyncio.TaskGroup() as group:  # a writer that fails ends the scene, instead of being waited for
        writers = [group.create_task(_write(world, user, scene, cue)) for user in USERS]
        for _ in USERS:
            await cue.begun.acquire()
        cue.losing.set()
        began = CLOCK.elapsed()
        hit = await lose()
        cue.lost.set()
        firsts = [group.create_task(_first_answer(world, user, began)) for user in hit]
    acknowledged = [writer.result() for writer in writers]
    waits = [first.result() for first in firsts]
    missing = {}
    for user, told in zip(USERS, acknowledged, strict=True):
        held = await _held(world, user, scene)
        if sorted(held) != sorted(told):
            missing[user] = {"told": told, "held": held}
    return {"hit": len(hit), "waits_s": [round(wait, 2) for wait in waits], "missing": missing}


async def _first_answer(world: World, user: UserId, began: float) -> float:
    """Seconds from the loss until the user's first answer."""
    await world.call(user, "stats")
    return CLOCK.elapsed() - began


async def _held(world: World, user: UserId, scene: str) -> list[str]:
    """Ids of the sessions of a scene that a user's memory holds."""
    cards = await world.call(user, "trees")
    scopes = [card["scope"].removeprefix("session:") for card in cards if card["scope"].startswith("session:")]
    return [scope for scope in scopes if scope.rpartition("-")[0] == scene]


async def remove_node(world: World) -> dict[str, Any]:
    """A machine is gone from one moment to the next."""

    async def lose() -> set[UserId]:
        node, hit = await world.busiest()
        await asyncio.to_thread(world.cluster.remove_node, world.workers.pop(node), allow_graceful=False)
        while any(_lives(pid) for pid in hit.values()):  # they survive their node by a moment, and answer meanwhile
            await _breathe()
        return set(hit)

    return await _scene(world, "remove", lose)


async def freeze_raylet(world: World) -> dict[str, Any]:
    """A machine is cut off and its forests' processes go on: a second owner takes over while the first one lives."""
    zombies: dict[UserId, int] = {}
    frozen: list[int] = []
    noticed: list[float] = []

    async def lose() -> set[UserId]:
        node, hit = await world.busiest()
        zombies.update(hit)
        frozen.append(world.workers.pop(node).all_processes["raylet"][0].process.pid)
        os.kill(frozen[0], signal.SIGSTOP)
        began = CLOCK.elapsed()
        while node in await refs.nodes():  # until then the frozen node's forests answer as before
            await _breathe()
        noticed.append(round(CLOCK.elapsed() - began, 2))
        return set(hit)

    seen = await _scene(world, "freeze", lose)
    places = {user: await world.place(user) for user in zombies}
    owners = {user: place[1] for user, place in places.items() if place is not None}
    beside = [user for user, pid in zombies.items() if owners.get(user, pid) != pid and _lives(pid)]
    os.kill(frozen[0], signal.SIGCONT)
    return {**seen, "two_at_once": len(beside), "owners": await _owners(world), "noticed_s": noticed[0]}


async def _breathe() -> None:
    """Leave the cores to the cluster between two looks at it."""
    with suppress(TimeoutError):
        async with asyncio.timeout(0.1):
            await asyncio.Event().wait()


def _lives(pid: int) -> bool:
    """Whether a process runs; one that has ended may still be listed."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


async def kill_pools(world: World) -> dict[str, Any]:
    """Every extractor, summariser and embedder dies, and the directory with them."""

    async def lose() -> set[UserId]:
        names = [name for kind in ("extractor", "summarizer", "embedder", DIRECTORY) for name in await refs.names(kind)]
        found = [await refs.find(name) for name in names]
        pids = [await ref.pid(5.0) for ref in found if ref is not None]
        for pid in pids:
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
        return set(USERS)

    return {**await _scene(world, "pools", lose), "directory": len(await refs.names(DIRECTORY))}


async def drain_node(world: World) -> dict[str, Any]:
    """A machine is about to be taken away: its forests leave in order and come up elsewhere."""
    node, hit = "", set[UserId]()

    async def lose() -> set[UserId]:
        nonlocal node, hit
        node, processes = await world.busiest()
        hit = set(processes)
        await drain.drain(node, 20.0)
        return hit

    seen = await _scene(world, "drain", lose)
    places = [await world.place(user) for user in USERS]
    return {**seen, "left_behind": sum(place is not None and place[0] == node for place in places)}


async def _owners(world: World) -> int:
    """Actors of users that live, at most one each."""
    return len(await refs.names(FOREST_PREFIX))


@asynccontextmanager
async def _world(folder: Path) -> AsyncIterator[World]:
    cluster = Cluster()
    cluster.add_node(
        num_cpus=0,
        memory=1,
        object_store_memory=OBJECT_STORE_BYTES,
        temp_dir=str(folder / "ray"),
        include_dashboard=False,
    )
    settings = Settings(store=f"file://{folder / 'store'}", address=cluster.address)
    world = World(cluster, connect(settings, TINY_MODELS, UNHURRIED))
    try:
        yield world
    finally:
        await calls.retire_all(FOREST_PREFIX, 20.0)
        await world.runtime.close()
        ray.shutdown()  # after a failure somebody may still be connected, and the cluster would not go
        cluster.shutdown()  # type: ignore[no-untyped-call]  # Ray's own signature


async def main(folder: Path) -> dict[str, Any]:
    """Every scene, one after the other; a lost node is replaced before the next, where that needs three."""
    seen: dict[str, Any] = {}
    async with _world(folder) as world:
        for scene, nodes in ((kill_pools, 3), (remove_node, 3), (freeze_raylet, 3), (drain_node, 2)):
            while len(world.workers) < nodes:
                world.add_node()
            seen[scene.__name__] = await scene(world)
    return seen


if __name__ == "__main__":
    sys.stdout.write(f"RESULT {json.dumps(asyncio.run(main(Path(sys.argv[1]))))}\n")
    ray.shutdown()
