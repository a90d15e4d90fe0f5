"""The models behind endpoints, made from settings inside a gateway."""

from collections.abc import Sequence
from typing import NoReturn

from memforest_ray.ambient import SystemClock, SystemRandom
from memforest_ray.config import Settings
from memforest_ray.errors import InvalidInput
from memforest_ray.local.models import OpenModels, open_models

__all__ = ["gateway"]


def gateway(settings: Settings, members: int) -> OpenModels:
    """Every model that has an endpoint; `members` gateways share its budget of calls."""
    return open_models(settings, SystemClock(), SystemRandom(), members=members, embedder=_Elsewhere())


class _Elsewhere:
    """Stands for the shipped embedder, which has actors of its own and is not loaded here."""

    @property
    def fingerprint(self) -> NoReturn:
        raise InvalidInput("no embedding endpoint is configured; texts are embedded by the embedder of the node")

    async def embed(self, _: Sequence[str]) -> NoReturn:
        raise InvalidInput("no embedding endpoint is configured; texts are embedded by the embedder of the node")
