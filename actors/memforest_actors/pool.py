"""Pools of stateless actors, seen from a forest: the least busy living member is asked; dead ones sit out.

Each forest counts its own calls only. That is enough: members are alike, and a hot one gets fewer from everybody.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from memforest_actors import refs
from memforest_actors.options import PATIENCE, Components, Patience, PoolRole, member_name
from memforest_actors.refs import Gone
from memforest_ray.ambient import Random
from memforest_ray.config import Settings
from memforest_ray.errors import ClusterUnavailable
from memforest_ray.facts.candidates import CellInput, Extraction
from memforest_ray.models.embedder import Fingerprint, Vectors
from memforest_ray.trees.summaries import Source, SummaryReply, SummaryRequest

__all__ = ["Member", "Pool", "PooledEmbedder", "PooledExtractor", "PooledSummarizer", "open_pool"]

ATTEMPTS_MAX = 4
"""Of one batch, each on another member where there is one; Ray itself repeats twice before a member counts as gone."""
CELLS_PER_CALL = 16
"""Enough to make a round trip (about 1 ms) cheap, few enough that several members share one session."""
TEXTS_PER_CALL = 256
REQUESTS_PER_CALL = 64
IN_FLIGHT_MAX = 4
"""Batches of one forest in a pool at a time, per member: others get their turn between."""
URGENT_TEXTS_MAX = 2
"""A call with so few texts is a question or a single turn, somebody waits for it: it goes before bulk."""


class Member(Protocol):
    """One actor of a pool, as `refs.ActorRef`."""

    @property
    def name(self) -> str: ...

    async def call(self, method: str, *arguments: Any, timeout_s: float) -> Any: ...

    async def pid(self, within_s: float) -> int | None: ...


Opener = Callable[[], Awaitable[Member]]
"""Finds the member again, or starts it anew."""


@dataclass(eq=False, slots=True)
class _Seat:
    """A member's place in the pool; the member in it may be replaced."""

    member: Member
    reopen: Opener
    outstanding: int = 0
    ready: asyncio.Event | None = None
    """Set while the member is sound; cleared from its loss until it answers again."""

    def sound(self) -> asyncio.Event:
        if self.ready is None:
            self.ready = asyncio.Event()
            self.ready.set()
        return self.ready


class Pool:
    """Calls one of several equal members. `what` names it in errors."""

    def __init__(
        self, what: str, members: Sequence[tuple[Member, Opener]], random: Random, patience: Patience = PATIENCE
    ) -> None:
        self._what = what
        self._seats = [_Seat(member, reopen) for member, reopen in members]
        self._random = random
        self._patience = patience
        self._revivals: set[asyncio.Task[None]] = set()
        self._window = asyncio.Semaphore(IN_FLIGHT_MAX * len(self._seats))

    @property
    def sound(self) -> int:
        """Members that are not sitting out."""
        return sum(seat.sound().is_set() for seat in self._seats)

    async def warm(self) -> None:
        """Have every member load its model. Raises our errors, Gone."""
        members = [seat.member for seat in self._seats]
        await asyncio.gather(*(each.call("warm", timeout_s=self._patience.pool_call_s) for each in members))

    async def call(self, method: str, *arguments: Any) -> Any:
        """The answer of some member. Raises our errors, or ClusterUnavailable when no member gave any."""
        for _ in range(ATTEMPTS_MAX):
            seat = await self._take()
            member = seat.member
            seat.outstanding += 1
            try:
                return await member.call(method, *arguments, timeout_s=self._patience.pool_call_s)
            except (Gone, TimeoutError):
                self._quarantine(seat, member)
            finally:
                seat.outstanding -= 1
        raise self._unavailable(f"{ATTEMPTS_MAX} of its processes were lost under one call")

    async def spread(self, method: str, items: Sequence[Any], size: int, *more: Any) -> list[Any]:
        """The answers to `items` cut into batches of `size`, in order: one remote call a batch, a few at a time."""

        async def one(batch: Sequence[Any]) -> Any:
            async with self._window:
                return await self.call(method, batch, *more)

        batches = [items[start : start + size] for start in range(0, len(items), size)]
        return await asyncio.gather(*(one(batch) for batch in batches))

    async def _take(self) -> _Seat:
        """The sound seat with the fewest calls; waits for one if all sit out."""
        sound = [seat for seat in self._seats if seat.sound().is_set()]
        if not sound:
            waits = [asyncio.ensure_future(seat.sound().wait()) for seat in self._seats]
            done, _ = await asyncio.wait(
                waits, timeout=self._patience.activation_s, return_when=asyncio.FIRST_COMPLETED
            )
            for wait in waits:
                wait.cancel()
            sound = [seat for seat in self._seats if seat.sound().is_set()]
            if not done or not sound:
                raise self._unavailable("none of its processes can be started")
        return min(sound, key=lambda seat: seat.outstanding)

    def _quarantine(self, seat: _Seat, lost: Member) -> None:
        if seat.member is lost and seat.sound().is_set():
            seat.sound().clear()
            revival = asyncio.create_task(self._revive(seat))
            self._revivals.add(revival)
            revival.add_done_callback(self._revivals.discard)

    async def _revive(self, seat: _Seat) -> None:
        """Find or start the member until it answers."""
        wait_s = self._patience.retry_first_s
        while not await self._answers(seat):
            await asyncio.sleep(self._random.uniform(wait_s / 2, wait_s))
            wait_s = min(2 * wait_s, self._patience.retry_last_s)
        seat.sound().set()

    async def _answers(self, seat: _Seat) -> bool:
        try:
            seat.member = await seat.reopen()
        except Gone:
            return False
        return await seat.member.pid(self._patience.activation_s) is not None

    def _unavailable(self, why: str) -> ClusterUnavailable:
        return ClusterUnavailable(f"the {self._what} does not answer: {why}; nothing was changed; try again")


