"""Grading: what a chat model says of numbered entries, asked in one call and read back carefully."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from memforest_ray.facts.times import to_datetime
from memforest_ray.models.chat import ChatReply
from memforest_ray.models.prompts.rank import GRADE_MAX, RANK
from memforest_ray.query.inquiry import Inquiry
from memforest_ray.query.render import day
from memforest_ray.query.steps import Consult, Steps

__all__ = ["ENTRY_CHARS_MAX", "asked_line", "clipped", "graded"]

ENTRY_CHARS_MAX: Final = 300
"""Of one entry: the beginning of a summary tells whether it is worth opening; 96 of them are some 7,000 tokens."""


def graded(inquiry: Inquiry, entries: Sequence[str]) -> Steps[tuple[dict[int, float], ChatReply]]:
    """Grades by place among `entries`, from 0 to 1, in the model's order; and the reply: `value` None is a failure."""
    lines = [f"{number}. {clipped(entry)}" for number, entry in enumerate(entries, start=1)]
    text = "\n".join((asked_line(inquiry), "Entries:", *lines))
    replies = yield from Consult((RANK.request(text, urgent=True),))
    reply = replies[0]
    return ({} if reply.value is None else _grades(reply.value, len(entries))), reply


def _grades(value: Mapping[str, Any], count: int) -> dict[int, float]:
    """What is usable of an answer: numbers of entries that were shown, each once."""
    found: dict[int, float] = {}
    listed = value.get("best")
    for item in listed if isinstance(listed, list) else ():
        number, grade = (item.get("n"), item.get("g")) if isinstance(item, Mapping) else (None, None)
        if isinstance(number, int) and isinstance(grade, int) and 1 <= number <= count and grade >= 1:
            found.setdefault(number - 1, min(grade, GRADE_MAX) / GRADE_MAX)
    return found


def asked_line(inquiry: Inquiry) -> str:
    """The question, and when it is asked: never later than what this query may know."""
    asked = inquiry.asked_ms
    return f"Question: {clipped(inquiry.request.text, 2_000)}" + (
        "" if asked is None else f"\nAsked: {day(to_datetime(asked))}"
    )


def clipped(text: str, chars: int = ENTRY_CHARS_MAX) -> str:
    """The text on one line, cut where it is too long."""
    line = " ".join(text.split())
    return line if len(line) <= chars else line[:chars].rstrip() + " ..."
