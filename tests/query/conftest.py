"""A fresh memory for each test."""

import pytest

from memforest_ray.testing.memory import Memory


@pytest.fixture
def memory() -> Memory:
    return Memory()
