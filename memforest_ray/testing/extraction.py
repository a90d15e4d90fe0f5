"""An extractor that does what a test tells it: waits, fails in some cells, or raises."""

import asyncio
from collections.abc import Callable, Sequence

from memforest_ray.facts.candidates import CellInput, Extraction, Extractor
from memforest_ray.facts.rules import RuleExtractor
from memforest_ray.models.usage import Usage

__all__ = ["ScriptedExtractor", "says"]


class ScriptedExtractor:
    """Implements `Extractor` over another one. `asked` records every cell that it was shown."""

    def __init__(self, inner: Extractor | None = None) -> None:
        self._inner = inner or RuleExtractor()
        self.asked: list[CellInput] = []
        self._told = asyncio.Event()
        self.gate = asyncio.Event()
        """Calls with a cell that is `held` wait until it is set."""
        self.held: Callable[[CellInput], bool] = lambda cell: False
        self.failure: Callable[[CellInput], str | None] = lambda cell: None
        """Why a cell fails; None for one that does not."""
        self.error: Callable[[CellInput], Exception | None] = lambda cell: None
        """What is raised when the cell is among those asked for."""

    async def shown(self, cells: int) -> None:
        """Wait until so many cells were asked for."""
        while len(self.asked) < cells:
            self._told.clear()
            await self._told.wait()

    async def extract(self, cells: Sequence[CellInput]) -> list[Extraction]:
        self.asked.extend(cells)
        self._told.set()
        if any(map(self.held, cells)):
            await self.gate.wait()
        for cell in cells:
            if (error := self.error(cell)) is not None:
                raise error
        found = await self._inner.extract(cells)
        return [self._spoilt(cell, extraction) for cell, extraction in zip(cells, found, strict=True)]

    def _spoilt(self, cell: CellInput, extraction: Extraction) -> Extraction:
        reason = self.failure(cell)
        return extraction if reason is None else Extraction(cell.cell_id, failure=reason, usage=Usage(1))


def says(word: str) -> Callable[[CellInput], bool]:
    """Whether a cell holds `word`."""
    return lambda cell: any(word in turn.text for turn in cell.turns)
