"""Cells: bounds, splits, holes, growth."""

import unicodedata
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.facts.cells import Cell, Growth, Span, cell_text, cut, grow, renewed
from memforest_ray.facts.sessions import SessionRecord, TurnRecord
from memforest_ray.ids import SessionId

HOUR_MS = 3_600_000


def session_of(*turns: TurnRecord | str, time_ms: int | None = None) -> SessionRecord:
    records = (TurnRecord("user", "Ana", turn) if isinstance(turn, str) else turn for turn in turns)
    return SessionRecord(SessionId("s"), tuple(records), time_ms)


def places(cells: Sequence[Cell]) -> list[list[tuple[int, int, int]]]:
    """The spans of each cell."""
    return [[(span.turn, span.start, span.end) for span in cell.spans] for cell in cells]


def beginning(session: SessionRecord, turns: int) -> SessionRecord:
    return replace(session, turns=session.turns[:turns])


def test_two_turns_make_a_cell() -> None:
    """Cells hold b turns each; the last is open while it has fewer."""
    cells = cut(session_of("one", "two", "three"))
    assert places(cells) == [[(0, 0, 3), (1, 0, 3)], [(2, 0, 5)]]
    assert [(cell.number, cell.open) for cell in cells] == [(0, False), (1, True)]


def test_empty_turns_are_turns() -> None:
    """A turn without text takes its place in a cell."""
    assert places(cut(session_of("", "", ""))) == [[(0, 0, 0), (1, 0, 0)], [(2, 0, 0)]]


def test_characters_bound_a_cell() -> None:
    """A turn that would make the cell too long starts the next."""
    assert places(cut(session_of("a" * 5, "b" * 6, "c" * 5), turns_max=9, chars_max=10)) == [
        [(0, 0, 5)],
        [(1, 0, 6)],
        [(2, 0, 5)],
    ]
    assert places(cut(session_of("a" * 5, "b" * 5), turns_max=9, chars_max=10)) == [[(0, 0, 5), (1, 0, 5)]]


@pytest.mark.parametrize(
    ("first", "second", "cells"),
    [(0, 6 * HOUR_MS, 1), (0, 6 * HOUR_MS + 1, 2), (7 * HOUR_MS, 0, 2), (None, 9 * HOUR_MS, 1), (0, None, 1)],
)
def test_gaps_end_a_cell(first: int | None, second: int | None, cells: int) -> None:
    """More than six hours between two known times, forth or back, ends a cell; an unknown time never does."""
    turns = [TurnRecord("user", "Ana", "hi", time) for time in (first, second)]
    assert cells == len(cut(session_of(*turns, time_ms=0)))


def test_long_turns_are_split_at_white_space() -> None:
    """A turn over the bound becomes cells of its own; what follows may join the last part."""
    session = session_of("hi", "aaaa bbbb cccc dddd", "yes")
    cells = cut(session, chars_max=11)
    assert places(cells) == [[(0, 0, 2)], [(1, 0, 10)], [(1, 10, 19)], [(2, 0, 3)]]
    assert [cell_text(session, c) for c in cells] == [
        "Ana: hi",
        "Ana: aaaa bbbb ",
        "Ana: cccc dddd",
        "Ana: yes",
    ]
    assert [cell.open for cell in cells] == [False, False, False, True]
    assert places(cut(session_of("aaaa bbbb cccc", "yes"), chars_max=11)) == [
        [(0, 0, 10)],
        [(0, 10, 14), (1, 0, 3)],
    ]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("One two three. Four five six seven", "One two three. "),
        ("One two three\nfour five six seven", "One two three\n"),
        ('She said "Come on!" and he came too', 'She said "Come on!" '),
        ("One. Two three four five six seven", "One. Two three four "),
        ("Costs 12345.678901 euros and more.", "Costs 12345.678901 "),
        ("一二三四五六七八九十一二。三四五六七八九十一二", "一二三四五六七八九十一二。"),
    ],
)
def test_a_part_ends_with_a_sentence(text: str, first: str) -> None:
    """If one ends in its second half: half of one says what nobody said. Nothing of the turn is lost."""
    session = session_of(text)
    parts = [text[span.start : span.end] for cell in cut(session, chars_max=20) for span in cell.spans]
    assert (parts[0], "".join(parts)) == (first, text)


