"""Merging finished memories against writing their sessions into a growing one. Run by hand:

    python -m tests.benchmarks.merge LOCOMO.json [--simulated] [--latency S] [--conversations N] [--forests FOLDER]
        [--by-session N,...]

Each conversation of the file is cut in three by sessions: nine forests for three conversations. They are built one by
one, each timed; then, for N = 2 to 9, forest N is merged into the growing memory, and the sessions of forest N are
written into another one that grows by writing. The first of both is one forest, copied by a merge and by a write.

*Marginal* ratio: write forest N's sessions, all at once, / merge the finished forest N. *Cumulative* ratio: write the
sessions of forests 1 to N / (build the largest of them + merge all N), the forests having been built side by side, so
that it cannot exceed N. The second number of each is for merges with `wait="facts"`: the summaries along their seams
follow.
At the end cells, facts, placements and leaf orders of the two memories are compared.

With --by-session a second run writes, for each N named, the sessions of forest N one after the other, as they come in
life, into a memory of the forests before it, and merges forest N into another such memory; nothing else.

With --forests a first run only builds the forests, in that folder, and notes how long each took; a second run goes on
from there: for who has the machine to himself for a few minutes at a time only.

Without --simulated everything is offline. With it models are `memforest sim-llm`, in a process of its own, SIMULATED:
the offline backend's answers with a real server's latencies. Times are of this machine, in this run; compare within a
run.
"""

import argparse
import asyncio
import json
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import memforest_ray as mf
from memforest_ray.ambient import SystemClock, SystemRandom
from memforest_ray.config import Settings, load_settings
from memforest_ray.facts.sessions import Session
from memforest_ray.ids import UserId
from memforest_ray.local.driver import ForestDriver
from memforest_ray.local.models import open_models
from memforest_ray.local.runtime import LocalRuntime
from memforest_ray.storage.open import open_store
from memforest_ray.testing.forests import decided
from tests.benchmarks.write_path import MODEL, simulated

PARTS = 3
PAPER = (1.68, 2.09, 2.38, 2.70, 2.70, 2.53, 2.42)
"""Its cumulative ratios, N = 2 to 8."""


