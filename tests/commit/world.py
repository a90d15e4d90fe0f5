"""One forest and all who want something of it, interleaved at every call of the store by a seed.

By hand: `python -m tests.commit.world FIRST COUNT` runs so many seeds and tells what they reached.
"""

import asyncio
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from memforest_ray.commit.changes import Changes
from memforest_ray.commit.garbage import RETENTION_MS
from memforest_ray.commit.loaded import Loaded, fetch_all, read_manifest
from memforest_ray.commit.log import CommitLog, Reload
from memforest_ray.commit.manifest import Manifest
from memforest_ray.commit.users import delete_user
from memforest_ray.errors import (
    Fenced,
    InvalidInput,
    MemForestError,
    NotFound,
    OutcomeUnknown,
    Overloaded,
    StoreUnavailable,
)
from memforest_ray.ids import OpId, UserId
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.storage.store import Missing, ObjectStore
from memforest_ray.testing.clock import ManualClock, SeededRandom
from memforest_ray.testing.loop import Rates, SeededLoop
from memforest_ray.testing.store import FaultyStore, Turnstile, seeded
from tests.commit.deeds import Deeds
from tests.commit.residue import residue
from tests.seeds import by_hand

__all__ = ["World", "replay", "run"]

ANN = UserId("ann")
KEYS = UserKeys.of(ANN)
FINGERPRINT = {"model": "tiny", "dimension": 4}
REFUSALS = (InvalidInput, NotFound, Overloaded)
EXPECTED = (Fenced, OutcomeUnknown, StoreUnavailable, Reload, *REFUSALS)
DAY_S = RETENTION_MS // 1000
NAMES = ("a", "b")
PROCESSES = 7
RATES = Rates(crash=0.001, stall=0.02, thread=0)
Act = Callable[[], Awaitable[object]]


@dataclass(slots=True)
class _Promise:
    """Objects that somebody was told would stay."""

    manifest: Manifest
    until_ms: int
    since: int
    """Tick."""
    through_erasures: bool
    withdrawn: bool = False


