"""Addresses of stores, and the probe of their conditions."""

from pathlib import Path

import pytest

from memforest_ray.errors import InvalidInput, StoreUnavailable
from memforest_ray.storage.disk import DiskStore
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.storage.open import open_store, probe
from memforest_ray.storage.store import Stored
from memforest_ray.testing.clock import SeededRandom
from memforest_ray.testing.store import Fault, FaultyStore, contents, scripted


def test_addresses_of_one_folder_are_one_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path, relative or not, and both forms of `file://` have the same canonical address."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    addresses = [
        "m y",
        "./m y",
        f"{tmp_path}/m y",
        f"file://{tmp_path}/m%20y",
        "file://m y",
        "~/m y",
        "file://~/m y",
    ]
    assert {f"file://{tmp_path}/m%20y"} == {open_store(address).url for address in addresses}
    assert not (tmp_path / "m y").exists()


def test_memory_is_shared_by_name() -> None:
    """Two openers of one name see one store; another name is another."""
    assert open_store("memory://one") is open_store("memory://one")
    assert open_store("memory://one") is not open_store("memory://two")


@pytest.mark.parametrize("url", ["ftp://x", "s4://bucket", "", "  ", "s3:/bucket", "redis:6379", "file://", "a\0b"])
def test_unknown_addresses_name_the_known(url: str) -> None:
    """A slip becomes a sentence, never a folder of that name."""
    with pytest.raises(InvalidInput, match=r"known are a folder, file://, memory://, s3://, gs://, az://"):
        open_store(url)


def test_an_unfit_cloud_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """An Azure address needs an account; the sentence says so in one line."""
    monkeypatch.delenv("AZURE_STORAGE_ACCOUNT_NAME", raising=False)
    with pytest.raises(InvalidInput, match=r"cannot be opened: .*Account must be specified$"):
        open_store("az://container/place")


@pytest.mark.parametrize("url", ["s3://bucket/place", "gs://bucket"])
def test_cloud_addresses_open_without_a_connection(url: str) -> None:
    """Opening is local; the address is kept without credentials."""
    assert url == open_store(url).url


@pytest.mark.parametrize("make", [lambda path: MemoryStore(), DiskStore])
async def test_the_probe_leaves_nothing_behind(make: type[DiskStore], tmp_path: Path) -> None:
    """A fit store passes and is empty afterwards."""
    store = make(tmp_path)
    await probe(store, SeededRandom())
    assert await contents(store) == {}


class _Forgetful(MemoryStore):
    """Ignores the condition of a create."""

    async def create(self, key: str, body: bytes) -> str:
        return self._put(key, body)


class _Blind(MemoryStore):
    """Ignores the condition of a swap."""

    async def swap(self, key: str, body: bytes, tag: str) -> str:
        return self._put(key, body)


class _Stale(MemoryStore):
    """Reads what was written before the last write."""

    async def get(self, key: str) -> Stored:
        return Stored(b"1", "1")


@pytest.mark.parametrize(
    ("store", "what"),
    [(_Forgetful(), "created an object twice"), (_Blind(), "stale tag"), (_Stale(), "last written")],
)
async def test_the_probe_refuses_unfit_stores(store: MemoryStore, what: str) -> None:
    """A store that ignores a condition is named unfit, and left as it was."""
    with pytest.raises(StoreUnavailable, match=what):
        await probe(store, SeededRandom())
    assert await contents(store) == {}


class _ReadOnly(MemoryStore):
    """Takes nothing."""

    async def create(self, key: str, body: bytes) -> str:
        raise StoreUnavailable("it is read-only")

    async def delete(self, key: str) -> None:
        raise StoreUnavailable("nothing can be removed")


async def test_the_probe_tells_what_failed_first() -> None:
    """Not that it could not remove what was never there."""
    with pytest.raises(StoreUnavailable, match="it is read-only"):
        await probe(_ReadOnly(), SeededRandom())


async def test_a_conflict_without_a_cause_is_tried_again() -> None:
    """A store under load answers a conditional write with a conflict, or the client's own retry meets the first try."""
    for fault in (Fault.CONFLICT, Fault.DUPLICATE):
        for call in (0, 2):
            store = MemoryStore()
            await probe(FaultyStore(store, scripted({call: fault})), SeededRandom())
            assert await contents(store) == {}


async def test_a_store_that_refuses_every_write_is_unavailable() -> None:
    """After a few tries, in words of this library."""
    store = MemoryStore()
    refusing = FaultyStore(store, lambda call: Fault.CONFLICT if call.verb == "create" else None)
    with pytest.raises(StoreUnavailable, match="refused 4 writes without a conflict"):
        await probe(refusing, SeededRandom())
    assert await contents(store) == {}
