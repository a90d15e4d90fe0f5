"""Extraction by a model: what it is shown, what becomes of answers that are bad, cut off or missing."""

from dataclasses import replace
from typing import Any

from memforest_ray.facts.candidates import CellInput, Extraction, TurnInput
from memforest_ray.facts.extraction import ModelExtractor, prompt_text
from memforest_ray.ids import CellId
from memforest_ray.models.chat import ChatReply, ChatRequest
from memforest_ray.models.prompts.extract import EXTRACT
from memforest_ray.models.usage import Usage
from memforest_ray.testing.chat import ScriptedChat, cut, says, unusable

MINUTE_MS = 60_000
SAID_MS = 28071905 * MINUTE_MS  # Wednesday, 17 May 2023, 09:05 UTC
ANA = TurnInput(6, "Ana", "user", "How was the move?", SAID_MS)
IVO = TurnInput(7, "Ivo", "user", "Fine! We left Porto last week.\nNo lifting for me.", SAID_MS + MINUTE_MS)
CELL = CellInput(CellId("c1"), (ANA, IVO), "Europe/Lisbon", ("Ana", "Ivo"), ("Porto",))
FACT = {"t": "Ivo left Porto.", "k": "event", "n": [2], "s": [], "e": ["Porto"], "d": "home", "w": [], "c": 9}


def fact(text: str, number: int = 1) -> dict[str, Any]:
    return {**FACT, "t": text, "n": [number]}


async def extract(chat: ScriptedChat, *cells: CellInput) -> list[Extraction]:
    return await ModelExtractor(chat).extract(cells or (CELL,))


def texts(extraction: Extraction) -> list[str]:
    return [candidate.text for candidate in extraction.candidates]


def test_what_a_model_is_shown() -> None:
    """Who speaks, local times, numbered turns; further lines of a turn cannot be taken for turns."""
    assert prompt_text(CELL, CELL.turns) == (
        "People: Ana; Ivo\n"
        "Terms: Porto\n"
        "Zone: Europe/Lisbon\n"
        "1 | Wed 2023-05-17 10:05 | Ana: How was the move?\n"
        "2 | Wed 2023-05-17 10:06 | Ivo: Fine! We left Porto last week.\n"
        "  No lifting for me."
    )


def test_roles_and_unknown_times_are_shown() -> None:
    """A role that is not a user's, unless it is the speaker's name too."""
    turns = (
        TurnInput(0, "assistant", "assistant", "Hello.", None),
        TurnInput(1, "Max", "assistant", "Hi.", None),
    )
    assert prompt_text(CellInput(CellId("c"), turns, None), turns) == (
        "1 | time unknown | assistant: Hello.\n2 | time unknown | Max (assistant): Hi."
    )


async def test_all_cells_are_asked_about_with_the_same_beginning() -> None:
    """The fixed part first, and the same in every call: a server keeps it."""
    chat = ScriptedChat(says(facts=[FACT]))
    other = replace(CELL, cell_id=CellId("c2"), turns=(ANA,))
    found = await ModelExtractor(chat).for_owner("me").extract([CELL, other])
    assert [each.cell_id for each in found] == ["c1", "c2"]
    assert {(each.system, each.owner, each.urgent) for each in chat.asked} == {(EXTRACT.system, "me", False)}
    assert [each.schema for each in chat.asked] == [EXTRACT.schema, EXTRACT.schema]


async def test_a_good_answer() -> None:
    """Candidates, and what they have cost."""
    (found,) = await extract(ScriptedChat(says(facts=[FACT])))
    assert (texts(found), found.failure, found.answered) == (["Ivo left Porto."], None, True)
    assert found.usage == Usage(1, prompt_tokens=10, completion_tokens=5)
    assert found.candidates[0].turns == (7,)


async def test_no_facts_is_no_failure() -> None:
    """Small talk."""
    (found,) = await extract(ScriptedChat(says(facts=[])))
    assert (found.candidates, found.failure) == ((), None)


async def test_nothing_is_asked_about_turns_that_nobody_says() -> None:
    """System prompts and tool results are dialogue, no statements."""
    chat = ScriptedChat(says(facts=[FACT]))
    tool = TurnInput(0, "tool", "tool", '{"weather": "fine"}', None)
    (found,) = await extract(chat, replace(CELL, turns=(tool,)))
    assert (found.candidates, found.failure, found.answered, chat.asked) == ((), None, True, [])


async def test_an_answer_that_cannot_be_used_is_asked_for_once_more_in_other_words() -> None:
    """With the reason behind the text, so that the prefix stays; both calls are counted."""
    chat = ScriptedChat(unusable(), says(facts=[FACT]))
    (found,) = await extract(chat)
    assert (texts(found), found.usage.calls, found.failure) == (["Ivo left Porto."], 2, None)
    first, second = (request.text for request in chat.asked)
    assert second.startswith(first)
    assert "could not be used: the answer holds no JSON object" in second


async def test_a_wrong_field_is_asked_for_once_more() -> None:
    """The schema echoed back, then the answer."""
    chat = ScriptedChat(says(type="object", properties={}), says(facts=[FACT]))
    (found,) = await extract(chat)
    assert (texts(found), found.usage.calls) == (["Ivo left Porto."], 2)
    assert "facts: Field required" in chat.asked[1].text


