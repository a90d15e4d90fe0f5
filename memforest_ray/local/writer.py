"""The writer of one forest: takes writes in, has them prepared, makes batches durable and answers each.

All correctness comes from the log; here it is only seen to that nothing is answered before it is true.
"""

import asyncio
import logging
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from memforest_ray.ambient import Clock, Random
from memforest_ray.commit.version import Version
from memforest_ray.errors import Fenced, MemForestError, NotFound, OutcomeUnknown, Passivating
from memforest_ray.facts.verdicts import Pair
from memforest_ray.forest import lifecycle, snapshots, writing
from memforest_ray.forest.effects import Steps
from memforest_ray.forest.errands import Correct, Errand, Lend, Merge, Merged, Renew, Renewed, Return
from memforest_ray.forest.intents import (
    Answered,
    Deleted,
    DeleteSnapshot,
    Forget,
    Ingest,
    Intent,
    Receipt,
    Repair,
    Restore,
    Save,
    Upkeep,
    Wait,
)
from memforest_ray.forest.receipts import answered, billed, same_write, seal
from memforest_ray.forest.rows import Nodes
from memforest_ray.forest.work import Answer, Written
from memforest_ray.ids import OpId, UserId, user_hash
from memforest_ray.local.borrowing import Borrowed
from memforest_ray.local.effects import Known, Models, Prefetcher, run
from memforest_ray.local.lane import Lane, Ticket
from memforest_ray.local.meter import Meter, timing
from memforest_ray.local.preparing import Preparer
from memforest_ray.local.published import Past, Published
from memforest_ray.local.refreshing import Done, Refresher
from memforest_ray.local.remembering import Settle

__all__ = ["Writer"]

_OfSnapshot = Save | Restore | DeleteSnapshot
_OfMemory = Forget | Repair | Save | Correct | Renew
"""Writes for which there has to be a memory already."""

_log = logging.getLogger(__name__)

_ROUNDS_MAX = 5
"""Times a batch is begun again because another owner's commits came between, before it is given back."""


