"""Logs over stores that a test holds in its hand."""

from collections.abc import Callable
from itertools import count
from typing import Any, Protocol

import pytest

from memforest_ray.commit.changes import Changes
from memforest_ray.commit.log import CommitLog
from memforest_ray.ids import UserId
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.storage.store import ObjectStore
from memforest_ray.testing.clock import ManualClock, SeededRandom

ANN = UserId("ann")
BIRTH = {"turns_max": 2}
FINGERPRINT = {"model": "tiny", "dimension": 4}


class MakeLog(Protocol):
    """Opens one more possible owner of Ann's forest."""

    def __call__(self, store: ObjectStore, **options: Any) -> CommitLog: ...


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def keys() -> UserKeys:
    return UserKeys.of(ANN)


@pytest.fixture
def make_log(clock: ManualClock) -> MakeLog:
    """Each log has its own entropy, as each process has."""
    seeds = count()

    def make(store: ObjectStore, **options: Any) -> CommitLog:
        return CommitLog(store, ANN, clock, SeededRandom(next(seeds)), **options)

    return make


@pytest.fixture
def owner(make_log: MakeLog) -> Callable[[ObjectStore], Any]:
    """A log that has read and claimed."""

    async def own(store: ObjectStore, **options: Any) -> CommitLog:
        log = make_log(store, **options)
        await log.read()
        await log.claim(BIRTH, FINGERPRINT)
        return log

    return own


@pytest.fixture
def row() -> Callable[..., Changes]:
    """Changes of one cell and its vector; `drop` names an earlier one."""

    def make(number: int, drop: int | None = None) -> Changes:
        changes = Changes()
        changes.put("cells", f"c{number}", {"text": f"said {number}"})
        changes.put("vectors", f"v{number}", number.to_bytes(8, "little"))
        if drop is not None:
            changes.drop("cells", f"c{drop}")
            changes.drop("vectors", f"v{drop}")
        return changes

    return make
