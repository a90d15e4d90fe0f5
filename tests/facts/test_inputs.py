"""What extractors are shown."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.facts.candidates import CellInput, TurnInput
from memforest_ray.facts.cells import Cell, cut, grow, renewed
from memforest_ray.facts.inputs import cell_inputs
from memforest_ray.facts.sessions import SessionRecord, TurnRecord
from memforest_ray.ids import CellId, SessionId


def session_of(*turns: tuple[str, str]) -> SessionRecord:
    records = tuple(TurnRecord("user", speaker, text) for speaker, text in turns)
    return SessionRecord(SessionId("s"), records, 5, "Europe/Madrid")


def test_turns_with_their_place_and_time() -> None:
    """An input holds its cell's turns with index, speaker, role, time, and the session's zone."""
    session = session_of(("Ana", "Hi"), ("Bob", "Hello"), ("Ana", "So"))
    session = replace(session, turns=(*session.turns[:2], replace(session.turns[2], time_ms=9)))
    cells = cut(session)
    first, second = cell_inputs(session, cells)
    assert (TurnInput(0, "Ana", "user", "Hi", 5), TurnInput(1, "Bob", "user", "Hello", 5)) == first.turns
    assert (TurnInput(2, "Ana", "user", "So", 9),) == second.turns
    assert (cells[0].id, "Europe/Madrid") == (first.cell_id, first.zone)


def test_names_of_those_who_have_spoken() -> None:
    """Names are the speakers up to the cell's end; nobody speaks for system prompts and tools."""
    session = session_of(("system", "Be kind."), ("Ana", "Hi"), ("Bob", "Hello"), ("Li", "Hey"))
    session = replace(session, turns=(replace(session.turns[0], role="system"), *session.turns[1:]))
    assert [cell.names for cell in cell_inputs(session, cut(session))] == [("Ana",), ("Ana", "Bob", "Li")]


def test_parts_of_a_long_turn() -> None:
    """A cell that holds part of a turn shows that part."""
    session = session_of(("Ana", "aaaa bbbb cccc"))
    inputs = cell_inputs(session, cut(session, chars_max=10))
    assert [cell.turns[0].text for cell in inputs] == ["aaaa bbbb ", "cccc"]


def test_forgotten_turns_are_not_shown() -> None:
    """A hole has neither text nor speaker."""
    session = session_of(("Ana", "a"), ("Bob", "b"))
    holed = replace(session, turns=(TurnRecord("", "", "", hole="h"), session.turns[1]))
    (only,) = cell_inputs(holed, [renewed(holed, cell) for cell in cut(session)])
    assert (only.names, [turn.text for turn in only.turns]) == (("Bob",), ["b"])


@given(st.lists(st.tuples(st.sampled_from("ABC"), st.text("小明张 ab", max_size=6)), min_size=1, max_size=12))
def test_growth_asks_what_one_ingest_asks(turns: list[tuple[str, str]]) -> None:
    """Inputs of cells that are new at each step are those of the whole session's cells."""
    whole = session_of(*turns)
    asked = {cell.cell_id: cell for cell in cell_inputs(whole, cut(whole))}
    current: dict[CellId, CellInput] = {}
    cells: tuple[Cell, ...] = ()
    for count in range(1, len(turns) + 1):
        part = replace(whole, turns=whole.turns[:count])
        growth = grow(part, cells)
        cells = growth.kept + growth.new
        for gone in growth.replaced:
            del current[gone.id]
        current |= {cell.cell_id: cell for cell in cell_inputs(part, growth.new)}
    assert asked == current
