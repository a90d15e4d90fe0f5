"""Questions to a driver with a chat model: what it is shown, what becomes of its words, and what happens without it."""

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest

from memforest_ray.errors import ClusterUnavailable, LLMUnavailable, MemForestError, Overloaded
from memforest_ray.facts.rules import RuleExtractor
from memforest_ray.facts.sessions import Session, Turn
from memforest_ray.local import questions
from memforest_ray.local.effects import Models
from memforest_ray.models.chat import ChatRequest
from memforest_ray.query.request import QueryRequest
from memforest_ray.query.result import Answer, Result
from memforest_ray.testing.answering import AnsweringChat, silent
from memforest_ray.testing.forests import Forests, TestForest
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.trees.summaries import SelectionSummarizer

LIFE = (
    ("s1", "2019-03-02", "I live in Graz."),
    ("s2", "2020-05-01", "I moved to Turin in April 2020."),
    ("s3", "2022-02-10", "I moved to Porto last month."),
    ("s4", "2023-09-01", "My vault word is swordfish."),
    ("s5", "2021-06-06", "I keep bees on the roof."),
)


async def _forest(chat: AnsweringChat | None) -> TestForest:
    models = Models(RuleExtractor(), SelectionSummarizer(), HashEmbedder(), chat=chat)
    forest = Forests(models=models).open()
    for name, time, text in LIFE:
        await forest.ingest(Session(name, [Turn(text, "Lena")], time=time))
    return forest


async def _ask(forest: TestForest, text: str, on_text: Any = None, **options: Any) -> Answer:
    more = {} if on_text is None else {"on_text": on_text}
    answer: Answer = await forest.read("ask", request=QueryRequest.of(text, **options), **more)
    return answer


def _number_of(request: ChatRequest, part: str) -> int:
    """Under which number the evidence that holds `part` is shown."""
    found = [
        int(number) for number, line in re.findall(r"^\[(\d+)\] (.*)$", request.text, re.MULTILINE) if part in line
    ]
    return found[0]


@pytest.fixture
def words() -> list[str]:
    """Pieces of an answer as they come."""
    return []


async def test_a_model_answers_from_evidence_and_cites_it(words: list[str]) -> None:
    """Numbers become ids, in the text, in the citations and in what is shown meanwhile."""
    chat = AnsweringChat(lambda request: f"Lena lived in Turin [{_number_of(request, 'Turin')}].")
    forest = await _forest(chat)
    answer = await _ask(forest, "Where did Lena live before moving to Porto?")
    assert answer
    assert answer.result is not None
    [turin] = [hit for hit in answer.result if "Turin" in hit.text and hit.kind == "fact"]
    assert answer.citations == (turin.fact_id,)
    assert answer.text == f"Lena lived in Turin [{turin.fact_id}]."
    assert answer.result.trace.usage.calls == 1
    await _ask(forest, "Where did Lena live before moving to Porto?", words.append)
    assert "".join(words) == answer.text
    assert len(words) > 5


async def test_the_evidence_has_both_times_and_the_question_its_own() -> None:
    """When it happened, when it was said, when it is asked, and how the question was read."""
    chat = AnsweringChat(lambda request: "NOT IN MEMORY")
    await _ask(await _forest(chat), "Where did Lena live before moving to Porto?", asked="2024-01-02")
    [request] = chat.asked
    assert request.role == "answer"
    assert request.urgent
    assert "Lena moved to Turin in April 2020. (time: April 2020; said 1 May 2020)" in request.text
    assert "Asked: 2 January 2024" in request.text
    assert "read as: before moving to Porto" in request.text


@pytest.mark.parametrize("said", ["NOT IN MEMORY", "Not in memory.", ' "NOT IN MEMORY" [1]', "**NOT IN MEMORY**"])
async def test_a_refusal_is_an_answer_that_is_falsy(said: str, words: list[str]) -> None:
    """In words of our own, and nothing of the model's is shown."""
    answer = await _ask(await _forest(AnsweringChat(lambda _: said)), "What is Lena's vault made of?")
    assert not answer
    assert answer.text == "Not in memory: what is remembered does not hold the answer."
    assert answer.citations == ()


