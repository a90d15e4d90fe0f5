"""Which seeds the simulations run: `MEMFOREST_SEED=41` one, `MEMFOREST_SEEDS=100000` so many.

Both leave the environment with that: settings refuse names of ours that they do not know.
"""

import os

__all__ = ["seed", "seeds"]

_ONE = os.environ.pop("MEMFOREST_SEED", None)
_MANY = os.environ.pop("MEMFOREST_SEEDS", None)


def seed(usual: int) -> int:
    """The one that was asked for, else the usual one."""
    return usual if _ONE is None else int(_ONE)


def seeds(usual: int) -> range:
    """The one that was asked for, or so many, else the usual number of them."""
    return range(int(_MANY or usual)) if _ONE is None else range(int(_ONE), int(_ONE) + 1)
