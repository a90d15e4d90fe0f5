"""What a writer asks for and is given: ahead, or when it is there."""

import asyncio
from typing import Any

import numpy as np

from memforest_ray.facts.rules import RuleExtractor
from memforest_ray.forest.effects import Embed, Prefetch, Steps
from memforest_ray.ids import ItemId, ScopeId, SessionId
from memforest_ray.local.effects import Known, Models, prefetched, run
from memforest_ray.testing.answers import ScriptedSummarizer
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.trees.summaries import RefreshPlan
from memforest_ray.trees.tree import Leaf, MemTree, order_key

BOB = ScopeId("entity:bob")


def _models() -> Models:
    return Models(RuleExtractor(), ScriptedSummarizer(), HashEmbedder())


def _leaf(number: int) -> Leaf:
    item = ItemId(f"f{number}")
    order = order_key(event_ms=None, source_ms=number, session_id=SessionId("s1"), turn=0, item=item)
    return Leaf(item, order, (number, number), False, None, f"line {number}:" + " bread" * 30)


def _plan() -> RefreshPlan:
    tree = MemTree(BOB, 4).edit(map(_leaf, range(12))).tree
    return RefreshPlan([(BOB, node) for node in tree.nodes()], summaries={}, model=ScriptedSummarizer.model)


def _embeds(*texts: str) -> Steps[Any]:
    rows = yield from Embed(texts)
    return rows


async def test_vectors_that_are_being_made_are_waited_for() -> None:
    """They are not asked for again; what is not among them is."""
    coming: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
    mark = np.full(64, 0.5, np.float16)
    asyncio.get_running_loop().call_soon(coming.set_result, {"tea": mark})
    tea, chess = await run(_embeds("tea", "chess"), _models(), Known(coming=coming))
    assert tea is mark
    assert np.array_equal(chess, (await HashEmbedder().embed(["chess"]))[0])


async def test_what_is_known_waits_for_nothing() -> None:
    """Vectors that are being made are of no interest to who needs others."""
    mark = np.full(64, 0.5, np.float16)
    coming: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
    (tea,) = await run(_embeds("tea"), _models(), Known(vectors={"tea": mark}, coming=coming))
    assert (tea is mark, coming.done()) == (True, False)


async def test_a_plan_is_prefetched_and_the_work_goes_on() -> None:
    """Whoever wants to prefetch it is given what makes it; nobody else has it made."""
    given: list[Any] = []

    def steps() -> Steps[str]:
        yield from Prefetch(_plan)
        return "went on"

    assert await run(steps(), _models(), prefetch_plan=given.append) == "went on"
    assert given == [_plan]
    assert await run(steps(), _models()) == "went on"


async def test_each_request_is_prefetched_once() -> None:
    """First those that wait for nothing, then those that could be shown something else instead."""
    told: list[list[str]] = []
    requests = await prefetched(_plan(), lambda some: told.append([each.node_id for each in some]))
    names = [each.node_id for each in requests]
    assert [name for some in told for name in some] == names
    assert len(names) == len(set(names)) > 0
