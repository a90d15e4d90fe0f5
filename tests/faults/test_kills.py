"""SIGKILL of a process that owns a forest, again and again: what it acknowledged is there once, what is there is whole.

Each store lives through a chain of deaths: the next process goes on where the one before was killed.
"""

import random
import signal
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from memforest_ray.commit.version import Version
from memforest_ray.storage.open import open_store
from memforest_ray.testing.forests import Forests, check_forest, check_same, decided, residue
from tests.faults.halts import Phase
from tests.faults.process import Life, live
from tests.faults.programme import Deed, Orders, deeds, secret_word
from tests.faults.twin import do

KILLS: dict[Phase, tuple[int, ...]] = {
    "extracting": (1, 9, 4, 7, 2, 8),
    "refreshing": (3, 5, 2, 6, 1, 4),
    "claiming": (1, 2, 1),
    "landing": (2, 8, 4, 11, 6, 1, 10),
    "checkpointing": (1, 5, 4, 6, 11, 8, 2, 3),
    "erasing": (2, 8, 20, 5, 23, 16, 7, 26),
}
"""Events at which the processes of one chain die, one after the other."""
WINDOW = 3


class Chain:
    """A store, what was acknowledged in it, and a forest in memory in which the same was done undisturbed."""

    def __init__(self, url: str, *, forgetting: bool, length: int | None = None) -> None:
        self.url = url
        self.todo = list(deeds(forgetting))[:length]
        # With forgets one command at a time: else it would not be known which of them an event belongs to.
        self.window = 1 if forgetting else WINDOW
        self._acknowledged: dict[str, dict[str, Any]] = {}
        self._done: list[Deed] = []
        self._twin = Forests().open()

    def live(self, phase: Phase | None = None, event: int = 0) -> Life:
        """One more process: until it dies, or is done."""
        settings = {"checkpoint_commits": 2}
        orders = Orders(self.url, phase or "", event, signal.SIGKILL, self.window, settings=settings)
        life = live(orders, self.todo)
        assert life.errors == {}
        assert (life.code, len(life.halts)) == ((-signal.SIGKILL, 1) if phase else (0, 0)), life.halts
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


@pytest.fixture
def url(tmp_path: Path) -> str:
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


@pytest.mark.parametrize("phase", ["extracting", "refreshing", "claiming", "landing", "checkpointing"])
async def test_killed_while(
    phase: Phase, url: str, undisturbed: Callable[[bool], Awaitable[dict[str, Any]]], tmp_path: Path
) -> None:
    """After each death a prefix of the batches is there; whoever comes last ends where an undisturbed one does."""
    chain = Chain(url, forgetting=False)
    for event in KILLS[phase]:
        chain.live(phase, event)
        await chain.check()
    chain.live()
    version = await chain.check()
    assert decided(version) == await undisturbed(False)
    assert {deed.op for deed in chain.todo} == set(version.operations)
    assert list((tmp_path / "store").glob(".writing/*")) == []


async def test_killed_while_erasing(url: str, undisturbed: Callable[[bool], Awaitable[dict[str, Any]]]) -> None:
    """A forget that was cut off is finished by the next owner, before he says anything, and its word is nowhere."""
    chain = Chain(url, forgetting=True)
    rng = random.Random(1)
    for event in KILLS["erasing"]:
        chain.live("erasing", event)
        version = await chain.check()
        cut_off = chain.forgotten(version)[-1:]
        if cut_off and rng.random() < 0.5:
            heirs = await chain.heir(cut_off[0])
            assert await residue(secret_word(cut_off[0].number), open_store(url), heirs) == []
            check_same(heirs, await chain.check())
    chain.live()
    version = await chain.check()
    assert decided(version) == await undisturbed(True)
    for deed in chain.forgotten(version):
        assert await residue(secret_word(deed.number), open_store(url), version) == []


async def test_killed_on_s3(s3: str) -> None:
    """The same over S3: a death in each phase in which the store is changed."""
    chain = Chain(s3, forgetting=True, length=26)
    kills: list[tuple[Phase, int]] = [("claiming", 2), ("landing", 6), ("checkpointing", 7), ("erasing", 8)]
    for phase, event in kills:
        chain.live(phase, event)
        await chain.check()
    chain.live()
    version = await chain.check()
    assert {deed.op for deed in chain.todo} == set(version.operations)
    for deed in chain.forgotten(version):
        assert await residue(secret_word(deed.number), open_store(s3), version) == []
