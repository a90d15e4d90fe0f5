"""Answer without a model: the best evidence in its own words, with its sources, or that the memory does not hold it."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from memforest_ray.facts.times import to_datetime
from memforest_ray.index.rows import index_words
from memforest_ray.query.answering.attribution import LEAD_MIN, LEAD_OF_SURE_MIN
from memforest_ray.query.answering.telling import refers
from memforest_ray.query.corrected import CORRECTED
from memforest_ray.query.passages import PASSAGE_CHARS, passage
from memforest_ray.query.question import Question
from memforest_ray.query.render import day, times, when
from memforest_ray.query.result import Answer, Hit, Result
from memforest_ray.query.speakers import OWN_SPEAKER, ROLES
from memforest_ray.query.timing.amounts import has_number
from memforest_ray.query.timing.durations import duration, has_begun
from memforest_ray.query.timing.spells import EARLIER

__all__ = ["HELD_MIN", "SINGLED_MIN", "answer", "refusal"]

HELD_MIN: Final = 0.4
"""Score of the best hit below which nothing is claimed."""
SINGLED_MIN: Final = 0.15
"""The same for what time singled out: that it is of the subject and the attribute asked for is evidence of its own."""
_NOTHING: Final = "nothing that is remembered answers this"
_ANOTHERS: Final = "what is remembered of this is somebody else's"
_AMOUNT: Final = re.compile(
    r"\bhow (?:many|much|old|tall|far|big|heavy|high|expensive)\b|\bwhat does\b.*\bcost\b", re.IGNORECASE
)
_AMOUNTS: Final = frozenset(
    index_words("many much old tall far big heavy high expensive cost pay get buy price there take times")
)
"""Words that say only that an amount is asked for."""
_SURE: Final = 0.9
"""Score from which the best hit of all is told, if it is theirs, though others said what is as good."""
_AS_GOOD: Final = 0.7
"""Share of the best score from which another turn is told too: near it the order is a matter of chance."""
_AS_GOOD_IN_TURN: Final = 0.9
"""The same for another hit of the best turn."""
_TURNS_MAX: Final = 4
"""Turns whose hits are told at most: it is an answer, not a list."""
_BEST_TURN_MAX: Final = 2
"""Hits of the best turn that are told: what was said in one breath belongs together."""
_WORDS_MIN: Final = 2
"""Words of another turn that is told: "Noted." says nothing."""
_SERVING: Final = ROLES - {OWN_SPEAKER}
"""Speakers without a name who have no life of their own."""
_COUNTED: Final = re.compile(r"\d+ of \d+:")
"""The note of something that was counted."""
_HOW_LONG: Final = re.compile(r"\bhow (long|much time|many (?P<unit>days|weeks|months|years))\b", re.IGNORECASE)
_AGO: Final = re.compile(r"\bago\b", re.IGNORECASE)


def answer(result: Result, text: str, held_min: float = HELD_MIN) -> Answer:
    """Answer the question `text` from the hits of `result` alone."""
    question = Question.of(text)
    why = refusal(result, held_min, question)
    if why:
        return Answer(f"Not in memory: {why}.", found=False, result=result)
    told = list(_told(_theirs(result), frozenset(question.terms)))
    lines = [*_sum(text, told, result.trace.asked_ms), *(_line(hit, question) for hit in told)]
    return Answer("\n".join(lines), found=True, citations=tuple(hit.citation for hit in told), result=result)


def refusal(result: Result, held_min: float = HELD_MIN, question: Question | None = None) -> str:
    """Why nothing can be claimed from these hits; empty when something can.

    With the question less is wanted of what says all that it asks for, and in such a form as it asks for.
    """
    if not result.hits or (result.message and not any(map(_is_singled, result.hits))):
        return result.message or _NOTHING
    if result.strangers:
        return f"nothing is remembered of {' or '.join(result.strangers)}"
    theirs = _theirs(result)
    best = next((hit for hit in theirs if hit.timely), None)
    if best is None:
        asked = f": {'; '.join(result.trace.reading)}" if result.trace.reading else " that is asked for"
        return f"nothing is remembered that fits the time{asked}" if theirs else _ANOTHERS
    if not result.only_time and best.score < _least(result, best, held_min, question):
        others = any(hit.timely and hit.score >= held_min for hit in result.hits)
        return _ANOTHERS if others else _NOTHING
    if best.score < _AS_GOOD * _best_of_others(result) and not _is_singled(best):
        return _ANOTHERS
    sure = best is result.hits[0] and best.score >= _SURE
    trails = result.lead is not None and result.lead < (LEAD_OF_SURE_MIN if sure else LEAD_MIN)
    return _ANOTHERS if trails and not _is_singled(best) else ""


def _least(result: Result, best: Hit, held_min: float, question: Question | None) -> float:
    """The score from which something is claimed: less of what was singled out, and any where that is certain."""
    if not _is_singled(best):
        return min(held_min, SINGLED_MIN) if question is not None and _says_all(best, question) else held_min
    return 0.0 if result.certain else min(held_min, SINGLED_MIN)


def _best_of_others(result: Result) -> float:
    """The score of the best hit that is of somebody else."""
    return max((result.hits[place].score for place in result.aside if result.hits[place].timely), default=0.0)


def _says_all(hit: Hit, question: Question) -> bool:
    """Whether it holds every word that is asked for, and a number where "how many" asks for one."""
    asked = set(question.terms) - _AMOUNTS
    held = set(index_words(f"{hit.speaker} {hit.text}"))
    return bool(asked) and asked <= held and _AMOUNT.search(question.text) is not None and has_number(hit.text)


def _is_singled(hit: Hit) -> bool:
    """Whether time put it first, or counted it."""
    return bool(hit.note) and hit.note != CORRECTED


def _theirs(result: Result) -> list[Hit]:
    """The hits that may be of whom the question is about."""
    return [hit for place, hit in enumerate(result.hits) if place not in result.aside]


def _told(hits: Sequence[Hit], terms: frozenset[str]) -> Iterator[Hit]:
    """When time singled something out, only that; else the best, and what is as good, turn by turn.

    What else a turn says belongs to it where it speaks of the same: it holds one of the question's `terms`, or refers.
    """
    singled = [hit for hit in hits if _is_singled(hit)]
    if singled:
        yield from singled
        return
    timely = [hit for hit in hits if hit.timely]
    turns: dict[str, int] = {}
    for hit in timely:
        turn = hit.turn_ids[0] if hit.turn_ids else hit.fact_id or ""
        if turns and not _adds(hit, terms, same=turn in turns):
            continue
        room = len(turns) < _TURNS_MAX if turn not in turns else len(turns) == 1 and turns[turn] < _BEST_TURN_MAX
        if room and hit.score >= timely[0].score * (_AS_GOOD_IN_TURN if turn in turns else _AS_GOOD):
            turns[turn] = turns.get(turn, 0) + 1
            yield hit


def _adds(hit: Hit, terms: frozenset[str], *, same: bool) -> bool:
    """Whether a hit that is no better than another is worth telling beside it; `same`: it is of the same turn."""
    said = _own_words(hit)
    if hit.kind == "cell" or not terms.isdisjoint(said):
        return len(said) >= _WORDS_MIN
    if hit.speaker in _SERVING:
        return False
    return len(said) >= _WORDS_MIN and (not same or refers(hit.text, hit.speaker.split()))


def _own_words(hit: Hit) -> set[str]:
    """What it says, without the name of whoever says it."""
    return set(index_words(hit.text)) - set(index_words(hit.speaker))


def _sum(text: str, told: Sequence[Hit], asked_ms: int | None) -> Iterator[str]:
    """What is computed from the hits: how often, or how long."""
    if all(_COUNTED.match(hit.note) for hit in told):
        yield f"Found {len(told)} times:"
    long = _HOW_LONG.search(text)
    if long:
        yield from _how_long(told, long["unit"], None if asked_ms is None else to_datetime(asked_ms), text)


def _how_long(told: Sequence[Hit], unit: str | None, asked: datetime | None, text: str) -> Iterator[str]:
    """The time from the first of two ends to the other, or to when it was asked; no more exact than it is known."""
    ends = [hit.note.partition(" ")[0] for hit in told]
    earlier = [hit.note.endswith(EARLIER) for hit in told]
    if ends == ["from", "to"] and all(earlier):
        yield "It is not remembered when this began and when it ended:"
    elif ends == ["from", "to"]:
        bound = "at least " * earlier[0] + "at most " * earlier[1]
        yield f"{bound}{duration(told[0], told[1], unit)}:"
    elif ends == ["since"] and asked is not None and has_begun(told[0], asked):
        until = "before" if _AGO.search(text) else "up to"
        yield f"{'at least ' * earlier[0]}{duration(told[0], asked, unit)} {until} {day(asked)}:"


def _line(hit: Hit, question: Question) -> str:
    happened = when(hit.event_time)
    lead = f"{happened[:1].upper()}{happened[1:]}: " if question.wants_time and happened else ""
    return f"{lead}{_shown(hit, question)} ({times(hit)}) [{hit.citation}]"


def _shown(hit: Hit, question: Question) -> str:
    """Its text; of a long one the part that holds most of what is asked for."""
    if len(hit.text) <= PASSAGE_CHARS:
        return hit.text
    part, _ = passage(hit.text, dict.fromkeys(question.terms, 1.0))
    start = hit.text.find(part)
    return "... " * (start > 0) + part + " ..." * (start + len(part) < len(hit.text))
