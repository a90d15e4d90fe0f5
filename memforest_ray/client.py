"""What an application holds: clients and handles to users, blocking and async. One implementation: the async one.

A handle knows its user's id and its settings, nothing else, so it pickles; every call finds the forest anew,
retries what is safe to retry under one `op_id`, and sends the highest version it has seen.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from concurrent.futures import Future
from copy import copy
from functools import cache, wraps
from importlib.metadata import entry_points
from typing import Any, Concatenate, ParamSpec, Protocol, Self, TypeVar

from memforest_ray.ambient import Random, SystemRandom
from memforest_ray.config import Settings, load_settings
from memforest_ray.errors import InvalidInput, MemForestError
from memforest_ray.handles import AsyncUser, Progress, checked_user
from memforest_ray.handover import begun_here, on_a_loop, rest_of
from memforest_ray.ids import OpId, UserId
from memforest_ray.policy import check, named_policy
from memforest_ray.storage.open import open_store

__all__ = ["AsyncClient", "AsyncUser", "Client", "Progress", "Runtime", "User", "connect", "connect_async"]

P = ParamSpec("P")
T = TypeVar("T")
FORESTS_WARMED_AT_ONCE = 16
"""Of one `warm`: each reads its objects in parallel already."""
GIVE_BACK_S = 2.0
"""For calls that were interrupted, until the client leaves without them: what they hold in a store expires."""


class Runtime(Protocol):
    """Finds forests and calls them; found by name through the entry points `memforest.runtimes`.

    One with a true attribute `begins_anywhere` may have its `call` begun in any thread, see `handover`.
    """

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
        """The verb's result. `op_id` marks a write; `seen` is the highest version this handle has seen."""

    async def users(self, prefix: str) -> list[str]:
        """Ids of the users whose forests the store holds, sorted."""

    async def delete_user(self, user: UserId) -> Sequence[str]:
        """Remove everything of one user, for good; the users whose memories hold a copy of it."""

    async def close(self) -> None:
        """Drain, checkpoint, and stop only what this runtime started."""


def _open_runtime(settings: Settings) -> Runtime:
    found = entry_points(group="memforest.runtimes", name=settings.runtime)
    if not found:
        raise InvalidInput(
            f"no runtime {settings.runtime!r} is installed; reinstall the package (pip install memforest-ray)"
        )
    runtime: Runtime = next(iter(found)).load()(settings)
    return runtime


def _settings(given: dict[str, Any]) -> Settings:
    """The settings in force, the store's address in its canonical form: a handle may be unpickled elsewhere."""
    settings = load_settings(**given)
    return settings.model_copy(update={"store": open_store(settings.store).url})


async def connect_async(**given: Any) -> "AsyncClient":
    """An async client; arguments are settings (`store=`, `runtime=`, ...). Raises InvalidInput, StoreUnavailable."""
    settings = _settings(given)
    return AsyncClient(settings, await asyncio.to_thread(_open_runtime, settings))


def connect(**given: Any) -> "Client":
    """A blocking client; arguments are settings (`store=`, `runtime=`, ...).

    With `runtime="ray"` (the default) it joins `address=`, `RAY_ADDRESS` or the cluster of `memforest up`, else
    starts Ray here and stops it again at `close()`; with `runtime="local"` the forests live in this process.
    """
    return Client(_settings(given))


