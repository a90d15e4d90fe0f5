"""Many users on one machine: does everybody get his own answers, how soon, and what do comings and goings cost?

    python tests/benchmarks/many_users.py [--users 200] [--seconds 300] [--rate 1.0] [--residents 40]

Users are asked and written to in Zipf's proportions, in open loop: requests come at their times whether or not earlier
ones are done. A fifth are writes of four turns. Each user has facts of his own, known here; every answer is checked
against them: what was acknowledged must be found, and nothing of anybody else. Offline models, a cluster of its own.
"""

import argparse
import asyncio
import itertools
import json
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import memforest_ray as mf

WRITES = 0.2
THINGS = ("lamp", "kettle", "bicycle", "carpet", "violin", "ladder", "mirror", "teapot", "saddle", "globe")
WARM_S = 30.0
"""A user who was called less than so long ago counts as warm, if his actor lives."""
SAMPLE_S = 5.0
DRAIN_S = 120.0


@dataclass
class Person:
    """What one user was told is stored: the number of each thing that he bought."""

    name: str
    bought: dict[str, int] = field(default_factory=dict)
    sessions: int = 0
    called_at: float = float("-inf")
    busy: asyncio.Lock = field(default_factory=asyncio.Lock)
    """One write at a time, so that it is known what a later question must find."""


@dataclass
class Tally:
    """What was measured."""

    warm_ms: list[float] = field(default_factory=list)
    cold_ms: list[float] = field(default_factory=list)
    write_ms: list[float] = field(default_factory=list)
    late_ms: list[float] = field(default_factory=list)
    """How long after its time a request was begun: the load generator's own fault."""
    lost: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    failed: Counter[str] = field(default_factory=Counter)
    memory_mb: list[float] = field(default_factory=list)
    residents: list[int] = field(default_factory=list)
    pids: set[int] = field(default_factory=set)


async def write(client: mf.AsyncClient, person: Person, random: Random, tally: Tally) -> None:
    """Four turns, one of them a fact that later questions ask for."""
    async with person.busy:
        thing, number = random.choice(THINGS), random.randrange(1000, 9999)
        code = f"{person.name}{number}"
        turns = [
            mf.Turn(f"I bought a {thing} today, its label says {code}.", speaker=person.name),
            mf.Turn("Where will you put it?", speaker="Helper", role="assistant"),
            mf.Turn(f"The {thing} goes to the hall.", speaker=person.name),
            mf.Turn("Good choice.", speaker="Helper", role="assistant"),
        ]
        day = f"2024-{person.sessions // 28 % 12 + 1:02}-{person.sessions % 28 + 1:02}"
        session = mf.Session(id=f"s{person.sessions}", time=day, turns=turns)
        person.sessions += 1
        began = time.perf_counter()
        await client.user(person.name).ingest(session, op_id=f"{person.name}-{session.id}")
        tally.write_ms.append((time.perf_counter() - began) * 1e3)
        person.bought[code] = number
        person.called_at = time.perf_counter()


async def ask(client: mf.AsyncClient, person: Person, people: list[Person], random: Random, tally: Tally) -> None:
    """A question about something that was acknowledged; the answer is checked."""
    known = list(person.bought)
    code = random.choice(known) if known else ""
    began = time.perf_counter()
    warm = began - person.called_at < WARM_S
    question = f"What did I buy with the label {code}?" if code else "What did I buy?"
    result = await client.user(person.name).query(question, k=5)
    spent = (time.perf_counter() - began) * 1e3
    (tally.warm_ms if warm else tally.cold_ms).append(spent)
    person.called_at = time.perf_counter()
    text = " ".join(hit.text for hit in result)
    if code and code not in text:
        tally.lost.append(code)
    tally.foreign.extend(other.name for other in people if other is not person and other.name in text)


