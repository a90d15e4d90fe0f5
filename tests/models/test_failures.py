"""What a failed call means, by what real servers send."""

import pytest

from memforest_ray.models.connections import Connections, Endpoint
from memforest_ray.models.failures import Failure, Trouble
from memforest_ray.simulation.http import HttpResponse
from memforest_ray.testing.clock import ManualClock
from memforest_ray.testing.endpoint import ScriptedEndpoint, error


async def met(answer: HttpResponse | None, timeout_s: float = 5.0) -> Failure:
    """What a call meets."""
    connections = Connections(ManualClock(1_700_000_000_000), timeout_s)
    async with ScriptedEndpoint(answer) as server:
        found = await connections.post(Endpoint(server.url, "m"), "/chat/completions", {})
        await connections.close()
    assert isinstance(found, Failure)
    return found


@pytest.mark.parametrize(
    ("answer", "trouble", "message"),
    [
        (error(429, "slow down"), "overloaded", "HTTP 429: slow down"),
        (error(503, "Loading model"), "overloaded", "HTTP 503: Loading model"),
        (error(500, "boom"), "failed", "HTTP 500: boom"),
        (error(502, ""), "failed", "HTTP 502"),
        (HttpResponse(504, b"<html>"), "failed", "HTTP 504"),
        (error(500, "input is too large to process. increase the physical batch size"), "too_long", None),
        (error(400, "This model's maximum context length is 4096 tokens."), "too_long", None),
        (error(400, "the request exceeds the available context size"), "too_long", None),
        (error(400, "max_tokens must be at least 1"), "dialect", None),
        (error(400, "Invalid schema for response_format 'x'"), "dialect", None),
        (error(422, "unknown field: guided_json"), "dialect", None),
        (error(501, "grammar is not supported"), "dialect", None),
        (error(501, "This server does not support embeddings."), "rejected", None),
        (error(400, "The response was filtered", code="content_filter"), "refused", None),
        (error(400, "odd"), "unusable", "HTTP 400: odd"),
        (error(401, "Incorrect API key"), "rejected", "HTTP 401: Incorrect API key"),
        (error(404, "The model `m` does not exist."), "rejected", None),
        (HttpResponse.of({"detail": "Not Found"}, 404), "rejected", "HTTP 404: Not Found"),
        (HttpResponse.of({"error": "plain"}, 403), "rejected", "HTTP 403: plain"),
        (HttpResponse.of(["odd"], 418), "rejected", "HTTP 418"),
        (HttpResponse(200, b"{"), "failed", "the answer was not JSON"),
        (HttpResponse.of([]), "failed", "the answer was not a JSON object"),
        (HttpResponse(200, b'{"a": 1}', cut=3), "failed", None),
    ],
)
async def test_what_servers_say(answer: HttpResponse, trouble: Trouble, message: str | None) -> None:
    """The same trouble comes in many words."""
    found = await met(answer)
    assert found.trouble == trouble
    assert message is None or found.message == message


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("Tue, 14 Nov 2023 22:13:50 GMT", 30.0),
        ("Tue, 14 Nov 2023 22:13:10 GMT", 0.0),
        ("soon", 0.0),
        ("", 0.0),
    ],
)
async def test_how_long_a_server_wants_to_be_left_alone(value: str, seconds: float) -> None:
    """Seconds, or a date."""
    assert (await met(error(429, "slow down", Retry_After=value))).rest_s == pytest.approx(seconds)


async def test_silence_and_dripping_end_at_the_same_time() -> None:
    """One call has so many seconds from end to end."""
    assert (await met(None, timeout_s=0.05)).trouble == "failed"


async def test_what_a_server_quotes_is_cut_short() -> None:
    """It may be dialogue."""
    found = await met(error(400, "bad input: " + "word " * 1000))
    assert len(found.message) < 200


async def test_nobody_listens() -> None:
    """The connection's failure is named, not its address: that is the caller's to say."""
    connections = Connections(ManualClock(), 1.0)
    found = await connections.post(Endpoint("http://127.0.0.1:9/v1", "m"), "/chat/completions", {})
    await connections.close()
    assert isinstance(found, Failure)
    assert (found.trouble, found.message.startswith("the connection failed (")) == ("failed", True)
