"""What a forest decides is a function of the set of sessions, whatever way they came."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from memforest_ray.facts.sessions import Session
from memforest_ray.testing.conversations import conversation, growth_of
from memforest_ray.testing.forests import Forests, TestForest, check_forest, check_same, decided

Step = Callable[[TestForest], Awaitable[Any]]


def _ingest(*sessions: Session) -> Step:
    """Ingests at the same time: one batch or a few."""

    async def step(forest: TestForest) -> None:
        await asyncio.gather(*(forest.ingest(session) for session in sessions))

    return step


def _history(sessions: list[Session], rng: random.Random) -> list[Step]:
    """The same sessions in some order, in some batches, each grown in some steps; others come and are forgotten."""
    waiting = [list(growth_of(session, rng)) for session in sessions]
    steps: list[Step] = []
    while any(waiting):
        ready = [pieces for pieces in waiting if pieces]
        batch = rng.sample(ready, min(len(ready), rng.randint(1, 3)))
        steps.append(_ingest(*(pieces.pop(0) for pieces in batch)))
    guest = Session("guest", conversation(rng.randrange(1000), 1)[0].turns, time="2023-02-03")
    place = rng.randrange(len(steps))
    return [*steps[:place], _ingest(guest), *steps[place:], lambda forest: forest.forget(session="guest")]


@pytest.mark.parametrize("seed", range(4))
async def test_order_batches_and_growth_do_not_show(seed: int) -> None:
    """Five histories of the same sessions, each with a session that came and was forgotten, decide the same."""
    sessions = conversation(seed)
    expected = decided(await Forests().settled(_ingest(*sessions)))
    rng = random.Random(seed)
    for _ in range(5):
        assert decided(await Forests().settled(*_history(sessions, rng))) == expected


async def test_sessions_one_by_one_shuffled() -> None:
    """Any order of whole sessions gives the same facts, leaves and placements."""
    sessions = conversation(11, sessions=7, turns_max=5)
    expected = decided(await Forests().settled(_ingest(*sessions)))
    for order in range(6):
        shuffled = random.Random(order).sample(sessions, len(sessions))
        forest = Forests().open()
        for session in shuffled:
            await forest.ingest(session)
        assert decided(await forest.version()) == expected


async def test_turn_by_turn_is_as_good_as_at_once() -> None:
    """A session that grows by one turn at a time comes to what one ingest of it comes to."""
    session = max(conversation(3), key=lambda session: len(session.turns))
    pieces = [
        Session(session.id, session.turns[:end], session.time, session.zone, session.metadata)
        for end in range(1, len(session.turns) + 1)
    ]
    grown = await Forests().settled(*map(_ingest, pieces))
    assert decided(grown) == decided(await Forests().settled(_ingest(session)))


@pytest.mark.parametrize("seed", range(3))
async def test_forgetting_undoes_an_ingest(seed: int) -> None:
    """Sessions that were forgotten leave no trace in what is decided."""
    sessions = conversation(seed + 20)
    rng = random.Random(seed)
    gone = rng.sample(sessions, 3)
    stay = [session for session in sessions if session not in gone]
    forgets: list[Step] = [lambda forest, name=session.id: forest.forget(session=name) for session in gone]  # type: ignore[misc]
    after = await Forests().settled(_ingest(*sessions), *forgets)
    assert decided(after) == decided(await Forests().settled(_ingest(*stay)))


@pytest.mark.parametrize("seed", range(3))
async def test_replacing_undoes_an_ingest(seed: int) -> None:
    """A session put in the place of another is as if the other had never been."""
    first, second, third = conversation(seed + 40, sessions=3)
    other = Session("s0", second.turns, time="2023-06-01")
    forests = Forests()
    forest = forests.open()
    for session in (first, third):
        await forest.ingest(session)
    await forest.ingest(other, replace=True)
    version = await forest.version()
    check_forest(version)
    check_same(version, await forests.open().version())
    assert decided(version) == decided(await Forests().settled(_ingest(other, third)))


async def test_the_same_turns_at_another_time_are_read_anew() -> None:
    """Replacing only a session's time moves its cells, its facts and what "yesterday" means."""
    session = Session("s0", conversation(1)[0].turns, time="2023-05-08")
    later = Session("s0", session.turns, time="2024-01-02")
    forest = Forests().open()
    await forest.ingest(session)
    await forest.ingest(later, replace=True)
    version = await forest.version()
    check_forest(version)
    assert decided(version) == decided(await Forests().settled(_ingest(later)))
