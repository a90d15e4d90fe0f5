"""Drives one forest: reads its log, has its models called, makes batches durable, publishes versions.

Reads run on the published version and never wait for a write. All correctness comes from the log: a driver that
was overtaken by another owner finds out at its next write, or at a read within `fresh_s`, and is then of no use.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from memforest_ray.ambient import Clock, Random
from memforest_ray.commit.changes import Changes
from memforest_ray.commit.log import CommitLog, Reload
from memforest_ray.commit.manifest import check_fingerprint
from memforest_ray.commit.version import Birth, Version
from memforest_ray.config import Settings
from memforest_ray.errors import (
    Fenced,
    InvalidInput,
    MemForestError,
    OutcomeUnknown,
    Passivating,
    StoreUnavailable,
)
from memforest_ray.facts.candidates import Extractor
from memforest_ray.facts.sessions import Session, admit
from memforest_ray.forest import reading, writing
from memforest_ray.forest.effects import Effect, Embed, Extract, Steps
from memforest_ray.forest.intents import Forget, Forgotten, Ingest, Intent, Receipt, Repair
from memforest_ray.ids import OpId, UserId, user_hash
from memforest_ray.index.index import Index
from memforest_ray.local.lane import Lane, Ticket
from memforest_ray.models.embedder import Embedder
from memforest_ray.query.answer import answer
from memforest_ray.query.request import QueryRequest
from memforest_ray.query.result import Answer, Result
from memforest_ray.query.search import search
from memforest_ray.storage.open import probe
from memforest_ray.storage.store import ObjectStore
from memforest_ray.trees.scenes import Thresholds
from memforest_ray.trees.summaries import RefreshPlan, Summarizer, SummaryReply

__all__ = ["ForestDriver", "Models"]

T = TypeVar("T")
_log = logging.getLogger(__name__)

_ROUNDS_MAX = 5
"""Times a batch is begun again because another owner's commits came between, before it is given back."""


@dataclass(frozen=True, slots=True)
class Models:
    """What a forest asks of models, behind protocols: in this process or in pools."""

    extractor: Extractor
    summarizer: Summarizer
    embedder: Embedder


