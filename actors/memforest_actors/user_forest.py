"""One user's forest as an actor: found by name, activated by its first call, gone again when it is idle.

One event loop, no concurrency groups: writes queue in the driver's lane, reads work on immutable versions. Nothing
here is needed for correctness; a second actor of the same user is fenced by the store.
"""

import asyncio
import gc
import logging
import os
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from memforest_actors import refs
from memforest_actors.metrics import ForestMetrics
from memforest_actors.options import DIRECTORY, ForestConfig
from memforest_actors.pooled import open_models
from memforest_actors.reply import Answering, Reply, load, reply_of
from memforest_ray.ambient import Clock, Random, SystemClock, SystemRandom
from memforest_ray.errors import Fenced, MemForestError, Passivating
from memforest_ray.ids import OpId, user_hash
from memforest_ray.logs import bound, configure

__all__ = ["Driver", "Status", "UserForestActor"]

log = logging.getLogger("memforest")

COUNTED_AFTER_S = 0.005
"""When a call is told to operators: its reply has left by then."""


class Driver(Protocol):
    """What drives a forest: `memforest_ray.local.ForestDriver`."""

    async def call(self, verb: str, arguments: dict[str, Any], *, op_id: OpId | None, seen: int) -> Any:
        """Do a verb: a write where there is an `op_id`. Raises errors of `memforest_ray.errors`."""

    async def close(self) -> None:
        """Answer what was begun, leave a checkpoint. Raises StoreUnavailable."""

    @property
    def waiting(self) -> tuple[int, int]:
        """Writes that are not answered yet, and summaries that are to follow."""


@dataclass(frozen=True, slots=True)
class Status:
    """An actor about itself."""

    pid: int
    node_id: str
    idle_s: float
    calls: int
    """Under way."""