class AsyncClient:
    """The door for async applications; `async with` closes it."""

    def __init__(self, settings: Settings, runtime: Runtime, random: Random | None = None) -> None:
        self.settings = settings
        self.random = random or SystemRandom()
        self._runtime = runtime
        self._policy = named_policy(settings.policy)

    async def call(self, user: UserId, verb: str, arguments: dict[str, Any], *, op_id: OpId | None, seen: int) -> Any:
        """Any verb of a forest, by name: what the handles are made of. Raises Denied."""
        check(self._policy, self.settings.principal, verb, user)
        if "source" in arguments:  # another memory is read for it
            check(self._policy, self.settings.principal, "lend", arguments["source"])
        deadline_s = self.settings.call_deadline_s
        return await self._runtime.call(user, verb, arguments, op_id=op_id, seen=seen, deadline_s=deadline_s)

    def user(self, user: str) -> AsyncUser:
        """A handle; nothing is created or contacted before its first call. Raises InvalidInput."""
        return AsyncUser(self, checked_user(user))

    def acting_for(self, principal: str) -> "AsyncClient":
        """The same client for the calls of somebody else: what the policy in force is asked about.

        Both share one connection: closing either closes it.
        """
        return AsyncClient(self.settings.model_copy(update={"principal": principal}), self._runtime, self.random)

    async def users(self, prefix: str = "") -> AsyncIterator[str]:
        """Ids of the users with a forest in the store, sorted; those that the policy shows."""
        for user in await self._runtime.users(prefix):
            if self._policy.allows(self.settings.principal, "users", user):
                yield user

    async def warm(self, users: Iterable[str]) -> dict[str, int | MemForestError]:
        """Open the memories of `users` before they are asked, some at a time; the version of each, or its error."""
        wanted = [checked_user(user) for user in dict.fromkeys(users)]
        window = asyncio.Semaphore(FORESTS_WARMED_AT_ONCE)

        async def one(user: UserId) -> int | MemForestError:
            async with window:
                try:
                    version: int = await self.call(user, "warm", {}, op_id=None, seen=0)
                except MemForestError as error:
                    return error
                return version

        return dict(zip(wanted, await asyncio.gather(*map(one, wanted)), strict=True))

    async def delete_user(self, user: str) -> list[str]:
        """Remove everything of one user, for good; the id can be used again, empty. Raises NotFound.

        What other users have merged is theirs: told is who still holds a copy; `forget(origin=user)` removes it there.
        One that is made from such a copy meanwhile may not be told.
        """
        name = checked_user(user)
        check(self._policy, self.settings.principal, "delete_user", name)
        return list(await self._runtime.delete_user(name))

    async def close(self) -> None:
        """Drain, checkpoint, and stop only a cluster that this client started."""
        await self._runtime.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


_Verb = Callable[Concatenate[AsyncUser, P], Coroutine[Any, Any, T]]


def _blocking(verb: _Verb[P, T], *, soon: bool = False) -> Callable[Concatenate["User", P], T]:
    """The verb for blocking code: same arguments, results and documentation. `soon`: it is likely answered soon."""

    @wraps(verb)
    def call(user: "User", /, *arguments: P.args, **options: P.kwargs) -> T:
        work = verb(user._handle, *arguments, **options)
        return user._client.read(work) if soon else user._client.run(work)

    call.__qualname__ = f"User.{verb.__name__}"
    return call


class User:
    """One user's memory for blocking code; same verbs as `AsyncUser`. Pickles, also into Ray tasks."""

    def __init__(self, client: "Client", handle: AsyncUser) -> None:
        self.id = handle.id
        self._client = client
        self._handle = handle

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self._client.settings, self.id)

    def __repr__(self) -> str:
        return f"User({self.id!r})"

    ingest = _blocking(AsyncUser.ingest)
    ingest_many = _blocking(AsyncUser.ingest_many)
    query = _blocking(AsyncUser.query, soon=True)
    ask = _blocking(AsyncUser.ask, soon=True)
    forget = _blocking(AsyncUser.forget)
    merge_from = _blocking(AsyncUser.merge_from)
    merge_forecast = _blocking(AsyncUser.merge_forecast, soon=True)
    changes = _blocking(AsyncUser.changes, soon=True)
    correct = _blocking(AsyncUser.correct)
    resummarise = _blocking(AsyncUser.resummarise)
    rescene = _blocking(AsyncUser.rescene)
    rebuild = _blocking(AsyncUser.rebuild)
    reembed = _blocking(AsyncUser.reembed)
    repair = _blocking(AsyncUser.repair)
    save = _blocking(AsyncUser.save)
    restore = _blocking(AsyncUser.restore)
    snapshots = _blocking(AsyncUser.snapshots, soon=True)
    delete_snapshot = _blocking(AsyncUser.delete_snapshot)
    stats = _blocking(AsyncUser.stats, soon=True)
    trees = _blocking(AsyncUser.trees, soon=True)
    tree = _blocking(AsyncUser.tree, soon=True)


