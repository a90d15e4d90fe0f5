"""The window: extraction first, then what is waited for, and nothing that is free stays unused."""

import asyncio

from memforest_ray.local.window import Window


class Opened:
    """A window, and who has been let in."""

    def __init__(self, calls_max: int, cells: int) -> None:
        self.cells = cells
        self.window = Window(calls_max, lambda: self.cells)
        self.window.look()
        self.inside: list[str] = []
        self._entering: list[asyncio.Task[None]] = []

    async def wants(self, *names: str, urgency: int = 1, early: bool = False) -> list[str]:
        """Some ask for their turns; who is inside then."""
        self._entering += [asyncio.create_task(self._enter(name, urgency, early=early)) for name in names]
        return await self.now()

    async def now(self) -> list[str]:
        """Who is inside when everybody has had a look."""
        for _ in range(3):
            await asyncio.sleep(0)
        return self.inside

    async def extracts(self, cells: int) -> list[str]:
        """So many cells are left; who is inside then."""
        self.cells = cells
        self.window.look()
        return await self.now()

    async def _enter(self, name: str, urgency: int, *, early: bool) -> None:
        await self.window.enter(name, urgency, early=early)
        self.inside.append(name)


def names(number: int) -> list[str]:
    return [f"n{place}" for place in range(number)]


async def test_what_is_due_has_an_eighth_at_least() -> None:
    """However much is extracted, summaries do not starve; all that cells leave free is theirs."""
    opened = Opened(32, cells=100)
    assert len(await opened.wants(*names(40))) == 4
    assert len(await opened.extracts(20)) == 12
    assert len(await opened.extracts(0)) == 32


async def test_early_ones_go_with_cells() -> None:
    """One with eight: each call slows those beside it, and the cells are what is waited for."""
    opened = Opened(256, cells=24)
    assert len(await opened.wants(*names(9), early=True)) == 3
    assert len(await opened.extracts(0)) == 9


async def test_the_last_cells_leave_room_for_early_ones() -> None:
    """Where there were more than fit: none before, then all that is free but for a sixteenth, which verdicts need."""
    opened = Opened(32, cells=33)
    assert await opened.wants(*names(40), early=True) == []
    assert len(await opened.extracts(20)) == 10
    assert len(await opened.extracts(0)) == 32


async def test_who_is_waited_for_goes_first() -> None:
    """By urgency, and before all that is early; what becomes due meanwhile is no longer early."""
    opened = Opened(8, cells=9)
    await opened.wants("early", "later due", early=True)
    assert await opened.wants("due") == ["due"]
    await opened.wants("urgent", urgency=3)
    opened.window.due("later due", 2)
    opened.window.leave()
    assert await opened.now() == ["due", "urgent"]
    opened.window.leave()
    assert await opened.now() == ["due", "urgent", "later due"]
