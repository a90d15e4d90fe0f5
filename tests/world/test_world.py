"""Whole runtimes over a store that misbehaves, dying at any await: what each is told and sees is what really happened.

`MEMFOREST_SEED=41` runs one seed, `MEMFOREST_SEEDS=20000` so many; `python -m tests.world.world 0 1000` counts.
"""

from collections import Counter
from collections.abc import Iterable

import pytest

from memforest_ray.ambient import Clock
from memforest_ray.commit import garbage, owner, users
from memforest_ray.commit.claim import Claim
from memforest_ray.commit.manifest import Manifest, Saved
from memforest_ray.commit.saves import Saves
from memforest_ray.commit.snapshots import Rewrite
from memforest_ray.forest.adoption import Adoption
from memforest_ray.forest.errands import Merge
from memforest_ray.local import borrowing, published
from memforest_ray.local.published import Published
from memforest_ray.storage.store import ObjectStore
from tests.commit.planted import load_once, old
from tests.seeds import seeds
from tests.world.world import replay, run

CHUNK = 18
SEEDS = seeds(72)
REACHED: Counter[str] = Counter()


@pytest.mark.parametrize("first", SEEDS[::CHUNK])
def test_whatever_happens_all_are_told_the_truth(first: int) -> None:
    """Writes, questions, saves, restores, erasures, deletions and new lives; a failure prints how to see it again."""
    for seed in SEEDS[first - SEEDS[0] :][:CHUNK]:
        wrong, reached = run(seed)
        REACHED.update(reached)
        assert wrong == [], replay(seed)


def test_the_world_reaches_what_it_is_for() -> None:
    """Across the seeds above, or others if those were not run, everything that can happen has happened."""
    for seed in range(500, 600) if len(REACHED) == 0 else ():
        REACHED.update(run(seed)[1])
    verbs = ("ingest", "forget", "repair", "save", "restore", "merge", "delete_snapshot", "delete_user")
    wanted = [f"acknowledged {verb}" for verb in verbs]
    wanted += ["crash", "stall", "pass_time", "pins", "looks", "looks back"]
    wanted += ["unclear: outcome_unknown", "unclear: store_unavailable", "refused forget: invalid_input"]
    wanted += ["refused forget: overloaded", "done: ingest", "done: forget", "done: restore", "done: merge"]
    assert [name for name in wanted if not REACHED[name]] == []


def test_a_seed_is_one_world() -> None:
    """The same seed reaches the same, threads, crashes and all."""
    assert run(7) == run(7)


# ---- bugs on purpose: would the world see them? -----------------------------------------------------------


def _found(seeds: Iterable[int], **planted: float) -> int | None:
    """The first seed in which something was wrong."""
    return next((seed for seed in seeds if run(seed, **planted)[0]), None)


def test_owners_that_never_look_whose_it_is_are_caught() -> None:
    """Neither before a read nor before an acknowledgement: an overtaken one answers from the past."""
    assert _found(range(100), prove_after_s=1e12, fresh_s=1e12) is not None


def test_readers_that_do_not_look_again_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the second read of the manifest, parts of before are mixed with a log of after."""
    monkeypatch.setattr(owner, "load", load_once)
    assert _found(range(100)) is not None


def test_a_collection_by_age_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Old objects that were needed a moment ago are taken from under those who read them."""
    monkeypatch.setattr(garbage, "_due", old)
    assert _found(range(100)) is not None


def test_an_erasure_that_is_put_off_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A forget is acknowledged, and its text is still in the store."""

    async def later(_: Published) -> None:
        return

    monkeypatch.setattr(Published, "_erase", later)
    assert _found(range(20)) is not None


def test_snapshots_that_forget_nothing_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is forgotten stays in what was saved."""

    async def as_they_were(_: Saves, claim: Claim, rewrite: Rewrite) -> tuple[Saved, ...]:
        return claim.manifest.saved

    monkeypatch.setattr(Saves, "rewritten", as_they_were)
    assert _found(range(100)) is not None


def test_a_claim_whose_reading_fails_and_is_forgotten_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """An owner who goes on without what others wrote: it answers from the past, and writes over it."""
    monkeypatch.setattr(Published, "_behind", property(lambda _: False, lambda _, value: None), raising=False)
    assert _found(range(230, 430)) is not None


def test_a_copy_that_lands_after_an_erasure_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whose pin has expired is not shut out, does not look either, and brings what has been forgotten since."""

    async def nobody(*_: object) -> None:
        return

    async def pinned(store: ObjectStore, write: Merge, _: Manifest, clock: Clock) -> None:
        await borrowing._pinned(store, write, clock)

    monkeypatch.setattr(published, "shut_out", nobody)
    monkeypatch.setattr(users, "shut_out", nobody)
    monkeypatch.setattr(published, "check_unerased", pinned)
    assert _found(range(70, 270), halts=0.5) is not None


def test_corrections_that_do_not_come_along_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is corrected after the first merge is hidden by the second, and nothing stands in its place."""
    monkeypatch.setattr(Adoption, "corrections", lambda *_: iter(()))
    assert _found(range(22, 222)) is not None
