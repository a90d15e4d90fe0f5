"""The process that keeps a cluster: starts Ray as its children, warms the pools, ends them all when told to.

`python -m memforest_actors.head`, with a `HeadOrder` on stdin; answers with a `HeadState` on stdout. It ends at
SIGTERM or, without a state file, when its stdin ends. Ray's processes share its fate, even if it is killed.
"""

import asyncio
import fcntl
import os
import shutil
import signal
import sys
from contextlib import ExitStack
from pathlib import Path

import ray

from memforest_actors.calls import retire_all
from memforest_actors.directory import open_directory
from memforest_actors.environment import AUTH_MODE
from memforest_actors.launch import STOP_S, HeadOrder, HeadState
from memforest_actors.options import FOREST_PREFIX, NAMESPACE, Components
from memforest_actors.pool import open_pool
from memforest_ray.ambient import SystemRandom
from memforest_ray.config import Settings

__all__ = ["main"]

OBJECT_STORE_BYTES = 150 << 20
"""Vectors and batches pass through it, nothing stays."""
DRAIN_S = 90.0


def main() -> None:
    """Keep one cluster for as long as it is wanted."""
    order = HeadOrder.read(sys.stdin.readline())
    with ExitStack() as ending:
        if order.state:
            lock = ending.enter_context(Path(order.state).open("a"))
            fcntl.flock(lock, fcntl.LOCK_EX)
            lock.truncate(0)
        ray.init(
            address="local",
            include_dashboard=False,
            object_store_memory=OBJECT_STORE_BYTES,
            namespace=NAMESPACE,
            log_to_driver=False,
            _temp_dir=order.folder,
        )
        ending.callback(shutil.rmtree, order.folder, ignore_errors=True)
        ending.callback(ray.shutdown)
        asyncio.run(_keep(order))


async def _keep(order: HeadOrder) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    loop.add_signal_handler(signal.SIGINT, ended.set)
    settings, components = Settings(**order.settings), Components(**order.components)
    warming = asyncio.create_task(_warm(settings, components))
    if order.state:
        await _either(warming, ended)  # the first command that joins shall not wait
    else:
        loop.add_reader(sys.stdin.fileno(), ended.set)
    if not ended.is_set():
        _announce(order)
    await ended.wait()
    signal.alarm(STOP_S)  # whoever waits for our end shall not wait for ever; Ray's processes die with this one
    warming.cancel()
    await retire_all(FOREST_PREFIX, DRAIN_S)


async def _either(work: "asyncio.Task[None]", ended: asyncio.Event) -> None:
    """Wait for `work`, or until the end. Raises what `work` raises."""
    ending = asyncio.create_task(ended.wait())
    await asyncio.wait({work, ending}, return_when=asyncio.FIRST_COMPLETED)
    ending.cancel()
    if work.done():
        work.result()


async def _warm(settings: Settings, components: Components) -> None:
    """Start the directory and one member of each pool per node, models loaded."""
    await open_directory(settings.residents_max)
    random = SystemRandom()
    roles = dict.fromkeys(components.served(settings).values())
    pools = await asyncio.gather(*(open_pool(role, components, settings, random) for role in roles))
    await asyncio.gather(*(pool.warm() for pool in pools))


def _announce(order: HeadOrder) -> None:
    state = HeadState(ray.get_runtime_context().gcs_address, os.getpid(), os.environ[AUTH_MODE])
    if order.state:
        path = Path(order.state)
        path.write_text(state.line())
    sys.stdout.write(state.line())
    sys.stdout.flush()


if __name__ == "__main__":
    main()
