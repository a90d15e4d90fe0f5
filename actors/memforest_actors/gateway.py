"""The gateway of a node: every call to a model behind an endpoint goes out through here.

One process for all roles and not one for each: an endpoint's budget of calls is one, and extraction can use all of
it while nothing is summarised. Keeps nothing, so it may be restarted and asked again.
"""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Sequence
from typing import TypeVar

from memforest_actors import refs
from memforest_actors.metrics import GatewayMetrics
from memforest_actors.reply import Answering, Reply, load, reply_of
from memforest_ray.config import Settings
from memforest_ray.errors import InvalidInput, LLMUnavailable, MemForestError
from memforest_ray.facts.candidates import CellInput
from memforest_ray.facts.verdicts import Judge, Question
from memforest_ray.local.models import OpenModels, shared
from memforest_ray.logs import configure
from memforest_ray.models.chat import ChatModel, ChatRequest, streamed
from memforest_ray.models.usage import Usage
from memforest_ray.trees.summaries import SummaryRequest

__all__ = ["GatewayActor"]

T = TypeVar("T")

log = logging.getLogger("memforest")


class GatewayActor(Answering):
    """Hosts the models, made at the first call: a failing constructor would look like a crash."""

    def __init__(self, factory: str, settings: Settings) -> None:
        self._factory = factory
        self._settings = settings
        configure(settings.log_format, settings.log_level)
        self._opening = asyncio.Lock()
        self._open: OpenModels | None = None
        self._metrics = GatewayMetrics()

    async def ping(self) -> int:
        """That the event loop turns, and in which process."""
        return os.getpid()

    async def warm(self) -> Reply:
        """Connect, and have the servers read what is fixed of every prompt."""
        return await reply_of(self._warm())

    async def card(self) -> Reply:
        """Names of the summariser's model, of what its texts are marked as, of the judge's and of the chat model, and
        of the extractor's.
        """
        return await reply_of(self._card())

    async def fingerprint(self) -> Reply:
        """Which model embeds."""
        return await reply_of(self._fingerprint())

    async def extract(self, cells: Sequence[CellInput], owner: str) -> Reply:
        """One `Extraction` per cell, in order; `owner` is who shares the endpoints fairly with others."""
        return await reply_of(self._extract(cells, owner))

    async def summarise(self, requests: Sequence[SummaryRequest], owner: str) -> Reply:
        """One `SummaryReply` per request, in order."""
        return await reply_of(self._summarise(requests, owner))

    async def judge(self, questions: Sequence[Question], owner: str) -> Reply:
        """One `Judgement` per question, in order."""
        return await reply_of(self._judge(questions, owner))

    async def chat(self, requests: Sequence[ChatRequest], owner: str) -> Reply:
        """One `ChatReply` per request, in order; somebody waits for them."""
        return await reply_of(self._chat(requests, owner))

    async def tell(self, request: ChatRequest, owner: str) -> AsyncIterator[str | Reply]:
        """An answer in plain text while it is written: its pieces, and a reply last that says whether it is whole, and
        what it has cost.
        """
        try:
            chat, usage = _there(shared((await self._opened()).models, owner).chat), None
            with self._metrics.in_flight("chat", 1):
                async for piece in streamed(chat, request):
                    if isinstance(piece, Usage):
                        usage = piece
                    else:
                        yield piece
        except MemForestError as error:
            yield "error", error
        else:
            yield "ok", usage

    async def embed(self, texts: Sequence[str], owner: str, _urgent: bool) -> Reply:
        """Vectors of `texts`, in order. (The models tell by their number whether somebody waits.)"""
        return await reply_of(self._embed(texts, owner))

    # ---- what is behind ----------------------------------------------------------------------------------

    async def _warm(self) -> None:
        try:
            await (await self._opened()).warm()
        except LLMUnavailable as error:
            # A cluster starts without its model servers; who needs them then is told.
            log.warning("the endpoints are not warm: %s", error)

    async def _card(self) -> object:
        models = (await self._opened()).models
        return (
            models.summarizer.model,
            models.summarizer.source,
            None if models.judge is None else models.judge.model,
            None if models.chat is None else models.chat.model,
            getattr(models.extractor, "model", None),
        )

    async def _fingerprint(self) -> object:
        return (await self._opened()).models.embedder.fingerprint

    async def _extract(self, cells: Sequence[CellInput], owner: str) -> object:
        models = shared((await self._opened()).models, owner)
        with self._metrics.in_flight("extract", len(cells)):
            return await models.extractor.extract(cells)

    async def _summarise(self, requests: Sequence[SummaryRequest], owner: str) -> object:
        models = shared((await self._opened()).models, owner)
        with self._metrics.in_flight("summarise", len(requests)):
            return await models.summarizer.summarise(requests)

    async def _judge(self, questions: Sequence[Question], owner: str) -> object:
        judge: Judge = _there(shared((await self._opened()).models, owner).judge)
        with self._metrics.in_flight("judge", len(questions)):
            return await judge.judge(questions)

    async def _chat(self, requests: Sequence[ChatRequest], owner: str) -> object:
        chat: ChatModel = _there(shared((await self._opened()).models, owner).chat)
        with self._metrics.in_flight("chat", len(requests)):
            return await chat.chat(requests)

    async def _embed(self, texts: Sequence[str], owner: str) -> object:
        models = shared((await self._opened()).models, owner)
        with self._metrics.in_flight("embed", len(texts)):
            return await models.embedder.embed(texts)

    async def _opened(self) -> OpenModels:
        async with self._opening:
            if self._open is None:
                # Endpoints are shared with the gateways that there are now; of later ones each takes its own share.
                members = len(await refs.nodes())
                opened: OpenModels = await asyncio.to_thread(load(self._factory), self._settings, members)
                self._open = opened
        return self._open


def _there(model: T | None) -> T:
    if model is None:
        raise InvalidInput("no such model is configured here; nothing was done")
    return model
