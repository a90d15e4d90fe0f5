"""The runtime without Ray: every forest lives in this process, on the client's event loop."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from memforest_ray.ambient import Clock, Random, SystemClock, SystemRandom
from memforest_ray.commit.users import delete_user, list_users
from memforest_ray.config import Settings
from memforest_ray.errors import Fenced, OutcomeUnknown, Passivating, StoreUnavailable
from memforest_ray.ids import OpId, UserId, user_hash
from memforest_ray.local.borrowing import holders
from memforest_ray.local.driver import ForestDriver
from memforest_ray.local.effects import Models
from memforest_ray.local.models import offline_models, open_models, shared
from memforest_ray.storage.open import open_store
from memforest_ray.storage.store import ObjectStore

__all__ = ["LocalRuntime", "connect", "offline_models", "open_driver"]

_TRIES_MAX = 8
"""Of one call whose forest was taken over by another owner each time."""


def open_driver(user: UserId, settings: Settings, models: Models) -> ForestDriver:
    """A driver of one user's forest on the machine's own clock and entropy."""
    store = open_store(settings.store)
    return ForestDriver(user, store, models, settings, SystemClock(), SystemRandom(), resumes=True)


class LocalRuntime:
    """Drivers by user; each is made when it is first needed."""

    def __init__(
        self,
        settings: Settings,
        store: ObjectStore,
        models: Models,
        clock: Clock | None = None,
        random: Random | None = None,
        *,
        release: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`release`: what lets go of the models, when everything is closed."""
        self._release = release
        self._settings = settings
        self._store = store
        self._models = models
        self._clock = clock or SystemClock()
        self._random = random or SystemRandom()
        self._drivers: dict[UserId, ForestDriver] = {}
        self._leaving: set[asyncio.Task[None]] = set()
        """Closings of drivers that were overtaken."""

    async def call(
        self,
        user: UserId,
        verb: str,
        arguments: dict[str, Any],
        *,
        op_id: OpId | None,
        seen: int,
        deadline_s: float,
    ) -> Any:
        """See `memforest_ray.client.Runtime`; a forest that was taken over is opened again.

        At the deadline raises OutcomeUnknown for a write, else StoreUnavailable.
        """
        try:
            async with asyncio.timeout(deadline_s):
                return await self._call(user, verb, arguments, op_id, seen)
        except TimeoutError as error:
            late = f"{verb} had no answer within {deadline_s:g} s"
            if op_id is None:
                raise StoreUnavailable(f"{late}; nothing was changed; call again") from error
            raise OutcomeUnknown(
                f"{late}; it may or may not have been done; "
                f"make the same call again with op_id={op_id!r}: it is done only once",
                op_id=op_id,
            ) from error

    async def _call(self, user: UserId, verb: str, arguments: dict[str, Any], op_id: OpId | None, seen: int) -> Any:
        for _ in range(_TRIES_MAX - 1):
            driver = self._driver(user)
            try:
                return await driver.call(verb, arguments, op_id=op_id, seen=seen)
            except (Fenced, Passivating):
                self._retire(user, driver)
        return await self._driver(user).call(verb, arguments, op_id=op_id, seen=seen)

    def _retire(self, user: UserId, driver: ForestDriver) -> None:
        """Let go of a driver that is of no more use; what waits in its lane is answered."""
        if self._drivers.get(user) is driver:
            del self._drivers[user]
            leaving = asyncio.create_task(driver.close())
            self._leaving.add(leaving)
            leaving.add_done_callback(self._leaving.discard)

    def _driver(self, user: UserId) -> ForestDriver:
        if user not in self._drivers:
            models = shared(self._models, user_hash(user)[:12])
            self._drivers[user] = ForestDriver(user, self._store, models, self._settings, self._clock, self._random)
        return self._drivers[user]

    async def users(self, prefix: str) -> list[str]:
        """Ids of the users whose forests the store holds, sorted."""
        return await all_users(self._store, prefix)

    async def delete_user(self, user: UserId) -> list[UserId]:
        """Remove everything of one user; who holds a copy of it."""
        driver = self._drivers.pop(user, None)
        if driver is not None:
            await driver.close()
        lent = await delete_user(self._store, user, self._clock, self._random)
        return await holders(self._store, user, lent)

    async def close(self) -> None:
        """Drain and checkpoint every forest. Raises the first StoreUnavailable, when all have been tried."""
        drivers, self._drivers = list(self._drivers.values()), {}
        outcomes = await asyncio.gather(*self._leaving, *(driver.close() for driver in drivers), return_exceptions=True)
        if self._release is not None:
            await self._release()
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome


async def all_users(store: ObjectStore, prefix: str) -> list[str]:
    """Ids of the users of a store, sorted; read page by page."""
    found: list[str] = []
    after = ""
    while True:
        page = await list_users(store, prefix=prefix, after=after)
        found.extend(page.users)
        if not page.after:
            return sorted(found)
        after = page.after


def connect(settings: Settings) -> LocalRuntime:
    """The entry point `local`: forests in this process, with the models that `settings` name.

    Raises InvalidInput, LLMUnavailable (an endpoint that has to be asked what it serves does not answer).
    """
    clock, random = SystemClock(), SystemRandom()
    opened = open_models(settings, clock, random)
    return LocalRuntime(settings, open_store(settings.store), opened.models, clock, random, release=opened.close)
