"""The write path against a SIMULATED model server in a process of its own. Run by hand:

    python tests/benchmarks/write_path.py LOCOMO.json [--only PART,...] [--latency 1.0]

Parts: latency, slots, facts, refreshed, once, reads, faults, fair.
The server (`memforest sim-llm`) gives the offline backend's answers with a real server's latencies, so all that is
said here is about schedules, calls and this program's own time, and nothing about what a model finds. Times are of
this machine, in this run; ratios are taken within a run.
"""

import argparse
import asyncio
import json
import math
import random
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import memforest_ray as mf
from memforest_ray.ambient import SystemClock, SystemRandom
from memforest_ray.client import AsyncClient
from memforest_ray.config import Settings, load_settings
from memforest_ray.facts.candidates import CellInput, Extraction, Extractor
from memforest_ray.facts.sessions import Session, Turn
from memforest_ray.facts.verdicts import Judge, Judgement, Question
from memforest_ray.forest.intents import Receipt, Wait
from memforest_ray.local.effects import Models
from memforest_ray.local.models import open_models
from memforest_ray.local.runtime import LocalRuntime
from memforest_ray.storage.open import open_store
from memforest_ray.trees.summaries import Source, Summarizer, SummaryReply, SummaryRequest

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


@asynccontextmanager
async def client(
    folder: str, url: str, *, chat: bool = True, recorder: "Recorder | None" = None, **given: Any
) -> AsyncIterator[AsyncClient]:
    """Forests in this process, models behind `url`; without `chat` only vectors come from there."""
    settings: Settings = load_settings(
        store=f"file://{folder}",
        runtime="local",
        llm_urls=(url,) if chat else (),
        llm_model=MODEL,
        embed_urls=(url,),
        embed_model=MODEL,
        **given,
    )
    opened = open_models(settings, SystemClock(), SystemRandom())
    models = opened.models if recorder is None else recorder.over(opened.models)
    runtime = LocalRuntime(settings, open_store(settings.store), models, release=opened.close)
    async with AsyncClient(settings, runtime) as made:
        yield made


# ---- the graph of calls -------------------------------------------------------------------------------------


@dataclass(eq=False, slots=True)
class Call:
    """One call, and those whose answers it was made of."""

    kind: str
    after: set["Call"] = field(default_factory=set)


