"""The lane: writes wait here in the order in which they came, and leave it in batches.

Ingests of different sessions overtake each other: each enters a batch once it is extracted. Those of one session
keep their order, and any other write keeps its place among all.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memforest_ray.errors import Overloaded, Passivating
from memforest_ray.facts.candidates import CellInput, Extraction
from memforest_ray.forest.intents import Answered, Ingest, Intent
from memforest_ray.ids import SessionId

__all__ = ["Lane", "Ticket"]

RETRY_AFTER_S = 1.0
"""What a refused caller is told to wait: about one batch."""


@dataclass(eq=False, slots=True)
class Ticket:
    """One write on its way."""

    write: Intent
    done: "asyncio.Future[Answered]"
    ready: bool = False
    """Whether it may enter a batch: what can be prepared without its turn is prepared."""
    extracted: Mapping[CellInput, Extraction] = field(default_factory=dict)
    """By what was read: used only where that is still what there is to read."""
    vectors: Mapping[str, Any] = field(default_factory=dict)
    """By text."""
    seconds: dict[str, float] = field(default_factory=dict)

    def answer(self, outcome: Answered | Exception) -> None:
        """Tell the caller; only the first answer counts."""
        if self.done.done():
            return
        if isinstance(outcome, Exception):
            self.done.set_exception(outcome)
        else:
            self.done.set_result(outcome)


class Lane:
    """Bounded; one taker."""

    def __init__(self, depth_max: int) -> None:
        self._depth_max = depth_max
        self._waiting: list[Ticket] = []
        self._changed = asyncio.Event()
        self._taken = 0
        self._closed = False

    def __len__(self) -> int:
        """Writes that wait or are in the batch under way."""
        return len(self._waiting) + self._taken

    def enter(self, write: Intent) -> Ticket:
        """A place behind all others. Raises Overloaded; Passivating when the lane is closed."""
        if self._closed:
            raise Passivating("this memory is being put away; the call was not begun; make it again")
        if len(self) >= self._depth_max:
            raise Overloaded(
                f"{len(self)} writes wait for this memory; nothing was taken in; call again in {RETRY_AFTER_S} s",
                retry_after=RETRY_AFTER_S,
            )
        ticket = Ticket(write, asyncio.get_running_loop().create_future(), ready=not isinstance(write, Ingest))
        self._waiting.append(ticket)
        self._changed.set()
        return ticket

    def prepared(self, ticket: Ticket) -> None:
        """The ticket may enter a batch."""
        ticket.ready = True
        self._changed.set()

    def leave(self, ticket: Ticket) -> None:
        """The ticket has its answer without its turn."""
        self._waiting.remove(ticket)
        self._changed.set()

    def close(self) -> None:
        """Take in no more; what waits is still served."""
        self._closed = True

    async def take(self) -> list[Ticket]:
        """The next batch, as soon as there is one; the one before it is over. Empty when nothing waits."""
        self._taken = 0
        while not (batch := self._batch()):
            if not self._waiting:
                return []
            self._changed.clear()
            await self._changed.wait()
        self._waiting = [ticket for ticket in self._waiting if ticket not in batch]
        self._taken = len(batch)
        return batch

    def _batch(self) -> list[Ticket]:
        batch: list[Ticket] = []
        held: set[SessionId] = set()
        for ticket in self._waiting:
            if not isinstance(ticket.write, Ingest):
                return batch if batch or held else [ticket]
            if ticket.ready and ticket.write.session.id not in held:
                batch.append(ticket)
            else:
                held.add(ticket.write.session.id)
        return batch
