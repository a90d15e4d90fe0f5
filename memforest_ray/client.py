"""What an application holds: clients and handles to users, blocking and async. One implementation: the async one.

A handle knows its user's id and its settings, nothing else, so it pickles; every call finds the forest anew,
retries what is safe to retry under one `op_id`, and sends the highest version it has seen.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from copy import copy
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, TypeVar

from memforest_ray.ambient import Random, SystemRandom
from memforest_ray.config import Settings, load_settings
from memforest_ray.errors import InvalidInput, MemForestError, VersionGone
from memforest_ray.facts.sessions import Session
from memforest_ray.forest import Forgotten, Receipt, Restored, Saved
from memforest_ray.ids import OpId, UserId
from memforest_ray.query.request import QueryRequest
from memforest_ray.query.result import Answer, Result
from memforest_ray.storage.open import open_store

if TYPE_CHECKING:  # a client that asks for no snapshots loads nothing of the log
    from memforest_ray.commit.snapshots import SnapshotInfo

__all__ = ["AsyncClient", "AsyncUser", "Client", "Progress", "Runtime", "User", "connect", "connect_async"]

T = TypeVar("T")
Progress = Callable[[int, int, Receipt | MemForestError], None]
"""Called after each session of `ingest_many`: sessions done, sessions in all, what became of this one."""

SESSIONS_IN_FLIGHT = 32
"""Of one `ingest_many`: enough to fill a batch while the one before it commits."""

USER_ID_BYTES_MAX = 4096


class Runtime(Protocol):
    """Finds forests and calls them; found by name through the entry points `memforest.runtimes`."""

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

    async def delete_user(self, user: UserId) -> None:
        """Remove everything of one user, for good."""

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


def checked_user(user: str) -> UserId:
    """Any text is a user id, but not an empty or an endless one. Raises InvalidInput."""
    if not isinstance(user, str) or not user:
        raise InvalidInput(f"a user id is a text that is not empty, not {user!r}; nothing was done")
    if len(user.encode("utf-8", "surrogatepass")) > USER_ID_BYTES_MAX:
        raise InvalidInput(f"a user id has at most {USER_ID_BYTES_MAX} bytes in UTF-8; nothing was done")
    return UserId(user)


class AsyncUser:
    """One user's memory, wherever it lives. Made by `AsyncClient.user`."""

    def __init__(self, client: "AsyncClient", user: UserId) -> None:
        self.id = user
        self._client = client
        self._seen = 0

    async def _read(self, verb: str, **arguments: Any) -> Any:
        return await self._client.call(self.id, verb, arguments, op_id=None, seen=self._seen)

    async def _search(self, verb: str, request: QueryRequest) -> Any:
        least = request.at_least or 0
        found = await self._client.call(self.id, verb, {"request": request}, op_id=None, seen=max(self._seen, least))
        held = found.result if isinstance(found, Answer) else found
        if held is not None and held.version < least:
            raise VersionGone(f"this memory is at version {held.version}; there is no version {least} of it")
        return found

    async def _write(self, verb: str, op_id: str | None, **arguments: Any) -> Any:
        name = OpId(op_id or self._client.random.nonce())
        answer = await self._client.call(self.id, verb, arguments, op_id=name, seen=self._seen)
        self._seen = max(self._seen, answer.version)
        return answer

    async def ingest(
        self,
        session: Session,
        *,
        op_id: str | None = None,
        wait: Literal["refreshed"] = "refreshed",
        replace: bool = False,
    ) -> Receipt:
        """Make one session memory; it is queryable when this returns.

        The same session again is `duplicate` and writes nothing; a longer one adds what follows. `op_id` names the
        write: the same one again, after whatever failure, is done once. Raises InvalidInput, SessionConflict (other
        turns are stored under this id; `replace=True` puts the new ones in their place), Overloaded,
        LLMUnavailable, StoreUnavailable, OutcomeUnknown.
        """
        receipt: Receipt = await self._write("ingest", op_id, session=session, replace=replace, wait=wait)
        return receipt

    async def ingest_many(
        self,
        sessions: Iterable[Session],
        *,
        on_progress: Progress | None = None,
        wait: Literal["refreshed"] = "refreshed",
        replace: bool = False,
    ) -> list[Receipt]:
        """Make many sessions memory, many at a time; receipts in the order of the sessions.

        All are tried; then the first error is raised, the others are in its notes; `detail["session"]` of each says
        whose it is. What was acknowledged stays.
        """
        pending = list(sessions)
        window = asyncio.Semaphore(SESSIONS_IN_FLIGHT)
        done = 0

        async def one(session: Session) -> Receipt | MemForestError:
            nonlocal done
            async with window:
                try:
                    outcome: Receipt | MemForestError = await self.ingest(session, wait=wait, replace=replace)
                except MemForestError as error:
                    # A batch that failed gives all its writes one error: each session has its own.
                    outcome = _copied(error, f"session {session.id!r}", session=session.id)
            done += 1
            if on_progress:
                on_progress(done, len(pending), outcome)
            return outcome

        outcomes = await asyncio.gather(*(one(session) for session in pending))
        errors = [outcome for outcome in outcomes if isinstance(outcome, MemForestError)]
        if errors:
            others = (f"{'; '.join(other.__notes__)}: {other}" for other in errors[1:])
            raise _copied(errors[0], *errors[0].__notes__, *others)
        return [outcome for outcome in outcomes if isinstance(outcome, Receipt)]

    async def query(self, text: str, *, at_least: Receipt | int | None = None, **options: Any) -> Result:
        """Evidence for `text`, best first.

        Options: `k`, `mode` ("flat", "root", "embed"), `expand`, `as_of`, `since`, `until` (times in any form that
        a turn's time may have), `asked` (when the question was), `families`, `kind`, `speaker`, `session`,
        `entity`, `token_budget`, `zone`.
        `at_least`: a receipt, or its version, that the answer must know of. Raises InvalidInput, VersionGone.
        """
        result: Result = await self._search("query", _request(text, at_least, options))
        self._seen = max(self._seen, result.version)
        return result

    async def ask(self, text: str, *, at_least: Receipt | int | None = None, **options: Any) -> Answer:
        """An answer from the evidence alone, naming its sources, or "not in memory"."""
        answer: Answer = await self._search("ask", _request(text, at_least, options))
        return answer

    async def forget(
        self,
        *,
        session: str | None = None,
        turns: Sequence[str] | None = None,
        fact: str | None = None,
        with_dialogue: bool = False,
        including_snapshots: bool = False,
        op_id: str | None = None,
    ) -> Forgotten:
        """Erase a session, turns (of `session`, if their ids are not unique) or one fact, and what was made of them.

        A forgotten fact's dialogue stays unless `with_dialogue`; the report names the turns that still hold it.
        Raises NotFound; InvalidInput, also when a snapshot holds the dialogue: `including_snapshots` takes it out of
        that, too.
        """
        if isinstance(turns, str):
            raise InvalidInput(f"turns is the text {turns!r}; it must be a list of turn ids; nothing was changed")
        report: Forgotten = await self._write(
            "forget",
            op_id,
            session=session,
            turns=None if turns is None else tuple(turns),
            fact=fact,
            with_dialogue=with_dialogue,
            including_snapshots=including_snapshots,
        )
        return report

    async def repair(self, *, op_id: str | None = None) -> Receipt:
        """Retry failed cells and stale summaries."""
        receipt: Receipt = await self._write("repair", op_id)
        return receipt

    async def save(self, name: str, *, replace: bool = False, op_id: str | None = None) -> Saved:
        """Keep the present state under `name`; it costs little, since what does not change is shared.

        Raises InvalidInput (the name is taken and `replace` was not said), NotFound (nothing is remembered yet).
        """
        saved: Saved = await self._write("save", op_id, name=name, replace=replace)
        return saved

    async def restore(self, name: str, *, op_id: str | None = None) -> Restored:
        """Make the state kept under `name` the present one; the version rises.

        What was forgotten since stays forgotten, and facts that were forgotten since do not show again. What was
        ingested since is gone, unless it was saved. Raises NotFound.
        """
        restored: Restored = await self._write("restore", op_id, name=name)
        return restored

    async def snapshots(self) -> "list[SnapshotInfo]":
        """What is kept, oldest first: name, version, when, rows, bytes."""
        kept: list[SnapshotInfo] = await self._read("snapshots")
        return kept

    async def delete_snapshot(self, name: str, *, op_id: str | None = None) -> None:
        """Let go of what is kept under `name`. Raises NotFound."""
        await self._write("delete_snapshot", op_id, name=name)

    async def stats(self) -> dict[str, Any]:
        """Counts of what the forest holds, and of what it has cost."""
        counts: dict[str, Any] = await self._read("stats")
        return counts

    async def trees(self) -> list[dict[str, Any]]:
        """One card per tree: scope, label, leaves, height, time range, summary."""
        cards: list[dict[str, Any]] = await self._read("trees")
        return cards

    async def tree(self, scope: str) -> dict[str, Any]:
        """One tree, nested: each node's interval, count, summary and children. Raises NotFound."""
        nodes: dict[str, Any] = await self._read("tree", scope=scope)
        return nodes


