"""WhatsApp's text export: `20/05/2023, 14:21 - Ana: text`, or `[20/05/2023, 14:21:05] Ana: text`.

The order of day and month is the phone's: it is told from the numbers above 12 in the file; without any, a
clock of twelve hours means the month comes first. Each day is a session: a later export grows the chat.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from memforest_ray.errors import InvalidInput
from memforest_ray.facts.readers.source import Conversation, Format, Source
from memforest_ray.facts.sessions import Session, Turn

__all__ = ["FORMAT"]

_LINE = re.compile(
    r"[\u200e\u200f]*\[?(\d{1,4})([./-])(\d{1,2})[./-](\d{1,4}),?\s(?:[^\W\d]{1,4}\s)?(上午|下午|午前|午後|오전|오후)?\s?"
    r"(\d{1,2})[:.](\d{2})(?:[:.](\d{2}))?(?:[\s\u202f]?([AaPp])\.?\s?[Mm]\.?)?(?:\] | - )(.*)",
    re.DOTALL,
)
_SAID = re.compile(r"[\u200e\u202a\s]*([^:\n]{1,80}?)[\u202c\s]*: ?(.*)", re.DOTALL)
_EDITED = re.compile(
    r"(?<=\S)[ ](?:\u200e<[^<>:\n]{3,60}>"
    r"|<[^<>:\n]{0,40}(?:edited|bearbeitet|editó|editado|modifié|modificato|bewerkt)\.?>)$"
)
"""`<This message was edited>`, in the phone's language: behind what it says."""
_OMITTED = re.compile(r"\u200e<[^<>\n]{3,60}>|^<[^<>\n]{3,60}>$", re.MULTILINE)
"""`<Media omitted>`, in the phone's language: what stands for a picture in an export without them."""
_NOTED = re.compile(r"\u200e([^<>\n]{3,80})")
"""`image omitted`, `This message was deleted.`: what iPhones put in place of a message, behind an invisible mark."""
_DELETED = re.compile(r"\u200e?(?:This message was deleted|You deleted this message)\.?")
_AFTERNOON = frozenset({"p", "下午", "午後", "오후"})
_LINES_TO_TELL = 20
"""Lines within which a chat must begin."""


@dataclass(slots=True)
class _Entry:
    """One message with the parts of its date, the order of which is not known yet."""

    number: int
    stamp: re.Match[str]
    lines: list[str]


def _matches(source: Source) -> bool:
    return source.fault is not None and any(map(_LINE.match, source.text.split("\n")[:_LINES_TO_TELL]))


def _read(source: Source) -> Iterator[Conversation]:
    entries = list(_entries(source.text))
    month_first = _month_first(entries)
    dated = [(_time(entry, month_first), entry) for entry in entries]
    days = groupby(dated, key=lambda pair: pair[0].date())
    sessions = (
        Session(id=f"{source.stem}#{day}", turns=[turn for time, entry in group for turn in _turns(time, entry)])
        for day, group in days
    )
    yield Conversation(source.stem, tuple(sessions))


def _entries(text: str) -> Iterator[_Entry]:
    """Messages with the lines that continue them; what stands before the first is no message."""
    current = None
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        stamp = _LINE.match(line)
        if stamp:
            if current:
                yield current
            current = _Entry(number, stamp, [stamp[10]])
        elif current:
            current.lines.append(line)
    if current:
        yield current


def _month_first(entries: list[_Entry]) -> bool:
    stamps = [entry.stamp for entry in entries]
    if any(12 < int(stamp[1]) < 32 for stamp in stamps):
        return False
    if any(int(stamp[3]) > 12 for stamp in stamps):
        return True
    return any(stamp[9] for stamp in stamps) and not any(stamp[2] == "." for stamp in stamps)


def _time(entry: _Entry, month_first: bool) -> datetime:
    first, _, second, third, before, hour, minute, seconds, after, _ = entry.stamp.groups()
    half = before or after
    if len(first) == 4:
        year, month, day = first, second, third
    else:
        year, month, day = (third, first, second) if month_first else (third, second, first)
    hours = int(hour) if half is None else int(hour) % 12 + (12 if half.lower() in _AFTERNOON else 0)
    century = 2000 if len(year) <= 2 else 0
    try:
        # The phone's zone is not in the file: the time stays naive, the session's zone decides.
        return datetime(century + int(year), int(month), int(day), hours, int(minute), int(seconds or 0))  # noqa: DTZ001
    except ValueError as error:
        raise InvalidInput(f"line {entry.number}: no such date: {error}") from error


def _turns(time: datetime, entry: _Entry) -> Iterator[Turn]:
    """The turn of a message; none for what was deleted, and what WhatsApp itself notes, which has no speaker."""
    said = _SAID.match("\n".join(entry.lines).rstrip("\n"))
    if said and not _DELETED.fullmatch(said[2]):
        yield Turn(text=_text(said[2]), speaker=said[1].lstrip("~ "), time=time)


def _text(said: str) -> str:
    """What was said, with notes for what is no text."""
    if noted := _NOTED.fullmatch(said):
        return f"[media: {noted[1]}]"
    return _OMITTED.sub("[media]", _EDITED.sub("", said))


FORMAT = Format("whatsapp", _matches, _read)
