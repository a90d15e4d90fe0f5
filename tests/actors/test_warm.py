"""`up` and `down`, and what a user's terminal shows: nothing."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memforest_actors import cluster, environment, launch
from memforest_ray.config import Settings
from memforest_ray.errors import ClusterUnavailable
from tests.actors.conftest import TINY

pytestmark = pytest.mark.ray

_SCRIPT = """
import asyncio, sys
from memforest_actors.cluster import connect
from memforest_ray.config import Settings
from tests.actors.conftest import TINY, caller

async def main():
    runtime = connect(Settings(store=sys.argv[1]), TINY)
    call = caller(runtime)
    assert await call("ann", "write", sys.argv[2], die=sys.argv[3]) == sys.argv[4].split()
    await runtime.close()

asyncio.run(main())
"""


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An installation of its own: no other test's or user's warm cluster is seen or stopped."""
    state = tmp_path / "warm.json"
    monkeypatch.setattr(launch, "state_file", lambda: state)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    yield state
    launch.stop_warm()


def _run(folder: Path, address: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """The script in another folder, as a user's program would run."""
    paths = [str(Path(__file__).parents[2]), *environment.roots()]
    surroundings = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "RAY_ADDRESS": address,
        "MARK_OF_A_TEST": str(folder),
    }
    return subprocess.run(
        [sys.executable, "-c", _SCRIPT, *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env=surroundings,
        check=False,
    )


def test_up_and_down(alone: Path, tmp_path: Path) -> None:
    """Programs that follow each other on a warm cluster meet the same forest, and print nothing of Ray's."""
    state, started = launch.start_warm(Settings(), TINY)
    assert started
    assert launch.start_warm(Settings(), TINY) == (state, False)
    assert launch.warm_head() == state
    store = f"file://{tmp_path}/store"
    first = _run(tmp_path, state.address, store, "op-1", "", "op-1")
    assert (first.returncode, first.stdout, first.stderr) == (0, "", "")
    second = _run(tmp_path, state.address, store, "op-2", "after", "op-1 op-2")
    assert (second.returncode, second.stdout, second.stderr) == (0, "", "")
    assert cluster.down() == {"stopped": True, "address": state.address, "pid": state.pid}
    assert launch.warm_head() is None
    assert not alone.exists()
    assert cluster.down() == {"stopped": False}
    with pytest.raises(ClusterUnavailable):
        cluster._probe(state.address)


def test_own_cluster(tmp_path: Path) -> None:
    """A program without a cluster starts one for itself, prints nothing of Ray's, and leaves no process behind."""
    done = _run(tmp_path, "local", f"file://{tmp_path}/store", "op-1", "", "op-1")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert _processes_of(tmp_path) == []


def _processes_of(folder: Path) -> list[str]:
    """Processes that were started from the script in that folder: they have inherited its mark."""
    mark = f"MARK_OF_A_TEST={folder}".encode()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_text())
        except OSError:  # it has ended, or is not ours
            continue
    return found
