"""Typed references to actors: the only file that calls `.remote`. Handles never leave it, Ray's errors neither.

Three answers are possible: the actor's (a value, or one of our errors), or `Gone`: it died, is leaving or hangs, and
the call may or may not have been done.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import ray
from ray.actor import exit_actor
from ray.exceptions import (
    ActorDiedError,
    ActorUnschedulableError,
    NodeDiedError,
    ObjectLostError,
    RayActorError,
    RaySystemError,
    RayTaskError,
    RpcError,
    WorkerCrashedError,
)
from ray.util import list_named_actors
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from memforest_actors.arrival import Arrival
from memforest_actors.attending import attended
from memforest_actors.options import FOREST_BYTES, NAMESPACE, PATIENCE, ROLES, Patience
from memforest_actors.reply import load, opened, unwrapped, wrapped
from memforest_ray.errors import ClusterUnavailable
from memforest_ray.handover import on_a_loop, to_the_loop

__all__ = [
    "ActorRef",
    "Gone",
    "Here",
    "Host",
    "close_node",
    "create",
    "find",
    "hosts",
    "leave",
    "names",
    "nodes",
    "notify",
    "whereabouts",
]

_UNSENT = "Failed to submit task to actor"
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_LOST = (
    RayActorError,
    NodeDiedError,
    WorkerCrashedError,
    ObjectLostError,
    RaySystemError,
    RpcError,
    ActorUnschedulableError,
)


class Gone(Exception):
    """No answer will come from this actor. What was asked of it may have been done."""


@dataclass(frozen=True, slots=True)
class Here:
    """Where the code that asks is running."""

    node_id: str


@dataclass(frozen=True, slots=True)
class Host:
    """A node that may host actors."""

    node_id: str
    cores: int
    forests_max: int
    """How many fit, by the memory that Ray gives out there."""


@dataclass(frozen=True, slots=True)
class ActorRef:
    """One actor, found by name. May be dead: only a call tells."""

    name: str
    _handle: Any
    """Ray's; by its own type it has no methods."""
    _answer: Any = field(init=False, repr=False, compare=False)
    """Its method `answer`; a handle makes each anew whenever it is asked for one."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_answer", self._handle.answer)

    async def call(self, method: str, *arguments: Any, timeout_s: float, patience: Patience = PATIENCE) -> Any:
        """The method's answer. Raises our errors, `Gone`, or `TimeoutError` after `timeout_s`.

        A long call is attended: when the actor does not answer probes either it is killed, so that its name is free.
        That is safe: a process that lives on is fenced by the store. Where no loop runs (`handover`) this thread is
        held until then.
        """
        call = wrapped((method, arguments))
        with _lost_as_gone:
            reply = await self._awaited(Arrival(self._answer.remote(call)), timeout_s, patience)
        return opened(unwrapped(reply))

    async def _awaited(self, arrival: Arrival, timeout_s: float, patience: Patience) -> Any:
        held_s = 0.0
        if not on_a_loop():
            held_s = min(timeout_s, patience.probe_s)
            if arrival.within(held_s):
                return arrival.answer()
            await to_the_loop()
        left_s = timeout_s - held_s
        trusted_s = min(left_s, patience.probe_s - held_s)
        return await attended(arrival.awaited(), trusted_s, lambda: self._doubted(patience, left_s - trusted_s))

    async def tell(self, on_text: Callable[[str], None], method: str, *arguments: Any, timeout_s: float) -> Any:
        """The answer of a method that yields its text in pieces, and its reply last; each piece is told to `on_text`.

        Raises our errors, `Gone`, or `TimeoutError` after `timeout_s`.
        """
        async with asyncio.timeout(timeout_s):
            async for piece in _pieces(self._handle, method, arguments):
                if not isinstance(piece, str):
                    return opened(piece)
                on_text(piece)
        raise Gone(f"actor {self.name} broke off")

    async def _doubted(self, patience: Patience, within_s: float) -> Exception:
        """Why to wait no longer: the time is over, or the actor misses too many probes."""
        if within_s > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(within_s):
                    return await self._unresponsive(patience)
        return TimeoutError()

    async def _unresponsive(self, patience: Patience) -> Gone:
        """Probe the actor until it has missed too many probes in a row; it is dead then."""
        missed = 0
        while True:
            missed = missed + 1 if await self.pid(patience.probe_s) is None else 0
            if missed >= patience.probes_missed_max:
                self.kill()
                return Gone(f"actor {self.name} does not answer")
            await asyncio.sleep(patience.probe_s)

    async def pid(self, within_s: float) -> int | None:
        """The actor's process; None if its event loop does not answer in time."""
        try:
            with _lost_as_gone:
                async with asyncio.timeout(within_s):
                    process: int = await self._handle.ping.remote()
        except (Gone, ClusterUnavailable, TimeoutError):
            return None
        return process

    def kill(self) -> None:
        """End a process that hangs, and free its name: whoever needs the actor starts it anew."""
        ray.kill(self._handle)


async def _pieces(handle: Any, method: str, arguments: Sequence[Any]) -> AsyncIterator[Any]:
    """What the actor yields, one by one."""
    with _lost_as_gone:
        async for piece in getattr(handle, method).options(num_returns="streaming").remote(*arguments):
            yield await piece


