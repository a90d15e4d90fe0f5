"""Handles: one user's memory as an async application holds it. It knows an id and what it has seen, nothing else."""

import asyncio
import threading
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, Protocol, Unpack

from memforest_ray.copying import Caller, merged
from memforest_ray.errors import InvalidInput, MemForestError, VersionGone
from memforest_ray.facts.sessions import Session, TimeLike
from memforest_ray.forest import Forgotten, Receipt, Restored, Saved
from memforest_ray.forest.errands import Corrected, Merged, Reembedded, Renewed
from memforest_ray.forest.intents import Wait
from memforest_ray.ids import OpId, UserId
from memforest_ray.query.request import QueryOptions, QueryRequest
from memforest_ray.query.result import Answer, Result

if TYPE_CHECKING:  # a client that asks for no snapshots loads nothing of the log
    from memforest_ray.commit.journal import News
    from memforest_ray.commit.snapshots import SnapshotInfo
    from memforest_ray.forest.forecast import Forecast
    from memforest_ray.forest.overviews import Stats, Tree, TreeCard

__all__ = ["SESSIONS_IN_FLIGHT", "AsyncUser", "Progress", "Told", "Whose", "checked_user", "user_of"]

Progress = Callable[[int, int, Receipt | MemForestError], None]
"""Called after each session of `ingest_many`: sessions done, sessions in all, what became of this one."""

SESSIONS_IN_FLIGHT = 32
"""Of one `ingest_many`: enough to fill a batch while the one before it commits."""

USER_ID_BYTES_MAX = 4096


class Told(Protocol):
    """What a write was answered."""

    @property
    def version(self) -> int:
        """The version that holds the write."""


def checked_user(user: str) -> UserId:
    """Any text is a user id, but not an empty or an endless one. Raises InvalidInput."""
    if not isinstance(user, str) or not user:
        raise InvalidInput(f"a user id must be non-empty text, not {user!r}; nothing was done")
    if len(user.encode("utf-8", "surrogatepass")) > USER_ID_BYTES_MAX:
        raise InvalidInput(f"a user id has at most {USER_ID_BYTES_MAX} bytes in UTF-8; nothing was done")
    return UserId(user)


class Whose(Protocol):
    """A handle, blocking or async."""

    @property
    def id(self) -> UserId:
        """Whose memory it is."""


def user_of(user: str | Whose) -> UserId:
    """The id of a user, or of a handle."""
    return checked_user(user) if isinstance(user, str) else user.id


