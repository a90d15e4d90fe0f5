"""What a question costs beyond the actor's own work when it is asked through a handle: Ray, pickling, threads.

    python -m tests.benchmarks.handle_overhead [--facts 1000] [--questions 300]

Starts a cluster of its own. The actor notes how long its driver takes for each question, the question's embedding
included; the rest of what the caller waits is the handle's share. Asked by a blocking and by an async handle, one
question after the other. The last row is the floor: Ray alone, with calls and answers as long as those, of a method
that takes as long by sleeping. Times are of this machine, in this run; compare within a run only.
"""

import argparse
import asyncio
import pickle
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import memforest_ray as mf
from memforest_actors.cluster import RayRuntime, connect
from memforest_actors.options import NAMESPACE, Components, forest_name
from memforest_actors.reply import wrapped
from memforest_ray.config import Settings, load_settings
from memforest_ray.ids import OpId, UserId
from memforest_ray.local import open_driver
from memforest_ray.local.driver import ForestDriver, Models
from memforest_ray.storage.open import open_store
from tests.benchmarks.activation import CITIES, USER, prepare
from tests.benchmarks.many_users import THINGS

WARM_UP = 30
REST_S = 0.01
"""About as long as a question takes."""


class Timed:
    """A forest's driver that tells with its `stats` how long each question took since it was last asked that."""

    def __init__(self, driver: ForestDriver) -> None:
        self._driver = driver
        self._spent: list[float] = []

    async def call(self, verb: str, arguments: Mapping[str, Any], *, op_id: OpId | None, seen: int) -> Any:
        began = time.perf_counter()
        if verb == "rest":
            await asyncio.sleep(REST_S)
            self._spent.append(time.perf_counter() - began)
            return bytes(arguments["size"])
        found = await self._driver.call(verb, arguments, op_id=op_id, seen=seen)
        if verb == "stats":
            told, self._spent = self._spent, []
            return {**found, "spent": told}
        self._spent.append(time.perf_counter() - began)
        return found

    async def close(self) -> None:
        await self._driver.close()

    @property
    def waiting(self) -> tuple[int, int]:
        return self._driver.waiting


def open_timed(user: UserId, settings: Settings, models: Models) -> Timed:
    """What the actor loads in the place of its driver."""
    return Timed(open_driver(user, settings, models))


def connected(store: str) -> tuple[Settings, RayRuntime]:
    """A cluster of its own, whose forests are timed."""
    settings = load_settings(store=open_store(store).url)
    return settings, connect(settings, Components(driver=f"{__spec__.name}:open_timed"))


def spent(stats: Mapping[str, Any]) -> list[float]:
    """What `Timed` tells with its `stats`."""
    told: list[float] = stats["spent"]
    return told


def questions(count: int) -> list[str]:
    """About things that are there."""
    random = Random(2)
    return [f"Where did Ann buy the {random.choice(THINGS)}, was it {random.choice(CITIES)}?" for _ in range(count)]


def blocking(store: str, asked: Sequence[str]) -> tuple[list[float], list[float], int]:
    """Seconds of each question by a blocking handle, those of the actor alone, and bytes of an answer."""
    with mf.Client(*connected(store)) as client:
        user, waited = client.user(USER), []
        user.stats()
        for text in asked:
            began = time.perf_counter()
            found = user.query(text)
            waited.append(time.perf_counter() - began)
        return waited, spent(user.stats()), len(pickle.dumps(found, 5))


def by_ray(store: str, count: int, size: int) -> tuple[list[float], list[float]]:
    """The same of calls through Ray's own handle that are answered by bytes, after a rest."""
    import ray  # noqa: PLC0415 - reads its environment when it is imported, which connecting prepares

    with mf.Client(*connected(store)) as client:
        user, waited = client.user(USER), []
        user.stats()
        actor: Any = ray.get_actor(forest_name(client.settings, UserId(USER)), NAMESPACE)
        call = wrapped(("call", ("rest", {"size": size}, None, 0)))
        for _ in range(count):
            began = time.perf_counter()
            ray.get(actor.answer.remote(call))
            waited.append(time.perf_counter() - began)
        return waited, spent(user.stats())


async def in_turn(store: str, asked: Sequence[str]) -> tuple[list[float], list[float]]:
    """The same by an async handle."""
    async with mf.AsyncClient(*await asyncio.to_thread(connected, store)) as client:
        user, waited = client.user(USER), []
        await user.stats()
        for text in asked:
            began = time.perf_counter()
            await user.query(text)
            waited.append(time.perf_counter() - began)
        return waited, spent(await user.stats())


def report(name: str, waited: Sequence[float], spent: Sequence[float]) -> None:
    """One row of the table."""
    share = [mine - its for mine, its in zip(waited, spent, strict=True)]
    cells = (statistics.quantiles([1000 * each for each in times[WARM_UP:]], n=20) for times in (waited, spent, share))
    print(f"| {name} | " + " | ".join(f"{cuts[9]:.2f}, {cuts[18]:.2f} ms" for cuts in cells) + " |", flush=True)


def main(facts: int, count: int) -> None:
    """The table."""
    asked = questions(count + WARM_UP)
    with tempfile.TemporaryDirectory(prefix="mf-") as place:
        store = f"file://{place}/store"
        held = asyncio.run(prepare(store, facts))
        waited, worked, size = blocking(store, asked)
        print(f"{held:,} facts, an answer is {size:,} bytes; p50, p95\n")
        print("| | the caller waits | the actor works | the handle's share |\n|---|---|---|---|")
        report("blocking handle", waited, worked)
        report("async handle", *asyncio.run(in_turn(store, asked)))
        report("Ray alone", *by_ray(store, len(asked), size))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, default=1_000)
    parser.add_argument("--questions", type=int, default=300)
    given = parser.parse_args()
    main(given.facts, given.questions)
