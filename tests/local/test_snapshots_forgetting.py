"""Snapshots and forgetting: nothing that was forgotten is in one, or comes back with one."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from memforest_ray.errors import CorruptState, InvalidInput, LLMUnavailable, NotFound
from memforest_ray.facts.sessions import Session
from memforest_ray.ids import UserId
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.extraction import ScriptedExtractor, says
from memforest_ray.testing.forests import Forests, TestForest, decided, residue
from memforest_ray.testing.store import Crashed, FaultyStore, contents
from tests.local.keeping import SECRET, checked, confided, do, names

Say = Callable[..., Session]
Deed = Callable[[TestForest], Awaitable[Any]]


async def _secret_fact(forest: TestForest) -> str:
    return next(fact.id for fact in (await forest.version()).facts if "HERON" in fact.text)


@pytest.mark.parametrize("what", ["session", "turns", "fact"])
async def test_a_snapshot_stands_in_the_way_of_a_forget(
    plain: Forests, say: Say, store: MemoryStore, what: str
) -> None:
    """Refused by name, nothing changed in store or memory; included, the secret is nowhere, the rest comes back."""
    forest = await confided(plain, say)
    await do(forest, "save", "too")
    target: dict[str, dict[str, Any]] = {
        "session": {"session": "s2"},
        "turns": {"turns": ("s2#2",)},
        "fact": {"fact": await _secret_fact(forest), "with_dialogue": True},
    }
    before, version = await contents(store), await forest.version()
    with pytest.raises(InvalidInput, match="'old', 'too'") as caught:
        await forest.forget(**target[what])
    assert caught.value.detail["snapshots"] == ["old", "too"]
    assert await contents(store) == before
    assert await forest.version() is version
    await forest.forget(**target[what], including_snapshots=True)
    assert await residue("HERON", store, await forest.version()) == []
    now = decided(await checked(plain, forest))
    await forest.ingest(say("s3", "I like rowing."))
    await do(forest, "restore", "old")
    restored = await checked(plain, forest)
    assert {**decided(restored)} == now
    assert await residue("HERON", store, restored) == []
    assert await names(forest) == ["old", "too"]


async def test_a_session_that_only_snapshots_hold_is_forgotten(plain: Forests, say: Say, store: MemoryStore) -> None:
    """With `including_snapshots`; nothing of it is left, and it stays out when it is sent or restored again."""
    forest = plain.open()
    await forest.ingest(say("s1", "I live in Davis."))
    await do(forest, "save", "without")
    await forest.ingest(say("s2", SECRET))
    await do(forest, "save", "with")
    await do(forest, "restore", "without")
    with pytest.raises(NotFound, match="no session 's2'"):
        await forest.forget(session="s2")
    report = await plain.open().forget("out", session="s2", including_snapshots=True)
    assert (report.turns, report.facts) == (1, ())
    heir = plain.open()
    assert await heir.forget("out", session="s2", including_snapshots=True) == report
    assert await residue("HERON", store, await heir.version()) == []
    await do(heir, "restore", "with")
    assert set((await checked(plain, heir)).sessions) == {"s1"}
    assert (await heir.ingest(say("s2", SECRET))).duplicate
    assert await residue("HERON", store, await heir.version()) == []
    with pytest.raises(NotFound, match="no session 's2'"):
        await heir.forget(session="s2", including_snapshots=True)


async def test_a_snapshot_without_the_text_stands_in_no_way(plain: Forests, say: Say, store: MemoryStore) -> None:
    """Saved before it was said, or after it was forgotten, a snapshot is left as it is."""
    forest = plain.open()
    await forest.ingest(say("s1", "I live in Davis."))
    await do(forest, "save", "before")
    await forest.ingest(say("s2", SECRET))
    await forest.forget(session="s2")
    await do(forest, "save", "after")
    await forest.forget(session="s1", including_snapshots=True)
    for name in ("before", "after"):
        await do(forest, "restore", name)
        assert dict((await checked(plain, forest)).sessions) == {}
    assert await residue("HERON", store, await forest.version()) == []


async def test_a_forgotten_session_stays_out_after_a_restore(plain: Forests, say: Say) -> None:
    """Sent again it is known, unless it is to replace."""
    forest = await confided(plain, say)
    session = say("s2", "I moved to Oslo.", "I like tea.", SECRET, "I see.")
    await forest.forget(session="s2", including_snapshots=True)
    await do(forest, "restore", "old")
    assert (await forest.ingest(session)).duplicate
    assert set((await forest.version()).sessions) == {"s1"}
    await forest.ingest(session, replace=True)
    assert set((await checked(plain, forest)).sessions) == {"s1", "s2"}


async def test_a_session_is_forgotten_in_every_length(plain: Forests, say: Say, store: MemoryStore) -> None:
    """A snapshot may hold turns of it that the forest, restored from an earlier one, holds no more."""
    forest = plain.open()
    await forest.ingest(say("s1", "I live in Davis.", "Nice."))
    await do(forest, "save", "short")
    await forest.ingest(say("s1", "I live in Davis.", "Nice.", SECRET, "I see."))
    await do(forest, "save", "long")
    await do(forest, "restore", "short")
    await forest.forget(session="s1", including_snapshots=True)
    assert await residue("HERON", store, await forest.version()) == []
    await do(forest, "restore", "long")
    assert dict((await checked(plain, forest)).sessions) == {}


async def test_a_forgotten_turn_stays_out_of_a_state_without_its_hole(
    plain: Forests, say: Say, store: MemoryStore
) -> None:
    """Restored to before it was said and sent again, it comes in as a hole; so it stays through another restore."""
    forest = plain.open()
    session = say("s1", "I live in Davis.", SECRET, "I like tea.")
    await forest.ingest(say("s0", "I like chess."))
    await do(forest, "save", "without")
    await forest.ingest(session)
    await do(forest, "save", "with")
    await forest.forget(turns=("s1#1",), including_snapshots=True)
    await do(forest, "restore", "without")
    await checked(plain, forest)
    assert (await forest.ingest(session)).notes == ("some of its turns were forgotten earlier and stay so",)
    assert await residue("HERON", store, await checked(plain, forest)) == []
    for name in ("without", "with"):
        await do(forest, "restore", name)
        await checked(plain, forest)
    assert await residue("HERON", store, await forest.version()) == []
    await forest.ingest(session, replace=True)
    await do(forest, "restore", "without")
    await forest.ingest(session)
    assert [found.text for found in (await checked(plain, forest)).facts if "HERON" in found.text] != []


async def test_a_forgotten_fact_does_not_show_again(plain: Forests, say: Say) -> None:
    """Its dialogue is in the snapshot and comes back, the fact does not, nor from a session sent again."""
    forest = await confided(plain, say)
    fact = await _secret_fact(forest)
    report = await forest.forget(fact=fact)
    assert report.still_in == ("s2#2",)
    await do(forest, "restore", "old")
    version = await checked(plain, forest)
    assert [found.text for found in version.facts if "HERON" in found.text] == []
    assert dict(version.facts.withheld.atoms).keys() == {fact}
    assert version.sessions["s2"].turns[2].text == SECRET  # type: ignore[index] # a plain text for an id
    await forest.ingest(say("s4", SECRET))
    assert [found.text for found in (await checked(plain, forest)).facts if "HERON" in found.text] == []


async def test_what_is_withheld_is_known_by_what_there_is(plain: Forests, say: Say) -> None:
    """A withheld statement without dialogue in the snapshot is kept by its hash; with it, again by its id."""
    forest = plain.open()
    await forest.ingest(say("s1", "I live in Davis."))
    await do(forest, "save", "without")
    await forest.ingest(say("s2", SECRET))
    await do(forest, "save", "with")
    fact = await _secret_fact(forest)
    await forest.forget(fact=fact)
    await do(forest, "restore", "without")
    version = await checked(plain, forest)
    assert (len(version.facts.withheld.atoms), len(list(version.facts.withheld.pairs()))) == (0, 1)
    await do(forest, "restore", "with")
    version = await checked(plain, forest)
    assert (set(version.facts.withheld.atoms), list(version.facts.withheld.pairs())) == ({fact}, [])
    assert version.find_fact(fact) is None


@pytest.mark.parametrize("after", [False, True])
async def test_a_crash_at_any_call_of_a_forget_with_snapshots(say: Say, after: bool) -> None:
    """The next owner finishes it, whatever else he is asked first; the snapshot opens without the secret."""
    forget: Deed = lambda forest: forest.forget("op-forget", turns=("s2#2",), including_snapshots=True)  # noqa: E731

    async def attempt(crash_at: int | None) -> tuple[MemoryStore, Forests, int]:
        store = MemoryStore()
        forests = Forests(store)
        first = await confided(forests, say)
        await first.driver.close()
        faulty = FaultyStore(store, crash_at=crash_at, crash_after=after)
        try:
            await forget(forests.open(store=faulty))
        except Crashed:
            assert crash_at is not None
        return store, forests, len(faulty.calls)

    _, _, calls = await attempt(None)
    for place in range(calls):
        store, forests, _ = await attempt(place)
        heir = forests.open()
        await heir.ingest(say("s3", "I like rowing."))
        if "op-forget" in (await heir.version()).operations:
            assert await residue("HERON", store, await heir.version()) == []
        await forget(heir)
        assert await residue("HERON", store, await heir.version()) == []
        await do(heir, "restore", "old")
        version = await checked(forests, heir)
        assert set(version.sessions) == {"s1", "s2"}
        assert await residue("HERON", store, version) == []


async def test_a_damaged_snapshot_can_be_deleted_while_it_stops_an_erasure(
    plain: Forests, say: Say, store: MemoryStore
) -> None:
    """The forget is committed and stays open; with the snapshot gone the same call finishes it."""
    forest = await confided(plain, say)
    (key,) = [key for key in await contents(store) if key.startswith(UserKeys.of(UserId("ann")).snapshots)]
    await store.overwrite(key, b"damaged")
    heir = plain.open()
    for other in (forest, heir):
        with pytest.raises(CorruptState, match="/snap/"):
            await other.forget("op", session="s2", including_snapshots=True)
    await do(heir, "delete_snapshot", "old")
    await heir.forget("op", session="s2", including_snapshots=True)
    assert await residue("HERON", store, await heir.version()) == []


async def test_extraction_that_fails_leaves_a_snapshots_cell_searchable(
    forests: Forests, extractor: ScriptedExtractor, say: Say, store: MemoryStore
) -> None:
    """Rewriting a snapshot reads cells anew; what cannot be read is a failed cell there, not a failed forget."""
    forest = forests.open()
    await forest.ingest(say("s1", SECRET, "I like chess."))
    await do(forest, "save", "a")
    extractor.failure = lambda cell: "refused" if says("chess")(cell) else None
    await forest.forget(turns=("s1#0",), including_snapshots=True)
    assert await residue("HERON", store, await forest.version()) == []
    await do(forest, "restore", "a")
    assert len((await checked(forests, forest)).failed) == 1


async def test_a_model_that_is_away_leaves_the_erasure_open(
    forests: Forests, extractor: ScriptedExtractor, say: Say, store: MemoryStore
) -> None:
    """A snapshot could not be rewritten, so nothing is acknowledged; the same call finishes it when it is back."""
    forest = forests.open()
    await forest.ingest(say("s1", SECRET, "I like chess."))
    await do(forest, "save", "a")
    asked = len(extractor.asked)
    # The forest's own cell is read anew first, then that of the snapshot.
    extractor.error = lambda _: LLMUnavailable("away") if len(extractor.asked) > asked + 1 else None
    for _ in range(2):
        with pytest.raises(LLMUnavailable):
            await forest.forget("op", turns=("s1#0",), including_snapshots=True)
    extractor.error = lambda _: None
    report = await forest.forget("op", turns=("s1#0",), including_snapshots=True)
    assert report.turns == 1
    assert await residue("HERON", store, await checked(forests, forest)) == []