class World:
    """Three owners; a reader, a follower, one who copies, one who deletes; and what all of them saw."""

    def __init__(self, seed: int, *, prove_after_s: float = 300, store: ObjectStore | None = None) -> None:
        self.prove_after_s = prove_after_s
        self.random = SeededRandom(seed)
        self.clock = ManualClock()
        self.store = store or MemoryStore()
        # Sockets need a loop that looks at them; without any, one that does nothing else is twice as fast.
        self.gate = SeededLoop(seed, self.clock, RATES) if store is None else Turnstile(seed)
        self.deeds = Deeds()
        self.reached: Counter[str] = Counter()
        self.numbers = count()
        self.pins: list[_Promise] = []
        self.faulty = [
            FaultyStore(self.store, seeded(seed * PROCESSES + n, 0.03), turn=self.gate.turn_of(f"p{n}"))
            for n in range(PROCESSES)
        ]

    def log(self, process: int) -> CommitLog:
        seed = round(self.random.uniform(0, 1 << 40))
        store = self.faulty[process]
        random = SeededRandom(seed)
        # Few deltas make a merge: a world does not live long enough for eight.
        return CommitLog(store, ANN, self.clock, random, prove_after_s=self.prove_after_s, fanout=2)

    def chance(self, of: float) -> bool:
        return self.random.uniform(0, 1) < of

    async def run(self) -> list[str]:
        """All to their end; what was wrong."""
        processes = {f"p{n}": self.own(n) for n in range(3)}
        processes |= {"p3": self.watch(3), "p4": self.follow(4), "p5": self.copy(5), "p6": self.leave(6)}
        for name, end in (await self.interleaved(processes)).items():
            if isinstance(end, Exception):
                self.deeds.wrong.append(f"{name} raised {end!r}")
        try:
            await self.settle()
        except MemForestError as error:
            self.deeds.wrong.append(f"the heir met {error!r}")
        self.deeds.check_versions()
        for deed in self.deeds.all:
            self.reached[f"{deed.kind} {'acknowledged' if deed.acknowledged else 'not'}"] += 1
        return self.deeds.wrong

    async def interleaved(self, processes: Mapping[str, Coroutine[Any, Any, None]]) -> Mapping[str, object]:
        """What each process raised, or None."""
        if isinstance(self.gate, Turnstile):
            return await self.gate.run(processes, crash_rate=RATES.crash, stall_rate=RATES.stall)
        tasks = {name: self.gate.spawn(name, process) for name, process in processes.items()}
        await asyncio.wait(tasks.values())
        return {name: None if task.cancelled() else task.exception() for name, task in tasks.items()}

    # ---- owners ------------------------------------------------------------------------------------------

    async def own(self, process: int) -> None:
        """Claim, write, shorten the log, save, forget; begin anew whenever something goes wrong."""
        for _ in range(3):
            try:
                await self.own_once(self.log(process))
            except EXPECTED as error:
                self.reached[type(error).__name__] += 1
                await self.faulty[process].land()

    async def own_once(self, log: CommitLog) -> None:
        view = _rows(await log.read())
        for changes in await log.claim({}, FINGERPRINT):
            view -= {int(key) for key in changes.drops.get("cells", ())}
            view |= set(changes.puts.get("cells", {}).values())
        if log.erasing:
            await log.erase()
        for _ in range(6):
            self.clock.advance([1, 1, 200, 400, DAY_S + 3600][int(self.random.uniform(0, 4.999))])
            await self.commit(log, view)
            for act, rate in self.acts(log, view):
                if self.chance(rate):
                    await self.tried(act)
        await log.close()

    async def tried(self, act: Act) -> None:
        try:
            await act()
        except REFUSALS as error:
            self.reached[f"refused: {type(error).__name__}"] += 1

    def acts(self, log: CommitLog, view: set[int]) -> Sequence[tuple[Act, float]]:
        """What an owner does besides writing, and how often."""

        async def shorten() -> None:
            await log.checkpoint()
            await log.compact()

        return [
            (shorten, 0.7),
            (log.collect, 0.5),
            (lambda: self.erase(log, view), 0.1),
            (lambda: self.save(log, view), 0.15),
            (lambda: self.unsave(log), 0.05),
            (lambda: self.pin(log, view), 0.1),
        ]

    async def commit(self, log: CommitLog, view: set[int]) -> None:
        number = next(self.numbers)
        changes = Changes()
        changes.put("cells", f"{number:04d}", number)
        changes.put("turns", f"{number:04d}", _word(number))
        with self.deeds.doing("commit", [number]) as deed:
            deed.version = await log.commit(changes, [OpId(str(number))])
        view.add(number)

    async def erase(self, log: CommitLog, view: set[int]) -> None:
        victims = {number for number in view if self.chance(0.2)}
        changes = Changes()
        for number in victims:
            changes.drop("cells", f"{number:04d}")
            changes.drop("turns", f"{number:04d}")
        with self.deeds.doing("erase", victims):
            await log.commit(changes, opens=["e"], including_snapshots=self.chance(0.7))
            view -= victims
            await log.erase()

    async def save(self, log: CommitLog, view: set[int]) -> None:
        name = NAMES[int(self.random.uniform(0, 1.999))]
        with self.deeds.doing("save", view, name):
            await log.save(name, replace=self.chance(0.8))

    async def unsave(self, log: CommitLog) -> None:
        name = NAMES[int(self.random.uniform(0, 1.999))]
        with self.deeds.doing("unsave", name=name):
            await log.delete_snapshot(name)

    async def pin(self, log: CommitLog, view: set[int]) -> None:
        since = self.deeds.tick()
        until = self.clock.now_ms() + round(self.random.uniform(1, RETENTION_MS))
        operation = OpId(f"copy{since}")
        promise = _Promise(await log.pin(operation, until), until, since, through_erasures=True)
        self.pins.append(promise)
        if self.chance(0.5):
            self.clock.advance(1)
            await self.commit(log, view)
            promise.withdrawn = True
            await log.unpin(operation)

    # ---- those who only look -----------------------------------------------------------------------------

    async def watch(self, process: int) -> None:
        """Reads anew each time: the forest, or a snapshot."""
        for turn in range(12):
            log, since = self.log(process), self.deeds.tick()
            name = NAMES[turn % 2]
            try:
                if turn % 3:
                    rows = _rows(await log.read())
                    self.deeds.check_rows("reader", rows, since, self.deeds.tick())
                else:
                    await self.look_at(log, name, since)
            except StoreUnavailable:
                continue
            self.reached["reads"] += 1

    async def look_at(self, log: CommitLog, name: str, since: int) -> None:
        try:
            rows: set[int] | None = _rows(await log.read_snapshot(name))
            self.reached["snapshots read"] += 1
        except NotFound:
            rows = None
        self.deeds.check_snapshot(name, rows, since, self.deeds.tick())

    async def follow(self, process: int) -> None:
        """Reads again only when something has moved."""
        log, rows = self.log(process), set[int]()
        for _ in range(16):
            since = self.deeds.tick()
            try:
                if await log.moved():
                    rows = _rows(await log.read())
            except StoreUnavailable:
                continue
            self.reached["looks of a follower"] += 1
            self.deeds.check_rows("follower", rows, since, self.deeds.tick())

    async def copy(self, process: int) -> None:
        """Fetches, some time later, all parts of a manifest that was pinned, or that stood a moment ago."""
        store = self.faulty[process]
        for _ in range(12):
            try:
                promise = await self.promised(store)
                if promise is None:
                    continue
                for _ in range(int(self.random.uniform(0, 16))):
                    await read_manifest(store, KEYS)
                await fetch_all(store, [part.key for part in promise.manifest.parts])
                self.reached["copies"] += 1
            except StoreUnavailable:
                continue
            except Missing as error:
                self.missed(promise, error)

    async def promised(self, store: ObjectStore) -> _Promise | None:
        if self.pins and self.chance(0.5):
            return self.pins[-1]
        since = self.deeds.tick()
        now = self.clock.now_ms()
        held = await read_manifest(store, KEYS)
        until = now + RETENTION_MS - 60_000  # what a change of the manifest may take until it has landed
        return _Promise(held.manifest, until, since, through_erasures=False) if held else None

    def missed(self, promise: _Promise | None, error: Missing) -> None:
        """An object was not there: nobody's fault if its time was over, or all was erased."""
        assert promise is not None
        kinds = ("delete",) if promise.through_erasures else ("delete", "erase")
        over = promise.withdrawn or self.clock.now_ms() >= promise.until_ms
        # An erasure that was cut off is finished by any owner at any time.
        open_erasure = not promise.through_erasures and any(
            deed.kind == "erase" and not deed.acknowledged for deed in self.deeds.all
        )
        if not over and not open_erasure and self.deeds.calm(promise.since, *kinds):
            self.deeds.wrong.append(f"copy: {error} was promised and is not there")

    async def leave(self, process: int) -> None:
        """In every second world the user is deleted, perhaps twice; owners bring the id to life again."""
        for _ in range(2 if self.chance(0.5) else 0):
            store = self.faulty[process]
            try:
                for _ in range(int(self.random.uniform(0, 60))):
                    await read_manifest(store, KEYS)
                with self.deeds.doing("delete"):
                    await delete_user(store, ANN, self.clock, self.random)
            except EXPECTED:
                await store.land()

    # ---- afterwards --------------------------------------------------------------------------------------

    async def settle(self) -> None:
        """Everything late has landed, one good owner has been there for two days: now nothing is excused."""
        log = CommitLog(self.store, ANN, self.clock, self.random)
        for _ in range(2):
            for faulty in self.faulty:
                await faulty.land()
            since = self.deeds.tick()
            self.deeds.check_rows("heir", _rows(await log.read()), since, self.deeds.tick())
            await log.claim({}, FINGERPRINT)
            if log.erasing:
                self.clock.advance(DAY_S + 1)  # until no pin is left
                await log.erase()
            for name in NAMES:
                await self.look_at(log, name, self.deeds.tick())
            await log.commit(Changes())
            await log.checkpoint()
            self.clock.advance(DAY_S + 3600)
            await log.collect()
        for number in self.deeds.gone(self.deeds.tick()):
            if left := await residue(self.store, _word(number)):
                self.deeds.wrong.append(f"removed row {number} is still in {left}")


def _rows(loaded: Loaded) -> set[int]:
    return set(loaded.tables.get("cells", {}).values())


def _word(number: int) -> str:
    return f"<said {number:04d}>"


def replay(seed: int) -> str:
    """The command that runs this seed again."""
    return f"MEMFOREST_SEED={seed} python -m pytest tests/commit/test_simulation.py"


def run(seed: int, *, prove_after_s: float = 300) -> tuple[list[str], Counter[str]]:
    """One world; what was wrong, and what it reached."""
    world = World(seed, prove_after_s=prove_after_s)
    loop = world.gate
    assert isinstance(loop, SeededLoop)
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        wrong = runner.run(world.run())
    return wrong, world.reached


if __name__ == "__main__":
    first, seeds = map(int, sys.argv[1:])
    sys.exit(by_hand(run, replay, range(first, first + seeds)))