def test_splits_keep_characters_together() -> None:
    """Without white space a part ends before a character that stands alone: no sign loses its letter."""
    text = "कि" * 4_001 + "👩‍💻" * 3_000
    cells = cut(session_of(text))
    parts = [text[span.start : span.end] for cell in cells for span in cell.spans]
    assert text == "".join(parts)
    assert not any(unicodedata.category(part[0])[0] == "M" or part[0] == "\u200d" for part in parts)
    assert not any(part.endswith("\u200d") for part in parts)


def test_a_turn_of_400000_characters() -> None:
    """Nothing of a huge turn is lost."""
    text = "word " * 80_000
    cells = cut(session_of("short", text))
    assert text == "".join(text[span.start : span.end] for cell in cells[1:] for span in cell.spans)
    assert len(cells) == 51


def test_source_time_is_of_the_first_dated_turn() -> None:
    """A cell was said when its first turn of known time was; the session's time stands in for a turn's."""
    turns = [TurnRecord("user", "Ana", "a"), TurnRecord("user", "Ana", "b", 7)]
    assert [cut(session_of(*turns, time_ms=time))[0].source_ms for time in (None, 5)] == [7, 5]
    assert None is cut(session_of("a"))[0].source_ms


def test_ids_come_from_place_and_text() -> None:
    """Equal sessions have equal cell ids; another session id, place, speaker or text gives another."""
    base = session_of("a", "b", "a", "b")
    first, second = cut(base)
    assert first.id != second.id
    assert first.id == cut(beginning(base, 2))[0].id
    others = [
        replace(base, id=SessionId("t")),
        session_of("a", "c", "a", "b"),
        session_of(TurnRecord("user", "Bob", "a"), "b", "a", "b"),
        session_of(TurnRecord("tool", "Ana", "a"), "b", "a", "b"),
    ]
    assert len({first.id, *(cut(other)[0].id for other in others)}) == 5
    assert first.id.startswith("c")
    assert len(first.id) == 21


def test_ids_of_the_parts_of_a_long_turn_are_in_order() -> None:
    """By them a tree tells the parts of one turn apart, whose time and turn are the same."""
    session = session_of("before", "word " * 40_000, "after")
    parts = [cell for cell in cut(session) if cell.spans[0].turn == 1]
    ids = [cell.id for cell in parts]
    assert len(ids) > 16
    assert ids == sorted(ids)
    assert {len(name) for name in ids} == {21}
    assert ids == [renewed(session, cell).id for cell in parts]


def test_bounds_must_leave_room() -> None:
    """A cell of no turns or no characters is a mistake of the program."""
    with pytest.raises(ValueError, match="at least one turn"):
        cut(session_of("a"), turns_max=0)


HOLE = TurnRecord("", "", "", hole="h1")


def test_holes_keep_their_place() -> None:
    """After a turn is forgotten its cell keeps the spans, shows the rest and has another id."""
    session = session_of("one", "two", "three")
    first, second = cut(session)
    holed = session_of("one", HOLE, "three")
    after = renewed(holed, first)
    assert first.spans == after.spans
    assert first.id != after.id
    assert cell_text(holed, after) == "Ana: one"
    assert second == renewed(holed, second)


def test_a_cell_of_holes_exists() -> None:
    """Forgetting all turns of a cell leaves the cell, with nothing to say."""
    holed = session_of(HOLE, replace(HOLE, hole="h2"), "three")
    (first, _) = cut(holed)
    assert cell_text(holed, first) == ""
    assert places([first]) == [[(0, 0, 0), (1, 0, 0)]]


def test_growth_after_a_hole_moves_no_boundary() -> None:
    """Growth reads the spans of what was forgotten from the stored cells, not from the empty text."""
    session = session_of("x" * 9, "y" * 9)
    cells = cut(session, turns_max=3, chars_max=20)
    holed = session_of(HOLE, "y" * 9, "z" * 9)
    growth = grow(holed, [renewed(holed, cell) for cell in cells], turns_max=3, chars_max=20)
    assert places(growth.kept + growth.new) == [[(0, 0, 9), (1, 0, 9)], [(2, 0, 9)]]


