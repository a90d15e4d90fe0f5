"""A model server that answers what a test tells it."""

import asyncio
import json
from collections.abc import Callable
from typing import Any, Self

from memforest_ray.simulation.http import HttpRequest, HttpResponse, HttpServer

__all__ = ["ScriptedEndpoint", "completion", "error"]

Reply = HttpResponse | None
"""`None`: silence."""


def completion(
    content: Any, *, finish: str = "stop", prompt: int = 10, completion: int = 5, **message: Any
) -> HttpResponse:
    """A chat completion that says `content`: a text, or a value that is put as JSON."""
    said = content if isinstance(content, str | type(None)) else json.dumps(content)
    choice = {"index": 0, "message": {"role": "assistant", "content": said, **message}, "finish_reason": finish}
    usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    return HttpResponse.of({"id": "x", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage})


def error(status: int, message: str = "no", *, code: str | None = None, **headers: str) -> HttpResponse:
    """A refusal in the form of OpenAI's. Underscores in the names of headers stand for dashes."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return HttpResponse.of({"error": {"message": message, "type": "error", "code": code}}, status, named)


class ScriptedEndpoint:
    """Listens on this machine. Answers are taken from `script` in order, the last one again and again.

    `asked` holds the JSON bodies of all requests. A function in place of `script` sees each of them.
    """

    def __init__(self, *script: Reply, answer: Callable[[dict[str, Any]], Reply] | None = None) -> None:
        self._script = list(script)
        self._answer = answer
        self._server = HttpServer(self._handle)
        self.asked: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.url = ""
        self.in_flight = 0
        self.most_in_flight = 0
        self.gate = asyncio.Event()
        """Answers wait for it."""
        self.gate.set()
        self._told = asyncio.Event()

    async def reached(self, requests: int) -> None:
        """Wait until so many requests have come."""
        while len(self.asked) < requests:
            self._told.clear()
            await self._told.wait()

    async def __aenter__(self) -> Self:
        self.url = await self._server.start() + "/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._server.close()

    async def _handle(self, request: HttpRequest) -> Reply:
        asked = request.json() if request.body else {}
        self.asked.append(asked)
        self.paths.append(request.path)
        self._told.set()
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await self.gate.wait()
            return self._next(asked)
        finally:
            self.in_flight -= 1

    def _next(self, asked: dict[str, Any]) -> Reply:
        if self._answer is not None:
            return self._answer(asked)
        return self._script.pop(0) if len(self._script) > 1 else self._script[0]
