"""Messages of the OpenAI, Anthropic and Gemini APIs: `{"role", "content"}` in a list, in `messages`, or by line.

Items of OpenAI's Responses API may stand between them: calls of functions, and what these gave back.
"""

from collections.abc import Iterator
from typing import Any

from memforest_ray.facts.readers.messages import (
    Object,
    content_text,
    first_message,
    id_of,
    is_tool_result,
    message_sessions,
    message_text,
    objects,
    text_of,
    time_of,
)
from memforest_ray.facts.readers.source import Conversation, Format, Source
from memforest_ray.facts.sessions import Turn

__all__ = ["FORMAT", "role_turn", "turns"]


def _item_turn(item: Object, where: str) -> Turn | None:
    """The turn of one item; none for what a model thought to itself."""
    match item.get("type"):
        case "reasoning":
            return None
        case "function_call":
            return Turn(f"[tool call: {id_of(item, 'unnamed', 'name')}]", role="assistant", time=time_of(item))
        case "function_call_output":
            return Turn(content_text(item.get("output"), f"{where}.output"), role="tool", time=time_of(item))
    return role_turn(item, where)


def role_turn(message: Object, where: str) -> Turn:
    """The turn of one message; roles such as tool and developer stay what they are, Gemini's model is the assistant.

    Anthropic's API sends what a tool found as the user's message: a message of such results alone is the tool's.
    """
    if is_tool_result(message.get("content")):
        return Turn(message_text(message, where), role="tool", time=time_of(message))
    role = text_of(message.get("role"), f"{where}.role")
    return Turn(
        text=message_text(message, where),
        speaker=text_of(message.get("name"), f"{where}.name") or None,
        role=_ROLES.get(role, role) or "user",
        time=time_of(message),
    )


_ROLES = {"model": "assistant"}


def turns(messages: list[Any], where: str) -> list[Turn]:
    """The turns of messages and items. Raises InvalidInput, naming the one that is none."""
    read = (_item_turn(message, f"{where}[{i}]") for i, message in enumerate(objects(messages, where)))
    return [turn for turn in read if turn is not None]


def _is_message(value: object) -> bool:
    return isinstance(value, dict) and "role" in value


def _matches(source: Source) -> bool:
    first = source.first
    empty = isinstance(first, dict) and first.get("messages") == []
    return empty or _is_message(first_message(source))


def _read(source: Source) -> Iterator[Conversation]:
    yield Conversation(source.stem, tuple(message_sessions(source, _is_message, _item_turn)))


FORMAT = Format("openai", _matches, _read)
