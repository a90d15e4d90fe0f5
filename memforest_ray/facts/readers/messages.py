"""Messages: the shape that most chat formats share, `{role, content}` objects in a list."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from memforest_ray.errors import InvalidInput
from memforest_ray.facts.readers.source import Source
from memforest_ray.facts.sessions import Session, TimeLike, Turn

__all__ = [
    "Object",
    "content_text",
    "first_message",
    "id_of",
    "is_tool_result",
    "message_sessions",
    "message_text",
    "metadata_of",
    "objects",
    "text_of",
    "time_of",
    "tool_notes",
]

Object = dict[str, Any]
"""A JSON object."""

_ID_KEYS = ("id", "session_id", "conversation_id", "thread_id", "uuid")
_TIME_KEYS = ("time", "timestamp", "created_at", "create_time", "created", "date")
_HIDDEN = frozenset({"thinking", "redacted_thinking", "reasoning", "thoughts"})
"""Parts in which a model speaks to itself: not dialogue."""
_NOTES = (("image", "image"), ("audio", "audio"), ("video", "video"), ("file", "file"), ("document", "file"))
"""What a part is noted as when its type holds this word. What it points to is never fetched."""


def objects(value: object, where: str) -> list[Object]:
    """`value` as a list of objects. Raises InvalidInput, naming `where` it is, for anything else."""
    if not isinstance(value, list):
        raise InvalidInput(f"{where} must be a list, not {type(value).__name__}")
    for index, item in enumerate(value):
        if not isinstance(item, dict):
            raise InvalidInput(f"{where}[{index}] must be an object, not {type(item).__name__}")
    return value


def text_of(value: object, where: str) -> str:
    """`value` as text; None is empty. Raises InvalidInput, naming `where` it is, for anything else."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidInput(f"{where} must be text, not {type(value).__name__}")
    return value


def id_of(item: Mapping[str, object], default: str, *keys: str) -> str:
    """The first id that is there, as text, else `default`."""
    for key in keys or _ID_KEYS:
        value = item.get(key)
        if (isinstance(value, str) and value.strip()) or (isinstance(value, int) and not isinstance(value, bool)):
            return str(value)
    return default


def time_of(item: Mapping[str, Any], *keys: str) -> TimeLike:
    """The first time that is there, as it is written (`admit` reads it); blank text is no time."""
    for key in keys or _TIME_KEYS:
        value: TimeLike = item.get(key)
        if value is not None and not (isinstance(value, str) and not value.strip()):
            return value
    return None


def metadata_of(item: Mapping[str, Any], *keys: str) -> dict[str, str]:
    """Those of `keys` that say something, as text."""
    return {key: str(item[key]) for key in keys if item.get(key)}


def first_message(source: Source) -> object:
    """The first message of a file that `message_sessions` would read, to tell whose it is; None when it has none."""
    held = source.first
    if isinstance(held, dict) and "messages" in held:
        held = held["messages"]
    return held if not isinstance(held, list) else next(iter(held), None)


def message_sessions(
    source: Source, is_message: Callable[[object], bool], turn_of: Callable[[Object, str], Turn | None]
) -> Iterator[Session]:
    """Sessions of a file that holds one list of messages, or several, bare or as `messages` of an object.

    `turn_of` gives None for what is no part of the dialogue.
    """
    items = source.items
    if items and is_message(items[0]):
        items = [items]
    for number, item in enumerate(items):
        where = "messages" if len(items) == 1 else f"[{number}].messages"
        head = item if isinstance(item, dict) else {}
        messages = objects(head.get("messages") if isinstance(item, dict) else item, where)
        own = head.get("metadata")
        turns = (turn_of(message, f"{where}[{i}]") for i, message in enumerate(messages))
        yield Session(
            id=id_of(head, f"{source.stem}#{number}"),
            turns=[turn for turn in turns if turn is not None],
            time=time_of(head),
            zone=text_of(head.get("zone"), f"{where}: zone") or None,
            metadata=dict(own) if isinstance(own, dict) else {},
        )


def message_text(message: Object, where: str) -> str:
    """What a message says: its content, then a note for each tool it calls."""
    notes = tool_notes(message, where)
    if not notes and not {"content", "text", "refusal", "parts"} & message.keys():
        raise InvalidInput(f"{where} has no content")
    content = next((message[key] for key in ("content", "text", "refusal", "parts") if message.get(key)), None)
    return "\n".join(part for part in (content_text(content, f"{where}.content"), *notes) if part)


def is_tool_result(content: object) -> bool:
    """Whether a message's content is nothing but what tools found."""
    parts = content if isinstance(content, list) else [content]
    return bool(parts) and all(isinstance(part, dict) and part.get("type") == "tool_result" for part in parts)


def content_text(content: object, where: str) -> str:
    """The text of a message's content: a text, an object, or a list of parts, each on a line of its own."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        raise InvalidInput(f"{where} must be text or a list of parts, not {type(content).__name__}")
    parts = (_part_text(part, f"{where}[{i}]") for i, part in enumerate(content))
    return "\n".join(text for text in parts if text)


def _part_text(part: object, where: str) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        raise InvalidInput(f"{where} must be text or an object, not {type(part).__name__}")
    kind = text_of(part.get("type") or part.get("content_type"), f"{where}.type")
    if kind in _HIDDEN:
        return ""
    if kind in {"tool_use", "tool_call", "function_call"}:
        return f"[tool call: {id_of(part, 'unnamed', 'name')}]"
    if kind == "tool_result":
        return content_text(part.get("content"), f"{where}.content")
    said = next((part[key] for key in ("text", "transcript", "refusal") if part.get(key)), None)
    if isinstance(said, dict):  # {"type": "text", "text": {"value": ...}}
        said = said.get("value")
    return text_of(said, f"{where}.text") or ("" if kind in {"text", ""} else _note(kind, part))


def _note(kind: str, part: Object) -> str:
    """`[image]`, `[image: a dog on a beach]`, `[file: plan.pdf]`."""
    name = next((note for word, note in _NOTES if word in kind), kind)
    caption = next((str(part[key]) for key in ("caption", "alt", "filename", "file_name") if part.get(key)), "")
    return f"[{name}: {caption}]" if caption else f"[{name}]"


def tool_notes(message: Object, where: str) -> list[str]:
    """`[tool call: name]` for each tool that a message calls."""
    calls = [*objects(message.get("tool_calls") or [], f"{where}.tool_calls")]
    if isinstance(message.get("function_call"), dict):
        calls.append(message["function_call"])
    functions = (call["function"] if isinstance(call.get("function"), dict) else call for call in calls)
    return [f"[tool call: {id_of(function, 'unnamed', 'name')}]" for function in functions]
