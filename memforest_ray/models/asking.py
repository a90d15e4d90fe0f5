"""One question to a chat model, asked again in other words when the answer cannot be used: once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, TypeVar

from memforest_ray.models.chat import ChatModel, ChatReply, ChatRequest
from memforest_ray.models.usage import Usage

__all__ = ["Asked", "Unusable", "ask"]

T = TypeVar("T")

_REASON_CHARS_MAX: Final = 200


class Unusable(ValueError):
    """An answer is JSON, but not what was asked for. The message is told to the model, and kept as the reason."""


@dataclass(frozen=True, slots=True)
class Asked(Generic[T]):
    """What came of a question: a value, or why there is none."""

    value: T | None
    failure: str | None = None
    answered: bool = True
    """Whether any server answered at all."""
    truncated: bool = False
    """The answer was cut off; `value` is what was read of its complete part, if anything."""
    usage: Usage = field(default_factory=Usage)


async def ask(chat: ChatModel, request: ChatRequest, read: Callable[[Mapping[str, Any]], T]) -> Asked[T]:
    """Ask, and read the answer; `read` raises `Unusable`.

    An answer that cannot be used is asked for once more, with the reason added: never the same bytes again.
    """
    first = _read(await _reply(chat, request), read)
    asked, repairable = first
    if not repairable:
        return asked
    again, _ = _read(await _reply(chat, _in_other_words(request, asked.failure or "")), read)
    return replace(again, usage=asked.usage + again.usage)


async def _reply(chat: ChatModel, request: ChatRequest) -> ChatReply:
    (reply,) = await chat.chat([request])
    return reply


def _read(reply: ChatReply, read: Callable[[Mapping[str, Any]], T]) -> tuple[Asked[T], bool]:
    """What came, and whether to ask again."""
    if reply.value is None:
        asked: Asked[T] = Asked(None, reply.failure or "no answer", reply.answered, reply.truncated, reply.usage)
        return asked, reply.repairable
    try:
        value = read(reply.value)
    except Unusable as error:
        reason = str(error)[:_REASON_CHARS_MAX]
        return Asked(None, reason, truncated=reply.truncated, usage=reply.usage), not reply.truncated
    return Asked(value, reply.failure, truncated=reply.truncated, usage=reply.usage), False


def _in_other_words(request: ChatRequest, reason: str) -> ChatRequest:
    """The same question with what was wrong about the last answer: behind the text, so that the prefix stays."""
    note = f"\n\nYour last answer could not be used: {reason}. Answer again, as one JSON object of that form."
    return replace(request, text=request.text + note)
