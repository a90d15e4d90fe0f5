"""Verdicts: one wave a write, what is over the limit follows beside the lane, and no order of arrival shows."""

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import permutations

import pytest

from memforest_ray.commit.version import Version
from memforest_ray.facts.sessions import Session, Turn
from memforest_ray.facts.verdicts import Question
from memforest_ray.facts.words import words
from memforest_ray.local.effects import Models
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.answers import ScriptedJudge, ScriptedSummarizer
from memforest_ray.testing.extraction import ScriptedExtractor, says
from memforest_ray.testing.forests import Forests, TestForest, check_forest, check_same, decided, residue
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.testing.waiting import until
from memforest_ray.trees.summaries import SelectionSummarizer

Say = Callable[..., Session]
HOBBIES = ("chess", "pottery", "rowing", "baking")


def _same_words(question: Question) -> bool:
    """A judge to whom the order of words means nothing."""
    one, other = (sorted(words(mention.candidate.text)) for mention in (question.first, question.second))
    return one == other


def _session(number: int, *orders: Sequence[str]) -> Session:
    """Bob tells of his hobbies, each time in another order."""
    turns = [Turn(f"I like {', '.join(order[:-1])} and {order[-1]}.", "Bob") for order in orders]
    return Session(f"s{number}", turns, time="2023-05-08T10:00:00Z")


@pytest.fixture
def judge() -> ScriptedJudge:
    return ScriptedJudge(_same_words)


@pytest.fixture
def forests(store: MemoryStore, extractor: ScriptedExtractor, judge: ScriptedJudge) -> Forests:
    return Forests(store, Models(extractor, SelectionSummarizer(), HashEmbedder(), judge))


async def _settled(forest: TestForest) -> Version:
    """The first version without a pending pair."""
    return await until(forest.version, lambda version: not version.facts.pending)


async def _asked(judge: ScriptedJudge, questions: int) -> None:
    async def asked() -> int:
        return len(judge.asked)

    await until(asked, lambda number: number >= questions)


ORDERS = [order for order in permutations(HOBBIES) if order[0] == "chess"]


async def test_what_a_judge_calls_equivalent_is_one_fact(forests: Forests, judge: ScriptedJudge) -> None:
    """The lesser is shown first, with its times; the later one joins the earlier fact, and the receipt says so."""
    forest = forests.open()
    first = await forest.ingest(_session(1, ORDERS[0]))
    second = await forest.ingest(_session(2, ORDERS[1]))
    version = await forest.version()
    check_forest(version)
    check_same(version, await forests.open().version())
    assert [fact.sessions for fact in version.facts] == [{"s1", "s2"}]
    assert (first.facts_added, second.facts_added, second.facts_merged) == (1, 0, 1)
    (question,) = judge.asked
    assert (question.first.session_id, question.second.session_id) == ("s1", "s2")
    assert second.usage["judge"].calls == 1
    assert "judge" not in first.usage


async def test_a_pair_is_asked_once(forests: Forests, judge: ScriptedJudge) -> None:
    """What was asked before a write's turn is not asked in it, nor when the same is said again."""
    forest = forests.open()
    await forest.ingest(_session(1, ORDERS[0]))
    for number in (2, 3):
        await forest.ingest(_session(number, ORDERS[1]))
    assert len(judge.asked) == 1
    assert len((await forest.version()).facts) == 1


async def test_a_judge_that_says_no_keeps_them_apart(forests: Forests, judge: ScriptedJudge) -> None:
    """Two facts, and the question is not asked again."""
    judge.same = lambda question: False
    forest = forests.open()
    for number, order in enumerate(ORDERS[:2]):
        await forest.ingest(_session(number, order))
    await forest.ingest(_session(3, ORDERS[0]))
    assert (len((await forest.version()).facts), len(judge.asked)) == (2, 1)


async def test_a_judge_that_does_not_answer_leaves_a_pair_pending(forests: Forests, judge: ScriptedJudge) -> None:
    """It is asked again with the next write, beside it, and by a repair; not for ever in between."""
    judge.same = lambda question: None
    forest = forests.open()
    for number, order in enumerate(ORDERS[:2]):
        await forest.ingest(_session(number, order))
    assert len((await forest.version()).facts.pending) == 1
    await _asked(judge, 2)
    judge.same = _same_words
    assert not (await forest.repair()).duplicate
    version = await _settled(forest)
    check_forest(version)
    check_same(version, await forests.open().version())
    assert len(version.facts) == 1
    assert len(judge.asked) == 3


async def test_at_most_four_verdicts_for_each_statement_and_write(forests: Forests, judge: ScriptedJudge) -> None:
    """Six versions at once are fifteen pairs: what is over the limit follows, until none is pending."""
    judge.same = lambda question: False
    forest = forests.open()
    await forest.ingest(_session(1, *ORDERS))
    version = await _settled(forest)
    asked = [pair for question in judge.asked for pair in (question.pair.first, question.pair.second)]
    assert max(map(asked.count, asked)) == 5
    assert len({question.pair.key for question in judge.asked}) == len(judge.asked) == 15
    check_same(version, await forests.open().version())


