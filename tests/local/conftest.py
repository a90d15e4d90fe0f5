"""What tests of the driver share."""

from collections.abc import Callable

import pytest

from memforest_ray.facts.rules import RuleExtractor
from memforest_ray.facts.sessions import Session, TimeLike, Turn
from memforest_ray.local.effects import Models
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.extraction import ScriptedExtractor
from memforest_ray.testing.forests import Forests
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.trees.summaries import SelectionSummarizer


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def extractor() -> ScriptedExtractor:
    return ScriptedExtractor()


@pytest.fixture
def forests(store: MemoryStore, extractor: ScriptedExtractor) -> Forests:
    return Forests(store, Models(extractor, SelectionSummarizer(), HashEmbedder()), lane_depth_max=20)


@pytest.fixture
def say() -> Callable[..., Session]:
    """A session of Bob's and Ann's turns, said in turn."""

    def make(name: str, *texts: str, time: TimeLike = "2023-05-08T10:00:00Z") -> Session:
        return Session(name, [Turn(text, ("Bob", "Ann")[place % 2]) for place, text in enumerate(texts)], time=time)

    return make


@pytest.fixture
def plain(store: MemoryStore) -> Forests:
    """Forests that find facts by rules, as a user's do."""
    return Forests(store, Models(RuleExtractor(), SelectionSummarizer(), HashEmbedder()))