async def test_a_refusal_is_not_streamed_as_text(words: list[str]) -> None:
    """The listener gets the sentence that the answer has."""
    chat = AnsweringChat(lambda _: "NOT IN MEMORY")
    answer = await _ask(await _forest(chat), "What is Lena's vault made of?", words.append)
    assert "".join(words) == answer.text


@pytest.mark.parametrize("said", ["Lena lives in Oslo.", "Lena lives in Oslo [99].", "Oslo [0]"])
async def test_an_answer_that_names_no_evidence_is_refused(said: str) -> None:
    """What rests on nothing that was shown is not told."""
    answer = await _ask(await _forest(AnsweringChat(lambda _: said)), "Where does Lena live?")
    assert not answer
    assert answer.text.startswith("Not in memory: the model's answer cited no evidence")


async def test_several_marks_are_read(words: list[str]) -> None:
    """[1][2] and [1, 2]; a number of nothing that was shown goes."""
    chat = AnsweringChat(lambda _: "Porto [1], [2; 99] and [1][3] or [so].")
    answer = await _ask(await _forest(chat), "Where does Lena live?", words.append, k=3)
    assert answer.result is not None
    ids = [hit.fact_id or ", ".join(hit.turn_ids) for hit in answer.result]
    assert answer.text == f"Porto [{ids[0]}], [{ids[1]}] and [{ids[0]}][{ids[2]}] or [so]."
    assert answer.citations == tuple(ids)
    assert "".join(words) == answer.text


async def test_the_evidence_speaks_where_the_model_does_not(words: list[str]) -> None:
    """An outage is no reason to know nothing; the trace says so."""
    answer = await _ask(await _forest(AnsweringChat(silent)), "Where does Lena live?", words.append)
    plain = await _ask(await _forest(None), "Where does Lena live?")
    assert answer.text == plain.text == "".join(words)
    assert answer.text.startswith("Lena moved to Porto")
    assert answer.result is not None
    assert answer.result.trace.fallbacks == (
        "the model did not answer (the server is down): the evidence is quoted instead",
    )


@pytest.mark.parametrize("error", [LLMUnavailable("down"), ClusterUnavailable("lost"), Overloaded("busy")])
@pytest.mark.parametrize("listening", [False, True])
async def test_a_model_out_of_reach_is_no_error(error: MemForestError, listening: bool, words: list[str]) -> None:
    """Whatever a pool or an endpoint raises: the question is answered without it."""

    class Lost(AnsweringChat):
        async def chat(self, requests: Any) -> Any:
            raise error

        async def stream(self, request: Any) -> AsyncIterator[str]:
            for piece in ("",):
                yield piece
                raise error

    forest = await _forest(Lost(silent))
    answer = await _ask(forest, "Where does Lena live?", words.append if listening else None, mode="llm", rerank=True)
    assert answer.text.startswith("Lena moved to Porto")
    assert answer.result is not None
    assert [str(error) in note for note in answer.result.trace.fallbacks] == [True, True, True]


