"""Everybody at once, through a store that misbehaves: nothing acknowledged is lost, nothing removed comes back.

`MEMFOREST_SEED=41` runs one seed, `MEMFOREST_SEEDS=100000` so many; `python -m tests.commit.world 0 5000` counts.
"""

from collections import Counter
from collections.abc import Iterable

import pytest

from memforest_ray.commit import garbage, owner
from memforest_ray.storage.open import open_store
from tests.commit.planted import load_once, old
from tests.commit.world import World, replay, run
from tests.seeds import seeds

CHUNK = 25
SEEDS = seeds(150)


@pytest.mark.parametrize("first", SEEDS[::CHUNK])
def test_whatever_the_order_nothing_is_lost_and_nothing_comes_back(first: int) -> None:
    """Owners, readers, copies, saves, erasures, deletions and new lives; a failure prints how to see it again."""
    for seed in SEEDS[first - SEEDS[0] :][:CHUNK]:
        wrong, _ = run(seed)
        assert wrong == [], replay(seed)


def test_the_simulation_reaches_what_it_is_for() -> None:
    """Across some seeds everything that can happen has happened, succeeded and failed."""
    reached: Counter[str] = Counter()
    for seed in range(80):
        reached += run(seed)[1]
    kinds = ("commit", "erase", "save", "unsave", "delete")
    wanted = [f"{kind} {end}" for kind in kinds for end in ("acknowledged", "not")]
    wanted += ["Fenced", "OutcomeUnknown", "Reload", "StoreUnavailable", "refused: Overloaded", "refused: InvalidInput"]
    wanted += ["reads", "snapshots read", "looks of a follower", "copies"]
    assert [name for name in wanted if not reached[name]] == []
    assert reached["commit acknowledged"] > 400


async def test_the_same_over_http(s3: str) -> None:
    """A few worlds on a real protocol."""
    for seed in range(2):
        world = World(seed, store=open_store(f"{s3}/{seed}"))
        assert await world.run() == [], seed


# ---- bugs on purpose: would the simulation see them? ------------------------------------------------------


def _found(seeds: Iterable[int], *, prove_after_s: float = 300) -> int | None:
    """The first seed in which something was wrong."""
    return next((seed for seed in seeds if run(seed, prove_after_s=prove_after_s)[0]), None)


def test_owners_that_never_look_whose_it_is_are_caught() -> None:
    """Without the second proof a stalled owner commits into a freed slot: within 400 seeds."""
    assert _found(range(400), prove_after_s=1e12) is not None


def test_readers_that_do_not_look_again_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the second read of the manifest, parts of before are mixed with a log of after: within 100 seeds."""

    monkeypatch.setattr(owner, "load", load_once)
    assert _found(range(100)) is not None


def test_a_collection_by_age_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Old objects that were needed a moment ago are taken from under those who read them: within 200 seeds."""
    monkeypatch.setattr(garbage, "_due", old)
    assert _found(range(200)) is not None
