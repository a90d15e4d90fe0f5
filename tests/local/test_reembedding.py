"""A memory moves to another embedder: the old vectors serve until all new ones are there."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import pytest

from memforest_ray.errors import EmbeddingMismatch, NotFound, Passivating
from memforest_ray.facts.rules import RuleExtractor
from memforest_ray.facts.sessions import Session
from memforest_ray.forest.errands import Reembedded
from memforest_ray.ids import OpId, SessionId, UserId
from memforest_ray.local.effects import Models
from memforest_ray.local.examination import examine
from memforest_ray.models.embedder import Vectors
from memforest_ray.query.request import QueryRequest
from memforest_ray.testing.answers import ScriptedSummarizer
from memforest_ray.testing.conversations import conversation
from memforest_ray.testing.forests import ANN, Forests, TestForest, check_forest, check_same, decided, residue
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.testing.store import Crashed, FaultyStore, contents
from memforest_ray.trees.summaries import SelectionSummarizer

Say = Callable[..., Session]


class Gated(HashEmbedder):
    """Another model; waits before it embeds. `asked` are the texts that it was given."""

    def __init__(self) -> None:
        super().__init__(32)
        self.gate = asyncio.Event()
        self.waiting = asyncio.Event()
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.waiting.set()
        await self.gate.wait()
        self.asked += texts
        return await super().embed(texts)


def _models(embedder: HashEmbedder) -> Models:
    return Models(RuleExtractor(), SelectionSummarizer(), embedder)


async def _move(forest: TestForest, op_id: str = "move") -> Reembedded:
    told: Reembedded = await forest.driver.call("reembed", {}, op_id=OpId(op_id), seen=0)
    return told


async def _texts(forest: TestForest, question: str) -> list[str]:
    found: Any = await forest.read("query", request=QueryRequest.of(question, k=1))
    return [hit.text for hit in found]


async def test_the_old_vectors_serve_until_the_new_are_there(say: Say) -> None:
    """Reads and writes go on under the old embedder; what is written meanwhile has a new vector, too."""
    forests, other = Forests(), Gated()
    old = forests.open()
    await old.ingest(say("s1", "I live in Davis.", "I like tea."))
    new = forests.open(models=_models(other))
    moving = asyncio.create_task(_move(new))
    await other.waiting.wait()
    assert await _texts(old, "Where does Bob live?") == ["Bob lives in Davis."]
    await old.ingest(say("s2", "I moved to Oslo.", "I like figs.", time="2023-06-01"))
    before = await old.version()
    other.gate.set()
    told = await moving
    assert (told.model, told.dimension, told.duplicate) == ("hash-32", 32, False)
    version = await new.version()
    check_forest(version)
    same = {name: kept for name, kept in decided(version).items() if name != "vectors"}
    assert same == {name: kept for name, kept in decided(before).items() if name != "vectors"}
    assert {len(version.vector(fact.id)) for fact in version.facts} == {32}
    assert await _texts(new, "Where did Bob move?") == ["Bob moved to Oslo."]
    assert (await examine(forests.store, UserId(ANN))).findings == ()
    with pytest.raises(EmbeddingMismatch):
        await forests.open().version()
    await new.ingest(say("s3", "I paint.", time="2023-07-01"))
    check_same(await new.version(), await forests.open(models=_models(other)).version())


async def test_it_is_done_once(say: Say) -> None:
    """Again under its id: the same answer; under another: nothing to do, and nothing is written."""
    forests = Forests()
    await forests.open().ingest(say("s1", "I live in Davis."))
    new = forests.open(models=_models(HashEmbedder(32)))
    told = await _move(new)
    before = await contents(forests.store)
    assert await _move(new) == told
    assert (await _move(new, "again")).duplicate
    assert await contents(forests.store) == before


async def test_snapshots_move_along(say: Say) -> None:
    """They can be restored, and what is forgotten leaves them, as before."""
    forests = Forests()
    old = forests.open()
    await old.ingest(say("s1", "I live in Davis.", "I like tea."))
    await old.driver.call("save", {"name": "early"}, op_id=OpId("save"), seen=0)
    await old.ingest(say("s2", "I moved to Oslo.", time="2023-06-01"))
    await old.driver.close()
    new = forests.open(models=_models(HashEmbedder(32)))
    assert (await _move(new)).snapshots == 1
    await new.driver.call("restore", {"name": "early"}, op_id=OpId("back"), seen=0)
    assert set((await new.version()).sessions) == {"s1"}
    await new.forget(turns=["s1#0"], including_snapshots=True)
    await new.driver.call("restore", {"name": "early"}, op_id=OpId("back again"), seen=0)
    version = await new.version()
    check_forest(version)
    assert [fact.text for fact in version.facts] == ["Ann likes tea."]


async def test_summaries_of_a_model_have_vectors_of_their_own() -> None:
    """They are embedded anew, too; no other node is."""
    summarizer = ScriptedSummarizer()
    forests = Forests(models=Models(RuleExtractor(), summarizer, HashEmbedder()))
    old = forests.open()
    for session in conversation(2, sessions=5, turns_max=12):
        await old.ingest(session)
    await old.driver.close()
    written = len(summarizer.asked)
    assert written > 0
    other = Gated()
    other.gate.set()
    new = forests.open(models=Models(RuleExtractor(), summarizer, other))
    await _move(new)
    version = await new.version()
    check_forest(version)
    made = [summary.text for summary in version.summaries.values() if summary.source == "model"]
    assert set(made) <= set(other.asked)
    assert len(other.asked) == len(set(other.asked))
    assert len(summarizer.asked) == written


@pytest.mark.parametrize("place", range(44))
async def test_cut_off_anywhere_it_is_the_old_or_the_new(say: Say, place: int) -> None:
    """Whoever opens it next finds one whole memory, and the move can be made again."""
    forests = Forests()
    old = forests.open()
    await old.ingest(say("s1", "I live in Davis.", "I like tea."))
    await old.driver.close()
    store = FaultyStore(forests.store, crash_at=place // 2, crash_after=bool(place % 2))
    new = forests.open(store=store, models=_models(HashEmbedder(32)))
    with suppress(Crashed):
        await _move(new)
    again = forests.open(models=_models(HashEmbedder(32)))
    told = await _move(again)
    assert told.model == "hash-32"
    version = await again.version()
    check_forest(version)
    assert {fact.text for fact in version.facts} == {"Bob lives in Davis.", "Ann likes tea."}
    assert (await examine(forests.store, UserId(ANN))).findings == ()


@pytest.mark.parametrize("place", range(20, 46, 2))
async def test_a_forget_that_was_cut_off_is_finished_after_it(say: Say, place: int) -> None:
    """Snapshots are whole at every moment; once somebody writes, none of them holds what was forgotten."""
    forests = Forests()
    old = forests.open()
    await old.ingest(say("s1", "I live in Davis.", "My word is HERON-7.", "I like tea."))
    await old.driver.call("save", {"name": "early"}, op_id=OpId("save"), seen=0)
    await old.ingest(say("s2", "I moved to Oslo.", "I like HERON-7 too.", time="2023-06-01"))
    await old.driver.close()
    cut = forests.open(store=FaultyStore(forests.store, crash_at=place))
    with suppress(Crashed):
        await cut.forget(turns=["s1#1", "s2#1"], including_snapshots=True)
    new = forests.open(models=_models(HashEmbedder(32)))
    await _move(new)
    assert (await examine(forests.store, UserId(ANN))).findings == ()
    await new.ingest(say("s3", "I paint.", time="2023-08-01"))
    version = await new.version()
    if version.sessions[SessionId("s1")].turns[1].hole:
        assert await residue("HERON", forests.store, version) == []
    assert (await examine(forests.store, UserId(ANN))).findings == ()
    await new.driver.call("restore", {"name": "early"}, op_id=OpId("back"), seen=0)
    check_forest(await new.version())


async def test_who_leaves_in_the_middle_leaves_nothing_running(say: Say) -> None:
    """The move is given up, its caller is told, and the memory is as it was."""
    forests, other = Forests(), Gated()
    await forests.open().ingest(say("s1", "I live in Davis."))
    before = await contents(forests.store)
    new = forests.open(models=_models(other))
    moving = asyncio.create_task(_move(new))
    await other.waiting.wait()
    await new.driver.close()
    with pytest.raises(Passivating, match="its vectors are unchanged"):
        await moving
    assert await contents(forests.store) == before


async def test_there_is_nothing_to_move_of_a_stranger() -> None:
    """And nothing is written for him."""
    forests = Forests()
    with pytest.raises(NotFound):
        await _move(forests.open("nobody"))
    assert await contents(forests.store) == {}
