"""SIGKILL of a process that owns a forest, again and again: what it acknowledged is there once, what is there is whole.

Each store lives through a chain of deaths: the next process goes on where the one before was killed.
"""

import random
import signal
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from memforest_ray.commit.version import Version
from memforest_ray.storage.open import open_store
from memforest_ray.testing.forests import Forests, check_forest, check_same, decided, residue
from tests.faults.halts import Phase
from tests.faults.nursery import Nursery
from tests.faults.process import Life
from tests.faults.programme import Deed, Orders, deeds, secret_word
from tests.faults.twin import do
from tests.seeds import seed

Undisturbed = Callable[[bool], Awaitable[dict[str, Any]]]
EVENTS: dict[Phase, Sequence[int]] = {
    "extracting": (1, 2, 3),
    "refreshing": (1, 2, 3),
    "landing": (4, 6),  # behind the fence, each second one: the commit stands, and nobody has been told
    "checkpointing": range(1, 7),
    "erasing": range(1, 13),
}
"""Events of a phase at which a process may die, counted from its birth."""
SEED = seed(1)
KILLS_EACH = 6
WINDOW = 3


def _points(rng: random.Random) -> list[tuple[Phase, int]]:
    """Where the processes of one chain die, one after the other."""
    points = [(phase, rng.choice(events)) for phase, events in EVENTS.items() for _ in range(KILLS_EACH)]
    rng.shuffle(points)
    return points


class Chain:
    """A store, what was acknowledged in it, and a forest in memory in which the same was done undisturbed."""

    def __init__(self, url: str, nursery: Nursery, *, forgetting: bool) -> None:
        self.url = url
        self._nursery = nursery
        self.todo = list(deeds(forgetting))
        # With forgets one command at a time: else it would not be known which of them an event belongs to.
        self.window = 1 if forgetting else WINDOW
        self._acknowledged: dict[str, dict[str, Any]] = {}
        self._done: list[Deed] = []
        self._twin = Forests().open()

    def live(self, phase: Phase | None = None, event: int = 0) -> Life:
        """One more process: until it dies, or is done: there is no such event any more."""
        settings = {"checkpoint_commits": 2}
        orders = Orders(self.url, phase or "", event, signal.SIGKILL, self.window, settings=settings)
        life = self._nursery.live(orders, self.todo)
        assert life.errors == {}
        assert (life.code, len(life.halts)) in (((-signal.SIGKILL, 1), (0, 0)) if phase else ((0, 0),)), life.halts
        self._acknowledged |= life.acknowledged
        return life

    async def check(self) -> Version:
        """What the store holds, opened afresh: all that was acknowledged, once, and nothing by half."""
        version = await Forests(open_store(self.url)).open().version()
        check_forest(version)
        told = {str(op): row for op, row in version.operations.items() if op in self._acknowledged}
        kept = ("version", "session_id", "cells", "facts_added", "facts_merged", "turns", "facts")
        assert _only(kept, told) == _only(kept, self._acknowledged)
        assert all(row["version"] <= version.number for row in version.operations.values())
        self._check_prefix(set(version.operations))
        for deed in self.todo:
            if deed.op in version.operations and deed not in self._done:
                await do(self._twin, deed)
                self._done.append(deed)
        assert decided(version) == decided(await self._twin.version())
        return version

    def _check_prefix(self, found: set[str]) -> None:
        """Only what was under way beside the last deed can be missing before it, or be there without an answer."""
        places = [place for place, deed in enumerate(self.todo) if deed.op in found]
        assert len(places) == len(found)
        assert max(places, default=-1) + 1 - len(places) < self.window
        assert len(found) - len(self._acknowledged) <= self.window

    async def heir(self, deed: Deed) -> Version:
        """Somebody else asks for a deed of the dead: it takes the forest over. What he then has."""
        heir = Forests(open_store(self.url), seed=1).open()
        await do(heir, deed)
        version = await heir.version()
        await heir.driver.close()
        return version

    def forgotten(self, version: Version) -> list[Deed]:
        return [deed for deed in self.todo if deed.verb == "forget" and deed.op in version.operations]


def _only(kept: Iterable[str], rows: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Without times and costs, which are of a process."""
    return {op: {key: row[key] for key in kept if key in row} for op, row in rows.items()}


@pytest.fixture(params=["file", "s3"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store."""
    if request.param == "s3":
        return str(request.getfixturevalue("s3"))
    return (tmp_path / "store").as_uri()


@pytest.fixture(scope="module")
def undisturbed() -> Callable[[bool], Awaitable[dict[str, Any]]]:
    """What all deeds come to, each done once in one process."""
    known: dict[bool, dict[str, Any]] = {}

    async def of(forgetting: bool) -> dict[str, Any]:
        if forgetting not in known:
            forest = Forests().open()
            for deed in deeds(forgetting):
                await do(forest, deed)
            known[forgetting] = decided(await forest.version())
        return known[forgetting]

    return of


async def test_killed_anywhere(url: str, nursery: Nursery, undisturbed: Undisturbed, tmp_path: Path) -> None:
    """Thirty deaths of one ingest, six in each phase: after each, what was acknowledged is there, once, and whole.

    A forget that was cut off is finished by the next owner, before he says anything. Whoever comes last ends where an
    undisturbed one does, and no forgotten word is left. `MEMFOREST_SEED` chooses other points; with some of them the
    ingest is over before the last death, and another one takes the rest.
    """
    rng = random.Random(SEED)
    points, stores = _points(rng), 0
    while points:
        stores += 1
        chain = Chain(f"{url}/{stores}", nursery, forgetting=True)
        await _live_and_die(chain, points, rng)
        version = await chain.check()
        assert decided(version) == await undisturbed(True)
        assert {deed.op for deed in chain.todo} == set(version.operations)
        for deed in chain.forgotten(version):
            assert await residue(secret_word(deed.number), open_store(chain.url), version) == []
    assert list((tmp_path / "store").rglob(".writing/*")) == []


async def _live_and_die(chain: Chain, points: list[tuple[Phase, int]], rng: random.Random) -> None:
    """One process after the other dies where the first of `points` says, until there are none, or all is done."""
    while points and chain.live(*points[0]).halts:
        phase, _ = points.pop(0)
        version = await chain.check()
        cut_off = chain.forgotten(version)[-1:]
        if phase == "erasing" and cut_off and rng.random() < 0.5:
            heirs = await chain.heir(cut_off[0])
            assert await residue(secret_word(cut_off[0].number), open_store(chain.url), heirs) == []
            check_same(heirs, await chain.check())
    chain.live()


async def test_killed_while_several_write(tmp_path: Path, nursery: Nursery, undisturbed: Undisturbed) -> None:
    """With several writes under way, and around the change of the manifest that takes the forest: a prefix is there."""
    chain = Chain((tmp_path / "store").as_uri(), nursery, forgetting=False)
    kills: list[tuple[Phase, int]] = [("claiming", 1), ("claiming", 2), ("landing", 7), ("checkpointing", 9)]
    for phase, event in kills:
        chain.live(phase, event)
        await chain.check()
    chain.live()
    assert decided(await chain.check()) == await undisturbed(False)
