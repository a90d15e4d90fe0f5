"""LoCoMo: samples of one conversation each, with numbered sessions. Only the dialogue is read."""

import re
from collections.abc import Iterator

from memforest_ray.errors import InvalidInput
from memforest_ray.facts.readers.messages import Object, id_of, objects, text_of, time_of
from memforest_ray.facts.readers.source import Conversation, Format, Source
from memforest_ray.facts.sessions import Session, Turn

__all__ = ["FORMAT"]

_SESSION = re.compile(r"session_(\d+)")


def _conversation(item: object) -> Object | None:
    """The conversation of a sample, or a bare one; None for anything else."""
    held = item.get("conversation", item) if isinstance(item, dict) else None
    return held if isinstance(held, dict) and any(map(_SESSION.fullmatch, held)) else None


def _read(source: Source) -> Iterator[Conversation]:
    items = source.items
    for number, item in enumerate(items):
        held = _conversation(item)
        if held is None or not isinstance(item, dict):
            raise InvalidInput(f"[{number}] holds no `session_1`")
        default = source.stem if len(items) == 1 else f"{source.stem}#{number}"
        yield Conversation(id_of(item, default, "sample_id"), tuple(_sessions(held)))


def _sessions(held: Object) -> Iterator[Session]:
    """Sessions by number; dates without a session are passed over."""
    numbers = sorted(int(match[1]) for match in map(_SESSION.fullmatch, held) if match)
    for name in (f"session_{number}" for number in numbers):
        turns = objects(held[name] or [], name)
        yield Session(
            id=name,
            turns=[_turn(turn, f"{name}[{i}]") for i, turn in enumerate(turns)],
            time=time_of(held, f"{name}_date_time"),
        )


def _turn(turn: Object, where: str) -> Turn:
    caption = text_of(turn.get("blip_caption"), f"{where}.blip_caption")
    parts = (text_of(turn.get("text"), f"{where}.text"), f"[image: {caption}]" if caption else "")
    return Turn(
        text=" ".join(part for part in parts if part),
        speaker=text_of(turn.get("speaker"), f"{where}.speaker") or None,
        id=id_of(turn, "", "dia_id") or None,
    )


FORMAT = Format("locomo", lambda source: _conversation(source.first) is not None, _read)