class Recorder:
    """Sees every call and finds out what it was made of by its texts: each line came out of some earlier call."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._said: dict[str, Call] = {}
        self._judged: dict[str, set[Call]] = {}

    def over(self, models: Models) -> Models:
        """The same models, observed."""
        judge = None if models.judge is None else _Judge(models.judge, self)
        return replace(
            models,
            extractor=_Extractor(models.extractor, self),
            summarizer=_Summarizer(models.summarizer, self),
            judge=judge,
        )

    def called(self, kind: str, made_of: Sequence[str] = ()) -> Call:
        """A call whose text holds the lines `made_of`."""
        call = Call(kind)
        for line in made_of:
            if (source := self._said.get(_bare(line))) is not None:
                call.after.add(source)
                call.after |= self._judged.get(_bare(line), set())
        self.calls.append(call)
        return call

    def answered(self, call: Call, lines: Sequence[str]) -> None:
        """What came out of it."""
        for line in lines:
            self._said.setdefault(_bare(line), call)

    def judged(self, call: Call, statements: Sequence[str]) -> None:
        """A verdict on these was asked before they were placed."""
        for statement in statements:
            self._judged.setdefault(_bare(statement), set()).add(call)

    def bound(self, slots: float, latency_s: float) -> float:
        """max over calls v of max(chain before v, ceil(ancestors(v) / P) L) + chain from v."""
        order = {call: place for place, call in enumerate(self.calls)}
        ancestors: dict[Call, set[int]] = {}
        before: dict[Call, int] = {}
        onward: dict[Call, int] = {}
        for call in self.calls:
            ancestors[call] = set().union(*(ancestors[each] | {order[each]} for each in call.after))
            before[call] = max((before[each] + 1 for each in call.after), default=0)
        for call in reversed(self.calls):
            onward[call] = onward.get(call, 1)
            for each in call.after:
                onward[each] = max(onward.get(each, 1), onward[call] + 1)
        steps = max(max(before[call], math.ceil(len(ancestors[call]) / slots)) + onward[call] for call in self.calls)
        return latency_s * max(steps, math.ceil(len(self.calls) / slots))


def _bare(line: str) -> str:
    """A line without the day and the marks before it."""
    return line.strip().lstrip("-*0123456789. ").strip().lower()


class _Extractor:
    def __init__(self, inner: Extractor, recorder: Recorder) -> None:
        self._inner, self._recorder = inner, recorder

    async def extract(self, cells: Sequence[CellInput]) -> list[Extraction]:
        calls = [self._recorder.called("extract") for _ in cells]
        found = await self._inner.extract(cells)
        for call, extraction in zip(calls, found, strict=True):
            self._recorder.answered(call, [candidate.text for candidate in extraction.candidates])
        return found


class _Judge:
    def __init__(self, inner: Judge, recorder: Recorder) -> None:
        self._inner, self._recorder = inner, recorder

    @property
    def model(self) -> str:
        return self._inner.model

    async def judge(self, questions: Sequence[Question]) -> list[Judgement]:
        for question in questions:
            statements = [mention.candidate.text for mention in (question.first, question.second)]
            self._recorder.judged(self._recorder.called("judge", statements), statements)
        return await self._inner.judge(questions)


class _Summarizer:
    def __init__(self, inner: Summarizer, recorder: Recorder) -> None:
        self._inner, self._recorder = inner, recorder

    @property
    def model(self) -> str:
        return self._inner.model

    @property
    def source(self) -> Source:
        return self._inner.source

    async def summarise(self, requests: Sequence[SummaryRequest]) -> list[SummaryReply]:
        calls = []
        for request in requests:
            # A session's tree stands on dialogue, which nobody has to extract first.
            lines = [line for text in request.texts for line in text.splitlines()]
            calls.append(self._recorder.called("summarise", lines))
        replies = await self._inner.summarise(requests)
        for call, reply in zip(calls, replies, strict=True):
            self._recorder.answered(call, (reply.text or "").splitlines())
        return replies


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


async def latency_rows(latency_s: float, sizes: Sequence[int]) -> list[Row]:
    """One 40-turn session into forests of several sizes, at constant latency and without a limit of slots."""
    rows: list[Row] = []
    own: dict[int, float] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        simulated(latency=0, slots=0) as quick,
        simulated(latency=latency_s, slots=0) as slow,
    ):
        number, facts = 0, 0
        for size in sizes:
            async with client(folder, quick, chat=False) as made:
                while facts < size:
                    batch = [invented(number + place) for place in range(16)]
                    await made.user("a").ingest_many(batch)
                    number += len(batch)
                    facts = (await made.user("a").stats())["facts"]
            async with client(folder, slow) as made:
                user = made.user("a")
                await user.ingest(invented(number, turns=2))  # opened, claimed
                number += 1
                outcomes: list[tuple[Receipt, float, Receipt, float]] = []
                for _ in range(3):
                    early, early_s = await timed(user.ingest(invented(number), wait="facts"))
                    await user.repair()
                    late, late_s = await timed(user.ingest(invented(number + 1)))
                    number += 2
                    outcomes.append((early, early_s, late, late_s))
                rows += _latency_rows(size, latency_s, outcomes, own)
    least, most = min(own[size] for size in sizes if size >= 100), max(own[size] for size in sizes if size >= 100)
    ratio = most / least
    rows.append(
        Row("time outside calls, largest over smallest, 100 to 10,000 facts", f"{ratio:.2f}", "1.2", ratio <= 1.2)
    )
    return rows


def _latency_rows(
    size: int, latency_s: float, outcomes: Sequence[tuple[Receipt, float, Receipt, float]], own: dict[int, float]
) -> list[Row]:
    facts_s = statistics.median(early_s for _, early_s, _, _ in outcomes)
    over = statistics.median(late_s / latency_s - late.depth for _, _, late, late_s in outcomes)
    depth = max(late.depth for _, _, late, _ in outcomes)
    own[size] = statistics.median(late_s * (late.idle_share or 0.0) for _, _, late, late_s in outcomes)
    return [
        Row(
            f"{size:,} facts before: facts queryable, in L",
            f"{facts_s / latency_s:.2f}",
            "2.5",
            facts_s <= 2.5 * latency_s,
        ),
        Row(f"{size:,} facts before: refreshed, h = {depth}, in L less h", f"{over:.2f}", "2.5", over <= 2.5),
        Row(f"{size:,} facts before: no call in flight", f"{own[size] * 1000:.0f} ms", ""),
    ]


async def slot_rows(sessions: Sequence[Session], latency_s: float) -> list[Row]:
    """All of a conversation at once, with P slots: against the bound of the calls that were made."""
    rows = []
    for slots in (8, 32, 128):
        recorder = Recorder()
        with tempfile.TemporaryDirectory() as folder, simulated(latency=latency_s, slots=slots) as url:
            async with client(folder, url, recorder=recorder, llm_permits=slots) as made:
                _, wall_s = await timed(made.user("a").ingest_many(sessions))
        bound_s = recorder.bound(slots, latency_s)
        ratio = wall_s / bound_s
        what = f"P = {slots}: {len(recorder.calls)} calls, wall over bound ({wall_s:.1f} s / {bound_s:.1f} s)"
        rows.append(Row(what, f"{ratio:.2f}", "1.15", ratio <= 1.15))
    return rows


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


async def read_rows(sessions: Sequence[Session]) -> list[Row]:
    """A fresh query beside a running ingest, against an idle forest."""
    with tempfile.TemporaryDirectory() as folder, simulated(tokens=ANSWER_TOKENS) as url:
        async with client(folder, url) as made:
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
    what = f"fresh query during ingest, p95 ({times}; {len(busy)} queries)"
    return [Row(what, f"{during / before:.2f}", "1.3", during <= 1.3 * before)]


async def fault_rows(sessions: Sequence[Session]) -> list[Row]:
    """One call in ten failing in some way."""
    walls, found = {}, {}
    for faults in ("", "0.1"):
        with tempfile.TemporaryDirectory() as folder, simulated(tokens=ANSWER_TOKENS, faults=faults, seed=1) as url:
            async with client(folder, url) as made:
                user = made.user("a")
                receipts, walls[faults] = await timed(user.ingest_many(sessions))
                for _ in range(3):
                    if (await user.stats())["failed_cells"]:
                        await user.repair()
                stats = await user.stats()
                found[faults] = (
                    stats["sessions"],
                    stats["cells"],
                    stats["facts"],
                    stats["mentions"],
                    stats["failed_cells"],
                )
                failed = sum(len(receipt.failed_cells) for receipt in receipts)
    ratio = walls["0.1"] / walls[""]
    same = found[""] == found["0.1"]
    return [
        Row(
            f"10 % of calls fail: wall over none failing ({failed} cells failed at first)",
            f"{ratio:.2f}",
            "1.6",
            ratio <= 1.6,
        ),
        Row(
            "the same: sessions, cells, facts, mentions as without failures",
            "equal" if same else f"{found}",
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


async def measure(path: Path, only: Sequence[str], latency_s: float, sizes: Sequence[int]) -> None:
    """Each part by itself, each table as soon as it is there."""
    sessions = next(iter(mf.read_conversations(path))).sessions
    parts: dict[str, Any] = {
        "latency": lambda: latency_rows(latency_s, sizes),
        "slots": lambda: slot_rows(sessions, latency_s),
        "facts": lambda: paced_rows(sessions, "facts", 3.5),
        "refreshed": lambda: paced_rows(sessions, "refreshed", 5.5),
        "once": lambda: whole_rows(sessions),
        "reads": lambda: read_rows(sessions),
        "faults": lambda: fault_rows(sessions),
        "fair": fair_rows,
    }
    for name in only or parts:
        show(await parts[name]())


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser()
    parser.add_argument("path", type=Path)
    parser.add_argument("--only", type=lambda names: names.split(","), default=[])
    parser.add_argument("--latency", type=float, default=1.0)
    parser.add_argument(
        "--sizes", type=lambda sizes: [int(size) for size in sizes.split(",")], default=[0, 100, 1000, 10_000]
    )
    given = parser.parse_args()
    asyncio.run(measure(given.path, given.only, given.latency, given.sizes))


if __name__ == "__main__":
    main()
