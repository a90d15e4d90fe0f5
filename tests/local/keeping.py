"""What tests of snapshots share."""

from collections.abc import Callable
from itertools import count
from typing import Any

from memforest_ray.commit.version import Version
from memforest_ray.facts.sessions import Session
from memforest_ray.ids import OpId
from memforest_ray.testing.forests import Forests, TestForest, check_forest, check_same

__all__ = ["SECRET", "checked", "confided", "do", "names"]

Say = Callable[..., Session]

_NUMBERS = count()
SECRET = "My PIN word is HERON-7."


async def do(forest: TestForest, verb: str, name: str, op_id: str | None = None, **arguments: Any) -> Any:
    """A write of a driver that names a snapshot."""
    named = OpId(op_id or f"snapshot-op{next(_NUMBERS)}")
    return await forest.driver.call(verb, {"name": name, **arguments}, op_id=named, seen=0)


async def names(forest: TestForest) -> list[str]:
    """Of the snapshots there are."""
    return [info.name for info in await forest.read("snapshots")]


async def checked(forests: Forests, forest: TestForest) -> Version:
    """The live version, sound and the same as what the store holds."""
    version = await forest.version()
    check_forest(version)
    check_same(version, await forests.open().version())
    return version


async def confided(forests: Forests, say: Say) -> TestForest:
    """A forest that holds a secret, and a snapshot that holds it, too."""
    forest = forests.open()
    await forest.ingest(say("s1", "I live in Davis.", "Nice.", "I like chess."))
    await forest.ingest(say("s2", "I moved to Oslo.", "I like tea.", SECRET, "I see."))
    await do(forest, "save", "old")
    return forest
