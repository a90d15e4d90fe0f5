"""The embedder of a node: one model in memory for all its forests, questions before bulk, forests in turn."""

import asyncio
import os
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from memforest_actors.reply import Answering, Reply, load, reply_of
from memforest_ray.config import Settings
from memforest_ray.logs import configure
from memforest_ray.models.embedder import Embedder, Fingerprint, Vectors

__all__ = ["EmbedQueue", "EmbedderActor"]


@dataclass(eq=False, slots=True)
class _Job:
    """Texts of one call, longest first, so that the texts of a chunk take about equally long."""

    owner: str
    texts: Sequence[str]
    order: list[int]
    rows: dict[int, Vectors] = field(default_factory=dict)
    done: "asyncio.Future[Vectors]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    next: int = 0


class EmbedQueue:
    """Order of work for one model. Urgent jobs go first; else owners take turns, one small chunk each.

    So a question waits for at most the chunk in hand (a few ms), and a forest that sends a million tokens does not
    hold up nine that send one turn.
    """

    def __init__(self, embedder: Embedder, chunk: int) -> None:
        self._embedder = embedder
        self._chunk = chunk
        self._urgent: deque[_Job] = deque()
        self._bulk: dict[str, deque[_Job]] = {}
        self._worker: asyncio.Task[None] | None = None

    async def embed(self, texts: Sequence[str], owner: str, *, urgent: bool) -> Vectors:
        """Vectors of `texts`, in order. Raises what the embedder raises."""
        if not texts:
            return await self._embedder.embed(texts)
        job = _Job(owner, texts, sorted(range(len(texts)), key=lambda index: -len(texts[index])))
        if urgent:
            self._urgent.append(job)
        else:
            self._bulk.setdefault(owner, deque()).append(job)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        return await job.done

    async def _work(self) -> None:
        while (job := self._next()) is not None:
            if job.done.cancelled():
                continue
            chunk = job.order[job.next : job.next + self._chunk]
            try:
                vectors = await self._embedder.embed([job.texts[index] for index in chunk])
            except Exception as error:  # noqa: BLE001 - supervises: the job fails, the queue goes on
                job.done.set_exception(error)
                continue
            self._finish(job, chunk, vectors)

    def _next(self) -> _Job | None:
        """The job whose chunk is next; it leaves its queue until the chunk is done."""
        if self._urgent:
            return self._urgent.popleft()
        if not self._bulk:
            return None
        owner = next(iter(self._bulk))
        jobs = self._bulk.pop(owner)
        job = jobs.popleft()
        if jobs:
            self._bulk[owner] = jobs  # to the end of the line
        return job

    def _finish(self, job: _Job, chunk: list[int], vectors: Vectors) -> None:
        job.next += len(chunk)
        job.rows.update(zip(chunk, vectors, strict=True))
        if job.next < len(job.order):
            self._bulk.setdefault(job.owner, deque()).appendleft(job)
        elif not job.done.done():
            job.done.set_result(np.stack([job.rows[index] for index in range(len(job.texts))]))


class EmbedderActor(Answering):
    """Hosts one `Embedder`, made at the first call: a failing constructor would look like a crash."""

    def __init__(self, factory: str, settings: Settings) -> None:
        self._factory = factory
        self._settings = settings
        configure(settings.log_format, settings.log_level)
        self._opening: asyncio.Lock = asyncio.Lock()
        self._open: tuple[Embedder, EmbedQueue] | None = None

    async def ping(self) -> int:
        """That the event loop turns, and in which process."""
        return os.getpid()

    async def warm(self) -> Reply:
        """Load the model now, and run it once: the first run of a session is slow."""
        return await reply_of(self._embed(["warm"], "", urgent=True))

    async def fingerprint(self) -> Reply:
        """Which model this is."""
        return await reply_of(self._fingerprint())

    async def embed(self, texts: Sequence[str], owner: str, urgent: bool) -> Reply:
        """Vectors of `texts`, in order; `owner` is who shares the model fairly with others."""
        return await reply_of(self._embed(texts, owner, urgent=urgent))

    async def _embed(self, texts: Sequence[str], owner: str, *, urgent: bool) -> Vectors:
        _, queue = await self._opened()
        return await queue.embed(texts, owner, urgent=urgent)

    async def _fingerprint(self) -> Fingerprint:
        embedder, _ = await self._opened()
        return embedder.fingerprint

    async def _opened(self) -> tuple[Embedder, EmbedQueue]:
        async with self._opening:
            if self._open is None:
                embedder: Embedder = await asyncio.to_thread(load(self._factory), self._settings)
                self._open = embedder, EmbedQueue(embedder, chunk=self._settings.embed_threads)
        return self._open
