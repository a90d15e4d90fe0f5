"""The write path against a SIMULATED model server in a process of its own. Run by hand:

    python tests/benchmarks/write_path.py LOCOMO.json [--only PART,...] [--latency 1.0] [--sizes 0,...] [--slots 8,...]
        [--rounds 9] [--kept FOLDER] [--runtime ray]

`--kept`: the forests of `latency` and `outside` are made there once. `--rounds`: writes into each of them, the forests
taking turns. `--runtime`: of `reads`.

Parts: latency, slots, facts, refreshed, once, reads, faults, fair; and, when it is named, outside: the time outside
calls alone, over more writes than `latency` has time for.
The server (`memforest sim-llm`) gives the offline backend's answers with a real server's latencies, so all that is
said here is about schedules, calls and this program's own time, and nothing about what a model finds. Times are of
this machine, in this run; ratios are taken within a run.
"""

import argparse
import asyncio
import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import memforest_ray as mf
from memforest_ray.ambient import SystemClock, SystemRandom
from memforest_ray.client import AsyncClient
from memforest_ray.commit.version import Version
from memforest_ray.config import Settings, load_settings
from memforest_ray.facts.sessions import Session, Turn
from memforest_ray.forest.intents import Receipt, Wait
from memforest_ray.handles import AsyncUser
from memforest_ray.ids import UserId
from memforest_ray.local.models import open_models
from memforest_ray.local.runtime import LocalRuntime, open_driver
from memforest_ray.storage.open import open_store
from memforest_ray.testing.calls import CallGraph

MODEL = "simulated-offline"
ANSWER_TOKENS = 270
"""Of a real model, per cell."""


# ---- a server, a client -------------------------------------------------------------------------------------


@contextmanager
def simulated(**options: object) -> Iterator[str]:
    """The address of a simulated server in a process of its own."""
    flags = [f"--{name}={value}" for name, value in options.items()]
    command = [str(Path(sys.executable).parent / "memforest"), "sim-llm", "--port", "0", "--json", *flags]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["url"]
    finally:
        process.terminate()
        process.wait()


def told(url: str) -> dict[str, Any]:
    """What the server counted."""
    with urllib.request.urlopen(url.removesuffix("/v1") + "/stats") as answer:
        counts: dict[str, Any] = json.loads(answer.read())
    return counts


def settings_of(folder: str, url: str, *, chat: bool = True, **given: Any) -> Settings:
    """Memories in `folder`, models behind `url`; without `chat` only vectors come from there."""
    return load_settings(
        store=f"file://{folder}",
        runtime="local",
        llm_urls=(url,) if chat else (),
        llm_model=MODEL,
        embed_urls=(url,),
        embed_model=MODEL,
        **given,
    )


@asynccontextmanager
async def client(
    folder: str, url: str, *, chat: bool = True, graph: CallGraph | None = None, **given: Any
) -> AsyncIterator[AsyncClient]:
    """Forests in this process, models behind `url`; without `chat` only vectors come from there."""
    settings = settings_of(folder, url, chat=chat, **given)
    opened = open_models(settings, SystemClock(), SystemRandom())
    models = opened.models if graph is None else graph.over(opened.models)
    runtime = LocalRuntime(settings, open_store(settings.store), models, release=opened.close)
    async with AsyncClient(settings, runtime) as made:
        yield made


@asynccontextmanager
async def cluster(folder: str, url: str) -> AsyncIterator[AsyncClient]:
    """The same, each forest in an actor, the models behind pools of actors; the query's handle is in this process."""
    given = settings_of(folder, url).model_dump(exclude_unset=True) | {"runtime": "ray"}
    async with await mf.connect_async(**given) as made:
        yield made


# ---- rows ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    what: str
    measured: str
    goal: str
    met: bool | None = None


def show(rows: Sequence[Row]) -> None:
    """As Markdown."""
    print("\n| what (simulated) | measured | goal | met |\n|---|---|---|---|")
    for row in rows:
        print(f"| {row.what} | {row.measured} | {row.goal} | {'' if row.met is None else 'yes' if row.met else 'NO'} |")
    print(flush=True)


