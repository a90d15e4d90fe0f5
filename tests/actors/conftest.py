"""One small cluster for all tests of actors, and runtimes on it with a tiny driver and tiny models."""

import os
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memforest_actors import launch
from memforest_actors.cluster import RayRuntime, connect
from memforest_actors.launch import OwnHead
from memforest_actors.options import Components, Patience
from memforest_ray.config import Settings
from memforest_ray.ids import OpId, UserId

TINY_MODELS = Components("tests.actors.tiny:extractor", "tests.actors.tiny:summarizer", "tests.actors.tiny:embedder")
TINY = replace(TINY_MODELS, driver="tests.actors.tiny:open_driver")
QUICK = Patience(retry_last_s=0.2, probe_s=0.5, probes_missed_max=6, beat_s=0.2, drain_s=1.0)

Call = Callable[..., Any]


@pytest.fixture(scope="session")
def head() -> Iterator[OwnHead]:
    """A cluster that lives for the whole run."""
    patch = pytest.MonkeyPatch()
    patch.delenv("RAY_ADDRESS", raising=False)
    patch.setenv("RAY_metrics_report_interval_ms", "1000")  # a test waits for what is reported; the default is 10 s
    patch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]))
    started = launch.start_own(Settings(runtime="ray"), TINY)
    yield started
    started.stop()
    patch.undo()


@pytest.fixture(scope="session")
def settings(head: OwnHead, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """One store for all tests, so that those that may share a forest share its process; others name other users."""
    return Settings(store=f"file://{tmp_path_factory.mktemp('store')}", address=head.state.address)


@pytest.fixture
async def runtime(settings: Settings) -> AsyncIterator[RayRuntime]:
    opened = connect(settings, TINY, QUICK)
    yield opened
    await opened.close()


@pytest.fixture
def call(runtime: RayRuntime) -> Call:
    """Calls a verb of a user's forest."""
    return caller(runtime)


def caller(runtime: RayRuntime) -> Call:
    async def call(user: str, verb: str, op_id: str | None = None, deadline_s: float = 60.0, **arguments: Any) -> Any:
        name = None if op_id is None else OpId(op_id)
        return await runtime.call(UserId(user), verb, arguments, op_id=name, seen=0, deadline_s=deadline_s)

    return call
