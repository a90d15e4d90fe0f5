"""Connections to OpenAI-compatible endpoints, through the `openai` client, without its own retries."""

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import openai

from memforest_ray.ambient import Clock
from memforest_ray.models.failures import CallError, Failure, trouble_of

__all__ = ["Connections", "Endpoint"]

_CALLS_PER_CLIENT: Final = 16
"""The client's connection pool looks at every connection for every call: with 256 in one pool a call costs 2.6 ms
of CPU, with 16 in each of several it costs 1.4."""
_CONNECT_S: Final = 5.0
_NO_KEY: Final = "none"
"""Servers of one's own ask for no key; the client insists on one."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is served."""

    url: str
    """Base URL, e.g. `http://localhost:8000/v1`."""
    model: str
    key: str = field(default="", repr=False)


@dataclass(eq=False, slots=True)
class _Client:
    client: openai.AsyncOpenAI
    in_flight: int = 0


class Connections:
    """Clients by endpoint, made when they are needed. `timeout_s` bounds one call from end to end."""

    def __init__(self, clock: Clock, timeout_s: float) -> None:
        self._clock = clock
        self._timeout_s = timeout_s
        self._context: ssl.SSLContext | None = None
        self._clients: dict[tuple[str, str], list[_Client]] = {}

    async def post(self, endpoint: Endpoint, path: str, body: Mapping[str, Any]) -> dict[str, Any] | Failure:
        """The JSON object that the endpoint answers, or what went wrong."""
        client = self._client(endpoint)
        client.in_flight += 1
        try:
            # The client's own timeout counts silence; a server that drips one byte a second would never meet it.
            async with asyncio.timeout(self._timeout_s):
                answer: Any = await client.client.post(path, cast_to=dict[str, Any], body=dict(body))
        except TimeoutError:
            return Failure("failed", f"no complete answer within {self._timeout_s:g} s")
        except CallError as error:
            return trouble_of(error, self._clock)
        except ValueError:
            return Failure("failed", "the answer was not JSON")
        finally:
            client.in_flight -= 1
        return answer if isinstance(answer, dict) else Failure("failed", "the answer was not a JSON object")

    def streaming(self, endpoint: Endpoint) -> openai.AsyncOpenAI:
        """A client for one streamed call."""
        return self._client(endpoint).client

    async def close(self) -> None:
        """End all connections."""
        clients, self._clients = self._clients, {}
        await asyncio.gather(*(each.client.close() for group in clients.values() for each in group))

    def _client(self, endpoint: Endpoint) -> _Client:
        group = self._clients.setdefault((endpoint.url, endpoint.key), [])
        for client in group:
            if client.in_flight < _CALLS_PER_CLIENT:
                return client
        group.append(_Client(self._made(endpoint)))
        return group[-1]

    def _made(self, endpoint: Endpoint) -> openai.AsyncOpenAI:
        # Each HTTP client reads all certificates anew (20 ms): those that need none share one context.
        plain = endpoint.url.startswith("http://")
        if plain and self._context is None:
            self._context = ssl.create_default_context()
        return openai.AsyncOpenAI(
            base_url=endpoint.url,
            api_key=endpoint.key or _NO_KEY,
            max_retries=0,
            timeout=openai.Timeout(self._timeout_s, connect=_CONNECT_S),
            http_client=openai.DefaultAsyncHttpxClient(verify=self._context) if plain and self._context else None,
        )
