"""A store that misbehaves as real ones do, by script or by seed, and a turnstile for seeded interleavings."""

import asyncio
import builtins
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, TypeVar

from memforest_ray.errors import StoreUnavailable
from memforest_ray.storage.store import AlreadyExists, ObjectStore, Precondition, Stored

__all__ = ["Call", "Crashed", "Fault", "FaultyStore", "Plan", "Turnstile", "contents", "scripted", "seeded"]

T = TypeVar("T")


class Fault(Enum):
    """What can go wrong with one call."""

    FAIL_BEFORE = auto()
    """Nothing happens; the caller is told that the store does not answer."""
    FAIL_AFTER = auto()
    """It happens, but the answer is lost: the caller is told that the store does not answer."""
    LATE = auto()
    """The caller is told that the store does not answer; it happens later, at `FaultyStore.land`."""
    DELAY = auto()
    """Everybody else comes first."""
    DUPLICATE = auto()
    """The first answer is lost inside the client, which repeats the call and returns the second answer."""
    ECHO = auto()
    """It happens and is answered; a copy of the request, lost on the way, happens once more at `FaultyStore.land`."""
    CONFLICT = auto()
    """A write is refused (409) though nothing stands in its way; a read fails."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a store, counted from 0."""

    number: int
    verb: str
    key: str


Plan = Callable[[Call], Fault | None]
"""Decides what happens to a call."""


class Crashed(Exception):
    """The process died in this call, and every later one."""


def scripted(faults: Mapping[int, Fault]) -> Plan:
    """Faults by number of call."""
    return lambda call: faults.get(call.number)


def seeded(seed: int, rate: float) -> Plan:
    """A fault of any kind in `rate` of all calls."""
    rng = random.Random(seed)
    kinds = list(Fault)
    return lambda call: rng.choice(kinds) if rng.random() < rate else None


async def contents(store: ObjectStore) -> dict[str, bytes]:
    """Every object of `store`."""
    return {key: (await store.get(key)).body async for key in store.list("")}


