"""The models that settings name: behind endpoints, or in this process and without any server."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

from memforest_ray.ambient import Clock, Random
from memforest_ray.config import Settings
from memforest_ray.local.effects import Models
from memforest_ray.models.chat import ChatReply, ChatRequest
from memforest_ray.models.embedder import Embedder, Fingerprint, Vectors
from memforest_ray.models.usage import Usage

# ruff: noqa: PLC0415 - onnxruntime and the openai client load only where they are used
__all__ = ["URGENT_TEXTS_MAX", "OpenModels", "OwnedChat", "offline_models", "open_models", "shared"]

T = TypeVar("T")

URGENT_TEXTS_MAX = 2
"""A call with so few texts is a question or a single turn, somebody waits for it: it goes before bulk."""


@dataclass(frozen=True, slots=True)
class OpenModels:
    """Models, and how to let go of them."""

    models: Models
    warm: Callable[[], Awaitable[None]]
    """Have what is fixed of every prompt read once, before somebody waits for it."""
    close: Callable[[], Awaitable[None]]


def open_models(
    settings: Settings, clock: Clock, random: Random, *, members: int = 1, embedder: Embedder | None = None
) -> OpenModels:
    """What `settings` name. `members`: processes like this one, which share each endpoint's budget of calls.
    `embedder`: what embeds where no endpoint is named; the shipped model is loaded unless it is given.

    Blocks: for up to 10 s where an endpoint has to be asked what it serves, and while a model is loaded. Raises
    InvalidInput, LLMUnavailable.
    """
    if not (settings.remote_chat or settings.remote_embedder):
        return OpenModels(offline_models(settings, embedder), _nothing, _nothing)
    from memforest_ray.facts.extraction import ModelExtractor
    from memforest_ray.facts.judging import ModelJudge
    from memforest_ray.models.backend import Backend
    from memforest_ray.models.prompts.extract import EXTRACT
    from memforest_ray.models.prompts.judge import JUDGE
    from memforest_ray.models.prompts.summarise import SUMMARISE
    from memforest_ray.trees.summarising import ModelSummarizer

    backend = Backend(settings, clock, random, members=members)
    embedder = _OwnedEmbedder(backend.embedder()) if settings.remote_embedder else embedder or _shipped(settings)
    if not settings.remote_chat:
        return OpenModels(offline_models(settings, embedder), _nothing, backend.close)
    models = Models(
        ModelExtractor(backend.of("extract")),
        ModelSummarizer(backend.of("summarise")),
        embedder,
        ModelJudge(backend.of("judge")),
        OwnedChat(backend),
    )
    return OpenModels(models, lambda: backend.warm((EXTRACT, SUMMARISE, JUDGE)), backend.close)


async def _nothing() -> None:
    """Models in this process are warm when they are there, and hold nothing that outlives them."""


def offline_models(settings: Settings, embedder: Embedder | None = None) -> Models:
    """Models that need no server and no network."""
    from memforest_ray.facts.rules import RuleExtractor
    from memforest_ray.trees.summaries import SelectionSummarizer

    return Models(RuleExtractor(), SelectionSummarizer(), embedder or _shipped(settings))


def _shipped(settings: Settings) -> Embedder:
    from memforest_ray.models.offline import OnnxEmbedder

    return OnnxEmbedder(settings.embed_folder, threads=settings.embed_threads)


@runtime_checkable
class _Shareable(Protocol):
    """A model that tells its callers apart, so that they get their turns."""

    def for_owner(self, owner: str) -> Self: ...


def shared(models: Models, owner: str) -> Models:
    """The same models, called in the name of `owner`."""

    def own(model: T) -> T:
        bound: Any = model.for_owner(owner) if isinstance(model, _Shareable) else model
        return bound  # type: ignore[no-any-return]  # what `for_owner` of a T gives is a T

    return replace(
        models,
        extractor=own(models.extractor),
        summarizer=own(models.summarizer),
        embedder=own(models.embedder),
        judge=own(models.judge),
        chat=own(models.chat),
    )


class _Shared(Protocol):
    """`models.openai_embedder.OpenAIEmbedder`."""

    @property
    def fingerprint(self) -> Fingerprint: ...

    async def embed(self, texts: Sequence[str], *, owner: str = "", urgent: bool = False) -> Vectors: ...


@dataclass(frozen=True, slots=True)
class _OwnedEmbedder:
    """Implements `Embedder`."""

    inner: _Shared
    owner: str = ""

    @property
    def fingerprint(self) -> Fingerprint:
        return self.inner.fingerprint

    def for_owner(self, owner: str) -> "_OwnedEmbedder":
        return replace(self, owner=owner)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return await self.inner.embed(texts, owner=self.owner, urgent=len(texts) <= URGENT_TEXTS_MAX)


class _Door(Protocol):
    """`models.backend.Backend`."""

    @property
    def model(self) -> str: ...

    async def chat(self, requests: Sequence[ChatRequest]) -> list[ChatReply]: ...

    def stream(self, request: ChatRequest) -> AsyncIterator[str | Usage]: ...


@dataclass(frozen=True, slots=True)
class OwnedChat:
    """Implements `ChatModel` and `StreamingChat` for one who asks questions: somebody waits for every answer."""

    inner: _Door
    owner: str = ""

    @property
    def model(self) -> str:
        return self.inner.model

    def for_owner(self, owner: str) -> "OwnedChat":
        return replace(self, owner=owner)

    async def chat(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        return await self.inner.chat([self._mine(request) for request in requests])

    def stream(self, request: ChatRequest) -> AsyncIterator[str | Usage]:
        """The answer's text, piece by piece, and what it has cost last."""
        return self.inner.stream(self._mine(request))

    def _mine(self, request: ChatRequest) -> ChatRequest:
        return replace(request, owner=self.owner, urgent=True)
