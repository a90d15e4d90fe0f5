"""Folding commits into one."""

from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.commit.changes import Changes, difference, pack_changes, unpack_changes
from memforest_ray.commit.parts import apply, base_of

STEPS = st.lists(
    st.tuples(
        st.booleans(), st.sampled_from(("cells", "vectors")), st.sampled_from("abc"), st.integers(-(2**63), 2**64 - 1)
    ),
    max_size=6,
)


Steps = list[tuple[bool, str, str, int]]


def _changes(steps: Steps) -> Changes:
    changes = Changes()
    for put, table, key, value in steps:
        if put:
            changes.put(table, key, value)
        else:
            changes.drop(table, key)
    return changes


@given(st.lists(STEPS, max_size=6))
def test_folding_equals_applying_one_by_one(history: list[list[tuple[bool, str, str, int]]]) -> None:
    """One folded delta, or one base, leaves the same rows as all the commits in turn."""
    commits = [_changes(steps) for steps in history]
    rows: dict[str, dict[str, object]] = {}
    for commit in commits:
        apply(rows, commit)
    folded = Changes()
    for commit in commits:
        folded.absorb(commit)
    at_once: dict[str, dict[str, object]] = {}
    apply(at_once, folded)
    expected = {table: kept for table, kept in rows.items() if kept}
    assert {table: kept for table, kept in at_once.items() if kept} == expected
    assert base_of(commits) == Changes(puts=expected)


@given(STEPS, STEPS)
def test_a_difference_leads_from_one_state_to_another(one: Steps, other: Steps) -> None:
    """And from there back; between equal states it is empty; kept tables do not move."""
    now, then = _tables(one), _tables(other)
    changes = difference(now, then)
    assert changes.empty == (now == then)
    reached = _tables(one)
    apply(reached, changes)
    assert {table: rows for table, rows in reached.items() if rows} == then
    kept = difference(now, then, kept=["cells"])
    assert not {"cells"} & {*kept.puts, *kept.drops}


def _tables(steps: Steps) -> dict[str, dict[str, object]]:
    tables: dict[str, dict[str, object]] = {}
    apply(tables, _changes(steps))
    return {table: rows for table, rows in tables.items() if rows}


@given(STEPS)
def test_changes_are_packed_and_unpacked(steps: Steps) -> None:
    """What is stored of a commit is the commit, whatever the order of its drops."""
    changes = _changes(steps)
    again = unpack_changes(pack_changes(changes), "x")
    assert again == changes
    assert pack_changes(again) == pack_changes(changes)


def test_only_what_is_there_is_dropped_from_it() -> None:
    """Of drops, those that a state would feel; no table is named for nothing."""
    changes = _changes([(False, "cells", "a", 0), (False, "vectors", "b", 0), (True, "cells", "c", 1)])
    assert changes.dropped_from({"cells": {"a": 1, "c": 1}}) == Changes(drops={"cells": {"a"}})


def test_rows_counts_puts_and_drops() -> None:
    """A put that withdraws a drop counts once."""
    changes = _changes([(False, "cells", "a", 0), (True, "cells", "a", 1), (False, "cells", "b", 0)])
    assert (changes.rows, changes.empty, Changes().empty) == (2, False, True)
