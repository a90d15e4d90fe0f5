"""Pools, as the models that a forest holds: each call goes to some member, in the forest's name."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import numpy as np

from memforest_actors.options import Components
from memforest_actors.pool import Pool, open_pool
from memforest_ray.ambient import Random
from memforest_ray.config import Settings
from memforest_ray.facts.candidates import CellInput, Extraction
from memforest_ray.facts.verdicts import Judgement, Question
from memforest_ray.local.driver import Models
from memforest_ray.local.models import URGENT_TEXTS_MAX
from memforest_ray.models.chat import ChatReply, ChatRequest
from memforest_ray.models.embedder import Fingerprint, Vectors
from memforest_ray.models.usage import Usage
from memforest_ray.trees.summaries import Source, SummaryReply, SummaryRequest

__all__ = ["PooledChat", "PooledEmbedder", "PooledExtractor", "PooledJudge", "PooledSummarizer", "open_models"]

CELLS_PER_CALL = 16
"""Enough to make a round trip (about 1 ms) cheap, few enough that several members share one session."""
TEXTS_PER_CALL = 256
REQUESTS_PER_CALL = 64
QUESTIONS_PER_CALL = 64


async def open_models(components: Components, settings: Settings, owner: str, random: Random) -> Models:
    """The models of one forest; `owner` is the name under which it takes its turn. Raises our errors."""
    served = components.served(settings)
    roles = dict.fromkeys(served.values())
    opened = await asyncio.gather(*(open_pool(role, components, settings, random) for role in roles))
    pools = dict(zip(roles, opened, strict=True))
    summarizer, embedder = await asyncio.gather(
        PooledSummarizer.open(pools[served["summarizer"]], owner), PooledEmbedder.open(pools[served["embedder"]], owner)
    )
    extractor = PooledExtractor(pools[served["extractor"]], owner)
    gateway = pools.get("gateway") if settings.remote_chat else None
    if gateway is None:
        return Models(extractor, summarizer, embedder)
    _, _, judge, chat, named = await gateway.call("card")
    if named is not None and served["extractor"] == "gateway":
        extractor = NamedPooledExtractor(gateway, owner, named)
    return Models(
        extractor,
        summarizer,
        embedder,
        None if judge is None else PooledJudge(gateway, owner, judge),
        None if chat is None else PooledChat(gateway, owner, chat),
    )


class PooledExtractor:
    """The `Extractor` that a forest holds."""

    def __init__(self, pool: Pool, owner: str) -> None:
        self._pool = pool
        self._owner = owner

    async def extract(self, cells: Sequence[CellInput]) -> list[Extraction]:
        batches: list[list[Extraction]] = await self._pool.spread("extract", cells, CELLS_PER_CALL, self._owner)
        return [extraction for batch in batches for extraction in batch]


class NamedPooledExtractor(PooledExtractor):
    """One whose answers can be kept: they can be told from those of another model or prompt."""

    def __init__(self, pool: Pool, owner: str, model: str) -> None:
        super().__init__(pool, owner)
        self._model = model

    @property
    def model(self) -> str:
        return self._model


class PooledSummarizer:
    """The `Summarizer` that a forest holds."""

    def __init__(self, pool: Pool, owner: str, model: str, source: Source) -> None:
        self._pool = pool
        self._owner = owner
        self._model = model
        self._source = source

    @classmethod
    async def open(cls, pool: Pool, owner: str) -> "PooledSummarizer":
        """Asks a member which model it holds."""
        model, source, *_ = await pool.call("card")
        return cls(pool, owner, model, source)

    @property
    def model(self) -> str:
        return self._model

    @property
    def source(self) -> Source:
        return self._source

    async def summarise(self, requests: Sequence[SummaryRequest]) -> list[SummaryReply]:
        batches: list[list[SummaryReply]] = await self._pool.spread(
            "summarise", requests, REQUESTS_PER_CALL, self._owner
        )
        return [reply for batch in batches for reply in batch]


class PooledJudge:
    """The `Judge` that a forest holds."""

    def __init__(self, pool: Pool, owner: str, model: str) -> None:
        self._pool = pool
        self._owner = owner
        self._model = model

    @property
    def model(self) -> str:
        return self._model

    async def judge(self, questions: Sequence[Question]) -> list[Judgement]:
        batches: list[list[Judgement]] = await self._pool.spread("judge", questions, QUESTIONS_PER_CALL, self._owner)
        return [judgement for batch in batches for judgement in batch]


class PooledChat:
    """The `ChatModel` that a forest holds, for questions: the client of the models is not loaded where it lives."""

    def __init__(self, pool: Pool, owner: str, model: str) -> None:
        self._pool = pool
        self._owner = owner
        self._model = model

    @property
    def model(self) -> str:
        return self._model

    async def chat(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        # Outside the window of bulk: somebody waits.
        replies: list[ChatReply] = await self._pool.call("chat", list(requests), self._owner)
        return replies

    async def stream(self, request: ChatRequest) -> AsyncIterator[str | Usage]:
        """The answer's text, piece by piece, and what it has cost last. Raises LLMUnavailable, ClusterUnavailable."""
        pieces: asyncio.Queue[str | None] = asyncio.Queue()
        telling = asyncio.create_task(self._pool.tell(pieces.put_nowait, "tell", request, self._owner))
        telling.add_done_callback(lambda _: pieces.put_nowait(None))
        try:
            while (piece := await pieces.get()) is not None:
                yield piece
            if isinstance(usage := await telling, Usage):
                yield usage
        finally:
            telling.cancel()


class PooledEmbedder:
    """The `Embedder` that a forest holds; `owner` is the name under which it takes its turn."""

    def __init__(self, pool: Pool, fingerprint: Fingerprint, owner: str) -> None:
        self._pool = pool
        self._fingerprint = fingerprint
        self._owner = owner

    @classmethod
    async def open(cls, pool: Pool, owner: str) -> "PooledEmbedder":
        """Asks a member which model it holds."""
        return cls(pool, await pool.call("fingerprint"), owner)

    @property
    def fingerprint(self) -> Fingerprint:
        return self._fingerprint

    async def embed(self, texts: Sequence[str]) -> Vectors:
        urgent = len(texts) <= URGENT_TEXTS_MAX
        batches = await self._pool.spread("embed", list(texts), TEXTS_PER_CALL, self._owner, urgent)
        if not batches:
            return np.zeros((0, self._fingerprint.dimension), np.float16)
        # A copy: what arrived lies in shared memory, read-only, and would hold it for as long as we keep it.
        return np.concatenate(batches)
