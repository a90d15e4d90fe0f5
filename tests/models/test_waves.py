"""Waves: all at once, and none left behind."""

import asyncio

import pytest

from memforest_ray.models.waves import wave


async def test_results_in_order() -> None:
    """Whoever ends first."""
    gates = [asyncio.Event() for _ in range(3)]

    async def call(number: int) -> int:
        if number + 1 < len(gates):
            await gates[number + 1].wait()
        gates[number].set()
        return number

    assert await wave(call(number) for number in range(3)) == [0, 1, 2]
    assert await wave(call(number) for number in range(0)) == []


async def test_the_first_error_ends_the_others() -> None:
    """And is raised as it is, with its cause."""
    ended = []

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("wait")

    async def fail() -> None:
        await asyncio.sleep(0)
        try:
            raise KeyError("why")
        except KeyError as error:
            raise ValueError("no") from error

    with pytest.raises(ValueError, match="no") as caught:
        await wave([wait(), fail(), wait()])
    assert (ended, isinstance(caught.value.__cause__, KeyError)) == (["wait", "wait"], True)


async def test_who_is_cancelled_cancels_all() -> None:
    """Nobody waits for them any more."""
    ended = []

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("wait")

    waiting = asyncio.create_task(wave([wait(), wait()]))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert ended == ["wait", "wait"]
