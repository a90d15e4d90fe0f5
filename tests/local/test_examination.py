"""Examination: what `memforest doctor --deep` finds."""

import copy

import pytest

from memforest_ray.commit.loaded import load
from memforest_ray.commit.version import Birth, Version
from memforest_ray.errors import CorruptState, NotFound
from memforest_ray.forest.checking import findings
from memforest_ray.ids import UserId
from memforest_ray.index.index import Index
from memforest_ray.local.examination import examine
from memforest_ray.storage.keys import UserKeys
from memforest_ray.testing.conversations import conversation
from memforest_ray.testing.forests import ANN, Forests
from memforest_ray.testing.store import contents
from memforest_ray.trees.scenes import Thresholds

DIMENSION = 64


async def _written() -> Forests:
    """A forest of some sessions, one of them forgotten, so that both parts and slots hold it."""
    forests = Forests()
    ann = forests.open()
    sessions = conversation(3, sessions=5, turns_max=8)
    for session in sessions:
        await ann.ingest(session)
    await ann.forget(session=sessions[0].id)
    return forests


async def test_a_sound_forest_has_no_findings() -> None:
    """Everything that a forest writes fits together."""
    forests = await _written()
    before = await contents(forests.store)
    found = await examine(forests.store, UserId(ANN))

    assert found.findings == ()
    assert found.sound
    assert found.objects >= 2
    assert await contents(forests.store) == before


async def test_an_unknown_user_is_named_as_such() -> None:
    """There is nothing to examine."""
    with pytest.raises(NotFound):
        await examine(Forests().store, UserId("nobody"))


async def test_a_damaged_object_is_named() -> None:
    """One flipped byte anywhere is found."""
    forests = await _written()
    key = next(name for name in sorted(await contents(forests.store)) if "/seg/" in name)
    body = bytearray((await forests.store.get(key)).body)
    body[-1] ^= 1
    await forests.store.overwrite(key, bytes(body))

    with pytest.raises(CorruptState, match=key.rsplit("/", 1)[-1]):
        await examine(forests.store, UserId(ANN))


@pytest.mark.parametrize(
    ("table", "what"),
    [
        ("summaries", "nodes without a summary: "),
        ("vectors", "without a vector: "),
    ],
)
async def test_a_missing_row_is_found(table: str, what: str) -> None:
    """Objects that are whole may still lack what others refer to."""
    forests = await _written()
    loaded = await load(forests.store, UserKeys.of(UserId(ANN)))
    assert loaded.manifest is not None
    tables = copy.deepcopy(loaded.tables)
    name = min(tables[table])
    if table == "vectors":  # not one that a scene's sum is made of
        name = min(key for key in tables[table] if key.startswith("c"))
    del tables[table][name]
    birth = Birth.of(loaded.manifest.birth)
    version = Version.load(tables, loaded.version, birth, Thresholds(1.0, 0.0, 1.0), Index(DIMENSION))

    assert findings(version, tables, DIMENSION) == [what + name]


async def test_rows_that_nothing_refers_to_are_found() -> None:
    """What is left over is told, too: it may be text that should have gone."""
    forests = await _written()
    loaded = await load(forests.store, UserKeys.of(UserId(ANN)))
    assert loaded.manifest is not None
    tables = copy.deepcopy(loaded.tables)
    tables["vectors"]["f" + "0" * 20] = b"\0" * 2 * DIMENSION
    tables["failed"] = {"c" + "0" * 20: "gone"}
    birth = Birth.of(loaded.manifest.birth)
    version = Version.load(tables, loaded.version, birth, Thresholds(1.0, 0.0, 1.0), Index(DIMENSION))

    assert findings(version, tables, DIMENSION) == [
        "cell c00000000000000000000 is noted as failed and is not there",
        "vectors of what is not there: f00000000000000000000",
    ]


async def test_a_summary_that_outlived_what_it_tells_of_is_found() -> None:
    """It was taken over by another node, and should have gone with the mention that it names."""
    forests = await _written()
    loaded = await load(forests.store, UserKeys.of(UserId(ANN)))
    assert loaded.manifest is not None
    tables = copy.deepcopy(loaded.tables)
    name = min(tables["summaries"])
    tables["summaries"][name]["also"] = ["m" + "0" * 20]
    birth = Birth.of(loaded.manifest.birth)
    version = Version.load(tables, loaded.version, birth, Thresholds(1.0, 0.0, 1.0), Index(DIMENSION))

    assert findings(version, tables, DIMENSION) == [f"summaries that may tell of what was forgotten: {name}"]
