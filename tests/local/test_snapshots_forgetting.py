"""Snapshots and forgetting: nothing that was forgotten is in one, or comes back with one."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from memforest_ray.errors import CorruptState, InvalidInput, LLMUnavailable, NotFound
from memforest_ray.facts.sessions import Session, Turn
from memforest_ray.ids import UserId
from memforest_ray.query.request import QueryRequest
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
    (note,) = (await forest.ingest(session)).notes
    assert note == "some of its turns were forgotten earlier and stay so; replace=True takes them in again"
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


async def _outlived(plain: Forests, say: Say) -> TestForest:
    """A forest in which only a snapshot holds a session, the end of another, and what they tell."""
    forest = plain.open()
    await forest.ingest(say("s1", "I live in Davis."))
    await do(forest, "save", "without")
    await forest.ingest(say("s1", "I live in Davis.", "Nice.", "I keep a HERON."))
    await forest.ingest(say("s2", SECRET, "I see.", "I like rowing."))
    await do(forest, "save", "with")
    await do(forest, "restore", "without")
    return forest


async def test_turns_that_only_snapshots_hold_are_forgotten(plain: Forests, say: Say, store: MemoryStore) -> None:
    """Of a session that is not here and of one that is here, but shorter; they stay out, and all else comes back."""
    forest = await _outlived(plain, say)
    with pytest.raises(NotFound, match="no turn 's1#2'"):
        await forest.forget(turns=("s1#2",))
    with pytest.raises(NotFound, match="no turn 's9#0'"):
        await forest.forget(turns=("s1#2", "s9#0"), including_snapshots=True)
    report = await forest.forget("out", turns=("s1#2", "s2#0"), including_snapshots=True)
    assert (report.turns, report.facts) == (2, ())
    assert await residue("HERON", store, await forest.version()) == []
    assert await plain.open().forget("out", turns=("s1#2", "s2#0"), including_snapshots=True) == report
    await forest.ingest(say("s1", "I live in Davis.", "Nice.", "I keep a HERON."))
    await do(forest, "restore", "with")
    version = await checked(plain, forest)
    said = {turn.text for record in version.sessions.values() for turn in record.turns if turn.hole is None}
    assert said == {"I live in Davis.", "Nice.", "I see.", "I like rowing."}
    assert await residue("HERON", store, version) == []
    with pytest.raises(NotFound):
        await forest.forget(turns=("s1#2",), including_snapshots=True)


@pytest.mark.parametrize("with_dialogue", [False, True])
async def test_a_fact_that_only_a_snapshot_holds_is_forgotten(
    plain: Forests, say: Say, store: MemoryStore, with_dialogue: bool
) -> None:
    """It does not come back with the snapshot, nor when it is said again; its dialogue goes if that is asked."""
    forest = await _outlived(plain, say)
    kept = await forest.read("query", request=QueryRequest("HERON", k=20), snapshot="with")
    fact = next(hit.fact_id for hit in kept if hit.fact_id and "PIN" in hit.text)
    with pytest.raises(NotFound):
        await forest.forget(fact=fact)
    report = await forest.forget(fact=fact, with_dialogue=with_dialogue, including_snapshots=True)
    assert (report.turns, report.still_in) == ((1, ()) if with_dialogue else (0, ("s2#0",)))
    assert ("HERON-7" in str(await contents(store))) is False  # what is left is compressed
    assert (await residue("HERON-7", store, await forest.version()) == []) is with_dialogue
    await do(forest, "restore", "with")
    await forest.ingest(say("s3", SECRET))
    facts = [told.text for told in (await checked(plain, forest)).facts]
    assert [text for text in facts if "PIN" in text] == []
    assert any("rowing" in text for text in facts)
    with pytest.raises(NotFound):
        await forest.forget(fact=fact, including_snapshots=True)


async def test_an_id_that_snapshots_hold_in_two_sessions_is_not_guessed(
    plain: Forests, store: MemoryStore, say: Say
) -> None:
    """As of one that is stored in two; with the session it is clear."""
    forest = plain.open()
    await forest.ingest(say("s1", "I live in Davis."))
    await do(forest, "save", "without")
    for name, text in (("s2", SECRET), ("s3", "I like tea.")):
        await forest.ingest(Session(name, [Turn(text, "Bob", id="same")]))
    await do(forest, "save", "with")
    await do(forest, "restore", "without")
    with pytest.raises(InvalidInput, match=r"several sessions \(s2, s3\)"):
        await forest.forget(turns=("same",), including_snapshots=True)
    assert (await forest.forget(turns=("same",), session="s2", including_snapshots=True)).turns == 1
    assert await residue("HERON", store, await forest.version()) == []


async def test_who_is_told_that_it_is_forgotten_finds_it_nowhere(plain: Forests, say: Say) -> None:
    """Also where another forget, cut off anywhere, has left nothing to change but its erasure to be finished."""
    told = 0
    for place in range(4, 40, 3):
        forests = Forests(MemoryStore(), plain.models)
        await (await confided(forests, say)).driver.close()
        cut_off = forests.open(store=FaultyStore(forests.store, crash_at=place))
        with suppress(Crashed):
            await cut_off.forget("a", session="s2", including_snapshots=True)
        heir = forests.open()
        with suppress(NotFound):
            await heir.forget("b", session="s2", including_snapshots=True)
            told += 1
            assert await residue("HERON", forests.store, await heir.version()) == []
    assert told > 4
