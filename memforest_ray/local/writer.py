"""The writer of one forest: takes writes in, has them prepared, makes batches durable and answers each.

All correctness comes from the log; here it is only seen to that nothing is answered before it is true.
"""

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

from memforest_ray.ambient import Clock
from memforest_ray.commit.version import Version
from memforest_ray.errors import Fenced, MemForestError, NotFound, OutcomeUnknown
from memforest_ray.forest import snapshots, writing
from memforest_ray.forest.effects import Steps
from memforest_ray.forest.intents import (
    Answered,
    DeleteSnapshot,
    Forget,
    Ingest,
    Intent,
    Receipt,
    Repair,
    Restore,
    Save,
)
from memforest_ray.forest.receipts import answered, same_write, seal
from memforest_ray.forest.work import Answer, Written
from memforest_ray.ids import OpId
from memforest_ray.local.effects import Models, embedded, run
from memforest_ray.local.lane import Lane, Ticket
from memforest_ray.local.published import Past, Published

__all__ = ["Writer"]

_OfSnapshot = Save | Restore | DeleteSnapshot

_log = logging.getLogger(__name__)

_ROUNDS_MAX = 5
"""Times a batch is begun again because another owner's commits came between, before it is given back."""


class Writer:
    """One task at a time serves the lane; what a write needs no turn for is prepared beside it."""

    def __init__(self, published: Published, models: Models, clock: Clock, depth_max: int, name: str) -> None:
        self._published = published
        self._models = models
        self._clock = clock
        self._name = name
        """What logs call the forest."""
        self._lane = Lane(depth_max)
        self._in_flight: dict[OpId, Ticket] = {}
        self._preparing: set[asyncio.Task[None]] = set()
        self._serving: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        """Writes that are not answered yet."""
        return len(self._lane)

    # ---- callers -----------------------------------------------------------------------------------------

    def enter(self, write: Intent, version: Version) -> "asyncio.Future[Answered]":
        """Where the answer of a write will be; the same operation again is joined, or answered from what is remembered.

        `version` is the published one. Await the future shielded: others may have joined, and the write may be
        durable already. Raises Overloaded; Passivating; InvalidInput for an op id of another write.
        """
        ticket = self._in_flight.get(write.op_id)
        if ticket is not None:
            same_write(write, ticket.write)
            return ticket.done
        # While an erasure is open nobody may be told that something was forgotten: that takes a turn.
        told = None if self._published.log.erasing else answered(version, write)
        if told is None:
            return self._begin(write, version).done
        done = asyncio.get_running_loop().create_future()
        done.set_result(told)
        return done

    async def close(self) -> None:
        """Take in no more writes, and finish those that wait."""
        self._lane.close()
        if self._serving is not None:
            await self._serving

    def _begin(self, write: Intent, version: Version) -> Ticket:
        ticket = self._lane.enter(write)
        self._in_flight[write.op_id] = ticket
        ticket.done.add_done_callback(partial(self._settled, write.op_id))
        if self._serving is None or self._serving.done():
            self._serving = asyncio.create_task(self._serve())
        if isinstance(write, Ingest):
            task = asyncio.create_task(self._prepare(ticket, write, version))
            self._preparing.add(task)
            task.add_done_callback(partial(self._prepared, ticket))
        return ticket

    def _settled(self, op_id: OpId, done: "asyncio.Future[Answered]") -> None:
        del self._in_flight[op_id]
        if not done.cancelled():
            done.exception()  # nobody may be waiting any more

    # ---- before a write's turn ---------------------------------------------------------------------------

    async def _prepare(self, ticket: Ticket, write: Ingest, version: Version) -> None:
        """What needs no history: candidates of its cells, and most of its vectors."""
        try:
            cells = await asyncio.to_thread(writing.needed, version, write)
        except MemForestError:
            return  # its turn decides: by then an earlier write may have made it right
        with self._timing(ticket.seconds, "extract"):
            found = await self._models.extractor.extract(cells) if cells else []
            ticket.extracted = dict(zip(cells, found, strict=True))
        with self._timing(ticket.seconds, "embed"):
            texts = await asyncio.to_thread(writing.foreseen_texts, version, write, ticket.extracted)
            ticket.vectors = await embedded(self._models.embedder, texts)

    def _prepared(self, ticket: Ticket, task: "asyncio.Task[None]") -> None:
        """A write whose models failed has its answer; it neither waits nor spoils a batch."""
        self._preparing.discard(task)
        if task.cancelled():
            ticket.done.cancel()
            self._lane.leave(ticket)
        elif isinstance(error := task.exception(), Exception):
            ticket.answer(error)
            self._lane.leave(ticket)
        else:
            self._lane.prepared(ticket)

    # ---- a batch -----------------------------------------------------------------------------------------

    async def _serve(self) -> None:
        """The lane's only taker; ends when nothing waits, so that a driver that is let go of leaves no task behind."""
        while batch := await self._lane.take():
            await self._answer(batch)

    async def _answer(self, batch: Sequence[Ticket]) -> None:
        """The supervising loop's body: whatever goes wrong, each ticket has an answer and the lane goes on."""
        try:
            await self._perform(batch)
            await self._shorten()
        except MemForestError as error:
            self._published.fenced = self._published.fenced or isinstance(error, Fenced)
            _give_back(batch, error)
        except Exception as error:  # noqa: BLE001 - a bug in one batch must not end the lane
            _log.error("a batch of %d writes of %s failed", len(batch), self._name, exc_info=error)
            left = [ticket for ticket in batch if not ticket.done.done()]
            if len(left) == 1:
                _give_back(left, error)
                return
            for ticket in left:  # nor may what is wrong with one write keep the others from landing
                await self._answer([ticket])

    async def _perform(self, batch: Sequence[Ticket]) -> None:
        """Write a batch. Begun again when it turns out that others have written meanwhile."""
        doubt: OutcomeUnknown | None = None
        left = list(batch)
        for _ in range(_ROUNDS_MAX):
            try:
                left = await self._round(left)
            except OutcomeUnknown as error:
                doubt = error  # the claim is gone with it, so the next round reads what the log holds
            except MemForestError as error:
                raise doubt or error from error
            if not left:
                return
        raise doubt or Fenced("other owners keep taking over this memory; nothing was written; call again")

    async def _round(self, batch: Sequence[Ticket]) -> list[Ticket]:
        """One try; what is left to be done."""
        version = await self._published.newest()
        if known := {ticket for ticket in batch if ticket.write.op_id in version.operations}:
            if self._published.log.erasing and not await self._published.own(version):
                return list(batch)
            for ticket in known:
                ticket.answer(_known(version, ticket.write))
            batch = [ticket for ticket in batch if ticket not in known]
        if not batch:
            return []
        write = batch[0].write
        if isinstance(write, Save | Restore | DeleteSnapshot):
            done = await self._with_snapshot(version, batch, write)
        else:
            done = await self._write(version, batch, None)
        return [] if done else list(batch)

    async def _with_snapshot(self, version: Version, batch: Sequence[Ticket], write: _OfSnapshot) -> bool:
        """A batch of one; whether it is done."""
        if not isinstance(write, Save):
            await self._published.expect(write.name)  # nothing is claimed for a name that is not there
        elif not version.number:
            raise NotFound("nothing is remembered here yet, so there is nothing to save; nothing was changed")
        if isinstance(write, DeleteSnapshot):
            gone = await self._published.delete_snapshot(write)
            if gone is not None:
                batch[0].answer(gone)
            return gone is not None
        if not await self._published.own(version):
            return False
        if isinstance(write, Restore):
            return await self._write(version, batch, await self._published.past(write.name))
        batch[0].answer(await self._published.save(write))
        return True

    async def _write(self, version: Version, batch: Sequence[Ticket], past: Past | None) -> bool:
        """Make a batch durable; whether that could be done on `version`. A restore is a commit in any case."""
        write = batch[0].write
        seconds: dict[str, float] = {}
        with self._timing(seconds, "write"):
            vectors = {text: row for ticket in batch for text, row in ticket.vectors.items()}
            written = await run(self._steps(version, batch, past), self._models, vectors)
        if past is not None or not written.changes.empty:
            if not await self._published.own(version):
                return False
            written = seal(written, self._published.log.version + 1)
            with self._timing(seconds, "commit"):
                await self._published.land(
                    written,
                    [ticket.write.op_id for ticket in batch],
                    including_snapshots=isinstance(write, Forget) and write.including_snapshots,
                    index=None if past is None else past.index,
                )
        _tell(batch, written, seconds)
        return True

    def _steps(self, version: Version, batch: Sequence[Ticket], past: Past | None) -> Steps[Written]:
        model = self._models.summarizer.model
        write = batch[0].write
        if isinstance(write, Restore) and past is not None:
            return snapshots.restore(version, write, past.version, past.rows, model)
        if isinstance(write, Forget):
            return writing.forget(version, write, model)
        if isinstance(write, Repair):
            return writing.repair(version, write, model)
        extracted = {shown: found for ticket in batch for shown, found in ticket.extracted.items()}
        writes = [ticket.write for ticket in batch if isinstance(ticket.write, Ingest)]
        return writing.ingest(version, writes, extracted, model)

    async def _shorten(self) -> None:
        """Shorten the log when that pays. What fails here is tried again after a later batch."""
        log = self._published.log
        if not (log.owned and log.due):
            return
        try:
            await log.checkpoint()
            await log.compact()
            await log.collect()
        except MemForestError as error:
            self._published.fenced = self._published.fenced or isinstance(error, Fenced)
            _log.warning("checkpoint of %s failed: %s", self._name, error.kind)

    @contextmanager
    def _timing(self, seconds: dict[str, float], stage: str) -> Iterator[None]:
        started = self._clock.elapsed()
        try:
            yield
        finally:
            seconds[stage] = seconds.get(stage, 0.0) + self._clock.elapsed() - started


def _known(version: Version, write: Intent) -> Answered | MemForestError:
    try:
        told = answered(version, write)
    except MemForestError as error:
        return error
    assert told is not None
    return told


def _tell(batch: Sequence[Ticket], written: Written, seconds: Mapping[str, float]) -> None:
    for ticket, answer in zip(batch, written.answers, strict=True):
        ticket.answer(_timed(answer, {**ticket.seconds, **seconds}))


def _timed(answer: Answer, seconds: Mapping[str, float]) -> Answer:
    return answer.timed(seconds) if isinstance(answer, Receipt) else answer


def _give_back(batch: Sequence[Ticket], error: Exception) -> None:
    for ticket in batch:
        ticket.answer(error)