async def drive(client: mf.AsyncClient, people: list[Person], given: argparse.Namespace, tally: Tally) -> None:
    """Requests at their times, by Zipf."""
    random = Random(given.seed)
    weights = list(itertools.accumulate(1 / rank for rank in range(1, len(people) + 1)))
    running: set[asyncio.Task[None]] = set()
    started = time.perf_counter()
    due = 0.0
    while (due := due + random.expovariate(given.rate)) < given.seconds:
        await asyncio.sleep(max(0.0, started + due - time.perf_counter()))
        tally.late_ms.append((time.perf_counter() - started - due) * 1e3)
        person = random.choices(people, cum_weights=weights)[0]
        if random.random() < WRITES:
            work = write(client, person, random, tally)
        else:
            work = ask(client, person, people, random, tally)
        task = asyncio.create_task(_counted(work, tally))
        running.add(task)
        task.add_done_callback(running.discard)
    if running:
        await asyncio.wait(running, timeout=DRAIN_S)


async def _counted(work: Any, tally: Tally) -> None:
    try:
        await work
    except mf.MemForestError as error:
        tally.failed[error.kind] += 1


async def sample(tally: Tally, root: int) -> None:
    """Memory of the cluster, and the forests in it, every few seconds."""
    while True:
        pids = await asyncio.to_thread(_tree, root)
        forests = {pid for pid in pids if "UserForest" in _command(pid)}
        tally.memory_mb.append(sum(_private_mb(pid) for pid in pids))
        tally.residents.append(len(forests))
        tally.pids |= forests
        await asyncio.sleep(SAMPLE_S)


def _tree(root: int) -> set[int]:
    """A process and all below it."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            parents.setdefault(parent, []).append(int(entry.name))
    found, waiting = set(), [root]
    while waiting:
        found.add(pid := waiting.pop())
        waiting.extend(parents.get(pid, []))
    return found


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""


def _private_mb(pid: int) -> float:
    try:
        rows = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(row.split()[1]) for row in rows if row.startswith("Private_")) / 1024


def quantiles(values: list[float]) -> str:
    """Median, 95 of 100 and worst, in ms."""
    if len(values) < 2:
        return "-"
    p95 = statistics.quantiles(values, n=20)[18]
    return f"p50 {statistics.median(values):.1f}, p95 {p95:.1f}, max {max(values):.0f} (n {len(values)})"


def report(tally: Tally, given: argparse.Namespace) -> None:
    """The table."""
    peak = max(tally.residents, default=0)
    rows = {
        "warm query, ms": quantiles(tally.warm_ms),
        f"query of one not called for {WARM_S:.0f} s, ms": quantiles(tally.cold_ms),
        "write of 4 turns, ms": quantiles(tally.write_ms),
        "begun late, ms": quantiles(tally.late_ms),
        "acknowledged and not found": str(len(tally.lost)),
        "of somebody else": str(len(tally.foreign)),
        "failed calls": json.dumps(tally.failed),
        "forest processes seen": str(len(tally.pids)),
        "residents at once, most": f"{peak} (cap {given.residents})",
        "private memory of the cluster, most": f"{max(tally.memory_mb, default=0):.0f} MB",
    }
    for name, value in rows.items():
        print(f"{name:<45} {value}")


async def run(given: argparse.Namespace, folder: str) -> Tally:
    """All of it, on a cluster of its own."""
    people, tally = [Person(f"user{number:03}x") for number in range(given.users)], Tally()
    settings = {"store": f"file://{folder}", "residents_max": given.residents, "idle_s": given.idle}
    async with await mf.connect_async(**settings) as client:
        await client.user("warming").query("Is anybody there?")
        sampling = asyncio.create_task(sample(tally, os.getpid()))
        await drive(client, people, given, tally)
        sampling.cancel()
    return tally


def main(arguments: list[str]) -> int:
    """Measure and print. 1 when an answer was wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--users", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--rate", type=float, default=1.0, help="requests a second")
    parser.add_argument("--residents", type=int, default=40, help="forests in memory at most")
    parser.add_argument("--idle", type=float, default=900.0, help="seconds after which a forest leaves")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    os.environ.pop("RAY_ADDRESS", None)
    os.environ["RAY_LOG_TO_DRIVER"] = "0"
    with tempfile.TemporaryDirectory() as folder:
        tally = asyncio.run(run(given, folder))
    report(tally, given)
    return int(bool(tally.lost or tally.foreign))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
