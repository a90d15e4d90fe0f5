"""Writes the stored sample of the present format: `python -m tests.formats.write`, once per format, then committed.

A sample is never written again once a release could have written such a store: whatever comes later must read it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from memforest_ray.commit.changes import Changes
from memforest_ray.commit.frames import FORMAT
from memforest_ray.commit.log import CommitLog
from memforest_ray.commit.users import delete_user
from memforest_ray.ids import OpId, UserId
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.storage.store import ObjectStore
from memforest_ray.testing.clock import ManualClock, SeededRandom
from memforest_ray.testing.store import contents

__all__ = ["ANN", "FINGERPRINT", "SAMPLES", "keep", "row", "write"]

SAMPLES = Path(__file__).parent
ANN = UserId("ann")
BOB = UserId("bob")
FINGERPRINT = {"model": "tiny", "dimension": 4, "equivalent": 0.93}
BIRTH = {"turns_max": 2, "fanout": {"session": 4, "entity": 8, "scene": 8}}


def row(number: int) -> dict[str, object]:
    """A row with everything that a row may hold."""
    return {
        "text": f"Ann keeps {number} bees 🐝 \ud83d",
        "spans": [[0, 3], [4, 9]],
        "time": None,
        "precise": True,
        "confidence": 0.5,
        "first": -(1 << 40),
        "raw": bytes([number, 0, 255]),
    }


def _changes(number: int, drop: int | None = None) -> Changes:
    changes = Changes()
    changes.put("cells", f"c{number}", row(number))
    changes.put("vectors", f"c{number}", bytes([number]) * 8)
    if drop is not None:
        changes.drop("cells", f"c{drop}")
        changes.drop("vectors", f"c{drop}")
    return changes


async def write(store: ObjectStore) -> None:
    """Ann: snapshot, pin, parts of two tiers, tombstones, a log with an open erasure. Bob: deleted."""
    clock, random = ManualClock(), SeededRandom(1)
    log = CommitLog(store, ANN, clock, random)
    await log.read()
    await log.claim(BIRTH, FINGERPRINT)
    await log.commit(_changes(0), [OpId("op-0")])
    await log.checkpoint()
    await log.commit(_changes(1, drop=0), [OpId("op-1")], opens=["op-1"])
    await log.erase()
    await log.commit(_changes(2))
    await log.save("before the trip", operation=OpId("op-2"))
    clock.advance(60)
    for number in range(3, 11):
        await log.commit(_changes(number))
        await log.checkpoint()
    await log.compact()
    await log.pin(OpId("op-copy"), clock.now_ms() + 3_600_000)
    await log.unpin(OpId("op-none"))
    await log.commit(_changes(11, drop=10), [OpId("op-11"), OpId("op-12")])
    clock.advance(3600)
    await log.commit(_changes(12), [OpId("op-13")], opens=["op-13"])
    gone = CommitLog(store, BOB, clock, random)
    await gone.claim(BIRTH, FINGERPRINT)
    await gone.commit(_changes(0))
    await delete_user(store, BOB, clock, random)


async def keep(write: Callable[[MemoryStore], Awaitable[None]], folder: Path) -> None:
    """Keep what `write` writes as files, under the number of the present format."""
    store = MemoryStore()
    await write(store)
    for key, body in (await contents(store)).items():
        path = folder / str(FORMAT) / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)


if __name__ == "__main__":
    asyncio.run(keep(write, SAMPLES))
