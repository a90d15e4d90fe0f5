"""LangChain messages: `{"type": "human", "data": {...}}`, the flat form, or the serialised constructor."""

from collections.abc import Iterator

from memforest_ray.facts.readers.messages import Object, first_message, message_sessions, message_text, text_of, time_of
from memforest_ray.facts.readers.source import Conversation, Format, Source
from memforest_ray.facts.sessions import Turn

__all__ = ["FORMAT"]

_ROLES = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "tool",
    "developer": "developer",
    "chat": "user",
}


def _kind(message: Object) -> str:
    """`human`, `ai` ...; empty for what is no LangChain message."""
    kind = message.get("type")
    if kind == "constructor" and isinstance(message.get("id"), list) and message["id"]:
        kind = message["id"][-1]
    name = str(kind or "").lower().removesuffix("chunk").removesuffix("message")
    return name if name in _ROLES else ""


def _turn(message: Object, where: str) -> Turn:
    held = message.get("data") or message.get("kwargs")
    body = held if isinstance(held, dict) else message
    own = text_of(body.get("role"), f"{where}.role")
    return Turn(
        text=message_text(body, where),
        speaker=text_of(body.get("name"), f"{where}.name") or None,
        role=own or _ROLES.get(_kind(message), "user"),
        time=time_of(body),
    )


def _is_message(value: object) -> bool:
    return isinstance(value, dict) and bool(_kind(value)) and bool({"data", "content", "kwargs"} & value.keys())


def _read(source: Source) -> Iterator[Conversation]:
    yield Conversation(source.stem, tuple(message_sessions(source, _is_message, _turn)))


FORMAT = Format("langchain", lambda source: _is_message(first_message(source)), _read)
