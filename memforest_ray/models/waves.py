"""Waves: calls that are made all at once."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

__all__ = ["wave"]

T = TypeVar("T")


async def wave(calls: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """What they come to, in order. The first error ends the others, and is raised when they have ended.

    `asyncio.gather` would let them go on, at somebody's cost and for nobody.
    """
    failed: BaseException | None = None
    tasks: list[asyncio.Task[T]] = []
    try:
        async with asyncio.TaskGroup() as group:
            tasks.extend(map(group.create_task, calls))
    except BaseExceptionGroup as several:
        failed = several.exceptions[0]
    if failed is not None:
        raise failed
    return [task.result() for task in tasks]
