"""Whose process may be started now: a few at a time, in the order in which they asked.

Starting one costs about a second of a core. Begun all at once, fifty of them would be done no sooner, and every call
under way would stand beside fifty busy processes.
"""

from itertools import islice

from memforest_actors.options import PATIENCE
from memforest_ray.ambient import Clock

__all__ = ["Starts"]


class Starts:
    """Grants of starts. Plain decisions, no waiting."""

    def __init__(self, clock: Clock, lapse_s: float = PATIENCE.start_s, absent_s: float = PATIENCE.absent_s) -> None:
        self._clock = clock
        self._lapse_s = lapse_s
        self._absent_s = absent_s
        self._at_once = 1
        self._granted: dict[str, float] = {}
        """Until when, by name."""
        self._waiting: dict[str, float] = {}
        """When they asked last, by name, the first one first."""

    @property
    def granted(self) -> int:
        """Starts under way."""
        return len(self._granted)

    def fit(self, cores: list[int]) -> None:
        """The cores of each node: half of them start processes, the others are for the calls under way."""
        self._at_once = sum(max(1, number // 2) for number in cores) or 1

    def ask(self, name: str) -> bool:
        """Whether it may start. If not, it keeps its place in the line for as long as it goes on asking."""
        now = self._clock.elapsed()
        self._granted = {each: until for each, until in self._granted.items() if until > now}
        self._waiting = {each: at for each, at in self._waiting.items() if at + self._absent_s > now}
        if name in self._granted:
            return True
        self._waiting[name] = now
        granted = name in islice(self._waiting, max(0, self._at_once - len(self._granted)))
        if granted:
            del self._waiting[name]
            self._granted[name] = now + self._lapse_s
        return granted

    def begun(self, name: str) -> bool:
        """It has started, or will not. Whether that makes room for others."""
        return self._granted.pop(name, None) is not None
