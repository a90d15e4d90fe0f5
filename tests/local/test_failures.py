"""Models and stores that fail: the caller hears of it, nothing is half done, the next write works."""

import asyncio
from collections.abc import Callable, Sequence

import pytest

from memforest_ray.errors import LLMUnavailable, MemForestError, OutcomeUnknown, StoreUnavailable
from memforest_ray.facts.sessions import Session, Turn
from memforest_ray.forest.intents import Receipt
from memforest_ray.local.effects import Models
from memforest_ray.models.embedder import Vectors
from memforest_ray.query.request import QueryRequest
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.extraction import ScriptedExtractor, says
from memforest_ray.testing.forests import Forests, check_forest, check_same
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.testing.store import Call, Fault, FaultyStore, contents
from memforest_ray.trees.summaries import SelectionSummarizer, SummaryReply, SummaryRequest

Say = Callable[..., Session]
PATIENCE_S = 20


async def test_a_failed_cell_is_named_and_its_dialogue_is_found(
    forests: Forests, extractor: ScriptedExtractor, say: Say
) -> None:
    """Nineteen cells land, one is named with its reason; what was said in it is searchable."""
    extractor.failure = lambda cell: "refused" if says("heron")(cell) else None
    texts = [f"I like chess, part {number}." for number in range(38)]
    forest = forests.open()
    receipt = await forest.ingest(say("s1", *texts, "I saw a heron.", "Nice."))
    version = await forest.version()
    check_forest(version)
    check_same(version, await forests.open().version())
    assert (receipt.cells, list(receipt.failed_cells.values()), receipt.usage["extract"].calls) == (20, ["refused"], 1)
    assert set(receipt.failed_cells) == set(version.failed)
    hits = await forest.read("query", request=QueryRequest("heron"))
    assert "heron" in next(iter(hits)).text


@pytest.mark.parametrize("again", ["the same session", "a longer session", "repair"])
async def test_a_failed_cell_is_retried_by_the_next_ingest_or_repair(
    forests: Forests, extractor: ScriptedExtractor, say: Say, again: str
) -> None:
    """It alone is asked for again, and nothing else asks for it: not another session's ingest, not a query."""
    session = say("s1", "I live in Davis.", "Nice.", "I saw a heron.", "Where?")
    extractor.failure = lambda cell: "refused" if says("heron")(cell) else None
    forest = forests.open()
    await forest.ingest(session)
    extractor.failure = lambda cell: None
    await forest.ingest(say("s2", "I like chess."))
    assert len(extractor.asked) == 3
    match again:
        case "the same session":
            receipt = await forest.ingest(session)
        case "a longer session":
            turns = [*session.turns, Turn("Bye.", "Bob"), Turn("Bye, Bob.", "Ann")]
            receipt = await forest.ingest(Session("s1", turns, session.time))
        case _:
            receipt = await forest.repair()
    version = await forest.version()
    check_forest(version)
    assert (receipt.duplicate, dict(receipt.failed_cells)) == (False, {})
    assert any("heron" in fact.text for fact in version.facts)
    assert (await forest.ingest(session)).duplicate
    assert (await forest.repair()).duplicate


async def test_a_cell_that_fails_again_says_so(forests: Forests, extractor: ScriptedExtractor, say: Say) -> None:
    """A retry that came to nothing names the cell and the version that is there; nothing is written."""
    extractor.failure = lambda cell: "refused"
    forest = forests.open()
    first = await forest.ingest(say("s1", "I live in Davis."))
    second = await forest.ingest(say("s1", "I live in Davis."))
    assert (second.version, second.failed_cells, second.duplicate) == (first.version, first.failed_cells, False)


@pytest.mark.parametrize("error", [LLMUnavailable("no answer; nothing was committed"), ValueError("a bug")])
async def test_an_extractor_that_raises_fails_its_write_alone(
    forests: Forests, store: MemoryStore, extractor: ScriptedExtractor, say: Say, error: Exception
) -> None:
    """The error, also one that is a bug, reaches its caller; writes beside it land, and so does the same one later."""
    extractor.error = lambda cell: error if says("heron")(cell) else None
    forest = forests.open()
    with pytest.raises(type(error)):
        await forest.ingest(say("s1", "I saw a heron."))
    assert await contents(store) == {}
    outcomes = await asyncio.gather(
        forest.ingest(say("s1", "I saw a heron.")), forest.ingest(say("s2", "I like chess.")), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes] == [type(error), Receipt]
    extractor.error = lambda cell: None
    await forest.ingest(say("s1", "I saw a heron."))
    version = await forest.version()
    check_forest(version)
    assert set(version.sessions) == {"s1", "s2"}


