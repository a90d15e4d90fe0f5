"""When what is asked: on a clock that moves only while everybody waits, so schedules are exact.

Each chat call takes a second, an embedding call a twentieth; what the forest itself does takes none.
"""

import asyncio
import random
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

import pytest

from memforest_ray.facts.rules import RuleExtractor
from memforest_ray.facts.sessions import Session, Turn
from memforest_ray.forest.intents import Wait
from memforest_ray.local.effects import Models
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.answers import ScriptedJudge, ScriptedSummarizer
from memforest_ray.testing.calls import CallGraph
from memforest_ray.testing.clock import ManualClock
from memforest_ray.testing.forests import Forests, TestForest
from memforest_ray.testing.loop import Rates, SeededLoop
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.testing.slots import Slots

PLENTY = 10_000
COMMIT_S = 0.4
"""Of a store that takes its time."""


class SlowStore(MemoryStore):
    """Takes a while to make a commit durable."""

    async def create(self, key: str, body: bytes) -> str:
        if "/wal/" in key:
            await asyncio.sleep(COMMIT_S)
        return await super().create(key, body)


class Stage:
    """One forest, its models behind a server, all on one clock."""

    def __init__(
        self,
        clock: ManualClock,
        slots: int,
        store: MemoryStore | None = None,
        judge: ScriptedJudge | None = None,
        uneven: random.Random | None = None,
    ) -> None:
        self._clock = clock
        self.server, self.graph = Slots(slots, uneven=uneven), CallGraph()
        models = Models(RuleExtractor(), ScriptedSummarizer(), HashEmbedder(), judge)
        forests = Forests(store, self.graph.over(self.server.over(models)), clock, llm_permits=slots)
        self.forest: TestForest = forests.open()

    async def remembers(self, *sessions: Session, wait: Wait = "refreshed") -> float:
        """How long it takes to remember these, all at once."""
        started = self._clock.elapsed()
        await asyncio.gather(*(self.forest.ingest(session, wait=wait) for session in sessions))
        return round(self._clock.elapsed() - started, 3)


def on_stage(act: Callable[[ManualClock], Coroutine[Any, Any, None]]) -> None:
    """Run on a loop of its own, whose time passes when nobody can go on."""
    clock = ManualClock()
    loop = SeededLoop(1, clock, Rates(thread=0.0))
    try:
        loop.run_until_complete(act(clock))
    finally:
        loop.run_until_complete(_ended(asyncio.all_tasks(loop)))
        loop.close()


async def _ended(tasks: Iterable["asyncio.Task[Any]"]) -> None:
    """Nobody is interested any more in what they come to."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def talk(number: int, turns: int = 20) -> Session:
    """Bob and Ann about things of that day, a statement a turn."""
    said = [
        Turn(
            f"I like the {number}-{place} boat and long walks along the river in Davis with it.",
            ("Bob", "Ann")[place % 2],
        )
        for place in range(turns)
    ]
    return Session(f"s{number:02}", said, time=f"2023-05-{1 + number:02}T10:00:00Z")


def with_hobbies(number: int, hobbies: str) -> Session:
    """Bob about things that have nothing in common, and about what he likes to do."""
    things = (" ".join(f"{part}{number}{place}" for part in ("bow", "hat", "jug", "keg", "oar")) for place in range(20))
    told = [*(Turn(f"I like the {thing}, as I said.", "Bob") for thing in things), Turn(f"I like {hobbies}.", "Bob")]
    return Session(f"s{number:02}", told, time="2023-05-08T10:00:00Z")


def test_a_session_is_read_and_summarised_at_the_same_time() -> None:
    """Its own tree stands on dialogue: both begin at once, and neither waits for the other's plans."""

    async def act(clock: ManualClock) -> None:
        stage = Stage(clock, PLENTY)
        await stage.remembers(talk(0))
        assert (stage.server.began("extract")[0], stage.server.began("summarise", "session:")[0]) == (0.0, 0.0)

    on_stage(act)


def test_summaries_are_asked_for_while_statements_are_embedded_and_committed() -> None:
    """They stand on what is known once it is extracted: the calls are on their way meanwhile, each made once."""

    async def act(clock: ManualClock) -> None:
        stage = Stage(clock, PLENTY, SlowStore())
        wall_s = await stage.remembers(talk(0))
        began = stage.server.began("summarise", "entity:")
        assert began[0] == pytest.approx(1)
        scenes_s = 1.05  # which of them change shows when the statements have vectors
        assert wall_s == pytest.approx(scenes_s + 1 + 0.05 + COMMIT_S)  # the first commit takes none of it
        texts = [call.lines for call in stage.graph.calls if call.scope and call.scope.startswith("entity:")]
        assert len(texts) == len(began)

    on_stage(act)