class FaultyStore:
    """`inner` with faults. `calls` records what was asked."""

    def __init__(
        self,
        inner: ObjectStore,
        plan: Plan = lambda call: None,
        *,
        crash_at: int | None = None,
        crash_after: bool = False,
        turn: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """The process dies in call `crash_at`: before it happens or, with `crash_after`, just after.

        `turn` is awaited before and after each call: a `Turnstile`'s, to interleave processes.
        """
        self.url = inner.url
        self.calls: builtins.list[Call] = []
        self.crashed = False
        self._inner = inner
        self._plan = plan
        self._crash_at = crash_at
        self._crash_after = crash_after
        self._turn = turn
        self._late: builtins.list[Callable[[], Awaitable[object]]] = []

    async def get(self, key: str) -> Stored:
        return await self._call("get", key, lambda: self._inner.get(key))

    async def create(self, key: str, body: bytes) -> str:
        return await self._call("create", key, lambda: self._inner.create(key, body))

    async def swap(self, key: str, body: bytes, tag: str) -> str:
        return await self._call("swap", key, lambda: self._inner.swap(key, body, tag))

    async def delete(self, key: str) -> None:
        await self._call("delete", key, lambda: self._inner.delete(key))

    async def overwrite(self, key: str, body: bytes) -> None:
        await self._call("overwrite", key, lambda: self._inner.overwrite(key, body))

    async def list(self, prefix: str) -> AsyncIterator[str]:
        async def listed() -> builtins.list[str]:
            return [key async for key in self._inner.list(prefix)]

        for key in await self._call("list", prefix, listed):
            yield key

    async def land(self) -> None:
        """Let the late calls happen now; nobody hears their answers."""
        late, self._late = self._late, []
        for act in late:
            try:
                await act()
            except (AlreadyExists, Precondition):
                continue

    async def _call(self, verb: str, key: str, act: Callable[[], Awaitable[T]]) -> T:
        call = Call(len(self.calls), verb, key)
        self.calls.append(call)
        dies = self.crashed or call.number == self._crash_at
        self.crashed = dies
        if dies and not (self._crash_after and call.number == self._crash_at):
            raise Crashed(call)
        await self._wait()
        answer = await self._suffer(self._plan(call), call, act)
        if dies:
            raise Crashed(call)
        await self._wait()
        return answer

    async def _wait(self) -> None:
        if self._turn is not None:
            await self._turn()

    def _keep(self, call: Call, act: Callable[[], Awaitable[object]]) -> None:
        if call.verb not in {"get", "list"}:
            self._late.append(act)

    async def _suffer(self, fault: Fault | None, call: Call, act: Callable[[], Awaitable[T]]) -> T:
        match fault:
            case Fault.FAIL_BEFORE:
                raise _no_answer(call)
            case Fault.FAIL_AFTER:
                await act()
                raise _no_answer(call)
            case Fault.LATE:
                self._keep(call, act)
                raise _no_answer(call)
            case Fault.ECHO:
                self._keep(call, act)
            case Fault.DELAY:
                await asyncio.sleep(0)
                await self._wait()
            case Fault.DUPLICATE:
                await act()
            case Fault.CONFLICT:
                raise _conflict(call)
        return await act()


def _no_answer(call: Call) -> StoreUnavailable:
    return StoreUnavailable(f"The store did not answer call {call.number}: {call.verb} {call.key}.", key=call.key)


def _conflict(call: Call) -> Exception:
    conflicts = {"create": AlreadyExists(call.key), "swap": Precondition(call.key)}
    return conflicts.get(call.verb, _no_answer(call))


class Turnstile:
    """Lets the store calls of several processes through one at a time, in an order that the seed decides."""

    _SPINS_BUSY = 100
    _SPINS_MAX = 10_000

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._waiting: list[tuple[str, asyncio.Future[None]]] = []
        self._stalled: dict[str, int] = {}
        self._turns = 0

    def turn_of(self, process: str) -> Callable[[], Awaitable[None]]:
        """What the store of `process` awaits."""

        async def turn() -> None:
            ticket = asyncio.get_running_loop().create_future()
            self._waiting.append((process, ticket))
            await ticket

        return turn

    async def run(
        self,
        processes: Mapping[str, Coroutine[Any, Any, T]],
        *,
        crash_rate: float = 0.0,
        stall_rate: float = 0.0,
        stall_turns: int = 200,
    ) -> dict[str, T | BaseException]:
        """Run all to their end; what each returned or raised.

        At `crash_rate` a turn is a process's last; at `stall_rate` it waits for up to `stall_turns` of others.
        """
        tasks = {name: asyncio.ensure_future(process) for name, process in processes.items()}
        while await self._blocked(tasks):
            name, ticket = self._next()
            chance = self._rng.uniform(0, 1)
            if chance < crash_rate:
                tasks[name].cancel()
            elif chance < crash_rate + stall_rate:
                self._stalled[name] = self._turns + self._rng.randrange(stall_turns)
            else:
                self._waiting.remove((name, ticket))
                ticket.set_result(None)
        done = await asyncio.gather(*tasks.values(), return_exceptions=True)
        return dict(zip(tasks, done, strict=True))

    def _next(self) -> tuple[str, asyncio.Future[None]]:
        """Anyone who is not stalled; if all are, the one who wakes first."""
        self._turns += 1
        ready = [entry for entry in self._waiting if self._stalled.get(entry[0], 0) <= self._turns]
        return self._rng.choice(ready or [min(self._waiting, key=lambda entry: self._stalled[entry[0]])])

    async def _blocked(self, tasks: Mapping[str, asyncio.Future[T]]) -> bool:
        """Wait until every process that still runs stands at the turnstile; False when none runs."""
        for spin in range(self._SPINS_MAX):
            # A store behind a socket answers when the loop is idle, not when it is asked again at once.
            await asyncio.sleep(0 if spin < self._SPINS_BUSY else 0.001)
            self._waiting = [(name, ticket) for name, ticket in self._waiting if not ticket.done()]
            running = {name for name, task in tasks.items() if not task.done()}
            if running <= {name for name, _ in self._waiting}:
                return bool(running)
        raise AssertionError(f"{running} wait for something that is not the store")
