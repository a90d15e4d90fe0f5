"""Snapshots in a user's hand: a state is kept and comes back, each call is done once or not at all."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from memforest_ray.commit.version import Version
from memforest_ray.errors import Fenced, InvalidInput, NotFound, OutcomeUnknown
from memforest_ray.facts.sessions import Session
from memforest_ray.forest.intents import Deleted, Restored, Saved
from memforest_ray.ids import OpId
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.forests import Forests, decided
from memforest_ray.testing.store import Call, Crashed, Fault, FaultyStore, contents
from tests.local.keeping import checked, confided, do, names

Say = Callable[..., Session]


def _shape(version: Version) -> dict[str, Any]:
    """Everything but the number, the receipts and the hashes of what was forgotten."""
    trees, placements = dict(version.trees), dict(version.placements)
    return {
        **decided(version),
        "trees": trees,
        "all placements": placements,
        "summaries": dict(version.summaries),
        "scenes": dict(version.scenes.by_id),
        "withheld": dict(version.facts.withheld.rows()),
    }


async def test_a_saved_state_comes_back(plain: Forests, say: Say) -> None:
    """All of it, in a commit of its own; what was ingested since is gone, and a reader loads the same."""
    forest = plain.open()
    await forest.ingest(say("s1", "I live in Davis.", "Nice.", "I like chess."))
    await forest.ingest(say("s2", "I moved to Oslo.", "I like tea."))
    before = await forest.version()
    saved = await do(forest, "save", "first", "op-save")
    assert saved == Saved(saved.version, OpId("op-save"), "first")
    await forest.ingest(say("s1", "I live in Davis.", "Nice.", "I like chess.", "I work at Acme.", "I sing."))
    await forest.ingest(say("s3", "I bought a boat.", "I like rowing."))
    await forest.ingest(say("s2", "I never moved."), replace=True)
    changed = await forest.version()
    told = await do(forest, "restore", "first", "op-restore")
    assert told == Restored(changed.number + 1, OpId("op-restore"), "first", saved.version)
    after = await checked(plain, forest)
    assert _shape(after) == _shape(before)
    assert after.number == told.version
    assert set(changed.operations) | {"op-restore"} == set(after.operations)
    await forest.ingest(say("s3", "I bought a boat.", "I like rowing."))
    await checked(plain, forest)


async def test_a_restore_works_across_checkpoints_and_owners(plain: Forests, say: Say) -> None:
    """An owner that neither saved nor wrote restores what the first one saved; then goes back to the later state."""
    first = plain.open()
    await first.ingest(say("s1", "I live in Davis."))
    await do(first, "save", "early")
    early = _shape(await first.version())
    await first.ingest(say("s2", "I like chess."))
    await do(first, "save", "late")
    late = _shape(await first.version())
    await first.driver.close()
    second = plain.open()
    await do(second, "restore", "early")
    assert _shape(await checked(plain, second)) == early
    await do(second, "restore", "late")
    assert _shape(await checked(plain, second)) == late
    await second.driver.close()
    assert _shape(await plain.open().version()) == late


async def test_writes_are_known_again(plain: Forests, say: Say) -> None:
    """A retry of a save or a restore is answered and not done again; its id names no other write."""
    forest = plain.open()
    await forest.ingest(say("s1", "I live in Davis."), "op-s1")
    saved = await do(forest, "save", "a", "op-save")
    assert await do(forest, "save", "a", "op-save") == saved
    told = await do(forest, "restore", "a", "op-restore")
    await forest.ingest(say("s2", "I like chess."))
    assert await do(forest, "restore", "a", "op-restore") == told
    assert await do(plain.open(), "restore", "a", "op-restore") == told
    assert set((await forest.version()).sessions) == {"s1", "s2"}
    for verb, op_id in (("save", "op-s1"), ("save", "op-restore"), ("restore", "op-s1"), ("delete_snapshot", "op-s1")):
        with pytest.raises(InvalidInput, match="names another write"):
            await do(forest, verb, "a", op_id)
    with pytest.raises(InvalidInput, match="names another write"):
        await do(forest, "restore", "b", "op-restore")


async def test_a_late_retry_is_told_what_was_told(plain: Forests, say: Say) -> None:
    """By another process, though the snapshot was replaced, or is gone: nothing is saved or removed again."""
    forest = plain.open()
    await forest.ingest(say("s1", "I live in Davis."))
    saved = await do(forest, "save", "a", "op-save")
    await forest.ingest(say("s2", "I like chess."))
    await do(forest, "save", "a", replace=True)
    other = plain.open()
    assert await do(other, "save", "a", "op-save", replace=True) == saved
    gone = await do(other, "delete_snapshot", "a", "op-gone")
    for each in (other, plain.open()):
        assert await do(each, "delete_snapshot", "a", "op-gone") == gone
        assert await do(each, "save", "a", "op-save") == saved
    assert await names(other) == []
    with pytest.raises(InvalidInput, match="names another write"):
        await do(each, "delete_snapshot", "b", "op-gone")


async def test_names_are_taken_once(plain: Forests, say: Say) -> None:
    """A taken name is refused unless it is to be replaced; a deleted one is free; an unknown one is not found."""
    forest = plain.open()
    await forest.ingest(say("s1", "I live in Davis."))
    await do(forest, "save", "a")
    await forest.ingest(say("s2", "I like chess."))
    with pytest.raises(InvalidInput, match="there is already a snapshot 'a'"):
        await do(forest, "save", "a")
    with pytest.raises(InvalidInput, match="has 1 to 200 characters"):
        await do(forest, "save", "")
    await do(forest, "save", "a", replace=True)
    await do(forest, "restore", "a")
    assert set((await forest.version()).sessions) == {"s1", "s2"}
    gone = await do(forest, "delete_snapshot", "a", "op-delete")
    assert gone == Deleted((await forest.version()).number, OpId("op-delete"), "a")
    assert await names(forest) == []
    for verb in ("restore", "delete_snapshot"):
        with pytest.raises(NotFound, match="no snapshot 'a'"):
            await do(forest, verb, "a")


async def test_nobody_is_claimed_for_nothing(plain: Forests, store: MemoryStore) -> None:
    """Of a user without memory nothing is saved, restored or listed, and no object is written."""
    forest = plain.open()
    for verb in ("save", "restore", "delete_snapshot"):
        with pytest.raises(NotFound):
            await do(forest, verb, "a")
    assert await names(forest) == []
    assert await contents(store) == {}


async def test_an_empty_state_is_a_state(plain: Forests, say: Say, store: MemoryStore) -> None:
    """All forgotten, a forest is saved and restored: it is empty again, and can be written. Claimed and never written
    there is none.
    """
    refusing = FaultyStore(
        store, lambda call: Fault.FAIL_BEFORE if call.key.endswith("/wal/0000000000000002") else None
    )
    with pytest.raises(OutcomeUnknown):
        await plain.open(store=refusing).ingest(say("s1", "I live in Davis."))
    forest = plain.open()
    with pytest.raises(NotFound, match="user 'ann' has no memory"):
        await do(forest, "save", "empty")
    await forest.ingest(say("s0", "I like tea."))
    await forest.forget(session="s0")
    await do(forest, "save", "empty")
    for _ in range(2):
        await do(forest, "restore", "empty")
        assert dict((await checked(plain, forest)).sessions) == {}
        await forest.ingest(say("s1", "I live in Davis."))
        assert set((await checked(plain, forest)).sessions) == {"s1"}
    await forest.forget(session="s1")


async def test_a_reader_lists_snapshots_without_a_claim(plain: Forests, say: Say, store: MemoryStore) -> None:
    """One driver saves, another lists; the owner stays the owner."""
    owner = plain.open()
    await owner.ingest(say("s1", "I live in Davis."))
    saved = await do(owner, "save", "a")
    before = await contents(store)
    (info,) = await plain.open().read("snapshots")
    assert (info.name, info.version) == ("a", saved.version)
    assert await contents(store) == before
    await owner.ingest(say("s2", "I like chess."))
    assert not owner.driver.fenced


async def test_an_overtaken_owner_saves_and_restores_nothing(plain: Forests, say: Say) -> None:
    """It finds out as it does at any write."""
    first = plain.open()
    await first.ingest(say("s1", "I live in Davis."))
    await do(first, "save", "a")
    await plain.open().ingest(say("s2", "I like chess."))
    with pytest.raises(Fenced):
        await do(first, "restore", "a")
    for verb in ("save", "delete_snapshot"):
        with pytest.raises(Fenced):
            await do(first, verb, "a")
    assert set((await plain.open().version()).sessions) == {"s1", "s2"}


async def test_snapshots_keep_their_place_among_writes(plain: Forests, say: Say) -> None:
    """What was asked for before a save is in it, what was asked for after it is not."""
    forest = plain.open()
    await asyncio.gather(
        forest.ingest(say("s1", "I live in Davis.")),
        do(forest, "save", "a"),
        forest.ingest(say("s2", "I like chess.")),
        do(forest, "restore", "a"),
        forest.ingest(say("s3", "I like tea.")),
    )
    assert set((await checked(plain, forest)).sessions) == {"s1", "s3"}


@pytest.mark.parametrize("verb", ["save", "restore", "delete_snapshot"])
@pytest.mark.parametrize("after", [False, True])
async def test_a_crash_at_any_call_of_a_snapshots_verb(say: Say, verb: str, after: bool) -> None:
    """The state is that of before or of after it, and the same call brings the next owner to its end."""
    name = {"save": "new"}.get(verb, "old")

    async def attempt(crash_at: int | None) -> tuple[Forests, int]:
        forests = Forests(MemoryStore())
        first = await confided(forests, say)
        await first.ingest(say("s3", "I like rowing."))
        await first.driver.close()
        faulty = FaultyStore(forests.store, crash_at=crash_at, crash_after=after)
        try:
            await do(forests.open(store=faulty), verb, name, "op")
        except Crashed:
            assert crash_at is not None
        return forests, len(faulty.calls)

    _, calls = await attempt(None)
    for place in range(calls):
        forests, _ = await attempt(place)
        heir = forests.open()
        try:
            await do(heir, verb, name, "op")
        except NotFound:
            assert verb == "delete_snapshot"
        version = await checked(forests, heir)
        assert set(version.sessions) == ({"s1", "s2"} if verb == "restore" else {"s1", "s2", "s3"})
        assert await names(heir) == {"save": ["old", "new"], "restore": ["old"], "delete_snapshot": []}[verb]


async def test_a_refused_restore_changes_nothing(plain: Forests, say: Say, store: MemoryStore) -> None:
    """The store does not take the commit: the state is as it was, the same call succeeds later."""
    refusing = False

    def plan(call: Call) -> Fault | None:
        return Fault.CONFLICT if refusing and call.verb == "create" and "/wal/" in call.key else None

    forest = plain.open(store=FaultyStore(store, plan))
    await forest.ingest(say("s1", "I live in Davis."))
    await do(forest, "save", "a")
    await forest.ingest(say("s2", "I like chess."))
    version, refusing = await forest.version(), True
    with pytest.raises(OutcomeUnknown):
        await do(forest, "restore", "a", "op")
    assert await forest.version() is version
    refusing = False
    await do(forest, "restore", "a", "op")
    assert set((await checked(plain, forest)).sessions) == {"s1"}
