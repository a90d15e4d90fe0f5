"""What a write needs no turn for: done beside the lane, as if nothing else happened first.

All of it is kept by what was asked: candidates by what a cell shows, vectors by text, verdicts by pair, summaries by
their inputs. So what turns out otherwise when the turn comes is simply not found, and nothing has to be validated.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import partial

from memforest_ray.ambient import Clock
from memforest_ray.commit.version import Version
from memforest_ray.errors import LLMUnavailable, MemForestError
from memforest_ray.facts.candidates import CellInput, Extraction
from memforest_ray.forest import writing
from memforest_ray.forest.intents import Forget, Ingest, Repair
from memforest_ray.forest.touched import read_touched
from memforest_ray.local.effects import Models, prefetched, run
from memforest_ray.local.lane import Ticket
from memforest_ray.local.meter import timing
from memforest_ray.local.refreshing import Refresher
from memforest_ray.trees.summaries import RefreshPlan, SummaryRequest

__all__ = ["Preparer"]


class Preparer:
    """Prepares writes, any number at a time."""

    def __init__(
        self, models: Models, refresher: Refresher, clock: Clock, *, alone: Callable[[Ticket, Version], bool]
    ) -> None:
        """`alone`: whether a version is still the newest, and no other write is about to change it."""
        self._models = models
        self._refresher = refresher
        self._clock = clock
        self._alone = alone

    async def prepare(self, ticket: Ticket, write: Ingest | Forget | Repair, version: Version) -> None:
        """Candidates of its cells, then vectors and verdicts; beside that the summaries of the session's own tree.

        Raises LLMUnavailable: no call of an ingest got any answer; CorruptState: a tree cannot be read.
        """
        try:
            cells = await asyncio.to_thread(writing.needed, version, write)
        except MemForestError:
            return  # its turn decides: by then an earlier write may have made it right
        prefetching = self._prefetch_session(write, version) if isinstance(write, Ingest) and cells else None
        try:
            async with self._reading(write, version):
                await self._extract(ticket, cells, write)
            if isinstance(write, Ingest) and cells:
                await self._compare(ticket, write, version)
        except BaseException:
            if prefetching is not None:
                prefetching.cancel()
            raise

    @asynccontextmanager
    async def _reading(self, write: Ingest | Forget | Repair, version: Version) -> AsyncIterator[None]:
        """Meanwhile read what waits to be read of the trees that the write is about to change.

        That pays where a model's calls pass the time. Raises CorruptState.
        """
        if not (self._models.defers and isinstance(write, Ingest)):
            yield
            return
        reading = asyncio.create_task(asyncio.to_thread(read_touched, version, write.session))
        try:
            yield
            await reading
        finally:
            reading.cancel()

    async def _extract(self, ticket: Ticket, cells: Sequence[CellInput], write: Ingest | Forget | Repair) -> None:
        with timing(self._clock, ticket.seconds, "extract"):
            found = await self._models.extractor.extract(cells) if cells else []
        if isinstance(write, Ingest):  # a forget goes on: what nobody read is a failed cell, and is tried again
            _check_answered(found)
        ticket.extracted = dict(zip(cells, found, strict=True))

    async def _compare(self, ticket: Ticket, write: Ingest, version: Version) -> None:
        waits = self._models.defers and write.wait != "facts"
        entities = _EntityPrefetch(self._refresher, lambda: waits and self._alone(ticket, version))
        steps = writing.prefetch(version, write, ticket.extracted, self._models.summarizer.model)
        with timing(self._clock, ticket.seconds, "embed"):
            try:
                found = await run(
                    steps, self._models, ticket.known, prefetch_plan=entities.begin, doubting=entities.withdraw
                )
                if not found.certain:
                    entities.withdraw()
            except BaseException:
                entities.withdraw()
                raise
            finally:
                await entities.over()
        ticket.compared = found.compared
        if found.judged.calls:
            ticket.usage["judge"] = found.judged

    def _prefetch_session(self, write: Ingest, version: Version) -> "asyncio.Task[None] | None":
        # Who does not wait for summaries has all of the servers for the facts.
        if not self._models.defers or write.wait == "facts":
            return None
        model = self._models.summarizer.model
        return self._refresher.prefetch_plan(partial(writing.session_plan, version, write, model))


class _EntityPrefetch:
    """Prefetches the summaries of entities' trees while statements are embedded and compared.

    They are what will be wanted unless a statement turns out to be one with another, which few are.
    """

    def __init__(self, refresher: Refresher, alone: Callable[[], bool]) -> None:
        """`alone`: whether somebody waits for them, and nobody else is about to change those trees."""
        self._refresher = refresher
        self._alone = alone
        self._withdrawn = False
        self._asked: list[str] = []
        self._asking: asyncio.Task[None] | None = None

    def begin(self, plan: Callable[[], RefreshPlan]) -> None:
        """`plan` is made in a thread."""
        if self._alone():
            self._asking = asyncio.create_task(self._ask(plan))

    async def _ask(self, plan: Callable[[], RefreshPlan]) -> None:
        await prefetched(await asyncio.to_thread(plan), self._ask_for)

    def _ask_for(self, requests: Iterable[SummaryRequest]) -> None:
        if self._alone() and not self._withdrawn:
            self._asked += self._refresher.prefetch(requests)

    def withdraw(self) -> None:
        """They may be others: ask for no more, and end the calls that nobody else waits for."""
        self._withdrawn = True
        self._refresher.withdraw(self._asked)

    async def over(self) -> None:
        """Wait until all of them are asked for."""
        if self._asking is not None:
            await self._asking


def _check_answered(found: Sequence[Extraction]) -> None:
    """Raises LLMUnavailable when no call got any answer."""
    if found and not any(extraction.answered for extraction in found):
        raise LLMUnavailable(
            f"the model answered none of {len(found)} calls ({found[0].failure}); nothing was committed; "
            "make the same call again when it is back"
        )
