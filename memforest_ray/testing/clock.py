"""Time and chance under a test's control."""

import random

__all__ = ["ManualClock", "SeededRandom"]


class ManualClock:
    """Stands still until it is told to move."""

    def __init__(self, now_ms: int = 1_700_000_000_000) -> None:
        self._now_ms = now_ms
        self._elapsed = 0.0

    def now_ms(self) -> int:
        return self._now_ms

    def elapsed(self) -> float:
        return self._elapsed

    def advance(self, seconds: float) -> None:
        """Move both clocks."""
        self._now_ms += round(seconds * 1000)
        self._elapsed += seconds


class SeededRandom:
    """The same names and jitter for the same seed."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)

    def nonce(self) -> str:
        return f"{self._random.getrandbits(128):032x}"

    def uniform(self, low: float, high: float) -> float:
        return self._random.uniform(low, high)
