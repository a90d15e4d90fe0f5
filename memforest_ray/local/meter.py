"""The meter: what a forest's model calls have cost, and for how long any was in flight."""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from memforest_ray.ambient import Clock
from memforest_ray.facts.candidates import CellInput, Extraction, Extractor
from memforest_ray.facts.verdicts import Judge, Judgement, Question
from memforest_ray.forest.overviews import ModelCounts
from memforest_ray.ids import CellId
from memforest_ray.local.effects import Models
from memforest_ray.local.remembering import NamedExtractor
from memforest_ray.models.chat import ChatModel, ChatReply, ChatRequest, streamed
from memforest_ray.models.embedder import Embedder, Fingerprint, Vectors
from memforest_ray.models.usage import Usage
from memforest_ray.models.waves import wave
from memforest_ray.trees.summaries import Source, Summarizer, SummaryReply, SummaryRequest

__all__ = ["Meter", "consulted", "counted", "metered", "timing"]

_CELLS_COUNTED: Final = 4
"""So many cells are asked about in one call of an extractor: as exact as the count of those that are left."""


class Meter:
    """Counts since the forest was opened here."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._opened = clock.elapsed()
        self._in_flight = 0
        self._since = 0.0
        self._busy_s = 0.0
        self._cells: set[CellId] = set()
        self.watch: Callable[[], None] = lambda: None
        """Called when there are more cells to be extracted, or fewer."""
        self.spent: dict[str, Usage] = {}
        """By stage: extract, judge, summarise, embed; plan, rank, answer."""
        self.seconds: dict[str, float] = {}
        """Of calls, by stage, each counted whole: more than the wall where many are in flight."""

    @property
    def cells(self) -> int:
        """Being extracted now, or waiting for it."""
        return len(self._cells)

    def extracting(self, cells: Iterable[CellInput]) -> None:
        """These are to be extracted."""
        self._cells.update(cell.cell_id for cell in cells)
        self.watch()

    def extracted(self, cells: Iterable[CellInput]) -> None:
        """These are, or will not be."""
        self._cells.difference_update(cell.cell_id for cell in cells)
        self.watch()

    @property
    def busy_s(self) -> float:
        """Seconds in which any call was in flight."""
        return self._busy_s + (self._clock.elapsed() - self._since if self._in_flight else 0.0)

    @contextmanager
    def call(self, stage: str) -> Iterator[None]:
        """One call is in flight."""
        started = self._clock.elapsed()
        if not self._in_flight:
            self._since = started
        self._in_flight += 1
        try:
            yield
        finally:
            ended = self._clock.elapsed()
            self._in_flight -= 1
            if not self._in_flight:
                self._busy_s += ended - self._since
            self.seconds[stage] = self.seconds.get(stage, 0.0) + ended - started

    @contextmanager
    def aside(self, stage: str) -> Iterator[None]:
        """A call that no write waits for."""
        with timing(self._clock, self.seconds, stage):
            yield

    def charge(self, stage: str, usage: Usage) -> None:
        """Something has cost something."""
        self.spent[stage] = self.spent.get(stage, Usage()) + usage

    def to_json(self) -> ModelCounts:
        """For `stats`."""
        return {
            "usage": {stage: usage.to_json() for stage, usage in self.spent.items()},
            "seconds": {stage: round(spent, 3) for stage, spent in self.seconds.items()},
            "in_flight": self._in_flight,
            "busy_s": round(self.busy_s, 3),
            "open_s": round(self._clock.elapsed() - self._opened, 3),
        }


@contextmanager
def timing(clock: Clock, seconds: dict[str, float], stage: str) -> Iterator[None]:
    """Adds to the seconds of a stage."""
    started = clock.elapsed()
    try:
        yield
    finally:
        seconds[stage] = seconds.get(stage, 0.0) + clock.elapsed() - started


def consulted(models: Models, meter: Meter) -> Models:
    """The models that questions use; `meter` counts what they cost. That is apart from what writes wait for: no call of
    a question makes this memory's writing look busy.
    """
    return replace(
        models,
        embedder=_Embedder(models.embedder, meter, aside=True),
        chat=None if models.chat is None else _Chat(models.chat, meter),
    )


def counted(models: Models, meter: Meter) -> Models:
    """The same models; `meter` hears of some cells at a time that they are extracted, and not of a whole session."""
    extractor = models.extractor
    if not models.defers:
        return models
    if isinstance(extractor, NamedExtractor):
        return replace(models, extractor=_NamedCounted(extractor, meter))
    return replace(models, extractor=_Counted(extractor, meter))


def metered(models: Models, meter: Meter) -> Models:
    """The same models; `meter` sees each call."""
    return replace(
        models,
        extractor=_Extractor(models.extractor, meter),
        summarizer=_Summarizer(models.summarizer, meter),
        embedder=_Embedder(models.embedder, meter),
        judge=None if models.judge is None else _Judge(models.judge, meter),
    )


class _Extractor:
    def __init__(self, inner: Extractor, meter: Meter) -> None:
        self._inner, self._meter = inner, meter

    async def extract(self, cells: Sequence[CellInput]) -> list[Extraction]:
        self._meter.extracting(cells)
        try:
            with self._meter.call("extract"):
                found = await self._inner.extract(cells)
        finally:
            self._meter.extracted(cells)
        self._meter.charge("extract", Usage.total(each.usage for each in found))
        return found


class _Counted:
    def __init__(self, inner: Extractor, meter: Meter) -> None:
        self._inner, self._meter = inner, meter

    async def extract(self, cells: Sequence[CellInput]) -> list[Extraction]:
        parts = (cells[start : start + _CELLS_COUNTED] for start in range(0, len(cells), _CELLS_COUNTED))
        return [found for part in await wave(map(self._part, parts)) for found in part]

    async def _part(self, cells: Sequence[CellInput]) -> list[Extraction]:
        found = await self._inner.extract(cells)
        self._meter.extracted(cells)
        return found


class _NamedCounted(_Counted):
    """Implements `NamedExtractor`."""

    def __init__(self, inner: NamedExtractor, meter: Meter) -> None:
        super().__init__(inner, meter)
        self._named = inner

    @property
    def model(self) -> str:
        return self._named.model


class _Summarizer:
    def __init__(self, inner: Summarizer, meter: Meter) -> None:
        self._inner, self._meter = inner, meter

    @property
    def model(self) -> str:
        return self._inner.model

    @property
    def source(self) -> Source:
        return self._inner.source

    async def summarise(self, requests: Sequence[SummaryRequest]) -> list[SummaryReply]:
        with self._meter.call("summarise"):
            replies = await self._inner.summarise(requests)
        self._meter.charge("summarise", Usage.total(reply.usage for reply in replies))
        return replies


class _Embedder:
    def __init__(self, inner: Embedder, meter: Meter, *, aside: bool = False) -> None:
        self._inner, self._meter = inner, meter
        self._call = meter.aside if aside else meter.call

    @property
    def fingerprint(self) -> Fingerprint:
        return self._inner.fingerprint

    async def embed(self, texts: Sequence[str]) -> Vectors:
        with self._call("embed"):
            rows = await self._inner.embed(texts)
        self._meter.charge("embed", Usage(calls=1))
        return rows


class _Judge:
    def __init__(self, inner: Judge, meter: Meter) -> None:
        self._inner, self._meter = inner, meter

    @property
    def model(self) -> str:
        return self._inner.model

    async def judge(self, questions: Sequence[Question]) -> list[Judgement]:
        with self._meter.call("judge"):
            answers = await self._inner.judge(questions)
        self._meter.charge("judge", Usage.total(answer.usage for answer in answers))
        return answers


class _Chat:
    """Implements `ChatModel` and `StreamingChat`. A stage is the role that a question asks in."""

    def __init__(self, inner: ChatModel, meter: Meter) -> None:
        self._inner, self._meter = inner, meter

    @property
    def model(self) -> str:
        return self._inner.model

    async def chat(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        if not requests:
            return []
        with self._meter.aside(requests[0].role):
            replies = await self._inner.chat(requests)
        for request, reply in zip(requests, replies, strict=True):
            self._charge(request, reply.usage)
        return replies

    async def stream(self, request: ChatRequest) -> AsyncIterator[str | Usage]:
        """The inner one's, or its whole answer; one that breaks off has been one call at least."""
        usage = Usage(calls=1)
        try:
            with self._meter.aside(request.role):
                async for piece in streamed(self._inner, request):
                    if isinstance(piece, Usage):
                        usage = piece
                    yield piece
        finally:
            self._charge(request, usage)

    def _charge(self, request: ChatRequest, usage: Usage) -> None:
        self._meter.charge(request.role, usage)
