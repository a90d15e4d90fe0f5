"""Two stages of a write: facts are there at once, summaries follow as commits of their own, beside the lane."""

import asyncio
from collections.abc import Callable

import pytest

from memforest_ray.commit.version import Version
from memforest_ray.facts.sessions import Session
from memforest_ray.forest.intents import Receipt
from memforest_ray.ids import NodeId, SessionId
from memforest_ray.local.effects import Models
from memforest_ray.query.request import QueryRequest
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.answers import ScriptedSummarizer
from memforest_ray.testing.extraction import ScriptedExtractor
from memforest_ray.testing.forests import Forests, TestForest, check_forest, check_same, decided, residue
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.testing.waiting import PATIENCE_S, until
from memforest_ray.trees.nodes import Node
from memforest_ray.trees.routing import session_scope

Say = Callable[..., Session]


@pytest.fixture
def summarizer() -> ScriptedSummarizer:
    return ScriptedSummarizer()


@pytest.fixture
def forests(store: MemoryStore, extractor: ScriptedExtractor, summarizer: ScriptedSummarizer) -> Forests:
    """Forests whose summaries take calls."""
    return Forests(store, Models(extractor, summarizer, HashEmbedder()), lane_depth_max=4)


def _long(say: Say, name: str, subject: str, turns: int = 20) -> Session:
    """A session so long that its summaries have to be asked for."""
    texts = [f"I like {subject} and long walks along the river in Davis, part {n} of {name}." * 3 for n in range(turns)]
    return say(name, *texts)


def _stale(version: Version) -> list[str]:
    return [name for name, summary in version.summaries.items() if summary.stale]


async def _until(forest: TestForest, holds: Callable[[Version], bool]) -> Version:
    """The first version for which something holds."""
    return await until(forest.version, holds)


async def _fresh(forest: TestForest) -> Version:
    return await _until(forest, lambda version: bool(version.summaries) and not _stale(version))


async def test_facts_are_there_before_summaries(forests: Forests, summarizer: ScriptedSummarizer, say: Say) -> None:
    """`wait="facts"` returns with extractive summaries marked stale; the others follow as a commit of their own."""
    summarizer.held = lambda request: True
    forest = forests.open()
    receipt = await forest.ingest(_long(say, "s1", "chess"), wait="facts")
    version = await forest.version()
    check_forest(version)
    check_same(version, await forests.open().version())
    assert (receipt.refreshed, receipt.facts_added > 0, version.number) == (False, True, receipt.version)
    assert _stale(version) != []
    assert any("chess" in hit.text for hit in await forest.read("query", request=QueryRequest("chess")))
    summarizer.gate.set()
    after = await _fresh(forest)
    check_forest(after)
    check_same(after, await forests.open().version())
    assert after.number == version.number + 1
    assert decided(after) == decided(version)
    assert {summary.source for summary in after.summaries.values()} == {"model", "concat"}


async def test_a_refreshed_write_returns_when_its_summaries_are_published(
    forests: Forests, summarizer: ScriptedSummarizer, say: Say
) -> None:
    """The receipt names the version that holds them, how deep they went, what they have cost."""
    forest = forests.open()
    receipt = await forest.ingest(_long(say, "s1", "chess"))
    version = await forest.version()
    assert (receipt.refreshed, receipt.version, _stale(version)) == (True, version.number, [])
    assert receipt.usage["summarise"].calls == len(summarizer.asked) > 0
    assert receipt.usage["summarise"].prompt_tokens == 100 * len(summarizer.asked)
    assert 1 <= receipt.depth <= max(tree.height for tree in version.trees.values())
    inputs = [request.texts for request in summarizer.asked]
    assert len(inputs) == len(set(inputs))


async def test_who_waits_for_summaries_holds_up_nobody(
    forests: Forests, summarizer: ScriptedSummarizer, say: Say
) -> None:
    """While one write's summaries are under way the facts of others land; both summaries are there in the end."""
    summarizer.held = lambda request: "chess" in request.texts[0]
    forest = forests.open()
    slow = asyncio.create_task(forest.ingest(_long(say, "s1", "chess")))
    await summarizer.shown(1)
    other = await forest.ingest(_long(say, "s2", "pottery"), wait="facts")
    assert (other.refreshed, slow.done()) == (False, False)
    assert any("pottery" in hit.text for hit in await forest.read("query", request=QueryRequest("pottery")))
    summarizer.gate.set()
    assert (await slow).refreshed
    check_forest(await _fresh(forest))


async def test_the_tree_of_a_session_waits_for_no_extraction(
    forests: Forests, extractor: ScriptedExtractor, summarizer: ScriptedSummarizer, say: Say
) -> None:
    """Its summaries are made while cells are being read, once, and are there when the facts land."""
    extractor.held = lambda cell: True
    forest = forests.open()
    writing = asyncio.create_task(forest.ingest(_long(say, "s1", "chess")))
    await summarizer.shown(4)
    assert {request.scope for request in summarizer.asked} == {"session:s1"}
    assert not writing.done()
    extractor.gate.set()
    assert (await writing).refreshed
    inputs = [request.texts for request in summarizer.asked]
    assert len(inputs) == len(set(inputs))