class AsyncClient:
    """The door for async applications; `async with` closes it."""

    def __init__(self, settings: Settings, runtime: Runtime, random: Random | None = None) -> None:
        self.settings = settings
        self.random = random or SystemRandom()
        self._runtime = runtime

    async def call(self, user: UserId, verb: str, arguments: dict[str, Any], *, op_id: OpId | None, seen: int) -> Any:
        """Any verb of a forest, by name: what the handles are made of."""
        deadline_s = self.settings.call_deadline_s
        return await self._runtime.call(user, verb, arguments, op_id=op_id, seen=seen, deadline_s=deadline_s)

    def user(self, user: str) -> AsyncUser:
        """A handle; nothing is created or contacted before its first call. Raises InvalidInput."""
        return AsyncUser(self, checked_user(user))

    async def users(self, prefix: str = "") -> AsyncIterator[str]:
        """Ids of the users with a forest in the store, sorted."""
        for user in await self._runtime.users(prefix):
            yield user

    async def delete_user(self, user: str) -> None:
        """Remove everything of one user, for good; the id can be used again, empty. Raises NotFound."""
        await self._runtime.delete_user(checked_user(user))

    async def close(self) -> None:
        """Drain, checkpoint, and stop only a cluster that this client started."""
        await self._runtime.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class User:
    """One user's memory for blocking code; same verbs as `AsyncUser`. Pickles, also into Ray tasks."""

    def __init__(self, client: "Client", handle: AsyncUser) -> None:
        self.id = handle.id
        self._client = client
        self._handle = handle

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self._client.settings, self.id)

    def ingest(self, session: Session, **options: Any) -> Receipt:
        return self._client.run(self._handle.ingest(session, **options))

    def ingest_many(self, sessions: Iterable[Session], **options: Any) -> list[Receipt]:
        return self._client.run(self._handle.ingest_many(sessions, **options))

    def query(self, text: str, **options: Any) -> Result:
        return self._client.run(self._handle.query(text, **options))

    def ask(self, text: str, **options: Any) -> Answer:
        return self._client.run(self._handle.ask(text, **options))

    def forget(self, **what: Any) -> Forgotten:
        return self._client.run(self._handle.forget(**what))

    def repair(self, **options: Any) -> Receipt:
        return self._client.run(self._handle.repair(**options))

    def save(self, name: str, **options: Any) -> Saved:
        return self._client.run(self._handle.save(name, **options))

    def restore(self, name: str, **options: Any) -> Restored:
        return self._client.run(self._handle.restore(name, **options))

    def snapshots(self) -> "list[SnapshotInfo]":
        return self._client.run(self._handle.snapshots())

    def delete_snapshot(self, name: str, **options: Any) -> None:
        self._client.run(self._handle.delete_snapshot(name, **options))

    def stats(self) -> dict[str, Any]:
        return self._client.run(self._handle.stats())

    def trees(self) -> list[dict[str, Any]]:
        return self._client.run(self._handle.trees())

    def tree(self, scope: str) -> dict[str, Any]:
        return self._client.run(self._handle.tree(scope))


