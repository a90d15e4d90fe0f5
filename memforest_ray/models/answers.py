"""What a model wrote, read as one JSON object: whatever stands around it, and as far as it goes.

Models think aloud, fence their answer, introduce it politely, are cut off, or fill the rest of their budget with
white space. What can be used of that is; what cannot is named.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["PADDED", "STARVED", "Answer", "ThoughtFilter", "circles", "read_answer", "salvage", "spoken"]

PADDED: Final = "the answer was padded with white space"
"""What a grammar that allows white space everywhere makes of some questions."""
STARVED: Final = "thinking used up the answer's budget before it began (`llm_body` can turn it off, or ask for less)"

_THOUGHT: Final = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_THINKING: Final = re.compile(r"^\s*<think(?:ing)?>")
_THOUGHT_END: Final = re.compile(r"^.*</think(?:ing)?>", re.DOTALL)
"""Some servers take the opening mark for part of their template, and leave the closing one."""
_FENCE: Final = re.compile(r"```[\w-]*\s*(.*?)(?:```|$)", re.DOTALL)
_FENCES_OF_ONE: Final = 2
_PADDING_CHARS_MIN: Final = 64
"""So much white space at the end of a cut answer is a loop of the grammar, not layout."""
_CIRCLE_CHARS: Final = 200
"""More than the keys of an item have: what stands between two statements is no circle."""
_CIRCLES_MIN: Final = 3
_DECODER: Final = json.JSONDecoder(strict=False)
"""Line breaks inside of a text are taken as they are."""
_SPACE: Final = re.compile(r"[\s]*")


@dataclass(frozen=True, slots=True)
class Answer:
    """One JSON object, or why there is none."""

    value: dict[str, Any] | None
    failure: str | None = None
    cut: bool = False
    """`value` is what was complete when the answer ended."""
    padded: bool = False
    """The answer ended in a run of white space up to its limit."""
    starved: bool = False
    """The budget was used up before the answer began."""


def read_answer(text: str, *, at_limit: bool) -> Answer:
    """The JSON object in `text`. `at_limit`: the server stopped at the most tokens allowed (`length`)."""
    padded = at_limit and len(text) - len(text.rstrip()) >= min(_PADDING_CHARS_MIN, max(len(text), 1))
    said = spoken(text)
    if not said.strip():
        return _nothing(text, at_limit=at_limit, padded=padded)
    value = _whole(said)
    if value is not None:
        return Answer(value, padded=padded)
    if padded:
        return Answer(None, PADDED, padded=True)
    if at_limit and _whole(said, alone=True) is None:
        return Answer(salvage(said) or None, "the answer was cut off at its limit", cut=True)
    return Answer(None, _fault(said))


def _fault(said: str) -> str:
    """Why there is no object in an answer that was not cut off."""
    if "{" not in said:
        return "the answer holds no JSON object"
    if _whole(said, alone=True) is not None:
        return "the answer holds several objects that say different things"
    return "the answer is not valid JSON"


def _nothing(text: str, *, at_limit: bool, padded: bool) -> Answer:
    if _THINKING.match(text) or (at_limit and not text):
        return Answer(None, STARVED, starved=True)
    if padded:
        return Answer(None, PADDED, padded=True)
    return Answer(None, "the answer was empty")


def circles(text: str) -> bool:
    """Whether a text that was cut off says the same again and again, and would go on with it."""
    end = text[-_CIRCLE_CHARS:]
    return len(end) == _CIRCLE_CHARS and text.count(end) >= _CIRCLES_MIN


def spoken(text: str) -> str:
    """Without what was thought aloud, and without a fence."""
    text = _THOUGHT.sub("", text)
    text = _THOUGHT_END.sub("", text, count=1)
    if _THINKING.match(text):
        return ""
    fenced = _FENCE.search(text)
    alone = fenced is not None and "{" not in text[: fenced.start()] and text.count("```") <= _FENCES_OF_ONE
    return fenced[1] if fenced is not None and alone else text


def _whole(text: str, *, alone: bool = False) -> dict[str, Any] | None:
    """The first complete JSON object, with whatever stands before and behind it.

    Others of its form behind it (an empty one first, one for each turn) are laid together with it, but when it is taken
    `alone`: nothing is lost. None where they contradict each other.
    """
    start = text.find("{")
    if start < 0:
        return None
    value, end = _value(text, start)
    if not isinstance(value, dict):
        return None
    while not alone and (start := text.find("{", end)) >= 0 and end >= 0:
        other, end = _value(text, start)
        if isinstance(other, dict) and other.keys() == value.keys():
            if any(value[key] != other[key] and not _are_lists(value[key], other[key]) for key in value):
                return None
            value = {
                key: value[key] + other[key] if _are_lists(value[key], other[key]) else value[key] for key in value
            }
    return value


def _are_lists(one: Any, other: Any) -> bool:
    return isinstance(one, list) and isinstance(other, list)


def salvage(text: str) -> dict[str, Any]:
    """What is complete of an object that was cut off: its whole members, and the leading items of an open list."""
    members: dict[str, Any] = {}
    place = text.find("{") + 1
    while place > 0:
        key, place = _value(text, place)
        if not isinstance(key, str) or text[place : place + 1] != ":":
            break
        place = _skip(text, place + 1)
        if text[place : place + 1] == "[":
            members[key], place = _items(text, place + 1)
        else:
            value, place = _value(text, place)
            if place < 0 or (place == len(text) and not isinstance(value, str | dict | list)):
                break  # a number at the end may have lost digits
            members[key] = value
        if place < 0 or text[place : place + 1] != ",":
            break
        place += 1
    return members


def _items(text: str, place: int) -> tuple[list[Any], int]:
    """Complete items from `place` on, and where the list ended; -1 when it did not."""
    items: list[Any] = []
    place = _skip(text, place)
    if text[place : place + 1] == "]":
        return items, _skip(text, place + 1)
    while True:
        value, place = _value(text, place)
        if place < 0 or text[place : place + 1] not in (",", "]"):
            return items, -1
        items.append(value)
        if text[place] == "]":
            return items, _skip(text, place + 1)
        place += 1


def _value(text: str, place: int) -> tuple[Any, int]:
    """The value at `place` and where the next sign stands; -1 when it is not complete."""
    try:
        value, end = _DECODER.raw_decode(text, _skip(text, place))
    except (ValueError, RecursionError):  # also numbers of thousands of digits, and nesting without end
        return None, -1
    return value, _skip(text, end)


def _skip(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    return match.end() if match else place


class ThoughtFilter:
    """Leaves out what is thought aloud at the beginning of an answer that comes in pieces."""

    def __init__(self) -> None:
        self._held = ""
        """What has come, until it is known whether it is thought or said."""
        self._thought = False
        self._saying = False

    def feed(self, piece: str) -> str:
        """What of the text so far can be shown now."""
        if self._saying:
            return piece
        self._held += piece
        begun = self._held.lstrip()
        if not self._thought and _THINKING.match(begun):
            end = _THOUGHT.match(begun)
            if end is None:
                return ""
            self._thought = True
            self._held = begun = begun[end.end() :].lstrip()
        if not begun or (not self._thought and "<thinking>".startswith(begun)):
            return ""
        self._saying = True
        return begun if self._thought else self._held

    def end(self) -> str:
        """What is left when the answer ends: nothing of an unfinished thought."""
        if self._saying or _THINKING.match(self._held):
            return ""
        self._saying = True
        return self._held