def test_what_is_prefetched_is_withdrawn_where_a_statement_may_be_another() -> None:
    """Its trees follow from the verdict, so their summaries are asked for behind that, and none was finished before."""

    async def act(clock: ManualClock) -> None:
        stage = Stage(clock, PLENTY, judge=ScriptedJudge())
        await stage.remembers(with_hobbies(0, "chess, pottery, rowing and baking"))
        asked, made, started = len(stage.graph.calls), len(stage.server.used), clock.elapsed()
        await stage.remembers(with_hobbies(1, "chess, baking, rowing and pottery"))
        judged = [slot.began_s - started for slot in stage.server.used[made:] if slot.kind == "judge"]
        written = [slot.began_s - started for slot in stage.server.used[made:] if slot.about.startswith("entity:")]
        assert [min(judged), min(written)] == pytest.approx([1.05, 2.05])
        assert sum((call.scope or "").startswith("entity:") for call in stage.graph.calls[asked:]) > len(written)

    on_stage(act)


def test_nothing_is_prefetched_that_nobody_waits_for() -> None:
    """Who waits for his facts has the servers for these; the summaries follow the commit."""

    async def act(clock: ManualClock) -> None:
        stage = Stage(clock, PLENTY, SlowStore())
        wall_s = await stage.remembers(talk(0), wait="facts")
        assert stage.server.began("summarise") == []
        assert wall_s == pytest.approx(1.05 + 2 * COMMIT_S)  # the claim's fence, the commit

    on_stage(act)


def test_nothing_is_prefetched_that_the_next_write_changes() -> None:
    """Two sessions about the same people, the second read a second later: their trees are summarised once."""

    async def act(clock: ManualClock) -> None:
        stage = Stage(clock, 12)
        await stage.remembers(talk(0), talk(1))
        assert stage.server.began("extract")[-1] == 1.0
        assert stage.server.began("summarise", "entity:")[0] >= 2.0

    on_stage(act)


def test_one_session_is_fresh_after_a_few_calls() -> None:
    """In a grown memory, too: facts in the time of 2.5, summaries of 2.5 and of those that depend on each other."""

    async def act(clock: ManualClock) -> None:
        stage = Stage(clock, PLENTY)
        await stage.remembers(*map(talk, range(12)))
        assert await stage.remembers(talk(12), wait="facts") <= 2.5
        await stage.forest.repair()
        started = clock.elapsed()
        receipt = await stage.forest.ingest(talk(13))
        tallest = max(tree.height for tree in (await stage.forest.version()).trees.values())
        assert clock.elapsed() - started <= 2.5 + receipt.depth
        assert 1 <= receipt.depth <= tallest

    on_stage(act)


@pytest.mark.parametrize("slots", [8, 32, 128])
def test_a_conversation_takes_what_its_calls_must_take(slots: int) -> None:
    """Within 1.15 times the bound of the graph of calls that were made, however many can be made at once."""

    async def act(clock: ManualClock) -> None:
        stage = Stage(clock, slots)
        wall_s = await stage.remembers(*map(talk, range(16)))
        stage.graph.place(await stage.forest.version())
        assert len(stage.graph.calls) > 200
        assert wall_s <= 1.15 * stage.graph.bound(slots)

    on_stage(act)


@pytest.mark.parametrize("seed", range(3))
def test_a_long_conversation_takes_no_longer_by_chance(seed: int) -> None:
    """Trees are four levels tall, and what is done after what differs: still above the leaves nothing waits."""

    async def act(clock: ManualClock) -> None:
        stage = Stage(clock, 128, uneven=random.Random(seed))
        started = clock.elapsed()
        receipts = await asyncio.gather(*(stage.forest.ingest(talk(number, 40)) for number in range(16)))
        wall_s = clock.elapsed() - started
        version = await stage.forest.version()
        stage.graph.place(version)
        assert max(tree.height for tree in version.trees.values()) == 4
        assert max(receipt.depth for receipt in receipts) <= 2
        assert wall_s <= 1.15 * stage.graph.bound(128)

    on_stage(act)