SYLLABLES = ("ka", "ro", "mi", "te", "lu", "sa", "ne", "vo", "pi", "da", "shu", "gre", "tol", "mar", "zen", "bri")
NAMES = ("Ana", "Bela", "Chidi", "Dmitri", "Farah", "Gus", "Hana", "Ivo")
PATTERNS = (
    "I bought a {a} {b} for my {c} from {name} last week.",
    "I moved my {a} to the {b} {c} because {name} asked me to.",
    "{name} showed me how the {a} works with a {b} {c}.",
    "I like the {a} {b} more than the {c} that {name} has.",
)


def invented(number: int, turns: int = 40, seed: int = 0) -> Session:
    """A session about things that do not exist, each turn of one statement."""
    rng = random.Random(f"{seed}:{number}")
    speakers = rng.sample(NAMES, 2)

    def word() -> str:
        return "".join(rng.choices(SYLLABLES, k=3))

    said = [
        Turn(
            rng.choice(PATTERNS).format(a=word(), b=word(), c=word(), name=rng.choice(NAMES)),
            speakers[place % 2],
        )
        for place in range(turns)
    ]
    return Session(f"s{seed}-{number}", said, time=1_600_000_000_000 + number * 86_400_000)


async def timed(work: Any) -> tuple[Any, float]:
    """A result, and the seconds that it took."""
    started = time.perf_counter()
    result = await work
    return result, time.perf_counter() - started


@asynccontextmanager
async def forests(kept: Path, sizes: Sequence[int], latency_s: float) -> AsyncIterator[dict[int, AsyncUser]]:
    """By their numbers of facts: each in a copy of its own, behind a server of its own without a limit of slots.

    They are made in `kept`, unless they are there from an earlier run.
    """
    async with AsyncExitStack() as opened:
        users = {}
        for size in sizes:
            folder = opened.enter_context(tempfile.TemporaryDirectory())
            shutil.copytree(await filled(kept, size), folder, dirs_exist_ok=True)
            url = opened.enter_context(simulated(latency=latency_s, slots=0))
            users[size] = (await opened.enter_async_context(client(folder, url))).user("a")
        yield users


async def latency_rows(latency_s: float, sizes: Sequence[int], rounds: int, kept: Path) -> list[Row]:
    """One 40-turn session into forests of several sizes, at constant latency: each second one waits for its facts only.

    The first two of each are not counted.
    """
    early: dict[int, list[float]] = {size: [] for size in sizes}
    late: dict[int, list[tuple[Receipt, float]]] = {size: [] for size in sizes}
    async with forests(kept, sizes, latency_s) as users:
        for number in range(0, 2 * rounds + 2, 2):
            for size, user in users.items():
                early[size].append((await timed(user.ingest(invented(_unused(size) + number), wait="facts")))[1])
                await user.repair()
                late[size].append(await timed(user.ingest(invented(_unused(size) + number + 1))))
    rows = []
    for size in sizes:
        rows += _latency_rows(size, latency_s, early[size][1:], late[size][1:])
    return [*rows, *_outside_rows({size: outcomes[1:] for size, outcomes in late.items()})]


async def outside_rows(latency_s: float, sizes: Sequence[int], rounds: int, kept: Path) -> list[Row]:
    """The same, each waited for until its summaries are there: when no call is in flight. Without the first two."""
    outcomes: dict[int, list[tuple[Receipt, float]]] = {size: [] for size in sizes}
    async with forests(kept, sizes, latency_s) as users:
        for number in range(rounds + 2):
            for size, user in users.items():
                outcomes[size].append(await timed(user.ingest(invented(_unused(size) + number))))
    return _outside_rows({size: told[2:] for size, told in outcomes.items()})


def _unused(size: int) -> int:
    """The first of the numbers of sessions that are not in a forest yet."""
    return size + 1_000_000


