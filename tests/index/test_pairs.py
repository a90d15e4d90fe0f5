"""Pairs and the maxima over them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.index import pairs as pairs_module
from memforest_ray.index.pairs import Pairs, Runs

SIZES = (6, 5)
_pairs = st.sets(st.tuples(st.integers(0, SIZES[0] - 1), st.integers(0, SIZES[1] - 1)))


def _of(pairs: list[tuple[int, int]]) -> Pairs:
    columns = np.array(pairs, np.int64).reshape(-1, 2)
    return Pairs.of(columns[:, 0], columns[:, 1], *SIZES)


@pytest.mark.parametrize("runs_min", [0, 1_024])
@given(found=_pairs, rng=st.randoms(use_true_random=False))
def test_maxima_are_those_of_a_loop(runs_min: int, found: set[tuple[int, int]], rng: object) -> None:
    """In both directions, with a value or a row of values for what has no pair, whatever the order of the pairs."""
    pairs = sorted(found)
    rng.shuffle(pairs)  # type: ignore[attr-defined]  # hypothesis' randoms are typed as objects
    held = _of(pairs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs_module, "_RUNS_MIN", runs_min)
        _check_maxima(held, pairs)


def _check_maxima(held: Pairs, pairs: list[tuple[int, int]]) -> None:
    left = np.linspace(-1, 1, SIZES[0], dtype=np.float32)
    right = np.linspace(2, -2, SIZES[1], dtype=np.float32)
    otherwise = np.arange(SIZES[1], dtype=np.float32)
    to_left = [max((float(right[b]) for a, b in pairs if a == here), default=7.0) for here in range(SIZES[0])]
    to_right = [
        max((float(left[a]) for a, b in pairs if b == here), default=float(otherwise[here])) for here in range(SIZES[1])
    ]
    assert held.to_left(right, 7.0).tolist() == pytest.approx(to_left)
    assert held.to_right(left, otherwise).tolist() == pytest.approx(to_right)
    assert otherwise.tolist() == list(range(SIZES[1]))
    assert held.counts_right().tolist() == [sum(b == here for _, b in pairs) for here in range(SIZES[1])]


def test_what_belongs_to_one_is_found() -> None:
    """In the order of the pairs; nothing for one without any."""
    held = _of([(4, 1), (0, 3), (4, 0), (2, 1)])
    assert [held.of_left(number).tolist() for number in (4, 0, 5)] == [[1, 0], [3], []]
    assert [held.of_right(number).tolist() for number in (1, 3, 4)] == [[4, 2], [0], []]


@given(st.lists(st.integers(1, 5), max_size=8))
def test_runs_are_laid_out_by_their_places(lengths: list[int]) -> None:
    """Every element stands once, in the column of its place, beside those of the same run."""
    starts = np.cumsum([0, *lengths], dtype=np.int64)
    runs = Runs.of(starts[:-1], int(starts[-1]))
    laid: dict[int, list[int]] = {int(run): [] for run in runs.order}
    for column in runs.columns:
        for run, element in zip(runs.order.tolist(), column.tolist(), strict=False):
            laid[run].append(element)
    assert laid == {run: list(range(starts[run], starts[run + 1])) for run in range(len(lengths))}
