"""What a write needs no turn for: done beside the lane, as if nothing else happened first.

All of it is kept by what was asked: candidates by what a cell shows, vectors by text, verdicts by pair, summaries by
their inputs. So what turns out otherwise when the turn comes is simply not found, and nothing has to be validated.
"""

import asyncio
from collections.abc import Sequence
from functools import partial

from memforest_ray.ambient import Clock
from memforest_ray.commit.version import Version
from memforest_ray.errors import LLMUnavailable, MemForestError
from memforest_ray.facts.candidates import CellInput, Extraction
from memforest_ray.forest import writing
from memforest_ray.forest.intents import Forget, Ingest, Repair
from memforest_ray.local.effects import Models, run
from memforest_ray.local.lane import Ticket
from memforest_ray.local.meter import timing
from memforest_ray.local.refreshing import Refresher

__all__ = ["Preparer"]


class Preparer:
    """Prepares writes, any number at a time."""

    def __init__(self, models: Models, refresher: Refresher, clock: Clock) -> None:
        self._models = models
        self._refresher = refresher
        self._clock = clock

    async def prepare(self, ticket: Ticket, write: Ingest | Forget | Repair, version: Version) -> None:
        """Candidates of its cells, then vectors and verdicts; beside that the summaries of the session's own tree.

        Raises LLMUnavailable: no call of an ingest got any answer.
        """
        try:
            cells = await asyncio.to_thread(writing.needed, version, write)
        except MemForestError:
            return  # its turn decides: by then an earlier write may have made it right
        foreseen = self._foresee(write, version) if isinstance(write, Ingest) and cells else None
        try:
            await self._extract(ticket, cells, write)
            if isinstance(write, Ingest) and cells:
                await self._compare(ticket, write, version)
        except BaseException:
            if foreseen is not None:
                foreseen.cancel()
            raise

    async def _extract(self, ticket: Ticket, cells: Sequence[CellInput], write: Ingest | Forget | Repair) -> None:
        with timing(self._clock, ticket.seconds, "extract"):
            found = await self._models.extractor.extract(cells) if cells else []
        if isinstance(write, Ingest):  # a forget goes on: what nobody read is a failed cell, and is tried again
            _check_answered(found)
        ticket.extracted = dict(zip(cells, found, strict=True))

    async def _compare(self, ticket: Ticket, write: Ingest, version: Version) -> None:
        with timing(self._clock, ticket.seconds, "embed"):
            ahead = await run(writing.foreseen(version, write, ticket.extracted), self._models, ticket.known)
        ticket.compared = ahead.compared
        if ahead.judged.calls:
            ticket.usage["judge"] = ahead.judged

    def _foresee(self, write: Ingest, version: Version) -> "asyncio.Task[None] | None":
        # Who does not wait for summaries has all of the servers for what he waits for.
        if not self._models.defers or write.wait == "facts":
            return None
        return self._refresher.foresee(partial(writing.session_plan, version, write, self._models.summarizer.model))


def _check_answered(found: Sequence[Extraction]) -> None:
    """Raises LLMUnavailable when no call got any answer."""
    if found and not any(extraction.answered for extraction in found):
        raise LLMUnavailable(
            f"the model answered none of {len(found)} calls ({found[0].failure}); nothing was committed; "
            "make the same call again when it is there"
        )
