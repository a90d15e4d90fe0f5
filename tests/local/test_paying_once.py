"""What a model was asked is not paid for twice: not by a retry, not by the next owner, not by a session that grows."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from memforest_ray.errors import LLMUnavailable
from memforest_ray.facts.sessions import Session
from memforest_ray.local.effects import Models
from memforest_ray.models.embedder import Vectors
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.answers import ScriptedSummarizer
from memforest_ray.testing.extraction import ScriptedExtractor
from memforest_ray.testing.forests import Forests, check_forest, residue
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.testing.store import contents
from memforest_ray.testing.waiting import until

Say = Callable[..., Session]


class _Named(ScriptedExtractor):
    """As a model's: its answers can be kept."""

    model = "scripted-1"


class _Fickle(HashEmbedder):
    """An embedder that can be down."""

    down = False

    async def embed(self, texts: Sequence[str]) -> Vectors:
        if self.down:
            raise LLMUnavailable("the embedder gave no answer; nothing was committed")
        return await super().embed(texts)


@pytest.fixture
def extractor() -> _Named:
    return _Named()


@pytest.fixture
def summarizer() -> ScriptedSummarizer:
    return ScriptedSummarizer()


@pytest.fixture
def embedder() -> _Fickle:
    return _Fickle()


@pytest.fixture
def forests(store: MemoryStore, extractor: _Named, summarizer: ScriptedSummarizer, embedder: _Fickle) -> Forests:
    return Forests(store, Models(extractor, summarizer, embedder))


def _long(say: Say, name: str, subject: str, turns: int = 20) -> Session:
    return say(
        name, *[f"I like {subject} and long walks along the river in Davis, part {n}." * 3 for n in range(turns)]
    )


async def _answers(store: MemoryStore) -> list[str]:
    return [key for key in await contents(store) if "/answer/" in key]


async def _until(store: MemoryStore, *, kept: bool) -> None:
    await until(lambda: _answers(store), lambda keys: bool(keys) == kept)


async def test_a_retry_pays_once(forests: Forests, extractor: _Named, embedder: _Fickle, say: Say) -> None:
    """The extraction of a write that failed later is there when it is tried again, and costs nothing then."""
    forest = forests.open()
    await forest.ingest(say("s0", "I like tea."))
    embedder.down = True
    with pytest.raises(LLMUnavailable):
        await forest.ingest(_long(say, "s1", "chess"))
    embedder.down = False
    asked = len(extractor.asked)
    receipt = await forest.ingest(_long(say, "s1", "chess"))
    assert (len(extractor.asked), receipt.cells, receipt.usage["extract"].calls) == (asked, 10, 0)
    check_forest(await forest.version())


async def test_the_next_owner_pays_nothing_again(
    forests: Forests, store: MemoryStore, extractor: _Named, embedder: _Fickle, say: Say
) -> None:
    """After a death between extraction and commit; what was committed is not kept any longer."""
    dying = forests.open()
    await dying.ingest(say("s0", "I like tea."))
    embedder.down = True
    with pytest.raises(LLMUnavailable):
        await dying.ingest(_long(say, "s1", "chess"))
    embedder.down = False
    await _until(store, kept=True)
    asked = len(extractor.asked)
    heir = forests.open()
    receipt = await heir.ingest(_long(say, "s1", "chess"))
    assert (len(extractor.asked), receipt.cells) == (asked, 10)
    await _until(store, kept=False)


async def test_a_growing_session_pays_for_what_is_new(
    forests: Forests, extractor: _Named, summarizer: ScriptedSummarizer, say: Say
) -> None:
    """Cells that are new, and summaries of the nodes over them; nothing that was asked before."""
    whole = _long(say, "s1", "chess", turns=32)
    forest = forests.open()
    await forest.ingest(replace(whole, turns=whole.turns[:30]))
    cells, summaries = len(extractor.asked), len(summarizer.asked)
    receipt = await forest.ingest(whole)
    assert (receipt.cells, len(extractor.asked)) == (1, cells + 1)
    asked = [request.texts for request in summarizer.asked]
    height = max(tree.height for tree in (await forest.version()).trees.values())
    assert len(asked) == len(set(asked))
    assert 0 < len(asked) - summaries <= 4 * height


async def test_what_is_forgotten_is_not_kept_as_an_answer(
    forests: Forests, store: MemoryStore, embedder: _Fickle, say: Say
) -> None:
    """An erasure empties what was kept of a write that never landed, too."""
    forest = forests.open()
    await forest.ingest(say("s0", "I saw a heron."))
    embedder.down = True
    with pytest.raises(LLMUnavailable):
        await forest.ingest(_long(say, "s1", "the heron"))
    embedder.down = False
    await _until(store, kept=True)
    await forest.forget(session="s0")
    assert await residue("heron", store, await forest.version()) == []
