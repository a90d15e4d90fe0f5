"""A whole memory on each real kind of store: written, overtaken, kept, forgotten for good, brought back, removed."""

import asyncio

import pytest

from memforest_ray.facts.sessions import Session, Turn
from memforest_ray.ids import OpId, UserId
from memforest_ray.local.examination import examine
from memforest_ray.storage.open import open_store
from memforest_ray.testing.forests import Forests, TestForest, check_same, residue
from memforest_ray.testing.store import contents

SECRET = "My locker word is HERON-7."
ANN = UserId("ann")


@pytest.fixture(params=["file", "s3", "azure"])
def forests(request: pytest.FixtureRequest) -> Forests:
    """Owners over an empty store of that kind, which look after their log at every second commit."""
    if request.param == "file":
        address = str(request.getfixturevalue("tmp_path") / "store")
    else:
        address = request.getfixturevalue(request.param)
    return Forests(open_store(address), checkpoint_commits=2)


def _say(name: str, *texts: str) -> Session:
    return Session(name, [Turn(text, ("Bob", "Ann")[n % 2]) for n, text in enumerate(texts)], time="2023-05-08")


async def _keep(forest: TestForest, verb: str, name: str) -> None:
    await forest.driver.call(verb, {"name": name}, op_id=OpId(f"{verb}-{name}"), seen=0)


async def test_a_memory_lives_its_whole_life(forests: Forests) -> None:
    """Nothing is lost, what is forgotten is in no object, and every object is sound."""
    forest = forests.open()
    await forest.ingest(_say("s1", "I live in Davis.", "Nice.", "I like chess."))
    await forest.ingest(_say("s2", "I moved to Oslo.", SECRET))
    await _keep(forest, "save", "before")
    await forest.ingest(_say("s3", "I like tea."))
    await forest.forget(session="s2", including_snapshots=True)
    assert await residue("HERON", forests.store, await forest.version()) == []
    await _keep(forest, "restore", "before")
    await forest.driver.close()
    heir = forests.open()
    version = await heir.version()
    assert set(version.sessions) == {"s1"}
    assert (await heir.ingest(_say("s2", "I moved to Oslo.", SECRET))).duplicate
    assert (await examine(forests.store, ANN)).findings == ()
    check_same(version, await forests.open().version())
    await forests.runtime().delete_user(ANN)
    left = await contents(forests.store)
    assert [key for key, body in left.items() if b"ann" in body or b"Davis" in body] == []


async def test_owners_that_race_write_each_session_once(forests: Forests) -> None:
    """Whoever is overtaken opens it again; all that was acknowledged is there, and nothing twice."""
    runtimes = [forests.runtime() for _ in range(3)]
    sessions = [_say(f"s{n}", f"I bought boat number {n}.") for n in range(6)]

    async def write(number: int) -> None:
        arguments = {"session": sessions[number]}
        runtime = runtimes[number % 3]
        await runtime.call(ANN, "ingest", arguments, op_id=OpId(f"op{number}"), seen=0, deadline_s=60)

    await asyncio.gather(*map(write, range(len(sessions))))
    version = await forests.open().version()
    assert set(version.sessions) == {f"s{n}" for n in range(6)}
    assert sorted(len(fact.mentions) for fact in version.facts) == [1] * 6
    for runtime in runtimes:
        await runtime.close()
