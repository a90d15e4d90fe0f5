"""Building: making what an opened forest consists of, a million objects that stay, without looking for garbage."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["undisturbed"]

_YOUNG = 1
"""Generations up to this one hold some thousands of objects at most: a millisecond."""


@contextmanager
def undisturbed() -> Iterator[None]:
    """Without the cyclic garbage collector: a third of a build would be its looking through what is being built.

    Nothing is collected in the process meanwhile, so it is put around computing, never around waiting. A process that
    goes without the collector goes on without it; where several build at once, the first that is done turns it on.
    """
    was = gc.isenabled()
    if was:
        gc.collect(_YOUNG)  # what is garbage by now must not grow old with what is built
    gc.disable()
    try:
        yield
    finally:
        if was:
            _age()
            gc.enable()


def _age() -> None:
    """Count everything that is there as old, or the next look at what is young would be at all that was just built.

    Frozen and thawed at once, objects are moved to the oldest generation without being looked at. A process that
    has frozen something keeps it so.
    """
    if not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()
