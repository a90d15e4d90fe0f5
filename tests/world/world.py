"""Memories and all who want something of them, as they are in production: runtimes, drivers, writers, a bad store.

By hand: `python -m tests.world.world FIRST COUNT` runs so many seeds and tells what they reached.
"""

import asyncio
import random
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from itertools import count, pairwise
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
    SessionConflict,
    StoreUnavailable,
)
from memforest_ray.ids import OpId, UserId
from memforest_ray.local.effects import Models
from memforest_ray.query.request import QueryRequest
from memforest_ray.testing.answers import ScriptedJudge, ScriptedSummarizer
from memforest_ray.testing.clock import ManualClock
from memforest_ray.testing.forests import check_forest, check_same
from memforest_ray.testing.loop import Rates, SeededLoop
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.testing.store import FaultyStore, seeded
from memforest_ray.trees.summaries import SelectionSummarizer
from tests.seeds import by_hand
from tests.world.chronicle import Chronicle, Town
from tests.world.deeds import NAMES, Deed, Draw
from tests.world.home import Home
from tests.world.residue import left_of
from tests.world.watch import Watch
from tests.world.words import TinyExtractor, difference

__all__ = ["World", "replay", "run"]

ANN, BEN, CAL = UserId("ann"), UserId("ben"), UserId("cal")
CHAIN = {ANN: 5, BEN: 4, CAL: 2}
"""Where there are three, each takes over what the next one has; how often each is spoken to."""
DAY_S = RETENTION_MS // 1000
UNCLEAR = (Fenced, LLMUnavailable, OutcomeUnknown, Passivating, StoreUnavailable)
"""What a caller may be told without knowing what became of his write."""
REFUSED = (InvalidInput, NotFound, Overloaded, SessionConflict)
OWNERS = 2
LIVES = 3
CLIENTS = 2
DEEDS = {1: 3, 3: 14}
"""Of a client, by the number of memories that it speaks to."""
FAULT_RATE = 0.02
RATES = Rates(
    crash=0.002,
    stall=0.02,
    pass_time=0.03,
    steps_s=(0.5, 2, 3, 4, 6, 60, 200, 400, 400, DAY_S + 3600),
)


@dataclass(frozen=True, slots=True)
class Resident:
    """One memory: what really happens to it, what others are told of it, what they want of it."""

    chronicle: Chronicle
    watch: Watch
    draw: Draw

    @property
    def user(self) -> UserId:
        return self.chronicle.user


