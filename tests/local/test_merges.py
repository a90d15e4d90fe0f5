"""Merges through drivers and clients: pins, lanes, operation ids, and what is forgotten afterwards."""

import pickle
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import pytest

import memforest_ray as mf
from memforest_ray.commit.journal import News
from memforest_ray.commit.log import CommitLog
from memforest_ray.forest.errands import (
    LOAN_MS,
    Correct,
    Corrected,
    Lend,
    Lent,
    Merge,
    Merged,
    Reembedded,
    Renew,
    Renewed,
    Return,
    Returned,
)
from memforest_ray.forest.forecast import Forecast
from memforest_ray.ids import FactId, OpId, SessionId, TurnId, UserId
from memforest_ray.models.usage import Usage
from memforest_ray.storage.keys import UserKeys
from memforest_ray.testing.forests import check_same, residue
from memforest_ray.testing.store import contents
from tests.local.merging import World

Say = Callable[..., mf.Session]
SECRET = "HERON-7"


@pytest.fixture
async def world() -> AsyncIterator[World]:
    made = World()
    async with made.client:
        yield made


async def _two(world: World, say: Say) -> tuple[mf.AsyncUser, mf.AsyncUser]:
    ann, ben = world.client.user("ann"), world.client.user("ben")
    await ann.ingest(say("s1", "I live in Davis.", "Nice.", "I like chess."))
    await ben.ingest(say("s1", "I moved to Oslo.", f"My locker word is {SECRET}.", "I like tea."))
    await ben.ingest(say("s2", "I like chess.", "Me too.", time="2023-06-01"))
    return ann, ben


async def test_a_merge_takes_a_memory_over(world: World, say: Say) -> None:
    """Its sessions are there under its name; the source stands as it was, and is pinned no more."""
    ann, ben = await _two(world, say)
    told = await ann.merge_from(ben)
    assert (told.source, told.sessions, told.duplicate) == ("ben", 2, False)
    version = await world.version("ann")
    assert set(version.sessions) == {"s1", "ben/s1", "ben/s2"}
    assert dict(version.origins) == {"ben/s1": ("ben",), "ben/s2": ("ben",)}
    assert SECRET in str([hit.text for hit in await ann.query("locker word")])
    assert set((await world.version("ben")).sessions) == {"s1", "s2"}
    assert await world.pins("ben") == 0


async def test_a_merge_is_done_once(world: World, say: Say) -> None:
    """Again under its op id: the same answer. Again without: a duplicate that writes nothing here."""
    ann, ben = await _two(world, say)
    told = await ann.merge_from(ben, op_id="merge-1")
    remembered = await ann.merge_from("ben", op_id="merge-1")
    assert remembered == replace(told, seconds={}, idle_share=None)
    before = {
        key: body for key, body in (await contents(world.store)).items() if UserKeys.of(UserId("ann")).prefix in key
    }
    again = await ann.merge_from(ben)
    assert again.duplicate
    after = {
        key: body for key, body in (await contents(world.store)).items() if UserKeys.of(UserId("ann")).prefix in key
    }
    assert after == before
    with pytest.raises(mf.InvalidInput, match="names another write"):
        await ann.merge_from("carl", op_id="merge-1") if await _carl(world, say) else None


async def _carl(world: World, say: Say) -> bool:
    await world.client.user("carl").ingest(say("s1", "I paint."))
    return True


async def test_what_is_new_since_comes_with_the_next_merge(world: World, say: Say) -> None:
    """Sessions that are new or longer; the rest is known."""
    ann, ben = await _two(world, say)
    await ann.merge_from(ben)
    await ben.ingest(say("s1", "I moved to Oslo.", f"My locker word is {SECRET}.", "I like tea.", "And I like figs."))
    await ben.ingest(say("s3", "I bought a boat.", time="2023-07-01"))
    told = await ann.merge_from(ben)
    assert (told.sessions, told.duplicate) == (2, False)
    version = await world.version("ann")
    assert len(version.sessions["ben/s1"].turns) == 4
    assert any("boat" in fact.text for fact in version.facts)