async def open_pool(role: PoolRole, components: Components, settings: Settings, random: Random) -> Pool:
    """The pool of a role: one member a node, started where there is none."""
    factory = components.of(role)

    def opener(node_id: str) -> Opener:
        name = member_name(role, factory, settings, node_id)
        return lambda: refs.create(role, name, factory, settings, node_id=node_id)

    openers = [opener(node_id) for node_id in await refs.nodes()]
    members = await asyncio.gather(*(open_member() for open_member in openers))
    return Pool(role, list(zip(members, openers, strict=True)), random)


class PooledExtractor:
    """The `Extractor` that a forest holds."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def extract(self, cells: Sequence[CellInput]) -> list[Extraction]:
        batches: list[list[Extraction]] = await self._pool.spread("extract", cells, CELLS_PER_CALL)
        return [extraction for batch in batches for extraction in batch]


class PooledSummarizer:
    """The `Summarizer` that a forest holds."""

    def __init__(self, pool: Pool, model: str, source: Source) -> None:
        self._pool = pool
        self._model = model
        self._source = source

    @classmethod
    async def open(cls, pool: Pool) -> "PooledSummarizer":
        """Asks a member which model it holds."""
        return cls(pool, *await pool.call("card"))

    @property
    def model(self) -> str:
        return self._model

    @property
    def source(self) -> Source:
        return self._source

    async def summarise(self, requests: Sequence[SummaryRequest]) -> list[SummaryReply]:
        batches: list[list[SummaryReply]] = await self._pool.spread("summarise", requests, REQUESTS_PER_CALL)
        return [reply for batch in batches for reply in batch]


class PooledEmbedder:
    """The `Embedder` that a forest holds; `owner` is the name under which it takes its turn."""

    def __init__(self, pool: Pool, fingerprint: Fingerprint, owner: str) -> None:
        self._pool = pool
        self._fingerprint = fingerprint
        self._owner = owner

    @classmethod
    async def open(cls, pool: Pool, owner: str) -> "PooledEmbedder":
        """Asks a member which model it holds."""
        return cls(pool, await pool.call("fingerprint"), owner)

    @property
    def fingerprint(self) -> Fingerprint:
        return self._fingerprint

    async def embed(self, texts: Sequence[str]) -> Vectors:
        urgent = len(texts) <= URGENT_TEXTS_MAX
        batches = await self._pool.spread("embed", list(texts), TEXTS_PER_CALL, self._owner, urgent)
        if not batches:
            return np.zeros((0, self._fingerprint.dimension), np.float16)
        # A copy: what arrived lies in shared memory, read-only, and would hold it for as long as we keep it.
        return np.concatenate(batches)
