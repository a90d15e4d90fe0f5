"""Waiting for what other tasks do, by turns of the event loop and not by time."""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import repeat
from typing import Final, TypeVar

__all__ = ["PATIENCE_S", "until"]

T = TypeVar("T")

PATIENCE_S: Final = 20.0
"""After this a test fails instead of hanging."""


async def until(look: Callable[[], Awaitable[T]], holds: Callable[[T], bool]) -> T:
    """The first thing seen for which something holds. Raises TimeoutError."""
    async with asyncio.timeout(PATIENCE_S):
        for _ in repeat(None):
            if holds(seen := await look()):
                break
            await asyncio.sleep(0)
    return seen