class AsyncUser:
    """One user's memory, wherever it lives. Made by `AsyncClient.user`.

    A user without a memory has one that is empty, to whoever reads it whole or asks a question. What names a part of
    it, and what changes it otherwise than by adding to it, raises NotFound (`what` is "user").
    """

    def __init__(self, client: Caller, user: UserId) -> None:
        self.id = user
        self._client = client
        self._seen = 0
        self._seeing = threading.Lock()
        """Blocking code may share a handle among its threads."""

    def __repr__(self) -> str:
        return f"AsyncUser({self.id!r})"

    def _saw(self, version: int) -> None:
        """Nothing older will do from now on."""
        with self._seeing:
            self._seen = max(self._seen, version)

    async def _read(self, verb: str, **arguments: Any) -> Any:
        return await self._client.call(self.id, verb, arguments, op_id=None, seen=self._seen)

    async def _search(self, verb: str, request: QueryRequest, snapshot: str | None, **more: Any) -> Any:
        least = request.at_least or 0
        if snapshot is not None and least:
            raise InvalidInput(
                "at_least and snapshot cannot be combined: a snapshot never gets newer; give one of the two"
            )
        asked = {"request": request, **more, **({} if snapshot is None else {"snapshot": snapshot})}
        found = await self._client.call(self.id, verb, asked, op_id=None, seen=max(self._seen, least))
        held = found.result if isinstance(found, Answer) else found
        if held is not None and held.version < least:
            raise VersionGone(f"this memory is at version {held.version}; version {least} does not exist")
        return found

    async def _write(self, verb: str, op_id: str | None, **arguments: Any) -> Any:
        name = OpId(op_id or self._client.random.nonce())
        answer = await self._client.call(self.id, verb, arguments, op_id=name, seen=self._seen)
        self._saw(answer.version)
        return answer

    async def ingest(
        self,
        session: Session,
        *,
        op_id: str | None = None,
        wait: Wait = "refreshed",
        replace: bool = False,
    ) -> Receipt:
        """Make one session memory; it is queryable when this returns.

        The same session again is `duplicate` and writes nothing; a longer one adds what follows. `op_id` names the
        write: the same one again, after whatever failure, is done once. Raises InvalidInput, SessionConflict (other
        turns are stored under this id; `replace=True` puts the new ones in their place), Overloaded,
        LLMUnavailable, StoreUnavailable, OutcomeUnknown.

        With a model, `wait="facts"` returns a stage earlier: its facts can be found, the summaries above them are
        extractive and marked stale, and those that the model writes follow by themselves.
        """
        receipt: Receipt = await self._write("ingest", op_id, session=session, replace=replace, wait=wait)
        return receipt

    async def ingest_many(
        self,
        sessions: Iterable[Session],
        *,
        on_progress: Progress | None = None,
        wait: Wait = "refreshed",
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

    async def query(
        self,
        text: str,
        *,
        at_least: Told | int | None = None,
        snapshot: str | None = None,
        **options: Unpack[QueryOptions],
    ) -> Result:
        """Evidence for `text`, best first.

        Options: `k`; `mode` ("flat", "root", "embed", and with a chat model "llm", "planner", "planner+embed");
        `rerank` (by a chat model); `expand`; `as_of`, `since`, `until` (times in any form that a turn's time may
        have); `asked` (when the question was); `zone`; `families`; `kind`, `speaker`, `role`, `session`, `entity`,
        `metadata` (what hits have to be); `token_budget`; `explain` (each hit says what its score is made of).
        `at_least`: what a write was answered, or its version: the answer must know of it. `snapshot`: ask what is kept
        under that name, as it was saved; nothing is restored, and writing goes on. Raises InvalidInput, VersionGone,
        NotFound.
        """
        result: Result = await self._search("query", _request(text, at_least, options), snapshot)
        self._saw(result.version)
        return result

    async def ask(
        self,
        text: str,
        *,
        at_least: Told | int | None = None,
        snapshot: str | None = None,
        on_text: Callable[[str], None] | None = None,
        **options: Unpack[QueryOptions],
    ) -> Answer:
        """An answer from the evidence alone, naming its sources, or "not in memory". Options are those of `query`.

        `on_text` is called with each piece of the text while it is written, on the thread that waits for models.
        """
        request = _request(text, at_least, options)
        told = {} if on_text is None else {"on_text": on_text}
        answer: Answer = await self._search("ask", request, snapshot, **told)
        return answer

    async def forget(
        self,
        *,
        session: str | None = None,
        turns: Sequence[str] | None = None,
        fact: str | None = None,
        origin: str | None = None,
        with_dialogue: bool = False,
        including_snapshots: bool = False,
        op_id: str | None = None,
    ) -> Forgotten:
        """Erase a session, turns (of `session`, if their ids are not unique) or one fact, and what was made of them; or
        everything that came from the user `origin` by merges, at first or second hand.

        A forgotten fact's dialogue stays unless `with_dialogue`; the report names the turns that still hold it.
        Raises NotFound; InvalidInput, also when a snapshot holds the dialogue: `including_snapshots` takes it out of
        that, too, and finds a session that only snapshots hold.
        """
        if isinstance(turns, str):
            raise InvalidInput(f"turns is the text {turns!r}; it must be a list of turn ids; nothing was changed")
        report: Forgotten = await self._write(
            "forget",
            op_id,
            session=session,
            turns=None if turns is None else tuple(turns),
            fact=fact,
            origin=origin,
            with_dialogue=with_dialogue,
            including_snapshots=including_snapshots,
        )
        return report

    async def repair(self, *, op_id: str | None = None) -> Receipt:
        """Retry what failed: cells that no model could read, verdicts, summaries. Without any, nothing is written.

        Raises NotFound.
        """
        receipt: Receipt = await self._write("repair", op_id)
        return receipt

    async def merge_from(
        self,
        source: str | Whose,
        *,
        wait: Wait = "refreshed",
        replace: bool = False,
        op_id: str | None = None,
    ) -> Merged:
        """Take over another user's memory, by reuse: their sessions as `<source>/<id>`, speakers without a name as
        `<source>/<role>`; people, and what they speak of, meet by name. Again later: what is new since.

        What either has forgotten or withheld stays so. `wait`: as for `ingest`. Raises NotFound, SessionConflict (a
        session was replaced there since an earlier merge; `replace=True` follows), InvalidInput, Overloaded,
        StoreUnavailable, OutcomeUnknown.
        """
        name, other = OpId(op_id or self._client.random.nonce()), user_of(source)
        told = await merged(self._client, self.id, other, name, replacing=replace, wait=wait, seen=self._seen)
        self._saw(told.version)
        return told

    async def merge_forecast(self, source: str | Whose) -> "Forecast":
        """What `merge_from` would do: what joins, what is renamed, what conflicts. Changes nothing. Raises NotFound."""
        found: Forecast = await self._read("forecast", source=user_of(source))
        return found

    async def changes(self, since: "Told | int") -> "News":
        """Ids of the facts and sessions that came, changed or went after a version, or after a write's answer.

        Raises InvalidInput; VersionGone when that was too long ago: then the memory is to be read whole.
        """
        version = getattr(since, "version", since)
        if not isinstance(version, int):
            raise InvalidInput(f"`since` must be what a write was answered, or its version, not {since!r}")
        news: News = await self._read("changes", since=version)
        return news

    async def correct(
        self,
        fact: str,
        text: str,
        *,
        value: str | None = None,
        event_time: TimeLike | tuple[TimeLike, TimeLike] = None,
        op_id: str | None = None,
    ) -> Corrected:
        """Put `text` in the place of a fact. What it said is withheld and does not come back; the dialogue stays.

        `value`: what the fact's attribute is now (of "Bob lives in Davis.": "Davis"); kept when the new text still has
        it. `event_time`: an instant, a day, or a pair of them, the end exclusive; None keeps it. Raises NotFound,
        InvalidInput.
        """
        done: Corrected = await self._write("correct", op_id, fact=fact, text=text, value=value, event_time=event_time)
        return done

    async def resummarise(self, scope: str | None = None, *, op_id: str | None = None) -> Renewed:
        """Have all summaries written anew, or those of one tree; those that are there serve meanwhile.

        Returns when the new ones are published, as `rescene` and `rebuild` do. Where a model does not write one, the
        old one stays, `refreshed` is False, and `repair` tries again. Raises NotFound.
        """
        done: Renewed = await self._write("renew", op_id, what="resummarise", scope=scope)
        return done

    async def rescene(self, *, op_id: str | None = None) -> Renewed:
        """Cluster all facts into scenes anew, in the order in which they were said. Raises NotFound, InvalidInput (this
        memory has no scene trees).
        """
        done: Renewed = await self._write("renew", op_id, what="rescene")
        return done

    async def rebuild(self, *, op_id: str | None = None) -> Renewed:
        """Make all derived state anew from dialogue, candidates and verdicts: trees, scenes, summaries, vectors.

        Raises NotFound.
        """
        done: Renewed = await self._write("renew", op_id, what="rebuild")
        return done

    async def reembed(self, *, op_id: str | None = None) -> Reembedded:
        """Move this memory, its snapshots included, to the embedder that this client is set up with.

        Vectors are made beside the memory, which serves the old ones to whoever has the old embedder; then all change
        at once, and clients with the old one are refused. Raises NotFound, StoreUnavailable, OutcomeUnknown.
        """
        done: Reembedded = await self._write("reembed", op_id)
        return done

    async def save(self, name: str, *, replace: bool = False, op_id: str | None = None) -> Saved:
        """Keep the present state under `name`; it costs little, since what does not change is shared.

        Raises InvalidInput (the name is taken and `replace` was not said), NotFound (nothing is remembered yet).
        """
        saved: Saved = await self._write("save", op_id, name=name, replace=replace)
        return saved

    async def restore(self, name: str, *, op_id: str | None = None) -> Restored:
        """Make the state kept under `name` the present one; the version rises.

        What was forgotten since stays forgotten, and facts that were forgotten or corrected since do not show again:
        told is what did not come back. What was ingested since is gone, unless it was saved. Raises NotFound.
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

    async def stats(self) -> "Stats":
        """Counts of what the forest holds, and of what it has cost; `exists` tells a user without a memory."""
        counts: Stats = await self._read("stats")
        return counts

    async def trees(self, *, snapshot: str | None = None) -> "list[TreeCard]":
        """One card per tree: scope, label, leaves, height, time range, summary. `snapshot`: see `query`."""
        cards: list[TreeCard] = await self._read("trees", snapshot=snapshot)
        return cards

    async def tree(self, scope: str, *, snapshot: str | None = None) -> "Tree":
        """One tree, nested: each node's interval, count, summary and children. Raises NotFound."""
        nodes: Tree = await self._read("tree", scope=scope, snapshot=snapshot)
        return nodes


def _copied(error: MemForestError, *notes: str, **detail: str) -> MemForestError:
    """The same error with notes and details of its own."""
    copied = copy(error)
    copied.__cause__ = error.__cause__
    copied.detail = {**error.detail, **detail}
    for note in notes:
        copied.add_note(note)
    return copied


def _request(text: str, at_least: Told | int | None, options: QueryOptions) -> QueryRequest:
    return QueryRequest.of(text, at_least=getattr(at_least, "version", at_least), **options)
