"""The highest of many values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.index.strongest import strongest


@given(st.lists(st.integers(0, 9), max_size=60), st.integers(1, 12))
def test_they_are_those_of_a_sort(values: list[int], count: int) -> None:
    """As many as asked for, and whatever equals the last of them; in the order of their numbers."""
    least = sorted(values)[-count] if len(values) > count else min(values, default=0)
    expected = [number for number, value in enumerate(values) if value >= least]
    assert strongest(np.array(values, np.float32), count).tolist() == expected


@pytest.mark.parametrize("count", [1, 32, 256])
@pytest.mark.parametrize("size", [8_191, 8_192, 20_011])
def test_of_many_they_are_the_same(size: int, count: int) -> None:
    """Where a bound is found first; also where most values are equal, and where the best stand together."""
    rng = np.random.default_rng(size + count)
    for values in (rng.random(size), rng.integers(0, 5, size), np.arange(size), np.zeros(size)):
        found = strongest(values.astype(np.float32), count)
        least = np.sort(values)[-count]
        assert found.tolist() == np.flatnonzero(values >= least).tolist()
