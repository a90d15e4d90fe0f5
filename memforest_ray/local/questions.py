"""Answers questions to one version of a forest: runs the steps of a search and has models called between them."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import numpy as np

from memforest_ray.commit.version import Version
from memforest_ray.effects import Finished, step
from memforest_ray.errors import ClusterUnavailable, LLMUnavailable, Overloaded
from memforest_ray.local.effects import Models
from memforest_ray.models.chat import ChatModel, ChatReply, ChatRequest, streamed
from memforest_ray.models.usage import Usage
from memforest_ray.query.answering.replies import Citing
from memforest_ray.query.asking import ask_steps
from memforest_ray.query.request import QueryRequest
from memforest_ray.query.result import Answer, Result
from memforest_ray.query.search import search_steps
from memforest_ray.query.steps import Consult, Effect, Embed, Steps, Tell, unanswered
from memforest_ray.query.wordings import vector_of, wordings

__all__ = ["OnText", "Questions"]

T = TypeVar("T")
OnText = Callable[[str], None]
"""Called with each piece of an answer while it is written."""

INLINE_ROWS_MAX: Final = 4_096
"""Facts, cells and nodes up to which a search stays on the event loop: it may hold that for 5 ms, no longer."""
INLINE_HITS_MAX: Final = 50
"""Hits up to which it does: each is rendered with its path."""
_OUT_OF_REACH: Final = (LLMUnavailable, ClusterUnavailable, Overloaded)
"""What a model behind pools and endpoints raises when it cannot be asked."""


class Questions:
    """Reads only, on the version that it is given, however long models take."""

    def __init__(self, models: Models) -> None:
        self._models = models

    async def query(self, version: Version, request: QueryRequest) -> Result:
        """Evidence. Raises InvalidInput."""
        neighbour = self._models.embedder.fingerprint.neighbour
        steps = search_steps(version, request, await self._vector(version, request), neighbour=neighbour)
        return await self._run(steps, version, request)

    async def ask(self, version: Version, request: QueryRequest, on_text: OnText | None = None) -> Answer:
        """An answer; `on_text` is given its text as it comes, all of it at once where no model writes it."""
        steps = ask_steps(
            version,
            request,
            await self._vector(version, request),
            neighbour=self._models.embedder.fingerprint.neighbour,
            model=self._models.chat is not None,
        )
        shown: list[str] = []
        answer = await self._run(steps, version, request, None if on_text is None else _both(shown.append, on_text))
        if on_text is not None and not shown:
            on_text(answer.text)
        return answer

    async def _vector(self, version: Version, request: QueryRequest) -> Any:
        if not version.facts and not version.cells:
            return None
        texts = wordings(version, request)
        rows = await self._models.embedder.embed(texts)
        return vector_of(texts, dict(zip(texts, rows, strict=True)))

    async def _run(self, steps: Steps[T], version: Version, request: QueryRequest, on_text: OnText | None = None) -> T:
        """What steps come to. In a small memory each takes 2 ms, which two changes of thread would lengthen."""
        inline = len(version.index) <= INLINE_ROWS_MAX and request.k <= INLINE_HITS_MAX
        reply: Any = None
        while True:
            effect = step(steps, reply) if inline else await asyncio.to_thread(step, steps, reply)
            if isinstance(effect, Finished):
                return effect.result
            reply = await self._do(effect, on_text)

    async def _do(self, effect: Effect, on_text: OnText | None) -> Any:
        if isinstance(effect, Embed):
            rows = await self._models.embedder.embed(effect.texts)
            return {text: row.astype(np.float32) for text, row in zip(effect.texts, rows, strict=True) if row.any()}
        chat = self._models.chat
        if chat is None:
            return unanswered(effect)
        if isinstance(effect, Consult):
            return await _replies(chat, effect.requests)
        if on_text is not None:
            return await _told(chat, effect, on_text)
        return (await _replies(chat, [effect.request]))[0]


def _both(one: OnText, other: OnText) -> OnText:
    def tell(piece: str) -> None:
        one(piece)
        other(piece)

    return tell


async def _replies(chat: ChatModel, requests: Sequence[ChatRequest]) -> list[ChatReply]:
    """What a model says. That nobody answers is a reply, too: a question goes on without."""
    try:
        return await chat.chat(requests)
    except _OUT_OF_REACH as error:
        return [ChatReply(None, str(error), answered=False)] * len(requests)


async def _told(chat: ChatModel, effect: Tell, on_text: OnText) -> ChatReply:
    """A reply that is shown while it is written, with ids for numbers. One that broke off is no reply."""
    citing, pieces, usage = Citing(effect.result), list[str](), Usage()
    try:
        async for piece in streamed(chat, effect.request):
            if isinstance(piece, Usage):
                usage = piece
                continue
            pieces.append(piece)
            if shown := citing.feed(piece):
                on_text(shown)
    except _OUT_OF_REACH as error:
        return ChatReply(None, str(error), answered=bool(pieces), usage=Usage(calls=1))
    if shown := citing.end():
        on_text(shown)
    return ChatReply({"text": "".join(pieces)}, usage=usage)
