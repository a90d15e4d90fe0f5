"""A chat client of scripted servers, whose pauses take no time."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from memforest_ray.models.chat import ChatReply, ChatRequest
from memforest_ray.models.connections import Connections, Endpoint
from memforest_ray.models.openai_chat import OpenAIChat
from memforest_ray.models.permits import Permits
from memforest_ray.testing.clock import ManualClock, SeededRandom
from memforest_ray.testing.endpoint import ScriptedEndpoint

__all__ = ["SCHEMA", "SYSTEM", "Client", "client"]

SCHEMA = {"type": "object", "properties": {"facts": {"type": "array"}}, "required": ["facts"]}
SYSTEM = "Say what was said, as JSON."


class Pauses:
    """A sleep that takes no time; says how long it should have been, and moves the clock."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self.slept: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)
        self._clock.advance(seconds)
        await asyncio.sleep(0)


class Client:
    """A chat client of some servers, with its pauses and permits."""

    def __init__(self, servers: Sequence[ScriptedEndpoint], timeout_s: float, permits: int, **more: Any) -> None:
        self.clock = ManualClock()
        self.pauses = Pauses(self.clock)
        random = SeededRandom(1)
        self.permits = Permits({server.url: permits for server in servers}, self.clock, random, sleep=self.pauses)
        self.chat = OpenAIChat(
            [Endpoint(server.url, "tiny", "secret") for server in servers],
            Connections(self.clock, timeout_s),
            self.permits,
            self.clock,
            random,
            sleep=self.pauses,
            **more,
        )

    async def ask(
        self, text: str = "1 Bob: hello", schema: Any = SCHEMA, tokens_max: int = 64, usual: int | None = None
    ) -> ChatReply:
        (reply,) = await self.chat.chat([ChatRequest("extract", SYSTEM, text, schema, tokens_max, usual)])
        return reply


@asynccontextmanager
async def client(
    *servers: ScriptedEndpoint, timeout_s: float = 60.0, permits: int = 64, **more: Any
) -> AsyncIterator[Client]:
    made: Client | None = None
    try:
        for server in servers:
            await server.__aenter__()
        made = Client(servers, timeout_s, permits, **more)
        yield made
    finally:
        if made is not None:
            await made.chat.close()
        for server in servers:
            await server.__aexit__()
