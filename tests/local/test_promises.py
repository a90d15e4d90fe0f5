"""What users are promised of writing and forgetting, as they would try it; each part of it is tested elsewhere."""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

import memforest_ray as mf
from memforest_ray.facts.sessions import Session, Turn
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.extraction import ScriptedExtractor
from memforest_ray.testing.forests import Forests, check_forest, check_same, decided, residue
from memforest_ray.testing.store import contents
from tests.local.keeping import do

Say = Callable[..., Session]


@pytest.fixture
async def client(plain: Forests) -> AsyncIterator[mf.AsyncClient]:
    """What an application holds, over the store of `plain`."""
    async with mf.AsyncClient(plain.settings, plain.runtime()) as made:
        yield made


async def _texts(user: mf.AsyncUser, question: str, kind: str | None = None) -> list[str]:
    return [hit.text for hit in await user.query(question, k=50, kind=kind)]


# ---- writing ---------------------------------------------------------------------------------------------


async def test_one_fact_told_fifty_times_at_once_is_stored_once(plain: Forests, say: Say) -> None:
    """By fifty sessions, two at a time; each telling is evidence of it."""
    forest = plain.open()
    for number in range(0, 50, 2):
        pair = [say(f"s{each}", "I like chess.") for each in (number, number + 1)]
        await asyncio.gather(*map(forest.ingest, pair))
    version = await forest.version()
    assert [(fact.text, len(fact.mentions)) for fact in version.facts] == [("Bob likes chess.", 50)]


async def test_what_was_ingested_twice_is_found_once(client: mf.AsyncClient, say: Say, store: MemoryStore) -> None:
    """The second receipt says `duplicate`, and the store is unchanged."""
    bob = client.user("bob")
    await bob.ingest(say("s1", "I live in Davis."))
    before = await contents(store)
    assert (await bob.ingest(say("s1", "I live in Davis."))).duplicate
    assert await contents(store) == before
    assert await _texts(bob, "Where does Bob live?", kind="fact") == ["Bob lives in Davis."]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I'm allergic to nuts.", "I'm not allergic to nuts."),
        ("I moved from Boston to Davis.", "I moved from Davis to Boston."),
        ("My code is 7-A.", "My code is 9-A."),
        ("The race is on 3 May 2023.", "The race is on 10 May 2023."),
    ],
)
async def test_what_is_nearly_the_same_stays_two(client: mf.AsyncClient, say: Say, one: str, other: str) -> None:
    """A negation, a direction, a number, a day: both are there, and both are found."""
    bob = client.user("bob")
    await bob.ingest(say("s1", one))
    await bob.ingest(say("s2", other))
    assert len(await _texts(bob, one, kind="fact")) == 2


async def test_years_go_by(client: mf.AsyncClient, say: Say) -> None:
    """Both statements are kept, in their order; the answer holds the later one, with its day."""
    bob = client.user("bob")
    await bob.ingest(say("s1", "I've been 5 years at the firm.", time="2022-05-01"))
    await bob.ingest(say("s2", "I've been 6 years at the firm.", time="2023-05-01"))
    facts = {hit.text: hit.source_time for hit in await bob.query("How many years at the firm?", kind="fact")}
    five, six = (next(time for text, time in facts.items() if word in text) for word in ("5", "6"))
    assert five is not None
    assert six is not None
    assert five < six
    answer = await bob.ask("How many years is Bob currently at the firm?")
    assert "Bob has been 6 years at the firm. (said 1 May 2023)" in answer.text


async def test_a_session_that_comes_in_pieces_is_read_once(forests: Forests, extractor: ScriptedExtractor) -> None:
    """11 turns, 14 of the same, then the 9th to the 18th: only new cells, and the one that grew, are read."""
    turns = [Turn(f"I like hobby{number}.", ("Bob", "Ann")[number % 2]) for number in range(18)]
    forest = forests.open()
    read = []
    for piece in (turns[:11], turns[:14], turns[8:18]):
        before = len(extractor.asked)
        await forest.ingest(Session("s1", piece, time="2023-05-08T10:00:00Z"))
        read.append(len(extractor.asked) - before)
    assert read == [6, 2, 2]
    whole = Forests().open()
    await whole.ingest(Session("s1", turns, time="2023-05-08T10:00:00Z"))
    assert decided(await forest.version()) == decided(await whole.version())


@pytest.mark.parametrize("texts", [(), ("Hm.",), ("I live in Davis.",), ("I live in Davis.", "I like chess.")])
async def test_a_memory_of_almost_nothing_is_asked_for_much(
    client: mf.AsyncClient, say: Say, texts: tuple[str, ...]
) -> None:
    """No, one or two facts, and any number of hits asked for: what there is, and no exception."""
    bob = client.user("bob")
    if texts:
        await bob.ingest(say("s1", *texts))
    for mode in ("flat", "root", "embed"):
        found = await bob.query("Where does Bob live?", k=1_000, mode=mode)
        assert len(found) <= 2 * len(texts)
    assert (await bob.ask("Where does Bob live?")) is not None


# ---- forgetting ------------------------------------------------------------------------------------------