class _Fickle(HashEmbedder):
    """An embedder that is down for texts with some word."""

    def __init__(self) -> None:
        super().__init__()
        self.word = "heron"

    async def embed(self, texts: Sequence[str]) -> Vectors:
        if any(self.word in text for text in texts):
            raise LLMUnavailable("the embedder gave no answer; nothing was committed")
        return await super().embed(texts)


async def test_an_embedder_that_raises_fails_its_write_alone(say: Say) -> None:
    """While it is down nothing of the write is there; a forget whose remainder needs it changes nothing, too."""
    embedder = _Fickle()
    forests = Forests(models=Models(ScriptedExtractor(), SelectionSummarizer(), embedder))
    forest = forests.open()
    outcomes = await asyncio.gather(
        forest.ingest(say("s1", "I saw a heron.")), forest.ingest(say("s2", "I like chess.")), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes] == [LLMUnavailable, Receipt]
    embedder.word = "nothing"
    await forest.ingest(say("s1", "I saw a heron.", "I live in Davis."))
    embedder.word = "heron"
    before = await forest.version()
    with pytest.raises(LLMUnavailable):
        await forest.forget(turns=("s1#1",))
    assert await forest.version() is before
    embedder.word = "nothing"
    assert (await forest.forget(turns=("s1#1",))).turns == 1


class _Summarizer(SelectionSummarizer):
    """Fails as a value, waits, raises when it is asked about a heron, or works."""

    def __init__(self) -> None:
        self.mood = "fail"
        self.called = asyncio.Event()
        self.gate = asyncio.Event()

    async def summarise(self, requests: Sequence[SummaryRequest]) -> list[SummaryReply]:
        self.called.set()
        if self.mood == "fail":
            return [SummaryReply(request.node_id, None, "refused") for request in requests]
        if self.mood == "wait":
            await self.gate.wait()
        if any("heron" in text for request in requests for text in request.texts):
            raise ValueError("a bug")
        return await super().summarise(requests)


def _long(say: Say, name: str, subject: str) -> Session:
    """A session of ten cells, so long that its summary has to be asked for."""
    return say(name, *[f"I like {subject} and long walks along the river in Davis, part {n}." * 3 for n in range(20)])


async def test_a_summary_that_fails_is_stale_until_repaired(say: Say) -> None:
    """The write lands with stand-ins; a repair makes them good; nothing is stale above it any more."""
    summarizer = _Summarizer()
    forests = Forests(models=Models(ScriptedExtractor(), summarizer, HashEmbedder()))
    forest = forests.open()
    await forest.ingest(_long(say, "s1", "chess"))
    assert any(summary.stale for summary in (await forest.version()).summaries.values())
    summarizer.mood = "work"
    await forest.repair()
    version = await forest.version()
    check_forest(version)
    check_same(version, await forests.open().version())
    assert [summary for summary in version.summaries.values() if summary.stale] == []


async def test_a_bug_in_a_turn_ends_neither_the_lane_nor_the_batch(extractor: ScriptedExtractor, say: Say) -> None:
    """A summariser that raises for one session of a batch of three: that write has the error, the others land."""
    summarizer = _Summarizer()
    summarizer.mood = "wait"
    extractor.held = lambda cell: not says("tea")(cell)
    forest = Forests(models=Models(extractor, summarizer, HashEmbedder())).open()
    first = asyncio.create_task(forest.ingest(_long(say, "s0", "tea")))
    await summarizer.called.wait()
    subjects = {"s1": "chess", "s2": "the heron", "s3": "pottery"}
    others = [asyncio.create_task(forest.ingest(_long(say, name, subject))) for name, subject in subjects.items()]
    await extractor.shown(40)
    preparing = [task for task in asyncio.all_tasks() if "Preparer.prepare" in repr(task.get_coro())]
    extractor.gate.set()
    await asyncio.wait(preparing)
    summarizer.gate.set()
    outcomes = await asyncio.wait_for(asyncio.gather(first, *others, return_exceptions=True), PATIENCE_S)
    assert [type(outcome) for outcome in outcomes] == [Receipt, Receipt, ValueError, Receipt]
    version = await forest.version()
    check_forest(version)
    assert set(version.sessions) == {"s0", "s1", "s3"}


