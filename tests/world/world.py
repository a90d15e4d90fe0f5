"""One memory and all who want something of it, as they are in production: runtimes, drivers, writers, and a bad store.

By hand: `python -m tests.world.world FIRST COUNT` runs so many seeds and tells what they reached.
"""

import asyncio
import random
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any

from memforest_ray.commit.garbage import RETENTION_MS
from memforest_ray.config import Settings, load_settings
from memforest_ray.errors import (
    Fenced,
    InvalidInput,
    LLMUnavailable,
    MemForestError,
    NotFound,
    OutcomeUnknown,
    Overloaded,
    Passivating,
    StoreUnavailable,
)
from memforest_ray.ids import OpId, UserId
from memforest_ray.local.driver import ForestDriver
from memforest_ray.local.effects import Models
from memforest_ray.local.runtime import LocalRuntime
from memforest_ray.query.request import QueryRequest
from memforest_ray.storage.store import ObjectStore
from memforest_ray.testing.answers import ScriptedJudge, ScriptedSummarizer
from memforest_ray.testing.clock import ManualClock, SeededRandom
from memforest_ray.testing.forests import check_forest, check_same
from memforest_ray.testing.loop import Rates, SeededLoop
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.testing.store import FaultyStore, seeded
from memforest_ray.trees.summaries import SelectionSummarizer
from tests.world.chronicle import Chronicle
from tests.world.deeds import NAMES, Deed, Draw
from tests.world.residue import left_of
from tests.world.watch import Watch
from tests.world.words import TinyExtractor, difference

__all__ = ["World", "replay", "run"]

ANN = UserId("ann")
DAY_S = RETENTION_MS // 1000
UNCLEAR = (Fenced, LLMUnavailable, OutcomeUnknown, Passivating, StoreUnavailable)
"""What a caller may be told without knowing what became of his write."""
REFUSED = (InvalidInput, NotFound, Overloaded)
OWNERS = 2
LIVES = 3
CLIENTS = 2
DEEDS = 3
FAULT_RATE = 0.02
RATES = Rates(
    crash=0.002,
    stall=0.02,
    pass_time=0.03,
    steps_s=(0.5, 2, 3, 4, 6, 60, 200, 400, 400, DAY_S + 3600),
)


class Home(LocalRuntime):
    """One process's runtime."""

    def __init__(self, world: "World", store: ObjectStore) -> None:
        chance = SeededRandom(world.rng.getrandbits(40))
        super().__init__(world.settings, store, world.models, world.clock, chance)

    def driver(self) -> ForestDriver:
        """Of the one memory there is."""
        driver = self._driver(ANN)
        # Few deltas make a merge: a world does not live long enough for eight.
        driver._published.log._fanout = 2
        return driver

    async def write(self, deed: Deed, seen: int, deadline_s: float) -> Any:
        """One write, as a handle asks for it."""
        self.driver()
        return await self.call(ANN, deed.verb, deed.arguments, op_id=deed.op, seen=seen, deadline_s=deadline_s)

    async def version(self, seen: int) -> Any:
        """The version that a read would get."""
        driver = self.driver()
        try:
            return await driver.version(seen)
        except Fenced:
            self._retire(ANN, driver)
            raise


