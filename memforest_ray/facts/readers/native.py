"""Our own format: `{"id": ..., "sessions": [{"id", "time", "zone", "metadata", "turns": [...]}]}`.

A turn is `{"speaker", "role", "text", "time", "id"}`, of which only `text` must be there.

A file may also hold one session (an object with `turns`), a list of sessions, a list of conversations, or an
object whose `conversations` is such a list.
"""

from collections.abc import Iterator

from memforest_ray.errors import InvalidInput
from memforest_ray.facts.readers.messages import Object, content_text, id_of, objects, text_of, time_of
from memforest_ray.facts.readers.source import Conversation, Format, Source
from memforest_ray.facts.sessions import Session, Turn

__all__ = ["FORMAT"]


def _matches(source: Source) -> bool:
    first = source.first
    if isinstance(first, dict) and isinstance(first.get("conversations"), list):
        first = next(iter(first["conversations"]), None)
    return isinstance(first, dict) and any(isinstance(first.get(key), list) for key in ("sessions", "turns"))


def _read(source: Source) -> Iterator[Conversation]:
    items = objects(source.items, "")
    if len(items) == 1 and "conversations" in items[0]:
        items = objects(items[0]["conversations"], "conversations")
    if items and "sessions" not in items[0]:
        yield Conversation(source.stem, tuple(_sessions(items, source.stem, "sessions")))
        return
    for number, item in enumerate(items):
        name = id_of(item, source.stem if len(items) == 1 else f"{source.stem}#{number}")
        where = f"{name}: sessions"
        yield Conversation(name, tuple(_sessions(objects(item.get("sessions"), where), name, where)))


def _sessions(items: list[Object], name: str, where: str) -> Iterator[Session]:
    for number, item in enumerate(items):
        place = f"{where}[{number}]"
        turns = objects(item.get("turns"), f"{place}.turns")
        own = item.get("metadata") or {}
        if not isinstance(own, dict):
            raise InvalidInput(f"{place}.metadata must be an object, not {type(own).__name__}")
        yield Session(
            id=id_of(item, f"{name}#{number}"),
            turns=[_turn(turn, f"{place}.turns[{i}]") for i, turn in enumerate(turns)],
            time=time_of(item),
            zone=text_of(item.get("zone"), f"{place}.zone") or None,
            metadata=own,
        )


def _turn(turn: Object, where: str) -> Turn:
    if not {"text", "content"} & turn.keys():
        raise InvalidInput(f"{where} has no text")
    return Turn(
        text=content_text(turn.get("text") or turn.get("content"), f"{where}.text"),
        speaker=text_of(turn.get("speaker"), f"{where}.speaker") or None,
        role=text_of(turn.get("role"), f"{where}.role") or "user",
        time=time_of(turn),
        id=id_of(turn, "", "id") or None,
    )


FORMAT = Format("native", _matches, _read)
