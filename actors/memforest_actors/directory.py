"""Which forests live on which node: bounds activations and names whom to passivate. A hint, never a source of truth.

Forests report themselves, so a directory that was lost knows everything again one beat later.
"""

import asyncio
import os
from contextlib import suppress
from dataclasses import dataclass, replace

from memforest_actors import refs
from memforest_actors.metrics import DirectoryMetrics
from memforest_actors.options import DIRECTORY, PATIENCE
from memforest_actors.reply import Answering
from memforest_actors.starts import Starts
from memforest_ray.ambient import Clock, SystemClock

__all__ = ["DirectoryActor", "Residency", "Resident", "open_directory"]

BEATS_MISSED_MAX = 3


@dataclass(frozen=True, slots=True)
class Resident:
    """A forest's last word about itself."""

    name: str
    node_id: str
    used_at: float
    """When it was last called, on the directory's clock, in seconds."""
    heard_at: float
    busy: bool
    """Calls are under way: it is not asked to leave."""
    asked: bool = False
    """It was asked to leave already."""


class Residency:
    """The table: who lives where, who has been quiet longest. Plain decisions, no waiting."""

    def __init__(self, residents_max: int, clock: Clock, beat_s: float = PATIENCE.beat_s) -> None:
        self._residents_max = residents_max
        self._clock = clock
        self._forget_s = beat_s * BEATS_MISSED_MAX
        self._residents: dict[str, Resident] = {}
        self._capacities: dict[str, int] = {}

    def fit(self, capacities: dict[str, int]) -> None:
        """How many forests fit each node of the cluster."""
        self._capacities = dict(capacities)

    def room(self, arriving: int) -> list[str]:
        """Names of forests, of any node, that should leave so that `arriving` more fit; longest quiet first."""
        places = sum(self._cap(node_id) for node_id in self._capacities)
        return self._ask(self.count() + arriving - places, list(self._residents.values()))

    def heard(self, name: str, node_id: str, idle_s: float, *, busy: bool) -> list[str]:
        """Note a report; names of forests of that node that should leave, longest quiet first."""
        now = self._clock.elapsed()
        before = self._residents.get(name)
        asked = before is not None and before.asked
        self._residents[name] = Resident(name, node_id, now - idle_s, now, busy, asked)
        return self._surplus(node_id)

    def left(self, name: str) -> None:
        self._residents.pop(name, None)

    def count(self, node_id: str | None = None) -> int:
        """Residents of a node, or of all."""
        self._drop_silent()
        return sum(node_id in (None, resident.node_id) for resident in self._residents.values())

    def _cap(self, node_id: str) -> int:
        return min(self._residents_max, self._capacities.get(node_id, self._residents_max))

    def _surplus(self, node_id: str) -> list[str]:
        excess = self.count(node_id) - self._cap(node_id)
        return self._ask(excess, [each for each in self._residents.values() if each.node_id == node_id])

    def _ask(self, excess: int, among: list[Resident]) -> list[str]:
        """Choose who leaves, and remember that they were asked."""
        excess -= sum(resident.asked for resident in among)
        quiet = sorted(
            (resident for resident in among if not resident.busy and not resident.asked),
            key=lambda resident: (resident.used_at, resident.name),
        )
        leaving = quiet[: max(0, excess)]
        for resident in leaving:
            self._residents[resident.name] = replace(resident, asked=True)
        return [resident.name for resident in leaving]

    def _drop_silent(self) -> None:
        oldest = self._clock.elapsed() - self._forget_s
        for resident in [each for each in self._residents.values() if each.heard_at < oldest]:
            del self._residents[resident.name]


class DirectoryActor(Answering):
    """The one directory of a cluster."""

    def __init__(self, residents_max: int) -> None:
        clock = SystemClock()
        self._residency = Residency(residents_max, clock)
        self._starts = Starts(clock)
        self._freed = asyncio.Event()
        """Set, and replaced, when a start is over."""
        self._errands: set[asyncio.Task[None]] = set()
        self._metrics = DirectoryMetrics()

    async def ping(self) -> int:
        """That the event loop turns, and in which process."""
        return os.getpid()

    async def admit(self, name: str) -> tuple[str, bool]:
        """Whether the forest may be started: few are at once. Not yet, after a moment: ask again, its place is kept."""
        hosts = await refs.hosts()
        self._starts.fit([host.cores for host in hosts])
        self._residency.fit({host.node_id: host.forests_max for host in hosts})
        self._residency.left(name)  # who would start it has found that it is gone
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE.turn_s):
                while not self._starts.ask(name):
                    await self._freed.wait()
        may = self._starts.ask(name)
        if may:  # Ray would keep a forest that does not fit waiting, and us without a word of it
            self._send_away(self._residency.room(self._starts.granted))
        return "ok", may

    async def begun(self, name: str) -> tuple[str, None]:
        """A start is over, whatever came of it."""
        self._begun(name)
        return "ok", None

    def _begun(self, name: str) -> None:
        if self._starts.begun(name):
            self._freed.set()
            self._freed = asyncio.Event()

    async def heard(self, name: str, node_id: str, idle_s: float, busy: bool) -> tuple[str, None]:
        """A forest reports; over the node's cap the longest quiet ones are asked to leave."""
        self._begun(name)
        self._send_away(self._residency.heard(name, node_id, idle_s, busy=busy))
        self._metrics.residents(self._residency.count())
        return "ok", None

    def _send_away(self, names: list[str]) -> None:
        for name in names:
            errand = asyncio.create_task(refs.notify(name, "passivate"))
            self._errands.add(errand)
            errand.add_done_callback(self._errands.discard)

    async def left(self, name: str, reason: str) -> tuple[str, None]:
        """A forest is about to end."""
        self._residency.left(name)
        self._metrics.left(reason)
        self._metrics.residents(self._residency.count())
        return "ok", None

    async def residents(self) -> tuple[str, int]:
        """How many forests are known to be in memory."""
        return "ok", self._residency.count()


async def open_directory(residents_max: int) -> None:
    """Start the cluster's directory if there is none."""
    await refs.create("directory", DIRECTORY, residents_max)
