"""What keeping a forest costs: bytes, requests, and time. Run by hand, prints markdown tables:

    python tests/benchmarks/storage_cost.py [FOLDER]

Forests on local files (with fsync) grow by sessions of 20 turns, ingested one after the other; from 100, 1,000 and
10,000 facts on the next 64 are counted. No model runs, but what is stored is as large as with one: vectors have 384
dimensions and do not compress. Times are of this machine, in this run; compare within a run only.
"""

import argparse
import asyncio
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from memforest_ray.ambient import SystemClock, SystemRandom
from memforest_ray.commit.changes import Changes
from memforest_ray.commit.log import CommitLog
from memforest_ray.commit.slots import decode_slot
from memforest_ray.config import load_settings
from memforest_ray.facts.rules import RuleExtractor
from memforest_ray.facts.sessions import Session, Turn
from memforest_ray.ids import OpId, UserId
from memforest_ray.local.driver import ForestDriver
from memforest_ray.local.effects import Models
from memforest_ray.models.embedder import Vectors
from memforest_ray.storage.disk import DiskStore
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.store import Missing, ObjectStore, Stored
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.trees.summaries import SelectionSummarizer

USER = UserId("bob")
DIMENSION = 384
MARKS = (100, 1_000, 10_000)
INGESTS = 64
"""Counted from each mark on: two checkpoints."""
COMMITS = 60
OPENINGS = 5

_PEOPLE = ("Ana", "Chidi", "Dmitri", "Farah", "José", "Lena", "Omar", "Priya")
_PLACES = ("Davis", "Miami", "Oslo", "Porto", "Lima", "Kyoto", "Accra", "Graz", "Perth", "Riga")
_THINGS = ("a lamp", "two chairs", "a canoe", "an old map", "a red kite", "three books", "a clock", "a stove")
_DEEDS = ("bought", "sold", "painted", "repaired", "lost", "found", "borrowed", "wrapped")
_SAYINGS = (
    "I {deed} {thing} in {place}, together with {person} and her cousin from {other}.",
    "My friend {person} moved from {place} to {other}, and we talked about it for the whole evening.",
    "We are going to visit {person} in {place} next week, if the trains to {other} run at all.",
    "Yesterday {person} told me that the shop in {place} had {thing}, so I went there by bus.",
    "I have worked with {person} at the harbour of {place} for {years} years now, mostly at night.",
)


class DenseEmbedder(HashEmbedder):
    """Turns the sparse vectors of its parent, which would compress: texts are as much alike, all numbers differ."""

    def __init__(self) -> None:
        super().__init__(DIMENSION)
        noise = np.random.default_rng(0).standard_normal((DIMENSION, DIMENSION))
        self._turned = np.linalg.qr(noise)[0].astype(np.float32)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        turned: Vectors = ((await super().embed(texts)).astype(np.float32) @ self._turned).astype(np.float16)
        return turned


class CountingStore:
    """Implements `ObjectStore` over another one, counting requests and bytes by kind of object."""

    def __init__(self, inner: ObjectStore) -> None:
        self.url = inner.url
        self._inner = inner
        self.puts: Counter[str] = Counter()
        self.bytes: Counter[str] = Counter()

    def _put(self, key: str, body: bytes) -> None:
        # v1/ab/abcd.../wal/7: the fourth names the kind.
        kind = (key.split("/") + [""] * 3)[3] or "probe"
        self.puts[kind] += 1
        self.bytes[kind] += len(body)

    async def get(self, key: str) -> Stored:
        return await self._inner.get(key)

    async def create(self, key: str, body: bytes) -> str:
        self._put(key, body)
        return await self._inner.create(key, body)

    async def swap(self, key: str, body: bytes, tag: str) -> str:
        self._put(key, body)
        return await self._inner.swap(key, body, tag)

    async def overwrite(self, key: str, body: bytes) -> None:
        self._put(key, body)
        await self._inner.overwrite(key, body)

    async def delete(self, key: str) -> None:
        await self._inner.delete(key)

    async def list(self, prefix: str) -> AsyncIterator[str]:
        async for key in self._inner.list(prefix):
            yield key


def session(number: int) -> Session:
    """Twenty turns, about 90 characters each; few of their statements were made before."""
    rng = random.Random(number)
    turns = [Turn(_saying(rng), ("Bob", "Ana")[place % 2]) for place in range(20)]
    return Session(f"s{number}", turns, time=1_600_000_000_000 + number * 86_400_000)


def _saying(rng: random.Random) -> str:
    place, other = rng.sample(_PLACES, 2)
    return rng.choice(_SAYINGS).format(
        deed=rng.choice(_DEEDS),
        thing=rng.choice(_THINGS),
        place=place,
        other=other,
        person=rng.choice(_PEOPLE),
        years=rng.randint(2, 30),
    )


def driver_of(store: ObjectStore) -> ForestDriver:
    """A new owner, with default settings."""
    models = Models(RuleExtractor(), SelectionSummarizer(), DenseEmbedder())
    settings = load_settings(store=store.url, runtime="local")
    return ForestDriver(USER, store, models, settings, SystemClock(), SystemRandom())


@dataclass(frozen=True, slots=True)
class Window:
    """What some ingests have written."""

    facts: int
    """At the beginning."""
    facts_added: int
    ingests: int
    puts: Counter[str]
    bytes: Counter[str]

    @property
    def row(self) -> str:
        """As a row of the table."""
        each = {kind: size / self.ingests / 1024 for kind, size in self.bytes.items()}
        cells = (
            f"{self.facts:,}",
            f"{self.facts_added / self.ingests:.1f}",
            f"{each['wal']:.1f} KiB",
            f"{self.puts.total() / self.ingests:.2f}",
            f"{each.get('seg', 0):.1f} KiB",
            f"{each.get('M', 0):.1f} KiB",
            f"{sum(each.values()):.1f} KiB",
            f"{sum(each.values()) / each['wal']:.2f}",
        )
        return f"| {' | '.join(cells)} |"


