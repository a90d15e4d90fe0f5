"""How long the first question to a forest takes that nobody has in memory, and how much of it is the store's.

    python -m tests.benchmarks.activation [--facts 1000] [--busy 2] [--rounds 5]

Writes a memory of so many facts in this process, then asks it through a cluster of its own whose actor is killed before
each question: a process starts, reads, loads, answers. Beside it `--busy` processes use a core each.
"""

import argparse
import asyncio
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

import memforest_ray as mf
from memforest_ray.ambient import SystemClock, SystemRandom
from memforest_ray.commit.log import CommitLog
from memforest_ray.ids import UserId
from memforest_ray.storage.open import open_store
from tests.benchmarks.many_users import THINGS, command_of, processes_below

USER = "alice"
TURNS = 20
CITIES = ("Turin", "Lima", "Oslo", "Kyoto", "Accra", "Quito", "Perth", "Bergen")


def session(number: int, random: Random) -> mf.Session:
    """A day's purchases, a fact in each turn."""
    turns = [
        mf.Turn(
            f"I bought {random.choice(THINGS)} number {number * TURNS + each} in {random.choice(CITIES)}.",
            speaker="Ann",
        )
        for each in range(TURNS)
    ]
    return mf.Session(
        id=f"s{number}", time=f"20{20 + number // 336}-{number // 28 % 12 + 1:02}-{number % 28 + 1:02}", turns=turns
    )


async def prepare(store: str, facts: int) -> int:
    """A memory of at least so many facts; how many it has."""
    async with await mf.connect_async(store=store, runtime="local") as client:
        user, random, number = client.user(USER), Random(1), 0
        while (await user.stats())["facts"] < facts:
            await user.ingest_many([session(number + each, random) for each in range(10)])
            number += 10
        return int((await user.stats())["facts"])


async def store_s(store: str) -> float:
    """Seconds in which all of the memory's rows are read, checked and decoded."""
    log = CommitLog(open_store(store), UserId(USER), SystemClock(), SystemRandom())
    began = time.perf_counter()
    await log.read()
    return time.perf_counter() - began


@contextmanager
def busy(number: int) -> Iterator[None]:
    """So many processes that always have something to do."""
    command = [sys.executable, "-c", "while True: pass"]
    processes = [subprocess.Popen(command) for _ in range(number)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


async def first_answer_s(client: mf.AsyncClient) -> float:
    """Seconds of the first question after the actor was killed."""
    for pid in processes_below(os.getpid()):
        if "UserForest" in command_of(pid):
            os.kill(pid, signal.SIGKILL)
    began = time.perf_counter()
    await client.user(USER).query("Where did Ann buy a violin?")
    return time.perf_counter() - began


def told(values: list[float]) -> str:
    """Median and worst."""
    return f"{statistics.median(values):.2f} s, at most {max(values):.2f} s"


async def measure(given: argparse.Namespace, store: str) -> None:
    """The table."""
    print(f"facts {await prepare(store, given.facts)}, busy processes {given.busy}")
    async with await mf.connect_async(store=store) as client:
        await client.user(USER).query("Is anybody there?")
        with busy(given.busy):
            print(f"first answer            {told([await first_answer_s(client) for _ in range(given.rounds)])}")
            print(f"of which the store's    {told([await store_s(store) for _ in range(given.rounds)])}")


def main(arguments: list[str]) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--facts", type=int, default=1000)
    parser.add_argument("--busy", type=int, default=2, help="processes that use a core each, meanwhile")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args(arguments)
    os.environ.pop("RAY_ADDRESS", None)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(given, f"file://{folder}"))


if __name__ == "__main__":
    main(sys.argv[1:])
