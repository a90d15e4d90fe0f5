"""Hedging: a call that takes far longer than others of its kind is made a second time, and the first answer counts.

A server that says nothing, a connection that hangs and one process among many that is stuck look alike from here: no
answer. What is usual is known, so nobody has to wait for the time limit of a call (after Dean and Barroso, "The tail at
scale", 2013). The second calls are few: a share of all, so that a server that is slow is not asked twice as much.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from statistics import median
from typing import Any, Final, TypeVar

from memforest_ray.ambient import Clock

__all__ = ["Hedges"]

T = TypeVar("T")

_KNOWN_MIN: Final = 8
"""Answers that have to be known before any is late."""
_KNOWN_MAX: Final = 64
_USUAL: Final = 0.9
"""Share of answers that come within what is usual."""
_LATE: Final = 2.0
"""Times that: an answer that is not there by then is late."""
_LATE_S_MIN: Final = 1.0
"""Nothing is late before."""
_SAVED_MAX: Final = 8.0
"""Second calls that a quiet time saves up."""
_LOOK_S: Final = 5.0
"""How often it is looked again where nothing is known yet, or no second call is left."""


class Hedges:
    """Of calls of one kind."""

    def __init__(self, clock: Clock, share: float, *, late_s_min: float = _LATE_S_MIN) -> None:
        """`share`: second calls, of all calls; 0: none."""
        self._clock = clock
        self._share = share
        self._late_s_min = late_s_min
        self._saved = 1.0 if share else 0.0
        self._in_flight = 0
        self._known: deque[tuple[float, int]] = deque(maxlen=_KNOWN_MAX)
        """Seconds of answers, and how many calls were in flight with each at most."""
        self.made = 0
        """Second calls so far."""

    async def first_of(
        self, call: Coroutine[Any, Any, T], again: Callable[[], Coroutine[Any, Any, T]], good: Callable[[T], bool]
    ) -> T:
        """What `call` comes to, or `again` when that is there before; one that is not `good` only without any other.

        Whatever is not needed any more is cancelled, and has ended when this returns.
        """
        began, beside = self._clock.elapsed(), self._begin()
        running = {asyncio.create_task(call)}
        second = False
        try:
            while True:
                wait_s = None if second or not self._share else self._look_in(began)
                ended, running = await asyncio.wait(running, timeout=wait_s, return_when=asyncio.FIRST_COMPLETED)
                # Of two that end together the good one counts.
                for outcome in sorted((task.result() for task in ended), key=good, reverse=True)[:1]:
                    if good(outcome) and not second:
                        self._known.append((self._clock.elapsed() - began, max(beside, self._in_flight)))
                    if good(outcome) or not running:
                        return outcome
                if not ended and self._grants(began):
                    second = True
                    running.add(asyncio.create_task(again()))
        finally:
            self._in_flight -= 1
            await _end(running)

    def late_s(self) -> float | None:
        """After how many seconds an answer is late now; None: nobody knows.

        A server needs at most as many times longer as it has more to do: while many calls run where there were few,
        none is late for that.
        """
        if len(self._known) < _KNOWN_MIN:
            return None
        usual_s = sorted(seconds for seconds, _ in self._known)[int(_USUAL * len(self._known))]
        load = self._in_flight / median(beside for _, beside in self._known)
        return max(self._late_s_min, _LATE * usual_s * max(1.0, load))

    def _begin(self) -> int:
        self._in_flight += 1
        self._saved = min(_SAVED_MAX, self._saved + self._share)
        return self._in_flight

    def _look_in(self, began: float) -> float:
        """Seconds until the call has to be looked at again."""
        late_s = self.late_s()
        left_s = _LOOK_S if late_s is None else late_s - (self._clock.elapsed() - began)
        return left_s if left_s > 0 else _LOOK_S

    def _grants(self, began: float) -> bool:
        """Whether a call is late, and there is a second one left."""
        late_s = self.late_s()
        if late_s is None or self._clock.elapsed() - began < late_s or self._saved < 1:
            return False
        self._saved -= 1
        self.made += 1
        return True


async def _end(tasks: "set[asyncio.Task[T]]") -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.gather(*tasks, return_exceptions=True)
