"""Shares: how many of an endpoint's calls one owner may have in flight, so that whoever comes next finds room.

Turns see to it that nobody waits for more than one answer. But where one owner holds all permits, everybody else waits
that long for each call of a chain. So as much stays free as others have used at once of late, up to the half. An owner
that nobody was beside has everything, unless there is so much to do that a little left free goes unnoticed.
"""

from typing import Final

__all__ = ["Shares"]

_LOOK_BACK_S: Final = 10.0
"""What others have used counts for so long, and up to twice that: from one stage of a write to the next. Then whoever
is left has everything again.
"""
_OTHERS_MAX: Final = 2
"""This part of the limit stays free for others, at most."""
_WAVES: Final = 8
"""Who has so many times the limit to ask is filling a memory from its past ..."""
_NEWCOMERS: Final = 16
"""... and leaves this part of the limit to those who may come."""


class Shares:
    """Of one endpoint. Whoever calls says what time it is (seconds, rising)."""

    def __init__(self) -> None:
        self._held: dict[str, int] = {}
        self._total = 0
        self._window_began = 0.0
        self._others = 0
        """The most that all but the largest owner had in flight together in this window, ..."""
        self._others_before = 0
        """... and in the one before."""

    def take(self, owner: str, now: float) -> None:
        """A call of `owner` begins."""
        self._held[owner] = self._held.get(owner, 0) + 1
        self._total += 1
        self._turn(now)
        self._others = max(self._others, self._total - max(self._held.values()))

    def give_back(self, owner: str) -> None:
        """It has ended."""
        self._total -= 1
        self._held[owner] -= 1
        if not self._held[owner]:
            del self._held[owner]

    def lets_in(self, owner: str, limit: int, waiting: int, now: float) -> bool:
        """Whether one more of its calls may begin. `waiting`: how many of them wait."""
        self._turn(now)
        held = self._held.get(owner, 0)
        free = max(self._others, self._others_before)
        if held + waiting >= _WAVES * limit:
            free = max(free, limit // _NEWCOMERS)
        return held < limit - min(free, limit // _OTHERS_MAX)

    def _turn(self, now: float) -> None:
        """Begin a new window when it is time."""
        if now - self._window_began < _LOOK_BACK_S:
            return
        past = now - self._window_began >= 2 * _LOOK_BACK_S
        self._others_before = 0 if past else self._others
        self._others = self._total - max(self._held.values(), default=0)
        self._window_began = now
