"""Models that take time: so many calls at once, each as long as any other. On a loop with a clock of its own a schedule
is exact.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TypeVar

from memforest_ray.facts.candidates import CellInput, Extraction, Extractor
from memforest_ray.facts.verdicts import Judge, Judgement, Question
from memforest_ray.local.effects import Models
from memforest_ray.models.embedder import Embedder, Fingerprint, Vectors
from memforest_ray.models.waves import wave
from memforest_ray.trees.summaries import Source, Summarizer, SummaryReply, SummaryRequest

__all__ = ["EMBED_SHARE", "UNEVEN", "Slot", "Slots"]

T = TypeVar("T")

EMBED_SHARE = 0.05
"""Of the time of a chat call, that an embedding call takes; it needs no slot."""


UNEVEN = 0.02
"""Of the time of a call, at most: enough to shuffle what comes after what."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One call that has ended."""

    kind: str
    """`extract`, `judge`, `summarise` or `embed`."""
    began_s: float
    ended_s: float
    about: str
    """The cell, the scope of the node, or nothing."""


class Slots:
    """A server of chat calls; they are served in the order in which they are made."""

    def __init__(self, number: int, latency_s: float = 1.0, *, uneven: random.Random | None = None) -> None:
        """`uneven`: no two calls take the same time, but up to `UNEVEN` more than the latency."""
        self._latency_s = latency_s
        self._uneven = uneven
        self._free = asyncio.Semaphore(number)
        self.used: list[Slot] = []

    def over(self, models: Models) -> Models:
        """The same models, behind this server."""
        return replace(
            models,
            extractor=_Extractor(models.extractor, self),
            summarizer=_Summarizer(models.summarizer, self),
            embedder=_Embedder(models.embedder, self),
            judge=None if models.judge is None else _Judge(models.judge, self),
        )

    def began(self, kind: str, about: str = "") -> list[float]:
        """When calls of a kind began, those about something that starts so, in order."""
        return sorted(slot.began_s for slot in self.used if slot.kind == kind and slot.about.startswith(about))

    async def call(self, kind: str, about: str, answer: Callable[[], Awaitable[T]]) -> T:
        """One chat call."""
        async with self._free:
            return await self.spend(kind, about, 1.0, answer)

    async def spend(self, kind: str, about: str, share: float, answer: Callable[[], Awaitable[T]]) -> T:
        """An answer after its time."""
        began = asyncio.get_running_loop().time()
        more = 0.0 if self._uneven is None else UNEVEN * self._uneven.random()
        await asyncio.sleep(share * self._latency_s * (1 + more))
        self.used.append(Slot(kind, began, asyncio.get_running_loop().time(), about))
        return await answer()


@dataclass(frozen=True, slots=True)
class _Extractor:
    inner: Extractor
    server: Slots

    async def extract(self, cells: Sequence[CellInput]) -> list[Extraction]:
        calls = (self.server.call("extract", cell.cell_id, partial(self.inner.extract, [cell])) for cell in cells)
        return list(chain.from_iterable(await wave(calls)))


@dataclass(frozen=True, slots=True)
class _Judge:
    inner: Judge
    server: Slots

    @property
    def model(self) -> str:
        return self.inner.model

    async def judge(self, questions: Sequence[Question]) -> list[Judgement]:
        calls = (self.server.call("judge", "", partial(self.inner.judge, [each])) for each in questions)
        return list(chain.from_iterable(await wave(calls)))


@dataclass(frozen=True, slots=True)
class _Summarizer:
    inner: Summarizer
    server: Slots

    @property
    def model(self) -> str:
        return self.inner.model

    @property
    def source(self) -> Source:
        return self.inner.source

    async def summarise(self, requests: Sequence[SummaryRequest]) -> list[SummaryReply]:
        calls = (self.server.call("summarise", each.scope, partial(self.inner.summarise, [each])) for each in requests)
        return list(chain.from_iterable(await wave(calls)))


@dataclass(frozen=True, slots=True)
class _Embedder:
    inner: Embedder
    server: Slots

    @property
    def fingerprint(self) -> Fingerprint:
        return self.inner.fingerprint

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return await self.server.spend("embed", "", EMBED_SHARE, lambda: self.inner.embed(texts))
