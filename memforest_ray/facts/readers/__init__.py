"""Readers: chat files of many formats -> conversations of sessions. A module for each format."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from memforest_ray.errors import InvalidInput, meant
from memforest_ray.facts.readers import (
    chatgpt,
    claude,
    langchain,
    locomo,
    longmemeval,
    native,
    openai,
    sharegpt,
    slack,
    whatsapp,
)
from memforest_ray.facts.readers.defaults import Defaults
from memforest_ray.facts.readers.source import Conversation, Format, Source, load
from memforest_ray.facts.sessions import Session, TimeLike

__all__ = ["FORMATS", "Conversation", "read_conversations", "read_messages"]

_IN_ORDER: tuple[Format, ...] = (
    whatsapp.FORMAT,
    chatgpt.FORMAT,
    claude.FORMAT,
    longmemeval.FORMAT,
    locomo.FORMAT,
    sharegpt.FORMAT,
    native.FORMAT,
    slack.FORMAT,
    langchain.FORMAT,
    openai.FORMAT,
)
"""The more telling shapes come first."""
_BY_NAME = {known.name: known for known in _IN_ORDER}
FORMATS = tuple(sorted(_BY_NAME))
"""Names of the formats that can be read."""


def read_conversations(
    source: Path | str,
    format: str = "auto",  # noqa: A002 - the caller's word
    *,
    speaker: str | None = None,
    time: TimeLike = None,
) -> Iterator[Conversation]:
    """The conversations of a chat file, in its order; the whole file is read and checked before the first.

    `format` is one of FORMATS, or "auto": told from the shape. Sessions without turns are left out; of
    sessions that share an id but not their turns, the later are named `id~2`, `id~3`.

    `speaker`: who speaks in the role `user` where the file names nobody, as chats with a model do; else they are called
    "user". `time`: when sessions without a time took place; else it stays unknown. Raises InvalidInput, naming the file
    and the place in it.
    """
    if not isinstance(source, str | Path):
        raise InvalidInput(f"the source must be the path of a file, not {source!r}")
    if not isinstance(format, str) or format not in {"auto", *FORMATS}:
        raise InvalidInput(f"unknown format {format!r}; {meant(str(format), ('auto', *FORMATS))}")
    path, defaults = Path(source), Defaults(speaker, time)
    try:
        return iter(_read(load(path), format, defaults))
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error.message}") from error


def read_messages(
    messages: Sequence[Mapping[str, Any]],
    id: str,  # noqa: A002 - the session's
    *,
    speaker: str | None = None,
    time: TimeLike = None,
) -> Session:
    """A session of messages as the APIs of models have them, `{"role": ..., "content": ...}`: of OpenAI, Anthropic,
    Gemini.

    `speaker` and `time` as for `read_conversations`. Raises InvalidInput, naming the message that is none.
    """
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Sequence):
        raise InvalidInput(f"messages must be a list of messages, not {type(messages).__name__}")
    defaults = Defaults(speaker, time)
    read = openai.turns(list(messages), "messages")
    if not read:
        raise InvalidInput("no turns in these messages")
    return defaults.on(Session(id, read))


def _read(source: Source, name: str, defaults: Defaults) -> list[Conversation]:
    known = _recognised(source) if name == "auto" else _BY_NAME[name]
    found = (replace(each, sessions=tuple(map(defaults.on, _distinct(each.sessions)))) for each in known.read(source))
    conversations = [conversation for conversation in found if conversation.sessions]
    if not conversations:
        raise InvalidInput(f"no turns in it, read as {known.name}")
    return conversations


def _recognised(source: Source) -> Format:
    for known in _IN_ORDER:
        if known.matches(source):
            return known
    if not source.text.strip():
        raise InvalidInput("the file is empty")
    if source.fault is not None and source.path.suffix == ".txt" and not source.text.lstrip().startswith("{"):
        raise InvalidInput(
            f"its format is not recognised: it is no chat export of WhatsApp, and no JSON ({source.fault})"
        )
    if source.fault is not None:
        raise InvalidInput(source.fault)
    if source.first is None:
        raise InvalidInput("no turns in it")
    raise InvalidInput(f"its format is not recognised; name it, one of {', '.join(FORMATS)}")


def _distinct(sessions: Iterable[Session]) -> Iterator[Session]:
    """Sessions with turns, each under an id that no session of other turns has."""
    held = [session for session in sessions if session.turns]
    taken = {session.id: session.turns for session in reversed(held)}
    for session in held:
        name, number = session.id, 1
        while name in taken and taken[name] != session.turns:
            number += 1
            name = f"{session.id}~{number}"
        taken[name] = session.turns
        yield session if name == session.id else replace(session, id=name)
