"""ChatGPT's data export, `conversations.json`: each chat a tree of messages, of which one branch is shown."""

from collections.abc import Iterator

from memforest_ray.errors import InvalidInput
from memforest_ray.facts.readers.messages import (
    Object,
    content_text,
    id_of,
    metadata_of,
    objects,
    text_of,
    time_of,
)
from memforest_ray.facts.readers.source import Conversation, Format, Source
from memforest_ray.facts.sessions import Session, Turn

__all__ = ["FORMAT"]

_UNSAID = frozenset({"user_editable_context", "model_editable_context", "thoughts", "reasoning_recap"})
"""Content types that are no part of the dialogue."""


def _matches(source: Source) -> bool:
    first = source.first
    return isinstance(first, dict) and isinstance(first.get("mapping"), dict)


def _read(source: Source) -> Iterator[Conversation]:
    chats = objects(source.items, "")
    sessions = (_session(chat, f"{source.stem}#{number}", f"[{number}]") for number, chat in enumerate(chats))
    yield Conversation(source.stem, tuple(sessions))


def _session(chat: Object, default_id: str, where: str) -> Session:
    nodes = chat.get("mapping") or {}
    if not isinstance(nodes, dict) or not all(isinstance(node, dict) for node in nodes.values()):
        raise InvalidInput(f"{where}.mapping must be an object of objects")
    turns = (_turn(node.get("message"), where) for node in _branch(nodes, chat.get("current_node")))
    return Session(
        id=id_of(chat, default_id, "conversation_id", "id"),
        turns=[turn for turn in turns if turn is not None],
        time=time_of(chat, "create_time"),
        metadata=metadata_of(chat, "title"),
    )


def _branch(nodes: dict[str, Object], current: object) -> list[Object]:
    """The nodes from the root to the one that was open last; to the latest leaf when none is named."""
    name = current if isinstance(current, str) and current in nodes else _latest(nodes)
    path: list[Object] = []
    seen = set()
    while isinstance(name, str) and name in nodes and name not in seen:
        seen.add(name)
        path.append(nodes[name])
        name = nodes[name].get("parent")
    return path[::-1]


def _latest(nodes: dict[str, Object]) -> str | None:
    """The leaf that was written last."""

    def written(name: str) -> float:
        message = nodes[name].get("message")
        time = message.get("create_time") if isinstance(message, dict) else None
        return float(time) if isinstance(time, int | float) else 0.0

    leaves = [name for name, node in nodes.items() if not node.get("children")]
    return max(leaves, key=written, default=None)


def _turn(message: object, where: str) -> Turn | None:
    """The turn of a message; None for empty, hidden and unsaid ones."""
    if not isinstance(message, dict) or not isinstance(message.get("content"), dict):
        return None
    marks = message.get("metadata")
    hidden = isinstance(marks, dict) and marks.get("is_visually_hidden_from_conversation")
    text = _text(message, where)
    if hidden or not text.strip():
        return None
    author = message.get("author")
    head = author if isinstance(author, dict) else {}
    return Turn(
        text=text,
        speaker=text_of(head.get("name"), f"{where}: author.name") or None,
        role=text_of(head.get("role"), f"{where}: author.role") or "user",
        time=time_of(message, "create_time"),
        id=id_of(message, "", "id") or None,
    )


def _text(message: Object, where: str) -> str:
    content = message["content"]
    if text_of(content.get("content_type"), f"{where}: content_type") in _UNSAID:
        return ""
    said = next((content[key] for key in ("parts", "text", "result") if content.get(key)), None)
    text = content_text(said, f"{where}: message {message.get('id')}")
    recipient = message.get("recipient") or "all"
    return text if recipient == "all" or not text else f"[tool call: {recipient}]\n{text}"


FORMAT = Format("chatgpt", _matches, _read)