async def test_what_was_forgotten_here_does_not_come_back(world: World, say: Say) -> None:
    """A session, a turn, a fact, or all of an origin: the next merge leaves them out."""
    ann, ben = await _two(world, say)
    await ann.merge_from(ben)
    await ann.forget(turns=["ben/s1#1"])
    await ann.forget(session="ben/s2")
    (boat,) = [fact for fact in (await world.version("ann")).facts if "Oslo" in fact.text]
    await ann.forget(fact=boat.id)
    await ben.ingest(say("s4", "I moved to Oslo.", "Fine.", time="2023-05-08T09:00:00Z"))
    await ann.merge_from(ben)
    version = await world.version("ann")
    assert set(version.sessions) == {"s1", "ben/s1", "ben/s4"}
    assert [fact.text for fact in version.facts if "Oslo" in fact.text] == []
    ours = [key for key in await residue(SECRET, world.store, version) if UserKeys.of(UserId("ben")).prefix not in key]
    assert ours == []
    await ann.forget(origin="ben")
    assert set((await world.version("ann")).sessions) == {"s1"}
    await ann.merge_from(ben)
    assert set((await world.version("ann")).sessions) == {"s1"}
    with pytest.raises(mf.NotFound):
        await ann.forget(origin="ben")


async def test_what_the_source_withholds_is_withheld_here(world: World, say: Say) -> None:
    """Also where both said it, and also when it is said again."""
    ann, ben = await _two(world, say)
    (shared,) = [fact for fact in (await world.version("ben")).facts if "chess" in fact.text]
    await ben.forget(fact=shared.id)
    (locker,) = [fact for fact in (await world.version("ben")).facts if SECRET in fact.text]
    await ben.forget(fact=locker.id, with_dialogue=True)
    await ann.merge_from(ben)
    version = await world.version("ann")
    assert [fact.text for fact in version.facts if "chess" in fact.text or SECRET in fact.text] == []
    await ann.ingest(say("s9", "I like chess.", f"My locker word is {SECRET}.", time="2024-01-01"))
    version = await world.version("ann")
    assert [fact.text for fact in version.facts if "chess" in fact.text or SECRET in fact.text] == []


async def test_what_the_source_forgot_is_known_here(world: World, say: Say) -> None:
    """Sent to the merged memory itself, whole or in part, it stays out; at second hand, and with nameless speakers."""
    ann, ben = await _two(world, say)
    chat = mf.Session("s3", [mf.Turn("My PIN is 4711."), mf.Turn("Noted.", role="assistant")], time="2023-07-01")
    await ben.ingest(chat)
    await ben.forget(turns=["s3#0"])
    await ben.forget(session="s2")
    await ann.merge_from(ben)
    dan = world.client.user("dan")
    await dan.merge_from(ann)
    gone = say("s2", "I like chess.", "Me too.", time="2023-06-01")
    for user, prefix in ((ann, "ben/"), (dan, "ann/ben/")):
        turns = [replace(turn, speaker=f"ben/{turn.role}") for turn in chat.turns]
        assert (await user.ingest(replace(chat, id=f"{prefix}s3", turns=turns))).duplicate
        assert (await user.ingest(replace(gone, id=f"{prefix}s2"))).duplicate
        version = await world.version(user.id)
        assert f"{prefix}s2" not in version.sessions
        assert [turn.text for turn in version.sessions[SessionId(f"{prefix}s3")].turns] == ["", "Noted."]


async def test_what_the_source_forgot_since_stays_and_is_named(world: World, say: Say) -> None:
    """A merge forgets nothing: the receipt says what is still here."""
    ann, ben = await _two(world, say)
    await ann.merge_from(ben)
    await ben.forget(turns=["s1#1"])
    await ben.forget(session="s2")
    told = await ann.merge_from(ben)
    assert told.kept == ("ben/s1", "ben/s2")
    assert set((await world.version("ann")).sessions) == {"s1", "ben/s1", "ben/s2"}


async def test_a_replaced_session_is_a_conflict(world: World, say: Say) -> None:
    """Named by a forecast and refused, unless it may replace; what was forgotten of it stays out all the same."""
    ann, ben = await _two(world, say)
    await ann.merge_from(ben)
    await ann.forget(turns=["ben/s2#0"])
    await ben.ingest(say("s2", "I sold my boat.", "I like chess.", time="2023-06-01"), replace=True)
    assert (await ann.merge_forecast(ben)).conflicts == ("ben/s2",)
    before = await world.version("ann")
    with pytest.raises(mf.SessionConflict, match="'ben/s2'"):
        await ann.merge_from(ben)
    check_same(await world.version("ann"), before)
    await ann.merge_from(ben, replace=True)
    version = await world.version("ann")
    assert [turn.text for turn in version.sessions["ben/s2"].turns] == ["I sold my boat.", "I like chess."]


