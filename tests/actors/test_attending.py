"""Waiting with an eye on who owes the answer."""

import asyncio

import pytest

from memforest_actors.attending import attended


class _Lost(Exception):
    """What doubt comes to."""


async def _none() -> Exception:
    raise AssertionError("nobody doubts what comes soon")


async def _never() -> Exception:
    await asyncio.get_running_loop().create_future()
    raise AssertionError("it is cancelled")


async def _answer(after: int = 0) -> str:
    for _ in range(after):
        await asyncio.sleep(0)
    return "answer"


async def test_what_comes_soon() -> None:
    """No task is made for it."""
    before = asyncio.all_tasks()
    assert await attended(_answer(), 60, _none) == "answer"
    assert asyncio.all_tasks() == before


async def test_doubt_ends_the_wait() -> None:
    """What is waited for is cancelled, and what doubt has found is raised."""
    waiting = asyncio.get_running_loop().create_future()

    async def doubt() -> Exception:
        return _Lost("gone")

    with pytest.raises(_Lost, match="gone"):
        await attended(waiting, 0, doubt)
    assert waiting.cancelled()


async def test_doubt_ends_with_the_answer() -> None:
    """Nothing is left under way, however late the answer comes."""
    before = asyncio.all_tasks()
    begun = asyncio.Event()

    async def doubt() -> Exception:
        begun.set()
        return await _never()

    async def answer() -> str:
        await begun.wait()
        return "late"

    assert await attended(answer(), 0, doubt) == "late"
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == before


async def test_an_error_of_the_work_is_its_own() -> None:
    """Also one that looks like a limit of ours."""

    async def fail(error: Exception) -> None:
        raise error

    for error in (TimeoutError("its own"), KeyError("its own")):
        with pytest.raises(type(error), match="its own"):
            await attended(fail(error), 60, _none)


async def test_a_limit_around_it_holds() -> None:
    """The deadline of who waits is not taken for doubt."""
    waiting = asyncio.get_running_loop().create_future()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await attended(waiting, 60, _none)
    assert waiting.cancelled()


async def test_who_waits_may_be_cancelled() -> None:
    """With all that it has begun."""
    before = asyncio.all_tasks()
    begun = asyncio.Event()

    async def doubt() -> Exception:
        begun.set()
        return await _never()

    waiting = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(attended(waiting, 0, doubt))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == before
    assert waiting.cancelled()
