"""Drives one forest: reads its log, has its models called, makes batches durable, publishes versions.

Reads run on the published version and never wait for a write. All correctness comes from the log: a driver that
was overtaken by another owner finds out at its next write, or at a read within `fresh_s`, and is then of no use.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from datetime import date, datetime
from functools import partial
from typing import Any, TypeAlias

from memforest_ray.ambient import Clock, Random
from memforest_ray.commit.journal import News, news_since
from memforest_ray.commit.snapshots import SnapshotInfo, check_name
from memforest_ray.commit.version import Version
from memforest_ray.config import Settings
from memforest_ray.errors import Fenced, InvalidInput, NotFound, Passivating, StoreUnavailable, meant
from memforest_ray.facts.instants import TimeLike, parse_instant
from memforest_ray.facts.sessions import Session, admit
from memforest_ray.forest import reading
from memforest_ray.forest.errands import RENEWALS, Correct, Lend, Merge, Reembedded, Renew, Return
from memforest_ray.forest.forecast import Forecast
from memforest_ray.forest.intents import (
    WAITS,
    Answered,
    DeleteSnapshot,
    Forget,
    Ingest,
    Intent,
    Repair,
    Restore,
    Save,
    Wait,
)
from memforest_ray.forest.merging import forecast
from memforest_ray.forest.overviews import Stats, Tree, TreeCard
from memforest_ray.ids import OpId, UserId, user_hash
from memforest_ray.local.effects import Models
from memforest_ray.local.meter import Meter, consulted, counted, metered
from memforest_ray.local.published import Published
from memforest_ray.local.questions import Questions
from memforest_ray.local.reembedding import reembed_forest
from memforest_ray.local.remembering import remembering
from memforest_ray.local.writer import Writer
from memforest_ray.storage.store import ObjectStore

__all__ = ["ForestDriver", "Models"]

_log = logging.getLogger(__name__)

_DAY_MS = 86_400_000

Arguments: TypeAlias = Mapping[str, Any]
"""Of a verb, by name."""

OF_ANY_VERSION = frozenset({"query", "ask", "trees", "tree"})
"""Reads that can be asked of a snapshot as well."""
OF_SOMETHING = frozenset({"tree"})
"""Reads that name a part of a memory; others tell of a memory that is not there that it is empty."""


class ForestDriver:
    """One user's forest on one event loop."""

    def __init__(
        self,
        user: UserId,
        store: ObjectStore,
        models: Models,
        settings: Settings,
        clock: Clock,
        random: Random,
        *,
        resumes: bool = False,
    ) -> None:
        """`resumes`: whoever opens it is its only owner, so what an earlier one left undone is finished at once, and
        not only with the first write.
        """
        self._resumes = resumes
        self.user = user
        self._models = models
        self._settings = settings
        self._clock = clock
        self._store = store
        self._random = random
        self._moving: asyncio.Task[Reembedded] | None = None
        self._published = Published(user, store, models, settings, clock, random)
        self._meter = Meter(clock)
        self._questions = Questions(consulted(models, self._meter))
        kept, settle = remembering(counted(models, self._meter), self._published.responses)
        self._writer = Writer(
            self._published,
            metered(kept, self._meter),
            settle,
            clock,
            random,
            self._meter,
            user,
            depth_max=settings.lane_depth_max,
            linger_s=settings.refresh_linger_s,
            calls_max=settings.llm_permits * max(1, len(settings.llm_urls)),
        )
        self._arriving = asyncio.Lock()
        """Writes take their places in the order in which they came, however long each takes to be checked."""
        self._closing = False
        self._writes = self._write_verbs()
        self._reads = self._read_verbs()

    def _write_verbs(self) -> dict[str, Callable[[OpId, int, Arguments], Awaitable[Any]]]:
        """What each makes of an op id, the version that its caller has seen, and its arguments."""
        intents: dict[str, Callable[..., Awaitable[Intent]]] = {
            "ingest": self._ingest,
            "forget": self._forget,
            "repair": self._repair,
            "save": self._save,
            "restore": self._restore,
            "delete_snapshot": self._delete_snapshot,
            "merge": self._merge,
            "correct": self._correct,
            "renew": self._renew,
            "lend": partial(_errand, Lend),
            "return": partial(_errand, Return),
        }
        return {**{verb: partial(self._write, intent) for verb, intent in intents.items()}, "reembed": self._reembed}

    def _read_verbs(self) -> dict[str, Callable[..., Awaitable[Any]]]:
        """What each tells of a version."""
        return {
            "query": self._questions.query,
            "ask": self._questions.ask,
            "stats": self._stats,
            "trees": self._trees,
            "tree": self._tree,
            "snapshots": self._snapshots,
            "forecast": self._forecast,
            "changes": self._changes,
            "warm": self._warm,
        }

    @property
    def fenced(self) -> bool:
        """Whether another owner has taken over: make a new driver."""
        return self._published.fenced

    @property
    def waiting(self) -> tuple[int, int]:
        """Writes that are not answered yet, and summaries that are to follow."""
        return len(self._writer), self._writer.backlog

    # ---- verbs -------------------------------------------------------------------------------------------

    async def call(self, verb: str, arguments: Arguments, *, op_id: OpId | None, seen: int) -> Any:
        """One call of a handle. Raises errors of `memforest_ray.errors`."""
        arguments = dict(arguments)
        snapshot = arguments.pop("snapshot", None) if op_id is None else None
        if self._closing:
            raise Passivating("this memory is being closed; the call was not begun; make it again")
        try:
            if op_id is not None and verb in self._writes:
                return await self._writes[verb](op_id, seen, arguments)
            if op_id is None and verb in self._reads:
                return await self._reads[verb](await self._read_of(verb, seen, snapshot), **arguments)
        except Fenced:
            self._published.fenced = True
            raise
        raise InvalidInput(f"unknown verb {verb!r}; {meant(verb, [*self._writes, *self._reads])}")

    async def version(self, seen: int = 0) -> Version:
        """The published version, as fresh as a read's."""
        return await self._fresh(seen)

    async def _read_of(self, verb: str, seen: int, snapshot: str | None) -> Version:
        """What a read is answered from: the present, or a snapshot, which it does not have to be restored for."""
        version = await self._fresh(seen)
        if snapshot is None:
            if verb in OF_SOMETHING and not version.exists:
                raise NotFound.memory(self.user)
            return version
        if verb not in OF_ANY_VERSION:
            raise InvalidInput(
                f"{verb!r} cannot be asked of a snapshot; these can: {', '.join(sorted(OF_ANY_VERSION))}"
            )
        try:
            return await self._published.snapshots.version(snapshot)
        except NotFound as error:  # a memory that began elsewhere just now, and was saved, is not known here yet
            raise error if version.exists else NotFound.memory(self.user) from None

    async def _fresh(self, seen: int) -> Version:
        version = await self._published.fresh(seen, self._settings.fresh_s)
        if self._resumes:
            self._resumes = False
            self._writer.resume(version)
        return version

    async def _write(
        self, intent: Callable[..., Awaitable[Intent]], op_id: OpId, seen: int, arguments: Arguments
    ) -> Answered:
        async with self._arriving:
            write = await intent(op_id, **arguments)
            version = await self._fresh(seen)
            done = self._writer.enter(write, version)
        # A caller that goes away does not take the write with it.
        return await asyncio.shield(done)

    async def _ingest(self, op_id: OpId, session: Session, replace: bool = False, wait: str = "refreshed") -> Intent:
        known = _wait(wait)
        admitted = await asyncio.to_thread(admit, session)
        return Ingest(op_id, admitted.record, admitted.naive_times, admitted.undated_turns, replace, known)

    async def _forget(self, op_id: OpId, **what: Any) -> Intent:
        return Forget(op_id, **what)

    async def _repair(self, op_id: OpId) -> Intent:
        return Repair(op_id)

    async def _save(self, op_id: OpId, name: str, replace: bool = False) -> Intent:
        check_name(name)
        return Save(op_id, name, replace)

    async def _restore(self, op_id: OpId, name: str) -> Intent:
        return Restore(op_id, name)

    async def _delete_snapshot(self, op_id: OpId, name: str) -> Intent:
        return DeleteSnapshot(op_id, name)

    async def _stats(self, version: Version) -> Stats:
        counts = await asyncio.to_thread(reading.counts, version)
        return {
            **counts,
            "writes_waiting": len(self._writer),
            "owned": self._published.log.owned,
            "models": self._meter.to_json(),
            "graphs": self._published.graphs.to_json(),
        }

    async def _trees(self, version: Version) -> list[TreeCard]:
        return await asyncio.to_thread(reading.tree_cards, version)

    async def _tree(self, version: Version, scope: str) -> Tree:
        return await asyncio.to_thread(reading.whole_tree, version, scope)

    async def _snapshots(self, _: Version) -> list[SnapshotInfo]:
        return list(await self._published.log.snapshots())

    async def _merge(self, op_id: OpId, source: UserId, replacing: bool = False, wait: str = "refreshed") -> Intent:
        return Merge(op_id, source, replacing, _wait(wait))

    async def _correct(
        self,
        op_id: OpId,
        fact: str,
        text: str,
        value: str | None = None,
        event_time: TimeLike | tuple[TimeLike, TimeLike] = None,
    ) -> Intent:
        return Correct(op_id, fact, text, value, _event_time(event_time))

    async def _renew(self, op_id: OpId, what: str, scope: str | None = None) -> Intent:
        known = [each for each in RENEWALS if each == what]
        if not known:
            raise InvalidInput(f"{what!r} is not known; nothing was done; {meant(what, RENEWALS)}")
        return Renew(op_id, known[0], scope)

    async def _reembed(self, op_id: OpId, *_: object) -> Reembedded:
        """Not opened for it: another embedder's vectors would be refused. Who asks meanwhile waits for the same."""
        if self._moving is None or self._moving.done():
            self._moving = asyncio.create_task(
                reembed_forest(self._store, self.user, self._models.embedder, op_id, self._clock, self._random)
            )
        moving = self._moving
        try:
            return await asyncio.shield(moving)
        except asyncio.CancelledError:
            if self._closing and moving.cancelled():
                raise Passivating(
                    "this memory is being closed; its vectors are unchanged; make the same call again"
                ) from None
            raise

    async def _forecast(self, version: Version, source: UserId) -> Forecast:
        """What a merge would do. The source is read without a pin: nothing of it is kept."""
        other = await self._published.neighbour(source)
        return await asyncio.to_thread(forecast, version, source, other, self._models.summarizer.model)

    async def _changes(self, version: Version, since: int) -> News:
        return news_since(version.journal, since, version.number)

    async def _warm(self, version: Version) -> int:
        return version.number

    # ---- leaving -----------------------------------------------------------------------------------------

    async def close(self) -> None:
        """Refuse new calls, finish what waits, checkpoint. Writes nothing if nothing was written.

        Raises StoreUnavailable: no checkpoint was made, which costs the next opening some time and nothing else.
        """
        self._closing = True
        if self._moving is not None and not self._moving.done():
            self._moving.cancel()  # it has changed nothing before its one change, and begins anew
            await asyncio.wait([self._moving])
        await self._writer.close()
        await self._published.graphs.close()
        await self._published.responses.flushed()
        try:
            if not self.fenced:
                await self._published.log.close()
        except StoreUnavailable as error:
            raise StoreUnavailable(
                f"{error.reason}: no checkpoint was made, so the next opening takes longer; "
                "what was acknowledged is kept",
                **error.detail,
            ) from error
        except Fenced:
            self._published.fenced = True
            _log.info("%s has another owner by now; it was left to that one", user_hash(self.user)[:12])


def _wait(given: str) -> Wait:
    """Raises InvalidInput."""
    known = [each for each in WAITS if each == given]
    if not known:
        raise InvalidInput(f"wait={given!r} is not known; nothing was done; {meant(str(given), WAITS)}")
    return known[0]


def _event_time(given: TimeLike | tuple[TimeLike, TimeLike]) -> str | tuple[int, int] | None:
    """Words as they are, a day as a day, any other time as that instant. Raises InvalidInput."""
    if given is None or isinstance(given, str):
        return given
    if isinstance(given, tuple):
        start, end = given
        return parse_instant(start).ms, parse_instant(end).ms
    start_ms = parse_instant(given).ms
    return start_ms, start_ms + (_DAY_MS if isinstance(given, date) and not isinstance(given, datetime) else 1)


async def _errand(kind: Callable[..., Intent], op_id: OpId, **what: Any) -> Intent:
    return kind(op_id, **what)
