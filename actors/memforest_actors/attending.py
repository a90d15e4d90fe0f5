"""Waiting for an answer with an eye on who owes it, at no cost where it comes soon: no task, one timer."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

__all__ = ["attended"]

T = TypeVar("T")


async def attended(work: Awaitable[T], after_s: float, doubt: Callable[[], Awaitable[Exception]]) -> T:
    """What `work` comes to. If that takes longer than `after_s`, `doubt` looks after it meanwhile.

    When `doubt` comes to an error, `work` is given up and that error raised.
    """
    loop = asyncio.get_running_loop()
    doubts: list[asyncio.Task[None]] = []
    found: list[Exception] = []

    async def look() -> None:
        found.append(await doubt())
        limit.reschedule(loop.time())

    try:
        async with asyncio.timeout(None) as limit:
            alarm = loop.call_later(after_s, lambda: doubts.append(loop.create_task(look())))
            try:
                return await work
            finally:
                alarm.cancel()
                for task in doubts:
                    task.cancel()
    except TimeoutError:
        if found:
            raise found[0] from None
        raise
