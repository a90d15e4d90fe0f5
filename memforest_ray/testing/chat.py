"""A chat model that answers what a test tells it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from memforest_ray.models.chat import ChatReply, ChatRequest
from memforest_ray.models.usage import Usage

__all__ = ["ScriptedChat", "cut", "says", "unusable"]

Answering = Callable[[ChatRequest], ChatReply]
_COST = Usage(calls=1, prompt_tokens=10, completion_tokens=5)


def says(**value: Any) -> ChatReply:
    """A good answer."""
    return ChatReply(value, usage=_COST)


def unusable(reason: str = "the answer holds no JSON object", *, repairable: bool = True) -> ChatReply:
    """An answer that is none."""
    return ChatReply(None, reason, repairable=repairable, usage=_COST)


def cut(**value: Any) -> ChatReply:
    """An answer that was cut off behind `value`."""
    return ChatReply(value or None, "the answer was cut off at its limit", truncated=True, usage=_COST)


class ScriptedChat:
    """Implements `ChatModel` and `StreamingChat`. Replies are taken in order, the last one again and again.

    `asked` records every request. A function in place of replies sees each of them.
    """

    model = "scripted"

    def __init__(self, *replies: ChatReply, answer: Answering | None = None) -> None:
        self._replies = list(replies)
        self._answer = answer
        self.asked: list[ChatRequest] = []

    async def chat(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        await asyncio.sleep(0)
        return [self._next(request) for request in requests]

    async def stream(self, request: ChatRequest) -> AsyncIterator[str | Usage]:
        """The text of the next reply, word by word, and what it has cost."""
        reply = self._next(request)
        for word in str((reply.value or {}).get("text", "")).split(" "):
            yield word
        yield reply.usage

    def _next(self, request: ChatRequest) -> ChatReply:
        self.asked.append(request)
        if self._answer is not None:
            return self._answer(request)
        return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
