"""Answer without a model: the best evidence in its own words, with its sources, or that the memory does not hold it."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from memforest_ray.query.attribution import LEAD_MIN
from memforest_ray.query.durations import duration
from memforest_ray.query.passages import PASSAGE_CHARS, passage
from memforest_ray.query.question import Question
from memforest_ray.query.render import times, when
from memforest_ray.query.result import Answer, Hit, Result

__all__ = ["HELD_MIN", "SINGLED_MIN", "answer", "cited", "refusal"]

HELD_MIN: Final = 0.4
"""Score of the best hit below which nothing is claimed."""
SINGLED_MIN: Final = 0.15
"""The same for what time singled out: that it is of the subject and the attribute asked for is evidence of its own."""
_AS_GOOD: Final = 0.7
"""Share of the best score from which another turn is told too: near it the order is a matter of chance."""
_AS_GOOD_IN_TURN: Final = 0.9
"""The same for another hit of the best turn."""
_TURNS_MAX: Final = 4
"""Turns whose hits are told at most: it is an answer, not a list."""
_BEST_TURN_MAX: Final = 2
"""Hits of the best turn that are told: what was said in one breath belongs together."""
_COUNTED: Final = re.compile(r"\d+ of \d+:")
"""The note of something that was counted."""
_HOW_LONG: Final = re.compile(r"\bhow (long|much time|many (?P<unit>days|weeks|months|years))\b", re.IGNORECASE)


def answer(result: Result, text: str, held_min: float = HELD_MIN) -> Answer:
    """Answer the question `text` from the hits of `result` alone."""
    why = refusal(result, held_min)
    if why:
        return Answer(f"Not in memory: {why}.", found=False, result=result)
    told = list(_told(result.hits))
    question = Question.of(text)
    lines = [*_sum(text, told), *(_line(hit, question) for hit in told)]
    return Answer("\n".join(lines), found=True, citations=tuple(cited(hit) for hit in told), result=result)


def refusal(result: Result, held_min: float = HELD_MIN) -> str:
    """Why nothing can be claimed from these hits; empty when something can."""
    timely = [hit for hit in result.hits if hit.timely]
    if not result.hits or (result.message and not any(hit.note for hit in result.hits)):
        return result.message or "nothing that is remembered answers this"
    if not timely:
        return f"nothing is remembered that fits the time: {'; '.join(result.trace.reading)}"
    best = timely[0]
    if not result.only_time and best.score < (min(held_min, SINGLED_MIN) if best.note else held_min):
        return "nothing that is remembered answers this"
    if result.lead is not None and result.lead < LEAD_MIN and not best.note:
        return "what is remembered of this is somebody else's"
    return ""


def _told(hits: Sequence[Hit]) -> Iterator[Hit]:
    """When time singled something out, only that; else the best, and what is as good, turn by turn."""
    singled = [hit for hit in hits if hit.note]
    if singled:
        yield from singled
        return
    timely = [hit for hit in hits if hit.timely]
    turns: dict[str, int] = {}
    for hit in timely:
        turn = hit.turn_ids[0] if hit.turn_ids else hit.fact_id or ""
        room = len(turns) < _TURNS_MAX if turn not in turns else len(turns) == 1 and turns[turn] < _BEST_TURN_MAX
        if room and hit.score >= timely[0].score * (_AS_GOOD_IN_TURN if turn in turns else _AS_GOOD):
            turns[turn] = turns.get(turn, 0) + 1
            yield hit


def _sum(text: str, told: Sequence[Hit]) -> Iterator[str]:
    """What is computed from the hits: how often, or how long."""
    if all(_COUNTED.match(hit.note) for hit in told):
        yield f"Found {len(told)} times:"
    long = _HOW_LONG.search(text)
    if long and [hit.note.partition(" ")[0] for hit in told] == ["from", "to"]:
        yield f"{duration(told[0], told[1], long['unit'])}:"


def _line(hit: Hit, question: Question) -> str:
    happened = when(hit.event_time)
    lead = f"{happened[:1].upper()}{happened[1:]}: " if question.wants_time and happened else ""
    return f"{lead}{_shown(hit, question)} ({times(hit)}) [{cited(hit)}]"


def _shown(hit: Hit, question: Question) -> str:
    """Its text; of a long one the part that holds most of what is asked for."""
    if len(hit.text) <= PASSAGE_CHARS:
        return hit.text
    part, _ = passage(hit.text, dict.fromkeys(question.terms, 1.0))
    start = hit.text.find(part)
    return "... " * (start > 0) + part + " ..." * (start + len(part) < len(hit.text))


def cited(hit: Hit) -> str:
    """How an answer names this piece of evidence."""
    return hit.fact_id or ", ".join(hit.turn_ids)
