"""Vectors in eight bits a dimension."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.index.codes import coded, products
from memforest_ray.index.lexical import Floats
from memforest_ray.index.vectors import CODED_ROWS_MIN, Asked, Matrix, similarities, similarities_of


def _units(rows: int, dimension: int, seed: int) -> Floats:
    found = np.random.default_rng(seed).standard_normal((rows, dimension)).astype(np.float32)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found


@given(st.integers(1, 40), st.sampled_from([64, 100, 384]), st.integers(0, 1_000))
def test_products_are_those_of_the_integers(rows: int, dimension: int, seed: int) -> None:
    """Exactly, times both scales; and within rounding those of the vectors."""
    vectors, query = _units(rows, dimension, seed), _units(1, dimension, seed + 1)[0]
    codes, asked, found = coded(vectors), coded(query[None]), np.zeros(rows, np.float32)
    products([codes[np.arange(rows // 2)], codes[np.arange(rows // 2, rows)]] if rows > 1 else [codes], asked, found)
    whole = codes.values.astype(np.int64) @ asked.values[0].astype(np.int64)
    assert found == pytest.approx(whole * codes.scales.astype(np.float64) * asked.scales[0], abs=1e-6)
    assert found == pytest.approx(vectors @ query, abs=0.01)


def test_a_vector_that_means_nothing_has_codes_of_nothing() -> None:
    """Its product is exactly 0."""
    vectors, found = _units(3, 64, 0), np.ones(3, np.float32)
    vectors[1] = 0
    codes = coded(vectors)
    products([codes], coded(vectors[:1]), found)
    assert (codes.scales[1], codes.values[1].any(), found[1]) == (0, False, 0)


def test_no_reference_is_lost() -> None:
    """Of None as of what goes in: a call that gives one up too many ends the process some thousand questions later."""
    codes, asked, found = coded(_units(4, 64, 0)), coded(_units(1, 64, 1)), np.zeros(4, np.float32)
    watched = (None, codes.values, codes.scales, asked.values, found)
    before = [sys.getrefcount(each) for each in watched]
    for _ in range(200):
        products([codes], asked, found)
    assert all(abs(sys.getrefcount(each) - count) < 20 for each, count in zip(watched, before, strict=True))


@pytest.fixture(scope="module")
def matrix() -> Matrix:
    """Rows that came in portions, across the size from which there are codes and the end of a block."""
    found, rows = Matrix(128), _units(5_000, 128, 2).astype(np.float16)
    for start in range(0, len(rows), 700):
        found.append(rows[start : start + 700])
    return found


def test_of_many_rows_the_best_are_exact_and_the_others_near(matrix: Matrix) -> None:
    """The scan by codes finds the same best rows, with the same likeness, as the one by vectors."""
    view = matrix.view()
    rows = np.concatenate(view.blocks)
    assert sum(map(len, view.codes)) == len(view) > CODED_ROWS_MIN
    for query in _units(20, 128, 3):
        exact, found = rows @ query, similarities(view, Asked.of(query))
        best = np.argsort(-exact)[:20]
        assert np.argsort(-found)[:20].tolist() == best.tolist()
        assert found[best] == pytest.approx(exact[best], abs=1e-6)
        assert found == pytest.approx(exact, abs=0.01)


def test_of_some_of_many_rows_too(matrix: Matrix) -> None:
    """Few are multiplied themselves, many by their codes, wherever they lie."""
    view = matrix.view()
    rows, query = np.concatenate(view.blocks), _units(1, 128, 4)[0]
    for step, error in ((97, 1e-6), (2, 0.01)):
        some = np.arange(1, len(rows), step)
        found, exact = similarities_of(view, some, Asked.of(query)), rows[some] @ query
        assert found == pytest.approx(exact, abs=error)
        assert found.max() == pytest.approx(exact.max(), abs=1e-6)


def test_codes_follow_a_compaction(matrix: Matrix) -> None:
    """The living rows have theirs, in order; where few are left there are none."""
    kept = np.arange(matrix.count) % 2 == 0
    codes = coded(np.concatenate(matrix.view().blocks)[kept])
    fresh = matrix.compacted(kept).view()
    assert np.array_equal(np.concatenate([each.values for each in fresh.codes]), codes.values)
    assert np.array_equal(np.concatenate([each.scales for each in fresh.codes]), codes.scales)
    assert matrix.compacted(np.arange(matrix.count) < 100).view().codes == ()


def test_a_view_keeps_its_codes_while_the_matrix_grows() -> None:
    """As it keeps its rows."""
    matrix = Matrix(64)
    matrix.append(_units(CODED_ROWS_MIN, 64, 5).astype(np.float16))
    before = matrix.view()
    matrix.append(_units(10, 64, 6).astype(np.float16))
    assert (sum(map(len, before.codes)), sum(map(len, matrix.view().codes))) == (len(before), len(before) + 10)


def test_matrices_of_means_have_none() -> None:
    """They are not held against questions; nor have few dimensions any."""
    for matrix in (Matrix(64, np.float16), Matrix(8)):
        matrix.append(_units(CODED_ROWS_MIN, matrix.dimension, 7).astype(np.float16))
        assert matrix.view().codes == ()
