"""An answer on its way: brought by a thread of Ray's own, waited for by a thread that blocks, or on an event loop.

Ray's futures do both by way of a condition and a second future, which costs a call of 1.3 ms another tenth.
"""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

__all__ = ["Arrival"]


class Arrival:
    """One answer of an actor; it may be waited for here for a while, and then on a loop."""

    def __init__(self, sent: "ray.ObjectRef[Any]") -> None:
        self._sent = sent
        """Held, or Ray would let go of the answer."""
        self._came = threading.Lock()
        """Free once the answer is there."""
        self._came.acquire()
        self._found: tuple[Any] | None = None
        self._tell: Callable[[], None] | None = None
        sent._on_completed(self._arrive)

    def _arrive(self, found: Any) -> None:
        """In Ray's thread. What `awaited` does is the other way round, so one of them sees the other's half."""
        self._found = (found,)
        self._came.release()
        if self._tell is not None:
            self._tell()

    def within(self, seconds: float) -> bool:
        """Block this thread until the answer is there; whether it is."""
        return self._found is not None or self._came.acquire(timeout=seconds)

    async def awaited(self) -> Any:
        """The answer, once it is there. Raises as `answer`."""
        loop = asyncio.get_running_loop()
        waiting = loop.create_future()

        def tell() -> None:
            with suppress(RuntimeError):  # the loop was closed meanwhile: nobody waits
                loop.call_soon_threadsafe(_settle, waiting)

        self._tell = tell
        if self._found is None:
            await waiting
        return self.answer()

    def answer(self) -> Any:
        """What arrived. Raises what the actor raised, or what Ray says of it."""
        assert self._found is not None
        found = self._found[0]
        if isinstance(found, RayTaskError):
            raise found.as_instanceof_cause()  # type: ignore[no-untyped-call]  # Ray's own signature
        if isinstance(found, RayError):
            raise found
        return found


def _settle(waiting: "asyncio.Future[None]") -> None:
    if not waiting.done():
        waiting.set_result(None)
