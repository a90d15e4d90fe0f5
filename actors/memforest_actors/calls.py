"""Calls to forests as virtual actors: found or started by name, asked again under the same op id until the deadline."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from memforest_actors import refs
from memforest_actors.directory import open_directory
from memforest_actors.options import (
    DIRECTORY,
    FOREST_PREFIX,
    PATIENCE,
    Components,
    ForestConfig,
    Patience,
    forest_name,
)
from memforest_actors.refs import ActorRef, Gone
from memforest_ray.ambient import Clock, Random
from memforest_ray.config import Settings
from memforest_ray.errors import ClusterUnavailable, Fenced, OutcomeUnknown, Passivating
from memforest_ray.handover import to_the_loop
from memforest_ray.ids import OpId, UserId

__all__ = ["Forests", "retire_all", "retire_node"]

CACHED_MAX = 10_000
"""References kept, about 2 kB each; beyond it the oldest is looked up again when needed."""
STATUS_AT_ONCE = 64
"""Forests asked at a time where they are."""


@dataclass(slots=True)
class _Call:
    """One call, and what became of its tries so far."""

    user: UserId
    verb: str
    arguments: dict[str, Any]
    op_id: OpId | None
    seen: int
    on_text: Callable[[str], None] | None = None
    """Who listens to an answer while it is written."""
    told: bool = False
    """Somebody heard the beginning of an answer: another try is answered whole, so that nothing is told twice."""
    begun: bool = False
    """Some try may have been done."""
    last: str = "no answer"

    def tell(self, piece: str) -> None:
        """Pass on a piece of the answer."""
        self.told = True
        if self.on_text is not None:
            self.on_text(piece)

    def gave_up(self, deadline_s: float) -> Exception:
        """What to raise at the deadline."""
        tried = f"{self.verb} had no answer within {deadline_s:g} s ({self.last})"
        if self.op_id is not None and self.begun:
            return OutcomeUnknown(
                f"{tried}; it may or may not have been done; "
                f"make the same call again with op_id={self.op_id!r}: it is done only once",
                op_id=self.op_id,
            )
        return ClusterUnavailable(f"{tried}; nothing was changed; try again")


class Forests:
    """Every forest of one store, as seen by one caller. `settings.store` must be canonical."""

    def __init__(
        self, settings: Settings, components: Components, patience: Patience, clock: Clock, random: Random
    ) -> None:
        self._settings = settings
        self._components = components
        self._patience = patience
        self._clock = clock
        self._random = random
        self._known: dict[UserId, ActorRef] = {}
        self.closed = False
        """No call is tried again then: without a connection Ray would start a cluster of its own for it."""

    async def call(
        self,
        user: UserId,
        verb: str,
        arguments: dict[str, Any],
        *,
        op_id: OpId | None,
        seen: int,
        deadline_s: float,
    ) -> Any:
        """The verb's result. Raises our errors; at the deadline OutcomeUnknown for a write, else ClusterUnavailable.

        May begin in any thread (`memforest_ray.handover`).
        """
        deadline = self._clock.elapsed() + deadline_s
        plain = {name: value for name, value in arguments.items() if name != "on_text"}
        call = _Call(user, verb, plain, op_id, seen, arguments.get("on_text"))
        wait_s = self._patience.retry_first_s
        while (left_s := deadline - self._clock.elapsed()) > 0 and not self.closed:
            try:
                return await self._try(call, left_s)
            except (Passivating, Fenced, Gone, TimeoutError) as error:
                call.last = "the client was closed" if self.closed else str(error) or "no answer"
                self._known.pop(user, None)
            await to_the_loop()
            left_s = max(0.0, deadline - self._clock.elapsed())
            await asyncio.sleep(min(left_s, self._random.uniform(wait_s / 2, wait_s)))
            wait_s = min(2 * wait_s, self._patience.retry_last_s)
        raise call.gave_up(deadline_s)

    async def start_directory(self) -> None:
        """Start the cluster's directory if there is none. It is a hint: without it everything works too."""
        with suppress(Gone):
            await open_directory(self._settings.residents_max)

    async def _try(self, call: _Call, left_s: float) -> Any:
        ref = self._known.get(call.user) or await self._found(call.user, left_s)
        before, call.begun = call.begun, True
        arguments = call.verb, call.arguments, call.op_id, call.seen
        try:
            if call.on_text is not None and not call.told:
                await to_the_loop()
                return await ref.tell(call.tell, "tell", call.verb, call.arguments, call.seen, timeout_s=left_s)
            return await ref.call("call", *arguments, timeout_s=left_s, patience=self._patience)
        except Passivating:
            call.begun = before
            raise
        except ClusterUnavailable:
            await to_the_loop()
            await refs.notify(DIRECTORY, "begun", ref.name)  # if it could not be started, others can
            raise

    async def _found(self, user: UserId, within_s: float) -> ActorRef:
        """The user's actor, started if there is none. Raises Gone, TimeoutError."""
        await to_the_loop()
        name = forest_name(self._settings, user)
        async with asyncio.timeout(within_s):
            ref = await refs.find(name) or await self._start(name, user)
        if len(self._known) >= CACHED_MAX:
            self._known.pop(next(iter(self._known)))
        self._known[user] = ref
        return ref

    async def _start(self, name: str, user: UserId) -> ActorRef:
        while await refs.notify(DIRECTORY, "admit", name) is False:
            # Not our turn yet; where there is no directory, or it is lost meanwhile, nobody waits.
            if self.closed:
                raise Gone("the client was closed")
        config = ForestConfig(name, user, self._settings, self._components, self._patience)
        return await refs.create("user_forest", name, config)

    async def retire(self, user: UserId, within_s: float) -> None:
        """Have the user's actor leave, if there is one, and wait until it has."""
        self._known.pop(user, None)
        ref = await refs.find(forest_name(self._settings, user))
        if ref is not None:
            await _leave(ref, within_s)


async def retire_all(prefix: str, within_s: float) -> None:
    """Have every actor of that kind leave at once, and wait until they have."""
    found = [await refs.find(name) for name in await refs.names(prefix)]
    await asyncio.gather(*(_leave(ref, within_s) for ref in found if ref is not None))


async def retire_node(node_id: str, within_s: float) -> int:
    """Have every forest of one node leave, and wait until they have. How many there were.

    Forests whose event loop does not answer are left alone: where they are is not known.
    """
    places = asyncio.Semaphore(STATUS_AT_ONCE)

    async def one(name: str) -> bool:
        async with places:
            ref = await refs.find(name)
            there = ref is not None and await _node_of(ref) == node_id
        if ref is not None and there:
            await _leave(ref, within_s)
        return there

    return sum(await asyncio.gather(*(one(name) for name in await refs.names(FOREST_PREFIX))))


async def _node_of(ref: ActorRef) -> str | None:
    try:
        status = await ref.call("status", timeout_s=PATIENCE.probe_s)
    except (Gone, TimeoutError):
        return None
    return str(status.node_id)


async def _leave(ref: ActorRef, within_s: float) -> None:
    try:
        await ref.call("passivate", timeout_s=within_s)
    except (Gone, TimeoutError):
        return
