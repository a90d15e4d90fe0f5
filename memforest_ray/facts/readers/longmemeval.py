"""LongMemEval: one haystack of sessions for each question. Questions and answers are never read."""

from collections.abc import Iterator

from memforest_ray.errors import InvalidInput
from memforest_ray.facts.readers.messages import Object, id_of, objects
from memforest_ray.facts.readers.openai import role_turn
from memforest_ray.facts.readers.source import Conversation, Format, Source
from memforest_ray.facts.sessions import Session

__all__ = ["FORMAT"]


def _matches(source: Source) -> bool:
    first = source.first
    return isinstance(first, dict) and "haystack_sessions" in first


def _read(source: Source) -> Iterator[Conversation]:
    for number, item in enumerate(objects(source.items, "")):
        name = id_of(item, f"{source.stem}#{number}", "question_id")
        yield Conversation(name, tuple(_sessions(item, name)))


def _sessions(item: Object, name: str) -> Iterator[Session]:
    held = item.get("haystack_sessions")
    if not isinstance(held, list):
        raise InvalidInput(f"{name}: haystack_sessions must be a list, not {type(held).__name__}")
    ids = _column(item, "haystack_session_ids", len(held), name)
    times = _column(item, "haystack_dates", len(held), name)
    for number, (session, own_id, time) in enumerate(zip(held, ids, times, strict=True)):
        where = f"{name}: haystack_sessions[{number}]"
        messages = objects(session, where)
        yield Session(
            id=id_of({"id": own_id}, f"{name}#{number}"),
            turns=[role_turn(message, f"{where}[{i}]") for i, message in enumerate(messages)],
            time=time or None,
        )


def _column(item: Object, key: str, size: int, name: str) -> list[str | None]:
    """What `key` says about each session; nothing when it is missing."""
    values = item.get(key)
    if values is None:
        return [None] * size
    if not isinstance(values, list) or len(values) != size:
        raise InvalidInput(f"{name}: {key} must be a list of {size}, one for each session")
    return values


FORMAT = Format("longmemeval", _matches, _read)
