"""The meter: cells are counted down as they are extracted."""

import asyncio
from functools import partial

from memforest_ray.facts.candidates import CellInput
from memforest_ray.ids import CellId
from memforest_ray.local.effects import Models
from memforest_ray.local.meter import Meter, counted, metered
from memforest_ray.testing.answers import ScriptedSummarizer
from memforest_ray.testing.clock import ManualClock
from memforest_ray.testing.extraction import ScriptedExtractor
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.testing.waiting import until
from memforest_ray.trees.summaries import SelectionSummarizer


def _cells(number: int) -> list[CellInput]:
    return [CellInput(CellId(f"c{place}"), (), None) for place in range(number)]


async def _last(seen: list[int]) -> int | None:
    return seen[-1] if seen else None


async def test_cells_are_counted_down() -> None:
    """Not a session at a time: what is left free while the last of it are read can be used."""
    extractor, meter = ScriptedExtractor(), Meter(ManualClock())
    extractor.held = lambda cell: cell.cell_id == "c9"
    seen: list[int] = []
    meter.watch = lambda: seen.append(meter.cells)
    models = Models(extractor, ScriptedSummarizer(), HashEmbedder())
    reading = asyncio.create_task(metered(counted(models, meter), meter).extractor.extract(_cells(10)))
    await until(partial(_last, seen), lambda cells: cells == 2)
    assert seen == [10, 6, 2]
    extractor.gate.set()
    found = await reading
    assert ([each.cell_id for each in found], meter.cells) == ([f"c{place}" for place in range(10)], 0)


async def test_cells_that_could_not_be_read_are_not_waited_for() -> None:
    """However the call ends, nothing of it is left in the count."""
    extractor, meter = ScriptedExtractor(), Meter(ManualClock())
    extractor.error = lambda cell: ValueError("refused") if cell.cell_id == "c5" else None
    models = Models(extractor, ScriptedSummarizer(), HashEmbedder())
    (outcome,) = await asyncio.gather(
        metered(counted(models, meter), meter).extractor.extract(_cells(8)), return_exceptions=True
    )
    assert (str(outcome), meter.cells) == ("refused", 0)


def test_nothing_is_counted_where_no_summary_is_a_call() -> None:
    """There is nothing to make room for."""
    models = Models(ScriptedExtractor(), SelectionSummarizer(), HashEmbedder())
    assert counted(models, Meter(ManualClock())) is models
