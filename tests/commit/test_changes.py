"""Folding commits into one."""

from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.commit.changes import Changes
from memforest_ray.commit.parts import apply, base_of

STEPS = st.lists(
    st.tuples(st.booleans(), st.sampled_from(("cells", "vectors")), st.sampled_from("abc"), st.integers()), max_size=6
)


def _changes(steps: list[tuple[bool, str, str, int]]) -> Changes:
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


def test_rows_counts_puts_and_drops() -> None:
    """A put that withdraws a drop counts once."""
    changes = _changes([(False, "cells", "a", 0), (True, "cells", "a", 1), (False, "cells", "b", 0)])
    assert (changes.rows, changes.empty, Changes().empty) == (2, False, True)
