"""Who may start a forest now, as the directory tells callers, without Ray."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from memforest_actors import directory, refs
from memforest_actors.calls import Forests
from memforest_actors.directory import DirectoryActor
from memforest_actors.options import OFFLINE, PATIENCE
from memforest_actors.refs import ActorRef, Host
from memforest_ray.ambient import SystemClock
from memforest_ray.config import Settings
from memforest_ray.errors import ClusterUnavailable
from memforest_ray.ids import UserId
from memforest_ray.testing.clock import SeededRandom


class _Uncounted:
    """Metrics without Ray."""

    def __getattr__(self, _: str) -> Any:
        return lambda *_: None


@pytest.fixture
def actor(monkeypatch: pytest.MonkeyPatch) -> DirectoryActor:
    """Of a cluster of one node, where one forest may start at a time."""

    async def hosts() -> list[Host]:
        return [Host("n1", 2, 100)]

    monkeypatch.setattr(refs, "hosts", hosts)
    monkeypatch.setattr(directory, "DirectoryMetrics", _Uncounted)
    return DirectoryActor(200)


async def test_the_next_one_may_when_one_has_begun(actor: DirectoryActor) -> None:
    """Its report makes room; whoever waits is told at once."""
    assert await actor.admit("a") == ("ok", True)
    waiting = asyncio.ensure_future(actor.admit("b"))
    await asyncio.sleep(0)
    await actor.heard("a", "n1", 0.0, busy=True)
    assert await waiting == ("ok", True)


async def test_a_start_that_failed_makes_room(actor: DirectoryActor) -> None:
    """Also a name that nobody knows may be told of."""
    await actor.admit("a")
    assert await actor.begun("z") == ("ok", None)
    assert await actor.begun("a") == ("ok", None)
    assert await actor.admit("b") == ("ok", True)


async def test_not_yet(actor: DirectoryActor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has waited a moment is told to ask again; whoever has a place is told so at once."""
    monkeypatch.setattr(directory, "PATIENCE", replace(PATIENCE, turn_s=0.0))
    assert [await actor.admit(name) for name in "aba"] == [("ok", True), ("ok", False), ("ok", True)]


class _Stillborn:
    """An actor that cannot be made."""

    name = "stillborn"

    async def call(self, *_: Any, **__: Any) -> None:
        raise ClusterUnavailable("a worker cannot load an actor")


async def test_a_caller_asks_until_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then it starts the forest, and tells the directory when nothing came of it."""
    answers, told = [False, False, None], list[str]()

    async def notify(_: str, method: str, *__: Any) -> Any:
        told.append(method)
        return answers.pop(0) if answers else None

    async def find(_: str) -> ActorRef | None:
        return None

    async def create(*_: Any) -> _Stillborn:
        return _Stillborn()

    for name, stand_in in (("notify", notify), ("find", find), ("create", create)):
        monkeypatch.setattr(refs, name, stand_in)
    forests = Forests(Settings(store="file:///a"), OFFLINE, PATIENCE, SystemClock(), SeededRandom())
    with pytest.raises(ClusterUnavailable, match="cannot load"):
        await forests.call(UserId("ann"), "stats", {}, op_id=None, seen=0, deadline_s=60)
    assert told == ["admit", "admit", "admit", "begun"]
