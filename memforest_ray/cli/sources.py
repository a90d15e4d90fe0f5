"""What a bulk load reads: files, folders of files, and objects of a cloud store, one after the other."""

import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from memforest_ray.errors import InvalidInput, StoreUnavailable
from memforest_ray.storage.open import CLOUD_SCHEMES, open_store
from memforest_ray.storage.store import Missing, ObjectStore

__all__ = ["SUFFIXES", "Source", "find_sources", "settled"]

SUFFIXES = frozenset({".json", ".jsonl", ".ndjson", ".txt"})
"""Of the files that are taken from folders and buckets; a file that is named itself may have any."""


@dataclass(frozen=True, slots=True)
class Source:
    """One file of conversations, wherever it is."""

    name: str
    """As the operator knows it."""
    stem: str
    """Its path below what was named, without the suffix: what its users are called after."""
    path: Path | None = None
    store: ObjectStore | None = None
    key: str = ""

    @asynccontextmanager
    async def local(self) -> AsyncIterator[Path]:
        """The file on this machine for as long as it is read. Raises InvalidInput, StoreUnavailable."""
        if self.path is not None:
            yield self.path
            return
        assert self.store is not None
        try:
            stored = await self.store.get(self.key)
        except Missing as error:
            raise InvalidInput(f"{self.name} is not there; it was left out") from error
        with tempfile.TemporaryDirectory() as folder:
            # Under its own name: sessions without an id are named after the file.
            path = Path(folder) / PurePosixPath(self.key).name
            path.write_bytes(stored.body)
            yield path


async def find_sources(paths: Sequence[str]) -> list[Source]:
    """The files that `paths` name, in order: files, all below folders, all below an address of a cloud store.

    Raises InvalidInput for a path that names nothing, StoreUnavailable.
    """
    found: list[Source] = []
    for path in paths:
        scheme, separator, _ = path.partition("://")
        more = await _objects(path) if separator and scheme in CLOUD_SCHEMES else _files(path)
        if not more:
            raise InvalidInput(f"{path} holds no file to load ({', '.join(sorted(SUFFIXES))}); nothing was done")
        found.extend(more)
    return found


def settled(path: str) -> str:
    """What `path` names, written in one way: `chats`, `chats/` and `./chats` are one folder."""
    if "://" in path:
        return path.rstrip("/")
    return str(Path(path).expanduser().absolute())


def _files(given: str) -> list[Source]:
    path = Path(given).expanduser()
    if path.is_dir():
        inner = sorted(each for each in path.rglob("*") if each.is_file() and _taken(each.relative_to(path)))
        return [Source(str(each), _stem(each.relative_to(path)), each) for each in inner]
    if not path.is_file():
        raise InvalidInput(f"{given} is neither a file nor a folder; nothing was done")
    return [Source(given, path.stem, path)]


async def _objects(url: str) -> list[Source]:
    address = PurePosixPath(url.partition("://")[2])
    if address.suffix in SUFFIXES and len(address.parts) > 1:
        store = open_store(url.rstrip("/").rpartition("/")[0])
        return [Source(url, address.stem, store=store, key=address.name)]
    store = open_store(url)
    try:
        keys = [key async for key in store.list("")]
    except StoreUnavailable as error:
        raise StoreUnavailable(f"{url} cannot be listed ({error.message}); nothing was done") from error
    base = url.rstrip("/")
    taken = [PurePosixPath(key) for key in keys if _taken(PurePosixPath(key))]
    return [Source(f"{base}/{key}", _stem(key), store=store, key=str(key)) for key in taken]


def _taken(path: PurePosixPath | Path) -> bool:
    return path.suffix in SUFFIXES and not any(part.startswith(".") for part in path.parts)


def _stem(path: PurePosixPath | Path) -> str:
    return path.with_suffix("").as_posix()