class _LostAsGone:
    """Ray's own failures as `Gone`, a bug in an actor as what it was."""

    def __enter__(self) -> None:
        return

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, _LOST):
            if isinstance(error, ActorDiedError) and error.actor_init_failed:
                raise _unborn(error) from error
            raise Gone(_first_line(error)) from error
        if isinstance(error, RayTaskError):  # a bug in the actor: show what it was, and where
            cause = getattr(error, "cause", None) or error
            cause.add_note(_COLOUR.sub("", str(error)))
            raise cause from None
        # What Ray raises when it has let go of the handle of an actor that died: nothing was sent.
        if type(error) is Exception and _UNSENT in str(error):
            raise Gone(_first_line(error)) from error


_lost_as_gone = _LostAsGone()


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]


def _unborn(error: ActorDiedError) -> ClusterUnavailable:
    """Our constructors only store what they are given, so it was the import that failed: trying again is of no use."""
    return ClusterUnavailable(
        f"a worker of the cluster cannot load an actor ({str(error).strip().splitlines()[-1]}); nothing was changed; "
        "install the same memforest-ray on every node"
    )


async def find(name: str) -> ActorRef | None:
    """The actor of that name, or None. Asks the cluster, so it takes a round trip."""
    try:
        return ActorRef(name, await asyncio.to_thread(_get_actor, name))
    except ValueError:
        return None
    except _LOST as error:
        raise Gone(str(error)) from error


def _get_actor(name: str) -> Any:
    _expect_connection()
    return ray.get_actor(name, NAMESPACE)


def _expect_connection() -> None:
    """Raises Gone when it was closed meanwhile: Ray would start a cluster of its own for who asks it all the same."""
    if not ray.is_initialized():
        raise Gone("the connection to Ray was closed")


async def create(role: str, name: str, *arguments: Any, node_id: str | None = None) -> ActorRef:
    """The actor of that name, started if there is none (`arguments` count only then); on `node_id` or nowhere."""
    return await asyncio.to_thread(_create, role, name, arguments, node_id)


def _create(role: str, name: str, arguments: Sequence[Any], node_id: str | None) -> ActorRef:
    kind = ROLES[role]
    options: dict[str, Any] = {**kind.options, "name": name}
    if node_id is not None:
        options["scheduling_strategy"] = NodeAffinitySchedulingStrategy(node_id, soft=False)
    try:
        started = ray.remote(load(kind.actor)).options(**options)  # which may import much
        _expect_connection()
        handle = started.remote(*arguments)
    except (*_LOST, ValueError) as error:  # ValueError: it died between Ray's look and Ray's answer
        raise Gone(_first_line(error)) from error
    return ActorRef(name, handle)


async def notify(name: str, method: str, *arguments: Any) -> Any:
    """Tell an actor something; what it says to it, or None if there is no such actor or it does not listen."""
    try:
        ref = await find(name)
        return None if ref is None else await ref.call(method, *arguments, timeout_s=PATIENCE.hint_s)
    except (Gone, TimeoutError):
        return None


async def names(prefix: str) -> list[str]:
    """Names of the living actors that start with `prefix`."""
    rows = await asyncio.to_thread(list_named_actors, all_namespaces=True)
    return sorted(row["name"] for row in rows if row["namespace"] == NAMESPACE and row["name"].startswith(prefix))


async def nodes() -> list[str]:
    """Ids of the nodes that may host actors, sorted."""
    return sorted(host.node_id for host in await hosts())


async def hosts() -> list[Host]:
    """The nodes that may host actors: those with cores, or all if none declares any."""
    alive = [node for node in await asyncio.to_thread(ray.nodes) if node["Alive"]]
    chosen = [node for node in alive if node["Resources"].get("CPU")] or alive
    return [
        Host(node["NodeID"], int(given.get("CPU", 0)), int(given.get("memory", 0) // FOREST_BYTES))
        for node in chosen
        for given in (node["Resources"],)
    ]


async def close_node(node_id: str, why: str) -> None:
    """Have Ray place nothing new on a node that is about to be taken away; what runs there goes on. Raises Gone."""
    await asyncio.to_thread(_close_node, node_id, why)


def _close_node(node_id: str, why: str) -> None:
    # What `ray drain-node` does; that command is hidden, and this has no public name either.
    import ray._raylet as raylet  # noqa: PLC0415 - only here
    from ray.core.generated import autoscaler_pb2  # noqa: PLC0415 - only here

    preemption = vars(autoscaler_pb2)["DrainNodeReason"].Value("DRAIN_NODE_REASON_PREEMPTION")
    client = vars(raylet)["GcsClient"](address=ray.get_runtime_context().gcs_address)
    accepted, refusal = client.drain_node(node_id, preemption, why, 0)
    if not accepted:
        raise Gone(f"the cluster refuses to close node {node_id[:12]} ({refusal})")


def whereabouts() -> Here:
    """Where this process stands in the cluster."""
    return Here(ray.get_runtime_context().get_node_id())


def leave() -> None:
    """End this actor's process once the calls under way are done; never returns. Only inside an actor's method."""
    exit_actor()  # type: ignore[no-untyped-call]  # Ray's own signature
