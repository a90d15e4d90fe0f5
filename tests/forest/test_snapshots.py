"""What must leave a snapshot is read off two versions."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
from immutables import Map

from memforest_ray.commit.changes import Changes
from memforest_ray.commit.version import Version
from memforest_ray.errors import CorruptState
from memforest_ray.facts.sessions import Session
from memforest_ray.forest.dialogue import Dialogue, turns_key
from memforest_ray.forest.intents import Restore, Restored
from memforest_ray.forest.snapshots import Lag, forgotten_again, lagging, restore
from memforest_ray.forest.work import Written
from memforest_ray.ids import OpId
from memforest_ray.local.effects import run
from memforest_ray.testing.forests import Forests, TestForest

Say = Callable[..., Session]
Deed = Callable[[TestForest], Awaitable[Any]]


async def _two(forests: Forests, *deeds: Deed) -> tuple[Version, Version]:
    """The version before the last deed, and the one after it."""
    forest = forests.open()
    for deed in deeds[:-1]:
        await deed(forest)
    then = await forest.version()
    await deeds[-1](forest)
    return then, await forest.version()


async def _again(forests: Forests, then: Version, now: Version) -> Written:
    return await run(forgotten_again(then, now, "selection"), forests.models)


async def test_nothing_lags_where_nothing_was_forgotten(forests: Forests, say: Say) -> None:
    """Growth, new sessions, and a fact that is withheld leave the dialogue of a snapshot alone."""
    forest = forests.open()
    await forest.ingest(say("s1", "I live in Davis."))
    then = await forest.version()
    await forest.ingest(say("s1", "I live in Davis.", "Nice.", "I like chess."))
    await forest.ingest(say("s2", "I like tea."))
    await forest.forget(fact=next(iter(then.facts)).id)
    now = await forest.version()
    assert lagging(then, now) == Lag()
    assert (await _again(forests, then, now)).changes == Changes()


async def test_a_forgotten_session_lags_whole(forests: Forests, say: Say) -> None:
    """Also turns of it that the forest did not hold any more when it was forgotten."""
    then, now = await _two(
        forests,
        lambda forest: forest.ingest(say("s1", "I live in Davis.", "Nice.", "I like chess.")),
        lambda forest: forest.forget(session="s1"),
    )
    now = replace(now, forgotten=Map({key: hashes[:1] for key, hashes in now.forgotten.items()}))
    assert lagging(then, now).sessions == ("s1",)
    assert dict((await _again(forests, then, now)).version.sessions) == {}


async def test_forgotten_turns_lag_by_themselves(forests: Forests, say: Say) -> None:
    """The same words at another turn that stands stay."""
    session = say("s1", "I see.", "Nice.", "I see.", "I like chess.")
    then, now = await _two(
        forests, lambda forest: forest.ingest(session), lambda forest: forest.forget(turns=("s1#0", "s1#3"))
    )
    assert lagging(then, now).turns == (("s1", 0), ("s1", 3))
    after = (await _again(forests, then, now)).version
    (record,) = after.sessions.values()
    assert [turn.text for turn in record.turns] == ["", "Nice.", "I see.", ""]


async def test_a_hole_is_known_without_its_session(forests: Forests, say: Say) -> None:
    """A forest that was restored to before a session keeps the hashes of the holes it had; the rest may stand."""
    then, now = await _two(
        forests,
        lambda forest: forest.ingest(say("s1", "I live in Davis.", "I like chess.")),
        lambda forest: forest.forget(turns=("s1#1",)),
    )
    (record,) = now.sessions.values()
    dialogue = Dialogue(replace(now, sessions=Map()))
    dialogue.keep_holes(record)
    assert set(dialogue.told) == {turns_key(now.secret, record.id)}
    assert lagging(then, replace(now, sessions=Map(), forgotten=dialogue.forgotten.finish())) == Lag(
        turns=((record.id, 1),)
    )


async def test_what_was_admitted_again_does_not_lag(forests: Forests, say: Say) -> None:
    """`replace=True` takes a forget back, in a snapshot too."""
    session = say("s1", "I live in Davis.", "Nice.")
    forest = forests.open()
    await forest.ingest(session)
    then = await forest.version()
    await forest.forget(session="s1")
    await forest.ingest(session, replace=True)
    assert lagging(then, await forest.version()) == Lag()


async def test_a_session_that_came_back_shorter_lags_by_its_turns(forests: Forests, say: Say) -> None:
    """Forgotten and sent again with something new, the new stays and the rest is out."""
    forest = forests.open()
    await forest.ingest(say("s1", "I live in Davis.", "Nice."))
    then = await forest.version()
    await forest.forget(session="s1")
    await forest.ingest(say("s1", "I live in Davis.", "Nice.", "I like chess."))
    assert lagging(then, await forest.version()).turns == (("s1", 0), ("s1", 1))


@pytest.mark.parametrize(
    "forget",
    [
        lambda forest: forest.forget(session="s2"),
        lambda forest: forest.forget(turns=("s1#1", "s2#0")),
    ],
)
async def test_what_has_forgotten_wants_nothing_more(forests: Forests, say: Say, forget: Deed) -> None:
    """Asked twice, as by one who resumes an erasure, the second time changes nothing."""
    then, now = await _two(
        forests,
        lambda forest: forest.ingest(say("s1", "I live in Davis.", "I like chess.", "Nice.")),
        lambda forest: forest.ingest(say("s2", "I moved to Oslo.", "I like tea.")),
        forget,
    )
    once = await _again(forests, then, now)
    assert not once.changes.empty
    again = await _again(forests, once.version, now)
    assert again.changes == Changes()
    assert again.version is once.version


async def test_versions_of_two_forests_do_not_mix(forests: Forests, say: Say) -> None:
    """Hashes under another key would tell nothing, so nothing would be forgotten."""
    await forests.open().ingest(say("s1", "I live in Davis."))
    await forests.open("bob").ingest(say("s1", "I live in Davis."))
    with pytest.raises(CorruptState, match="of another memory"):
        lagging(await forests.open().version(), await forests.open("bob").version())


async def test_a_restore_keeps_receipts_and_what_was_forgotten(forests: Forests, say: Say) -> None:
    """The number is the present one until it is sealed; the rows that were given come first."""
    then, now = await _two(
        forests,
        lambda forest: forest.ingest(say("s1", "I live in Davis.")),
        lambda forest: forest.ingest(say("s2", "I like tea.")),
    )
    rows = Changes()
    rows.drop("sessions", "s2")
    write = Restore(OpId("r"), "old")
    written = await run(restore(now, write, then, rows, "selection"), forests.models)
    assert written.changes == rows
    assert written.answers == (Restored(now.number, OpId("r"), "old", then.number),)
    assert (written.version.number, written.version.operations) == (now.number, now.operations)
    assert written.version.sessions == then.sessions
    assert not written.erases
