"""Cells: b consecutive turns of one session, the unit of extraction and the leaf of a session tree."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from memforest_ray.facts.sessions import SessionRecord
from memforest_ray.ids import CellId, SessionId, digest

__all__ = [
    "CHARS_MAX",
    "GAP_MS_MAX",
    "TURNS_MAX",
    "Cell",
    "Growth",
    "Span",
    "cell_text",
    "cut",
    "grow",
    "renewed",
]

TURNS_MAX = 2
"""Turns of a cell, the b of the paper."""
CHARS_MAX = 8_000
"""Characters of a cell: about 2,000 tokens, so that a prompt stays far below any model's window."""
GAP_MS_MAX = 6 * 3_600_000
"""Milliseconds between two turns of a cell: after six hours it is another conversation."""


@dataclass(frozen=True, slots=True)
class Span:
    """Part of one turn: characters `start` to `end` (exclusive) of turn number `turn`."""

    turn: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Cell:
    """Consecutive turns of one session, or part of a long one. The boundaries of a closed cell never move."""

    id: CellId
    session_id: SessionId
    number: int
    """Place in the session, from 0."""
    spans: tuple[Span, ...]
    """Over original turn positions; a forgotten turn leaves a hole, its span stays."""
    source_ms: int | None
    """When its first turn with a known time was said."""
    open: bool
    """The last cell of a session is open while it has fewer than b turns: growth replaces it."""


@dataclass(frozen=True, slots=True)
class Growth:
    """What becomes of a session's cells when turns are added: `kept + new` are its cells now."""

    kept: tuple[Cell, ...]
    """Cells whose id stays. The last may have been open and be closed now: same id, same text."""
    replaced: tuple[Cell, ...]
    """The open cell that has grown (at most one): its mentions are withdrawn."""
    new: tuple[Cell, ...]
    """Cells to extract, in order."""


def cell_text(session: SessionRecord, cell: Cell) -> str:
    """`Speaker: text` for each turn of the cell that is not forgotten, one a line."""
    lines = []
    for span in cell.spans:
        turn = session.turns[span.turn]
        if turn.hole is None:
            lines.append(f"{turn.speaker}: {turn.text[span.start : span.end]}")
    return "\n".join(lines)


def cut(
    session: SessionRecord,
    *,
    turns_max: int = TURNS_MAX,
    chars_max: int = CHARS_MAX,
    gap_ms_max: int = GAP_MS_MAX,
) -> tuple[Cell, ...]:
    """The cells of `session`, cut greedily from its first turn.

    A cell ends at `turns_max` turns, before it would exceed `chars_max` characters and at a gap of more than
    `gap_ms_max` between turns whose own times are both known. A turn longer than `chars_max` gets cells of
    its own, split where a sentence ends where it can be; what follows may join its last part. Every decision looks
    back only: the cells of a session's beginning are those of the session, but for the open last one.
    """
    limits = _Limits(turns_max, chars_max, gap_ms_max)
    return tuple(_cells(session, (), 0, 0, limits))


def grow(
    session: SessionRecord,
    cells: Sequence[Cell],
    *,
    turns_max: int = TURNS_MAX,
    chars_max: int = CHARS_MAX,
    gap_ms_max: int = GAP_MS_MAX,
) -> Growth:
    """Cut what was added to `session` since `cells` (all of them, in order) were cut with the same limits.

    Looks at the last cell and what follows it only; holes keep the spans that their cells hold.
    """
    limits = _Limits(turns_max, chars_max, gap_ms_max)
    if not cells:
        return Growth((), (), tuple(_cells(session, (), 0, 0, limits)))
    *closed, last = cells
    following = last.spans[-1].turn + 1
    if following == len(session.turns):
        return Growth(tuple(cells), (), ())
    if not last.open:
        return Growth(tuple(cells), (), tuple(_cells(session, (), following, last.number + 1, limits)))
    grown, *new = _cells(session, last.spans, following, last.number, limits)
    if grown.spans == last.spans:
        return Growth((*closed, replace(last, open=grown.open)), (), tuple(new))
    return Growth(tuple(closed), (last,), (grown, *new))


def renewed(session: SessionRecord, cell: Cell) -> Cell:
    """`cell` with the id and time that its turns give it now: after some of them became holes."""
    return _cell(session, cell.number, cell.spans, cell.open)


