"""Capital letters, for patterns: "Łódź" begins with a capital as much as "Oslo" does."""

from collections.abc import Iterator
from typing import Final

__all__ = ["UPPER"]

_LAST: Final = 0x52F
"""The last of the Latin, Greek and Cyrillic letters of today's languages."""


def _ranges(numbers: Iterator[int]) -> str:
    """A run of letters as what stands in a character class."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return "".join(chr(first) if first == last else f"{chr(first)}-{chr(last)}" for first, last in runs)


UPPER: Final = _ranges(number for number in range(_LAST + 1) if chr(number).isupper())
"""Capitals, as what stands in a character class: `[{UPPER}]` for `[A-Z]`."""
