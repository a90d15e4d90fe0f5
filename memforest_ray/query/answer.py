"""Answer without a model: the best evidence in its own words, with its sources, or that the memory does not hold it."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Final

from memforest_ray.facts.times import EventTime, Precision
from memforest_ray.query.question import Question
from memforest_ray.query.result import Answer, Hit, Result

__all__ = ["HELD_MIN", "SINGLED_MIN", "answer", "when"]

HELD_MIN: Final = 0.4
"""Score of the best hit below which nothing is claimed."""
SINGLED_MIN: Final = 0.15
"""The same for what time singled out: that it is of the subject and the attribute asked for is evidence of its own."""
_AS_GOOD: Final = 0.9
"""Share of the best score from which another hit is told too: near it the order is a matter of chance."""
_TOLD_MAX: Final = 3
"""Hits told at most: it is an answer, not a list."""


def answer(result: Result, text: str, held_min: float = HELD_MIN) -> Answer:
    """Answer the question `text` from the hits of `result` alone."""
    best = result.hits[0] if result.hits else None
    if best is None or best.score < (min(held_min, SINGLED_MIN) if best.note else held_min):
        return Answer(f"Not in memory: {_why(result)}.", found=False, result=result)
    told = list(_told(result.hits))
    wants_time = Question.of(text).wants_time
    lines = [_line(hit, wants_time=wants_time) for hit in told]
    return Answer("\n".join(lines), found=True, citations=tuple(_cited(hit) for hit in told), result=result)


def _why(result: Result) -> str:
    return result.message or "nothing that is remembered answers this"


def _told(hits: tuple[Hit, ...]) -> Iterator[Hit]:
    """The best, and what is as good; when time singled something out, only that."""
    singled = [hit for hit in hits if hit.note]
    if singled:
        yield from singled[:_TOLD_MAX]
        return
    for hit in hits[:_TOLD_MAX]:
        if hit.score >= hits[0].score * _AS_GOOD:
            yield hit


def _line(hit: Hit, *, wants_time: bool) -> str:
    said = "said at an unknown time" if hit.source_time is None else f"said {_day(hit.source_time)}"
    happened = when(hit.event_time)
    times = "; ".join(filter(None, (happened and f"time: {happened}", said)))
    lead = f"{happened[:1].upper()}{happened[1:]}: " if wants_time and happened else ""
    return f"{lead}{hit.text} ({times}) [{_cited(hit)}]"


def _cited(hit: Hit) -> str:
    return hit.fact_id or ", ".join(hit.turn_ids)


def when(event: EventTime | None) -> str:
    """An event time as people write it, no finer than it is known; nothing when it is unknown."""
    if event is None:
        return ""
    if event.open_start:
        return f"before {_day(event.end)}"
    last = event.end - timedelta(milliseconds=1)
    format_of = _SHOWN.get(event.precision)
    return f"{_day(event.start)} to {_day(last)}" if format_of is None else format_of(event.start)


def _day(instant: datetime) -> str:
    return f"{instant.day} {instant:%B} {instant.year}"


_SHOWN: Final[Mapping[Precision, Callable[[datetime], str]]] = {
    Precision.INSTANT: lambda start: f"{_day(start)}, {start:%H:%M}",
    Precision.DAY: _day,
    Precision.MONTH: lambda start: f"{start:%B} {start.year}",
    Precision.YEAR: lambda start: str(start.year),
    Precision.DECADE: lambda start: f"the {start.year}s",
}
"""Precisions that are written by where they begin; the others by their first and last day."""
