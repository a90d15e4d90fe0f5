"""How long a forest takes to open. Run by hand, prints a markdown table:

    python tests/benchmarks/index_opening.py [FACTS] [--dimension N]

The forest is made out of nothing, written to local files as one part and a log of one commit, and opened by processes
of their own; the files are in the system's cache. Times are of this machine, in this run.
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from memforest_ray.ambient import SystemClock, SystemRandom
from memforest_ray.commit.changes import Changes
from memforest_ray.commit.log import CommitLog
from memforest_ray.config import load_settings
from memforest_ray.facts.rules import RuleExtractor
from memforest_ray.ids import UserId
from memforest_ray.local.driver import ForestDriver
from memforest_ray.local.effects import Models
from memforest_ray.query.request import QueryRequest
from memforest_ray.storage.disk import DiskStore
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.testing.synthetic import synthetic
from memforest_ray.trees.summaries import SelectionSummarizer

USER = UserId("bob")
OPENINGS = 7
ROWS = (
    ("read: manifest, parts, log", "read"),
    ("CPU of that", "read_cpu"),
    ("read and built, with its index", "opened"),
    ("CPU of that", "opened_cpu"),
    ("the first question after that", "first"),
    ("the second", "second"),
)


def settings_of(folder: Path) -> Any:
    return load_settings(store=f"file://{folder}", runtime="local")


async def write(folder: Path, facts: int, dimension: int) -> None:
    """One commit, and a checkpoint of it."""
    settings = settings_of(folder)
    log = CommitLog(DiskStore(folder), USER, SystemClock(), SystemRandom())
    await log.read()
    fingerprint = HashEmbedder(dimension).fingerprint
    await log.claim(settings.birth, {"model": fingerprint.model, "dimension": dimension})
    await log.commit(Changes(puts=synthetic(facts, dimension).tables))
    await log.checkpoint()
    await log.close()


async def opening(folder: Path, dimension: int) -> dict[str, Any]:
    """Read, then read and build, in this process, which is a new one; then two questions."""
    started, cpu = time.perf_counter(), time.process_time()
    await CommitLog(DiskStore(folder), USER, SystemClock(), SystemRandom()).read()
    row: dict[str, Any] = {"read": time.perf_counter() - started, "read_cpu": time.process_time() - cpu}
    models = Models(RuleExtractor(), SelectionSummarizer(), HashEmbedder(dimension))
    driver = ForestDriver(USER, DiskStore(folder), models, settings_of(folder), SystemClock(), SystemRandom())
    started, cpu = time.perf_counter(), time.process_time()
    version = await driver.version()
    row |= {"opened": time.perf_counter() - started, "opened_cpu": time.process_time() - cpu}
    row |= {"facts": len(version.facts), "trees": len(version.trees)}
    for name in ("first", "second"):
        started = time.perf_counter()
        await driver.call("query", {"request": QueryRequest("What did Bob say?")}, op_id=None, seen=0)
        row[name] = time.perf_counter() - started
    await driver.close()
    return row


def main(facts: int, dimension: int) -> None:
    """The table."""
    with tempfile.TemporaryDirectory() as place:
        asyncio.run(write(Path(place), facts, dimension))
        command = [sys.executable, __file__, str(facts), "--dimension", str(dimension), "--open", place]
        runs = [json.loads(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(OPENINGS)]
    print(f"| {runs[0]['facts']:,} facts of {dimension} dimensions, {runs[0]['trees']:,} trees | median | least |")
    print("|---|---|---|")
    for label, key in ROWS:
        spent = [run[key] for run in runs]
        print(f"| {label} | {statistics.median(spent):.3f} s | {min(spent):.3f} s |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("facts", nargs="?", type=int, default=10_000)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--open", type=Path, help="only open the forest there, and print how long it took")
    given = parser.parse_args()
    if given.open:
        print(json.dumps(asyncio.run(opening(given.open, given.dimension))))
    else:
        main(given.facts, given.dimension)
