"""Sending: one call under its permit, and a second one elsewhere when its answer is late."""

from collections.abc import Callable, Collection, Coroutine
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, TypeVar

from memforest_ray.errors import LLMUnavailable, Overloaded
from memforest_ray.models.failures import Failure
from memforest_ray.models.hedging import Hedges
from memforest_ray.models.permits import Permit, Permits

__all__ = ["Sender"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Sender:
    """In the name of one owner, to any of `endpoints`."""

    permits: Permits
    hedges: Hedges
    endpoints: Collection[str]
    owner: str
    urgent: bool

    async def send(self, post: Callable[[Permit], Coroutine[Any, Any, T | Failure]], *, after: str = "") -> T | Failure:
        """What `post` comes to; it says to its permit how the call went. `after`: where an earlier try has failed.

        Raises Overloaded, LLMUnavailable: nothing was sent.
        """
        answered_at = ""

        async def posted(permit: Permit) -> T | Failure:
            nonlocal answered_at
            outcome = await post(permit)
            if not isinstance(outcome, Failure):
                answered_at = permit.endpoint
            return outcome

        async def again(late: str) -> T | Failure:
            try:
                async with self._permit(late) as permit:
                    return await posted(permit)
            except (LLMUnavailable, Overloaded) as error:
                return Failure("failed", error.message)

        async with self._permit(after) as permit:
            outcome = await self.hedges.first_of(posted(permit), lambda: again(permit.endpoint), _good)
            if answered_at not in ("", permit.endpoint):
                permit.failed = True  # another one answered while this one was silent
        return outcome

    def _permit(self, after: str) -> AbstractAsyncContextManager[Permit]:
        return self.permits.take(self.endpoints, owner=self.owner, urgent=self.urgent, after=after)


def _good(outcome: object) -> bool:
    return not isinstance(outcome, Failure)
