"""Reading what was saved beside the present: nothing is restored, and writing goes on."""

from collections.abc import Callable

import pytest

from memforest_ray.errors import InvalidInput, NotFound
from memforest_ray.facts.sessions import Session
from memforest_ray.local.past import OPEN_MAX
from memforest_ray.query.request import QueryRequest
from memforest_ray.query.result import Result
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.forests import Forests, TestForest
from memforest_ray.testing.store import FaultyStore, contents
from tests.local.keeping import SECRET, confided, do

Say = Callable[..., Session]


async def _told(forest: TestForest, text: str, snapshot: str | None = None) -> Result:
    found: Result = await forest.read("query", request=QueryRequest.of(text, k=20), snapshot=snapshot)
    return found


async def test_a_snapshot_is_asked_while_writing_goes_on(plain: Forests, say: Say) -> None:
    """It answers as on the day it was saved; the present answers as of today; each result names its version."""
    forest = plain.open()
    await forest.ingest(say("s1", "I live in Davis."))
    saved = await do(forest, "save", "old")
    receipt = await forest.ingest(say("s2", "I moved to Oslo."))
    then, now = await _told(forest, "Where does Bob live?", "old"), await _told(forest, "Where does Bob live?")
    assert (then.version, now.version) == (saved.version, receipt.version)
    assert {hit.session_id for hit in then} == {"s1"}
    assert {hit.session_id for hit in now} == {"s1", "s2"}
    assert (await forest.read("ask", request=QueryRequest.of("Where is Oslo?"), snapshot="old")).result.version == (
        saved.version
    )
    cards = await forest.read("trees", snapshot="old")
    assert {card["scope"] for card in cards} < {card["scope"] for card in await forest.read("trees")}
    tree = await forest.read("tree", scope="session:s1", snapshot="old")
    assert tree == await forest.read("tree", scope="session:s1")
    assert set((await forest.version()).sessions) == {"s1", "s2"}


async def test_one_that_was_saved_elsewhere_just_now_is_there(plain: Forests, say: Say) -> None:
    """Whoever looked a moment ago, when there was no memory yet, asks the store, and not what is known here."""
    reader, owner = plain.open(), plain.open()
    assert not (await reader.version()).exists
    await owner.ingest(say("s1", "I live in Oslo."))
    saved = await do(owner, "save", "old")
    found = await reader.read("query", request=QueryRequest.of("Oslo", k=20), snapshot="old")
    assert found.version == saved.version
    with pytest.raises(NotFound) as raised:
        await plain.open("nobody").read("query", request=QueryRequest.of("Oslo"), snapshot="old")
    assert raised.value.what == "user"


async def test_who_only_reads_claims_nothing(plain: Forests, say: Say, store: MemoryStore) -> None:
    """A second process asks the snapshot; the owner stays the owner, and no object is written."""
    owner = plain.open()
    await owner.ingest(say("s1", "I live in Davis."))
    await do(owner, "save", "old")
    before = await contents(store)
    assert len(await _told(plain.open(), "Where does Bob live?", "old")) > 0
    assert await contents(store) == before


async def test_an_open_snapshot_costs_one_small_request(plain: Forests, say: Say, store: MemoryStore) -> None:
    """It is read once, and again when it was replaced; only so many stay open."""
    faulty = FaultyStore(store)
    forest = plain.open(store=faulty)
    await forest.ingest(say("s1", "I live in Davis."))
    for number in range(OPEN_MAX + 1):
        await do(forest, "save", f"a{number}")
        await _told(forest, "Where does Bob live?", f"a{number}")
    before = len(faulty.calls)
    await _told(forest, "Where does Bob live?", f"a{OPEN_MAX}")
    assert [call.verb for call in faulty.calls[before:]] == ["get"]
    assert len(forest.driver._published.snapshots._open) == OPEN_MAX
    await forest.ingest(say("s2", "I moved to Oslo."))
    await do(forest, "save", f"a{OPEN_MAX}", replace=True)
    found = await _told(forest, "Where does Bob live?", f"a{OPEN_MAX}")
    assert {hit.session_id for hit in found} == {"s1", "s2"}


async def test_what_was_forgotten_is_not_told_by_an_open_snapshot(plain: Forests, say: Say) -> None:
    """Though it was open when it was forgotten; by another process, too."""
    forest = await confided(plain, say)
    other = plain.open()
    for each in (forest, other):
        assert any(SECRET in hit.text for hit in await _told(each, SECRET, "old"))
    await forest.forget(session="s2", including_snapshots=True)
    assert forest.driver._published.snapshots._open == {}
    for each in (forest, other):
        assert [hit.text for hit in await _told(each, SECRET, "old") if SECRET in hit.text] == []


async def test_what_cannot_be_asked_of_a_snapshot(plain: Forests, say: Say) -> None:
    """One that is not there, and what is no question about a version."""
    forest = plain.open()
    await forest.ingest(say("s1", "I live in Davis."))
    await do(forest, "save", "old")
    with pytest.raises(NotFound, match="no snapshot 'new'"):
        await _told(forest, "Where does Bob live?", "new")
    with pytest.raises(InvalidInput, match="'stats' cannot be asked of a snapshot; these can: ask, query, tree, trees"):
        await forest.read("stats", snapshot="old")