async def test_who_does_not_wait_for_summaries_is_not_slowed_by_them(
    forests: Forests, extractor: ScriptedExtractor, summarizer: ScriptedSummarizer, say: Say
) -> None:
    """None is asked for while his cells are read, nor while those of others are."""
    extractor.held = lambda cell: True
    forest = forests.open()
    writing = [asyncio.create_task(forest.ingest(_long(say, f"s{n}", "chess"), wait="facts")) for n in range(2)]
    await extractor.shown(20)
    assert summarizer.asked == []
    extractor.gate.set()
    await asyncio.gather(*writing)
    await _fresh(forest)


async def test_the_next_owner_finishes_what_is_stale(
    forests: Forests, summarizer: ScriptedSummarizer, say: Say
) -> None:
    """After a death between the stages: with its first write, or at once when it is told that it is the only owner."""
    summarizer.held = lambda request: True
    dying = forests.open()
    await dying.ingest(_long(say, "s1", "chess"), wait="facts")
    summarizer.gate.set()
    heir = forests.open()
    assert _stale(await heir.version()) != []
    await heir.ingest(say("s2", "I like tea."))
    check_forest(await _fresh(heir))
    await heir.driver.close()


async def test_a_first_write_reads_the_trees_that_it_changes(
    forests: Forests,
    extractor: ScriptedExtractor,
    say: Say,
    trees_read: list[str],
) -> None:
    """While its cells are read; those of others are not looked at for what may be stale in them."""
    await forests.open().ingest(_long(say, "s1", "chess"))
    trees_read.clear()
    extractor.held = lambda cell: True
    forest = forests.open()
    writing = asyncio.create_task(forest.ingest(_long(say, "s2", "tea")))
    await until(forest.version, lambda _: {"entity:ann", "entity:bob"} <= set(trees_read))
    assert not writing.done()
    extractor.gate.set()
    assert (await writing).refreshed
    assert "session:s1" not in trees_read
    check_same(await forest.version(), await forests.open().version())


async def test_an_only_owner_resumes_at_its_first_read(
    forests: Forests, summarizer: ScriptedSummarizer, say: Say
) -> None:
    """No write is needed."""
    summarizer.held = lambda request: True
    await forests.open().ingest(_long(say, "s1", "chess"), wait="facts")
    summarizer.gate.set()
    heir = forests.open(resumes=True)
    check_forest(await _fresh(heir))
    check_same(await heir.version(), await forests.open().version())


async def test_a_mere_reader_claims_nothing(forests: Forests, summarizer: ScriptedSummarizer, say: Say) -> None:
    """Stale summaries are no reason to take a memory from its owner."""
    summarizer.held = lambda request: True
    owner = forests.open()
    await owner.ingest(_long(say, "s1", "chess"), wait="facts")
    reader = forests.open()
    await reader.read("trees")
    assert not (await reader.read("stats"))["owned"]
    summarizer.gate.set()
    await _fresh(owner)


@pytest.mark.parametrize("how", ["fails", "raises"])
async def test_summaries_that_fail_are_said_and_tried_again(
    forests: Forests, summarizer: ScriptedSummarizer, say: Say, how: str
) -> None:
    """The write has landed with stand-ins, its receipt says why; the next write has them made good."""
    if how == "fails":
        summarizer.failure = lambda request: "refused"
    else:
        summarizer.error = ValueError("refused")
    forest = forests.open()
    receipt = await forest.ingest(_long(say, "s1", "chess"))
    assert (receipt.refreshed, receipt.facts_added > 0) == (False, True)
    assert "refused" in receipt.notes[0]
    check_forest(await forest.version())
    asked = len(summarizer.asked)
    assert asked < 40
    summarizer.failure = lambda request: None
    summarizer.error = None
    await forest.ingest(say("s2", "I like tea and long walks along the river in Davis."))
    version = await forest.version()
    check_forest(version)
    check_same(version, await forests.open().version())
    assert _stale(version) == []


async def test_a_repair_has_stale_summaries_written(forests: Forests, summarizer: ScriptedSummarizer, say: Say) -> None:
    """It returns when they are there; a second one finds nothing to do."""
    summarizer.failure = lambda request: "refused"
    forest = forests.open()
    await forest.ingest(_long(say, "s1", "chess"))
    summarizer.failure = lambda request: None
    receipt = await forest.repair()
    assert (receipt.refreshed, receipt.duplicate, _stale(await forest.version())) == (True, False, [])
    assert (await forest.repair()).duplicate


async def test_closing_finishes_what_somebody_waits_for(
    forests: Forests, summarizer: ScriptedSummarizer, say: Say
) -> None:
    """Writes that wait have their summaries; those that nobody waits for are left to the next owner."""
    summarizer.held = lambda request: "chess" in request.texts[0]
    forest = forests.open()
    waiting = asyncio.create_task(forest.ingest(_long(say, "s1", "chess")))
    await summarizer.shown(1)
    closing = asyncio.create_task(forest.driver.close())
    await asyncio.sleep(0)
    summarizer.gate.set()
    await closing
    assert waiting.result().refreshed
    summarizer.gate.clear()
    other = forests.open()
    await other.ingest(_long(say, "s3", "more chess"), wait="facts")
    await asyncio.wait_for(other.driver.close(), PATIENCE_S)
    assert _stale(await forests.open().version()) != []


