"""Slack's export: a file for each channel and day, a list of messages with `ts`. One session a day (UTC)."""

import html
import re
from collections.abc import Iterator
from itertools import groupby

from memforest_ray.errors import InvalidInput
from memforest_ray.facts.instants import parse_instant
from memforest_ray.facts.readers.messages import Object, id_of, objects, text_of
from memforest_ray.facts.readers.source import Conversation, Format, Source
from memforest_ray.facts.sessions import Session, Turn
from memforest_ray.facts.times import to_datetime

__all__ = ["FORMAT"]

_MENTION = re.compile(r"<@([A-Z0-9]+)(?:\|([^>]*))?>")
_LINK = re.compile(r"<(?:mailto:)?([a-z]+:[^<>|\s]+|[^<>|\s@]+@[^<>|\s]+)(?:\|([^<>]*))?>")
_PLACE = re.compile(r"<(#|!)([^<>|]+)(?:\|([^<>]*))?>")
"""A channel, a group, or everybody: `<#C1|general>`, `<!subteam^S1|@team>`, `<!here>`."""
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def _matches(source: Source) -> bool:
    first = source.first
    return isinstance(first, dict) and first.get("type") == "message" and "ts" in first


def _read(source: Source) -> Iterator[Conversation]:
    # A file is named by its day, its folder by the channel.
    channel = source.path.absolute().parent.name if _DAY.fullmatch(source.stem) else source.stem
    messages = [message for message in objects(source.items, "") if _is_said(message)]
    names = dict(_names(messages))
    dated = sorted(((_said_ms(message), _turn(message, names)) for message in messages), key=lambda pair: pair[0])
    days = groupby(dated, key=lambda pair: to_datetime(pair[0]).date())
    sessions = (Session(id=f"{channel}#{day}", turns=[turn for _, turn in group]) for day, group in days)
    yield Conversation(channel, tuple(sessions))


def _is_said(message: Object) -> bool:
    """Whether somebody says it: not that someone joined, left or renamed the channel."""
    subtype = str(message.get("subtype") or "")
    return message.get("type") == "message" and not subtype.startswith(("channel_", "group_", "pinned_"))


def _said_ms(message: Object) -> int:
    try:
        return parse_instant(float(message.get("ts", "")), None).ms
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"a message has no readable ts: {message.get('ts')!r}") from error


def _names(messages: list[Object]) -> Iterator[tuple[str, str]]:
    """User id and name of everyone who speaks, where the export tells."""
    for message in messages:
        profile = message.get("user_profile")
        name = id_of(profile, "", "real_name", "display_name", "name") if isinstance(profile, dict) else ""
        if name and message.get("user"):
            yield str(message["user"]), name


def _turn(message: Object, names: dict[str, str]) -> Turn:
    user = id_of(message, "", "user")
    text = _plain(text_of(message.get("text"), f"message {message.get('ts')}: text"), names)
    files = objects(message.get("files") or [], f"message {message.get('ts')}: files")
    notes = (f"[file: {id_of(file, 'unnamed', 'name', 'title')}]" for file in files)
    return Turn(
        text="\n".join(part for part in (html.unescape(text), *notes) if part),
        speaker=names.get(user) or id_of(message, user, "username") or None,
        role="assistant" if message.get("bot_id") else "user",
        time=_said_ms(message),
        id=str(message["ts"]),
    )


def _plain(text: str, names: dict[str, str]) -> str:
    """A message as people read it: with names in place of ids, and links as they are shown."""
    text = _MENTION.sub(lambda found: "@" + (names.get(found[1]) or found[2] or found[1]), text)
    text = _PLACE.sub(lambda found: _named(found[1], found[3] or found[2]), text)
    return _LINK.sub(lambda found: found[1] if found[2] in (None, "", found[1]) else f"{found[2]} ({found[1]})", text)


def _named(mark: str, name: str) -> str:
    """`#general`, `@team`."""
    return f"#{name}" if mark == "#" else f"@{name.removeprefix('@')}"


FORMAT = Format("slack", _matches, _read)