class World:
    """Owners with several clients each, who die and come again, one who reads, one who deletes all."""

    def __init__(self, seed: int, *, prove_after_s: float = 300.0, fresh_s: float = 5.0) -> None:
        self.seed = seed
        self.rng = random.Random(seed)
        self.clock = ManualClock()
        self.chronicle = Chronicle(ANN, self.clock)
        self.settings = _settings().model_copy(update={"prove_after_s": prove_after_s, "fresh_s": fresh_s})
        self.models = self.made_of()
        self.reached: Counter[str] = Counter()
        self.wrong = self.chronicle.wrong
        self.watch = Watch(self.chronicle, self.clock)
        self.draw = Draw(self.rng, self.chronicle)
        self.pending: list[Deed] = []
        """Writes of which nobody knows yet what became of them."""
        self.stores: list[FaultyStore] = []
        self.loop = SeededLoop(seed, self.clock, RATES)

    def made_of(self) -> Models:
        """In every second world summaries and verdicts take calls, and follow as commits of their own."""
        extractor, embedder = TinyExtractor(lambda: self.chance(0.03)), HashEmbedder(dimension=16)
        if self.seed % 2:
            return Models(extractor, SelectionSummarizer(), embedder)
        summarizer = ScriptedSummarizer()
        summarizer.failure = lambda _: "no answer" if self.chance(0.05) else None
        return Models(extractor, summarizer, embedder, ScriptedJudge())

    def chance(self, of: float) -> bool:
        return self.rng.random() < of

    def run(self) -> list[str]:
        """All to their end; what was wrong."""
        with asyncio.Runner(loop_factory=lambda: self.loop) as runner:
            self.loop.set_exception_handler(lambda _, context: self.wrong.append(repr(context)))
            runner.run(self._run())
        self.reached.update(self.loop.happened)
        self.reached["turns"] += self.loop.turns
        return self.wrong

    async def _run(self) -> None:
        inhabitants = [self.process(f"owner{n}", self.own) for n in range(OWNERS)]
        await asyncio.gather(*inhabitants, self.process("reader", self.read), self.process("leaver", self.leave))
        try:
            await Heir(self).settle()
        except (MemForestError, AssertionError) as error:
            self.wrong.append(f"the heir met {error!r}")
        self.reached.update({f"landed: {kind}": number for kind, number in self.chronicle.landed.items()})
        for (_, operation), versions in self.chronicle.commits.items():
            self.reached[f"done: {operation.rpartition('-')[0]}"] += len(versions)

    # ---- processes ---------------------------------------------------------------------------------------

    async def process(self, name: str, live: Callable[[Home], Awaitable[None]]) -> None:
        """One life after the other, until one of them ends by itself."""
        for life in range(LIVES):
            store = FaultyStore(self.chronicle, seeded(self.rng.getrandbits(40), FAULT_RATE), turn=self.loop.turn)
            self.stores.append(store)
            task = self.loop.spawn(f"{name}.{life}", _await(live(Home(self, store))))
            await asyncio.wait([task])
            if self.chance(0.5):
                await store.land()
            if not task.cancelled():
                if error := task.exception():
                    self.wrong.append(f"{name} raised {error!r}")
                return

    async def own(self, home: Home) -> None:
        """Several clients of one process at once; then it leaves in order."""
        await asyncio.gather(*(self.write_and_read(home) for _ in range(CLIENTS)))
        await self.tried(home.close())

    async def write_and_read(self, home: Home) -> None:
        """One handle."""
        seen = 0
        for _ in range(DEEDS):
            if self.chance(0.25):
                seen = await self.look(home, seen)
            if self.chance(0.05):
                await self.tried(self.pin(home))
            seen = await self.do(home, self.next_deed(), seen)

    def next_deed(self) -> Deed:
        """One that was begun, perhaps by somebody else; or a new one."""
        if self.pending and self.chance(0.6):
            return self.pending.pop(self.rng.randrange(len(self.pending)))
        return self.draw.deed()

    async def do(self, home: Home, deed: Deed, seen: int) -> int:
        """A write, or another try of it; the highest version seen."""
        deadline_s = self.rng.choice([20, 1e9, 1e9])
        done = self.watch.begins(deed)
        self.pending.append(deed)  # should we die
        try:
            answer = await home.write(deed, seen, deadline_s)
        except UNCLEAR as error:
            self.reached[f"unclear: {error.kind}"] += 1
            return seen
        except REFUSED as error:
            self.reached[f"refused {deed.verb}: {error.kind}"] += 1
            self.watch.refused(deed, error, done)
            self._settled(deed, error)
            return seen
        self._settled(deed)
        self.reached[f"acknowledged {deed.verb}"] += 1
        self.watch.acknowledged(deed, answer)
        return max(seen, int(answer.version))

    def _settled(self, deed: Deed, error: MemForestError | None = None) -> None:
        """Whoever asked for the same is told the same; one that was told to come again may do so."""
        self.pending = [other for other in self.pending if other is not deed]
        if isinstance(error, Overloaded) and self.chance(0.5):
            self.pending.append(deed)

    async def look(self, home: Home, seen: int) -> int:
        """A read of everything, or a question; the highest version seen."""
        began = self.clock.elapsed()
        try:
            if self.chance(0.7):
                version = await home.version(seen)
                self.watch.read(version, began, seen)
                return max(seen, int(version.number))
            request = QueryRequest.of("Who likes what?", k=50)
            found = await home.call(ANN, "query", {"request": request}, op_id=None, seen=seen, deadline_s=1e9)
            self.watch.answered(found, began, seen)
            return max(seen, int(found.version))
        except UNCLEAR as error:
            self.reached[f"no look: {error.kind}"] += 1
            return seen
        finally:
            self.reached["looks"] += 1

    async def read(self, home: Home) -> None:
        """Looks at the present, at what is kept, and never writes."""
        seen = 0
        for _ in range(8):
            if self.chance(0.6):
                seen = await self.look(home, seen)
            else:
                await self.look_back(home, self.rng.choice(NAMES))

    async def look_back(self, home: Home, name: str) -> None:
        """A snapshot, or the list of them."""
        page = self.watch.page()
        request = QueryRequest.of("Who likes what?", k=50)
        try:
            if self.chance(0.3):
                kept = await home.call(ANN, "snapshots", {}, op_id=None, seen=0, deadline_s=1e9)
                self.watch.listed([info.name for info in kept], page)
            else:
                asked = {"request": request, "snapshot": name}
                found = await home.call(ANN, "query", asked, op_id=None, seen=0, deadline_s=1e9)
                self.watch.looked_back(name, found, page)
            self.reached["looks back"] += 1
        except NotFound:
            self.watch.not_kept(name, page)
        except UNCLEAR as error:
            self.reached[f"no look: {error.kind}"] += 1

    async def leave(self, home: Home) -> None:
        """In every second world the user is deleted, and others bring the id to life again."""
        if self.chance(0.5):
            for _ in range(self.rng.randrange(12)):
                await self.look(home, 0)
            while not self.chronicle.now.sessions and self.chance(0.95):
                await self.look(home, 0)
            life = self.chronicle.life
            if await self.tried(home.delete_user(ANN)):
                self.reached["acknowledged delete_user"] += 1
                if self.chronicle.life == life:
                    self.wrong.append("delete_user was acknowledged and not done")
        await self.tried(home.close())

    async def pin(self, home: Home) -> None:
        """Somebody copies the memory, for a while: nothing can be erased meanwhile."""
        log = home.driver()._published.log
        if log.owned:
            operation = OpId(f"copy-{self.rng.getrandbits(40)}")
            await log.pin(operation, self.clock.now_ms() + self.rng.choice([1_000, 300_000, RETENTION_MS]))
            self.reached["pins"] += 1
            if self.chance(0.5):
                await log.unpin(operation)

    async def tried(self, act: Awaitable[Any]) -> bool:
        """Whether it could be done."""
        try:
            await act
        except (*UNCLEAR, *REFUSED) as error:
            self.reached[f"not: {error.kind}"] += 1
            return False
        return True


