"""Tries of one request: what a first one is given, where a second one goes, and when it does not wait for the first."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from memforest_ray.models.chat import ChatReply, ChatRequest
from memforest_ray.models.connections import Connections, Endpoint
from memforest_ray.models.dialects import STOPS
from memforest_ray.models.failures import Failure
from memforest_ray.models.hedging import Hedges
from memforest_ray.models.openai_chat import OpenAIChat
from memforest_ray.models.permits import Permits
from memforest_ray.models.usage import Usage
from memforest_ray.simulation.http import HttpResponse
from memforest_ray.testing.clock import ManualClock, SeededRandom
from memforest_ray.testing.endpoint import ScriptedEndpoint, completion, error
from memforest_ray.testing.loop import SeededLoop
from tests.models.clients import SCHEMA, SYSTEM, client

CUT = '{"facts": [{"t": "A"}, {"t": "B"}, {"t": "C'


async def test_an_answer_that_needs_more_than_is_usual_is_asked_for_with_all_it_may_take() -> None:
    """It is the answer that it would have been; both calls are counted."""
    server = ScriptedEndpoint(completion(CUT, finish="length", completion=20), completion({"facts": [1, 2, 3]}))
    async with client(server) as one:
        reply = await one.ask(usual=20)
        assert (reply.value, reply.truncated) == ({"facts": [1, 2, 3]}, False)
        assert [asked["max_tokens"] for asked in server.asked] == [20, 64]
        assert reply.usage == Usage(calls=2, retries=1, prompt_tokens=20, completion_tokens=25)


@pytest.mark.parametrize(
    ("said", "tokens", "kept"),
    [(CUT, 12, 2), ('{"facts": [' + '{"t": "again and again and again"},' * 40 + '{"t": "ag', 20, 40)],
    ids=["by the server", "in circles"],
)
async def test_what_more_tokens_would_not_mend_is_read_as_far_as_it_goes(said: str, tokens: int, kept: int) -> None:
    """Cut off before our limit by one of the server's own, or an answer that would go on for ever."""
    server = ScriptedEndpoint(completion(said, finish="length", completion=tokens))
    async with client(server) as one:
        reply = await one.ask(usual=20)
        assert (len((reply.value or {})["facts"]), reply.truncated, len(server.asked)) == (kept, True, 1)


async def test_thoughts_that_fill_the_usual_limit_are_given_room() -> None:
    """After three of them from the beginning."""
    thinking = completion("<think>let me see", finish="length", completion=20)

    def answer(asked: dict[str, Any]) -> HttpResponse:
        return thinking if asked["max_tokens"] == 20 else completion({"facts": []})

    server = ScriptedEndpoint(answer=answer)
    async with client(server) as one:
        for _ in range(4):
            assert (await one.ask(usual=20)).value == {"facts": []}
        assert [asked["max_tokens"] for asked in server.asked] == [20, 64, 20, 64, 20, 64, 64]


async def test_white_space_ends_an_answer_where_it_begins() -> None:
    """The server says where it has stopped; the answer can be asked for in other words, and three end the grammar."""
    stopped = HttpResponse.of(
        {"choices": [{"message": {"content": '{"facts": ['}, "finish_reason": "stop", "stop_reason": STOPS[0]}]}
    )
    server = ScriptedEndpoint(stopped, stopped, stopped, completion({"facts": []}))
    async with client(server) as one:
        for _ in range(3):
            reply = await one.ask()
            assert (reply.failure, reply.repairable) == ("the answer was padded with white space", True)
        assert (await one.ask()).value == {"facts": []}
        assert [("stop" in asked, "response_format" in asked) for asked in server.asked] == [(True, True)] * 3 + [
            (True, False)
        ]


async def test_an_endpoint_without_stops_is_asked_without() -> None:
    """As reasoning models want it; the form of the answer stays."""

    def answer(asked: dict[str, Any]) -> HttpResponse:
        return error(400, "Unsupported parameter: 'stop'") if "stop" in asked else completion({"facts": []})

    server = ScriptedEndpoint(answer=answer)
    async with client(server) as one:
        assert ((await one.ask()).value, (await one.ask()).usage.calls) == ({"facts": []}, 1)
        assert server.asked[-1]["response_format"]["type"] == "json_schema"


async def test_what_broke_at_one_endpoint_is_asked_of_another() -> None:
    """At once, however little the first one has to do."""
    broken, sound = ScriptedEndpoint(error(500, "boom")), ScriptedEndpoint(completion({"facts": []}))
    async with client(broken, sound) as one:
        for _ in range(3):
            assert (await one.ask()).value == {"facts": []}
        assert (len(broken.asked), one.pauses.slept) == (3, [])


class Servers(Connections):
    """Two that answer after a second, in virtual time; the first one falls silent when it is told to."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(clock, 60.0)
        self.silent = False

    async def post(self, endpoint: Endpoint, path: str, body: Mapping[str, Any]) -> dict[str, Any] | Failure:
        await asyncio.sleep(3_600 if self.silent and endpoint.url == "one" else 1.0)
        said = {"content": json.dumps({"facts": [endpoint.url]})}
        return {"choices": [{"message": said, "finish_reason": "stop"}]}


def test_a_late_answer_is_asked_for_again_elsewhere() -> None:
    """One server is silent: the other one answers, and the silent one counts as failing, until it is left alone."""
    clock, random = ManualClock(), SeededRandom(1)
    loop = SeededLoop(1, clock)
    servers, permits = Servers(clock), Permits({"one": 4, "two": 4}, clock, random)
    endpoints = [Endpoint("one", "tiny"), Endpoint("two", "tiny")]
    chat = OpenAIChat(endpoints, servers, permits, clock, random, hedges=Hedges(clock, 1.0))

    async def ask() -> ChatReply:
        (reply,) = await chat.chat([ChatRequest("extract", SYSTEM, "1 Bob: hello", SCHEMA, 64)])
        return reply

    async def run() -> list[ChatReply]:
        for _ in range(12):
            await ask()
        servers.silent = True
        return [await ask() for _ in range(9)]

    replies = loop.run_until_complete(run())
    loop.close()
    assert [reply.value for reply in replies] == [{"facts": ["two"]}] * 9
    assert [reply.usage.calls for reply in replies] == [2] * 8 + [1]
    assert (permits.dead("one"), permits.in_flight("one"), permits.in_flight("two")) == (True, 0, 0)
