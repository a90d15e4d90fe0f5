"""The strongest: which few of many values are the highest."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from memforest_ray.index.table import Integers

__all__ = ["strongest"]

_MANY: Final = 8_192
"""Values from which a bound is found first: below it they are gone through in ten microseconds."""
_GROUPS: Final = 4
"""For each wanted value so many groups: the more, the closer the bound."""


def strongest(values: NDArray[np.floating], count: int) -> Integers:
    """Numbers of the `count` highest values, and of all that equal the last of them: no tie is cut at random.

    Of many values the maxima of groups give a bound that at least `count` values reach; only these are put in order.
    """
    if len(values) <= count:
        return np.arange(len(values))
    if len(values) < max(_MANY, _GROUPS * count * _GROUPS):
        least = np.partition(values, len(values) - count)[len(values) - count]
        return np.flatnonzero(values >= least)
    groups = _GROUPS * count
    size = len(values) // groups
    maxima = values[: groups * size].reshape(size, groups).max(axis=0)
    bound = np.partition(maxima, groups - count)[groups - count]
    near = np.flatnonzero(values >= bound)
    found = values[near]
    least = np.partition(found, len(found) - count)[len(found) - count]
    best: Integers = near[found >= least]
    return best
