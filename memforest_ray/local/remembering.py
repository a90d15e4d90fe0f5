"""Models whose answers are kept until they are committed: the same question again, after a crash too, costs nothing."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol, runtime_checkable

from memforest_ray.commit.responses import Responses
from memforest_ray.errors import CorruptState
from memforest_ray.facts.candidates import CellInput, Extraction, Extractor, Mention
from memforest_ray.facts.rows import decode_mention, encode_mention
from memforest_ray.ids import CellId, SessionId, digest
from memforest_ray.local.effects import Models
from memforest_ray.trees.summaries import Source, Summarizer, SummaryReply, SummaryRequest, summary_inputs

__all__ = [
    "NamedExtractor",
    "RememberingExtractor",
    "RememberingSummarizer",
    "Settle",
    "extraction_name",
    "remembering",
    "summary_name",
]

_CELLS_PER_ENTRY: Final = 16
"""So many answers are waited for together before they are kept: what a crash may cost."""


@runtime_checkable
class NamedExtractor(Extractor, Protocol):
    """An extractor whose answers can be told from those of another model or prompt."""

    @property
    def model(self) -> str:
        """What tells them apart: the model and the version of its prompt."""


def extraction_name(cell: CellInput, model: str) -> str:
    """Under which the answer about a cell is kept: another model or prompt, or another input, is another answer."""
    parts: list[str | int | None] = [model, cell.zone, *cell.names, None, *cell.recurring]
    for turn in cell.turns:
        parts += [turn.index, turn.speaker, turn.role, turn.text, turn.source_ms]
    return f"{cell.cell_id}-{digest(*parts)}"


def summary_name(inputs: str) -> str:
    """Under which a summary is kept: its inputs tell of texts, model and prompt."""
    return f"s{inputs}"


@dataclass(frozen=True, slots=True)
class RememberingExtractor:
    """Implements `Extractor`. Failures are not kept: they are asked about again."""

    inner: NamedExtractor
    responses: Responses

    @property
    def model(self) -> str:
        """The inner one's."""
        return self.inner.model

    async def extract(self, cells: Sequence[CellInput]) -> list[Extraction]:
        generation = self.responses.generation
        names = {cell.cell_id: extraction_name(cell, self.model) for cell in cells}
        known = await self.responses.known(names.values())
        found = {
            cell.cell_id: kept
            for cell in cells
            if (kept := _extraction(cell.cell_id, known.get(names[cell.cell_id]))) is not None
        }
        new = [cell for cell in cells if cell.cell_id not in found]
        parts = [new[start : start + _CELLS_PER_ENTRY] for start in range(0, len(new), _CELLS_PER_ENTRY)]

        async def ask(part: list[CellInput]) -> list[Extraction]:
            answers = await self.inner.extract(part)
            kept = {names[each.cell_id]: _rows(each) for each in answers if each.failure is None}
            self.responses.put(kept, generation)
            return answers

        for answers in await asyncio.gather(*map(ask, parts)):
            found.update((answer.cell_id, answer) for answer in answers)
        return [found[cell.cell_id] for cell in cells]

    def settle(self, cells: Iterable[CellInput]) -> None:
        """These cells are committed."""
        self.responses.settle(extraction_name(cell, self.model) for cell in cells)


@dataclass(frozen=True, slots=True)
class RememberingSummarizer:
    """Implements `Summarizer`."""

    inner: Summarizer
    responses: Responses

    @property
    def model(self) -> str:
        return self.inner.model

    @property
    def source(self) -> Source:
        return self.inner.source

    async def summarise(self, requests: Sequence[SummaryRequest]) -> list[SummaryReply]:
        generation = self.responses.generation
        names = {each.node_id: summary_name(summary_inputs(each.texts, self.model)) for each in requests}
        known = await self.responses.known(names.values())
        found = {
            node: SummaryReply(node, text) for node, name in names.items() if isinstance(text := known.get(name), str)
        }
        new = [request for request in requests if request.node_id not in found]
        answers = await self.inner.summarise(new) if new else []
        self.responses.put({names[each.node_id]: each.text for each in answers if each.text is not None}, generation)
        found.update((answer.node_id, answer) for answer in answers)
        return [found[request.node_id] for request in requests]

    def settle(self, inputs: Iterable[str]) -> None:
        """Summaries of these inputs (`Summary.inputs`) are committed."""
        self.responses.settle(map(summary_name, inputs))


class Settle(Protocol):
    """Called when cells, and summaries of these inputs, are committed: their answers need not be kept any more."""

    def __call__(self, cells: Iterable[CellInput], inputs: Iterable[str]) -> None: ...


def remembering(models: Models, responses: Responses) -> tuple[Models, Settle]:
    """Models that keep what calls have answered, and how to let go of it. Rules and selection are not worth it."""
    extractor, summarizer = models.extractor, models.summarizer
    if not models.defers or not isinstance(extractor, NamedExtractor):
        return models, lambda cells, inputs: None
    keeping = RememberingExtractor(extractor, responses)
    writing = RememberingSummarizer(summarizer, responses)

    def settle(cells: Iterable[CellInput], inputs: Iterable[str]) -> None:
        keeping.settle(cells)
        writing.settle(inputs)

    return replace(models, extractor=keeping, summarizer=writing), settle


_NOWHERE: Final = SessionId("")


def _rows(extraction: Extraction) -> list[Any]:
    """An extraction as msgpack types: its candidates, as mentions of no session."""
    return [
        encode_mention(Mention.of(extraction.cell_id, _NOWHERE, number, None, candidate))
        for number, candidate in enumerate(extraction.candidates)
    ]


def _extraction(cell_id: CellId, rows: Any) -> Extraction | None:
    """The extraction that was kept; it costs nothing this time."""
    if not isinstance(rows, list):
        return None
    try:
        candidates = tuple(decode_mention(str(number), row).candidate for number, row in enumerate(rows))
    except CorruptState:
        return None
    return Extraction(cell_id, candidates)