async def test_what_is_forgotten_between_the_stages_is_gone(
    forests: Forests, store: MemoryStore, summarizer: ScriptedSummarizer, say: Say
) -> None:
    """A summary that was being written of it does not bring it back."""
    summarizer.held = lambda request: True
    forest = forests.open()
    await forest.ingest(_long(say, "s1", "the heron"), wait="facts")
    await forest.ingest(_long(say, "s2", "pottery"), wait="facts")
    await forest.forget(session="s1")
    summarizer.gate.set()
    version = await _fresh(forest)
    check_forest(version)
    await forest.driver.close()
    assert await residue("heron", store, version) == []


async def test_writes_that_wait_for_summaries_fill_the_lane(
    forests: Forests, summarizer: ScriptedSummarizer, say: Say
) -> None:
    """They count until they are answered, so that no more than the lane's depth are under way."""
    summarizer.held = lambda request: True
    forest = forests.open()
    writes = [asyncio.create_task(forest.ingest(_long(say, f"s{n}", f"chess {n}"))) for n in range(4)]
    await _until(forest, lambda version: len(version.sessions) == 4)
    with pytest.raises(Exception, match="4 writes are waiting"):
        await forest.ingest(say("s9", "I like tea."))
    summarizer.gate.set()
    receipts = await asyncio.gather(*writes)
    assert all(receipt.refreshed for receipt in receipts)
    assert sum(receipt.usage.get("summarise", receipt.usage["extract"]).calls for receipt in receipts) > 0


async def test_a_retry_between_the_stages_is_told_that_summaries_follow(
    forests: Forests, summarizer: ScriptedSummarizer, say: Say
) -> None:
    """The facts are kept under the operation's id: it is one write."""
    summarizer.held = lambda request: True
    first = await forests.open().ingest(_long(say, "s1", "chess"), "op", wait="facts")
    again: Receipt = await forests.open().ingest(_long(say, "s1", "chess"), "op")
    assert (again.version, again.facts_added, again.refreshed) == (first.version, first.facts_added, False)


async def test_extraction_goes_before_summaries(
    store: MemoryStore, extractor: ScriptedExtractor, summarizer: ScriptedSummarizer, say: Say
) -> None:
    """What more cells leave free than can be read at once is filled; all are asked for when the cells are done."""
    forests = Forests(store, Models(extractor, summarizer, HashEmbedder()), llm_permits=8)
    extractor.held = lambda cell: len(extractor.asked) == 30  # the last two, which are asked about together
    summarizer.held = lambda request: True
    forest = forests.open()
    writing = asyncio.create_task(forest.ingest(_long(say, "s1", "chess", turns=60)))
    await summarizer.shown(6)
    assert len(summarizer.asked) == 6
    extractor.gate.set()
    await summarizer.shown(8)
    summarizer.gate.set()
    assert (await writing).refreshed


async def test_a_node_without_a_summary_stands_on_the_new_ones_below(
    forests: Forests, summarizer: ScriptedSummarizer, say: Say
) -> None:
    """Should its own come to nothing, its vector is that of what its children say now, as whoever loads it has it."""
    summarizer.held = lambda request: True
    forest = forests.open()
    await forest.ingest(_long(say, "s1", "chess", turns=60), wait="facts")
    root = (await forest.version()).trees[session_scope(SessionId("s1"))].root
    assert isinstance(root, Node)
    summarizer.failure = lambda request: "no answer" if request.node_id == root.id else None
    summarizer.gate.set()
    version = await _until(forest, lambda version: root.id in _stale(version) and len(_stale(version)) < 3)
    assert {version.summaries[NodeId(child.id)].source for child in root.children} == {"model"}
    check_same(version, await forests.open().version())


async def test_what_comes_into_the_middle_of_a_tall_tree_holds_up_nothing(
    forests: Forests, summarizer: ScriptedSummarizer, say: Say
) -> None:
    """Nodes above it are asked for with what is below it, and all that was made is taken in."""
    forest = forests.open()
    for day, turns in ((1, 60), (9, 60), (4, 20)):
        before = len(summarizer.asked)
        told = [f"I walked {turn} miles along the river in Davis on the day {day} of my trip." for turn in range(turns)]
        receipt = await forest.ingest(say(f"s{day}", *told, time=f"2023-05-{day:02d}T10:00:00Z"))
    version = await forest.version()
    check_forest(version)
    assert max(tree.height for tree in version.trees.values()) > 2
    assert (receipt.depth, receipt.refreshed, _stale(version)) == (1, True, [])
    inputs = [request.texts for request in summarizer.asked[before:]]
    assert len(inputs) == len(set(inputs)) == receipt.usage["summarise"].calls
