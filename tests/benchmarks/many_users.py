"""Many users on one machine: does everybody get his own answers, how soon, and what do comings and goings cost?

    python tests/benchmarks/many_users.py [--users 200] [--seconds 300] [--rate 1.0 ...] [--residents 40]

Users are asked and written to in Zipf's proportions, in open loop: requests come at their times whether or not earlier
ones are done. A fifth are writes of four turns. Each user has facts of his own, known here; every answer is checked
against them: what was acknowledged must be found, and nothing of anybody else. Offline models, a cluster of its own.
Several rates are tried one after the other, each for as long. What users have before is written in this process.
"""

import argparse
import asyncio
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from threading import Event
from typing import Any

import memforest_ray as mf

WRITES = 0.2
SESSIONS_BEFORE = 2
"""Of each user, so that the first question has something to find."""
THINGS = ("lamp", "kettle", "bicycle", "carpet", "violin", "ladder", "mirror", "teapot", "saddle", "globe")
WARM_S = 30.0
"""A user who was called less than so long ago counts as warm, if his actor lives."""
SAMPLE_S = 2.0
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

    def next_session(self, random: Random) -> tuple[mf.Session, str, int]:
        """Four turns, one of them a fact that later questions ask for: they, its label and its number."""
        thing, number = random.choice(THINGS), random.randrange(1000, 9999)
        code = f"{self.name}{number}"
        turns = [
            mf.Turn(f"I bought a {thing} today, its label says {code}.", speaker=self.name),
            mf.Turn("Where will you put it?", speaker="Helper", role="assistant"),
            mf.Turn(f"The {thing} goes to the hall.", speaker=self.name),
            mf.Turn("Good choice.", speaker="Helper", role="assistant"),
        ]
        day = f"2024-{self.sessions // 28 % 12 + 1:02}-{self.sessions % 28 + 1:02}"
        session = mf.Session(id=f"s{self.sessions}", time=day, turns=turns)
        self.sessions += 1
        return session, code, number


@dataclass
class Tally:
    """What was measured."""

    warm_ms: list[float] = field(default_factory=list)
    beside_ms: list[float] = field(default_factory=list)
    """Those of the warm ones that began while somebody else's first call was under way."""
    cold_ms: list[float] = field(default_factory=list)
    cold_now: int = 0
    write_ms: list[float] = field(default_factory=list)
    late_ms: list[float] = field(default_factory=list)
    """How long after its time a request was begun: the load generator's own fault."""
    lost: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    failed: Counter[str] = field(default_factory=Counter)


async def write(client: mf.AsyncClient, person: Person, random: Random, tally: Tally) -> None:
    """Four turns, one of them a fact that later questions ask for."""
    async with person.busy:
        session, code, number = person.next_session(random)
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
    tally.cold_now += not warm
    beside = tally.cold_now > 0
    question = f"What did I buy with the label {code}?" if code else "What did I buy?"
    try:
        result = await client.user(person.name).query(question, k=5)
    finally:
        tally.cold_now -= not warm
    spent = (time.perf_counter() - began) * 1e3
    (tally.warm_ms if warm else tally.cold_ms).append(spent)
    if warm and beside:
        tally.beside_ms.append(spent)
    person.called_at = time.perf_counter()
    text = " ".join(hit.text for hit in result)
    if code and code not in text:
        tally.lost.append(code)
    tally.foreign.extend(other.name for other in people if other is not person and other.name in text)


async def drive(
    client: mf.AsyncClient, people: list[Person], rate: float, seconds: float, random: Random, tally: Tally
) -> None:
    """Requests at their times, by Zipf."""
    weights = list(itertools.accumulate(1 / rank for rank in range(1, len(people) + 1)))
    running: set[asyncio.Task[None]] = set()
    started = time.perf_counter()
    due = 0.0
    while (due := due + random.expovariate(rate)) < seconds:
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


@dataclass(frozen=True)
class Sample:
    """The cluster at one moment."""

    memory_mb: float
    forests: frozenset[int]
    """Processes of forests."""


def watch(root: int) -> None:
    """Tell of the processes below `root`, one line every few seconds, until nobody listens.

    In a process of its own: in that of the requests it would hold them up.
    """
    never = Event()
    while not never.wait(SAMPLE_S):
        pids = processes_below(root) - {os.getpid()}
        forests = [pid for pid in pids if "UserForest" in command_of(pid)]
        print(json.dumps([sum(_private_mb(pid) for pid in pids), forests]), flush=True)


