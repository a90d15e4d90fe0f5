"""A chat model that answers by a function of what it is asked, with or without an event loop."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from memforest_ray.errors import LLMUnavailable
from memforest_ray.models.chat import ChatReply, ChatRequest
from memforest_ray.models.usage import Usage

__all__ = ["AnsweringChat", "silent"]

Script = Callable[[ChatRequest], dict[str, Any] | str | None]
"""The value of an answer; a text for one without a schema; None for a failure."""


def silent(_: ChatRequest) -> None:
    """Never answers."""


class AnsweringChat:
    """Implements `ChatModel` and `StreamingChat`."""

    model = "answering"

    def __init__(self, script: Script, *, failure: str = "the server is down") -> None:
        self._script = script
        self._failure = failure
        self.asked: list[ChatRequest] = []

    @property
    def texts(self) -> str:
        """Everything that was ever shown to it."""
        return "\n".join(f"{request.system}\n{request.text}" for request in self.asked)

    async def chat(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        return self.reply(requests)

    def reply(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        """The same at once."""
        self.asked.extend(requests)
        return [self._reply(request) for request in requests]

    async def stream(self, request: ChatRequest) -> AsyncIterator[str | Usage]:
        """The answer letter by letter, which is the hardest to read, and what it has cost. Raises LLMUnavailable."""
        self.asked.append(request)
        text = self._script(request)
        if not isinstance(text, str):
            raise LLMUnavailable(self._failure)
        for letter in text:
            yield letter
        yield _cost(request)

    def _reply(self, request: ChatRequest) -> ChatReply:
        value, usage = self._script(request), _cost(request)
        if value is None:
            return ChatReply(None, self._failure, usage=usage)
        return ChatReply({"text": value} if isinstance(value, str) else value, usage=usage)


def _cost(request: ChatRequest) -> Usage:
    return Usage(calls=1, prompt_tokens=len(request.text) // 4, completion_tokens=1)
