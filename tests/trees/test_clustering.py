"""Clustering against one written the plain way."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from memforest_ray.trees.clustering import (
    TIME_BONUS,
    TIME_WINDOW_MS,
    Clusters,
    Thresholds,
    assign,
    closest_pairs,
    span_of,
)

THRESHOLDS = Thresholds(assign=0.70, spawn=0.58, merge=0.88)
DAY = 86_400_000
NOTHING = Clusters(np.zeros((0, 8)), [], 60)


def vectors(seed: int, number: int) -> NDArray[np.float64]:
    """Unit vectors around three topics, rounded as an embedder's are."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(3, 8))[random.integers(0, 3, number)] + 0.6 * random.normal(size=(number, 8))
    units: NDArray[np.float64] = rows / np.linalg.norm(rows, axis=1)[:, None]
    return units.astype(np.float16).astype(np.float64)


def plainly(rows: NDArray[np.float64], times: list[int | None], size_max: int) -> list[int]:
    """One fact after the other, everything computed anew."""
    found: list[int] = []
    for number, (row, time) in enumerate(zip(rows, times, strict=True)):
        best, best_score, best_fits = -1, -np.inf, False
        for cluster in range(max(found, default=-1) + 1):
            here = [place for place in range(number) if found[place] == cluster]
            total = rows[here].sum(axis=0)
            said = [each for place in here if (each := times[place]) is not None]
            bonus = 0.0
            if time is not None and said:
                gap = max(0, min(said) - time, time - max(said))
                bonus = TIME_BONUS * max(0.0, 1 - gap / TIME_WINDOW_MS)
            score = total @ row / np.linalg.norm(total) / np.linalg.norm(row) + bonus
            if len(here) < size_max and score > best_score:
                best, best_score = cluster, score
                best_fits = score >= (THRESHOLDS.spawn if bonus else THRESHOLDS.assign)
        found.append(best if best_fits else max(found, default=-1) + 1)
    return found


@given(
    seed=st.integers(0, 10_000),
    times=st.lists(st.none() | st.integers(0, 60).map(lambda day: day * DAY), min_size=1, max_size=40),
    size_max=st.integers(2, 60),
)
@settings(max_examples=80, deadline=None)
def test_assign_is_what_the_plain_way_gives(seed: int, times: list[int | None], size_max: int) -> None:
    """Dots kept up to date decide as dots computed anew, in one piece or in two."""
    rows = vectors(seed, len(times))
    found = assign(Clusters(np.zeros((0, 8)), [], size_max), rows, times, THRESHOLDS)
    assert found == plainly(rows, times, size_max)
    half = len(times) // 2
    first = found[:half]
    clusters = [[place for place in range(half) if first[place] == name] for name in sorted(set(first))]
    sums = np.array([rows[places].sum(axis=0) for places in clusters]).reshape(-1, 8)
    held = Clusters(sums, [span_of([times[place] for place in places]) for places in clusters], size_max)
    assert first + assign(held, rows[half:], times[half:], THRESHOLDS) == found


def test_vectors_that_cancel_out_are_like_nothing() -> None:
    """A sum of zero is no direction: no division by it, and nothing joins."""
    rows = vectors(1, 1)
    held = Clusters(np.zeros((1, 8)), [span_of((None, None))], 60)
    assert assign(held, rows, [None], THRESHOLDS) == [1]
    assert assign(NOTHING, rows, [None], THRESHOLDS) == [0]


@pytest.mark.parametrize(("size_max", "expected"), [(60, [(0, 1), (1, 2)]), (3, [(0, 1)]), (1, [])])
def test_closest_pairs(size_max: int, expected: list[tuple[int, int]]) -> None:
    """Closest first, each pair once, only what fits in one."""
    sums = np.zeros((4, 8))
    sums[0, 0] = 1
    sums[1, :2] = 0.96, 0.28
    sums[2, :2] = 3 * 0.8, 3 * 0.6
    sums[3, 4] = 1
    held = Clusters(sums, [span_of((None,) * size) for size in (1, 1, 3, 1)], size_max)
    assert closest_pairs(held, [0, 1, 2, 3], 0.88) == expected
    assert closest_pairs(held, [3], 0.88) == []