@pytest.mark.parametrize("seed", range(6))
async def test_no_order_of_arrival_shows(store: MemoryStore, seed: int) -> None:
    """Sessions shuffled, one by one or at once, with one forgotten again: the same facts and placements."""
    sessions = [_session(number, ORDERS[number], ORDERS[number - 1]) for number in range(6)]
    sessions = [replace(session, time=f"2023-05-{8 + number % 3:02d}") for number, session in enumerate(sessions)]

    async def lived(order: Sequence[Session], *, at_once: bool) -> Version:
        forests = Forests(
            models=Models(ScriptedExtractor(), SelectionSummarizer(), HashEmbedder(), ScriptedJudge(_same_words))
        )
        forest = forests.open()
        if at_once:
            await asyncio.gather(*map(forest.ingest, order))
        else:
            for session in order:
                await forest.ingest(session)
        await _settled(forest)
        await forest.ingest(_session(99, ("chess", "rowing", "pottery", "baking"), ORDERS[2]))
        await _settled(forest)
        await forest.forget(session="s99")
        version = await _settled(forest)
        check_forest(version)
        check_same(version, await forests.open().version())
        return version

    shuffled = list(sessions)
    random.Random(seed).shuffle(shuffled)
    one, other = await lived(sessions, at_once=False), await lived(shuffled, at_once=seed % 2 == 0)
    assert decided(one)["facts"] == decided(other)["facts"]
    assert dict(one.facts.evidence.links) == dict(other.facts.evidence.links)
    assert one.echoes == other.echoes


async def test_what_is_equivalent_to_something_forgotten_does_not_come_back(forests: Forests, say: Say) -> None:
    """The judge sees statements that are withheld, too, as long as their dialogue stays."""
    forest = forests.open()
    await forest.ingest(_session(1, ORDERS[0]))
    (fact,) = (await forest.version()).facts
    await forest.forget(fact=fact.id)
    await forest.ingest(_session(2, ORDERS[1]))
    version = await _settled(forest)
    check_forest(version)
    check_same(version, await forests.open().version())
    assert list(version.facts) == []


async def test_what_is_forgotten_leaves_no_vector(forests: Forests, store: MemoryStore) -> None:
    """Neither of a statement that had joined another, nor of one that is withheld."""
    forest = forests.open()
    await forest.ingest(_session(1, ORDERS[0]))
    await forest.ingest(_session(2, ORDERS[1]))
    assert len((await forest.version()).echoes) == 1
    await forest.forget(session="s2")
    version = await forest.version()
    check_same(version, await forests.open().version())
    assert (dict(version.echoes), len(version.facts)) == ({}, 1)
    assert await residue(", ".join(ORDERS[1][1:3]), store, version) == []


async def test_verdicts_are_asked_before_a_write_s_turn(
    forests: Forests, extractor: ScriptedExtractor, judge: ScriptedJudge
) -> None:
    """The lane does not wait for a judge where nothing else has been said meanwhile."""
    forest = forests.open()
    await forest.ingest(_session(1, ORDERS[0]))
    judge.gate.clear()
    slow = asyncio.create_task(forest.ingest(_session(2, ORDERS[1])))
    await _asked(judge, 1)
    other = await forest.ingest(Session("s3", [Turn("I live in Oslo.", "Ann")], time="2023-05-09"))
    assert (other.facts_added, slow.done()) == (1, False)
    judge.gate.set()
    assert (await slow).facts_merged == 1


async def test_summaries_follow_what_a_late_verdict_changes(store: MemoryStore, extractor: ScriptedExtractor) -> None:
    """Pairs drained beside the lane change facts, trees and summaries in one commit, then the rest is refreshed."""
    judge = ScriptedJudge(_same_words)
    forests = Forests(store, Models(extractor, ScriptedSummarizer(), HashEmbedder(), judge))
    forest = forests.open()
    await forest.ingest(_session(1, *ORDERS))
    version = await until(
        forest.version,
        lambda version: not (version.facts.pending or any(s.stale for s in version.summaries.values())),
    )
    check_forest(version)
    check_same(version, await forests.open().version())
    assert len(version.facts) == 1


async def test_concurrent_writes_of_one_statement_are_one_fact(
    forests: Forests, extractor: ScriptedExtractor, judge: ScriptedJudge
) -> None:
    """Neither knew of the other when it was prepared: the pair is asked in their turn."""
    extractor.held = says("chess")
    forest = forests.open()
    writes = [asyncio.create_task(forest.ingest(_session(number, order))) for number, order in enumerate(ORDERS[:2])]
    await extractor.shown(2)
    extractor.gate.set()
    await asyncio.gather(*writes)
    assert (len((await forest.version()).facts), len(judge.asked)) == (1, 1)
