"""The client against llama.cpp: forms of answers, many at once, limits, streams, vectors, errors."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from memforest_ray.ambient import SystemClock, SystemRandom
from memforest_ray.config import Settings
from memforest_ray.errors import LLMUnavailable
from memforest_ray.facts.candidates import CellInput, Extraction, TurnInput
from memforest_ray.facts.extraction import ModelExtractor
from memforest_ray.facts.judging import ModelJudge
from memforest_ray.facts.verdicts import Pair, Question
from memforest_ray.ids import AtomId, CellId
from memforest_ray.models.backend import Backend
from memforest_ray.models.chat import ChatReply, ChatRequest
from memforest_ray.models.connections import Connections, Endpoint
from memforest_ray.models.dialects import STOPS
from memforest_ray.models.failures import Failure
from memforest_ray.models.prompts.answer import ANSWER
from memforest_ray.models.prompts.judge import JUDGE
from memforest_ray.models.usage import Usage
from memforest_ray.testing.facts import mention

PAIR = Pair(AtomId("f1"), AtomId("f2"), 0.95)


async def at_once(_: float) -> None:
    """Nobody waits between tries."""
    await asyncio.sleep(0)


@asynccontextmanager
async def backend(url: str, **more: Any) -> AsyncIterator[Backend]:
    """The backend of one server; the model's name is asked for."""
    settings = Settings(llm_urls=(url,), llm_permits=4, llm_timeout_s=300, **more)
    one = await asyncio.to_thread(lambda: Backend(settings, SystemClock(), SystemRandom(), sleep=at_once))
    try:
        yield one
    finally:
        await one.close()


def question(number: int) -> Question:
    return Question(PAIR, mention(f"Bob has {number} dogs."), mention(f"{number} dogs belong to Bob."))


async def test_verdicts_fit_their_schema(chat_url: str) -> None:
    """Five at once over four slots: each is true or false, whatever the model thinks."""
    async with backend(chat_url) as one:
        found = await ModelJudge(one.of("judge")).judge([question(number) for number in range(5)])
    assert [each.failure for each in found] == [None] * 5
    assert {each.equivalent for each in found} <= {True, False}
    assert all(
        each.usage.calls == 1 and each.usage.prompt_tokens > 100 and each.usage.completion_tokens > 2 for each in found
    )


async def test_the_fixed_part_is_read_once(chat_url: str) -> None:
    """From the second call on the server has the prompt's beginning."""
    async with backend(chat_url) as one:
        await one.chat([JUDGE.request("A: a\nB: b")])
        (reply,) = await one.chat([JUDGE.request("A: c\nB: d")])
    assert reply.usage.cached_tokens > 0.7 * reply.usage.prompt_tokens


async def test_an_extraction_ends(chat_url: str) -> None:
    """A model without sense under the whole schema, limited to few tokens: facts or a reason, bounded calls."""
    turns = (TurnInput(0, "Bob", "user", "I moved to Davis last week.", 1_684_314_300_000),)
    cell = CellInput(CellId("c1"), turns, None, ("Bob",))
    async with backend(chat_url) as one:
        (found,) = await ModelExtractor(_Shortened(one, 32)).extract([cell])
    check(found)


def check(found: Extraction) -> None:
    assert found.answered
    assert 1 <= found.usage.calls <= 8
    assert found.usage.completion_tokens <= 32 * found.usage.calls
    assert (found.failure is None) or found.candidates == ()


class _Shortened:
    """The backend with a lower limit of tokens: a small machine has no time for long nonsense."""

    model = "short"

    def __init__(self, inner: Backend, tokens_max: int) -> None:
        self._inner = inner
        self._tokens_max = tokens_max

    async def chat(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        return await self._inner.chat([replace(request, tokens_max=self._tokens_max) for request in requests])


async def test_a_schema_that_the_server_cannot_read_is_done_without(chat_url: str) -> None:
    """It is asked in a plainer form, and answers."""
    schema = {"type": "object", "properties": {"a": {"type": "nonsense"}}, "required": ["a"]}
    async with backend(chat_url) as one:
        (reply,) = await one.chat([ChatRequest("plan", "Answer with JSON.", "What?", schema, 24)])
    assert reply.answered
    assert reply.usage.calls >= 2
    assert reply.usage.completion_tokens > 0


async def test_too_long_a_question_is_told_apart(chat_url: str) -> None:
    """It can be split; asking again as it is cannot help."""
    async with backend(chat_url) as one:
        (reply,) = await one.chat([JUDGE.request("word " * 8_000)])
    assert (reply.value, reply.answered, reply.truncated, reply.usage.calls) == (None, True, True, 1)


async def test_an_answer_is_streamed(chat_url: str) -> None:
    """In several pieces, and what it has cost last."""
    async with backend(chat_url) as one:
        request = ANSWER.request("Question: What is water?\nEvidence:\n[1] Water is wet.", tokens_max=12)
        *pieces, usage = [piece async for piece in one.stream(request)]
    assert len(pieces) > 2
    assert "".join(map(str, pieces)).strip()
    assert isinstance(usage, Usage)
    assert (usage.calls, usage.completion_tokens) == (1, 12)
    assert usage.prompt_tokens > ANSWER.tokens // 2


async def test_white_space_ends_an_answer_at_a_stop(chat_url: str) -> None:
    """Under a grammar that allows nothing else: up to the limit without, and no further than it has to with stops."""
    asked = [{"role": "user", "content": "Say a."}]
    body = {
        "messages": asked,
        "max_tokens": 60,
        "temperature": 0,
        "grammar": 'root ::= "{" white\nwhite ::= [ \\n\\t] white',
    }
    connections = Connections(SystemClock(), 300)
    ends = [
        await connections.post(Endpoint(chat_url, "tiny"), "/chat/completions", {**body, **stop})
        for stop in ({}, {"stop": list(STOPS)})
    ]
    await connections.close()
    without, stopped = [{} if isinstance(end, Failure) else end for end in ends]
    assert (without["choices"][0]["finish_reason"], without["usage"]["completion_tokens"]) == ("length", 60)
    assert stopped["choices"][0]["finish_reason"] == "stop"
    assert stopped["usage"]["completion_tokens"] < 60


async def test_vectors(embedding_url: str) -> None:
    """Unit rows in order; the same text has the same row, alone or among others; the dimension was asked for."""
    async with backend(embedding_url, embed_model="small") as one:
        embedder = await asyncio.to_thread(one.embedder)
        rows = await embedder.embed(["Bob lives in Davis.", "It rains.", "Bob lives in Davis, he says."])
        alone = await embedder.embed(["It rains."])
    likeness = rows.astype(float) @ rows.astype(float).T
    assert rows.shape == (3, embedder.fingerprint.dimension)
    assert np.allclose(np.diag(likeness), 1, atol=1e-2)
    assert np.allclose(rows[1].astype(float), alone[0].astype(float), atol=2e-2)
    assert likeness[0, 2] > likeness[0, 1]


async def test_a_server_that_does_not_embed_is_named(chat_url: str) -> None:
    """The embedder is missing, not the chat model."""
    async with backend(chat_url, embed_model="small", embed_dimension=4) as one:
        with pytest.raises(LLMUnavailable, match="no vectors from") as caught:
            await one.embedder().embed(["It rains."])
        assert caught.value.detail["role"] == "embed"
        (reply,) = await one.chat([JUDGE.request("A: a\nB: a")])
    assert reply.value is not None