async def test_what_was_forgotten_stays_so_whatever_is_made_anew(
    client: mf.AsyncClient, plain: Forests, say: Say, store: MemoryStore
) -> None:
    """Repaired, summarised, clustered and built anew, sent again, opened elsewhere: the text is nowhere."""
    bob = client.user("ann")
    await bob.ingest(say("s1", "My PIN word is HERON-7."))
    await bob.ingest(say("s2", "I work with Ana."))
    await bob.forget(session="s1")
    for act in (bob.repair, bob.resummarise, bob.rescene, bob.rebuild):
        await act()
    assert (await bob.ingest(say("s1", "My PIN word is HERON-7."))).duplicate
    version = await plain.open().version()
    check_forest(version)
    assert await residue("HERON", store, version) == []
    assert await _texts(bob, "Who works with Ana?", kind="fact") != []


async def test_a_session_that_many_trees_share_leaves_them_clean(plain: Forests, say: Say) -> None:
    """Its entity and scene trees go on without it; forgotten again, or unknown, it is not found."""
    forest = plain.open()
    for number in range(4):
        await forest.ingest(say(f"s{number}", f"I like chess with Ana Berg, game {number}.", "I see."))
    version = await forest.version()
    assert any(scope.startswith("entity:") for scope in version.trees)
    await forest.forget(session="s2")
    after = await forest.version()
    check_forest(after)
    check_same(after, await plain.open().version())
    assert not any("game 2" in leaf.text for tree in after.trees.values() for leaf in tree.leaves())
    for name in ("s2", "never"):
        with pytest.raises(mf.NotFound):
            await forest.forget(session=name)


async def test_a_forgotten_turn_stays_out_when_all_is_sent_again(plain: Forests, say: Say, store: MemoryStore) -> None:
    """The rest of its cell stays; a snapshot made since does not hold it either."""
    forest = plain.open()
    session = say("s1", "I like chess.", "My PIN word is HERON-7.", "I see.")
    await forest.ingest(session)
    await forest.forget(turns=("s1#1",))
    assert (await forest.ingest(session)).duplicate
    await do(forest, "save", "since")
    version = await forest.version()
    check_forest(version)
    assert [fact.text for fact in version.facts if "chess" in fact.text] == ["Bob likes chess."]
    assert await residue("HERON", store, version) == []


async def test_one_forgotten_fact_does_not_come_back(client: mf.AsyncClient, say: Say) -> None:
    """Its dialogue stays, and the report says where; nothing that is made anew, or sent again, tells it."""
    bob = client.user("bob")
    session = say("s1", "I live in Davis.", "I see.", "I like chess.")
    await bob.ingest(session)
    fact = next(hit for hit in await bob.query("Where does Bob live?", kind="fact") if "Davis" in hit.text)
    report = await bob.forget(fact=fact.fact_id)
    assert report.still_in == ("s1#0",)
    for act in (bob.repair, bob.rebuild, lambda: bob.ingest(session), lambda: bob.ingest(session, replace=True)):
        await act()
        assert [text for text in await _texts(bob, "Where does Bob live?", kind="fact") if "Davis" in text] == []
    assert any("Davis" in text for text in await _texts(bob, "Where does Bob live?", kind="cell"))


async def test_a_deleted_user_is_empty_and_usable(client: mf.AsyncClient, say: Say, store: MemoryStore) -> None:
    """Nothing of the former life is left, in the store or in what is told."""
    bob = client.user("bob")
    await bob.ingest(say("s1", "My PIN word is HERON-7."))
    await bob.save("old")
    await client.delete_user("bob")
    assert await _texts(bob, "What is the PIN word?") == []
    assert await bob.snapshots() == []
    await bob.ingest(say("s1", "I like chess."))
    assert await _texts(bob, "What does Bob like?", kind="fact") == ["Bob likes chess."]
    assert [key for key, body in (await contents(store)).items() if b"HERON" in body] == []


async def test_a_corrected_fact_says_so(client: mf.AsyncClient, plain: Forests, say: Say) -> None:
    """The old text is gone from what is told; the new one names what it came from."""
    bob = client.user("ann")
    await bob.ingest(say("s1", "I live in Davis."))
    fact = (await bob.query("Where does Bob live?", kind="fact"))[0]
    await bob.correct(str(fact.fact_id), "Bob lives in Oslo.")
    (told,) = await bob.query("Where does Bob live?", kind="fact")
    assert told.text == "Bob lives in Oslo."
    version = await plain.open().version()
    assert [known.corrected_from for known in version.facts] == [fact.fact_id]


async def test_history_is_kept_unless_it_was_forgotten(client: mf.AsyncClient, say: Say) -> None:
    """After an update the state before it is still told; after its session was forgotten it is not."""
    bob = client.user("bob")
    await bob.ingest(say("s1", "I live in Davis.", time="2021-05-01"))
    await bob.ingest(say("s2", "I live in Oslo now.", time="2023-05-01"))
    assert any("Davis" in text for text in await _texts(bob, "Where did Bob live before Oslo?", kind="fact"))
    await bob.forget(session="s1")
    assert not any("Davis" in text for text in await _texts(bob, "Where did Bob live before Oslo?"))
