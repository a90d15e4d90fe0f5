"""One process of a simulated world: a runtime, as a client has it, that sometimes stands still where that matters."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from memforest_ray.client import AsyncClient
from memforest_ray.copying import merged
from memforest_ray.errors import Fenced
from memforest_ray.forest.errands import LOAN_MS
from memforest_ray.ids import UserId
from memforest_ray.local.driver import ForestDriver
from memforest_ray.local.runtime import LocalRuntime
from memforest_ray.storage.store import ObjectStore
from memforest_ray.testing.clock import SeededRandom
from tests.world.deeds import Deed

if TYPE_CHECKING:
    from tests.world.world import World

__all__ = ["Home"]


class Home(LocalRuntime):
    """One process's runtime."""

    def __init__(self, world: "World", store: ObjectStore) -> None:
        chance = SeededRandom(world.rng.getrandbits(40))
        self._world = world
        super().__init__(world.settings, store, world.models, world.clock, chance)

    def _driver(self, user: UserId) -> ForestDriver:
        driver = super()._driver(user)
        published = driver._published
        # Few deltas make a merge: a world does not live long enough for eight.
        published.log._fanout = 2
        if "borrowed" not in vars(published):
            published.borrowed = self._halting(published.borrowed)  # type: ignore[method-assign]
            published.still_borrowed = self._halting(published.still_borrowed)  # type: ignore[method-assign]
        return driver

    def _halting(self, step: Callable[..., Awaitable[Any]]) -> Any:
        """A step of a copy, after which the process often stands still: that is how copies outlive their pins."""

        async def taken(*arguments: Any) -> Any:
            done = await step(*arguments)
            if self._world.chance(self._world.halts):
                self._world.loop.stand_still(500)
                self._world.clock.advance(self._world.rng.choice([1, LOAN_MS / 1000 + 1]))
            return done

        return taken

    async def write(self, deed: Deed, seen: int, deadline_s: float) -> Any:
        """One write, as a handle asks for it."""
        if deed.verb == "merge":
            settings = self._settings.model_copy(update={"call_deadline_s": deadline_s})
            client = AsyncClient(settings, self, self._random)
            asked = {"replacing": deed.arguments["replacing"], "wait": deed.arguments["wait"], "seen": seen}
            return await merged(client, deed.user, deed.arguments["source"], deed.op, **asked)
        return await self.call(deed.user, deed.verb, deed.arguments, op_id=deed.op, seen=seen, deadline_s=deadline_s)

    async def version(self, user: UserId, seen: int) -> Any:
        """The version that a read would get."""
        driver = self._driver(user)
        try:
            return await driver.version(seen)
        except Fenced:
            self._retire(user, driver)
            raise
