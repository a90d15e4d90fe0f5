"""Every shape of input that people send, from the door to the store and back."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from memforest_ray.errors import InvalidInput
from memforest_ray.facts.cells import cell_text
from memforest_ray.facts.sessions import Session, Turn
from memforest_ray.ids import SessionId
from memforest_ray.query.request import QueryRequest
from memforest_ray.testing.forests import Forests, check_forest, check_same

Say = Callable[..., Session]

TEXTS = {
    "empty": "",
    "blank": " \n\t ",
    "one word": "Sure.",
    "emoji": "👍",
    "joined emoji": "👨‍👩‍👧‍👦 " * 3,
    "200 lines": "\n".join(f"Line {number}: I like pottery." for number in range(200)),
    "400,000 characters": "I like long walks along the river. " * 11_500,
    "400,000 characters without a space": "x" * 400_000,
    "NUL": "hello \0 world",
    "lone surrogate": "hello \ud800 world",
    "zero-width joiners": "hel\u200dlo wor\u200cld",
    "right to left": "שלום עולם, אני גר בחיפה",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
async def test_any_text_is_kept_whole(forests: Forests, text: str) -> None:
    """Stored without a loss (a lone surrogate as U+FFFD), in cells that are not too long, and read back the same."""
    turns = [Turn(text, "Bob"), Turn("I live in Davis.", "Ann")]
    forest = forests.open()
    receipt = await forest.ingest(Session("s1", turns, "2023-05-08"))
    version = await forest.version()
    check_forest(version)
    check_same(version, await forests.open().version())
    session = version.sessions[SessionId("s1")]
    assert session.turns[0].text == text.replace("\ud800", "\ufffd")
    spans = [span for cell in version.session_cells[session.id] for span in version.cells[cell].spans if span.turn == 0]
    assert "".join(session.turns[0].text[span.start : span.end] for span in spans) == session.turns[0].text
    assert max(len(cell_text(session, version.cells[cell])) for cell in version.cells) < 9_000
    assert receipt.failed_cells == {}
    assert any("Davis" in fact.text for fact in version.facts)
    assert (await forest.ingest(Session("s1", turns, "2023-05-08"))).duplicate


async def test_a_session_of_5000_turns(forests: Forests) -> None:
    """Accepted, one cell for each two turns; one more turn touches one cell."""
    turns = [Turn(f"I read page {number} of the book.", ("Bob", "Ann")[number % 2]) for number in range(5_000)]
    forest = forests.open()
    assert (await forest.ingest(Session("s1", turns[:-1], "2023-05-08"))).cells == 2_500
    assert (await forest.ingest(Session("s1", turns, "2023-05-08"))).cells == 1
    assert len((await forest.version()).session_cells[SessionId("s1")]) == 2_500


@pytest.mark.parametrize("facts", [0, 1, 2])
async def test_users_with_hardly_a_fact(forests: Forests, say: Say, facts: int) -> None:
    """Every verb answers, with k far above what there is, and says why nothing was found."""
    forest = forests.open()
    texts = ["I live in Davis.", "I like chess."][:facts]
    if texts:
        await forest.ingest(say("s1", *texts))
    for text in ("Where does Bob live?", "👍", "qzxw 1234 ~~~"):
        for mode in ("flat", "root", "embed"):
            result = await forest.read("query", request=QueryRequest(text, k=100, mode=mode))
            assert len({hit.fact_id for hit in result if hit.fact_id}) <= facts
    told = await forest.read("ask", request=QueryRequest("Where does Bob live?"))
    assert (told.found, "Davis" in told.text) == (bool(facts), bool(facts))
    assert (await forest.read("stats"))["facts"] == facts
    assert bool(await forest.read("trees")) == bool(facts)


async def test_a_repeated_prompt_and_tool_results_are_no_facts(forests: Forests) -> None:
    """Kept and searchable with their roles, but nothing is concluded from them."""
    prompt = "You are a careful assistant who lives in Davis. " * 60
    turns = [Turn(prompt, role="system"), Turn("I like chess.", "Bob"), Turn('{"city": "Oslo"}', role="tool")]
    forest = forests.open()
    for name in ("s1", "s2"):
        await forest.ingest(Session(name, turns, "2023-05-08"))
    version = await forest.version()
    assert [fact.text for fact in version.facts] == ["Bob likes chess."]
    assert [turn.role for turn in version.sessions[SessionId("s2")].turns] == ["system", "user", "tool"]


async def test_names_of_any_script_have_trees_of_their_own(forests: Forests) -> None:
    """C, C++ and C# are three; composed and decomposed José is one; 小梅 and मीरा are found."""
    speakers = ["C", "C++", "C#", "Jos\u00e9", "Jose\u0301", "小梅", "मीरा", "O'Neil"]
    forest = forests.open()
    await forest.ingest(Session("s1", [Turn("I like chess.", name) for name in speakers], "2023-05-08"))
    version = await forest.version()
    check_forest(version)
    scopes = {str(scope) for scope in version.trees if scope.startswith("entity:")}
    assert scopes == {f"entity:{name}" for name in ("c", "c++", "c#", "jos\u00e9", "小梅", "मीरा", "o'neil")}


@pytest.mark.parametrize("user", ["../x", "..", "/etc", "a%2Fb", "a\\b", "a\0b", "x" * 300, "dot.", "👍", "a", "a/1"])
async def test_any_user_id_is_safe(forests: Forests, say: Say, user: str) -> None:
    """Each has a memory of its own and is listed as it is written."""
    await forests.open("neighbour").ingest(say("s1", "I like chess."))
    await forests.open(user).ingest(say("s1", "I live in Davis."))
    assert {fact.text for fact in (await forests.open(user).version()).facts} == {"Bob lives in Davis."}
    assert set(await forests.runtime().users("")) == {"neighbour", user}


@pytest.mark.parametrize("name", ["../x", "a/b", "session:1", "with space", "会话", "x" * 300])
async def test_any_session_id_is_safe(forests: Forests, say: Say, name: str) -> None:
    """It names the session, its tree and its turns."""
    forest = forests.open()
    await forest.ingest(say(name, "I live in Davis.", "Nice."))
    check_same(await forest.version(), await forests.open().version())
    assert (await forest.read("tree", scope=f"session:{name}"))["leaves"] == 1
    assert (await forest.forget(turns=(f"{name}#1",))).turns == 1


async def test_a_session_without_turns_is_refused(forests: Forests, say: Say) -> None:
    """So is a turn id that is given twice; nothing is written."""
    forest = forests.open()
    twice = replace(say("s1"), turns=[Turn("Hi.", id="m1"), Turn("Ho.", id="m1")])
    for session in (say("s1"), twice):
        with pytest.raises(InvalidInput):
            await forest.ingest(session)
    assert (await forest.version()).number == 0