class Client:
    """The door for blocking code: an `AsyncClient` on an event loop of its own, in a thread. `with` closes it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="memforest-client", daemon=True)
        self._thread.start()
        try:
            self._inner = AsyncClient(settings, _open_runtime(settings))
        except BaseException:
            self._stop()
            raise

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`, waited for; Ctrl-C cancels it. Raises InvalidInput when the client is closed."""
        if not self._thread.is_alive():
            work.close()
            raise InvalidInput("this client is closed; nothing was done; connect again")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    def user(self, user: str) -> User:
        """A handle; nothing is created or contacted before its first call. Raises InvalidInput."""
        return User(self, self._inner.user(user))

    def users(self, prefix: str = "") -> list[str]:
        """Ids of the users with a forest in the store, sorted."""

        async def collect() -> list[str]:
            return [user async for user in self._inner.users(prefix)]

        return self.run(collect())

    def delete_user(self, user: str) -> None:
        """Remove everything of one user, for good; the id can be used again, empty. Raises NotFound."""
        self.run(self._inner.delete_user(user))

    def close(self) -> None:
        """Drain, checkpoint, and stop only a cluster that this client started. Twice is fine."""
        if self._thread.is_alive():
            try:
                self.run(self._inner.close())
            finally:
                self._stop()

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _copied(error: MemForestError, *notes: str, **detail: str) -> MemForestError:
    """The same error with notes and details of its own."""
    copied = copy(error)
    copied.__cause__ = error.__cause__
    copied.detail = {**error.detail, **detail}
    for note in notes:
        copied.add_note(note)
    return copied


def _request(text: str, at_least: Receipt | int | None, options: dict[str, Any]) -> QueryRequest:
    version = at_least.version if isinstance(at_least, Receipt) else at_least
    return QueryRequest.of(text, at_least=version, **options)


@cache
def _shared_client(settings: Settings) -> Client:
    return Client(settings)


def _reopen(settings: Settings, user: UserId) -> User:
    """What an unpickled handle does: one client per process and settings."""
    return _shared_client(settings).user(user)
