"""The chat client against a server that does what real ones have been seen to do."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from itertools import zip_longest
from typing import Any

import pytest

from memforest_ray.errors import LLMUnavailable, Overloaded
from memforest_ray.models.answers import STARVED
from memforest_ray.models.chat import ChatReply, ChatRequest
from memforest_ray.models.connections import Endpoint
from memforest_ray.models.dialects import STOPS
from memforest_ray.models.permits import Permits
from memforest_ray.models.usage import Usage
from memforest_ray.simulation.http import HttpResponse
from memforest_ray.testing.clock import SeededRandom
from memforest_ray.testing.endpoint import ScriptedEndpoint, completion, error
from tests.models.clients import SCHEMA, SYSTEM, Client, client


async def test_a_good_answer_with_what_it_cost() -> None:
    """The value, and the tokens as the server counts them."""
    answer = {
        "choices": [{"message": {"content": '{"facts": [1]}'}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 8}},
    }
    async with client(ScriptedEndpoint(HttpResponse.of(answer))) as one:
        assert await one.ask() == ChatReply(
            {"facts": [1]}, usage=Usage(calls=1, prompt_tokens=12, cached_tokens=8, completion_tokens=3)
        )


async def test_the_request_is_prefix_stable_and_bounded() -> None:
    """What is fixed comes first; schema, limit and model are sent."""
    server = ScriptedEndpoint(completion({"facts": []}))
    async with client(server) as one:
        await one.ask("about this")
        assert server.asked == [
            {
                "model": "tiny",
                "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "about this"}],
                "max_tokens": 64,
                "temperature": 0,
                "stop": list(STOPS),
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "extract", "schema": SCHEMA, "strict": True},
                },
            }
        ]
        assert server.paths == ["/v1/chat/completions"]


async def test_further_fields_are_sent_as_they_are() -> None:
    """What only one kind of server knows, such as whether to think."""
    server = ScriptedEndpoint(completion({"facts": []}))
    async with client(server, body={"chat_template_kwargs": {"enable_thinking": False}}) as one:
        await one.ask()
        assert server.asked[0]["chat_template_kwargs"] == {"enable_thinking": False}


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ('{"facts": []}', {"facts": []}),
        ('<think>ok</think>\n```json\n{"facts": [1]}\n```', {"facts": [1]}),
        ('reasons without a beginning</think>{"facts": [1]}', {"facts": [1]}),
        ('Sure! Here they are:\n{"facts": [1]}\nAnything else?', {"facts": [1]}),
        ('```\n{"facts": [1]}\n```', {"facts": [1]}),
    ],
)
async def test_what_stands_around_an_answer_is_passed_over(said: str, value: dict[str, Any]) -> None:
    """Thoughts, fences and polite words."""
    async with client(ScriptedEndpoint(completion(said))) as one:
        reply = await one.ask()
        assert (reply.value, reply.failure) == (value, None)


@pytest.mark.parametrize(
    ("said", "finish", "failure", "repairable"),
    [
        ("", "stop", "the answer was empty", True),
        (None, "stop", "the answer was empty", True),
        ("Sure! Here are the facts.", "stop", "the answer holds no JSON object", True),
        ('{"facts": [1, }', "stop", "the answer is not valid JSON", True),
        ("[" * 100_000 + "{", "stop", "the answer is not valid JSON", True),
        ("", "length", STARVED, False),
        ("<think>let me see", "length", STARVED, False),
        ("\n " * 500, "length", "the answer was padded with white space", True),
        ('{"facts": [' + " " * 500, "length", "the answer was padded with white space", True),
        ("{}", "content_filter", "the model refused to answer", False),
    ],
)
async def test_an_answer_that_cannot_be_used_says_why(
    said: str | None, finish: str, failure: str, repairable: bool
) -> None:
    """One call each, no value; whether other words may help."""
    server = ScriptedEndpoint(completion(said, finish=finish))
    async with client(server) as one:
        reply = await one.ask()
        assert (reply.value, reply.failure, reply.repairable, reply.truncated) == (None, failure, repairable, False)
        assert (reply.answered, len(server.asked), reply.usage.completion_tokens) == (True, 1, 5)


async def test_a_refusal_in_words_is_a_refusal() -> None:
    """OpenAI puts it beside an empty content."""
    async with client(ScriptedEndpoint(completion(None, refusal="I cannot"))) as one:
        assert (await one.ask()).failure == "the model refused to answer"


async def test_an_answer_that_was_complete_before_its_padding_is_used() -> None:
    """White space up to the limit behind a whole object costs tokens, nothing else; it is counted."""
    server = ScriptedEndpoint(completion('{"facts": [1]}' + "\n" * 500, finish="length", completion=64))
    async with client(server) as one:
        reply = await one.ask()
        assert (reply.value, reply.failure, reply.truncated, reply.usage.completion_tokens) == (
            {"facts": [1]},
            None,
            False,
            64,
        )


async def test_an_answer_cut_off_keeps_its_complete_items() -> None:
    """A and B are whole, the third is not."""
    said = '{"facts": [{"t": "A"}, {"t": "B"}, {"t": "C'
    async with client(ScriptedEndpoint(completion(said, finish="length"))) as one:
        reply = await one.ask()
        assert (reply.value, reply.truncated, reply.repairable) == (
            {"facts": [{"t": "A"}, {"t": "B"}]},
            True,
            False,
        )
        assert reply.failure == "the answer was cut off at its limit"


async def test_an_endpoint_without_schemas_is_asked_otherwise_once_and_for_all() -> None:
    """The first refusal teaches: json_object then, and in every later call."""

    def answer(asked: dict[str, Any]) -> HttpResponse:
        wanted = asked.get("response_format", {}).get("type")
        if wanted == "json_schema":
            return error(400, "response_format json_schema is not supported")
        return completion({"facts": []})

    server = ScriptedEndpoint(answer=answer)
    async with client(server) as one:
        assert (await one.ask()).usage == Usage(calls=2, retries=1, prompt_tokens=10, completion_tokens=5)
        assert (await one.ask()).usage.calls == 1
        assert [asked["response_format"]["type"] for asked in server.asked] == [
            "json_schema",
            "json_object",
            "json_object",
        ]


async def test_the_last_resort_is_plain_text() -> None:
    """Where no form of answer can be asked for, JSON is read from the text."""

    def answer(asked: dict[str, Any]) -> HttpResponse:
        return error(400, "unknown field response_format") if "response_format" in asked else completion({"facts": []})

    server = ScriptedEndpoint(answer=answer)
    async with client(server) as one:
        assert ((await one.ask()).value, len(server.asked)) == ({"facts": []}, 3)


async def test_a_model_with_other_names_for_its_limits_is_met() -> None:
    """Reasoning models want `max_completion_tokens` and no temperature."""

    def answer(asked: dict[str, Any]) -> HttpResponse:
        if "max_tokens" in asked:
            return error(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
        if "temperature" in asked:
            return error(400, "Unsupported value: 'temperature' does not support 0.")
        return completion({"facts": []})

    server = ScriptedEndpoint(answer=answer)
    async with client(server) as one:
        assert (await one.ask()).value == {"facts": []}
        assert server.asked[-1]["max_completion_tokens"] == 64
        assert server.asked[-1]["response_format"]["type"] == "json_schema"


async def test_padding_again_and_again_ends_the_use_of_a_grammar() -> None:
    """After the third loop the endpoint is asked for plain text; the loops are counted."""
    server = ScriptedEndpoint(completion(" " * 500, finish="length"))
    async with client(server) as one:
        for _ in range(4):
            await one.ask()
        assert ["response_format" in asked for asked in server.asked] == [True, True, True, False]
        assert one.chat.padded == 4


@pytest.mark.parametrize(
    "trouble",
    [
        error(500, "boom"),
        error(503, "loading"),
        error(429, "slow down"),
        error(408, "slow client"),
        completion({"facts": [1]}).__class__(200, b'{"choices": [', cut=5),
        HttpResponse(200, b"<html>", content_type="text/html"),
        HttpResponse(200, b'{"choices": '),
        HttpResponse.of({"unexpected": True}),
        HttpResponse.of({"choices": []}),
        HttpResponse.of([1, 2]),
    ],
    ids=["500", "503", "429", "408", "reset", "html", "half", "odd", "no choices", "list"],
)
async def test_trouble_that_passes_is_waited_for(trouble: HttpResponse) -> None:
    """Twice in trouble, then an answer: the calls are counted, the pauses grow; what broke is tried again at once."""
    server = ScriptedEndpoint(trouble, trouble, completion({"facts": [1]}))
    async with client(server) as one:
        reply = await one.ask()
        assert (reply.value, reply.usage.calls, reply.usage.retries) == ({"facts": [1]}, 3, 2)
        if trouble.status in (429, 503):
            assert 0.125 <= one.pauses.slept[0] <= 0.25 <= one.pauses.slept[1] <= 0.5
        else:
            assert [0.125 <= pause <= 0.25 for pause in one.pauses.slept] == [True]


async def test_trouble_that_stays_is_given_up() -> None:
    """A bounded number of calls, then a reason that names the endpoint; nobody answered."""
    server = ScriptedEndpoint(error(500, "boom"))
    async with client(server) as one:
        reply = await one.ask()
        assert (reply.value, reply.answered, reply.usage.calls) == (None, False, 5)
        assert reply.failure == f"HTTP 500: boom ({server.url})"


async def test_retry_after_is_honoured() -> None:
    """The endpoint rests as long as it asked to, for every caller."""
    server = ScriptedEndpoint(error(429, "slow down", Retry_After="7"), completion({"facts": []}))
    async with client(server) as one:
        assert (await one.ask()).value == {"facts": []}
        assert one.pauses.slept == [7.0]


async def test_silence_is_bounded() -> None:
    """Who never answers is left after the time-out, and asked again."""
    server = ScriptedEndpoint(None, completion({"facts": []}))
    async with client(server, timeout_s=0.05) as one:
        assert (await one.ask()).usage.calls == 2


async def test_nobody_listens() -> None:
    """A refused connection is no answer."""
    async with client(ScriptedEndpoint(None)) as one:
        one.chat._endpoints = {}
        dead = "http://127.0.0.1:9/v1"
        one.permits._endpoints = Permits({dead: 4}, one.clock, SeededRandom())._endpoints
        one.chat._endpoints = {dead: Endpoint(dead, "tiny")}
        reply = await one.ask()
        assert (reply.answered, reply.usage.calls) == (False, 5)
        assert reply.failure is not None
        assert reply.failure.startswith("the connection failed")


@pytest.mark.parametrize(
    ("refusal", "answered", "truncated"),
    [
        (error(400, "rejected by the content filter", code="content_filter"), True, False),
        (error(400, "This model's maximum context length is 4096 tokens"), True, True),
        (error(413, "request too large"), True, True),
        (error(400, "bad input"), True, False),
        (error(401, "wrong key"), False, False),
        (error(404, "no such model"), False, False),
    ],
    ids=["filter", "context", "large", "bad", "key", "model"],
)
async def test_what_will_not_pass_is_not_tried_again(refusal: HttpResponse, answered: bool, truncated: bool) -> None:
    """One call; a request that is too long is told apart, since it can be split."""
    server = ScriptedEndpoint(refusal)
    async with client(server) as one:
        reply = await one.ask()
        assert (reply.value, reply.answered, reply.truncated, reply.repairable) == (None, answered, truncated, False)
        assert len(server.asked) == 1


async def test_what_a_server_quotes_is_not_kept_whole() -> None:
    """Servers repeat what they were sent; a reason is short."""
    server = ScriptedEndpoint(error(400, "bad input: " + "secret " * 1000))
    async with client(server) as one:
        assert len((await one.ask()).failure or "") < 250


async def test_all_calls_are_in_flight_at_once_up_to_the_permits() -> None:
    """Twenty requests, eight permits: eight at once, all answered, in order."""
    server = ScriptedEndpoint(answer=lambda asked: completion({"facts": [asked["messages"][1]["content"]]}))
    async with client(server, permits=8) as one:
        server.gate.clear()
        asking = asyncio.create_task(
            one.chat.chat([ChatRequest("extract", SYSTEM, str(number), SCHEMA, 8) for number in range(20)])
        )
        await server.reached(8)
        server.gate.set()
        replies = await asking
        assert [reply.value for reply in replies] == [{"facts": [str(number)]} for number in range(20)]
        assert server.most_in_flight == 8


async def test_two_endpoints_share_the_work() -> None:
    """The less busy one is asked."""
    servers = ScriptedEndpoint(completion({"facts": []})), ScriptedEndpoint(completion({"facts": []}))
    async with client(*servers) as one:
        for server in servers:
            server.gate.clear()
        asking = asyncio.create_task(
            one.chat.chat([ChatRequest("extract", SYSTEM, str(number), SCHEMA, 8) for number in range(10)])
        )
        for server in servers:
            await server.reached(5)
            server.gate.set()
        await asking
        assert [len(server.asked) for server in servers] == [5, 5]


async def test_text_that_no_server_takes_is_made_sayable() -> None:
    """Lone surrogates and NUL."""
    server = ScriptedEndpoint(completion({"facts": []}))
    async with client(server) as one:
        await one.ask("a \ud83d b \0 c")
        assert server.asked[0]["messages"][1]["content"] == "a ? b   c"


async def test_plain_text_without_a_schema() -> None:
    """No form of answer is asked for; thoughts are left out."""
    server = ScriptedEndpoint(completion("<think>hm</think> Davis."))
    async with client(server) as one:
        reply = await one.ask(schema=None)
        assert (reply.value, "response_format" in server.asked[0]) == ({"text": "Davis."}, False)


def stream(*pieces: str, usages: Sequence[dict[str, Any]] = ()) -> HttpResponse:
    async def chunks() -> AsyncIterator[bytes]:
        for piece, usage in zip_longest(pieces, usages):
            delta = {"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}], "usage": usage}
            yield b"data: " + HttpResponse.of(delta).body + b"\n\n"
        yield b"data: [DONE]\n\n"

    return HttpResponse(content_type="text/event-stream", chunks=chunks())


async def test_an_answer_can_be_read_while_it_is_written() -> None:
    """Piece by piece, without what is thought aloud."""
    async with client(ScriptedEndpoint(stream("<th", "ink>hm", "</think>\n", "In ", "Davis", "."))) as one:
        request = ChatRequest("answer", SYSTEM, "where?", None, 64, urgent=True)
        assert [piece async for piece in one.chat.stream(request)] == ["In ", "Davis", ".", Usage(calls=1)]


async def test_a_streamed_answer_tells_what_it_has_cost() -> None:
    """Last, with the tries before; where tokens are told with every piece those of all pieces count."""
    told = {"prompt_tokens": 9, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}}
    pieces = stream("In ", "Davis.", usages=[{"prompt_tokens": 9, "completion_tokens": 1}, told])
    server = ScriptedEndpoint(error(500, "boom"), error(400, "stream_options is not known"), pieces)
    async with client(server) as one:
        *_, usage = [piece async for piece in one.chat.stream(ChatRequest("answer", SYSTEM, "where?", None, 64))]
        assert usage == Usage(calls=3, retries=2, prompt_tokens=9, cached_tokens=4, completion_tokens=3)
        assert [asked.get("stream_options") for asked in server.asked] == [{"include_usage": True}] * 2 + [None]


async def test_a_stream_that_cannot_begin_says_so() -> None:
    """After as many tries as any other call."""
    server = ScriptedEndpoint(error(500, "boom"))
    async with client(server) as one:
        with pytest.raises(LLMUnavailable, match="boom"):
            _ = [piece async for piece in one.chat.stream(ChatRequest("answer", SYSTEM, "where?", None, 64))]
        assert len(server.asked) == 5


async def test_too_many_calls_are_turned_away_together() -> None:
    """When the queue is full nothing goes on behind the error."""
    server = ScriptedEndpoint(completion({"facts": []}))
    async with client(server, permits=1) as one:
        one.permits._waiting_max = 2
        server.gate.clear()
        requests = [ChatRequest("extract", SYSTEM, str(number), SCHEMA, 8) for number in range(9)]
        with pytest.raises(Overloaded):
            await one.chat.chat(requests)
        server.gate.set()
        assert (one.permits.waiting, one.permits.in_flight(server.url)) == (0, 0)
        assert (await one.ask()).value == {"facts": []}


async def test_a_stream_that_breaks_off_says_so() -> None:
    """What came before stands; the connection's loss is no answer, and is not tried again."""
    delta = {"choices": [{"index": 0, "delta": {"content": "In "}, "finish_reason": None}]}
    event = b"data: " + HttpResponse.of(delta).body + b"\n\n"
    server = ScriptedEndpoint(HttpResponse(body=event * 3, content_type="text/event-stream", cut=len(event) + 9))
    pieces = []

    async def read(one: Client) -> None:
        async for piece in one.chat.stream(ChatRequest("answer", SYSTEM, "where?", None, 64)):
            pieces.append(piece)  # noqa: PERF401 - what came before the error counts

    async with client(server) as one:
        with pytest.raises(LLMUnavailable, match="the connection failed"):
            await read(one)
        assert (pieces, len(server.asked), one.permits.in_flight(server.url)) == (["In "], 1, 0)
