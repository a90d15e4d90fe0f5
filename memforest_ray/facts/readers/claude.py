"""Claude's data export: a list of chats, each with its `chat_messages`."""

from collections.abc import Iterator

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


def _matches(source: Source) -> bool:
    first = source.first
    return isinstance(first, dict) and isinstance(first.get("chat_messages"), list)


def _read(source: Source) -> Iterator[Conversation]:
    chats = objects(source.items, "")
    yield Conversation(source.stem, tuple(_session(chat, source, i) for i, chat in enumerate(chats)))


def _session(chat: Object, source: Source, number: int) -> Session:
    where = f"[{number}].chat_messages"
    turns = (_turn(m, f"{where}[{i}]") for i, m in enumerate(objects(chat.get("chat_messages") or [], where)))
    return Session(
        id=id_of(chat, f"{source.stem}#{number}", "uuid"),
        turns=list(turns),
        time=time_of(chat, "created_at"),
        metadata=metadata_of(chat, "name"),
    )


def _turn(message: Object, where: str) -> Turn:
    sender = text_of(message.get("sender"), f"{where}.sender")
    said = content_text(message.get("content"), f"{where}.content") or text_of(message.get("text"), f"{where}.text")
    return Turn(
        text="\n".join(part for part in (said, *_attachments(message, where)) if part),
        role="user" if sender in {"human", ""} else sender,
        time=time_of(message, "created_at"),
        id=id_of(message, "", "uuid") or None,
    )


def _attachments(message: Object, where: str) -> Iterator[str]:
    """What was pasted or uploaded: its name, and its text where the export has it."""
    for item in objects(message.get("attachments") or [], f"{where}.attachments"):
        text = text_of(item.get("extracted_content"), f"{where}.attachments: extracted_content")
        yield f"[file: {id_of(item, 'unnamed', 'file_name')}]" + (f"\n{text}" if text else "")
    for item in objects(message.get("files") or [], f"{where}.files"):
        yield f"[file: {id_of(item, 'unnamed', 'file_name')}]"


FORMAT = Format("claude", _matches, _read)
