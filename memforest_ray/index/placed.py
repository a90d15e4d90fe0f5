"""Placed: the living parts of a shelf in the order of the turns that they belong to."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memforest_ray.index.table import Integers

__all__ = ["Placed"]


@dataclass(frozen=True, slots=True)
class Placed:
    """Rows of parts. What an earlier version has put in order is not put in order again: what is new comes between."""

    rows: Integers
    """By place; those of one place in their own order."""
    known: int
    """Parts that there were, dead ones too."""

    @classmethod
    def of(cls, places: Integers, alive: NDArray[np.bool_], before: "Placed | None" = None) -> "Placed":
        """Of the parts `alive` at these places; `before` is of an earlier version of the same shelf, not compacted."""
        if before is None:
            return cls(_ordered(np.flatnonzero(alive), places), len(alive))
        kept = before.rows[alive[before.rows]]
        fresh = _ordered(np.flatnonzero(alive[before.known :]) + before.known, places)
        return cls(np.insert(kept, np.searchsorted(places[kept], places[fresh], side="right"), fresh), len(alive))


def _ordered(rows: Integers, places: Integers) -> Integers:
    return rows[np.argsort(places[rows], kind="stable")]