@contextmanager
def watched(root: int) -> Iterator[list[Sample]]:
    """Samples of the cluster, there when the block has ended."""
    samples: list[Sample] = []
    command = [sys.executable, __file__, "--watch", str(root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        yield samples
        process.terminate()
        told, _ = process.communicate()
    for line in told.splitlines():
        memory_mb, forests = json.loads(line)
        samples.append(Sample(memory_mb, frozenset(forests)))


def processes_below(root: int) -> set[int]:
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


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""


def _private_mb(pid: int) -> float:
    """Anonymous memory: processes of Ray are not forked from one another, so it is theirs alone.

    Cheap to read, unlike `smaps_rollup`, which holds up the process that is looked at for milliseconds.
    """
    try:
        rows = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(row.split()[1]) for row in rows if row.startswith("RssAnon:")) / 1024


def quantiles(values: list[float]) -> str:
    """Median, 95 of 100 and worst, in ms."""
    if len(values) < 2:
        return "-"
    p95 = statistics.quantiles(values, n=20)[18]
    return f"p50 {statistics.median(values):.1f}, p95 {p95:.1f}, max {max(values):.0f} (n {len(values)})"


def report(tally: Tally, samples: list[Sample], rate: float, given: argparse.Namespace) -> None:
    """The table of one rate."""
    seen = frozenset[int]().union(*(sample.forests for sample in samples))
    left = seen - samples[-1].forests
    asked = len(tally.warm_ms) + len(tally.cold_ms) + len(tally.write_ms)
    rows = {
        "requests, at a rate a second of": f"{asked}, {rate:g}",
        "warm query, ms": quantiles(tally.warm_ms),
        "of these begun beside somebody's first call, ms": quantiles(tally.beside_ms),
        f"query of one not called for {WARM_S:.0f} s, ms": quantiles(tally.cold_ms),
        "write of 4 turns, ms": quantiles(tally.write_ms),
        "begun late, ms": quantiles(tally.late_ms),
        "acknowledged and not found": str(len(tally.lost)),
        "of somebody else": str(len(tally.foreign)),
        "failed calls": json.dumps(tally.failed),
        "forests opened, forests that left": f"{len(seen)}, {len(left)}",
        "residents at once, most": f"{max(len(sample.forests) for sample in samples)} (cap {given.residents})",
        "private memory of the cluster, most": f"{max(sample.memory_mb for sample in samples):.0f} MB",
    }
    for name, value in rows.items():
        print(f"{name:<48} {value}")
    print(flush=True)


async def prepare(people: list[Person], random: Random, settings: dict[str, Any]) -> None:
    """What users have before, written without a cluster."""
    async with await mf.connect_async(**settings, runtime="local") as client:
        for person in people:
            for _ in range(SESSIONS_BEFORE):
                session, code, number = person.next_session(random)
                await client.user(person.name).ingest(session)
                person.bought[code] = number


async def run(given: argparse.Namespace, folder: str) -> bool:
    """All of it, on a cluster of its own. Whether every answer was right."""
    people, random = [Person(f"user{number:03}x") for number in range(given.users)], Random(given.seed)
    settings: dict[str, Any] = {"store": f"file://{folder}"}
    await prepare(people, random, settings)
    right = True
    async with await mf.connect_async(**settings, residents_max=given.residents, idle_s=given.idle) as client:
        await client.user(people[0].name).query("Is anybody there?")
        for rate in given.rate:
            tally = Tally()
            with watched(os.getpid()) as samples:
                await drive(client, people, rate, given.seconds, random, tally)
            report(tally, samples, rate, given)
            right = right and not tally.lost and not tally.foreign
    return right


def main(arguments: list[str]) -> int:
    """Measure and print. 1 when an answer was wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--users", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--rate", type=float, nargs="+", default=[1.0], help="requests a second, one or several")
    parser.add_argument("--residents", type=int, default=40, help="forests in memory at most")
    parser.add_argument("--idle", type=float, default=900.0, help="seconds after which a forest leaves")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--watch", type=int, metavar="PID", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.watch:
        watch(given.watch)
    os.environ.pop("RAY_ADDRESS", None)
    os.environ["RAY_LOG_TO_DRIVER"] = "0"
    with tempfile.TemporaryDirectory() as folder:
        return int(not asyncio.run(run(given, folder)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
