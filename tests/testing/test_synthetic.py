"""Forests out of nothing."""

import numpy as np

from memforest_ray.commit.changes import VECTORS
from memforest_ray.forest.checking import findings
from memforest_ray.testing.forests import check_forest
from memforest_ray.testing.synthetic import load_synthetic, questions, synthetic


def test_a_synthetic_forest_is_a_forest() -> None:
    """Of about the size that was asked for; everything in it meets."""
    made = synthetic(400, 24)
    version = load_synthetic(made)
    check_forest(version)
    assert findings(version, made.tables, 24) == []
    assert 350 < len(version.facts) < 450
    assert {scope.partition(":")[0] for scope in version.trees} == {"session", "entity", "scene"}


def test_the_same_arguments_give_the_same_rows() -> None:
    """Another seed gives others."""
    one, two, other = synthetic(100, 24), synthetic(100, 24), synthetic(100, 24, seed=1)
    assert one.tables == two.tables
    assert one.tables[VECTORS] != other.tables[VECTORS]


def test_questions_are_about_what_is_there() -> None:
    """Words of a fact, and a vector that is like another one's."""
    made = synthetic(200, 24)
    facts = np.stack([vector for name, vector in made.vectors.items() if name[0] == "f"]).astype(np.float32)
    for text, vector in questions(made, 5):
        assert text.startswith("What did ")
        assert (facts @ vector.astype(np.float32)).max() > 0.5
    assert [text for text, _ in questions(made, 3)] == [text for text, _ in questions(made, 3)]
