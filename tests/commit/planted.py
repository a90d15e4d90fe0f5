"""Bugs on purpose: would a simulation see them?"""

from memforest_ray.commit import loaded
from memforest_ray.commit.garbage import RETENTION_MS
from memforest_ray.commit.loaded import Loaded, read_manifest
from memforest_ray.commit.manifest import Retired
from memforest_ray.errors import CorruptState
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.store import ObjectStore

__all__ = ["load_once", "old"]


async def load_once(store: ObjectStore, keys: UserKeys) -> Loaded:
    """For `loaded.load`: without the second look at the manifest."""
    held = await read_manifest(store, keys)
    if held is None:
        return Loaded({}, 0, None)
    outcome = await loaded._load_under(store, keys, held.manifest)
    if isinstance(outcome, CorruptState):
        raise outcome
    return outcome


def old(retired: tuple[Retired, ...], now_ms: int) -> set[Retired]:
    """For `garbage._due`: retired objects whose age, and not whose retirement, is over a day."""
    return {entry for entry in retired if "/wal/" not in entry.key and _born_ms(entry.key) + RETENTION_MS <= now_ms}


def _born_ms(key: str) -> int:
    """When a part was written stands in its name."""
    return int(key.rpartition("-")[2][:12], 16)
