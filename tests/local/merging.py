"""What tests of merges and of the other errands share."""

from typing import Any

import memforest_ray as mf
from memforest_ray.commit.loaded import read_manifest
from memforest_ray.facts.rules import RuleExtractor
from memforest_ray.ids import UserId
from memforest_ray.local import LocalRuntime, Models
from memforest_ray.local.examination import examine
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.clock import ManualClock, SeededRandom
from memforest_ray.testing.forests import Forests, check_forest
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.trees.summaries import SelectionSummarizer, Summarizer

__all__ = ["World"]


class World:
    """A store, a client on it, and drivers that read it as another process would."""

    def __init__(self, summarizer: Summarizer | None = None) -> None:
        self.store = MemoryStore()
        self.clock = ManualClock()
        models = Models(RuleExtractor(), summarizer or SelectionSummarizer(), HashEmbedder())
        settings = mf.Settings(store="memory://merges", runtime="local")
        runtime = LocalRuntime(settings, self.store, models, self.clock, SeededRandom(1))
        self.client = mf.AsyncClient(settings, runtime, SeededRandom(2))
        self.forests = Forests(self.store, models, self.clock, seed=7)

    async def version(self, user: str) -> Any:
        """What is stored of a user, checked."""
        version = await self.forests.open(user).version()
        check_forest(version)
        assert (await examine(self.store, UserId(user))).findings == ()
        return version

    async def pins(self, user: str) -> int:
        held = await read_manifest(self.store, UserKeys.of(UserId(user)))
        assert held is not None
        return len(held.manifest.pins)
