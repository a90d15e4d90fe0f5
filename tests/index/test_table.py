"""Tables."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.index.table import UNKNOWN, Table, grown, place_key, place_of, renumbering, sessions_of


def test_rows_are_read_back_by_column() -> None:
    """What was appended stands in its columns, in order."""
    table = Table("left", "right")
    assert table.append([(1, 10), (2, 20)]) == range(2)
    assert table.append([(3, UNKNOWN)]) == range(2, 3)
    view = table.view(1)
    assert view["left"].tolist() == [1, 2, 3]
    assert view["right"].tolist() == [10, 20, UNKNOWN]
    assert len(view) == 3


def test_a_row_ends_with_the_version_that_buries_it() -> None:
    """Older views see it, that one and later ones do not."""
    table = Table("value")
    table.append([(1,), (2,)])
    before = table.view(1)
    table.bury([0], 2)
    assert before.live().tolist() == [True, True]
    assert table.view(2).live().tolist() == [False, True]
    assert table.view(3).live().tolist() == [False, True]


def test_an_empty_append_changes_nothing() -> None:
    """No rows, no numbers."""
    table = Table("value")
    assert table.append([]) == range(0)
    assert len(table.view(1)) == 0


def test_growth_keeps_an_array_that_is_long_enough() -> None:
    """Only a longer array is a copy, and it is at least twice as long."""
    array = np.arange(16)
    assert grown(array, 16) is array
    longer = grown(array, 17)
    assert len(longer) == 32
    assert longer[:16].tolist() == array.tolist()


def test_compaction_keeps_the_living_in_order() -> None:
    """Dead rows go; a column may be replaced on the way."""
    table = Table("value", "owner")
    table.append([(value, value * 10) for value in range(5)])
    table.bury([1, 3], 7)
    compact = table.compacted(table.kept(), owner=np.arange(5) * 100)
    view = compact.view(8)
    assert view["value"].tolist() == [0, 2, 4]
    assert view["owner"].tolist() == [0, 200, 400]
    assert view.live().all()
    assert compact.dead == 0


def test_renumbering_says_where_rows_go() -> None:
    """Kept rows close ranks, the others have none."""
    assert renumbering(np.array([True, False, True])).tolist() == [0, -1, 1]


@given(st.integers(0, 2**20), st.integers(0, 2**20))
def test_a_place_key_tells_session_and_turn(session: int, turn: int) -> None:
    """Both are read back, and turns of one session are neighbours."""
    key = place_key(session, turn)
    assert place_of(key) == (session, turn)
    assert sessions_of(np.array([key])).tolist() == [session]
    assert place_key(session, turn + 1) == key + 1


@given(st.lists(st.tuples(st.sampled_from(["add", "bury"]), st.integers(0, 30)), max_size=40))
def test_every_view_stays_what_it_was(steps: list[tuple[str, int]]) -> None:
    """Whatever happens later, a view shows the rows of its version."""
    table, living, views = Table("value"), dict[int, int](), []
    for version, (step, value) in enumerate(steps, start=1):
        if step == "add":
            for row in table.append([(value,)] * (value % 3)):
                living[row] = value
        elif living:
            row = sorted(living)[value % len(living)]
            table.bury([row], version)
            del living[row]
        views.append((table.view(version), dict(living)))
    for view, expected in views:
        rows = np.flatnonzero(view.live())
        assert dict(zip(rows.tolist(), view["value"][rows].tolist(), strict=True)) == expected
