"""Writes the stored forest of the present format: `python -m tests.formats.forest`, once per format, then committed.

A forest is never written again once a release could have written such a store: whatever comes later must read it,
and answer from it.
"""

import asyncio
from pathlib import Path

from memforest_ray.facts.rules import RuleExtractor
from memforest_ray.facts.sessions import Session, Turn
from memforest_ray.ids import OpId
from memforest_ray.local.effects import Models
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.forests import Forests, TestForest
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.trees.summaries import SelectionSummarizer
from tests.formats.write import keep

__all__ = ["FORESTS", "SECRET", "SESSIONS", "forests", "write"]

FORESTS = Path(__file__).parent / "forests"
SECRET = "heron"
"""A word that was said and forgotten."""

_THINGS = ("lamp", "canoe", "kite", "clock", "stove", "map", "drum", "chair", "vase", "ladder")
SESSIONS = (
    Session(
        "s1",
        [
            Turn("I moved to Davis last week.", "Bob"),
            Turn("I am allergic to mango, Bob.", "Ann"),
            Turn("My dog Rex likes the river.", "Bob"),
            Turn(f"My code word is {SECRET}.", "Ann"),
        ],
        time="2019-05-08T10:00:00Z",
        zone="America/Los_Angeles",
        metadata={"topic": "moving"},
    ),
    Session(
        "s2",
        [Turn("I moved to Miami yesterday.", "Bob"), Turn("我住在北京。", "小梅"), Turn("", "Ann")],
        time="2021-03-01T09:30:00Z",
    ),
    Session(
        "s3",
        [Turn(f"I bought a {thing} number {number} in Oslo.", "Bob") for number, thing in enumerate(_THINGS)],
        time="2022-07-01T12:00:00Z",
    ),
    Session("s4", [Turn("I work at Blue Kiln as a welder.", "Ann"), Turn("Thanks!", "Bob")]),
)


def forests(store: MemoryStore, seed: int = 1) -> Forests:
    """Forests that find facts by rules, and have graphs from eight rows on; each seed is another process."""
    models = Models(RuleExtractor(), SelectionSummarizer(), HashEmbedder(32))
    return Forests(store, models, seed=seed, graph_rows_min=8, forest_graph_rows_min=8)


async def write(store: MemoryStore) -> None:
    """Sessions with and without times; something forgotten, a snapshot, parts, a log above them, graphs."""
    process = forests(store, seed=0)
    forest = process.open()
    for session in SESSIONS[:3]:
        await forest.ingest(session)
    await forest.forget(turns=["s1#3"])
    await forest.driver.call("save", {"name": "before the job"}, op_id=OpId("save-1"), seen=0)
    await _graphs_kept(forest)
    await forest.driver.close()
    later = process.open()
    await later.ingest(SESSIONS[3])
    await _graphs_kept(later)  # and left without a checkpoint: the last session stands in the log alone


async def _graphs_kept(forest: TestForest) -> None:
    await forest.driver._published.graphs.settled()


if __name__ == "__main__":
    asyncio.run(keep(write, FORESTS))
