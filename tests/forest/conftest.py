"""What tests of whole forests share."""

from collections.abc import Callable

import pytest

from memforest_ray.facts.sessions import Session, TimeLike, Turn
from memforest_ray.testing.forests import Forests

Say = Callable[..., Session]


@pytest.fixture
def forests() -> Forests:
    return Forests()


@pytest.fixture
def say() -> Say:
    """A session of Bob's and Ann's turns, said in turn."""

    def make(name: str, *texts: str, time: TimeLike = "2023-05-08T10:00:00Z") -> Session:
        return Session(name, [Turn(text, ("Bob", "Ann")[place % 2]) for place, text in enumerate(texts)], time=time)

    return make
