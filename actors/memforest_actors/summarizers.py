"""The summariser of a node: requests in, replies out. Keeps nothing, so it may be restarted and asked again."""

import os
from collections.abc import Sequence

from memforest_actors.reply import Answering, Reply, load, reply_of
from memforest_ray.config import Settings
from memforest_ray.trees.summaries import Source, Summarizer, SummaryRequest

__all__ = ["SummarizerActor"]


class SummarizerActor(Answering):
    """Hosts one `Summarizer`, made at the first call: a failing constructor would look like a crash."""

    def __init__(self, factory: str, settings: Settings) -> None:
        self._factory = factory
        self._settings = settings
        self._summarizer: Summarizer | None = None

    async def ping(self) -> int:
        """That the event loop turns, and in which process."""
        return os.getpid()

    async def warm(self) -> Reply:
        """Make the summariser now."""
        return await reply_of(self._card())

    async def card(self) -> Reply:
        """Its model's name and what its texts are marked as."""
        return await reply_of(self._card())

    async def summarise(self, requests: Sequence[SummaryRequest], _owner: str = "") -> Reply:
        """One `SummaryReply` per request, in order. Selection is quick: nobody has to share it with anybody."""
        return await reply_of(self._summarise(requests))

    async def _summarise(self, requests: Sequence[SummaryRequest]) -> object:
        return await (await self._open()).summarise(requests)

    async def _card(self) -> tuple[str, Source]:
        summarizer = await self._open()
        return summarizer.model, summarizer.source

    async def _open(self) -> Summarizer:
        if self._summarizer is None:
            summarizer: Summarizer = load(self._factory)(self._settings)
            self._summarizer = summarizer
        return self._summarizer
