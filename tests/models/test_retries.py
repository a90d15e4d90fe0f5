"""Retries: how many, how long between."""

import pytest

from memforest_ray.models.failures import Failure, Trouble
from memforest_ray.models.retries import Patience, Retries
from memforest_ray.testing.clock import SeededRandom


class Pauses:
    """A sleep that takes no time."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)


async def tries(trouble: Trouble, rest_s: float = 0.0) -> tuple[int, list[float]]:
    """How often a request is tried again that meets the same trouble each time, and the pauses before."""
    pauses = Pauses()
    tried = 0
    retries = Retries(SeededRandom(1), pauses, Patience())
    while await retries.goes_on(Failure(trouble, "why", rest_s)):
        tried += 1
    return tried, pauses.slept


async def test_pauses_double_with_jitter_up_to_a_bound() -> None:
    """So that callers who were turned away together do not come back together."""
    _, pauses = await tries("overloaded")
    assert len(pauses) == 10
    for number, pause in enumerate(pauses):
        most = min(0.25 * 2**number, 20.0)
        assert most / 2 <= pause <= most
    assert 30 < sum(pauses) < 120


@pytest.mark.parametrize(
    ("trouble", "count"),
    [("failed", 4), ("overloaded", 10), ("dialect", 6), ("refused", 0), ("too_long", 0), ("rejected", 0)],
)
async def test_each_trouble_has_its_number(trouble: Trouble, count: int) -> None:
    """What will not pass is not tried again."""
    assert (await tries(trouble))[0] == count


async def test_what_broke_for_the_first_time_is_tried_again_at_once() -> None:
    """A lost connection says nothing of load; one that is lost again and again may."""
    _, pauses = await tries("failed")
    assert [round(pause, 1) for pause in pauses] == [round(pause, 1) for pause in (await tries("overloaded"))[1][:3]]


async def test_a_server_may_ask_for_longer() -> None:
    """For a minute, not for a day."""
    assert (await tries("failed", 7.0))[1][:2] == [7.0, 7.0]
    assert (await tries("failed", 86_400.0))[1][0] == 60.0
