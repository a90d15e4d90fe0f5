"""The small HTTP server: as much of the protocol as model servers need, and its misbehaviour."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from memforest_ray.simulation.http import HttpRequest, HttpResponse, HttpServer


async def chunks() -> AsyncIterator[bytes]:
    yield b"ab"
    yield b""
    yield b"c"


async def handle(request: HttpRequest) -> HttpResponse | None:
    if request.path == "/chunks":
        return HttpResponse(chunks=chunks())
    if request.path == "/cut":
        return HttpResponse(body=b"0123456789", cut=4)
    if request.path == "/odd":
        return HttpResponse(599, headers={"x-a": "b"})
    return None if request.path == "/silence" else HttpResponse.of([request.method, request.body.decode()])


async def talk(*sent: bytes, answers: int = 1) -> bytes:
    """Send pieces on one connection; what comes back for `answers` requests, or until the end."""
    server = HttpServer(handle)
    url = await server.start()
    reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rsplit(":", 1)[1]))
    try:
        for piece in sent:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)
        got = b""
        while got.count(b"HTTP/1.1") < answers or not got.endswith((b"]", b"\r\n\r\n")):
            try:
                piece = await reader.read(1 << 16)
            except ConnectionResetError:
                break
            if not piece:
                break
            got += piece
        return got
    finally:
        writer.close()
        await server.close()


async def test_requests_follow_each_other_on_a_connection() -> None:
    """Also when the second comes before the first is answered, and both in pieces."""
    one = b"POST /a HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi"
    got = await talk(one[:10], one[10:] + b"GET /b HTTP/1.1\r\n", b"\r\n", answers=2)
    assert got.count(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n") == 2
    assert b'["POST", "hi"]HTTP' in got
    assert got.endswith(b'["GET", ""]')


async def test_a_body_in_chunks() -> None:
    """As events are sent."""
    got = await talk(b"GET /chunks HTTP/1.1\r\n\r\n")
    assert got.endswith(b"transfer-encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n")


async def test_a_body_that_is_cut_off() -> None:
    """The head promises ten bytes, four come, then the connection is reset."""
    got = await talk(b"GET /cut HTTP/1.1\r\n\r\n")
    assert b"content-length: 10" in got
    assert got.endswith(b"\r\n\r\n0123")


async def test_a_status_of_ones_own() -> None:
    """With headers of one's own."""
    got = await talk(b"GET /odd HTTP/1.1\r\n\r\n")
    assert got.startswith(b"HTTP/1.1 599 Unknown\r\n")
    assert b"x-a: b\r\n" in got


@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: many\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"x" * 70_000,
    ],
)
async def test_what_is_no_request_ends_the_connection(sent: bytes) -> None:
    """Without an answer."""
    assert await talk(sent) == b""
