"""The extractor of a node: cells in, candidates out. Keeps nothing, so it may be restarted and asked again."""

import os
from collections.abc import Sequence

from memforest_actors.reply import Answering, Reply, load, reply_of
from memforest_ray.config import Settings
from memforest_ray.facts.candidates import CellInput, Extractor

__all__ = ["ExtractorActor"]


class ExtractorActor(Answering):
    """Hosts one `Extractor`, made at the first call: a failing constructor would look like a crash."""

    def __init__(self, factory: str, settings: Settings) -> None:
        self._factory = factory
        self._settings = settings
        self._extractor: Extractor | None = None

    async def ping(self) -> int:
        """That the event loop turns, and in which process."""
        return os.getpid()

    async def warm(self) -> Reply:
        """Make the extractor now."""
        return await reply_of(self._extract(()))

    async def extract(self, cells: Sequence[CellInput], _owner: str = "") -> Reply:
        """One `Extraction` per cell, in order. Rules are quick: nobody has to share them with anybody."""
        return await reply_of(self._extract(cells))

    async def _extract(self, cells: Sequence[CellInput]) -> object:
        return await (await self._open()).extract(cells)

    async def _open(self) -> Extractor:
        if self._extractor is None:
            extractor: Extractor = load(self._factory)(self._settings)
            self._extractor = extractor
        return self._extractor
