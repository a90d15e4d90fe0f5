"""Stored samples of every format: each is read for ever, and the present one is written as it was."""

from pathlib import Path
from typing import Any

import pytest
import zstandard

from memforest_ray.commit.frames import FORMAT, unpack_small, unseal
from memforest_ray.commit.log import CommitLog
from memforest_ray.commit.users import list_users
from memforest_ray.errors import NotFound
from memforest_ray.ids import OpId, UserId
from memforest_ray.storage.disk import DiskStore
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.storage.store import ObjectStore
from memforest_ray.testing.clock import ManualClock, SeededRandom
from memforest_ray.testing.store import contents
from tests.commit.residue import residue
from tests.formats.write import ANN, FINGERPRINT, SAMPLES, row, write

FORMATS = [str(number) for number in range(1, FORMAT + 1)]
KINDS = ("manifest", "commit", "fence", "tombstone", "text", "vectors", "snapshot")


@pytest.fixture(params=FORMATS)
async def sample(request: pytest.FixtureRequest) -> MemoryStore:
    """A copy of a stored sample."""
    store = MemoryStore()
    for key, body in _files(SAMPLES / request.param).items():
        await store.create(key, body)
    return store


def _files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _log(store: ObjectStore) -> CommitLog:
    return CommitLog(store, ANN, ManualClock(), SeededRandom(2))


def test_each_format_has_its_sample() -> None:
    """Whoever raises the format writes one; none is ever taken away."""
    assert sorted(path.name for path in SAMPLES.iterdir() if path.name.isdigit()) == FORMATS
    assert all(_files(SAMPLES / number) for number in FORMATS)


async def test_a_sample_is_read(sample: MemoryStore) -> None:
    """Every row of parts and log, what is open, the snapshot, the users; and nothing is written by that."""
    before = await contents(sample)
    log = _log(sample)
    loaded = await log.read()
    assert loaded.tables["cells"] == {f"c{n}": row(n) for n in range(1, 13) if n != 10}
    assert loaded.tables["vectors"] == {f"c{n}": bytes([n]) * 8 for n in range(1, 13) if n != 10}
    assert (loaded.version, loaded.erasing) == (15, ("op-13",))
    assert loaded.manifest
    assert loaded.manifest.birth["fanout"] == {"session": 4, "entity": 8, "scene": 8}
    assert [pin.operation for pin in loaded.manifest.pins] == ["op-copy"]
    assert set((await log.read_snapshot("before the trip")).tables["cells"]) == {"c1", "c2"}
    assert (await list_users(sample)).users == (ANN,)
    with pytest.raises(NotFound):
        await CommitLog(sample, UserId("bob"), ManualClock(), SeededRandom()).read_snapshot("x")
    assert await contents(sample) == before


async def test_life_goes_on_in_a_sample(sample: MemoryStore) -> None:
    """Claimed, freed of its pin, its erasure finished, written, and read again."""
    log = _log(sample)
    await log.read()
    await log.claim({}, FINGERPRINT)
    await log.unpin(OpId("op-copy"))
    await log.erase()
    assert await residue(sample, "Ann keeps 10 bees") == []
    changes = await log.restore("before the trip")
    assert set(changes.drops["cells"]) == {f"c{n}" for n in range(3, 13) if n != 10}
    await log.commit(changes)
    await log.close()
    assert (await _log(sample).read()).tables == (await log.read_snapshot("before the trip")).tables


async def test_a_sample_is_read_from_a_folder() -> None:
    """As it lies on a disk."""
    assert (await _log(DiskStore(SAMPLES / FORMATS[-1])).read()).version == 15


async def test_the_present_format_is_written_as_it_was() -> None:
    """If this fails, either take the change back, or raise `FORMAT`, keep reading the old, and write a new sample."""
    fresh = MemoryStore()
    await write(fresh)
    expected = {key: _bare(key, body) for key, body in _files(SAMPLES / str(FORMAT)).items()}
    assert {key: _bare(key, body) for key, body in (await contents(fresh)).items()} == expected


def _bare(key: str, raw: bytes) -> dict[str, Any]:
    """What an object says, with the order of its fields, but without what another zstd may compress to."""
    frame = unseal(raw, key, *KINDS)
    end = 10 + int.from_bytes(raw[6:10], "little")
    body = bytes(frame.body)
    compressed = frame.head["kind"] in {"text", "commit"}
    return {
        "envelope": raw[:6],
        "head": raw[10:end],
        "body": _inflated(body)
        if compressed and body
        else _unsized(unpack_small(body, key))
        if _mapped(frame.head)
        else body,
    }


def _mapped(head: dict[str, Any]) -> bool:
    return head["kind"] in {"manifest", "snapshot"}


def _inflated(body: bytes) -> bytes:
    return zstandard.ZstdDecompressor().decompress(body)


def _unsized(value: Any) -> Any:
    """Fields in order; sizes and sums of compressed objects left out."""
    if isinstance(value, dict):
        return [(name, _unsized(inner)) for name, inner in value.items() if name not in {"bytes", "sha256"}]
    return [_unsized(inner) for inner in value] if isinstance(value, list) else value