class Writer:
    """One task at a time serves the lane; what a write needs no turn for is prepared beside it."""

    def __init__(
        self,
        published: Published,
        models: Models,
        settle: Settle,
        clock: Clock,
        random: Random,
        meter: Meter,
        user: UserId,
        *,
        depth_max: int,
        linger_s: float,
        calls_max: int,
    ) -> None:
        self._published = published
        self._models = models
        self._settle = settle
        self._clock = clock
        self._random = random
        self._meter = meter
        self._user = user
        self._name = name = user_hash(user)[:12]
        """What logs call the forest."""
        self._lane = Lane(depth_max)
        self._refresher = Refresher(
            models,
            name,
            clock=clock,
            linger_s=linger_s,
            calls_max=calls_max,
            extracting=lambda: meter.cells,
            published=published.known,
            quiet=self._quiet,
            take_in=self._take_in,
        )
        meter.watch = self._refresher.extracted
        self._preparer = Preparer(models, self._refresher, clock, alone=self._alone)
        self._in_flight: dict[OpId, Ticket] = {}
        self._preparing: set[asyncio.Task[None]] = set()
        self._telling: set[asyncio.Task[None]] = set()
        self._serving: asyncio.Task[None] | None = None
        self._closing = False

    def __len__(self) -> int:
        """Writes that are not answered yet."""
        return len(self._lane)

    @property
    def backlog(self) -> int:
        """Summaries that are to follow."""
        return len(self._refresher)

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
        if self._closing:
            raise Passivating("this memory is being closed; the call was not begun; make it again")
        # While an erasure is open nobody may be told that something was forgotten: that takes a turn.
        told = None if self._published.log.erasing else answered(version, write)
        if told is None:
            return self._begin(write, version).done
        done = asyncio.get_running_loop().create_future()
        done.set_result(told)
        return done

    def resume(self, version: Version) -> None:
        """Finish what an earlier owner left undone: summaries that stand in, pairs that are pending."""
        if self._models.defers or self._models.judge is not None:
            self._refresher.resume(version)

    async def close(self) -> None:
        """Take in no more writes, and finish those that wait."""
        self._closing = True
        if self._serving is not None:
            await self._serving
        await self._refresher.close()
        await asyncio.gather(*self._telling)
        self._lane.close()
        if self._serving is not None:
            await self._serving

    def _begin(self, write: Intent, version: Version) -> Ticket:
        prepares = isinstance(write, Ingest | Forget | Repair)
        ticket = self._lane.enter(write, ready=not prepares)
        ticket.entered_s, ticket.busy_s = self._clock.elapsed(), self._meter.busy_s
        self._in_flight[write.op_id] = ticket
        ticket.done.add_done_callback(partial(self._settled, write.op_id))
        self._ensure_served()
        if isinstance(write, Ingest | Forget | Repair):
            task = asyncio.create_task(self._preparer.prepare(ticket, write, version))
            self._preparing.add(task)
            task.add_done_callback(partial(self._prepared, ticket))
        return ticket

    def _ensure_served(self) -> None:
        if self._serving is None or self._serving.done():
            self._serving = asyncio.create_task(self._serve())

    def _settled(self, op_id: OpId, done: "asyncio.Future[Answered]") -> None:
        del self._in_flight[op_id]
        if not done.cancelled():
            done.exception()  # nobody may be waiting any more

    def _prepared(self, ticket: Ticket, task: "asyncio.Task[None]") -> None:
        """A write whose models failed has its answer; it neither waits nor spoils a batch."""
        self._preparing.discard(task)
        if task.cancelled():
            ticket.land()
            ticket.done.cancel()
            self._lane.leave(ticket)
        elif isinstance(error := task.exception(), Exception):
            ticket.answer(error)
            self._lane.leave(ticket)
        else:
            self._lane.prepared(ticket)

    # ---- a batch -----------------------------------------------------------------------------------------

    def _alone(self, ticket: Ticket, version: Version) -> bool:
        """Whether `version` is the newest still, and no other write is in the lane."""
        return self._published.known() is version and self._lane.waiting == (ticket,) and not self._lane.busy

    async def _quiet(self) -> bool:
        """Wait until every ingest that is here now has had its turn; whether there were any."""
        ahead = [ticket.landed for ticket in self._lane.waiting if isinstance(ticket.write, Ingest)]
        if ahead:
            await asyncio.wait(ahead)
        return bool(ahead)

    async def _take_in(self, nodes: Nodes, pairs: tuple[Pair, ...], known: Known) -> int:
        """Have what was made beside the lane committed; the version that holds it."""
        ticket = self._lane.bring(Upkeep(OpId(self._random.nonce()), nodes, pairs))
        ticket.known = known
        self._ensure_served()
        return (await ticket.done).version

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
                if doubt is None:
                    await self._published.check_refusal(error)
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
        if not version.exists and isinstance(write, _OfMemory):
            raise NotFound.memory(self._user)
        if isinstance(write, Save | Restore | DeleteSnapshot):
            done = await self._with_snapshot(version, batch, write)
        elif isinstance(write, Lend | Return):
            done = await self._with_loan(version, batch, write)
        elif isinstance(write, Merge):
            done = await self._write(version, batch, None, await self._published.borrowed(write))
        else:
            done = await self._write(version, batch, None)
        return [] if done else list(batch)

    async def _with_snapshot(self, version: Version, batch: Sequence[Ticket], write: _OfSnapshot) -> bool:
        """A batch of one; whether it is done."""
        gone: Deleted | None = None
        if not isinstance(write, Save):
            gone = await self._expected(version, write)  # nothing is claimed for a name that is not there
        if isinstance(write, DeleteSnapshot):
            gone = gone or await self._published.delete_snapshot(write)
            if gone is not None:
                batch[0].answer(gone)
            return gone is not None
        if not await self._published.own(version):
            return False
        if isinstance(write, Restore):
            return await self._write(version, batch, await self._published.past(write.name))
        batch[0].answer(await self._published.save(write))
        return True

    async def _expected(self, version: Version, write: Restore | DeleteSnapshot) -> Deleted | None:
        """Whether it was removed by the same write. Raises NotFound."""
        try:
            return await self._published.expect(write)
        except NotFound as error:
            raise error if version.exists else NotFound.memory(self._user) from None

    async def _with_loan(self, version: Version, batch: Sequence[Ticket], write: Lend | Return) -> bool:
        """A batch of one; whether it is done. What was not claimed holds no pin of ours, so none is given back."""
        if isinstance(write, Return):
            batch[0].answer(await self._published.take_back(write))
            return True
        if not version.sessions:
            raise NotFound.memory(self._user)
        if not await self._published.own(version):
            return False
        batch[0].answer(await self._published.lend(write))
        return True

    async def _write(
        self, version: Version, batch: Sequence[Ticket], past: Past | None, source: Borrowed | None = None
    ) -> bool:
        """Make a batch durable; whether that could be done on `version`. A restore is a commit in any case.

        `source`: what a merge takes over.
        """
        write = batch[0].write
        if isinstance(write, Forget):
            batch[0].write = write = await self._published.looked_back(version, write)
        seconds: dict[str, float] = {}
        known = Known()
        if isinstance(write, Renew):
            self._refresher.known = Known()  # what was said before is to be said anew
        known.absorb(self._refresher.known)
        for ticket in batch:
            known.absorb(ticket.known)
        with timing(self._clock, seconds, "write"):
            asking = isinstance(write, Ingest)  # no other turn waits for a judge: pairs are judged beside it
            steps = self._steps(version, batch, past, None if source is None else source.version)
            written = await run(steps, self._models, known, asking=asking, prefetch=self._prefetcher(batch))
        # A forget is erased from the store before it is answered, also where another one has left it nothing to change.
        if past is not None or written.erases or not written.changes.empty:
            if not await self._published.own(version):
                return False
            written = seal(billed(written, [ticket.usage for ticket in batch]), self._published.log.version + 1)
            if isinstance(write, Merge) and source is not None:
                await self._published.still_borrowed(write, source)
            with timing(self._clock, seconds, "commit"):
                await self._published.land(
                    written,
                    [ticket.write.op_id for ticket in batch],
                    including_snapshots=isinstance(write, Forget) and write.including_snapshots,
                    index=None if past is None else past.index,
                )
            self._settle([cell for ticket in batch for cell in ticket.extracted], _inputs(written))
        follows = self._follow_up(version, written, write)
        for ticket, answer in zip(batch, written.answers, strict=True):
            self._tell(ticket, answer, seconds, follows=follows)
        return True

    def _prefetcher(self, batch: Sequence[Ticket]) -> Prefetcher | None:
        """Has summaries asked for before what they stand on is committed, if somebody waits for them and no other
        write is about to change the same trees.
        """
        waited = any(isinstance(ticket.write, Ingest | Merge) and _wait_of(ticket.write) != "facts" for ticket in batch)
        coming = any(isinstance(ticket.write, Ingest) for ticket in self._lane.waiting)
        return self._refresher.prefetch if waited and not coming else None

    def _follow_up(self, before: Version, written: Written, write: Intent) -> bool:
        """See to what is left to be done beside the lane; whether anything is."""
        after = self._published.known()
        if not (self._models.defers or self._models.judge is not None):
            return False
        if isinstance(write, Upkeep):
            self._refresher.taken_in(after)
        elif isinstance(write, Repair | Restore):
            self._refresher.resume(after)
            return bool(written.stale or after.facts.pending)
        elif isinstance(write, Renew):  # what an earlier one has left stale is to be made anew as well
            self._refresher.resume(after)
            return self._models.defers and len(self._refresher) > 0
        elif after is not before:
            self._refresher.noted(before, after, written.stale)
        return self._models.defers and bool(written.stale)

    def _tell(self, ticket: Ticket, answer: Answer, seconds: Mapping[str, float], *, follows: bool) -> None:
        """Answer a write whose turn is over; one that waits for what follows when that is there, too."""
        ticket.seconds.update(seconds)
        if isinstance(answer, Renewed) and follows:
            self._later(ticket, self._tell_renewed(ticket, answer))
        elif not isinstance(answer, Receipt | Merged):
            ticket.answer(answer)
        elif answer.duplicate or _wait_of(ticket.write) == "facts":
            ticket.answer(self._timed(ticket, answer))
        elif not follows:  # all summaries were there when its turn came
            ticket.answer(self._billed(self._timed(ticket, answer)))
        else:
            self._later(ticket, self._tell_later(ticket, answer))

    def _later(self, ticket: Ticket, telling: Coroutine[Any, Any, None]) -> None:
        """Have a write whose turn is over answered when what it waits for is there."""
        self._lane.hold(ticket)
        ticket.land()
        task = asyncio.create_task(telling)
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    async def _tell_renewed(self, ticket: Ticket, answer: Renewed) -> None:
        done = await self._refresher.finished(answer.version)
        spent = self._refresher.bill()
        whole = replace(
            answer,
            version=max(answer.version, done.version),
            duplicate=answer.duplicate and done.version <= answer.version,
            refreshed=done.whole,
            usage={**answer.usage, "summarise": spent} if spent.calls else answer.usage,
            notes=(done.note,) if done.note else (),
        )
        ticket.answer(whole)

    async def _tell_later(self, ticket: Ticket, answer: Receipt | Merged) -> None:
        with timing(self._clock, ticket.seconds, "refresh"):
            done = await self._refresher.finished(answer.version)
        ticket.answer(self._billed(self._timed(ticket, _refreshed(answer, done))))

    def _billed(self, answer: Receipt | Merged) -> Receipt | Merged:
        """With what summaries have cost."""
        spent = self._refresher.bill()
        return replace(answer.charged({"summarise": spent}), depth=max(answer.depth, 1)) if spent.calls else answer

    def _timed(self, ticket: Ticket, answer: Receipt | Merged) -> Receipt | Merged:
        wall_s = self._clock.elapsed() - ticket.entered_s
        busy_s = self._meter.busy_s - ticket.busy_s
        idle = max(0.0, 1 - busy_s / wall_s) if wall_s > 0 else None
        return replace(answer.timed(ticket.seconds), idle_share=idle)

    def _steps(
        self, version: Version, batch: Sequence[Ticket], past: Past | None, source: Version | None
    ) -> Steps[Written]:
        model = self._models.summarizer.model
        write, prepared = batch[0].write, batch[0].extracted
        if isinstance(write, Restore) and past is not None:
            return snapshots.restore(version, write, past.version, past.rows, model)
        if isinstance(write, Forget):
            return writing.forget(version, write, prepared, model)
        if isinstance(write, Repair):
            return writing.repair(version, write, prepared, model)
        if isinstance(write, Upkeep):
            return writing.upkeep(version, write, model)
        if isinstance(write, Errand):
            return lifecycle.steps_of(version, write, source, model)
        extracted = {shown: found for ticket in batch for shown, found in ticket.extracted.items()}
        writes = [ticket.write for ticket in batch if isinstance(ticket.write, Ingest)]
        compared = [ticket.compared for ticket in batch if ticket.compared is not None]
        return writing.ingest(version, writes, extracted, model, compared)

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


def _known(version: Version, write: Intent) -> Answered | MemForestError:
    try:
        told = answered(version, write)
    except MemForestError as error:
        return error
    assert told is not None
    return told


def _inputs(written: Written) -> Iterator[str]:
    """What summaries that are committed now were made of."""
    yield from (row["inputs"] for row in written.changes.puts.get("summaries", {}).values() if row["inputs"])


def _wait_of(write: Intent) -> Wait:
    return write.wait if isinstance(write, Ingest | Merge) else "refreshed"


def _refreshed(answer: Receipt | Merged, done: Done) -> Receipt | Merged:
    notes = (*answer.notes, done.note) if done.note else answer.notes
    version = max(answer.version, done.version)
    return replace(answer, version=version, refreshed=done.whole, depth=done.depth, notes=notes)


def _give_back(batch: Sequence[Ticket], error: Exception) -> None:
    for ticket in batch:
        ticket.answer(error)