async def test_twice_unusable_is_a_failed_cell() -> None:
    """Its reason is the last one; never "no facts"."""
    (found,) = await extract(ScriptedChat(unusable(), says(facts=[{"t": None}])))
    assert (found.candidates, found.failure, found.answered) == (
        (),
        "facts.0.t: Input should be a valid string",
        True,
    )
    assert (found.usage.calls, found.usage.completion_tokens) == (2, 10)


async def test_a_refusal_is_not_asked_again() -> None:
    """A content filter will not change its mind; the other cells land."""

    def answer(request: ChatRequest) -> ChatReply:
        if "lifting" in request.text:
            return unusable("the model refused to answer", repairable=False)
        return says(facts=[fact("Ana asked.")])

    chat = ScriptedChat(answer=answer)
    found = await extract(chat, CELL, replace(CELL, cell_id=CellId("c2"), turns=(ANA,)))
    assert [each.failure for each in found] == ["the model refused to answer", None]
    assert len(chat.asked) == 2


async def test_nobody_answers() -> None:
    """That is told apart from a bad answer."""
    (found,) = await extract(ScriptedChat(ChatReply(None, "no connection", answered=False)))
    assert (found.failure, found.answered) == ("no connection", False)


async def test_an_answer_cut_off_keeps_what_is_whole_and_asks_for_the_rest() -> None:
    """The first turn is done with; the second is asked about, without what was noted. Never the same bytes."""
    chat = ScriptedChat(cut(facts=[fact("A", 1), fact("B", 2)]), says(facts=[fact("C")]))
    (found,) = await extract(chat)
    assert (texts(found), found.failure, found.usage.calls) == (["A", "B", "C"], None, 2)
    assert "How was the move" not in chat.asked[1].text
    assert chat.asked[1].text.endswith("Noted already, leave out: A / B")
    assert [candidate.turns for candidate in found.candidates] == [(6,), (7,), (7,)]


async def test_an_answer_cut_off_in_its_first_turn_splits_the_cell() -> None:
    """Each half is asked about; what was noted is named to the first."""
    chat = ScriptedChat(cut(facts=[fact("A", 1)]), says(facts=[fact("B")]), says(facts=[fact("C")]))
    (found,) = await extract(chat)
    assert texts(found) == ["A", "B", "C"]
    halves = [request.text.split("\n", 3)[3] for request in chat.asked[1:]]
    assert halves == [
        "1 | Wed 2023-05-17 10:05 | Ana: How was the move?\nNoted already, leave out: A",
        "1 | Wed 2023-05-17 10:06 | Ivo: Fine! We left Porto last week.\n  No lifting for me.",
    ]


async def test_an_answer_cut_off_before_its_first_item_splits_the_cell() -> None:
    """Nothing was noted: two halves."""
    chat = ScriptedChat(cut(), says(facts=[fact("A")]), says(facts=[fact("B")]))
    (found,) = await extract(chat)
    assert (texts(found), len(chat.asked)) == (["A", "B"], 3)


async def test_a_long_turn_is_split_in_the_middle_of_its_words() -> None:
    """All of it is asked about, and nothing twice."""
    long = replace(ANA, text="word " * 200)
    chat = ScriptedChat(cut(), says(facts=[fact("A")]), says(facts=[fact("B")]))
    (found,) = await extract(chat, replace(CELL, turns=(long,)))
    said = [request.text.split("Ana: ", 1)[1] for request in chat.asked]
    assert said[1] + said[2] == said[0]
    assert texts(found) == ["A", "B"]
    assert {candidate.turns for candidate in found.candidates} == {(6,)}


async def test_a_cell_that_is_cut_off_every_time_fails_after_a_bounded_number_of_calls() -> None:
    """Eight questions at the most, all of them counted, and no two alike."""
    chat = ScriptedChat(answer=lambda request: cut())
    (found,) = await extract(
        chat, replace(CELL, turns=(replace(ANA, text="word " * 2_000), replace(IVO, text="lift " * 2_000)))
    )
    assert found.candidates == ()
    assert found.failure == "the answer was cut off each time, in 8 parts of the cell"
    assert (found.usage.calls, found.usage.completion_tokens) == (8, 40)


async def test_a_short_turn_with_no_end_of_answers_fails_at_once() -> None:
    """There is nothing left to split."""
    chat = ScriptedChat(cut())
    (found,) = await extract(chat, replace(CELL, turns=(ANA,)))
    assert (found.failure, found.usage.calls) == ("the answer was cut off at its limit", 1)


async def test_no_two_questions_about_a_cell_are_the_same() -> None:
    """Whatever is cut off, and wherever."""
    chat = ScriptedChat(answer=lambda request: cut(facts=[fact(f"F{len(chat.asked)}", 1)]))
    await extract(chat, replace(CELL, turns=(replace(ANA, text="word " * 500), IVO)))
    asked = [request.text for request in chat.asked]
    assert len(set(asked)) == len(asked) <= 8
