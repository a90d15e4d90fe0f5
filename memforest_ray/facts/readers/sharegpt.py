"""ShareGPT: `{"id": ..., "conversations": [{"from": "human", "value": "..."}]}`, in a list or by line."""

from collections.abc import Iterator

from memforest_ray.errors import InvalidInput
from memforest_ray.facts.readers.messages import Object, content_text, id_of, objects, text_of, time_of
from memforest_ray.facts.readers.source import Conversation, Format, Source
from memforest_ray.facts.sessions import Session, Turn

__all__ = ["FORMAT"]

_ROLES = {
    "human": "user",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "model": "assistant",
    "function_call": "assistant",
    "observation": "tool",
    "function_response": "tool",
}
"""Roles by the name that ShareGPT files give them; other names are roles already."""


def _matches(source: Source) -> bool:
    first = source.first
    held = (first.get("conversations") or first.get("conversation")) if isinstance(first, dict) else None
    message = held[0] if isinstance(held, list) and held else None
    return isinstance(message, dict) and bool({"from", "role"} & message.keys())


def _read(source: Source) -> Iterator[Conversation]:
    for number, item in enumerate(objects(source.items, "")):
        name = id_of(item, f"{source.stem}#{number}")
        where = f"[{number}].conversations"
        messages = objects(item.get("conversations") or item.get("conversation") or [], where)
        turns = [_turn(message, f"{where}[{i}]") for i, message in enumerate(messages)]
        yield Conversation(name, (Session(id=name, turns=turns, time=time_of(item)),))


def _turn(message: Object, where: str) -> Turn:
    role = text_of(message.get("from") or message.get("role"), f"{where}.from").lower()
    if not {"value", "content"} & message.keys():
        raise InvalidInput(f"{where} has no value")
    text = content_text(message.get("value") or message.get("content"), f"{where}.value")
    speaker = text_of(message.get("name"), f"{where}.name") or None
    return Turn(text=text, speaker=speaker, role=_ROLES.get(role, role) or "user", time=time_of(message))


FORMAT = Format("sharegpt", _matches, _read)
