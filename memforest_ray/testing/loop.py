"""An event loop in which chance is a seed: whole processes side by side, stopped and killed at any await.

Nothing runs at the same time as anything else, threads included, and time passes only when nobody can run. Whatever
waits for the store, or for a thread, waits at a turnstile; whenever nothing else can run, the seed says who goes on,
who stands still for a while, who dies, or that time passes.
"""

import asyncio
import random
import selectors
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass
from typing import Any, TypeVar

from memforest_ray.testing.clock import ManualClock

__all__ = ["Rates", "SeededLoop"]

T = TypeVar("T")

_PROCESS: ContextVar[str] = ContextVar("process", default="")
_NAP_S = 150
"""A process that is stalled goes on sooner rather than that others wait for so long."""
_TICK_S = 1e-6
"""Least step of time: below it a float that counts days may not move."""


@dataclass(frozen=True, slots=True)
class Rates:
    """How often what happens, of all turns."""

    crash: float = 0.0
    """A process dies: none of its tasks goes on, and what it asks of the store does not happen."""
    stall: float = 0.0
    """A process stands still, for up to `stall_turns` of others."""
    stall_turns: int = 200
    pass_time: float = 0.0
    """One of `steps_s` passes, beside the waiting for timers."""
    steps_s: Sequence[float] = (1.0,)
    thread: float = 0.3
    """Of all calls of a thread: it takes as long as others need for some turns; else it is done at once."""


class _Selector(selectors.SelectSelector):
    """Has no sockets to look at: asked to wait, it has somebody go on."""

    def __init__(self, idle: Callable[[float | None], None]) -> None:
        super().__init__()
        self._idle = idle

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None or timeout > 0:
            self._idle(timeout)
        return []


class SeededLoop(asyncio.SelectorEventLoop):
    """`spawn` processes on it, have their stores await `turn`. Its time is that of `clock`."""

    def __init__(self, seed: int, clock: ManualClock, rates: Rates | None = None) -> None:
        self._clock = clock
        self._rng = random.Random(seed)
        self._rates = rates or Rates()
        self._waiting: list[tuple[str, asyncio.Future[None]]] = []
        self._stalled: dict[str, int] = {}
        self._tasks: defaultdict[str, list[asyncio.Task[Any]]] = defaultdict(list)
        self._dead: set[str] = set()
        self.turns = 0
        self.happened: Counter[str] = Counter()
        """Crashes, stalls and steps of time."""
        super().__init__(_Selector(self._go_on))
        self.set_task_factory(self._new_task)  # type: ignore[arg-type]  # typeshed wants the name `coro`, positional here

    # ---- what an event loop is asked ---------------------------------------------------------------------

    def time(self) -> float:
        return self._clock.elapsed()

    def run_in_executor(self, executor: Any, func: Callable[..., T], *args: Any) -> "asyncio.Future[T]":  # type: ignore[override]  # typeshed knows it as a coroutine too
        """In this thread: at once, or when its turn has come."""
        done: asyncio.Future[T] = self.create_future()
        process = _PROCESS.get()
        if process in self._dead:
            done.cancel()
        elif process and self._rng.random() < self._rates.thread:
            self._ticket(process).add_done_callback(lambda _: _settle(done, func, args))
        else:
            _settle(done, func, args)
        return done

    def _new_task(
        self,
        loop: asyncio.AbstractEventLoop,
        coroutine: Coroutine[Any, Any, T],
        *,
        context: Context | None = None,
        **options: Any,
    ) -> "asyncio.Task[T]":
        task = asyncio.Task(coroutine, loop=loop, context=context, **options)
        process = context.get(_PROCESS, "") if context else _PROCESS.get()
        if process in self._dead:
            task.cancel()
        elif process:
            self._tasks[process].append(task)
        return task

    # ---- processes ---------------------------------------------------------------------------------------

    def spawn(self, process: str, coroutine: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
        """Begin a process; each name is used once. All tasks that come of it die with it."""
        context = copy_context()
        context.run(_PROCESS.set, process)
        return self.create_task(coroutine, context=context)

    async def turn(self) -> None:
        """Wait for the process's turn. Of one that is dead it never comes."""
        process = _PROCESS.get()
        if process in self._dead:
            raise asyncio.CancelledError
        if process:
            await self._ticket(process)

    def turn_of(self, _: str) -> Callable[[], Awaitable[None]]:
        """What the store of a process awaits; here any process's is the same."""
        return self.turn

    def kill(self, process: str) -> None:
        """No task of it goes on: each is cancelled, and whatever it does at its end reaches nobody."""
        self._dead.add(process)
        self._waiting = [entry for entry in self._waiting if entry[0] != process]
        self._bury(self._tasks.pop(process, []))

    def stand_still(self, turns: int) -> None:
        """From here on the process that is running stands still, for so many turns of others."""
        if process := _PROCESS.get():
            self.happened["stall"] += 1
            self._stalled[process] = self.turns + turns

    def _bury(self, tasks: Sequence["asyncio.Task[Any]"]) -> None:
        """Cancel, and again: what puts things in order when it is cancelled may wait for somebody who is dead."""
        left = [task for task in tasks if not task.done()]
        for task in left:
            task.cancel()
        if left:
            self.call_soon(self._bury, left)

    def _ticket(self, process: str) -> "asyncio.Future[None]":
        ticket = self.create_future()
        self._waiting.append((process, ticket))
        return ticket

    # ---- chance ------------------------------------------------------------------------------------------

    def _go_on(self, timeout: float | None) -> None:
        """Nothing can run: somebody's turn comes, or time passes."""
        self._waiting = [entry for entry in self._waiting if not entry[1].done()]
        if not self._waiting or (timeout is not None and timeout < _NAP_S and not self._awake()):
            assert timeout is not None, "everybody waits for something that will never happen"
            self.turns += 1  # else those who are stalled never wake
            self._clock.advance(max(timeout, _TICK_S))
            return
        self.turns += 1
        chance = self._rng.random()
        for name, act in (("crash", self._crash), ("stall", self._stall), ("pass_time", self._pass_time)):
            rate = getattr(self._rates, name)
            if chance < rate:
                self.happened[name] += 1
                act()
                return
            chance -= rate
        _, ticket = self._next()
        ticket.set_result(None)

    def _next(self) -> tuple[str, "asyncio.Future[None]"]:
        """Anyone who is not stalled; if all are, the one who wakes first."""
        return self._rng.choice(self._awake() or [min(self._waiting, key=lambda entry: self._stalled[entry[0]])])

    def _awake(self) -> list[tuple[str, "asyncio.Future[None]"]]:
        return [entry for entry in self._waiting if self._stalled.get(entry[0], 0) <= self.turns]

    def _crash(self) -> None:
        self.kill(self._next()[0])

    def _stall(self) -> None:
        self._stalled[self._next()[0]] = self.turns + self._rng.randrange(self._rates.stall_turns)

    def _pass_time(self) -> None:
        self._clock.advance(self._rng.choice(self._rates.steps_s))


def _settle(done: "asyncio.Future[T]", func: Callable[..., T], args: Sequence[Any]) -> None:
    """Call, and tell what came of it; a caller that has gone away is told nothing."""
    try:
        result = func(*args)
    except Exception as error:  # noqa: BLE001 - as an executor does: it is the caller's
        if not done.done():
            done.set_exception(error)
    else:
        if not done.done():
            done.set_result(result)