def cut(path: str, conversations: int) -> list[tuple[str, list[Session]]]:
    """Each conversation in thirds: the users to be, with their sessions."""
    found = []
    for conversation in list(mf.read_conversations(path))[:conversations]:
        sessions = list(conversation.sessions)
        for part in range(PARTS):
            here = sessions[len(sessions) * part // PARTS : len(sessions) * (part + 1) // PARTS]
            found.append((f"{conversation.id}-{part}", here))
    return found


def under(user: str, sessions: Sequence[Session]) -> list[Session]:
    """The sessions as they are called where `user` is merged."""
    return [replace(session, id=f"{user}/{session.id}") for session in sessions]


def settings_of(folder: str, url: str | None) -> Settings:
    """Forests in this process; models behind `url`, if there is one."""
    remote = {"llm_urls": (url,), "llm_model": MODEL, "embed_urls": (url,), "embed_model": MODEL} if url else {}
    return load_settings(store=f"file://{folder}", runtime="local", **remote)


@asynccontextmanager
async def client(settings: Settings) -> AsyncIterator[mf.AsyncClient]:
    opened = open_models(settings, SystemClock(), SystemRandom())
    await opened.warm()
    runtime = LocalRuntime(settings, open_store(settings.store), opened.models, release=opened.close)
    async with mf.AsyncClient(settings, runtime) as made:
        yield made


async def spent(work: object) -> float:
    """Seconds until it is done."""
    started = time.perf_counter()
    await work  # type: ignore[misc]  # a coroutine
    return time.perf_counter() - started


async def same(settings: Settings, one: str, other: str) -> dict[str, bool]:
    """Whether two users' memories have come to the same."""
    opened = open_models(settings, SystemClock(), SystemRandom())
    found = []
    for user in (one, other):
        driver = ForestDriver(
            UserId(user), open_store(settings.store), opened.models, settings, SystemClock(), SystemRandom()
        )
        found.append(decided(await driver.version()))
        await driver.close()
    await opened.close()
    return {name: found[0][name] == found[1][name] for name in ("cells", "facts", "placements", "leaves")}


async def build(settings: Settings, parts: list[tuple[str, list[Session]]]) -> list[float]:
    """All forests, one by one; the seconds that each took."""
    async with client(settings) as made:
        return [await spent(made.user(user).ingest_many(sessions)) for user, sessions in parts]


async def one_by_one(made: mf.AsyncClient, user: str, sessions: Sequence[Session]) -> None:
    """Write sessions as they come in life: the next when the one before is refreshed."""
    for session in sessions:
        await made.user(user).ingest(session)


async def by_session(settings: Settings, parts: list[tuple[str, list[Session]]], count: int) -> None:
    """Forest `count` into a memory of those before it: by a merge, and by writes one after the other; prints a line."""
    source, sessions = parts[count - 1]
    async with client(settings) as made:
        for user in (written := f"written-{count}", merged := f"merged-{count}"):
            for before, _ in parts[: count - 1]:
                await made.user(user).merge_from(before)
        write = await spent(one_by_one(made, written, under(source, sessions)))
        merge = await spent(made.user(merged).merge_from(source))
    each = f"{len(sessions)} sessions one after the other {write:.2f} s, merged {merge:.2f} s"
    print(f"N = {count}, {source}: {each}, {write / merge:.1f} times")
    print(f"equal: {await same(settings, written, merged)}")


async def run(path: str, conversations: int, url: str | None, forests: Path | None, one: Sequence[int] = ()) -> None:
    """Build, write, merge, compare; prints the table. `one`: see --by-session."""
    parts = cut(path, conversations)
    with tempfile.TemporaryDirectory() as folder:
        settings = settings_of(folder, url)
        if forests is None:
            built = await build(settings, parts)
        elif (noted := forests / "built.json").exists():
            built = json.loads(noted.read_text())
            shutil.copytree(forests, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(noted.name))
        else:
            noted.write_text(json.dumps(await build(settings_of(str(forests), url), parts)))
            return
        for count in one:
            await by_session(settings, parts, count)
        if one:
            return
        async with client(settings) as made:
            writes = [await spent(made.user("written").ingest_many(under(*part))) for part in parts]
            merges = [await spent(made.user("merged").merge_from(user)) for user, _ in parts]
            facts = [await spent(made.user("other").merge_from(user, wait="facts")) for user, _ in parts]
        table(parts, built, writes, merges, facts)
        print(f"\nequal: {await same(settings, 'written', 'merged')}")


def table(
    parts: list[tuple[str, list[Session]]],
    built: list[float],
    writes: list[float],
    merges: list[float],
    facts: list[float],
) -> None:
    """A row for each N."""
    print("| N | forest | turns | built s | written s | merged s | its facts s | marginal | cumulative | paper's |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for place, (user, sessions) in enumerate(parts):
        count = place + 1
        turns = sum(len(session.turns) for session in sessions)
        marginal = writes[place] / merges[place]
        cumulative = sum(writes[:count]) / (max(built[:count]) + sum(merges[:count]))
        early = sum(writes[:count]) / (max(built[:count]) + sum(facts[:count]))
        paper = f"{PAPER[place - 1]:.2f}" if 1 <= place <= len(PAPER) else ""
        seconds = f"{built[place]:.2f} | {writes[place]:.2f} | {merges[place]:.2f} | {facts[place]:.2f}"
        ratios = f"{marginal:.1f}, {writes[place] / facts[place]:.1f} | {cumulative:.2f}, {early:.2f}"
        print(f"| {count} | {user} | {turns} | {seconds} | {ratios} | {paper} |")


def main() -> None:
    """Read the command line, and go."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path")
    parser.add_argument("--simulated", action="store_true")
    parser.add_argument("--latency", type=float, help="every simulated call takes so long")
    parser.add_argument("--conversations", type=int, default=3, help="of the file, from its first")
    parser.add_argument("--forests", type=Path, help="a folder in which forests are built, or were by the same code")
    parser.add_argument("--by-session", default="", help="these N, comma-separated, with sessions one by one")
    given = parser.parse_args()
    one = [int(number) for number in given.by_session.split(",") if number]
    if given.forests is not None:
        given.forests.mkdir(parents=True, exist_ok=True)
    options = {} if given.latency is None else {"latency": given.latency}
    if not given.simulated:
        asyncio.run(run(given.path, given.conversations, None, given.forests, one))
        return
    with simulated(**options) as url:
        print(f"SIMULATED model server, {options or 'latencies of a real one'}")
        asyncio.run(run(given.path, given.conversations, url, given.forests, one))


if __name__ == "__main__":
    main()
