"""Retries: how often one request is tried, and how long is waited between."""

from dataclasses import dataclass
from typing import Final

from memforest_ray.ambient import Random
from memforest_ray.models.failures import Failure, Trouble
from memforest_ray.models.permits import Sleep

__all__ = ["Patience", "Retries"]

_ADAPTATIONS_MAX: Final = 6
"""Of one request to what an endpoint understands: format twice, name of the limit, temperature, stops, usage."""
_BACK_OFF_S: Final = 0.25
_BACK_OFF_S_MAX: Final = 20.0
_REST_S_MAX: Final = 60.0
"""Longest pause that a server may ask for."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How often one request is tried."""

    failures_max: int = 4
    """Tries after the first that broke: no answer, connection lost, 5xx."""
    overloads_max: int = 10
    """Tries after the first that was turned away (429, 503): over a minute, with the pauses between."""


class Retries:
    """Of one request."""

    def __init__(self, random: Random, sleep: Sleep, patience: Patience) -> None:
        self._random = random
        self._sleep = sleep
        self._left: dict[Trouble, int] = {
            "failed": patience.failures_max,
            "overloaded": patience.overloads_max,
            "dialect": _ADAPTATIONS_MAX,
        }
        self._pause_s = _BACK_OFF_S
        self._failed = False

    async def goes_on(self, failure: Failure) -> bool:
        """Whether to try again; when it returns, the pause is over.

        Who wants other words gets them at once. So is tried again what has broken for the first time: a lost connection
        or one bad answer says nothing about how much a server has to do, and whoever waits has lost a whole call.
        """
        left = self._left.get(failure.trouble, 0)
        if left == 0:
            return False
        self._left[failure.trouble] = left - 1
        again_at_once = failure.trouble == "failed" and not self._failed
        self._failed = self._failed or failure.trouble == "failed"
        if failure.trouble != "dialect" and not (again_at_once and failure.rest_s <= 0):
            pause = self._pause_s * self._random.uniform(0.5, 1.0)
            self._pause_s = min(2 * self._pause_s, _BACK_OFF_S_MAX)
            await self._sleep(max(pause, min(failure.rest_s, _REST_S_MAX)))
        return True