class Growth:
    """One forest that grows."""

    def __init__(self, folder: Path) -> None:
        self.store = CountingStore(DiskStore(folder))
        self.driver = driver_of(self.store)
        self.facts = 0
        self._numbers: Iterator[int] = count()

    async def to(self, facts: int) -> None:
        """Ingest until there are so many facts."""
        while self.facts < facts:
            await self._ingest()

    async def measured(self, ingests: int) -> Window:
        """What so many ingests write."""
        facts, puts, size = self.facts, Counter(self.store.puts), Counter(self.store.bytes)
        for _ in range(ingests):
            await self._ingest()
        return Window(facts, self.facts - facts, ingests, self.store.puts - puts, self.store.bytes - size)

    async def _ingest(self) -> None:
        number = next(self._numbers)
        receipt = await self.driver.call("ingest", {"session": session(number)}, op_id=OpId(f"op{number}"), seen=0)
        self.facts += receipt.facts_added

    def life(self) -> Window:
        """All since the beginning."""
        return Window(0, self.facts, next(self._numbers), self.store.puts, self.store.bytes)


async def last_changes(store: ObjectStore) -> Changes:
    """What the newest ingest has committed."""
    keys = UserKeys.of(USER)
    for key in reversed([key async for key in store.list(keys.slots)]):
        slot = decode_slot((await store.get(key)).body, key, keys.seq_of(key) or 0)
        if slot.kind == "commit":
            return slot.changes
    raise Missing(keys.slots)


async def commit_ms(folder: Path, changes: Changes) -> list[float]:
    """Milliseconds of `CommitLog.commit` alone, with the rows of one ingest."""
    log = CommitLog(DiskStore(folder), UserId("commits"), SystemClock(), SystemRandom())
    await log.read()
    await log.claim({}, {"model": "none", "dimension": DIMENSION})
    spent = []
    for number in range(COMMITS):
        started = time.perf_counter()
        await log.commit(changes, [OpId(f"op{number}")])
        spent.append((time.perf_counter() - started) * 1000)
    return spent


async def opening(folder: Path) -> dict[str, Any]:
    """Read and load a forest in this process, which is a new one. Seconds, and those of the CPU."""
    started, cpu = time.perf_counter(), time.process_time()
    await CommitLog(DiskStore(folder), USER, SystemClock(), SystemRandom()).read()
    read_s, read_cpu_s = time.perf_counter() - started, time.process_time() - cpu
    driver = driver_of(DiskStore(folder))
    started, cpu = time.perf_counter(), time.process_time()
    version = await driver.version()
    return {
        "facts": len(version.facts.shown),
        "trees": len(version.trees),
        "read": read_s,
        "read_cpu": read_cpu_s,
        "opened": time.perf_counter() - started,
        "opened_cpu": time.process_time() - cpu,
    }


def cold_openings(folder: Path) -> list[dict[str, Any]]:
    """Each in a process of its own; the files may be in the system's cache."""
    rows = []
    for _ in range(OPENINGS):
        started = time.perf_counter()
        done = subprocess.run([sys.executable, __file__, "--open", str(folder)], check=True, capture_output=True)
        rows.append({**json.loads(done.stdout), "process": time.perf_counter() - started})
    return rows


def median(rows: list[dict[str, Any]], key: str) -> float:
    return float(statistics.median(row[key] for row in rows))


async def main(folder: Path) -> None:
    """All tables."""
    print("| facts before | facts added | log | PUTs | parts | manifest | all written | all / log |", flush=True)
    print("|---|---|---|---|---|---|---|---|")
    for mark in MARKS:
        growth = Growth(folder / f"grown-{mark}")
        await growth.to(mark)
        if mark == MARKS[-1]:
            await growth.driver.close()
            rows = await asyncio.to_thread(cold_openings, folder / f"grown-{mark}")
            growth.driver = driver_of(growth.store)
            await growth.to(growth.facts + 1)  # the new owner claims before it is measured
        print((await growth.measured(INGESTS)).row, flush=True)
    await growth.driver.close()
    life = growth.life()
    print(life.row)
    print(f"\nPer ingest of 20 turns, {INGESTS} from each mark on. Last row: all {life.ingests} of the last forest's,")
    print("with its share of the merges of eight checkpoints to one part, which fall into some windows only.\n")
    spent = await commit_ms(folder / "commits", await last_changes(growth.store))
    print("| what | measured |\n|---|---|")
    cuts = statistics.quantiles(spent, n=20)
    print(f"| `CommitLog.commit` of one such ingest, with fsync | p50 {cuts[9]:.1f}, p95 {cuts[18]:.1f} ms |")
    size = f"{rows[0]['facts']:,} facts in {rows[0]['trees']:,} trees"
    print(f"| {size}: read | {median(rows, 'read'):.2f} s (CPU {median(rows, 'read_cpu'):.2f} s) |")
    print(f"| read and loaded, with index | {median(rows, 'opened'):.2f} s (CPU {median(rows, 'opened_cpu'):.2f} s) |")
    print(f"| a new process that reads twice and loads once | {median(rows, 'process'):.2f} s |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="where to keep the stores; else a temporary place")
    parser.add_argument(
        "--open", action="store_true", help="only open the forest in FOLDER, and print how long it took"
    )
    given = parser.parse_args()
    if given.open:
        print(json.dumps(asyncio.run(opening(given.folder))))
    else:
        with tempfile.TemporaryDirectory() as place:
            asyncio.run(main(given.folder or Path(place)))