class World:
    """Owners with several clients each, who die and come again, one who reads, one who deletes all."""

    def __init__(self, seed: int, *, prove_after_s: float = 300.0, fresh_s: float = 5.0, halts: float = 0.2) -> None:
        self.seed = seed
        self.rng = random.Random(seed)
        self.clock = ManualClock()
        self.settings = _settings().model_copy(update={"prove_after_s": prove_after_s, "fresh_s": fresh_s})
        self.models = self.made_of()
        self.reached: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.residents = self.settled()
        self.town = Town({user: each.chronicle for user, each in self.residents.items()})
        self.pending: list[Deed] = []
        """Writes of which nobody knows yet what became of them."""
        self.stores: list[FaultyStore] = []
        self.loop = SeededLoop(seed, self.clock, RATES)
        self.halts = halts
        """How often a process stands still in the midst of a copy."""

    def settled(self) -> dict[UserId, Resident]:
        """One memory, or three that are taken over one by the other."""
        users = [ANN, BEN, CAL] if self.seed % 4 >= 2 else [ANN]
        chronicles = {user: Chronicle(user, self.clock, wrong=self.wrong) for user in users}
        sources = {one: chronicles[other] for one, other in pairwise(users)}
        numbers = count()
        for each in chronicles.values():
            each.neighbours = chronicles
        return {
            user: Resident(each, Watch(each, self.clock), Draw(self.rng, each, numbers, sources.get(user)))
            for user, each in chronicles.items()
        }

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

    def somebody(self) -> Resident:
        """Whose memory is spoken to."""
        if len(self.residents) == 1:
            return self.residents[ANN]
        (user,) = self.rng.choices([*self.residents], [CHAIN[user] for user in self.residents])
        return self.residents[user]

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
        for each in self.residents.values():
            self.reached.update({f"landed: {kind}": number for kind, number in each.chronicle.landed.items()})
            for (_, operation), versions in each.chronicle.commits.items():
                self.reached[f"done: {operation.rpartition('-')[0]}"] += len(versions)

    # ---- processes ---------------------------------------------------------------------------------------

    async def process(self, name: str, live: Callable[[Home], Awaitable[None]]) -> None:
        """One life after the other, until one of them ends by itself."""
        for life in range(LIVES):
            store = FaultyStore(self.town, seeded(self.rng.getrandbits(40), FAULT_RATE), turn=self.loop.turn)
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
        """One client, with a handle for each memory."""
        seen = dict.fromkeys(self.residents, 0)
        for _ in range(DEEDS[len(self.residents)]):
            if self.chance(0.25):
                await self.look(home, self.somebody(), seen)
            if self.chance(0.05):
                await self.tried(self.pin(home, self.somebody()))
            await self.do(home, self.next_deed(), seen)

    def next_deed(self) -> Deed:
        """One that was begun, perhaps by somebody else; or a new one."""
        lent = [deed.arguments["source"] for deed in self.pending if deed.verb == "merge"]
        if lent and self.chance(0.4) and (deed := self.residents[lent[0]].draw.forget(including_snapshots=True)):
            return deed  # while it may be on its way to somebody else
        if self.pending and self.chance(0.6):
            return self.pending.pop(self.rng.randrange(len(self.pending)))
        return self.somebody().draw.deed()

    async def do(self, home: Home, deed: Deed, seen: dict[UserId, int]) -> None:
        """A write, or another try of it; `seen` holds the highest versions seen."""
        deadline_s = self.rng.choice([20, 1e9, 1e9])
        watch = self.residents[deed.user].watch
        done = watch.begins(deed)
        self.pending.append(deed)  # should we die
        try:
            answer = await home.write(deed, seen[deed.user], deadline_s)
        except UNCLEAR as error:
            self.reached[f"unclear: {error.kind}"] += 1
            return
        except REFUSED as error:
            self.reached[f"refused {deed.verb}: {error.kind}"] += 1
            watch.refused(deed, error, done)
            self._settled(deed, error)
            return
        self._settled(deed)
        self.reached[f"acknowledged {deed.verb}"] += 1
        watch.acknowledged(deed, answer)
        seen[deed.user] = max(seen[deed.user], int(answer.version))

    def _settled(self, deed: Deed, error: MemForestError | None = None) -> None:
        """Whoever asked for the same is told the same; one that was told to come again may do so."""
        self.pending = [other for other in self.pending if other is not deed]
        if isinstance(error, Overloaded) and self.chance(0.5):
            self.pending.append(deed)

    async def look(self, home: Home, whose: Resident, seen: dict[UserId, int]) -> None:
        """A read of everything, or a question; `seen` holds the highest versions seen."""
        began, user = self.clock.elapsed(), whose.user
        try:
            if self.chance(0.7):
                version = await home.version(user, seen[user])
                whose.watch.read(version, began, seen[user])
                seen[user] = max(seen[user], int(version.number))
                return
            request = QueryRequest.of("Who likes what?", k=50)
            asked = {"request": request}
            found = await home.call(user, "query", asked, op_id=None, seen=seen[user], deadline_s=1e9)
            whose.watch.answered(found, began, seen[user])
            seen[user] = max(seen[user], int(found.version))
        except UNCLEAR as error:
            self.reached[f"no look: {error.kind}"] += 1
        finally:
            self.reached["looks"] += 1

    async def read(self, home: Home) -> None:
        """Looks at the present, at what is kept, and never writes."""
        seen = dict.fromkeys(self.residents, 0)
        for _ in range(8):
            if self.chance(0.6):
                await self.look(home, self.somebody(), seen)
            else:
                await self.look_back(home, self.somebody(), self.rng.choice(NAMES))

    async def look_back(self, home: Home, whose: Resident, name: str) -> None:
        """A snapshot, or the list of them."""
        watch, user = whose.watch, whose.user
        page = watch.page()
        request = QueryRequest.of("Who likes what?", k=50)
        try:
            if self.chance(0.3):
                kept = await home.call(user, "snapshots", {}, op_id=None, seen=0, deadline_s=1e9)
                watch.listed([info.name for info in kept], page)
            else:
                asked = {"request": request, "snapshot": name}
                found = await home.call(user, "query", asked, op_id=None, seen=0, deadline_s=1e9)
                watch.looked_back(name, found, page)
            self.reached["looks back"] += 1
        except NotFound:
            watch.not_kept(name, page)
        except UNCLEAR as error:
            self.reached[f"no look: {error.kind}"] += 1

    async def leave(self, home: Home) -> None:
        """In every second world a user is deleted, and others bring the id to life again."""
        if self.chance(0.5):
            seen = dict.fromkeys(self.residents, 0)
            for _ in range(self.rng.randrange(12)):
                await self.look(home, self.somebody(), seen)
            while not (there := [each for each in self.residents.values() if each.chronicle.now.sessions]):
                if self.chance(0.05):
                    break
                await self.look(home, self.somebody(), seen)
            whose = self.rng.choice(there) if there else self.somebody()
            for _ in range(4):
                if await self.deleted(home, whose):
                    break
        await self.tried(home.close())

    async def deleted(self, home: Home, whose: Resident) -> bool:
        """Remove a user; who holds copies is told. Whether there is nothing left to try."""
        life, held = whose.chronicle.life, self.holders(whose.user)
        try:
            copies = await home.delete_user(whose.user)
        except (*UNCLEAR, *REFUSED) as error:
            self.reached[f"not: {error.kind}"] += 1
            return isinstance(error, NotFound)
        self.reached["acknowledged delete_user"] += 1
        if whose.chronicle.life == life and not whose.chronicle.hollow:
            self.wrong.append("delete_user was acknowledged and not done")
        for other, at_first_hand in self.holders(whose.user).items():
            # What was copied from somebody else's copy just now may have come too late to be told.
            if other not in copies and (at_first_hand or other in held):
                self.wrong.append(f"{whose.user} was deleted, and {other} holds a copy that nobody was told of")
        return True

    def holders(self, user: UserId) -> dict[UserId, bool]:
        """Who holds what came from a memory; whether any of it was copied from that one itself."""
        paths = {each.user: [*each.chronicle.now.origins.values()] for each in self.residents.values()}
        return {
            other: any(path[0] == user for path in came)
            for other, came in paths.items()
            if any(user in path for path in came)
        }

    async def pin(self, home: Home, whose: Resident) -> None:
        """Somebody copies the memory, for a while: nothing can be erased meanwhile."""
        log = home._driver(whose.user)._published.log
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
        self._home = Home(world, world.town)
        self._seen = dict.fromkeys(world.residents, 0)

    async def settle(self) -> None:
        """Look, finish what was begun, take over, forget something, wait for two days, look for what was forgotten."""
        world = self._world
        for store in world.stores:
            await store.land()
        whose = [*reversed(world.residents.values())]
        for each in whose:
            await self._look(each)
        for deed in list(world.pending):
            await self._finish(deed)
        for each in whose:
            # What a stalled owner dropped late is swept by the next owner, so somebody has to be that.
            await self._do(each.draw.newcomer())
            await self._take_over(each)
        for _ in range(2):
            await self._forget(whose[-1])
            for each in whose:
                await self._look(each)
            world.clock.advance(DAY_S + 3600)
            for each in whose:
                await self._collect(each)
        for each in whose:
            await self._check(each)

    async def _do(self, deed: Deed) -> None:
        await self._world.do(self._home, deed, self._seen)

    async def _look(self, whose: Resident) -> None:
        began = self._world.clock.elapsed()
        version = await self._home.version(whose.user, 0)
        whose.watch.read(version, began, 0)
        if wrong := difference(version, whose.chronicle.now):
            self._world.wrong.append(f"the heir sees {wrong}")

    async def _finish(self, deed: Deed) -> None:
        world = self._world
        for _ in range(8):
            world.reached["finished by the heir"] += 1
            await self._do(deed)
            if deed not in world.pending:
                return
            world.clock.advance(DAY_S)  # until no pin is left
        world.wrong.append(f"{deed} cannot be finished")

    async def _take_over(self, whose: Resident) -> None:
        """What the source holds now; twice, and there is nothing new."""
        deed = whose.draw.merge()
        if deed is None:
            return
        await self._finish(deed)
        again = whose.draw.merge()
        assert again is not None
        before = whose.chronicle.now
        await self._finish(again)
        if whose.chronicle.now != before:
            self._world.wrong.append(f"{again.op} changed what {deed.op} had made")

    async def _forget(self, whose: Resident) -> None:
        """What a good owner forgets is nowhere, at once."""
        before = whose.chronicle.now.rows
        deed = whose.draw.forget(including_snapshots=True) if before else None
        if deed is None:
            deed = whose.draw.ingest()
        await self._do(deed)
        if left := await left_of(before - whose.chronicle.now.rows, whose.chronicle):
            self._world.wrong.append(f"{deed}: still there: {left}")

    async def _collect(self, whose: Resident) -> None:
        log = self._home._driver(whose.user)._published.log
        if log.owned:
            await log.checkpoint()
            await log.collect()

    async def _check(self, whose: Resident) -> None:
        """The present is sound, is what the store holds, and nothing is left of what was removed."""
        chronicle = whose.chronicle
        if left := await left_of(chronicle.removed - chronicle.now.rows, chronicle):
            self._world.wrong.append(f"removed, and still there: {left}")
        stored = await self._stored(whose)
        version = await self._home.version(whose.user, 0)
        while version.number != stored.number:  # summaries may still be coming
            stored = await self._stored(whose)
            version = await self._home.version(whose.user, 0)
        check_forest(version)
        check_same(version, stored)

    async def _stored(self, whose: Resident) -> Any:
        return await Home(self._world, self._world.town).version(whose.user, 0)


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


if __name__ == "__main__":
    first, seeds = map(int, sys.argv[1:])
    sys.exit(by_hand(run, replay, range(first, first + seeds)))
