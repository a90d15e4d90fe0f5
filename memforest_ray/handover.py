"""A coroutine that begins in the thread of whoever waits for it, and goes on on an event loop if that takes long.

Blocking code that asks an async library has its question carried to a loop's thread, and the answer back. For a call
that is soon answered both changes of thread cost more than what is done there, so such a call is begun where it is
made: it waits there by blocking, and asks for a loop (`to_the_loop`) before it awaits anything.
"""

import asyncio
from collections.abc import Coroutine, Generator
from types import coroutine
from typing import Any, TypeVar

__all__ = ["begun_here", "on_a_loop", "rest_of", "to_the_loop"]

T = TypeVar("T")


def on_a_loop() -> bool:
    """Whether an event loop runs in this thread: then nothing may be waited for here but by `await`."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def to_the_loop() -> None:
    """Go on on an event loop: the one that runs here, else the one that whoever began this here has it moved to."""
    if not on_a_loop():
        await _later()


@coroutine
def _later() -> Generator[None]:
    """Stop here. Whoever goes on with it (a task on a loop does) resumes behind this."""
    yield


def begun_here(work: Coroutine[Any, Any, T]) -> tuple[T] | None:
    """What `work` came to in this thread, in which no loop runs; None if it asked for one: await `rest_of(work)` there.

    Raises what `work` raises.
    """
    try:
        work.send(None)
    except StopIteration as done:
        found: T = done.value
        return (found,)
    return None


async def rest_of(work: Coroutine[Any, Any, T]) -> T:
    """What a coroutine that has begun comes to. It cannot be awaited any more, but a task goes on with it."""
    return await asyncio.ensure_future(work)
