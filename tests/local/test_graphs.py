"""Graphs in a forest's life: built beside the work, stored, taken again, erased."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from memforest_ray.commit.doubt import put_part
from memforest_ray.commit.graphs import StoredGraph, stored_graphs
from memforest_ray.errors import CorruptState, NotFound, Overloaded
from memforest_ray.facts.rules import RuleExtractor
from memforest_ray.facts.sessions import Session, Turn
from memforest_ray.ids import UserId
from memforest_ray.index.neighbours import GraphRules
from memforest_ray.index.view import CELLS, FACTS
from memforest_ray.local.derived import Derived, rebuild
from memforest_ray.local.effects import Models
from memforest_ray.local.examination import examine
from memforest_ray.query.request import QueryRequest
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.clock import SeededRandom
from memforest_ray.testing.forests import Forests, TestForest
from memforest_ray.testing.graphs import without_graphs
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.testing.store import contents
from memforest_ray.trees.summaries import SelectionSummarizer

ANN = UserId("ann")
KEYS = UserKeys.of(ANN)
RULES = GraphRules(tree_rows_min=8, forest_rows_min=12)
THINGS = ("lamp", "canoe", "kite", "clock", "stove", "map", "drum", "chair", "vase", "ladder")
PLACES = ("Davis", "Oslo", "Lima", "Kyoto", "Graz", "Perth")


@pytest.fixture
def forests(store: MemoryStore) -> Forests:
    """Forests whose graphs begin with 8 rows."""
    models = Models(RuleExtractor(), SelectionSummarizer(), HashEmbedder())
    return Forests(store, models, graph_rows_min=8, forest_graph_rows_min=12)


def _session(number: int, count: int = 12) -> Session:
    """Bob tells of things that he bought, each another."""
    turns = [
        Turn(f"I bought a {THINGS[(number + place) % 10]} number {number * 100 + place} in {PLACES[place % 6]}.", "Bob")
        for place in range(count)
    ]
    return Session(f"s{number}", turns, time="2023-05-08T10:00:00Z")


async def _settled(forest: TestForest) -> dict[str, int]:
    """What the forest's keeper has done, once nothing is left to do."""
    await forest.version()
    await forest.driver._published.graphs.settled()
    told: dict[str, int] = (await forest.read("stats"))["graphs"]
    return told


async def _grown(forests: Forests, sessions: int = 2) -> TestForest:
    forest = forests.open()
    for number in range(sessions):
        await forest.ingest(_session(number))
    await _settled(forest)
    return forest


async def _held(store: MemoryStore) -> list[StoredGraph]:
    return [each async for each in stored_graphs(store, KEYS) if isinstance(each, StoredGraph)]


async def _answers(forest: TestForest) -> list[str]:
    found = await forest.read("query", request=QueryRequest("Where was a canoe bought?", k=5))
    return [hit.text for hit in found]


async def test_a_forest_has_its_graphs(forests: Forests, store: MemoryStore) -> None:
    """Of its facts, its cells and its large trees; stored under its caches, without a vector."""
    forest = await _grown(forests)
    graphs = (await forest.version()).index.graphs
    assert {FACTS, CELLS, "entity:bob"} <= set(graphs)
    held = await _held(store)
    assert {each.name for each in held} == set(graphs)
    vectors = [vector.tobytes() for block in (await forest.version()).index.facts.vectors.blocks for vector in block]
    bodies = [body for key, body in (await contents(store)).items() if key.startswith(KEYS.graphs)]
    assert not any(vector in body for vector in vectors for body in bodies)


async def test_a_small_forest_has_none(store: MemoryStore) -> None:
    """With the sizes of every day; nothing is even looked for."""
    models = Models(RuleExtractor(), SelectionSummarizer(), HashEmbedder())
    forest = await _grown(Forests(store, models))
    assert await _settled(forest) == {"built": 0, "reused": 0, "damaged": 0}
    assert len((await forest.version()).index.graphs) == 0


async def test_an_ordinary_write_builds_none(forests: Forests) -> None:
    """What is new is looked at beside the graphs, until it is a tenth of all."""
    forest = await _grown(forests, 6)
    before = await _settled(forest)
    await forest.ingest(Session("s9", [Turn("I bought a heron in Accra.", "Bob")], time="2023-05-09T10:00:00Z"))
    assert await _settled(forest) == before
    version = await forest.version()
    assert len(version.index.near(FACTS).beside) > 0
    assert "heron" in (await forest.read("query", request=QueryRequest("Who bought a heron?"))).hits[0].text