async def test_an_erasure_of_the_source_waits_for_the_copy(world: World, say: Say) -> None:
    """While it is pinned; an expired pin stands in nobody's way, and a merge under it is refused and made again."""
    ann, ben = await _two(world, say)
    lend = {"loan": OpId("merge-1"), "borrower": UserId("ann")}
    await world.client.call(ben.id, "lend", lend, op_id=OpId("l1"), seen=0)
    assert await world.pins("ben") == 1
    with pytest.raises(mf.Overloaded, match="being copied"):
        await ben.forget(session="s2")
    world.clock.advance(LOAN_MS / 1000 - 10)
    asked = {"source": ben.id, "replacing": False}
    with pytest.raises(mf.Overloaded, match="no longer pinned") as caught:
        await world.client.call(ann.id, "merge", asked, op_id=OpId("merge-1"), seen=0)
    assert caught.value.detail["loan"] == "merge-1"
    world.clock.advance(11)
    await ben.forget(session="s2")
    told = await ann.merge_from(ben, op_id="merge-1")
    assert told.sessions == 1


async def test_copies_are_named_when_a_user_is_deleted(world: World, say: Say) -> None:
    """At first and second hand; not those who have forgotten them again."""
    ann, ben = await _two(world, say)
    carl, dan = world.client.user("carl"), world.client.user("dan")
    await carl.ingest(say("s1", "I paint."))
    await dan.ingest(say("s1", "I sing."))
    await ann.merge_from(ben)
    await carl.merge_from(ann)
    await dan.merge_from(ben)
    await dan.forget(origin="ben")
    assert dict((await world.version("carl")).origins)["ann/ben/s1"] == ("ann", "ben")
    assert await world.client.delete_user("ann") == ["carl"]
    assert await world.client.delete_user("ben") == ["carl"]
    await carl.forget(origin="ben")
    assert set((await world.version("carl")).sessions) == {"s1", "ann/s1"}
    with pytest.raises(mf.NotFound):
        await carl.merge_from(ben)


async def test_a_memory_into_itself_or_of_nobody(world: World, say: Say) -> None:
    """Neither is a merge; nothing is changed and nothing stays pinned."""
    ann, _ = await _two(world, say)
    with pytest.raises(mf.InvalidInput):
        await ann.merge_from("ann")
    for verb in (ann.merge_from, ann.merge_forecast):
        with pytest.raises(mf.NotFound):
            await verb("nobody")
    assert [user async for user in world.client.users()] == ["ann", "ben"]


async def test_into_an_empty_memory(world: World, say: Say) -> None:
    """A first merge is a birth."""
    _, ben = await _two(world, say)
    told = await world.client.user("eve").merge_from(ben)
    assert told.sessions == 2
    assert set((await world.version("eve")).sessions) == {"ben/s1", "ben/s2"}


async def test_a_forecast_says_what_a_merge_would_do(world: World, say: Say) -> None:
    """And does nothing."""
    ann, ben = await _two(world, say)
    before = await contents(world.store)
    found = await ann.merge_forecast(ben)
    assert await contents(world.store) == before
    assert found.sessions_new == ("ben/s1", "ben/s2")
    assert found.speakers_joined == ("Ann", "Bob")
    assert (found.facts, found.facts_joined, found.cells_to_read) == (4, 1, 0)
    told = await ann.merge_from(ben)
    assert (told.facts_added, told.facts_joined) == (3, 1)


async def test_snapshots_of_a_merged_memory(world: World, say: Say) -> None:
    """A restore takes the merge back, and another merge brings it again; an erasure reaches into what was saved."""
    ann, ben = await _two(world, say)
    await ann.save("alone")
    await ann.merge_from(ben)
    await ann.save("together")
    await ann.restore("alone")
    assert set((await world.version("ann")).sessions) == {"s1"}
    assert dict((await world.version("ann")).origins) == {}
    await ann.restore("together")
    assert len((await world.version("ann")).origins) == 2
    with pytest.raises(mf.InvalidInput, match="together"):
        await ann.forget(origin="ben")
    await ann.forget(origin="ben", including_snapshots=True)
    await ann.restore("together")
    version = await world.version("ann")
    assert set(version.sessions) == {"s1"}
    ours = [key for key in await residue(SECRET, world.store, version) if UserKeys.of(UserId("ben")).prefix not in key]
    assert ours == []


