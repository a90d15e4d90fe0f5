"""Vectors of rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.index.vectors import BLOCK_ROWS, Asked, Matrix, mean_vectors, similarities


def _unit(*values: float) -> np.ndarray[tuple[int], np.dtype[np.float16]]:
    vector = np.array(values)
    return (vector / max(float(np.linalg.norm(vector)), 1e-9)).astype(np.float16)


def _many(rows: int) -> np.ndarray[tuple[int, int], np.dtype[np.float16]]:
    return np.random.default_rng(rows).standard_normal((rows, 3)).astype(np.float16)


def test_a_view_keeps_its_rows_while_the_matrix_grows() -> None:
    """Later rows never show, earlier ones never change."""
    matrix = Matrix(2)
    matrix.append([_unit(1, 0)])
    before = matrix.view()
    for _ in range(40):
        matrix.append([_unit(0, 1)])
    assert [before[row].tolist() for row in range(len(before))] == [[1.0, 0.0]]
    assert (len(before), len(matrix.view())) == (1, 41)


@pytest.mark.parametrize("steps", [[2 * BLOCK_ROWS + 5], [1, BLOCK_ROWS - 1, 1], [BLOCK_ROWS, 3], [7] * 700])
def test_rows_lie_in_blocks_in_their_order(steps: list[int]) -> None:
    """Whatever the portions in which they came: found by number, gathered, multiplied, compacted."""
    rows = _many(sum(steps))
    matrix, start = Matrix(3), 0
    for step in steps:
        matrix.append(rows[start : start + step])
        start += step
    view, wide = matrix.view(), rows.astype(np.float32)
    numbers = np.array([len(rows) - 1, 0, len(rows) // 2])
    assert max(len(block) for block in view.blocks) <= BLOCK_ROWS
    assert np.array_equal(view.rows(numbers), wide[numbers])
    assert np.array_equal(view[len(rows) - 1], wide[-1])
    query = np.array([1, 2, 3], np.float32)
    assert similarities(view, Asked.of(query)) == pytest.approx(wide @ query, abs=1e-4)
    kept = np.arange(len(rows)) % 3 == 0
    assert np.array_equal(np.concatenate(matrix.compacted(kept).view().blocks), wide[kept])


def test_a_matrix_may_hold_half_precision() -> None:
    """Where rows are kept and not compared."""
    matrix, vector = Matrix(3, np.float16), _unit(1, 2, 3)
    matrix.append([vector])
    assert matrix.view()[0].dtype == np.float16
    assert matrix.view().rows(np.array([0])).dtype == np.float16
    assert np.array_equal(matrix.row(0), vector)


def test_rows_have_the_value_they_were_rounded_to() -> None:
    """fp16 goes in, the same number in fp32 comes out."""
    matrix, vector = Matrix(3), _unit(1, 2, 3)
    matrix.append([vector])
    assert matrix.row(0).dtype == np.float32
    assert np.array_equal(matrix.row(0), vector.astype(np.float32))


def test_likeness_is_the_cosine() -> None:
    """Unit rows with a unit query; zero for a row or a query that means nothing."""
    matrix = Matrix(2)
    matrix.append([_unit(1, 0), _unit(0, 1), _unit(0, 0)])
    query = _unit(1, 0).astype(np.float32)
    assert similarities(matrix.view(), Asked.of(query)).tolist() == [1.0, 0.0, 0.0]
    assert similarities(matrix.view(), None).tolist() == [0.0, 0.0, 0.0]
    assert similarities(Matrix(2).view(), Asked.of(query)).tolist() == []


def test_means_weigh_items_and_have_unit_length() -> None:
    """Three items to the right and one upwards point more to the right; each run for itself."""
    rows = np.array([[1, 0], [0, 1], [0, 1]], np.float32)
    means, lengths = mean_vectors(rows.__getitem__, np.array([3, 1, 2]), np.array([0, 2]), 2)
    assert np.array_equal(means, [_unit(3, 1), _unit(0, 1)])
    assert lengths.tolist() == [10**0.5, 2.0]


@given(st.lists(st.integers(1, 9), min_size=1, max_size=20), st.integers(0, 1_000))
def test_a_mean_depends_on_nothing_beside_it(sizes: list[int], seed: int) -> None:
    """Bit by bit the same, whether it is made alone or among others of any length."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((sum(sizes), 8), np.float32)
    weights, starts = rng.integers(0, 4, len(rows)), np.cumsum([0, *sizes[:-1]])
    means, lengths = mean_vectors(rows.__getitem__, weights, starts, 8)
    for place, (start, size) in enumerate(zip(starts, sizes, strict=True)):
        mine, own = rows[start : start + size], weights[start : start + size]
        mean, length = mean_vectors(mine.__getitem__, own, np.array([0]), 8)
        assert (means[place].tobytes(), lengths[place]) == (mean[0].tobytes(), length[0])
        total = (mine.astype(np.float64) * own[:, None]).sum(axis=0)
        assert np.isclose(length[0], np.linalg.norm(total), rtol=1e-5, atol=1e-5)
        assert np.allclose(mean[0] * length[0], total, rtol=2e-3, atol=2e-2)


def test_a_mean_of_nothing_is_zero() -> None:
    """Texts that no embedder understood have weight 0."""
    rows, none = np.zeros((2, 2), np.float32), np.zeros(0, np.int64)
    means, lengths = mean_vectors(rows.__getitem__, np.array([0, 0]), np.array([0]), 2)
    assert (means.tolist(), lengths.tolist()) == ([[0.0, 0.0]], [0.0])
    assert mean_vectors(rows.__getitem__, none, none, 2)[0].shape == (0, 2)


def test_compaction_keeps_rows_in_order() -> None:
    """The living rows, closed up."""
    matrix = Matrix(2)
    matrix.append([_unit(1, 0), _unit(0, 1), _unit(1, 1)])
    after = matrix.compacted(np.array([True, False, True])).view()
    assert [after[row].tolist() for row in range(len(after))] == [matrix.row(0).tolist(), matrix.row(2).tolist()]
