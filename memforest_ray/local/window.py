"""The window: how many summaries of a forest are asked for at a time, beside the cells that are being extracted."""

import asyncio
import heapq
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

__all__ = ["Window"]

_TRICKLE = 8
"""This part of all calls is for summaries that are due, however much is extracted: they must not starve. And one that
is written early goes with so many cells: each call slows those beside it, and the cells are what is waited for.
"""
_SPARED = 16
"""This part of all calls is left to verdicts where early summaries fill the rest: what is read last waits for them."""


@dataclass(eq=False, slots=True)
class _Turn:
    urgency: int
    open: "asyncio.Future[None]"


class Window:
    """So many calls of a forest at a time, cells under extraction among them; who waits enters by urgency.

    Extraction goes first: all that a write waits for comes after it, while most summaries can fill the gaps. Where
    there have been more cells than calls at a time, it is room that is short: what the last cells leave free is filled
    then, but for what their verdicts need, and before that nothing early takes the room of a cell.
    """

    def __init__(self, calls_max: int, extracting: Callable[[], int]) -> None:
        self._calls_max = calls_max
        self._extracting = extracting
        self._crowded = False
        """Whether there have been more cells than calls at a time since there were none."""
        self._inside = 0
        self._waiting: list[tuple[bool, int, int, _Turn]] = []
        self._turns: dict[str, _Turn] = {}
        self._numbers = count()

    def _room(self, *, early: bool) -> int:
        """How many summaries may be under way."""
        cells = self._extracting()
        left = self._calls_max - cells
        if early and cells:
            spared = self._calls_max // _SPARED
            return left - spared if self._crowded else min(max(left, 1), max(cells // _TRICKLE, 1))
        return max(left, self._calls_max // _TRICKLE, 1)

    async def enter(self, name: str, urgency: int, *, early: bool) -> None:
        """`early`: its write is still being extracted."""
        turn = self._turns[name] = _Turn(urgency, asyncio.get_running_loop().create_future())
        self._queue(turn, early=early)
        self.look()
        try:
            await turn.open
        except asyncio.CancelledError:
            if turn.open.done() and not turn.open.cancelled():
                self.leave()
            raise
        finally:
            del self._turns[name]

    def due(self, name: str, urgency: int) -> None:
        """What was wanted early is waited for now."""
        if (turn := self._turns.get(name)) is not None:
            turn.urgency = max(turn.urgency, urgency)
            self._queue(turn, early=False)
            self.look()

    def _queue(self, turn: _Turn, *, early: bool) -> None:
        heapq.heappush(self._waiting, (early, -turn.urgency, next(self._numbers), turn))

    def leave(self) -> None:
        self._inside -= 1
        self.look()

    def look(self) -> None:
        """Let in who can go in now."""
        cells = self._extracting()
        self._crowded = cells > self._calls_max or (self._crowded and cells > 0)
        while self._waiting and self._inside < self._room(early=self._waiting[0][0]):
            turn = heapq.heappop(self._waiting)[-1].open
            if not turn.done():
                self._inside += 1
                turn.set_result(None)