@pytest.mark.parametrize("listening", [False, True])
async def test_what_questions_cost_is_counted(listening: bool, words: list[str]) -> None:
    """By stage, beside what writes cost, streamed or not; no write seems to wait for it."""

    def script(request: ChatRequest) -> dict[str, Any] | str:
        return "Porto [1]." if request.role == "answer" else {"best": [{"n": 1, "g": 3}]}

    chat = AnsweringChat(script)
    forest = await _forest(chat)
    before = (await forest.read("stats"))["models"]
    await _ask(forest, "Where does Lena live?", words.append if listening else None, mode="llm")
    after = (await forest.read("stats"))["models"]
    roles = [request.role for request in chat.asked]
    tokens = {role: sum(len(each.text) // 4 for each in chat.asked if each.role == role) for role in roles}
    assert set(roles) == {"rank", "answer"}
    assert {role: after["usage"][role]["calls"] for role in tokens} == {role: roles.count(role) for role in tokens}
    assert {role: after["usage"][role]["prompt_tokens"] for role in tokens} == tokens
    assert after["usage"]["embed"]["calls"] == before["usage"]["embed"]["calls"] + 1
    assert after["busy_s"] == before["busy_s"]


async def test_an_answer_that_breaks_off_has_been_a_call() -> None:
    """As much as is known of it; so has one that nobody gave."""
    forest = await _forest(AnsweringChat(silent))
    await _ask(forest, "Where does Lena live?", print)
    assert (await forest.read("stats"))["models"]["usage"]["answer"]["calls"] == 1


async def test_an_empty_answer_is_none() -> None:
    """As an outage."""
    answer = await _ask(await _forest(AnsweringChat(lambda _: "  ")), "Where does Lena live?")
    assert answer.text.startswith("Lena moved to Porto")
    assert answer.result is not None
    assert "an empty answer" in answer.result.trace.fallbacks[0]


async def test_no_model_is_asked_for_nothing() -> None:
    """Neither an empty memory nor a time with nothing in it costs a call."""
    chat = AnsweringChat(lambda _: "Something [1].")
    models = Models(RuleExtractor(), SelectionSummarizer(), HashEmbedder(), chat=chat)
    empty = Forests(models=models).open()
    assert not await _ask(empty, "Where does Lena live?")
    forest = await _forest(chat)
    nothing = await _ask(forest, "What happened in 1999?")
    assert nothing.text == "Not in memory: nothing is remembered for 1999-01-01 to 1999-12-31."
    assert chat.asked == []


@pytest.mark.parametrize("mode", ["flat", "root", "embed", "llm", "planner", "planner+embed"])
async def test_a_secret_of_later_is_shown_to_nobody(mode: str) -> None:
    """As of then: no plan, no ranking and no answer is asked with it."""

    def script(request: ChatRequest) -> dict[str, Any] | str:
        numbers = range(1, 97)
        if request.role == "answer":
            return "I know [1]."
        return {"look": [{"n": n, "for": "a word"} for n in numbers], "best": [{"n": n, "g": 2} for n in numbers]}

    chat = AnsweringChat(script)
    forest = await _forest(chat)
    answer = await _ask(forest, "What is Lena's vault word?", mode=mode, as_of="2023-06-01", rerank=True, k=50)
    assert chat.asked
    for told in (chat.texts, str(answer.to_json()), answer.text):
        assert "swordfish" not in told
        assert "2023" not in told.replace("1 June 2023", "")  # when it is asked
    today = await _ask(forest, "What is Lena's vault word?", mode=mode)
    assert today.result is not None
    assert "swordfish" in today.result.hits[0].text


async def test_a_query_in_a_guided_mode_asks_the_model() -> None:
    """Through the driver as through the steps."""
    chat = AnsweringChat(lambda request: {"best": [{"n": 1, "g": 3}]})
    forest = await _forest(chat)
    request = QueryRequest.of("Where does Lena live?", mode="llm")
    result: Result = await forest.read("query", request=request)
    assert {request.role for request in chat.asked} == {"rank"}
    assert result.trace.usage.calls == len(chat.asked)


async def test_a_version_is_held_through_the_model_calls() -> None:
    """What is written while a model thinks is not in the answer."""
    forest: TestForest | None = None

    class Slow(AnsweringChat):
        async def chat(self, requests: Any) -> Any:
            assert forest is not None
            await forest.ingest(Session("late", [Turn("I moved to Malmo today.", "Lena")], time="2024-02-02"))
            return self.reply(requests)

    chat = Slow(lambda request: {"best": [{"n": n, "g": 2} for n in range(1, 97)]})
    forest = await _forest(chat)
    before = (await forest.version()).number
    result: Result = await forest.read("query", request=QueryRequest.of("Where does Lena live?", mode="llm", k=50))
    assert result.version == before
    assert "Malmo" not in str(result.to_json()) + chat.texts
    assert (await forest.version()).number > before


async def test_a_large_memory_is_searched_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a thread, step by step, with the same result."""
    chat = AnsweringChat(lambda request: {"best": [{"n": 1, "g": 3}]} if request.role == "rank" else "Porto [1].")
    forest = await _forest(chat)
    request = QueryRequest.of("Where did Lena live before moving to Porto?", mode="llm")
    inline = await forest.read("ask", request=request)
    monkeypatch.setattr(questions, "INLINE_ROWS_MAX", 0)
    assert await forest.read("ask", request=request) == inline


async def test_without_a_model_the_text_comes_at_once(words: list[str]) -> None:
    """In one piece."""
    answer = await _ask(await _forest(None), "Where does Lena live?", words.append)
    assert words == [answer.text]