@pytest.mark.parametrize(
    "value",
    [
        Merge(OpId("o"), UserId("ben"), wait="facts"),
        Correct(OpId("o"), "f1", "Bob lives in Dixon.", event_time=(1, 2)),
        Renew(OpId("o"), "resummarise", "entity:bob"),
        Lend(OpId("o"), OpId("l"), UserId("ann")),
        Return(OpId("o"), OpId("l")),
        Lent(1, OpId("o"), 2),
        Returned(1, OpId("o")),
        Forecast(1, 2, conflicts=(SessionId("ben/s1"),)),
        News(1, 2, sessions_added=(SessionId("s1"),)),
        mf.Denied("nobody may", verb="query"),
    ],
)
def test_errands_cross_processes(value: Any) -> None:
    """As do their answers: an actor is another process."""
    again = pickle.loads(pickle.dumps(value))
    assert (type(again), repr(again)) == (type(value), repr(value))


@pytest.mark.parametrize(
    "told",
    [
        Merged(3, OpId("o"), UserId("ben"), 2, sessions=1, kept=(SessionId("ben/s1"),), usage={"judge": Usage(1, 2)}),
        Corrected(3, OpId("o"), FactId("f1"), FactId("f2"), (TurnId("s1#0"),)),
        Renewed(3, OpId("o"), "rescene", trees=2, usage={"summarise": Usage(1, 2, 3)}),
        Reembedded(3, OpId("o"), "hash-32", 32, vectors=7),
    ],
)
def test_answers_are_remembered(told: Merged | Corrected | Renewed | Reembedded) -> None:
    """What is stored of an answer gives the answer."""
    assert type(told).from_json(told.to_json()) == told


async def test_a_turn_that_both_have_forgotten_is_no_conflict(world: World, say: Say) -> None:
    """Each under a key of its own: what the source has to say since comes all the same, also at second hand."""
    ann, ben = await _two(world, say)
    carl = world.client.user("carl")
    await carl.merge_from(ann)
    await ann.merge_from(ben)
    await carl.merge_from(ann)
    for user, turn in ((ben, "s1#1"), (ann, "ben/s1#1"), (carl, "ann/ben/s1#1")):
        await user.forget(turns=[turn])
    turns = ("I moved to Oslo.", f"My locker word is {SECRET}.", "I like tea.", "And I like figs.")
    await ben.ingest(say("s1", *turns))
    for user, source in ((ann, ben), (carl, ann)):
        told = await user.merge_from(source)
        assert (told.sessions, told.kept) == (1, ())
        assert (await user.merge_from(source)).duplicate
    said = [turn.text for turn in (await world.version("carl")).sessions[SessionId("ann/ben/s1")].turns]
    assert said == ["I moved to Oslo.", "", "I like tea.", "And I like figs."]


async def test_a_correction_comes_with_the_next_merge(world: World, say: Say) -> None:
    """What it stands in the place of is here already, also in a cell of which a turn is forgotten here."""
    ann, ben = await _two(world, say)
    await ann.merge_from(ben)
    await ann.forget(turns=["ben/s1#1"])
    (oslo,) = [fact for fact in (await world.version("ben")).facts if "Oslo" in fact.text]
    await ben.correct(oslo.id, text="Bob moved to Bergen.")
    assert not (await ann.merge_from(ben)).duplicate
    told = {fact.text for fact in (await world.version("ann")).facts}
    assert ("Bob moved to Bergen." in told, "Bob moved to Oslo." in told) == (True, False)
    assert (await ann.merge_from(ben)).duplicate
    await ann.forget(turns=["ben/s1#0"])
    assert not any("Bergen" in fact.text for fact in (await world.version("ann")).facts)


