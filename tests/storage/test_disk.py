"""The folder store: durability, several processes, clear refusals."""

import asyncio
import fcntl
import multiprocessing
import os
import stat
from pathlib import Path

import pytest

from memforest_ray.errors import InvalidInput, StoreUnavailable
from memforest_ray.storage import disk
from memforest_ray.storage.disk import DiskStore
from memforest_ray.storage.store import Precondition


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was synced: the size of a file, or the name of a folder."""
    calls: list[str] = []
    real = os.fsync

    def record(descriptor: int) -> None:
        status = os.fstat(descriptor)
        name = Path(f"/proc/self/fd/{descriptor}").readlink().name
        calls.append(name if stat.S_ISDIR(status.st_mode) else f"{status.st_size} bytes")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", record)
    return calls


async def test_a_create_is_synced(tmp_path: Path, synced: list[str]) -> None:
    """New folders are synced into their parents, then the file, then its folder, in this order."""
    store = DiskStore(tmp_path / "store")
    await store.create("v1/ab/M", b"12345")
    made = [tmp_path.name, "store", "v1", "store"]
    assert [*made, "5 bytes", "ab"] == synced


async def test_a_swap_and_an_overwrite_are_synced(tmp_path: Path, synced: list[str]) -> None:
    """File first, then the folder whose entry changed."""
    store = DiskStore(tmp_path)
    tag = await store.create("v1/M", b"1")
    await store.swap("v1/M", b"22", tag)
    await store.overwrite("v1/M", b"333")
    assert [call for call in synced if call != tmp_path.name][-4:] == ["2 bytes", "v1", "3 bytes", "v1"]


async def test_a_delete_is_synced(tmp_path: Path, synced: list[str]) -> None:
    """What was erased does not come back after a power cut."""
    store = DiskStore(tmp_path)
    await store.create("v1/M", b"1")
    synced.clear()
    await store.delete("v1/M")
    assert synced == ["v1"]


async def test_reading_makes_no_folder(tmp_path: Path) -> None:
    """A store that is only read leaves no trace."""
    store = DiskStore(tmp_path / "none")
    assert [key async for key in store.list("v1/")] == []
    await store.delete("v1/x")
    assert not (tmp_path / "none").exists()


async def test_half_written_files_of_the_dead_are_removed(tmp_path: Path) -> None:
    """A crash leaves a file that may hold text; the next writer removes it, and no listing shows it."""
    (tmp_path / ".writing").mkdir()
    (tmp_path / ".writing" / "left").write_bytes(b"secret")
    store = DiskStore(tmp_path)
    await store.create("a", b"1")
    assert [key async for key in store.list("")] == ["a"]
    assert list((tmp_path / ".writing").iterdir()) == []


async def test_a_folder_that_cannot_be_written_is_a_clear_refusal(tmp_path: Path) -> None:
    """The sentence names the folder, the reason, what was kept and what to do."""
    (tmp_path / "file").write_bytes(b"")
    store = DiskStore(tmp_path / "file" / "store")
    with pytest.raises(StoreUnavailable, match=r"could not write in the folder .*/file/store: Not a directory;"):
        await store.create("a", b"1")


async def test_a_full_disk_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No half object appears under the name, and the error says that nothing can have landed."""

    def full(descriptor: int, body: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    store = DiskStore(tmp_path)
    with pytest.raises(StoreUnavailable, match="No space left on device") as caught:
        await store.create("a", b"1")
    assert caught.value.detail["refused"]
    assert [key async for key in store.list("")] == []


@pytest.mark.parametrize("key", ["../x", "a/../b", "a//b", "/a", ".writing/x", "a\0b", ""])
async def test_no_key_leaves_the_folder(tmp_path: Path, key: str) -> None:
    """A key that would escape or hide is refused before the disk is touched."""
    with pytest.raises(InvalidInput):
        await DiskStore(tmp_path).create(key, b"")


def _count_up(root: str, times: int) -> None:
    async def run() -> None:
        store = DiskStore(Path(root))
        for _ in range(times):
            while True:
                held = await store.get("count")
                try:
                    await store.swap("count", str(int(held.body) + 1).encode(), held.tag)
                except Precondition:
                    continue
                break

    asyncio.run(run())


async def test_processes_that_race_lose_no_step(tmp_path: Path) -> None:
    """Three processes raise one counter; the sum is exact."""
    store = DiskStore(tmp_path)
    await store.create("count", b"0")
    context = multiprocessing.get_context("spawn")
    racers = [context.Process(target=_count_up, args=(str(tmp_path), 20)) for _ in range(3)]
    for racer in racers:
        racer.start()
    for racer in racers:
        await asyncio.to_thread(racer.join)
    assert ([racer.exitcode for racer in racers], (await store.get("count")).body) == ([0, 0, 0], b"60")


async def test_a_lock_that_is_never_released_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that was stopped in a swap must not stop all the others; nothing of theirs is written."""
    monkeypatch.setattr(disk, "LOCK_PATIENCE_S", 0.0)
    store = DiskStore(tmp_path)
    tag = await store.create("v1/a", b"1")
    await store.swap("v1/a", b"2", tag)
    held = [os.open(path, os.O_RDWR) for path in (tmp_path / ".locks").iterdir()]
    for descriptor in held:
        fcntl.flock(descriptor, fcntl.LOCK_EX)

    with pytest.raises(StoreUnavailable, match="locked by another process") as refused:
        await store.overwrite("v1/a", b"3")

    for descriptor in held:
        os.close(descriptor)
    assert refused.value.detail["refused"]
    assert (await store.get("v1/a")).body == b"2"
    await store.overwrite("v1/a", b"3")
