"""The lane: writes wait here in the order in which they came, and leave it in batches.

Ingests of different sessions overtake each other: each enters a batch once it is extracted. Those of one session
keep their order, and any other write keeps its place among all. What the forest itself brings (`Upkeep`) waits for
nobody.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from memforest_ray.errors import Overloaded, Passivating
from memforest_ray.facts.candidates import CellInput, Extraction
from memforest_ray.forest.comparing import Compared
from memforest_ray.forest.intents import Answered, Ingest, Intent, Upkeep
from memforest_ray.ids import SessionId
from memforest_ray.local.effects import Known
from memforest_ray.models.usage import Usage

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
    known: Known = field(default_factory=Known)
    """What else models have said about it."""
    compared: Compared | None = None
    """What its statements were held against."""
    usage: dict[str, Usage] = field(default_factory=dict)
    """What that has cost, by stage."""
    seconds: dict[str, float] = field(default_factory=dict)
    entered_s: float = 0.0
    busy_s: float = 0.0
    """What the clock and the meter showed when it entered."""
    landed: "asyncio.Future[None]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    """Done when its turn is over, whatever came of it; the answer may come later."""

    def land(self) -> None:
        """Its turn is over."""
        if not self.landed.done():
            self.landed.set_result(None)

    def answer(self, outcome: Answered | Exception) -> None:
        """Tell the caller; only the first answer counts."""
        self.land()
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
        self._held = 0
        self._closed = False

    def __len__(self) -> int:
        """Writes that wait, are in the batch under way, or have had their turn and no answer yet."""
        return len(self._waiting) + self._taken + self._held

    @property
    def waiting(self) -> tuple[Ticket, ...]:
        """Those that have not had their turn."""
        return tuple(self._waiting)

    @property
    def busy(self) -> bool:
        """Whether a batch is under way."""
        return self._taken > 0

    def hold(self, ticket: Ticket) -> None:
        """The ticket's turn is over, and its answer is still to come."""
        self._held += 1
        ticket.done.add_done_callback(self._release)

    def _release(self, _: "asyncio.Future[Answered]") -> None:
        self._held -= 1

    def bring(self, upkeep: Upkeep) -> Ticket:
        """A place for what the forest brings: it is bounded by what is stale, and waits for nobody."""
        ticket = Ticket(upkeep, asyncio.get_running_loop().create_future(), ready=True)
        self._waiting.append(ticket)
        self._changed.set()
        return ticket

    def enter(self, write: Intent, *, ready: bool | None = None) -> Ticket:
        """A place behind all others. `ready`: nothing of it is prepared first, as of all but ingests unless said.

        Raises Overloaded; Passivating when the lane is closed.
        """
        if self._closed:
            raise Passivating("this memory is being closed; the call was not begun; make it again")
        if len(self) >= self._depth_max:
            raise Overloaded(
                f"{len(self)} writes are waiting for this memory already; this one was not accepted; "
                f"call again in {RETRY_AFTER_S} s",
                retry_after=RETRY_AFTER_S,
            )
        ready = not isinstance(write, Ingest) if ready is None else ready
        ticket = Ticket(write, asyncio.get_running_loop().create_future(), ready=ready)
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
        upkeep = [ticket for ticket in self._waiting if isinstance(ticket.write, Upkeep)]
        if upkeep:
            return upkeep[:1]
        for ticket in self._waiting:
            if not isinstance(ticket.write, Ingest):
                return batch if batch or held or not ticket.ready else [ticket]
            if ticket.ready and ticket.write.session.id not in held:
                batch.append(ticket)
            else:
                held.add(ticket.write.session.id)
        return batch
