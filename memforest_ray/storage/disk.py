"""A store in a folder. A write is durable when it returns: file and folder are synced.

obstore's local store is not used: its create makes no fsync and it has no conditional update.
"""

import asyncio
import errno
import fcntl
import hashlib
import os
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from memforest_ray.ambient import Random, SystemRandom
from memforest_ray.errors import InvalidInput, StoreUnavailable
from memforest_ray.storage.store import AlreadyExists, Missing, Precondition, Stored

__all__ = ["DiskStore"]

_WRITING = ".writing"
"""Folder of half-written files. Its writer locks each, so one that can be locked belongs to the dead."""
_LOCKS = ".locks"
"""Folder of the lock files of `swap`: at most 256, shared by hash: they neither pile up nor name a user."""


LOCK_PATIENCE_S = 20.0
"""Seconds to wait for a lock: a swap holds it for milliseconds, so who holds it longer has been stopped."""
_LOCK_STEP_S = 0.001


class DiskStore:
    """Keys are paths below `root`, which is made at the first write. Processes may share a folder."""

    def __init__(self, root: Path, random: Random | None = None) -> None:
        self._root = root.expanduser().resolve()
        self._random = random or SystemRandom()
        self._swept = False
        self.url = self._root.as_uri()

    async def get(self, key: str) -> Stored:
        return await asyncio.to_thread(self._get, self._path(key))

    async def create(self, key: str, body: bytes) -> str:
        return await asyncio.to_thread(self._create, self._path(key), body)

    async def swap(self, key: str, body: bytes, tag: str) -> str:
        return await asyncio.to_thread(self._swap, self._path(key), body, tag)

    async def delete(self, key: str) -> None:
        await asyncio.to_thread(self._delete, self._path(key))

    async def list(self, prefix: str) -> AsyncIterator[str]:
        for key in await asyncio.to_thread(self._list, prefix):
            yield key

    async def overwrite(self, key: str, body: bytes) -> None:
        await asyncio.to_thread(self._overwrite, self._path(key), body)

    def _path(self, key: str) -> Path:
        parts = key.split("/")
        # Keys are made by `storage.keys`; a part like `..` would leave the folder, a dotted one would hide.
        if any(not part or part.startswith(".") for part in parts) or "\0" in key:
            raise InvalidInput(f"{key!r} cannot be the key of an object; nothing was changed", key=key)
        return self._root.joinpath(*parts)

    def _get(self, path: Path) -> Stored:
        try:
            body = path.read_bytes()
        except FileNotFoundError:
            raise Missing(self._key(path)) from None
        except OSError as error:
            self._refuse("read", path, error)
        return Stored(body, _tag(body))

    def _create(self, path: Path, body: bytes) -> str:
        with self._staged(path, body) as staged:
            # A name that appears whole or not at all; a plain exclusive open would show a half-written file.
            try:
                os.link(staged, path)
            except FileExistsError:
                raise AlreadyExists(self._key(path)) from None
            except OSError as error:
                self._refuse("create", path, error)
        self._settle(path)
        return _tag(body)

    def _swap(self, path: Path, body: bytes, tag: str) -> str:
        with self._locked(path):
            try:
                held = self._get(path)
            except Missing:
                raise Precondition(self._key(path)) from None
            if held.tag != tag:
                raise Precondition(self._key(path))
            self._replace(path, body)
        return _tag(body)

    def _overwrite(self, path: Path, body: bytes) -> None:
        with self._locked(path):
            self._replace(path, body)

    def _replace(self, path: Path, body: bytes) -> None:
        with self._staged(path, body) as staged:
            try:
                staged.replace(path)
            except OSError as error:
                self._refuse("replace", path, error)
        self._settle(path)

    def _delete(self, path: Path) -> None:
        try:
            path.unlink()
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            self._refuse("delete", path, error)
        self._settle(path)

    def _list(self, prefix: str) -> Sequence[str]:
        start = self._root.joinpath(*prefix.split("/")[:-1])
        try:
            return sorted(key for key in self._walk(start) if key.startswith(prefix))
        except OSError as error:
            self._refuse("list", start, error)

    def _walk(self, folder: Path) -> Iterator[str]:
        try:
            entries = list(os.scandir(folder))
        except FileNotFoundError:
            return
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir():
                yield from self._walk(Path(entry.path))
            else:
                yield self._key(Path(entry.path))

    @contextmanager
    def _staged(self, path: Path, body: bytes) -> Iterator[Path]:
        """A synced temporary file of `body`, with the folder of `path` made; gone afterwards."""
        try:
            _make_folder(path.parent)
            folder = self._root / _WRITING
            _make_folder(folder)
            self._sweep(folder)
            staged, descriptor = _open_locked(folder, self._random)
        except OSError as error:
            self._refuse("write", path, error)
        try:
            try:
                _write_all(descriptor, body)
                os.fsync(descriptor)
            except OSError as error:
                self._refuse("write", path, error)
            yield staged
        finally:
            staged.unlink(missing_ok=True)
            os.close(descriptor)

    def _sweep(self, folder: Path) -> None:
        """Remove what dead writers left: a half-written file may hold text that was to be forgotten."""
        if self._swept:
            return
        self._swept = True
        for entry in list(os.scandir(folder)):
            _remove_if_abandoned(Path(entry.path))

    @contextmanager
    def _locked(self, path: Path) -> Iterator[None]:
        """Keep other processes and threads from replacing `path` meanwhile."""
        shard = hashlib.sha256(self._key(path).encode()).hexdigest()[:2]
        try:
            _make_folder(self._root / _LOCKS)
            descriptor = os.open(self._root / _LOCKS / shard, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            self._refuse("lock", path, error)
        try:
            if not _lock(descriptor, LOCK_PATIENCE_S):
                raise StoreUnavailable(
                    f"the folder {self._root} is locked by another process that is not making progress; "
                    "nothing was changed; look for a stopped memforest process, then make the same call again",
                    url=self.url,
                    key=self._key(path),
                    refused=True,
                )
            yield
        finally:
            os.close(descriptor)

    def _settle(self, path: Path) -> None:
        """Make the folder's entry durable: from here on the write may have happened whatever is raised."""
        try:
            _sync_folder(path.parent)
        except OSError as error:
            raise StoreUnavailable(
                f"the folder {self._root} could not be synced ({error.strerror}): the write may not last",
                url=self.url,
                key=self._key(path),
            ) from error

    def _refuse(self, verb: str, path: Path, error: OSError) -> NoReturn:
        """Raise for a call that changed nothing, for sure."""
        raise StoreUnavailable(
            f"could not {verb} in the folder {self._root}: {error.strerror or error}; nothing was changed; "
            "check that the folder exists, is writable and has space, or name another store",
            url=self.url,
            key=self._key(path),
            refused=True,
        ) from error

    def _key(self, path: Path) -> str:
        return path.relative_to(self._root).as_posix()


def _tag(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _write_all(descriptor: int, body: bytes) -> None:
    rest = memoryview(body)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _lock(descriptor: int, patience_s: float) -> bool:
    """Take the lock, or give up: death releases one, but a process that is stopped holds it for ever."""
    waited, step = 0.0, _LOCK_STEP_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if waited >= patience_s:
                return False
            threading.Event().wait(step)
            waited, step = waited + step, min(2 * step, 32 * _LOCK_STEP_S)
        else:
            return True


def _open_locked(folder: Path, random: Random) -> tuple[Path, int]:
    """A new file that only its writer can lock."""
    while True:
        path = folder / random.nonce()
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        if _try_lock(descriptor) and path.exists():
            return path, descriptor
        # Another process took it for abandoned between the two calls.
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _remove_if_abandoned(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if _try_lock(descriptor):
            path.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def _make_folder(folder: Path) -> None:
    """Make `folder` and what is missing above it, each entry synced."""
    if folder.is_dir():
        return
    if folder.parent != folder:
        _make_folder(folder.parent)
    try:
        folder.mkdir()
    except FileExistsError:
        if not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from None
        return
    _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