async def test_a_lost_response_is_found_out(store: MemoryStore, forests: Forests, say: Say) -> None:
    """Each call of an ingest that landed but was not heard of: one write, one receipt, no error, nothing twice."""
    probing = FaultyStore(MemoryStore())
    await forests.open(store=probing).ingest(say("s1", "I live in Davis."))
    for place in range(len(probing.calls)):
        inner = MemoryStore()
        faulty = FaultyStore(inner, lambda call, place=place: Fault.FAIL_AFTER if call.number == place else None)  # type: ignore[misc]
        forest = forests.open(store=faulty)
        receipt = await _insist(lambda forest=forest: forest.ingest(say("s1", "I live in Davis."), "op"))  # type: ignore[misc]
        version = await forests.open(store=inner).version()
        check_forest(version)
        assert (receipt.duplicate, receipt.facts_added, len(version.operations)) == (False, 1, 1)


async def test_a_silent_store_leaves_a_write_open_and_the_retry_learns_it(forests: Forests, say: Say) -> None:
    """The commit lands, nobody answers, not even to reads: OutcomeUnknown with the op id; later the one receipt."""
    inner, silent = MemoryStore(), asyncio.Event()

    def plan(call: Call) -> Fault | None:
        if call.verb == "create" and call.key.endswith("2") and not heard:
            silent.set()
        return Fault.FAIL_AFTER if silent.is_set() else None

    heard: list[bool] = []

    forest = forests.open(store=FaultyStore(inner, plan))
    with pytest.raises(OutcomeUnknown) as caught:
        await forest.ingest(say("s1", "I live in Davis."), "op")
    assert caught.value.op_id == "op"
    heard.append(True)
    silent.clear()
    receipt = await forest.ingest(say("s1", "I live in Davis."), "op")
    assert (receipt.duplicate, receipt.facts_added) == (False, 1)
    check_same(await forest.version(), await forests.open(store=inner).version())


async def test_an_unheard_batch_is_answered_write_by_write(forests: Forests, say: Say) -> None:
    """A batch of a new session and a duplicate, its commit unheard: the first has its receipt, not "duplicate"."""
    inner, quiet = MemoryStore(), 0
    await forests.open(store=inner).ingest(say("s0", "I like tea."))

    def plan(call: Call) -> Fault | None:
        """The commit lands; of that and of the reads that would have found out nothing is heard."""
        nonlocal quiet
        if call.verb == "create" and call.key.endswith("4"):
            quiet = 8
        quiet = max(0, quiet - 1)
        return Fault.FAIL_AFTER if quiet else None

    other = forests.open(store=FaultyStore(inner, plan))
    outcomes = await asyncio.gather(
        _insist(lambda: other.ingest(say("s1", "I live in Davis."), "a")),
        _insist(lambda: other.ingest(say("s0", "I like tea."), "b")),
    )
    assert [(outcome.duplicate, outcome.facts_added) for outcome in outcomes] == [(False, 1), (True, 0)]


async def test_an_erasure_that_was_cut_off_is_finished_before_anything_is_answered(forests: Forests, say: Say) -> None:
    """The store refuses to delete: the forget is an error, its retry too; once it can, the retry has the report."""
    inner, broken = MemoryStore(), True
    plan = lambda call: Fault.FAIL_BEFORE if broken and call.verb == "delete" and "/seg/" in call.key else None  # noqa: E731
    forest = forests.open(store=FaultyStore(inner, plan))
    await forest.ingest(say("s1", "My PIN word is HERON-7."))
    await forest.ingest(say("s2", "I live in Davis."))
    await forest.driver.close()
    forest = forests.open(store=FaultyStore(inner, plan))
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            await forest.forget("out", session="s1")
    with pytest.raises(StoreUnavailable):
        await forest.ingest(say("s3", "I like tea."))
    broken = False
    report = await forest.forget("out", session="s1")
    assert report.turns == 1
    assert "HERON" not in repr(await forests.open(store=inner).version())
    await forest.ingest(say("s3", "I like tea."))
    check_same(await forest.version(), await forests.open(store=inner).version())


async def _insist(call: Callable[[], object]) -> Receipt:
    """What a handle does: the same operation again while the store does not answer."""
    for _ in range(10):
        try:
            receipt = await call()  # type: ignore[misc]
        except MemForestError:
            continue
        assert isinstance(receipt, Receipt)
        return receipt
    raise AssertionError("no answer after ten tries")
