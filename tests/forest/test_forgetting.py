"""What was forgotten is nowhere, stays gone, and comes back only where somebody asks for it."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from memforest_ray.errors import InvalidInput, NotFound
from memforest_ray.facts.sessions import Session, Turn
from memforest_ray.forest.intents import Forgotten
from memforest_ray.ids import SessionId
from memforest_ray.testing.forests import Forests, check_forest, check_same, decided, residue

Say = Callable[..., Session]
SECRET = "HERON-7"


async def test_a_session_leaves_no_residue(forests: Forests, say: Say) -> None:
    """The secret of a forgotten session is in no object and not in the live version; the rest is untouched."""
    forest = forests.open()
    await forest.ingest(say("s1", f"My PIN word is {SECRET}.", "Got it.", f"Again: {SECRET}, Bob."))
    await forest.ingest(say("s2", "I work with Ana.", "Nice."))
    assert "live" in await residue(SECRET, forests.store, await forest.version())
    report = await forest.forget(session="s1")
    version = await forest.version()
    assert await residue(SECRET, forests.store, version) == []
    assert (report.turns, "s1" in version.sessions) == (3, False)
    assert decided(version) == decided(
        await Forests().settled(lambda other: other.ingest(say("s2", "I work with Ana.", "Nice.")))
    )
    await forest.driver.close()
    check_same(replace(version, number=0), replace(await forests.open().version(), number=0))


async def test_turns_leave_no_residue(forests: Forests, say: Say) -> None:
    """One turn of a cell goes, in text, facts, trees and speaker; the turn beside it stays."""
    session = Session(
        "s1", [Turn(f"My PIN word is {SECRET}.", "Zoltan"), Turn("I live in Davis.", "Ann")], "2023-05-08"
    )
    forest = forests.open()
    await forest.ingest(session)
    report = await forest.forget(turns=["s1#0"])
    version = await forest.version()
    check_forest(version)
    assert await residue(SECRET, forests.store, version) == []
    assert await residue("Zoltan", forests.store, version) == []
    assert (report.turns, [fact.text for fact in version.facts]) == (1, ["Ann lives in Davis."])
    again = await forest.ingest(session)
    assert again.duplicate
    assert await residue(SECRET, forests.store, await forest.version()) == []


async def test_what_later_cells_took_from_a_forgotten_turn_goes_too(forests: Forests) -> None:
    """A later "you" was understood through the speaker of a turn that is forgotten: it is read anew."""
    turns = [Turn("Hello there, it is me.", "Zoltan"), Turn("Hi.", "Ann")]
    turns += [Turn("I visited you in Oslo last week.", "Ann"), Turn("I like chess.", "Ann")]
    forest = forests.open()
    await forest.ingest(Session("s1", turns, "2023-05-08"))
    assert any("Zoltan" in fact.entities for fact in (await forest.version()).facts if "Oslo" in fact.text)
    await forest.forget(turns=["s1#0"])
    version = await forest.version()
    check_forest(version)
    assert await residue("Zoltan", forests.store, version) == []
    check_same(version, await forests.open().version())


async def test_a_fact_and_its_dialogue_leave_no_residue(forests: Forests, say: Say) -> None:
    """The fact goes with every turn that says it, in both sessions."""
    forest = forests.open()
    await forest.ingest(say("s1", f"My PIN word is {SECRET}.", "Got it."))
    await forest.ingest(say("s2", f"My PIN word is {SECRET}.", "I know.", time="2023-06-01"))
    fact = next(fact for fact in (await forest.version()).facts if SECRET in fact.text)
    report = await forest.forget(fact=fact.id, with_dialogue=True)
    version = await forest.version()
    assert await residue(SECRET, forests.store, version) == []
    assert (report.turns, report.facts, report.still_in) == (2, (fact.id,), ())


async def test_a_fact_without_its_dialogue_is_withheld(forests: Forests, say: Say) -> None:
    """Neither repair nor another process nor the same words said anew show it; the report names its turns."""
    forest = forests.open()
    await forest.ingest(say("s1", "I live in Davis.", "Nice."))
    fact = next(fact for fact in (await forest.version()).facts if "Davis" in fact.text)
    report = await forest.forget(fact=fact.id)
    assert (report.turns, report.facts, report.still_in) == (0, (fact.id,), ("s1#0",))
    await forest.repair()
    await forest.ingest(say("s2", "I live in Davis.", "I heard.", time="2024-01-01"))
    version = await forests.open().version()
    check_forest(version)
    assert [fact.text for fact in version.facts if "Davis" in fact.text] == []
    with pytest.raises(NotFound):
        await forest.forget(fact=fact.id)


async def test_a_withheld_fact_stays_so_when_its_session_is_replaced(forests: Forests, say: Say) -> None:
    """replace=True admits forgotten turns and sessions again, never a forgotten fact: only its dialogue."""
    session = say("s1", "I live in Davis.", "Nice.")
    forest = forests.open()
    await forest.ingest(session)
    fact = next(fact for fact in (await forest.version()).facts if "Davis" in fact.text)
    await forest.forget(fact=fact.id, with_dialogue=True)
    assert (await forest.ingest(session)).duplicate
    receipt = await forest.ingest(session, replace=True)
    version = await forest.version()
    check_forest(version)
    assert not receipt.duplicate
    assert version.sessions[SessionId(session.id)].turns[0].text == "I live in Davis."
    assert [fact.text for fact in version.facts if "Davis" in fact.text] == []


async def test_a_forgotten_session_comes_back_only_by_replacing(forests: Forests, say: Say) -> None:
    """Sent again, also in part or longer, what was forgotten stays out; replace=True lets it in."""
    session = say("s1", "I live in Davis.", "Nice.", "I like chess.")
    forest = forests.open()
    await forest.ingest(session)
    before = decided(await forest.version())
    await forest.forget(session="s1")
    receipt = await forest.ingest(session)
    assert (receipt.duplicate, len(receipt.notes)) == (True, 1)
    assert (await forest.ingest(replace(session, turns=session.turns[1:]))).duplicate
    longer = replace(session, turns=[*session.turns, Turn("I moved to Oslo.", "Ann")])
    await forest.ingest(longer)
    version = await forest.version()
    check_forest(version)
    assert [turn.text for turn in version.sessions[SessionId(session.id)].turns] == ["", "", "", "I moved to Oslo."]
    assert not (await forest.ingest(session, replace=True)).duplicate
    assert decided(await forest.version()) == before


async def test_a_session_forgotten_twice_forgets_both(forests: Forests, say: Say) -> None:
    """Turns forgotten in a former life of a session id stay forgotten after a later one was forgotten too."""
    first, second = say("s1", "I live in Davis.", "Nice."), say("s1", "I like chess.", "Me too.")
    forest = forests.open()
    for session in (first, second):
        await forest.ingest(session)
        await forest.forget(session="s1")
    assert [(await forest.ingest(session)).duplicate for session in (first, second)] == [True, True]
    assert len((await forest.version()).sessions) == 0


async def test_a_shared_fact_outlives_one_of_its_sessions(forests: Forests, say: Say) -> None:
    """Two sessions say the same, one adds a secret detail: forgetting that one keeps the fact and loses the detail."""
    forest = forests.open()
    await forest.ingest(say("s1", f"I live in Davis. My locker is {SECRET}.", "Nice."))
    await forest.ingest(say("s2", "I live in Davis.", "Right.", time="2023-07-01"))
    await forest.forget(session="s1")
    version = await forest.version()
    check_forest(version)
    assert [fact.text for fact in version.facts if "Davis" in fact.text] == ["Bob lives in Davis."]
    assert await residue(SECRET, forests.store, version) == []


async def test_a_forget_waits_for_the_writes_before_it(forests: Forests, say: Say) -> None:
    """Asked for while the session is still being read, it forgets that session all the same."""
    forest = forests.open()
    session = say("s1", f"My PIN word is {SECRET}.", "Got it.")
    _, report = await asyncio.gather(forest.ingest(session), forest.forget(session="s1"))
    assert isinstance(report, Forgotten)
    assert await residue(SECRET, forests.store, await forest.version()) == []


async def test_forgetting_again_or_the_unknown(forests: Forests, say: Say) -> None:
    """What is unknown is NotFound, a call that names nothing or two things InvalidInput; nothing changes."""
    forest = forests.open()
    await forest.ingest(say("s1", "I live in Davis.", "Nice."))
    await forest.forget(session="s1")
    before = await forest.version()
    unknown: list[dict[str, Any]] = [{"session": "s1"}, {"turns": ("s1#0",)}, {"fact": "f" + "0" * 20}]
    for what in unknown:
        with pytest.raises(NotFound):
            await forest.forget(**what)
    unclear: list[dict[str, Any]] = [{}, {"session": "s1", "fact": "f1"}, {"turns": ()}]
    for what in unclear:
        with pytest.raises(InvalidInput):
            await forest.forget(**what)
    assert await forest.version() is before


async def test_a_turn_id_of_several_sessions_must_be_told_apart(forests: Forests) -> None:
    """forget(turns=...) refuses an id that is found twice, unless the session is named."""
    forest = forests.open()
    for name in ("s1", "s2"):
        await forest.ingest(Session(name, [Turn("I live in Davis.", "Bob", id="m1")], "2023-05-08"))
    with pytest.raises(InvalidInput):
        await forest.forget(turns=("m1",))
    report = await forest.forget(turns=("m1",), session="s2")
    assert report.turns == 1
    assert [turn.hole is None for turn in (await forest.version()).sessions[SessionId("s1")].turns] == [True]


async def test_history_is_kept_unless_it_is_forgotten(forests: Forests, say: Say) -> None:
    """After a move both homes are there, in order; after a forget only the other."""
    forest = forests.open()
    await forest.ingest(say("s1", "I live in Davis.", "Nice.", time="2019-03-01"))
    await forest.ingest(say("s2", "I live in Miami.", "Warm!", time="2021-03-01"))
    homes = [fact.value for fact in (await forest.version()).facts.in_order() if fact.attribute == "residence"]
    assert homes == ["Davis", "Miami"]
    await forest.forget(session="s1")
    assert [fact.value for fact in (await forest.version()).facts.in_order() if fact.attribute == "residence"] == [
        "Miami"
    ]
