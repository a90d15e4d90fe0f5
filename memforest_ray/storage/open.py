"""From the address of a store to the store, and the proof that it keeps its conditions."""

import re
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import NoReturn
from urllib.parse import unquote

from memforest_ray.ambient import Random
from memforest_ray.errors import InvalidInput, StoreUnavailable
from memforest_ray.storage.disk import DiskStore
from memforest_ray.storage.keys import PROBES
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.storage.store import AlreadyExists, ObjectStore, Precondition

__all__ = ["CLOUD_SCHEMES", "open_store", "probe"]

CLOUD_SCHEMES = ("s3", "gs", "az")
_KNOWN = "a folder, file://, memory://, " + ", ".join(f"{scheme}://" for scheme in CLOUD_SCHEMES)

_PROBES_MAX = 4
"""Tries of a probe: a store under load may answer any conditional write with a conflict."""

_memories: dict[str, MemoryStore] = {}


def open_store(url: str) -> ObjectStore:
    """The store at `url`: a path, `file:///absolute`, `file://relative`, `memory://name`, `s3://`, `gs://`, `az://`.

    Opens no connection and writes nothing. `memory://name` is one store per name within the process;
    `~` is the home folder.

    Raises:
        InvalidInput: the address names no store that we know.
    """
    scheme, separator, rest = url.partition("://")
    if not separator:
        return _folder(url, url)
    match scheme.lower():
        case "file":
            return _folder(unquote(rest), url)
        case "memory":
            return _memories.setdefault(rest, MemoryStore(rest))
        case scheme if scheme in CLOUD_SCHEMES:
            return _cloud(f"{scheme}://{rest}")
        case unknown:
            # Not the whole address: it may hold a password.
            raise InvalidInput(f"{unknown!r} is not a kind of store; known are {_KNOWN}", scheme=unknown)


def _folder(path: str, url: str) -> ObjectStore:
    # "s3:/bucket" is a slip of the hand, not a folder.
    if not path.strip() or "\0" in path or re.match(r"[a-z0-9]{2,}:/?[^/]", path):
        raise InvalidInput(f"{url!r} is not the address of a store; known are {_KNOWN}", url=url)
    return DiskStore(Path(path))


def _cloud(url: str) -> ObjectStore:
    # Imported here: obstore is a large library, and most programs never leave their own disk.
    from memforest_ray.storage.cloud import CloudStore  # noqa: PLC0415

    return CloudStore.from_url(url)


async def probe(store: ObjectStore, random: Random) -> None:
    """Try whether `store` keeps the conditions that safety rests on; leaves nothing behind.

    Writes one small object and removes it: not for a store that is only read.

    Raises:
        StoreUnavailable: the store cannot be written, or ignores a condition and would lose writes.
    """
    for _ in range(_PROBES_MAX):
        key = f"{PROBES}{random.nonce()}"
        removal: AbstractContextManager[None] = suppress(StoreUnavailable)  # what failed first is what is to be told
        try:
            await _try_conditions(store, key)
            removal = nullcontext()
        except (AlreadyExists, Precondition) as error:
            # Under a fresh name nothing can stand in the way: a conflict in which nothing landed, or our own retry.
            conflict = error
        else:
            return
        finally:
            with removal:
                await store.delete(key)
    raise StoreUnavailable(
        f"the store {store.url} refused {_PROBES_MAX} writes without a conflict; nothing was changed; "
        "make the same call again",
        url=store.url,
        refused=True,
    ) from conflict


async def _try_conditions(store: ObjectStore, key: str) -> None:
    first = await store.create(key, b"1")
    try:
        await store.create(key, b"2")
    except AlreadyExists:
        pass
    else:
        _unfit(store, "it created an object twice")
    second = await store.swap(key, b"3", first)
    try:
        await store.swap(key, b"4", first)
    except Precondition:
        pass
    else:
        _unfit(store, "it replaced an object under a stale tag")
    held = await store.get(key)
    if held.body != b"3" or held.tag != second:
        _unfit(store, "it did not return what was last written")


def _unfit(store: ObjectStore, what: str) -> NoReturn:
    raise StoreUnavailable(
        f"the store {store.url} cannot be used: {what}, so two writers could overwrite each other; "
        "nothing was changed; name a store with working conditional writes",
        url=store.url,
        refused=True,
    )
