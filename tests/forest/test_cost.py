"""What one write costs: in proportion to what it touches, not to what is there."""

import random
import sys
from dataclasses import replace
from types import FrameType
from typing import Any

import pytest
from immutables import Map

from memforest_ray.commit.version import Version
from memforest_ray.effects import Finished, step
from memforest_ray.facts.sessions import Session, Turn, admit
from memforest_ray.forest.effects import Embed, JudgeFrom, Refresh
from memforest_ray.forest.intents import Forget, Ingest
from memforest_ray.forest.work import Written
from memforest_ray.forest.writing import forget, ingest, needed
from memforest_ray.ids import AtomId, OpId
from memforest_ray.models.usage import Usage
from memforest_ray.testing.forests import Forests

WORDS = [
    f"{first}{last}" for first in ("ka", "ro", "mi", "te", "lu", "sa") for last in ("ran", "tol", "mek", "sil", "dor")
]
NAMES = ("Ana", "Bela", "Chidi", "Dmitri", "Farah", "Gus")
SELECT = "select-1"


def _session(number: int) -> Session:
    rng = random.Random(number)
    turns = [
        Turn(
            f"I painted the {rng.choice(WORDS)} {rng.choice(WORDS)} with {rng.choice(NAMES)}.",
            rng.choice(NAMES),
        )
        for _ in range(20)
    ]
    return Session(f"s{number}", turns, time=1_600_000_000_000 + number * 86_400_000)


async def _grown(forests: Forests, sessions: int) -> Version:
    forest = forests.open()
    for number in range(sessions):
        await forest.ingest(_session(number))
    return await forest.version()


class _Steps:
    """Takes the steps of a write, counting the lines of Python that they run: a measure that no machine changes."""

    def __init__(self, forests: Forests) -> None:
        self._models = forests.models
        self.lines = 0

    async def run(self, steps: Any) -> Written:
        reply: Any = None
        while True:
            before = sys.gettrace()
            sys.settrace(self._count)
            try:
                effect = step(steps, reply)
            finally:
                sys.settrace(before)
            if isinstance(effect, Finished):
                written: Written = effect.result
                return written
            reply = await self._reply(effect)

    def _count(self, frame: FrameType, event: str, argument: object) -> Any:
        self.lines += event == "line"
        return self._count

    async def _reply(self, effect: Any) -> Any:
        if isinstance(effect, Embed):
            return await self._models.embedder.embed(effect.texts)
        if isinstance(effect, JudgeFrom):
            return None
        if isinstance(effect, Refresh):
            while requests := effect.plan.ready():
                for made in await self._models.summarizer.summarise(requests):
                    effect.plan.done(made.node_id, made.text or "", self._models.summarizer.source)
            return Usage()
        return await self._models.extractor.extract(effect.cells)


async def _cost(forests: Forests, version: Version, number: int) -> int:
    """Lines run to ingest one more session."""
    write = Ingest(OpId("op"), admit(_session(number)).record)
    cells = needed(version, write)
    extracted = dict(zip(cells, await forests.models.extractor.extract(cells), strict=True))
    steps = _Steps(forests)
    await steps.run(ingest(version, [write], extracted, SELECT))
    return steps.lines


@pytest.mark.parametrize("verb", ["ingest", "forget"])
async def test_a_write_costs_what_it_touches(verb: str) -> None:
    """Eight times the sessions: trees are a level higher and more of them are met, but nothing is looked through."""
    lines = []
    for sessions in (10, 80):
        forests = Forests(checkpoint_commits=10_000)
        version = await _grown(forests, sessions)
        if verb == "ingest":
            lines.append(await _cost(forests, version, 1000))
        else:
            steps = _Steps(forests)
            await steps.run(forget(version, Forget(OpId("op"), session="s3"), {}, SELECT))
            lines.append(steps.lines)
    few, many = lines
    assert many < 2 * few


async def test_statements_that_lead_no_fact_are_not_looked_through(forests: Forests) -> None:
    """However many have joined others, a write asks only for those that it touches."""
    version = await _grown(forests, 3)
    echoes = Map({AtomId(f"f{number:020x}"): b"\0\0" for number in range(1_000)})
    few, many = [await _cost(forests, each, 1000) for each in (version, replace(version, echoes=echoes))]
    assert many < few + len(echoes) / 2