@dataclass(frozen=True, slots=True)
class _Limits:
    turns_max: int
    chars_max: int
    gap_ms_max: int

    def __post_init__(self) -> None:
        if min(self.turns_max, self.chars_max) < 1 or self.gap_ms_max < 0:
            raise ValueError(f"a cell holds at least one turn and one character: {self}")


def _cells(session: SessionRecord, begun: tuple[Span, ...], turn: int, number: int, limits: _Limits) -> Iterator[Cell]:
    """Cells from `number` on, the first of which holds the spans `begun`; `turn` is the next to place."""
    runs = list(_runs(session, begun, turn, limits))
    for place, run in enumerate(runs, start=number):
        last = place == number + len(runs) - 1
        yield _cell(session, place, run, last and len(run) < limits.turns_max)


def _runs(session: SessionRecord, begun: tuple[Span, ...], turn: int, limits: _Limits) -> Iterator[tuple[Span, ...]]:
    """Spans, grouped by cell."""
    run = list(begun)
    for index in range(turn, len(session.turns)):
        for span in _spans(session.turns[index].text, index, limits.chars_max):
            if run and not _joins(session, run, span, limits):
                yield tuple(run)
                run = []
            run.append(span)
    if run:
        yield tuple(run)


def _joins(session: SessionRecord, run: Sequence[Span], span: Span, limits: _Limits) -> bool:
    """Whether `span` still belongs to the cell that holds `run`."""
    last = run[-1]
    if len(run) >= limits.turns_max or last.turn == span.turn:
        return False
    if sum(part.end - part.start for part in (*run, span)) > limits.chars_max:
        return False
    before, after = session.turns[last.turn].time_ms, session.turns[span.turn].time_ms
    # A step back in time is a gap too: turns may be stored out of order.
    return before is None or after is None or abs(after - before) <= limits.gap_ms_max


def _spans(text: str, turn: int, chars_max: int) -> Iterator[Span]:
    """The turn as one span, or as consecutive spans of at most `chars_max` characters that cover it."""
    start = 0
    while len(text) - start > chars_max:
        end = _split(text, start, start + chars_max)
        yield Span(turn, start, end)
        start = end
    yield Span(turn, start, len(text))


def _split(text: str, start: int, limit: int) -> int:
    """Where a part that starts at `start` ends, `limit` at most.

    After the last sentence or line that ends in its second half: half a sentence says what nobody said. Else after the
    last white space there; without any, before a character that begins anew, so that no accent, vowel sign or joined
    emoji is torn from its base.
    """
    half = start + (limit - start + 1) // 2
    if ends := [found.end() for found in _SENTENCE_END.finditer(text, half, limit)]:
        return ends[-1]
    for end in range(limit, half, -1):
        if text[end - 1].isspace():
            return end
    for end in range(limit, half, -1):
        if not _clings(text[end]) and text[end - 1] != _JOINER:
            return end
    return limit


_SENTENCE_END = re.compile(r"\n|[.!?\u2026][\"'\u201d\u2019)\]]{0,3}\s|[\u3002\uff01\uff1f]")
_JOINER = "\u200d"


def _clings(character: str) -> bool:
    """Whether the character belongs to the one before it."""
    return character == _JOINER or unicodedata.category(character)[0] == "M"


def _cell(session: SessionRecord, number: int, spans: tuple[Span, ...], is_open: bool) -> Cell:
    parts: list[str | int | None] = []
    for span in spans:
        turn = session.turns[span.turn]
        said = (turn.hole,) if turn.hole else (turn.role, turn.speaker, turn.text[span.start : span.end])
        parts += [span.turn, span.start, span.end, *said]
    times = (session.source_ms(span.turn) for span in spans)
    source_ms = next((time for time in times if time is not None), None)
    return Cell(_name(spans[0].start, (session.id, number, *parts)), session.id, number, spans, source_ms, is_open)


def _name(start: int, parts: Sequence[str | int | None]) -> CellId:
    """The id of a cell that begins at character `start` of a turn.

    Trees order cells of one turn by id: the later parts of a long one have ids that sort behind its first, by place.
    """
    return CellId(f"cx{start:07x}{digest(*parts, size=6)}" if start else "c" + digest(*parts))