class ForestDriver:
    """One user's forest on one event loop."""

    def __init__(
        self, user: UserId, store: ObjectStore, models: Models, settings: Settings, clock: Clock, random: Random
    ) -> None:
        self.user = user
        self._models = models
        self._settings = settings
        self._clock = clock
        self._random = random
        self._store = store
        self._log = CommitLog(
            store,
            user,
            clock,
            random,
            checkpoint_commits=settings.checkpoint_commits,
            checkpoint_bytes=settings.checkpoint_bytes,
            prove_after_s=settings.prove_after_s,
        )
        self._thresholds = Thresholds.of(models.embedder.fingerprint)
        self._version: Version | None = None
        self._index = Index(models.embedder.fingerprint.dimension)
        self._read_at = 0.0
        self._opening = asyncio.Lock()
        self._lane = Lane(settings.lane_depth_max)
        self._writer: asyncio.Task[None] | None = None
        self._preparing: set[asyncio.Task[None]] = set()
        self._in_flight: dict[OpId, asyncio.Future[Receipt | Forgotten]] = {}
        self._closing = False
        self._probed = False
        self.last_used = clock.elapsed()
        """`Clock.elapsed` of the last call."""
        self.fenced = False
        """Another owner has taken over: make a new driver."""

    # ---- verbs -------------------------------------------------------------------------------------------

    async def call(self, verb: str, arguments: Mapping[str, Any], *, op_id: OpId | None, seen: int) -> Any:
        """One call of a handle. Raises errors of `memforest_ray.errors`."""
        if self._closing:
            raise Passivating("this memory is being put away; the call was not begun; make it again")
        self.last_used = self._clock.elapsed()
        verbs: dict[str, Callable[..., Awaitable[Any]]] = {
            "ingest": self._ingest,
            "forget": self._forget,
            "repair": self._repair,
            "query": self._query,
            "ask": self._ask,
            "stats": self._stats,
            "trees": self._trees,
            "tree": self._tree,
        }
        if verb not in verbs:
            raise InvalidInput(f"unknown verb {verb!r}; known: {', '.join(sorted(verbs))}")
        try:
            if op_id is not None:
                return await verbs[verb](op_id, **arguments)
            return await verbs[verb](await self._fresh(seen), **arguments)
        except Fenced:
            self.fenced = True
            raise

    async def _ingest(self, op_id: OpId, session: Session, replace: bool = False, wait: str = "refreshed") -> Any:
        if wait != "refreshed":
            raise InvalidInput(f"wait={wait!r} is not known; known: 'refreshed'")
        admitted = await asyncio.to_thread(admit, session)
        write = Ingest(op_id, admitted.record, admitted.naive_times, admitted.undated_turns, replace)
        return await self._write(write)

    async def _forget(self, op_id: OpId, including_snapshots: bool = False, **what: Any) -> Any:
        del including_snapshots  # there are no snapshots yet that could hold it
        return await self._write(Forget(op_id, **what))

    async def _repair(self, op_id: OpId) -> Any:
        return await self._write(Repair(op_id))

    async def _query(self, version: Version, request: QueryRequest) -> Result:
        vector = await self._query_vector(version, request)
        return await asyncio.to_thread(search, version, request, vector)

    async def _ask(self, version: Version, request: QueryRequest) -> Answer:
        vector = await self._query_vector(version, request)
        found = await asyncio.to_thread(search, version, request, vector)
        return answer(found, request.text)

    async def _query_vector(self, version: Version, request: QueryRequest) -> Any:
        if not version.facts and not version.cells:
            return None
        row = (await self._models.embedder.embed([request.text]))[0]
        return row.astype(np.float32) if row.any() else None

    async def _stats(self, version: Version) -> dict[str, Any]:
        counts = await asyncio.to_thread(reading.counts, version)
        return {**counts, "writes_waiting": len(self._lane), "owned": self._log.owned}

    async def _trees(self, version: Version) -> list[dict[str, Any]]:
        return await asyncio.to_thread(reading.tree_cards, version)

    async def _tree(self, version: Version, scope: str) -> dict[str, Any]:
        return await asyncio.to_thread(reading.whole_tree, version, scope)

    # ---- reading -----------------------------------------------------------------------------------------

    async def _opened(self) -> Version:
        async with self._opening:
            if self._version is None:
                await self._load()
            assert self._version is not None
            return self._version

    async def _load(self) -> None:
        """The newest version from the store, with a new index."""
        started = self._clock.elapsed()
        loaded = await self._log.read()
        fingerprint = self._models.embedder.fingerprint
        if loaded.manifest is not None and loaded.manifest.state != "deleted":
            check_fingerprint(loaded.manifest, fingerprint_row(self._models.embedder))
            birth = Birth.of(loaded.manifest.birth)
        else:
            birth = Birth.of(self._settings.birth)
        index = Index(fingerprint.dimension)
        if loaded.tables:
            version = await asyncio.to_thread(
                Version.load, loaded.tables, loaded.version, birth, self._thresholds, index
            )
        else:
            version = Version.empty(birth, self._random.nonce(), self._thresholds, index.view())
            version = replace(version, number=loaded.version)
        self._index, self._version, self._read_at = index, version, started

    async def _fresh(self, seen: int) -> Version:
        """The published version, proven to be the newest within `fresh_s` seconds."""
        version = await self._opened()
        if self._log.owned:
            await self._log.prove(self._settings.fresh_s)
        elif seen > version.number or self._clock.elapsed() - self._read_at >= self._settings.fresh_s:
            async with self._opening:
                started = self._clock.elapsed()
                if not self._log.owned and await self._log.moved():
                    await self._load()
                self._read_at = started
        assert self._version is not None
        return self._version

    # ---- writing -----------------------------------------------------------------------------------------

    async def _write(self, write: Intent) -> Receipt | Forgotten:
        """The answer of a write, from the lane; the same operation again is joined, or answered from memory."""
        running = self._in_flight.get(write.op_id)
        if running is None:
            if (known := await self._answered(write.op_id)) is not None:
                return known
            running = self._in_flight.get(write.op_id)
        if running is None:
            running = self._begin(write)
        # A caller that goes away does not take the write with it: others may have joined, and it may be durable.
        return await asyncio.shield(running)

    async def _answered(self, op_id: OpId) -> Receipt | Forgotten | None:
        version = await self._opened()
        row = version.operations.get(op_id)
        if row is None:
            return None
        if self._log.erasing:
            await self._own()
        fields = {key: value for key, value in row.items() if key != "kind"}
        return Forgotten.from_json(fields) if row["kind"] == "forgotten" else Receipt.from_json(fields)

    def _begin(self, write: Intent) -> "asyncio.Future[Receipt | Forgotten]":
        ticket = self._lane.enter(write)
        self._in_flight[write.op_id] = ticket.done
        ticket.done.add_done_callback(lambda done: self._settled(write.op_id, done))
        if self._writer is None:
            self._writer = asyncio.create_task(self._serve())
        if isinstance(write, Ingest):
            task = asyncio.create_task(self._prepare(ticket, write))
            self._preparing.add(task)
            task.add_done_callback(self._preparing.discard)
        return ticket.done

    def _settled(self, op_id: OpId, done: "asyncio.Future[Any]") -> None:
        self._in_flight.pop(op_id, None)
        if not done.cancelled():
            done.exception()  # nobody may be waiting any more

    async def _prepare(self, ticket: Ticket, write: Ingest) -> None:
        """What needs no history, before the write's turn: candidates of its cells, and most of its vectors."""
        version = self._version
        assert version is not None
        try:
            with self._timing(ticket.seconds, "extract"):
                cells = await asyncio.to_thread(writing.needed, version, write)
                found = await self._models.extractor.extract(cells) if cells else []
                ticket.extracted = {extraction.cell_id: extraction for extraction in found}
            with self._timing(ticket.seconds, "embed"):
                texts = await asyncio.to_thread(writing.foreseen_texts, version, write, ticket.extracted)
                rows = await self._models.embedder.embed(texts) if texts else ()
                ticket.vectors = dict(zip(texts, rows, strict=True))
        except MemForestError:
            # Its turn decides, and reports: by then another write may have made it right.
            _log.debug("a write could not be prepared", exc_info=True)
        finally:
            self._lane.prepared(ticket)

    async def _serve(self) -> None:
        """The lane's only taker. Ends when the driver closes."""
        while True:
            batch = await self._lane.take()
            try:
                answers = await self._perform(batch)
            except asyncio.CancelledError:
                _give_back(batch, Passivating("this memory is being put away; make the call again"))
                raise
            except Exception as error:  # noqa: BLE001 - the supervising loop: one batch must not end the lane
                _give_back(batch, error)
                self.fenced = self.fenced or isinstance(error, Fenced)
                continue
            for ticket, outcome in zip(batch, answers, strict=True):
                if isinstance(outcome, MemForestError):
                    ticket.done.set_exception(outcome)
                else:
                    ticket.done.set_result(outcome)
            await self._upkeep()

    async def _perform(self, batch: Sequence[Ticket]) -> list[Receipt | Forgotten | MemForestError]:
        """Write a batch. Begun again when it turns out that others have written meanwhile."""
        doubt: MemForestError | None = None
        for _ in range(_ROUNDS_MAX):
            version = await self._opened()
            known = [version.operations.get(ticket.write.op_id) for ticket in batch]
            if doubt is not None and all(known):
                return [answer for ticket in batch if (answer := await self._answered(ticket.write.op_id))]
            seconds: dict[str, float] = {}
            with self._timing(seconds, "write"):
                written = await self._run(self._steps(version, batch), batch)
            if written.changes.empty:
                return [_timed(answer, ticket, seconds) for answer, ticket in zip(written.answers, batch, strict=True)]
            if not await self._own() or self._version is not version:
                continue
            sealed = writing.seal(written, self._log.version + 1)
            try:
                with self._timing(seconds, "commit"):
                    await self._land(sealed, batch)
            except OutcomeUnknown as error:
                doubt = error
                async with self._opening:
                    await self._load()
                continue
            return [_timed(answer, ticket, seconds) for answer, ticket in zip(sealed.answers, batch, strict=True)]
        raise doubt or Fenced("other owners keep taking over this memory; nothing was written; call again")

    def _steps(self, version: Version, batch: Sequence[Ticket]) -> Steps[writing.Written]:
        model = self._models.summarizer.model
        write = batch[0].write
        if isinstance(write, Forget):
            return writing.forget(version, write, model)
        if isinstance(write, Repair):
            return writing.repair(version, write, model)
        extracted = {name: found for ticket in batch for name, found in ticket.extracted.items()}
        writes = [ticket.write for ticket in batch if isinstance(ticket.write, Ingest)]
        return writing.ingest(version, writes, extracted, model)

    async def _own(self) -> bool:
        """Make sure that the forest is ours. False when it has changed since it was read: it was read again."""
        if self._log.owned and not self._log.erasing:
            return True
        if not self._probed:
            await probe(self._store, self._random)
            self._probed = True
        async with self._opening:
            others: Sequence[Changes] = ()
            if not self._log.owned:
                try:
                    others = await self._log.claim(self._settings.birth, fingerprint_row(self._models.embedder))
                except Reload:
                    await self._load()
                    return False
            if others:
                await self._load()
            if self._log.erasing:
                erased = await self._log.erase()
                assert self._version is not None
                self._version = replace(self._version, number=erased.version)
                return False
            return not others

    async def _land(self, written: writing.Written, batch: Sequence[Ticket]) -> None:
        """Make it durable, then publish it; then, if it forgets something, erase. Never half of this."""
        operations = [ticket.write.op_id for ticket in batch]
        opens = operations[:1] if written.erases else ()
        await self._log.commit(written.changes, operations, opens=opens)
        view = await asyncio.to_thread(self._index.apply, written.add, written.drop)
        self._version = replace(written.version, index=view)
        if opens:
            erased = await self._log.erase()
            self._version = replace(self._version, number=erased.version)

    async def _upkeep(self) -> None:
        """Shorten the log when that pays. What fails here is tried again after the next batch."""
        if not (self._log.owned and self._log.due):
            return
        try:
            await self._log.checkpoint()
            await self._log.compact()
            await self._log.collect()
        except (Fenced, StoreUnavailable) as error:
            self.fenced = self.fenced or isinstance(error, Fenced)
            _log.warning("checkpoint of %s failed: %s", user_hash(self.user)[:12], error.kind)

    # ---- effects -----------------------------------------------------------------------------------------

    async def _run(self, steps: Steps[T], batch: Sequence[Ticket]) -> T:
        """Take the writer's steps, doing what it asks for in between; the steps themselves run in a thread."""
        vectors = {text: row for ticket in batch for text, row in ticket.vectors.items()}
        reply: Any = None
        while True:
            effect, result = await asyncio.to_thread(_step, steps, reply)
            if effect is None:
                return result  # type: ignore[no-any-return]  # what a finished generator returned: T
            reply = await self._do(effect, vectors)

    async def _do(self, effect: Effect, vectors: dict[str, Any]) -> Any:
        if isinstance(effect, Extract):
            return await self._models.extractor.extract(effect.cells)
        if isinstance(effect, Embed):
            missing = [text for text in effect.texts if text not in vectors]
            if missing:
                vectors.update(zip(missing, await self._models.embedder.embed(missing), strict=True))
            return [vectors[text] for text in effect.texts]
        return await self._refresh(effect.plan)

    async def _refresh(self, plan: RefreshPlan) -> None:
        """Whatever is ready at once, until nothing is left."""
        running: set[asyncio.Task[list[SummaryReply]]] = set()
        try:
            while not plan.finished:
                if requests := plan.ready():
                    running.add(asyncio.create_task(self._models.summarizer.summarise(requests)))
                finished, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in finished:
                    for reply in task.result():
                        if reply.text is None:
                            plan.failed(reply.node_id, reply.failure or "no answer")
                        else:
                            plan.done(reply.node_id, reply.text, self._models.summarizer.source)
        finally:
            for task in running:
                task.cancel()

    @contextmanager
    def _timing(self, seconds: dict[str, float], stage: str) -> Iterator[None]:
        started = self._clock.elapsed()
        try:
            yield
        finally:
            seconds[stage] = seconds.get(stage, 0.0) + self._clock.elapsed() - started

    # ---- leaving -----------------------------------------------------------------------------------------

    async def close(self) -> None:
        """Refuse new calls, finish what waits, checkpoint. Writes nothing if nothing was written."""
        self._closing = True
        waiting = [future for future in self._in_flight.values() if not future.done()]
        if waiting:
            await asyncio.wait(waiting)
        if self._writer is not None:
            # The batch is answered; let its upkeep end, then stop waiting for another.
            self._writer.cancel()
            await asyncio.wait([self._writer])
        if not self.fenced:
            await self._log.close()


def fingerprint_row(embedder: Embedder) -> dict[str, Any]:
    """What a manifest keeps of the embedder: what must not change unnoticed."""
    fingerprint = embedder.fingerprint
    return {"model": fingerprint.model, "dimension": fingerprint.dimension}


def _step(steps: Steps[Any], reply: Any) -> tuple[Effect | None, Any]:
    """One step of the writer: an effect, or its result. (StopIteration must not leave a thread.)"""
    try:
        return steps.send(reply), None
    except StopIteration as stop:
        return None, stop.value


def _timed(answer: writing.Answer, ticket: Ticket, seconds: Mapping[str, float]) -> writing.Answer:
    if not isinstance(answer, Receipt):
        return answer
    return answer.timed({**ticket.seconds, **seconds})


def _give_back(batch: Sequence[Ticket], error: Exception) -> None:
    if not isinstance(error, MemForestError):
        _log.error("a batch of %d writes failed", len(batch), exc_info=error)
    for ticket in batch:
        if not ticket.done.done():
            ticket.done.set_exception(error)
