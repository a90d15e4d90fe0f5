"""A stored forest of every format: it opens for ever, and answers."""

import pytest

from memforest_ray.commit.frames import FORMAT
from memforest_ray.ids import OpId
from memforest_ray.local.examination import examine
from memforest_ray.query.request import QueryRequest
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.forests import ANN, TestForest, check_forest, residue
from memforest_ray.testing.store import contents
from tests.formats.forest import FORESTS, SECRET, SESSIONS, forests, write

FORMATS = [str(number) for number in range(2, FORMAT + 1)]
"""From the first in which a whole forest was kept."""


@pytest.fixture(params=FORMATS)
async def sample(request: pytest.FixtureRequest) -> MemoryStore:
    """A copy of a stored forest."""
    store, folder = MemoryStore(), FORESTS / request.param
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            await store.create(path.relative_to(folder).as_posix(), path.read_bytes())
    return store


async def _best(forest: TestForest, text: str, as_of: str | None = None) -> str:
    found = await forest.read("query", request=QueryRequest.of(text, as_of=as_of))
    return str(found.hits[0].text)


def test_each_format_has_its_forest() -> None:
    """Whoever raises the format writes one; none is ever taken away."""
    assert sorted(path.name for path in FORESTS.iterdir()) == FORMATS


async def test_a_stored_forest_answers(sample: MemoryStore) -> None:
    """Three questions, one of them about an earlier time; reading writes nothing."""
    before = await contents(sample)
    forest = forests(sample).open()
    version = await forest.version()
    check_forest(version)
    assert (set(version.sessions), len(version.facts)) == ({session.id for session in SESSIONS}, 16)
    assert "Miami" in await _best(forest, "Where does Bob live now?")
    assert "Davis" in await _best(forest, "Where does Bob live now?", as_of="2020-01-01")
    assert "Blue Kiln" in await _best(forest, "Where does Ann work as a welder?")
    assert (await examine(sample, ANN)).sound
    assert await contents(sample) == before


async def test_its_graphs_serve(sample: MemoryStore) -> None:
    """They are taken as they are; nothing is built."""
    forest = forests(sample).open()
    await forest.version()
    await forest.driver._published.graphs.settled()
    told = (await forest.read("stats"))["graphs"]
    assert (told["built"], told["damaged"]) == (0, 0)
    assert told["reused"] > 0


async def test_life_goes_on_in_a_stored_forest(sample: MemoryStore) -> None:
    """It is written, forgets, and goes back to its snapshot; what was forgotten before stays forgotten."""
    forest = forests(sample).open()
    duplicate = await forest.ingest(SESSIONS[1])
    assert duplicate.duplicate
    await forest.forget(session="s2", including_snapshots=True)
    assert "Davis" in await _best(forest, "Where does Bob live now?")
    await forest.driver.call("restore", {"name": "before the job"}, op_id=OpId("restore-1"), seen=0)
    version = await forest.version()
    check_forest(version)
    assert set(version.sessions) == {"s1", "s3"}
    assert await residue(SECRET, sample, version) == []
    assert await residue("Miami", sample, version) == []


async def test_the_present_release_writes_such_a_forest(sample: MemoryStore) -> None:
    """Of the newest sample: the same rows, whatever zstd makes of them."""
    fresh = MemoryStore()
    await write(fresh)
    ours, stored = forests(fresh).open(), forests(sample).open()
    assert (await ours.version()).facts == (await stored.version()).facts
    assert (await ours.version()).sessions == (await stored.version()).sessions
    assert (await ours.version()).trees == (await stored.version()).trees