def _outside_rows(outcomes: Mapping[int, Sequence[tuple[Receipt, float]]]) -> list[Row]:
    """Medians with their quartiles, and the largest over the smallest from 100 facts on."""
    rows, own = [], {}
    for size, told in outcomes.items():
        spent_ms = [1000 * wall_s * (receipt.idle_share or 0.0) for receipt, wall_s in told]
        own[size] = statistics.median(spent_ms)
        first, _, third = statistics.quantiles(spent_ms, n=4)
        what = f"{size:,} facts before: no call in flight, median (quartiles) of {len(told)} writes"
        rows.append(Row(what, f"{own[size]:.1f} ({first:.1f}, {third:.1f}) ms", ""))
    grown = [size for size in own if size >= 100]
    ratio = max(own[size] for size in grown) / min(own[size] for size in grown)
    what = f"time outside calls, largest over smallest, {min(grown):,} to {max(grown):,} facts"
    return [*rows, Row(what, f"{ratio:.2f}", "1.2", ratio <= 1.2)]


async def filled(kept: Path, size: int) -> Path:
    """The folder of a memory of about so many facts."""
    folder = kept / str(size)
    if not folder.exists():
        with simulated(latency=0, slots=0) as url:
            async with client(f"{folder}.part", url, chat=False) as made:
                user, facts, number = made.user("a"), 0, 0
                while facts < size:
                    batch = [invented(number + place) for place in range(min(16, -(-(size - facts) // 40)))]
                    await user.ingest_many(batch)
                    number += len(batch)
                    facts = (await user.stats())["facts"]
        shutil.move(f"{folder}.part", folder) if size else folder.mkdir()
    return folder


def _latency_rows(
    size: int, latency_s: float, early: Sequence[float], late: Sequence[tuple[Receipt, float]]
) -> list[Row]:
    facts_s = statistics.median(early)
    over = statistics.median(late_s / latency_s - receipt.depth for receipt, late_s in late)
    depth = max(receipt.depth for receipt, _ in late)
    return [
        Row(
            f"{size:,} facts before: facts queryable, in L",
            f"{facts_s / latency_s:.2f}",
            "2.5",
            facts_s <= 2.5 * latency_s,
        ),
        Row(f"{size:,} facts before: refreshed, h = {depth}, in L less h", f"{over:.2f}", "2.5", over <= 2.5),
    ]


async def slot_rows(sessions: Sequence[Session], latency_s: float, slots: Sequence[int]) -> list[Row]:
    """All of a conversation at once, with P slots: against the bound of the calls that were made."""
    rows = []
    for number in slots:
        graph = CallGraph()
        with tempfile.TemporaryDirectory() as folder, simulated(latency=latency_s, slots=number) as url:
            async with client(folder, url, graph=graph, llm_permits=number) as made:
                cpu_s = time.process_time()
                _, wall_s = await timed(made.user("a").ingest_many(sessions))
                cpu_s = time.process_time() - cpu_s
            least = graph.bound(number)
            graph.place(await stored(folder, url))
        bound_s = graph.bound(number) * latency_s
        ratio = wall_s / bound_s
        what = (
            f"P = {number}, L = {latency_s:g} s: {len(graph.calls)} calls, wall over bound ({wall_s:.1f} s over "
            f"{bound_s:.1f} s; over {least * latency_s:.1f} s if a node's place cost nothing; own CPU {cpu_s:.1f} s)"
        )
        rows.append(Row(what, f"{ratio:.2f}", "1.15", ratio <= 1.15))
    return rows


async def stored(folder: str, url: str) -> Version:
    """What stands in the store, of the user that these parts write to."""
    settings = settings_of(folder, url, chat=False)
    opened = open_models(settings, SystemClock(), SystemRandom())
    try:
        return await open_driver(UserId("a"), settings, opened.models).version()
    finally:
        await opened.close()


async def paced_rows(sessions: Sequence[Session], wait: Wait, goal_s: float) -> list[Row]:
    """Session by session at the speed of Qwen3-30B-A3B on one H200."""
    with tempfile.TemporaryDirectory() as folder, simulated(tokens=ANSWER_TOKENS) as url:
        async with client(folder, url) as made:
            times = [(await timed(made.user("a").ingest(session, wait=wait)))[1] for session in sessions]
    half = len(times) // 2
    flat = statistics.median(times[half:]) / statistics.median(times[:half])
    p50 = statistics.median(times)
    what = f'session by session, wait="{wait}": p50 (worst {max(times):.1f} s; later half over earlier {flat:.2f})'
    return [Row(what, f"{p50:.2f} s", f"{goal_s} s", p50 <= goal_s)]


async def whole_rows(sessions: Sequence[Session]) -> list[Row]:
    """All sessions at once, at that speed."""
    turns = sum(len(session.turns) for session in sessions)
    with tempfile.TemporaryDirectory() as folder, simulated(tokens=ANSWER_TOKENS) as url:
        async with client(folder, url) as made:
            cpu_s = time.process_time()
            _, wall_s = await timed(made.user("a").ingest_many(sessions))
            cpu_s = time.process_time() - cpu_s
            models = (await made.user("a").stats())["models"]
        counts = told(url)
    idle = 1 - models["busy_s"] / models["open_s"]
    tokens = counts["prompt_tokens"] + counts["completion_tokens"]
    cached = counts["cached_tokens"] / counts["prompt_tokens"]
    return [
        Row(f"all {len(sessions)} sessions ({turns} turns) at once", f"{wall_s:.1f} s", "30 s", wall_s <= 30),
        Row("the same: share of the wall with no call in flight", f"{idle:.1%}", "2 %", idle <= 0.02),
        Row("the same: own CPU", f"{cpu_s:.1f} s", "6 s", cpu_s <= 6),
        Row("the same: chat calls (paper: 563 to 648 for 494 turns)", str(counts["chat_calls"]), ""),
        Row("the same: tokens per turn (paper: 2,270)", f"{tokens / turns:.0f}", "1,135", tokens / turns <= 1135),
        Row("the same: of the prompt tokens cached", f"{cached:.0%}", ""),
    ]


async def read_rows(sessions: Sequence[Session], runtime: str) -> list[Row]:
    """A fresh query beside a running ingest, against an idle forest."""
    with tempfile.TemporaryDirectory() as folder, simulated(tokens=ANSWER_TOKENS) as url:
        reached = client(folder, url) if runtime == "local" else cluster(folder, url)
        async with reached as made:
            user = made.user("a")
            await user.ingest_many(sessions[:8])
            idle = [(await timed(user.query(f"What about {word}?")))[1] for word in SYLLABLES * 12]
            writing = asyncio.create_task(user.ingest_many(sessions[8:]))
            busy: list[float] = []
            while not writing.done():
                busy.append((await timed(user.query(f"What about {SYLLABLES[len(busy) % 16]}?")))[1])
            await writing
    before, during = (statistics.quantiles(times, n=20)[-1] for times in (idle, busy))
    times = f"{during * 1000:.0f} ms over {before * 1000:.0f} ms idle"
    what = f"fresh query during ingest, {runtime}, p95 ({times}; {len(busy)} queries)"
    return [Row(what, f"{during / before:.2f}", "1.3", during <= 1.3 * before)]


FAULT_SEEDS = (1, 2, 3)


async def with_faults(sessions: Sequence[Session], faults: str, seed: int) -> tuple[float, tuple[int, ...], int]:
    """Seconds, what there is in the end (sessions, cells, facts, mentions), and cells that had failed at first."""
    with tempfile.TemporaryDirectory() as folder, simulated(tokens=ANSWER_TOKENS, faults=faults, seed=seed) as url:
        async with client(folder, url) as made:
            user = made.user("a")
            receipts, wall_s = await timed(user.ingest_many(sessions))
            for _ in range(3):
                if (await user.stats())["failed_cells"]:
                    await user.repair()
            stats = await user.stats()
    found = tuple(stats[name] for name in ("sessions", "cells", "facts", "mentions", "failed_cells"))
    return wall_s, found, sum(len(receipt.failed_cells) for receipt in receipts)


async def fault_rows(sessions: Sequence[Session]) -> list[Row]:
    """One call in ten failing in some way, other calls with each seed."""
    wall_s, found, _ = await with_faults(sessions, "", 1)
    outcomes = [await with_faults(sessions, "0.1", seed) for seed in FAULT_SEEDS]
    ratios = sorted(spent / wall_s for spent, _, _ in outcomes)
    same = all(each == found for _, each, _ in outcomes)
    shown = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    failed = ", ".join(str(cells) for _, _, cells in outcomes)
    what = f"10 % of calls fail: wall over none failing ({wall_s:.1f} s), {len(ratios)} seeds; cells failed at first"
    return [
        Row(f"{what}: {failed}", shown, "1.6", ratios[-1] <= 1.6),
        Row(
            "the same: sessions, cells, facts, mentions as without failures",
            "equal" if same else f"{found}, {[each for _, each, _ in outcomes]}",
            "equal",
            same,
        ),
    ]


async def fair_rows() -> list[Row]:
    """One user sends 5,000 turns while nine send one session each."""

    async def nine(made: AsyncClient) -> float:
        times = await asyncio.gather(
            *(timed(made.user(f"u{number}").ingest(invented(number, seed=7))) for number in range(9))
        )
        return max(spent for _, spent in times)

    with tempfile.TemporaryDirectory() as folder, simulated(tokens=ANSWER_TOKENS) as url:
        async with client(folder, url) as made:
            alone = await nine(made)
    with tempfile.TemporaryDirectory() as folder, simulated(tokens=ANSWER_TOKENS) as url:
        async with client(folder, url) as made:
            bulk = asyncio.create_task(made.user("big").ingest_many([invented(number) for number in range(125)]))
            await asyncio.sleep(2)
            beside = await nine(made)
            bulk.cancel()
            await asyncio.gather(bulk, return_exceptions=True)
    ratio = beside / alone
    what = f"nine users beside one with 5,000 turns ({beside:.1f} s) over alone ({alone:.1f} s), the slowest"
    return [Row(what, f"{ratio:.2f}", "2", ratio <= 2)]


async def measure(
    path: Path,
    only: Sequence[str],
    latency_s: float,
    sizes: Sequence[int],
    slots: Sequence[int],
    rounds: int,
    kept: Path,
    runtime: str,
) -> None:
    """Each part by itself, each table as soon as it is there."""
    sessions = next(iter(mf.read_conversations(path))).sessions
    parts: dict[str, Any] = {
        "latency": lambda: latency_rows(latency_s, sizes, rounds, kept),
        "slots": lambda: slot_rows(sessions, latency_s, slots),
        "facts": lambda: paced_rows(sessions, "facts", 3.5),
        "refreshed": lambda: paced_rows(sessions, "refreshed", 5.5),
        "once": lambda: whole_rows(sessions),
        "reads": lambda: read_rows(sessions, runtime),
        "faults": lambda: fault_rows(sessions),
        "fair": fair_rows,
    }
    named = {"outside": lambda: outside_rows(latency_s, sizes, rounds, kept)}
    for name in only or parts:
        show(await {**parts, **named}[name]())


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser()
    parser.add_argument("path", type=Path)
    parser.add_argument("--only", type=lambda names: names.split(","), default=[])
    parser.add_argument("--latency", type=float, default=1.0)
    parser.add_argument(
        "--sizes", type=lambda sizes: [int(size) for size in sizes.split(",")], default=[0, 100, 1000, 10_000]
    )
    parser.add_argument(
        "--slots", type=lambda slots: [int(number) for number in slots.split(",")], default=[8, 32, 128]
    )
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--runtime", choices=("local", "ray"), default="local")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kept = given.kept or Path(folder)
        asyncio.run(
            measure(given.path, given.only, given.latency, given.sizes, given.slots, given.rounds, kept, given.runtime)
        )


if __name__ == "__main__":
    main()
