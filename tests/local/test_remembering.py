"""Models whose answers are kept: asked once, however often a write is tried."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from memforest_ray.commit.responses import Responses
from memforest_ray.facts.candidates import CellInput, Extraction, TurnInput
from memforest_ray.ids import CellId, NodeId, ScopeId, UserId
from memforest_ray.local.remembering import RememberingExtractor, RememberingSummarizer, extraction_name
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.answers import ScriptedSummarizer
from memforest_ray.testing.clock import ManualClock, SeededRandom
from memforest_ray.testing.extraction import ScriptedExtractor
from memforest_ray.trees.summaries import SummaryRequest, summary_inputs

TURN = TurnInput(0, "Bob", "user", "I moved to Davis last week.", 1_684_314_300_000)
CELL = CellInput(CellId("c1"), (TURN,), "Europe/Lisbon", ("Bob",), ("Davis",))
REQUEST = SummaryRequest(NodeId("n1"), ScopeId("s"), ("Bob moved.", "Bob stayed."), None, None, 1)


class Named(ScriptedExtractor):
    """A scripted extractor with a name."""

    def __init__(self, model: str = "m/1") -> None:
        super().__init__()
        self.model = model


def responses(store: MemoryStore) -> Responses:
    return Responses(store, UserKeys.of(UserId("a")), ManualClock(), SeededRandom(), lambda: 1)


def cells(count: int) -> Sequence[CellInput]:
    return [replace(CELL, cell_id=CellId(f"c{number}")) for number in range(count)]


async def test_a_write_that_is_tried_again_pays_once() -> None:
    """The next owner has the same candidates, at no cost, in the order of the cells."""
    store = MemoryStore()
    first, second = Named(), Named()
    kept = responses(store)
    asked = await RememberingExtractor(first, kept).extract(cells(40))
    await kept.flushed()
    again = await RememberingExtractor(second, responses(store)).extract([*cells(40)[::-1], *cells(41)[40:]])
    assert (len(first.asked), [cell.cell_id for cell in second.asked]) == (40, ["c40"])
    assert [each.candidates for each in again[:40]] == [each.candidates for each in asked[::-1]]
    assert again[0] == Extraction(CellId("c39"), asked[39].candidates)
    assert again[0].candidates[0].event is not None


async def test_failures_are_asked_about_again() -> None:
    """A model may do better the next time."""
    extractor = Named()
    extractor.failure = lambda cell: "no" if len(extractor.asked) < 2 else None
    remembering = RememberingExtractor(extractor, responses(MemoryStore()))
    assert [(await remembering.extract([CELL]))[0].failure for _ in range(3)] == ["no", None, None]
    assert len(extractor.asked) == 2


async def test_what_is_committed_is_not_kept() -> None:
    """The forest itself knows it now."""
    kept = responses(MemoryStore())
    remembering = RememberingExtractor(Named(), kept)
    await remembering.extract(cells(3))
    remembering.settle(cells(2))
    assert len(kept) == 1


def test_another_question_has_another_name() -> None:
    """Every part of a cell's input counts, and the model with its prompt."""
    others = [
        replace(CELL, cell_id=CellId("c2")),
        replace(CELL, zone=None),
        replace(CELL, names=()),
        replace(CELL, names=("Bob", "Davis"), recurring=()),
        replace(CELL, recurring=()),
        *(
            replace(CELL, turns=(changed,))
            for changed in (
                replace(TURN, index=1),
                replace(TURN, speaker="Ana"),
                replace(TURN, role="assistant"),
                replace(TURN, text="I moved."),
                replace(TURN, source_ms=None),
            )
        ),
    ]
    names = {extraction_name(cell, "m/1") for cell in (CELL, *others)} | {extraction_name(CELL, "m/2")}
    assert len(names) == len(others) + 2


async def test_summaries_are_kept_by_what_they_say_of() -> None:
    """Another node with the same children, asked for later, costs nothing; a failure is not kept."""
    summarizer = ScriptedSummarizer()
    kept = responses(MemoryStore())
    remembering = RememberingSummarizer(summarizer, kept)
    (first,) = await remembering.summarise([REQUEST])
    (again,) = await remembering.summarise([replace(REQUEST, node_id=NodeId("n2"))])
    assert (again.node_id, again.text, again.usage.calls, len(summarizer.asked)) == ("n2", first.text, 0, 1)
    assert (remembering.model, remembering.source) == (summarizer.model, summarizer.source)
    remembering.settle([summary_inputs(REQUEST.texts, summarizer.model)])
    assert len(kept) == 0
    summarizer.failure = lambda request: "no"
    (failed,) = await remembering.summarise([REQUEST])
    assert (failed.failure, len(kept)) == ("no", 0)


async def test_an_answer_that_comes_after_an_erasure_is_not_kept() -> None:
    """It may hold what was erased."""
    kept = responses(MemoryStore())
    extractor = Named()
    extractor.held = lambda cell: True
    remembering = RememberingExtractor(extractor, kept)
    asking = asyncio.create_task(remembering.extract([CELL]))
    await extractor.shown(1)
    async with kept.erasing():
        pass
    extractor.gate.set()
    (found,) = await asking
    assert found.candidates
    assert len(kept) == 0
