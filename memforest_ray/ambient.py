"""Time and entropy: the only file that reads them. Everything else takes a `Clock` or a `Random`."""

import secrets
import time
from typing import Protocol

__all__ = ["Clock", "Random", "SystemClock", "SystemRandom"]


class Clock(Protocol):
    """What time it is, in two senses that must not be mixed."""

    def now_ms(self) -> int:
        """Milliseconds since 1970 UTC: for what is written down."""

    def elapsed(self) -> float:
        """Seconds on a clock that counts suspension too and never goes back: for how long something took."""


class Random(Protocol):
    """Fresh names and jitter."""

    def nonce(self) -> str:
        """128 random bits, as 32 hex digits."""

    def uniform(self, low: float, high: float) -> float:
        """A number in [low, high]."""


class SystemClock:
    """The machine's own."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def elapsed(self) -> float:
        # CLOCK_BOOTTIME counts suspension; where it is missing (macOS) the monotonic clock has to do.
        return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


class SystemRandom:
    """The machine's own."""

    def nonce(self) -> str:
        return secrets.token_hex(16)

    def uniform(self, low: float, high: float) -> float:
        return low + (high - low) * secrets.randbelow(1 << 30) / (1 << 30)