class UserForestActor(Answering):
    """A plain class; Ray is told about it in `refs`. The constructor cannot fail: that would look like a crash."""

    def __init__(self, config: ForestConfig) -> None:
        self._config = config
        self._user_hash = user_hash(config.user)[:12]
        """What logs call the user."""
        self._clock: Clock = SystemClock()
        self._random: Random = SystemRandom()
        self._activation: asyncio.Task[Driver] | None = None
        self._watch: asyncio.Task[None] | None = None
        self._calls = 0
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._leaving: asyncio.Task[None] | None = None
        self._farewell: asyncio.Task[None] | None = None
        self._used = self._clock.elapsed()
        self._driver: Driver | None = None
        self._answered = False
        """A first call was answered: only then its forest is open."""
        self._metrics = ForestMetrics()
        configure(config.settings.log_format, config.settings.log_level)

    async def ping(self) -> int:
        """That the event loop turns, and in which process."""
        return os.getpid()

    async def status(self) -> Reply:
        """Where the actor is and what it does."""
        return "ok", Status(os.getpid(), refs.whereabouts().node_id, self._idle_s(), self._calls)

    async def call(self, verb: str, arguments: dict[str, Any], op_id: OpId | None, seen: int) -> Reply:
        """A verb of the forest. `Passivating` says that the call was not begun."""
        if self._leaving is not None:
            return "error", Passivating("this memory's actor is closing; the call was not begun; make it again")
        self._used = began = self._clock.elapsed()
        self._calls += 1
        self._quiet.clear()
        try:
            with bound(user=self._user_hash, verb=verb, **({} if op_id is None else {"op_id": op_id})):
                reply = await reply_of(self._call(verb, arguments, op_id, seen))
                self._tell(reply, began)
        finally:
            self._calls -= 1
            self._used = self._clock.elapsed()
            if not self._calls:
                self._quiet.set()
        # Operators can wait, the caller should not: its reply is sent by another thread, which would have to wait.
        asyncio.get_running_loop().call_later(COUNTED_AFTER_S, self._count, verb, self._used - began, reply)
        if isinstance(reply[1], Fenced):
            self._begin_to_leave("fenced")
            self._farewell = asyncio.create_task(self._ask_to_leave("fenced"))
        return reply

    async def tell(self, verb: str, arguments: dict[str, Any], seen: int) -> AsyncIterator[str | Reply]:
        """`call` of a verb that reads and whose text can be shown while it comes: its pieces, and the reply last."""
        pieces: asyncio.Queue[str | None] = asyncio.Queue()
        told = {**arguments, "on_text": pieces.put_nowait}
        reply = asyncio.create_task(self.call(verb, told, None, seen))
        reply.add_done_callback(lambda _: pieces.put_nowait(None))
        while (piece := await pieces.get()) is not None:
            yield piece
        yield await reply

    async def _call(self, verb: str, arguments: dict[str, Any], op_id: OpId | None, seen: int) -> Any:
        driver = self._driver or await self._activated()
        return await driver.call(verb, arguments, op_id=op_id, seen=seen)

    async def passivate(self, reason: str = "asked") -> None:
        """Refuse new calls, finish those under way, checkpoint, end the process. The caller sees it die."""
        await self._begin_to_leave(reason)
        refs.leave()

    def _begin_to_leave(self, reason: str) -> "asyncio.Task[None]":
        if self._leaving is None:
            self._leaving = asyncio.create_task(self._drain(reason))
        return self._leaving

    async def _drain(self, reason: str) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._config.patience.drain_s):
                await self._quiet.wait()
        if self._watch is not None:
            self._watch.cancel()
        try:
            if self._activation is not None:
                await (await self._activation).close()
        except MemForestError as error:
            # Everything acknowledged is in the store's log already; only the next activation takes longer.
            log.warning("forest %s left without a checkpoint: %s", self._user_hash, error)
        await refs.notify(DIRECTORY, "left", self._config.name, reason)

    async def _ask_to_leave(self, reason: str) -> None:
        """Ray ends an actor only from one of its methods, so the actor calls itself."""
        await refs.notify(self._config.name, "passivate", reason)

    def _tell(self, reply: Reply, began: float) -> None:
        if log.isEnabledFor(logging.INFO):
            answer = reply[1]
            told = {"seconds": round(self._clock.elapsed() - began, 4), "version": getattr(answer, "version", None)}
            outcome = answer.kind if isinstance(answer, MemForestError) else "ok"
            log.info("answered: %s", outcome, extra={"fields": told})

    def _count(self, verb: str, seconds: float, reply: Reply) -> None:
        """Have operators see a call that has ended."""
        self._metrics.answered(verb, seconds, reply)
        if self._driver is None:
            return
        if not self._answered:
            self._answered = True
            # A thousand modules, and the forest: no collection has to look through them, in the middle of a question.
            gc.freeze()
            self._metrics.activated(seconds)
        if self._leaving is None:
            self._metrics.waiting(*self._driver.waiting)

    async def _activated(self) -> Driver:
        """The driver; the first call opens it, calls meanwhile wait for the same opening, a failed one is retried."""
        if self._watch is None:
            self._watch = asyncio.create_task(self._look_after())
        if self._activation is None or (self._activation.done() and self._activation.exception() is not None):
            self._activation = asyncio.create_task(self._activate())
        return await asyncio.shield(self._activation)

    async def _activate(self) -> Driver:
        config = self._config
        models = await open_models(config.components, config.settings, config.name, self._random)
        driver: Driver = load(config.components.driver)(config.user, config.settings, models)
        self._driver = driver
        return driver

    def _idle_s(self) -> float:
        return 0.0 if self._calls else self._clock.elapsed() - self._used

    async def _look_after(self) -> None:
        """Report to the directory at every beat; leave when idle for long enough."""
        idle_s_max = self._config.settings.idle_s * self._random.uniform(0.8, 1.2)  # not all at once
        while True:
            await refs.notify(
                DIRECTORY, "heard", self._config.name, refs.whereabouts().node_id, self._idle_s(), self._calls > 0
            )
            rest_s = idle_s_max - self._idle_s()
            if rest_s <= 0:
                await self._ask_to_leave("idle")
            await asyncio.sleep(min(max(rest_s, 0.01), self._config.patience.beat_s))