class Client:
    """The door for blocking code: an `AsyncClient` on an event loop of its own, in a thread. `with` closes it."""

    def __init__(self, settings: Settings, runtime: Runtime | None = None) -> None:
        """`runtime`: what finds and calls forests; without it, the one that the settings name."""
        self.settings = settings
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="memforest-client", daemon=True)
        self._thread.start()
        self._withdrawn: list[Coroutine[Any, Any, Any]] = []
        """Calls that were interrupted."""
        try:
            runtime = runtime or _open_runtime(settings)
            self._begins_here = getattr(runtime, "begins_anywhere", False)
            self._inner = AsyncClient(settings, runtime)
        except BaseException:
            self._stop()
            raise

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`, waited for; Ctrl-C cancels it. Raises InvalidInput when the client is closed."""
        if not self._thread.is_alive():
            work.close()
            raise InvalidInput("this client is closed; nothing was done; connect again")
        future: Future[T] | None = None
        try:
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
            return future.result()
        except KeyboardInterrupt:
            self._withdrawn.append(work)
            if future is not None:
                future.cancel()
            raise

    def read(self, work: Coroutine[Any, Any, T]) -> T:
        """`run` of one call that is likely to be answered soon: where the runtime can, this thread waits by itself."""
        if self._begins_here and self._thread.is_alive() and not on_a_loop():
            found = begun_here(work)
            return self.run(rest_of(work)) if found is None else found[0]
        return self.run(work)

    def user(self, user: str) -> User:
        """A handle; nothing is created or contacted before its first call. Raises InvalidInput."""
        return User(self, self._inner.user(user))

    def users(self, prefix: str = "") -> list[str]:
        """Ids of the users with a forest in the store, sorted."""

        async def collect() -> list[str]:
            return [user async for user in self._inner.users(prefix)]

        return self.run(collect())

    def acting_for(self, principal: str) -> "Client":
        """The same client for the calls of somebody else: what the policy in force is asked about.

        Both share one connection: closing either closes it.
        """
        other = copy(self)
        other.settings = self.settings.model_copy(update={"principal": principal})
        other._inner = self._inner.acting_for(principal)
        return other

    def warm(self, users: Iterable[str]) -> dict[str, int | MemForestError]:
        """Open the memories of `users` before they are asked; the version of each, or its error."""
        return self.run(self._inner.warm(users))

    def delete_user(self, user: str) -> list[str]:
        """Remove everything of one user, for good; the id can be used again, empty. Raises NotFound.

        Told is who still holds a copy of it by a merge.
        """
        return self.run(self._inner.delete_user(user))

    def close(self) -> None:
        """Drain, checkpoint, and stop only a cluster that this client started. Twice is fine."""
        if self._thread.is_alive():
            try:
                self.run(self._closed())
            finally:
                self._stop()

    async def _closed(self) -> None:
        # What an interrupt has cancelled gives back what it holds, as a memory that is pinned for a copy, while it can.
        withdrawn = [task for task in asyncio.all_tasks() if task.get_coro() in self._withdrawn]
        for task in withdrawn:
            if not task.cancelling():
                task.cancel()
        if withdrawn:
            await asyncio.wait(withdrawn, timeout=GIVE_BACK_S)
            await _cancelled(withdrawn)
        await self._inner.close()

    def _stop(self) -> None:
        asyncio.run_coroutine_threadsafe(_cancel_others(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


async def _cancel_others() -> None:
    """End what is still under way on this loop: a task that goes with its loop is reported as a fault."""
    await _cancelled(asyncio.all_tasks() - {asyncio.current_task()})


async def _cancelled(tasks: Iterable[asyncio.Task[Any] | None]) -> None:
    left = [task for task in tasks if task is not None]
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


@cache
def _shared_client(settings: Settings) -> Client:
    return Client(settings)


def _reopen(settings: Settings, user: UserId) -> User:
    """What an unpickled handle does: one client per process and settings."""
    return _shared_client(settings).user(user)
