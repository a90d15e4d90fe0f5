"""Vectors of rows."""

import numpy as np

from memforest_ray.index.vectors import Matrix, mean_vector, similarities


def _unit(*values: float) -> np.ndarray[tuple[int], np.dtype[np.float16]]:
    vector = np.array(values)
    return (vector / max(float(np.linalg.norm(vector)), 1e-9)).astype(np.float16)


def test_a_view_keeps_its_rows_while_the_matrix_grows() -> None:
    """Later rows never show, earlier ones never change."""
    matrix = Matrix(2)
    matrix.append([_unit(1, 0)])
    before = matrix.view()
    for _ in range(40):
        matrix.append([_unit(0, 1)])
    assert before.tolist() == [[1.0, 0.0]]
    assert matrix.view().shape == (41, 2)


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
    assert similarities(matrix.view(), query).tolist() == [1.0, 0.0, 0.0]
    assert similarities(matrix.view(), None).tolist() == [0.0, 0.0, 0.0]
    assert similarities(Matrix(2).view(), query).tolist() == []


def test_a_mean_weighs_items_and_has_unit_length() -> None:
    """Three items to the right and one upwards point more to the right."""
    right, up = _unit(1, 0).astype(np.float32), _unit(0, 1).astype(np.float32)
    assert np.array_equal(mean_vector([right, up], [3, 1], 2), _unit(3, 1))


def test_a_mean_of_nothing_is_zero() -> None:
    """Texts that no embedder understood have weight 0."""
    zero = np.zeros(2, np.float32)
    assert mean_vector([zero, zero], [0, 0], 2).tolist() == [0.0, 0.0]
    assert mean_vector([], [], 2).tolist() == [0.0, 0.0]


def test_compaction_keeps_rows_in_order() -> None:
    """The living rows, closed up."""
    matrix = Matrix(2)
    matrix.append([_unit(1, 0), _unit(0, 1), _unit(1, 1)])
    assert np.array_equal(matrix.compacted(np.array([True, False, True])).view(), matrix.view()[[0, 2]])
