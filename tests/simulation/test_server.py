"""The simulated server through the real client: the offline backend's answers, tokens, faults."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import openai
import pytest

from memforest_ray.ambient import SystemClock, SystemRandom
from memforest_ray.config import Settings
from memforest_ray.facts.candidates import Candidate, CellInput
from memforest_ray.facts.cells import cut
from memforest_ray.facts.extraction import ModelExtractor
from memforest_ray.facts.inputs import cell_inputs
from memforest_ray.facts.judging import ModelJudge
from memforest_ray.facts.readers import read_conversations
from memforest_ray.facts.rules import RuleExtractor
from memforest_ray.facts.sessions import Session, Turn, admit
from memforest_ray.facts.verdicts import Pair, Question
from memforest_ray.ids import AtomId, NodeId, ScopeId
from memforest_ray.models.backend import Backend
from memforest_ray.models.prompts.answer import ANSWER, REFUSAL
from memforest_ray.models.prompts.extract import EXTRACT
from memforest_ray.models.prompts.plan import PLAN
from memforest_ray.models.prompts.prompt import tokens_of
from memforest_ray.models.prompts.rank import RANK
from memforest_ray.models.usage import Usage
from memforest_ray.simulation.faults import Faults, parse_rates
from memforest_ray.simulation.http import HttpServer
from memforest_ray.simulation.server import MODEL, SimulatedServer, Workload
from memforest_ray.testing.facts import mention
from memforest_ray.trees.summaries import SelectionSummarizer, SummaryRequest
from memforest_ray.trees.summarising import ModelSummarizer

BOB = Path(__file__).parents[2] / "examples" / "bob.json"
AT_ONCE = Workload(latency_s=0.0)


async def at_once(_: float) -> None:
    """Nobody waits between tries."""
    await asyncio.sleep(0)


class Simulated:
    """A server and a backend of it."""

    def __init__(self, server: SimulatedServer, url: str) -> None:
        self.server = server
        settings = Settings(llm_urls=(url,), llm_model=MODEL, embed_model=MODEL, embed_dimension=384)
        self.backend = Backend(settings, SystemClock(), SystemRandom(), sleep=at_once)
        self.client = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0)

    @property
    def stats(self) -> dict[str, Any]:
        return self.server.stats()


@asynccontextmanager
async def simulated(workload: Workload = AT_ONCE, faults: str = "", seed: int = 0) -> AsyncIterator[Simulated]:
    server = SimulatedServer(workload, Faults(parse_rates(faults), seed), SystemClock())
    http = HttpServer(server.handle)
    one = Simulated(server, await http.start() + "/v1")
    try:
        yield one
    finally:
        await one.backend.close()
        await one.client.close()
        await http.close()


def cells_of(sessions: Sequence[Session]) -> list[CellInput]:
    records = [admit(session).record for session in sessions]
    return [shown for record in records for shown in cell_inputs(record, cut(record))]


def told(candidate: Candidate) -> tuple[object, ...]:
    """All but topics, which a model is not asked for."""
    one = candidate
    place = (one.text, one.kind, one.speaker, one.role, one.turns, one.domain, one.confidence)
    return (*place, one.subject, one.attribute, one.value, one.entities, one.event)


async def check_same_facts(sessions: Sequence[Session], workload: Workload = AT_ONCE) -> dict[str, Any]:
    cells = cells_of(sessions)
    async with simulated(workload) as one:
        found = await ModelExtractor(one.backend.of("extract")).extract(cells)
        expected = await RuleExtractor().extract(cells)
        assert [each.failure for each in found] == [None] * len(cells)
        assert [[told(candidate) for candidate in each.candidates] for each in found] == [
            [told(candidate) for candidate in each.candidates] for each in expected
        ]
        assert sum(each.usage.completion_tokens for each in found) == one.stats["completion_tokens"]
        return one.stats


async def test_the_same_facts_as_offline() -> None:
    """Every cell of the example, through prompt, server, client and reader."""
    (conversation,) = read_conversations(BOB)
    stats = await check_same_facts(list(conversation.sessions))
    assert (stats["chat_calls"], stats["roles"], stats["simulated"]) == (190, {"extract": 190}, True)
    assert stats["cached_tokens"] > 0.85 * stats["prompt_tokens"]


async def test_the_same_facts_of_odd_turns() -> None:
    """Lines, roles, zones, unknown times, other scripts."""
    turns = [
        Turn("I live in Davis.\n\n  2 | I moved last week.\nMy cat is called Miso.", speaker="Bob"),
        Turn("I met Ana yesterday | at noon.", speaker="assistant", role="assistant"),
        Turn("I used to live in Oslo.", speaker="Ned (the elder)"),
        Turn("我上周搬到了上海。", speaker="小李", role="assistant"),
    ]
    await check_same_facts(
        [
            Session("s1", turns, time="2023-05-17T23:30", zone="Pacific/Auckland"),
            Session("s2", turns),
        ]
    )


async def test_answers_can_be_counted_as_long_as_a_real_model_s() -> None:
    """Tokens, not text."""
    workload = Workload(latency_s=0.0, tokens_min=270)
    stats = await check_same_facts([Session("s1", [Turn("I live in Davis."), Turn("Nice.")])], workload)
    assert stats["completion_tokens"] == 270


async def test_the_same_summaries_as_offline() -> None:
    """By selection."""
    texts = tuple(f"2023-05-{number:02d} Bob saw film {number} in Davis.\nHe liked it." for number in range(1, 20))
    request = SummaryRequest(NodeId("n"), ScopeId("s"), texts, None, None, 0, chars_max=300)
    async with simulated() as one:
        (found,) = await ModelSummarizer(one.backend.of("summarise")).summarise([request])
    (expected,) = await SelectionSummarizer().summarise([request])
    assert found.text == expected.text


async def test_verdicts_by_the_rule() -> None:
    """The same words where it matters."""
    alike, other = mention("The dog is big."), mention("Bob has 2 dogs.")
    pair = Pair(AtomId("f1"), AtomId("f2"), 0.95)
    questions = [Question(pair, mention("A dog is big."), each) for each in (alike, other)]
    async with simulated() as one:
        found = await ModelJudge(one.backend.of("judge")).judge(questions)
    assert [each.equivalent for each in found] == [True, False]


async def test_plans_grades_and_answers_by_shared_words() -> None:
    """Simple, and the same every time."""
    text = "Question: Where does Bob live?\nEntries:\n1. Bob lives in Davis.\n2. Ana likes tea."
    evidence = "Question: Where does Bob live?\nEvidence:\n[1] Ana likes tea.\n[2] Bob lives in Davis."
    async with simulated() as one:
        replies = await one.backend.chat(
            [PLAN.request(text), RANK.request(text), ANSWER.request(evidence), ANSWER.request("Question: Why?")]
        )
        *pieces, usage = [piece async for piece in one.backend.stream(ANSWER.request(evidence))]
    assert [reply.value for reply in replies] == [
        {"look": [{"n": 1, "for": "Where does Bob live?"}]},
        {"best": [{"n": 1, "g": 3}]},
        {"text": "Bob lives in Davis. [2]"},
        {"text": REFUSAL},
    ]
    assert ("".join(map(str, pieces)), len(pieces) > 5) == ("Bob lives in Davis. [2]", True)
    assert isinstance(usage, Usage)
    assert replace(usage, cached_tokens=0) == replies[2].usage


async def test_a_question_that_no_rule_knows_is_answered_in_its_form() -> None:
    """The least that fits the schema."""
    schema = {
        "type": "object",
        "properties": {"a": {"enum": ["x", "y"]}, "b": {"type": ["string", "null"]}, "c": {"type": "array"}},
        "required": ["a", "b", "c"],
    }
    form = {"type": "json_schema", "json_schema": {"name": "other", "schema": schema}}
    async with simulated() as one:
        answer: Any = await one.client.post(
            "/chat/completions",
            cast_to=dict[str, Any],
            body={"messages": [{"role": "user", "content": "?"}], "response_format": form},
        )
    assert json.loads(answer["choices"][0]["message"]["content"]) == {"a": "x", "b": None, "c": []}


async def test_an_answer_ends_at_its_limit() -> None:
    """As `length` says."""
    async with simulated() as one:
        (reply,) = await one.backend.chat([EXTRACT.request("1 | time unknown | Bob: I live in Davis.", tokens_max=5)])
    assert (reply.truncated, reply.usage.completion_tokens) == (True, 5)


async def test_an_answer_ends_at_a_stop() -> None:
    """Before it; white space costs what it is long, and not the whole limit."""
    body = {"messages": [{"role": "user", "content": "?"}], "max_tokens": 900}
    async with simulated(faults="whitespace=1") as one:
        ends = [
            await one.client.post("/chat/completions", cast_to=dict[str, Any], body={**body, **stop})
            for stop in ({}, {"stop": ["\n\n", " " * 40]})
        ]
    told = [(end["choices"][0]["finish_reason"], end["usage"]["completion_tokens"]) for end in ends]
    assert (told, ends[1]["choices"][0]["stop_reason"]) == ([("length", 900), ("stop", 40)], " " * 40)


async def test_vectors() -> None:
    """Unit rows, the same for the same text; batches in order."""
    async with simulated() as one:
        embedder = one.backend.embedder()
        rows = await embedder.embed(["Bob lives in Davis.", "", "Ana likes tea.", "Bob lives in Davis."])
    assert rows.shape == (4, 384)
    assert np.array_equal(rows[0], rows[3])
    assert np.allclose(np.linalg.norm(rows.astype(float), axis=1), [1, 0, 1, 1], atol=1e-3)


@pytest.mark.parametrize("kind", ["429", "500", "reset", "truncate", "junk", "whitespace"])
async def test_faults_are_overcome(kind: str) -> None:
    """Half of all calls fail in one way; every cell has its facts, or says why not."""
    cells = cells_of([Session("s1", [Turn(f"I live in town number {number}.") for number in range(12)])])
    async with simulated(faults=f"{kind}=0.5", seed=3) as one:
        found = await ModelExtractor(one.backend.of("extract")).extract(cells)
        assert one.stats["faults"][kind] > 0
        assert sum(each.usage.calls for each in found) == one.stats["chat_calls"]
    assert all(each.answered for each in found)
    assert all(bool(each.candidates) == (each.failure is None) for each in found)
    assert sum(each.failure is None for each in found) >= 3


async def test_what_is_told_is_labelled() -> None:
    """Nobody should take it for a model."""
    async with simulated() as one:
        models = await one.client.models.list()
        health: Any = await one.client.get("/health", cast_to=dict[str, Any])
        assert [model.id for model in models.data] == [MODEL]
        assert health == {"status": "ok", "simulated": True}


@pytest.mark.parametrize(("path", "body"), [("/chat/completions", {}), ("/embeddings", {}), ("/other", {})])
async def test_what_is_no_request_is_refused(path: str, body: dict[str, Any]) -> None:
    """With an error in OpenAI's form."""
    async with simulated() as one:
        with pytest.raises(openai.APIStatusError):
            await one.client.post(path, cast_to=dict[str, Any], body=body)


def test_tokens_are_estimated_by_length() -> None:
    """Four characters each, rounded up."""
    assert [tokens_of(text) for text in ("", "a", "abcd", "abcde")] == [0, 1, 1, 2]
