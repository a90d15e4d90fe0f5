"""What an extractor is shown of each cell.

A closed cell is extracted once, yet must be understood as if its session had arrived whole. So its input is a
function of the cell and of the turns before it, never of what comes later: growth turn by turn then asks the
same as one ingest.
"""

from collections.abc import Iterator, Sequence

from memforest_ray.facts.candidates import CellInput, TurnInput
from memforest_ray.facts.cells import Cell
from memforest_ray.facts.recurring import recurring
from memforest_ray.facts.sessions import SessionRecord

__all__ = ["SILENT_ROLES", "cell_inputs"]

SILENT_ROLES = frozenset({"system", "developer", "tool", "function"})
"""Roles of turns that nobody says: their speakers are not among those whom "you" can mean."""


def cell_inputs(session: SessionRecord, cells: Sequence[Cell]) -> tuple[CellInput, ...]:
    """The inputs of `cells` (some or all of the session's, in order). Time linear in the session."""
    arrivals = tuple(_arrivals(session))
    hints = recurring(session, [(cell.spans[0].turn, cell.spans[-1].turn) for cell in cells])
    return tuple(
        CellInput(
            cell_id=cell.id,
            turns=tuple(_turn_inputs(session, cell)),
            zone=session.zone,
            names=tuple(name for name, turn in arrivals if turn <= cell.spans[-1].turn),
            recurring=hint,
        )
        for cell, hint in zip(cells, hints, strict=True)
    )


def _arrivals(session: SessionRecord) -> Iterator[tuple[str, int]]:
    """Each person who speaks, with the first turn that is theirs."""
    seen: set[str] = set()
    for index, turn in enumerate(session.turns):
        if turn.hole is None and turn.role not in SILENT_ROLES and turn.speaker not in seen:
            seen.add(turn.speaker)
            yield turn.speaker, index


def _turn_inputs(session: SessionRecord, cell: Cell) -> Iterator[TurnInput]:
    for span in cell.spans:
        turn = session.turns[span.turn]
        if turn.hole is None:
            text = turn.text[span.start : span.end]
            yield TurnInput(span.turn, turn.speaker, turn.role, text, session.source_ms(span.turn))
