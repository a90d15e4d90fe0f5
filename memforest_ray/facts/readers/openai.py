"""Messages of the OpenAI and Anthropic APIs: `{"role", "content"}` in a list, in `messages`, or by line."""

from collections.abc import Iterator

from memforest_ray.facts.readers.messages import (
    Object,
    first_message,
    is_tool_result,
    message_sessions,
    message_text,
    text_of,
    time_of,
)
from memforest_ray.facts.readers.source import Conversation, Format, Source
from memforest_ray.facts.sessions import Turn

__all__ = ["FORMAT", "role_turn"]


def role_turn(message: Object, where: str) -> Turn:
    """The turn of one message; roles such as tool and developer stay what they are.

    Anthropic's API sends what a tool found as the user's message: a message of such results alone is the tool's.
    """
    if is_tool_result(message.get("content")):
        return Turn(message_text(message, where), role="tool", time=time_of(message))
    return Turn(
        text=message_text(message, where),
        speaker=text_of(message.get("name"), f"{where}.name") or None,
        role=text_of(message.get("role"), f"{where}.role") or "user",
        time=time_of(message),
    )


def _is_message(value: object) -> bool:
    return isinstance(value, dict) and "role" in value


def _matches(source: Source) -> bool:
    first = source.first
    empty = isinstance(first, dict) and first.get("messages") == []
    return empty or _is_message(first_message(source))


def _read(source: Source) -> Iterator[Conversation]:
    yield Conversation(source.stem, tuple(message_sessions(source, _is_message, role_turn)))


FORMAT = Format("openai", _matches, _read)
