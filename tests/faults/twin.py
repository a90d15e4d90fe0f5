"""The same deeds in the test's own process, undisturbed."""

from memforest_ray.testing.forests import TestForest
from tests.faults.programme import Deed, name, session

__all__ = ["do"]


async def do(forest: TestForest, deed: Deed) -> None:
    """One deed."""
    if deed.verb == "ingest":
        await forest.ingest(session(deed.number), deed.op)
    else:
        await forest.forget(deed.op, session=name(deed.number))
