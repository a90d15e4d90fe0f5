"""The runtime `ray`: joins a cluster, or starts one here, and calls forests on it. Also `memforest up` and `down`."""

import asyncio
import logging
import socket
import threading
from typing import Any

from memforest_actors import launch
from memforest_actors.environment import address_given, auth_mode, auth_mode_here, prepare_driver
from memforest_actors.launch import OwnHead
from memforest_actors.options import NAMESPACE, OFFLINE, PATIENCE, Components, Patience
from memforest_ray.ambient import SystemClock, SystemRandom
from memforest_ray.config import Settings
from memforest_ray.errors import ClusterUnavailable, InvalidInput
from memforest_ray.handover import to_the_loop
from memforest_ray.ids import OpId, UserId
from memforest_ray.storage.open import open_store
from memforest_ray.storage.store import ObjectStore

__all__ = ["RayRuntime", "connect", "down", "up"]

PROBE_S = 2.0
"""A head that listens is there; asking Ray instead takes minutes when it is not."""
LEAVE_S = 60.0


def connect(settings: Settings, components: Components = OFFLINE, patience: Patience = PATIENCE) -> "RayRuntime":
    """Forests on the cluster that this process is part of, that is named (`address`, RAY_ADDRESS), that
    `memforest up` started, or, if there is none, that starts here and ends with `close()`.

    Raises InvalidInput, ClusterUnavailable.
    """
    store = open_store(settings.store)
    if store.url.startswith("memory://"):
        raise InvalidInput(
            "a memory:// store lives in one process, and the actors run in others; nothing was done; "
            'name another store, or use runtime="local"'
        )
    _CONNECTION.acquire(settings, components)
    return RayRuntime(store, settings.model_copy(update={"store": store.url}), components, patience)


def up(settings: Settings) -> dict[str, Any]:
    """Start a warm cluster on this machine, models loaded, unless it runs already. Raises ClusterUnavailable."""
    state, started = launch.start_warm(settings)
    return {"address": state.address, "pid": state.pid, "started": started}


def down() -> dict[str, Any]:
    """Stop the cluster that `up` started, and no other; its forests checkpoint first."""
    state = launch.stop_warm()
    return {"stopped": False} if state is None else {"stopped": True, "address": state.address, "pid": state.pid}


class _Connection:
    """This process's one connection to Ray. Its clients share it; the last one closes it, if we opened it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._clients = 0
        self._ours = False
        self._joined: str | None = None
        self._head: OwnHead | None = None

    def acquire(self, settings: Settings, components: Components) -> None:
        """Be connected. Raises ClusterUnavailable, InvalidInput."""
        with self._lock:
            if not self._clients:
                self._open(settings, components)
            elif self._joined is not None and settings.address not in (None, self._joined):
                raise InvalidInput(
                    f"this process is connected to the Ray cluster at {self._joined} already; nothing was done; "
                    f"close that client before joining {settings.address}"
                )
            self._clients += 1

    def release(self) -> None:
        """Be connected no more, if nobody else is."""
        with self._lock:
            self._clients -= 1
            if not self._clients and self._ours:
                self._close()

    def _open(self, settings: Settings, components: Components) -> None:
        address, mode = _cluster_to_join(settings)
        # Head and driver are told the same before either starts, and before Ray is imported.
        prepare_driver(mode)
        import ray  # noqa: PLC0415 - a third of a second, wanted only now

        self._ours = not ray.is_initialized()
        if not self._ours:
            return  # a task, an actor, or an application that uses Ray itself
        if address is None:
            self._head = launch.start_own(settings, components)
            address = self._head.state.address
        self._joined = settings.address or address
        try:
            ray.init(address=address, namespace=NAMESPACE, log_to_driver=False, logging_level=logging.ERROR)
        except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
            self._close()
            raise ClusterUnavailable(
                f"the Ray cluster at {address} cannot be joined ({error}), with RAY_AUTH_MODE={auth_mode()}; nothing "
                "was changed; it wants the same mode and token here as on its nodes (`ray get-auth-token`), the same "
                "Ray, and a node of its own on this machine"
            ) from error

    def _close(self) -> None:
        import ray  # noqa: PLC0415 - imported when it was opened

        head, self._head, self._ours, self._joined = self._head, None, False, None
        ray.shutdown()
        if head is not None:
            head.stop()


_CONNECTION = _Connection()


def _cluster_to_join(settings: Settings) -> tuple[str | None, str | None]:
    """Address and authentication mode (None: as the surroundings say) of the cluster to join; None: start one."""
    address = settings.address or address_given()
    if address is None:
        warm = launch.warm_head()
        return (None, auth_mode_here()) if warm is None else (warm.address, warm.auth_mode)
    if "://" in address:
        raise InvalidInput(
            f"{address}: Ray Client is not supported because it loses calls; nothing was done; name the head's own "
            "address (host:port), or run inside the cluster (`ray job submit`)"
        )
    if address == "local":
        return None, auth_mode_here()
    if address != "auto":
        _probe(address)
    return address, None


def _probe(address: str) -> None:
    """Raise ClusterUnavailable if nobody listens there."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise InvalidInput(f"{address!r} is not the address of a Ray head (host:port); nothing was done")
    try:
        socket.create_connection((host.strip("[]"), int(port)), PROBE_S).close()
    except OSError as error:
        raise ClusterUnavailable(
            f"no Ray cluster answers at {address} ({error}); nothing was changed; start it, or unset the address"
        ) from error


class RayRuntime:
    """`memforest_ray.client.Runtime` on Ray. `settings.store` must be canonical."""

    begins_anywhere = True

    def __init__(self, store: ObjectStore, settings: Settings, components: Components, patience: Patience) -> None:
        from memforest_actors.calls import Forests  # noqa: PLC0415 - imports Ray, so only once it is prepared

        self._store = store
        self.settings = settings
        self._clock = SystemClock()
        self._random = SystemRandom()
        self._forests = Forests(settings, components, patience, self._clock, self._random)
        self._open = True
        self._ready: asyncio.Task[None] | None = None

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
        """The verb's result, from the user's actor."""
        if self._ready is None:
            await to_the_loop()
        if self._ready is None:
            self._ready = asyncio.create_task(self._forests.start_directory())
        return await self._forests.call(user, verb, arguments, op_id=op_id, seen=seen, deadline_s=deadline_s)

    async def users(self, prefix: str) -> list[str]:
        """Ids of the users whose forests the store holds, sorted. No actor is needed for it."""
        from memforest_ray.local.runtime import all_users  # noqa: PLC0415 - loads all of the library

        return await all_users(self._store, prefix)

    async def delete_user(self, user: UserId) -> list[UserId]:
        """Have the user's actor leave, then remove everything of theirs from the store; who holds a copy of it.

        Raises NotFound.
        """
        from memforest_ray.commit.users import delete_user  # noqa: PLC0415 - few ever need it
        from memforest_ray.local.borrowing import holders  # noqa: PLC0415 - few ever need it

        await self._forests.retire(user, LEAVE_S)
        lent = await delete_user(self._store, user, self._clock, self._random)
        return await holders(self._store, user, lent)

    async def close(self) -> None:
        """Leave the cluster; one that was started here checkpoints its forests and ends."""
        if self._open:
            self._open = False
            self._forests.closed = True
            if self._ready is not None:
                await self._ready
            await asyncio.to_thread(_CONNECTION.release)
