"""A small HTTP/1.1 server for programs that simulate other servers: it costs little, and can misbehave.

It speaks as much of the protocol as clients of model servers need: requests with a known length, one after the other
on a connection, answers whole, in chunks, cut off, or never.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final, Self

__all__ = ["Handler", "HttpRequest", "HttpResponse", "HttpServer"]

_BODY_BYTES_MAX: Final = 64 << 20
_HEAD_BYTES_MAX: Final = 64 << 10


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request."""

    method: str
    path: str
    headers: Mapping[str, str]
    """By lower-case name."""
    body: bytes

    def json(self) -> Any:
        """The body as JSON. Raises ValueError."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """One answer."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    chunks: AsyncIterator[bytes] | None = None
    """The body in pieces, instead of `body`."""
    cut: int | None = None
    """Send so many bytes of the body only, then reset the connection."""

    @classmethod
    def of(cls, value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Self:
        """A JSON body."""
        return cls(status, json.dumps(value).encode(), headers or {})


Handler = Callable[[HttpRequest], Awaitable[HttpResponse | None]]
"""Answers a request; None: never, the connection stays open and silent."""


class HttpServer:
    """Listens on `host` and hands every request to `handler`."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._server: asyncio.Server | None = None
        self._connections: set[_Connection] = set()

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> str:
        """Listen; the address, e.g. `http://127.0.0.1:8808`. Raises OSError where the port is taken."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Connection(self._handler, self._connections), host, port)
        port = self._server.sockets[0].getsockname()[1]
        return f"http://{host}:{port}"

    async def close(self) -> None:
        """Stop listening and end all connections."""
        if self._server is None:
            return
        self._server.close()
        for connection in list(self._connections):
            connection.abort()
        await self._server.wait_closed()
        await asyncio.sleep(0)  # lets the transports close their sockets


class _Connection(asyncio.Protocol):
    """One client: reads a request, has it answered, reads the next."""

    def __init__(self, handler: Handler, connections: "set[_Connection]") -> None:
        self._handler = handler
        self._connections = connections
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.discard(self)
        self._transport = None
        if self._task is not None:
            self._task.cancel()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._go_on()

    def abort(self) -> None:
        """End the connection at once."""
        if self._transport is not None:
            self._transport.abort()

    def _go_on(self) -> None:
        if self._task is not None or self._transport is None:
            return
        try:
            request = self._next()
        except ValueError:
            self.abort()
            return
        if request is not None:
            self._task = asyncio.create_task(self._answer(request))

    def _next(self) -> HttpRequest | None:
        """A whole request, if one has come. Raises ValueError for what is none."""
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > _HEAD_BYTES_MAX:
                raise ValueError("a head without end")
            return None
        first, *lines = self._buffer[:end].decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ", 2)
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = int(headers.get("content-length", "0"))
        if not 0 <= length <= _BODY_BYTES_MAX:
            raise ValueError("a body of no usable length")
        if len(self._buffer) < end + 4 + length:
            return None
        body = bytes(self._buffer[end + 4 : end + 4 + length])
        del self._buffer[: end + 4 + length]
        return HttpRequest(method, path, headers, body)

    async def _answer(self, request: HttpRequest) -> None:
        response = await self._handler(request)
        if response is None or self._transport is None:
            return
        if response.chunks is not None:
            await self._send_chunks(response, response.chunks)
        elif response.cut is not None:
            self._transport.write(_head(response, len(response.body)) + response.body[: response.cut])
            await asyncio.sleep(0)  # what was written leaves before the reset
            self.abort()
        else:
            self._transport.write(_head(response, len(response.body)) + response.body)
        self._task = None
        self._go_on()

    async def _send_chunks(self, response: HttpResponse, chunks: AsyncIterator[bytes]) -> None:
        if self._transport is not None:
            self._transport.write(_head(response, None))
        async for chunk in chunks:
            if self._transport is not None and chunk:
                self._transport.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
        if self._transport is not None:
            self._transport.write(b"0\r\n\r\n")


def _head(response: HttpResponse, length: int | None) -> bytes:
    try:
        reason = HTTPStatus(response.status).phrase
    except ValueError:
        reason = "Unknown"
    size = "transfer-encoding: chunked" if length is None else f"content-length: {length}"
    lines = [f"HTTP/1.1 {response.status} {reason}", f"content-type: {response.content_type}", size]
    lines += [f"{name}: {value}" for name, value in response.headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")
