"""Hedging: when a call is late, and what its second one may cost. Time passes only where everybody waits."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import pytest

from memforest_ray.models.hedging import Hedges
from memforest_ray.testing.clock import ManualClock
from memforest_ray.testing.loop import SeededLoop

T = TypeVar("T")


def in_virtual_time(run: Callable[["World"], Coroutine[Any, Any, T]], share: float = 0.03) -> T:
    """Run on a loop of its own."""
    clock = ManualClock()
    loop = SeededLoop(1, clock)
    try:
        return loop.run_until_complete(run(World(clock, share)))
    finally:
        loop.close()


class World:
    """Calls that take as long as the test says."""

    def __init__(self, clock: ManualClock, share: float) -> None:
        self.clock = clock
        self.hedges = Hedges(clock, share)
        self.ended: list[str] = []

    async def answer(self, name: str, seconds: float) -> str:
        try:
            await asyncio.sleep(seconds)
        finally:
            self.ended.append(name)
        return name

    async def call(self, seconds: float, second_s: float = 1.0, first: str = "first", second: str = "second") -> str:
        """One call, and what would be its second. Names that begin with `bad` are failures."""
        return await self.hedges.first_of(
            self.answer(first, seconds), lambda: self.answer(second, second_s), lambda each: not each.startswith("bad")
        )

    async def usual(self, calls: int, seconds: float = 1.0) -> None:
        """So many at once that take what is usual."""
        await asyncio.gather(*(self.call(seconds) for _ in range(calls)))
        self.ended.clear()


def test_a_late_answer_is_not_waited_for() -> None:
    """After twice what is usual the call is made again; the first is ended with it."""

    async def run(world: World) -> Any:
        for _ in range(10):
            await world.usual(1)
        began = world.clock.elapsed()
        name = await world.call(60.0)
        return name, world.clock.elapsed() - began, world.ended, world.hedges.made

    name, seconds, ended, made = in_virtual_time(run)
    assert (name, seconds, ended, made) == ("second", pytest.approx(3.0, abs=1e-3), ["second", "first"], 1)


def test_who_answers_first_counts() -> None:
    """Also the one that was late; the second is ended."""

    async def run(world: World) -> Any:
        for _ in range(10):
            await world.usual(1)
        return await world.call(2.5, 5.0), world.ended

    assert in_virtual_time(run) == ("first", ["first", "second"])


def test_a_failure_waits_for_the_other() -> None:
    """Whichever fails; only when both have, the last is told. One that fails in time has no second."""

    async def run(world: World) -> list[str]:
        for _ in range(100):
            await world.usual(1)
        return [
            await world.call(2.5, 1.0, first="bad"),
            await world.call(3.5, 1.0, second="bad"),
            await world.call(2.5, 1.0, first="bad", second="bad too"),
            await world.call(0.5, first="bad"),
        ]

    assert in_virtual_time(run) == ["second", "first", "bad too", "bad"]


def test_nothing_is_late_before_something_is_known() -> None:
    """Seven answers are not enough."""

    async def run(world: World) -> Any:
        for _ in range(7):
            await world.usual(1)
        return world.hedges.late_s(), await world.call(30.0), world.hedges.late_s()

    assert in_virtual_time(run) == (None, "first", 60.0)


def test_while_more_calls_run_than_before_none_is_late_for_that() -> None:
    """A server that had one call at a time has forty: each may take as many times longer."""

    async def run(world: World) -> Any:
        for _ in range(20):
            await world.usual(1)
        names = await asyncio.gather(*(world.call(30.0) for _ in range(40)))
        return set(names), world.hedges.made

    assert in_virtual_time(run) == ({"first"}, 0)


def test_second_calls_are_few() -> None:
    """A share of all calls, and what a quiet time has saved; a server that is slow is not asked twice as much."""

    async def run(world: World) -> Any:
        for _ in range(30):
            await world.usual(1)
        for _ in range(100):
            await world.call(6.0, 6.0)
        return world.hedges.made

    assert in_virtual_time(run, share=0.1) <= 4 + 10


def test_without_a_share_there_is_none() -> None:
    """The call is as good as made alone."""

    async def run(world: World) -> Any:
        for _ in range(30):
            await world.usual(1)
        return await world.call(60.0), world.hedges.made

    assert in_virtual_time(run, share=0.0) == ("first", 0)


def test_who_goes_away_leaves_nothing_behind() -> None:
    """Both calls have ended when the caller has."""

    async def run(world: World) -> Any:
        for _ in range(10):
            await world.usual(1)
        calling = asyncio.create_task(world.call(60.0, 60.0))
        await asyncio.sleep(5)
        calling.cancel()
        await asyncio.gather(calling, return_exceptions=True)
        return calling.cancelled(), sorted(world.ended), asyncio.all_tasks() - {asyncio.current_task()}

    assert in_virtual_time(run) == (True, ["first", "second"], set())


def test_an_error_is_the_callers() -> None:
    """As if the call had been made alone."""

    async def broken() -> str:
        raise KeyError("a bug")

    async def run(world: World) -> Any:
        with pytest.raises(KeyError, match="a bug"):
            await world.hedges.first_of(broken(), broken, bool)
        return world.hedges.made

    assert in_virtual_time(run) == 0
