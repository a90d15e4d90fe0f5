"""Random lives of a forest: after every step all holds that must hold, and what is stored is what is live."""

import random
from contextlib import suppress
from dataclasses import replace

import pytest

from memforest_ray.commit.journal import news_since
from memforest_ray.commit.version import Version
from memforest_ray.errors import InvalidInput, NotFound, SessionConflict
from memforest_ray.facts.sessions import Session
from memforest_ray.testing.conversations import conversation
from memforest_ray.testing.forests import Forests, TestForest, check_forest, check_same

VERBS = (
    "ingest",
    "ingest",
    "grow",
    "grow",
    "replace",
    "move in time",
    "forget session",
    "forget turns",
    "forget fact",
    "forget fact and dialogue",
    "repair",
    "another owner",
)


class Life:
    """One forest and the sessions that were sent to it."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.forests = Forests(seed=seed, checkpoint_commits=3)
        self.forest: TestForest = self.forests.open()
        self.sessions = {session.id: session for session in conversation(seed, 4, 5)}

    def _strange(self) -> Session:
        return conversation(self.rng.randrange(10**6), 1, 4)[0]

    async def step(self) -> str:
        """One thing that may happen; its name."""
        verb = self.rng.choice(VERBS)
        session = self.rng.choice(list(self.sessions.values()))
        match verb:
            case "ingest":
                await self.forest.ingest(session)
            case "grow":
                await self._send(replace(session, turns=[*session.turns, *self._strange().turns]))
            case "replace":
                await self._send(replace(self._strange(), id=session.id), replacing=True)
            case "move in time":
                await self._send(replace(session, time=1_600_000_000_000 + self.rng.randrange(10**9)), replacing=True)
            case "forget session":
                await self.forest.forget(session=session.id)
            case "forget turns":
                names = [f"{session.id}#{turn}" for turn in range(len(session.turns)) if self.rng.random() < 0.4]
                await self.forest.forget(turns=names)
            case "forget fact" | "forget fact and dialogue":
                await self._forget_fact(with_dialogue=verb.endswith("dialogue"))
            case "repair":
                await self.forest.repair()
            case "another owner":
                self.forest = self.forests.open()
        return verb

    async def _send(self, session: Session, *, replacing: bool = False) -> None:
        self.sessions[session.id] = session
        await self.forest.ingest(session, replace=replacing)

    async def _forget_fact(self, *, with_dialogue: bool) -> None:
        version = await self.forest.version()
        if version.facts.shown:
            fact = self.rng.choice(sorted(version.facts.shown))
            await self.forest.forget(fact=fact, with_dialogue=with_dialogue)
            assert (await self.forest.version()).find_fact(fact) is None


@pytest.mark.parametrize("seed", range(6))
async def test_news_are_the_difference(seed: int) -> None:
    """From any version to the last, whatever happened in between: what came and went by name, what changed among the
    rest."""
    life = Life(seed + 100)
    seen: list[Version] = []
    for _ in range(10):
        with suppress(NotFound, SessionConflict, InvalidInput):
            await life.step()
        seen.append(await life.forest.version())
    last = seen[-1]
    for then in seen[1:]:
        if not then.journal:
            continue
        news, facts = news_since(last.journal, then.number, last.number), (then.facts.shown, last.facts.shown)
        assert set(news.facts_added) == set(facts[1]) - set(facts[0])
        assert set(news.facts_removed) == set(facts[0]) - set(facts[1])
        differ = {name for name in set(facts[0]) & set(facts[1]) if facts[0][name] != facts[1][name]}
        assert differ <= set(news.facts_changed) <= set(facts[1])
        assert set(news.sessions_added) == set(last.sessions) - set(then.sessions)
        assert set(news.sessions_removed) == set(then.sessions) - set(last.sessions)


@pytest.mark.parametrize("seed", range(12))
async def test_whatever_happens_a_forest_is_whole(seed: int) -> None:
    """Twelve random steps; each leaves a whole forest, equal to the one that another process reads."""
    life = Life(seed)
    for _ in range(12):
        try:
            verb = await life.step()
        except (NotFound, SessionConflict, InvalidInput) as error:
            verb = error.kind
        version = await life.forest.version()
        check_forest(version)
        check_same(version, await life.forests.open().version())
        assert verb
