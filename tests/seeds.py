"""Which seeds the simulations run: `MEMFOREST_SEED=41` one, `MEMFOREST_SEEDS=100000` so many.

Both leave the environment with that: settings refuse names of ours that they do not know.
"""

import os
import sys
from collections import Counter
from collections.abc import Callable

__all__ = ["by_hand", "seed", "seeds"]

_ONE = os.environ.pop("MEMFOREST_SEED", None)
_MANY = os.environ.pop("MEMFOREST_SEEDS", None)


def seed(usual: int) -> int:
    """The one that was asked for, else the usual one."""
    return usual if _ONE is None else int(_ONE)


def seeds(usual: int) -> range:
    """The one that was asked for, or so many, else the usual number of them."""
    return range(int(_MANY or usual)) if _ONE is None else range(int(_ONE), int(_ONE) + 1)


def by_hand(run: Callable[[int], tuple[list[str], Counter[str]]], replay: Callable[[int], str], wanted: range) -> int:
    """Run the wanted seeds; tell which failed and all that they reached. The exit status."""
    reached: Counter[str] = Counter()
    failed = 0
    for each in wanted:
        wrong, got = run(each)
        reached += got
        failed += bool(wrong)
        if wrong:
            sys.stdout.write(f"{replay(each)}\n  " + "\n  ".join(wrong) + "\n")
            sys.stdout.flush()
    sys.stdout.write(f"{len(wanted)} seeds, {failed} failed\n")
    sys.stdout.writelines(f"  {name}: {number}\n" for name, number in sorted(reached.items()))
    return 1 if failed else 0