class Heir:
    """Comes when all others have gone and all that was late has landed: now nothing is excused."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._home = Home(world, world.chronicle)

    async def settle(self) -> None:
        """Look, finish what was begun, forget something, wait for two days, and look for what was forgotten."""
        world = self._world
        for store in world.stores:
            await store.land()
        await self._look()
        for deed in list(world.pending):
            await self._finish(deed)
        # What a stalled owner dropped late is swept by the next owner, so somebody has to be that.
        await world.do(self._home, world.draw.newcomer(), 0)
        for _ in range(2):
            await self._forget()
            await self._look()
            world.clock.advance(DAY_S + 3600)
            await self._collect()
        if left := await left_of(world.chronicle.removed - world.chronicle.now.rows, world.chronicle):
            world.wrong.append(f"removed, and still there: {left}")
        await self._check()

    async def _look(self) -> None:
        began = self._world.clock.elapsed()
        version = await self._home.version(0)
        self._world.watch.read(version, began, 0)
        if wrong := difference(version, self._world.chronicle.now):
            self._world.wrong.append(f"the heir sees {wrong}")

    async def _finish(self, deed: Deed) -> None:
        world = self._world
        for _ in range(8):
            world.reached["finished by the heir"] += 1
            await world.do(self._home, deed, 0)
            if deed not in world.pending:
                return
            world.clock.advance(DAY_S)  # until no pin is left
        world.wrong.append(f"{deed} cannot be finished")

    async def _forget(self) -> None:
        """What a good owner forgets is nowhere, at once."""
        world = self._world
        before = world.chronicle.now.rows
        deed = world.draw.forget(including_snapshots=True) if before else None
        if deed is None:
            deed = world.draw.ingest()
        await world.do(self._home, deed, 0)
        if left := await left_of(before - world.chronicle.now.rows, world.chronicle):
            world.wrong.append(f"{deed}: still there: {left}")

    async def _collect(self) -> None:
        log = self._home.driver()._published.log
        if log.owned:
            await log.checkpoint()
            await log.collect()

    async def _check(self) -> None:
        stored = await Home(self._world, self._world.chronicle).version(0)
        version = await self._home.version(0)
        while version.number != stored.number:  # summaries may still be coming
            stored = await Home(self._world, self._world.chronicle).version(0)
            version = await self._home.version(0)
        check_forest(version)
        check_same(version, stored)


@cache
def _settings() -> Settings:
    return load_settings(store="memory://", runtime="local", checkpoint_commits=2, cell_turns=2)


async def _await(work: Awaitable[None]) -> None:
    await work


def replay(seed: int) -> str:
    """The command that runs this seed again."""
    return f"MEMFOREST_SEED={seed} python -m pytest tests/world"


def run(seed: int, **planted: float) -> tuple[list[str], Counter[str]]:
    """One world; what was wrong, and what it reached."""
    world = World(seed, **planted)
    return world.run(), world.reached


def _main(first: int, seeds: int) -> int:
    reached: Counter[str] = Counter()
    failed = 0
    for seed in range(first, first + seeds):
        wrong, got = run(seed)
        reached += got
        failed += bool(wrong)
        if wrong:
            sys.stdout.write(f"{replay(seed)}\n  " + "\n  ".join(wrong) + "\n")
            sys.stdout.flush()
    sys.stdout.write(f"{seeds} seeds, {failed} failed\n")
    sys.stdout.writelines(f"  {name}: {number}\n" for name, number in sorted(reached.items()))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(_main(int(sys.argv[1]), int(sys.argv[2])))
