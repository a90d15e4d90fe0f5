"""Ray's many words for an actor that is gone are one of ours."""

from typing import Any

import pytest
from ray.exceptions import ActorDiedError

from memforest_actors import refs


class _Handle:
    """Raises when it is called, as a handle of Ray does."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, _: str) -> Any:
        return self

    def remote(self, *_: Any) -> Any:
        raise self._error


@pytest.mark.parametrize(
    "error",
    [
        Exception('Failed to submit task to actor ActorID(ab) due to b"Can\'t find actor ab. It might be dead"'),
        ActorDiedError(),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_what_means_gone(error: Exception) -> None:
    """Also the plain exception for a handle of which Ray has let go."""
    handle = _Handle(error)
    with pytest.raises(refs.Gone):
        await refs.ActorRef("uf-1", handle).call("status", timeout_s=60)


async def test_other_exceptions_are_bugs() -> None:
    """They pass as they are."""
    handle = _Handle(Exception("something else"))
    with pytest.raises(Exception, match="something else"):
        await refs.ActorRef("uf-1", handle).call("status", timeout_s=60)
