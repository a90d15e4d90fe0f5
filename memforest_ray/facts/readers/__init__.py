"""Readers: chat files of many formats -> conversations of sessions. A module for each format."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from memforest_ray.errors import InvalidInput
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
from memforest_ray.facts.readers.source import Conversation, Format, Source, load
from memforest_ray.facts.sessions import Session

__all__ = ["FORMATS", "Conversation", "read_conversations"]

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
) -> Iterator[Conversation]:
    """The conversations of a chat file, in its order; the whole file is read and checked before the first.

    `format` is one of FORMATS, or "auto": told from the shape. Sessions without turns are left out; of
    sessions that share an id but not their turns, the later are named `id~2`, `id~3`. Raises InvalidInput,
    naming the file and the place in it.
    """
    if format not in {"auto", *FORMATS}:
        raise InvalidInput(f"unknown format {format!r}; known are auto, {', '.join(FORMATS)}")
    path = Path(source)
    try:
        return iter(_read(load(path), format))
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error.message}") from error


def _read(source: Source, name: str) -> list[Conversation]:
    known = _recognised(source) if name == "auto" else _BY_NAME[name]
    found = (replace(c, sessions=tuple(_distinct(c.sessions))) for c in known.read(source))
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