async def test_graphs_are_taken_from_the_store(forests: Forests, store: MemoryStore) -> None:
    """By whoever opens the forest next; a reader writes nothing by it."""
    forest = await _grown(forests)
    answers, graphs = await _answers(forest), (await forest.version()).index.graphs
    await forest.driver.close()
    before = await contents(store)
    again = forests.open()
    assert await _settled(again) == {"built": 0, "reused": len(graphs), "damaged": 0}
    assert set((await again.version()).index.graphs) == set(graphs)
    assert await _answers(again) == answers
    assert await contents(store) == before
    await again.driver.close()


async def test_an_owner_stores_them_under_its_own_epoch(forests: Forests, store: MemoryStore) -> None:
    """What an older one wrote may be swept at any time."""
    await (await _grown(forests)).driver.close()
    again = forests.open()
    await again.ingest(_session(5, 1))
    await _settled(again)
    assert {KEYS.epoch_of(each.key) for each in await _held(store)} == {2}


@pytest.mark.parametrize("harm", ["flipped", "cut", "emptied", "removed", "foreign"])
async def test_damage_is_only_a_rebuild(forests: Forests, store: MemoryStore, harm: str) -> None:
    """No caller hears of it; the stats count it; afterwards the store is whole again."""
    forest = await _grown(forests)
    answers, count = await _answers(forest), len((await forest.version()).index.graphs)
    await forest.driver.close()
    victim, other = (each.key for each in (await _held(store))[:2])
    body = (await store.get(victim)).body
    await store.delete(victim)
    spoilt = {
        "flipped": body[:-9] + bytes([body[-9] ^ 1]) + body[-8:],
        "cut": body[: len(body) // 2],
        "emptied": b"",
        "foreign": (await store.get(other)).body,
    }
    if harm != "removed":
        await store.create(victim, spoilt[harm])
    again = forests.open()
    told = await _settled(again)
    assert told == {"built": 1, "reused": count - 1, "damaged": int(harm != "removed")}
    assert await _answers(again) == answers
    await again.ingest(_session(7, 1))
    await _settled(again)
    assert len([each async for each in stored_graphs(store, KEYS)]) == count
    assert not [each async for each in stored_graphs(store, KEYS) if isinstance(each, CorruptState)]


async def test_a_forgotten_fact_is_in_no_graph(forests: Forests, store: MemoryStore) -> None:
    """Neither in the store when the receipt returns, nor in memory; what is left is built anew."""
    forest = await _grown(forests)
    version = await forest.version()
    secret = next(fact for fact in version.facts if "number 103" in fact.text)
    cells = {mention.cell_id for mention in secret.mentions}
    await forest.forget(turns=["s1#3"])
    left = {name for each in await _held(store) for name in each.ids}
    assert left.isdisjoint({secret.id, *cells})
    await _settled(forest)
    graphs = (await forest.version()).index.graphs
    assert all({secret.id, *cells}.isdisjoint(each.graph.ids) for each in graphs.values())
    assert all(each.gone == 0 for each in graphs.values())
    assert {FACTS, CELLS, "entity:bob"} <= set(graphs)
    left = {name for each in await _held(store) for name in each.ids}
    assert left.isdisjoint({secret.id, *cells})
    assert {each.name for each in await _held(store)} == set(graphs)
    assert not any("number 103" in text for text in await _answers(forest))


async def test_a_restore_takes_them_again(forests: Forests) -> None:
    """An index of its own, over the same vectors."""
    forest = await _grown(forests)
    await forest.driver.call("save", {"name": "then"}, op_id=forest._name(None), seen=0)
    before = await _answers(forest)
    await forest.ingest(Session("sx", [Turn("I sold the canoe in Porto.", "Bob")], time="2023-06-01T10:00:00Z"))
    told = await _settled(forest)
    await forest.driver.call("restore", {"name": "then"}, op_id=forest._name(None), seen=0)
    after = await _settled(forest)
    assert after["built"] == told["built"]
    assert after["reused"] > told["reused"]
    assert await _answers(forest) == before


async def test_graphs_go_when_a_forest_shrinks(forests: Forests, store: MemoryStore) -> None:
    """Below half of what they begin with, from memory and store."""
    forest = await _grown(forests)
    for number in range(2):
        await forest.forget(session=f"s{number}")
    await _settled(forest)
    assert set((await forest.version()).index.graphs) == set()
    assert await _held(store) == []


async def test_leaving_ends_a_build(forests: Forests, monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that closes waits for no graph."""
    begun = threading.Event()

    def build(_: Any, wanted: Callable[[], bool]) -> None:
        begun.set()
        while wanted():
            pass

    monkeypatch.setattr("memforest_ray.index.plans.GraphPlan.build", build)
    forest = forests.open()
    await forest.ingest(_session(0))
    assert await asyncio.to_thread(begun.wait, 60)
    await forest.driver.close()
    assert forest.driver._published.graphs.built == 0


async def test_the_same_is_found_with_graphs_and_without(forests: Forests, store: MemoryStore) -> None:
    """Over the whole query."""
    forest = await _grown(forests, 4)
    version = await forest.version()
    plain = without_graphs(version.index)
    query = np.full(64, 1 / 8, np.float32)
    for name in (FACTS, CELLS, "entity:bob"):
        rows, likenesses = version.index.near(name).nearest(query, 8)
        expected, exact = plain.near(name).nearest(query, 8)
        assert likenesses.tolist() == pytest.approx(exact.tolist(), abs=1e-5)
        assert set(rows.tolist()) == set(expected.tolist()) or len(set(np.round(exact, 4).tolist())) < 8


async def test_a_rebuild_claims_nothing(forests: Forests, store: MemoryStore) -> None:
    """All graphs are there again, and whoever opens the forest next takes them; nothing else has changed."""
    forest = await _grown(forests)
    names = set((await forest.version()).index.graphs)
    await forest.driver.close()
    for each in await _held(store):
        await store.delete(each.key)
    rest = await contents(store)
    assert (await examine(store, ANN)).derived == Derived(0, 0)
    rebuilt = await rebuild(store, ANN, RULES, SeededRandom(3))
    assert set(rebuilt) == names
    assert {key: body for key, body in (await contents(store)).items() if not key.startswith(KEYS.graphs)} == rest
    assert (await examine(store, ANN)).derived == Derived(len(names), 0)
    assert await _settled(forests.open()) == {"built": 0, "reused": len(names), "damaged": 0}


async def test_a_rebuild_replaces_what_is_damaged(forests: Forests, store: MemoryStore) -> None:
    """Damage of a derived object is no finding; afterwards there is none."""
    forest = await _grown(forests)
    await forest.driver.close()
    held = await _held(store)
    await store.overwrite(held[0].key, b"junk")
    found = await examine(store, ANN)
    assert (found.sound, found.derived) == (True, Derived(len(held) - 1, 1))
    await rebuild(store, ANN, RULES, SeededRandom(3))
    assert (await examine(store, ANN)).derived == Derived(len(held), 0)


async def test_a_rebuild_beside_a_change_leaves_nothing(
    forests: Forests, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was built may hold what was forgotten meanwhile."""
    forest = await _grown(forests)
    before = {each.key for each in await _held(store)}

    async def put(*arguments: Any) -> None:
        await put_part(*arguments)
        await forest.driver._published.log.checkpoint()

    monkeypatch.setattr("memforest_ray.local.derived.put_part", put)
    with pytest.raises(Overloaded):
        await rebuild(store, ANN, RULES, SeededRandom(3))
    assert {each.key for each in await _held(store)} == before


async def test_only_a_memory_that_is_there_is_rebuilt(store: MemoryStore) -> None:
    """Nobody's is not."""
    with pytest.raises(NotFound):
        await rebuild(store, UserId("nobody"), RULES, SeededRandom(3))


async def test_what_a_stalled_owner_drops_is_swept(forests: Forests, store: MemoryStore) -> None:
    """A graph of an older epoch that lands after an erasure goes with the next activation."""
    forest = await _grown(forests)
    late = (await _held(store))[0].key
    body = (await store.get(late)).body
    await forest.driver.close()
    again = forests.open()
    await again.forget(turns=["s1#3"])
    await _settled(again)
    await again.driver.close()
    await store.overwrite(late, body)
    third = forests.open()
    await third.ingest(_session(8, 1))
    assert late not in await contents(store)
    await _settled(third)
    assert {KEYS.epoch_of(each.key) for each in await _held(store)} == {3}
