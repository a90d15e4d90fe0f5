"""Pools of stateless actors, seen from a forest: the least busy living member is asked; dead ones sit out.

Each forest counts its own calls only. That is enough: members are alike, and a hot one gets fewer from everybody.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from memforest_actors import refs
from memforest_actors.attending import attended
from memforest_actors.options import PATIENCE, Components, Patience, PoolRole, member_name
from memforest_actors.refs import Gone
from memforest_ray.ambient import Random
from memforest_ray.config import Settings
from memforest_ray.errors import ClusterUnavailable

__all__ = ["Member", "Pool", "open_pool"]

LOSSES_MAX = 4
"""Members that may be lost under one call, which then is likely to be what kills them; Ray itself repeats twice before
a member counts as gone. One that was dead before it was asked, or that is only silent, does not count.
"""
IN_FLIGHT_MAX: Mapping[PoolRole, int] = {"extractor": 4, "summarizer": 4, "embedder": 4, "gateway": 64, "vectors": 64}
"""Batches of one forest in a pool at a time, per member: others get their turn between. A gateway does no work of its
own, and gives the turns itself."""


class Member(Protocol):
    """One actor of a pool, as `refs.ActorRef`."""

    @property
    def name(self) -> str:
        """What the cluster knows it by."""

    async def call(self, method: str, *arguments: Any, timeout_s: float) -> Any:
        """What a method returns. Raises our errors; Gone; TimeoutError after `timeout_s`."""

    async def tell(self, on_text: Callable[[str], None], method: str, *arguments: Any, timeout_s: float) -> Any:
        """As `call`, of a method that also tells pieces of its answer while it is made."""

    async def pid(self, within_s: float) -> int | None:
        """Its process, or None where it does not say so in time."""


SILENCES_MAX = 2
"""Pings that a member may miss in a row while another could do its work. It is not ended: it may only be busy."""
SILENT_MAX = 4
"""Members that one call may leave for being silent: where so many are, machines are busy, and waiting is quicker."""

Opener = Callable[[], Awaitable[Member]]
"""Finds the member again, or starts it anew."""


class _Silent(Exception):
    """A member that does not even answer pings, while another could do its work."""


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
        self, what: PoolRole, members: Sequence[tuple[Member, Opener]], random: Random, patience: Patience = PATIENCE
    ) -> None:
        self._what = what
        self._seats = [_Seat(member, reopen) for member, reopen in members]
        self._random = random
        self._patience = patience
        self._revivals: set[asyncio.Task[None]] = set()
        self._window = asyncio.Semaphore(IN_FLIGHT_MAX[what] * len(self._seats))

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
        return await self._tried(lambda member, patient: self._asked(member, patient, method, arguments))

    async def tell(self, on_text: Callable[[str], None], method: str, *arguments: Any) -> Any:
        """The answer of some member that tells its text while it comes. Once it has begun no other member is tried.

        Raises our errors, and ClusterUnavailable as `call`.
        """
        begun = False

        def told(piece: str) -> None:
            nonlocal begun
            begun = True
            on_text(piece)

        return await self._tried(
            lambda member, _: member.tell(told, method, *arguments, timeout_s=self._patience.pool_call_s),
            lambda: not begun,
        )

    async def _tried(
        self, ask: Callable[[Member, bool], Awaitable[Any]], repeatable: Callable[[], bool] = lambda: True
    ) -> Any:
        """What `ask` got from one member or, if that is lost, from the next. Raises as `call`.

        `ask` is also told whether it shall wait for a silent member, since others were silent, too: all are busy then.
        """
        lost = silent = 0
        while lost < LOSSES_MAX:
            seat = await self._take(certain=lost + silent > 0)
            member = seat.member
            seat.outstanding += 1
            try:
                return await ask(member, silent >= SILENT_MAX)
            except _Silent:
                silent += 1
                self._quarantine(seat, member)
            except (Gone, TimeoutError):
                lost += 1
                self._quarantine(seat, member)
                if not repeatable():
                    raise self._unavailable("one of its processes died while it answered") from None
            finally:
                seat.outstanding -= 1
        raise self._unavailable(f"{lost} of its processes died during one call")

    async def _asked(self, member: Member, patient: bool, method: str, arguments: Sequence[Any]) -> Any:
        """A member's answer. Where others could be asked, one that does not even answer pings is not waited for: a
        node that is gone is noticed by the cluster much later. Raises our errors, Gone, TimeoutError, _Silent.
        """
        call = member.call(method, *arguments, timeout_s=self._patience.pool_call_s)
        return await attended(call, self._patience.silence_s, lambda: self._silent(member, patient))

    async def _silent(self, member: Member, patient: bool) -> Exception:
        """Ping the member until it has missed too many pings in a row while another could do its work."""
        missed = 0
        while True:
            missed = missed + 1 if await member.pid(self._patience.silence_s) is None else 0
            if missed >= SILENCES_MAX and self.sound > 1 and not patient:
                return _Silent(member.name)
            await asyncio.sleep(self._patience.silence_s)

    async def spread(self, method: str, items: Sequence[Any], size: int, *more: Any) -> list[Any]:
        """The answers to `items` cut into batches of `size`, in order: one remote call a batch, a few at a time."""

        async def one(batch: Sequence[Any]) -> Any:
            async with self._window:
                return await self.call(method, batch, *more)

        batches = [items[start : start + size] for start in range(0, len(items), size)]
        return await asyncio.gather(*(one(batch) for batch in batches))

    async def _take(self, *, certain: bool) -> _Seat:
        """The sound seat with the fewest calls; waits for one if all sit out. If it is to be `certain`, it answers a
        ping first: after one loss the others may have been dead for long, too.
        """
        while True:
            seat = await self._least_busy()
            member = seat.member
            if not certain or self.sound == 1 or await member.pid(self._patience.silence_s) is not None:
                return seat
            self._quarantine(seat, member)

    async def _least_busy(self) -> _Seat:
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
        """Leave out all seats that the lost one has: where nodes have gone it may have several, and asking the same
        dead process again would use up a call's attempts in no time.
        """
        if seat.member is not lost:
            return
        for each in self._seats:
            if each.member.name == lost.name and each.sound().is_set():
                each.sound().clear()
                revival = asyncio.create_task(self._revive(each))
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
    """The pool of a role: one member a node, started where there is none; that of our own node is asked first.

    The member of a node that is gone does not come up elsewhere: its seat goes to that of another node.
    """
    factory = components.of(role)

    async def member_of(node_id: str) -> Member:
        name = member_name(role, factory, settings, node_id)
        return await refs.create(role, name, factory, settings, node_id=node_id)

    def opener(node_id: str) -> Opener:
        async def found() -> Member:
            nodes = await refs.nodes()
            if not nodes:
                raise Gone("no node of the cluster can host a process")
            return await member_of(node_id if node_id in nodes else nodes[_some(len(nodes), random)])

        return found

    here = refs.whereabouts().node_id
    nodes = sorted(await refs.nodes(), key=lambda node_id: node_id != here)
    members = await asyncio.gather(*(member_of(node_id) for node_id in nodes))
    return Pool(role, list(zip(members, map(opener, nodes), strict=True)), random)


def _some(count: int, random: Random) -> int:
    """An index below `count`."""
    return min(int(random.uniform(0, count)), count - 1)