async def test_what_stands_here_is_known_though_its_source_has_forgotten_it(world: World, say: Say) -> None:
    """Sent again, or merged again to replace what differs, it is a duplicate; nothing is lost, nor at second hand."""
    ann, ben = await _two(world, say)
    carl, talk = world.client.user("carl"), say("s2", "I like chess.", "Me too.", time="2023-06-01")
    await ann.merge_from(ben)
    await ben.forget(session="s2")
    assert (await ann.merge_from(ben)).kept == ("ben/s2",)
    await carl.merge_from(ann)
    assert (await ann.ingest(replace(talk, id="ben/s2"))).duplicate
    await ben.ingest(talk, replace=True)
    for user, source in ((ann, ben), (carl, ann), (carl, ann)):
        await user.merge_from(source, replace=True)
    assert [turn.text for turn in (await world.version("ann")).sessions[SessionId("ben/s2")].turns] == [
        "I like chess.",
        "Me too.",
    ]
    assert SessionId("ann/ben/s2") in (await world.version("carl")).sessions


async def test_what_is_withheld_there_is_known_here_without_its_dialogue(world: World, say: Say) -> None:
    """The session that said it is forgotten here; whoever says it again is not understood to have."""
    ann, ben = await _two(world, say)
    await ben.ingest(say("s3", "I like figs.", time="2023-07-01"))
    await ann.merge_from(ben)
    await ann.forget(session="ben/s3")
    (figs,) = [fact for fact in (await world.version("ben")).facts if "figs" in fact.text]
    await ben.forget(fact=figs.id)
    await ann.merge_from(ben)
    assert (await ann.merge_from(ben)).duplicate
    await ann.ingest(say("s9", "I like figs.", time="2023-08-01"))
    assert not any("figs" in fact.text for fact in (await world.version("ann")).facts)


async def test_a_merge_that_is_done_is_told_though_its_source_is_gone(world: World, say: Say) -> None:
    """Asked again under its op id; a new one finds nobody."""
    ann, ben = await _two(world, say)
    told = await ann.merge_from(ben, op_id="merge")
    assert await world.client.delete_user("ben") == ["ann"]
    assert (await ann.merge_from("ben", op_id="merge")).version == told.version
    with pytest.raises(mf.NotFound):
        await ann.merge_from("ben")


async def test_what_both_have_forgotten_is_no_conflict_when_it_is_sent_again(world: World, say: Say) -> None:
    """A session stands here with the source's holes; its turns are known by our own hashes as well."""
    ann, ben = world.client.user("ann"), world.client.user("ben")
    said = ("I moved to Oslo.", "I like tea.", "I play chess.", "I sing.")
    await ben.ingest(say("s1", *said[:2]))
    await ann.merge_from("ben")
    await ann.forget(session="ben/s1")
    await ben.forget(session="s1")
    await ben.ingest(say("s1", *said))
    await ann.merge_from("ben", replace=True)
    assert (await ann.ingest(say("ben/s1", said[0]))).duplicate
    assert (await ann.ingest(say("ben/s1", *said, "I swim."))).facts_added == 1


async def test_a_merge_that_is_done_is_told_though_nothing_can_be_lent(world: World, say: Say) -> None:
    """Others copy the source just now, as many as may."""
    ann, ben = world.client.user("ann"), world.client.user("ben")
    await ben.ingest(say("s1", "I moved to Oslo."))
    told = await ann.merge_from("ben", op_id="merge")
    for number in range(16):
        lend = {"loan": f"copy{number}", "borrower": "cal"}
        await world.client.call(UserId("ben"), "lend", lend, op_id=OpId(f"lend{number}"), seen=0)
    assert (await ann.merge_from("ben", op_id="merge")).version == told.version
    with pytest.raises(mf.Overloaded, match="16 copies"):
        await ann.merge_from("ben")


async def test_a_pin_that_was_over_before_its_turn_came_is_made_again(
    world: World, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process stood still in between: that is no fault of the call."""
    await world.client.user("ben").ingest(say("s1", "I moved to Oslo."))
    pin, late = CommitLog.pin, [LOAN_MS / 1000 + 1, 0.0]

    async def pinned(log: CommitLog, loan: OpId, expires_ms: int) -> Any:
        world.clock.advance(late.pop(0))
        return await pin(log, loan, expires_ms)

    monkeypatch.setattr(CommitLog, "pin", pinned)
    assert (await world.client.user("ann").merge_from("ben")).sessions == 1
    assert late == []