def test_growth_replaces_the_open_cell() -> None:
    """The open cell and what follows are new, all before is kept."""
    session = session_of("a", "b", "c", "d", "e")
    old = cut(beginning(session, 3))
    assert Growth(old[:1], old[1:], cut(session)[1:]) == grow(session, old)


def test_growth_closes_an_open_cell_that_cannot_take_more() -> None:
    """When a gap follows, the open cell is kept under its id, closed; nothing is extracted again."""
    turns = [TurnRecord("user", "Ana", "a", 0), TurnRecord("user", "Ana", "b", 9 * HOUR_MS)]
    session = session_of(*turns)
    (old,) = cut(beginning(session, 1))
    growth = grow(session, (old,))
    assert (replace(old, open=False),) == growth.kept
    assert growth.replaced == ()
    assert cut(session) == growth.kept + growth.new


def test_growth_of_nothing() -> None:
    """No new turns, no new cells; no cells yet, all cells."""
    session = session_of("a", "b", "c")
    cells = cut(session)
    assert Growth(cells, (), ()) == grow(session, cells)
    assert Growth((), (), cells) == grow(session, ())


turn_records = st.builds(
    TurnRecord,
    st.just("user"),
    st.sampled_from(["Ana", "Bob"]),
    st.text(alphabet="ab \u0301\u200d", max_size=25),
    st.none() | st.integers(0, 12).map(lambda hours: hours * HOUR_MS),
)
sessions = st.lists(turn_records, min_size=1, max_size=12).map(lambda turns: session_of(*turns))
limits = st.fixed_dictionaries({"turns_max": st.integers(1, 4), "chars_max": st.integers(1, 12)})


@given(sessions, limits)
def test_cells_cover_the_session(session: SessionRecord, bounds: dict[str, int]) -> None:
    """Every character of every turn is in exactly one cell, in order, within the bounds."""
    cells = cut(session, **bounds)
    spans = [span for cell in cells for span in cell.spans]
    for index, turn in enumerate(session.turns):
        mine = [span for span in spans if span.turn == index]
        assert turn.text == "".join(turn.text[span.start : span.end] for span in mine)
        assert [0, len(turn.text)] == [mine[0].start, mine[-1].end]
    assert sorted(spans, key=lambda span: (span.turn, span.start)) == spans
    assert list(range(len(cells))) == [cell.number for cell in cells]
    for cell in cells:
        assert len(cell.spans) <= bounds["turns_max"]
        assert sum(span.end - span.start for span in cell.spans) <= bounds["chars_max"]
    assert [False] * (len(cells) - 1) == [cell.open for cell in cells[:-1]]
    assert (len(cells[-1].spans) < bounds["turns_max"]) == cells[-1].open


@given(sessions, limits, st.data())
def test_growth_equals_one_cut(session: SessionRecord, bounds: dict[str, int], data: st.DataObject) -> None:
    """Cut turn by turn or in any steps, the cells are those of one cut; closed ones never change."""
    cells: tuple[Cell, ...] = ()
    have = 0
    while have < len(session.turns):
        have = data.draw(st.integers(have + 1, len(session.turns)))
        part = beginning(session, have)
        growth = grow(part, cells, **bounds)
        assert cells[: len(growth.kept) - 1] == growth.kept[:-1]
        assert {cell.id for cell in cells} == {cell.id for cell in growth.kept + growth.replaced}
        assert not {cell.id for cell in growth.new} & {cell.id for cell in growth.kept + growth.replaced}
        cells = growth.kept + growth.new
        assert cut(part, **bounds) == cells


@given(sessions, limits, st.integers(1, 12))
def test_a_beginning_has_the_same_cells(session: SessionRecord, bounds: dict[str, int], turns: int) -> None:
    """All cells of a session's beginning but the open last are cells of the whole."""
    part, whole = cut(beginning(session, turns), **bounds), cut(session, **bounds)
    closed = part[:-1]
    assert closed == whole[: len(closed)]
    assert part[-1].spans == whole[len(closed)].spans[: len(part[-1].spans)]


def test_span_positions() -> None:
    """Spans count characters from 0, the end exclusive."""
    assert (Span(0, 0, 2),) == cut(session_of("hi"))[0].spans
