"""Examines one forest in its store: every checksum, then every reference. Claims nothing and writes nothing."""

from dataclasses import dataclass, field

from memforest_ray.commit.loaded import load
from memforest_ray.commit.manifest import Manifest
from memforest_ray.commit.snapshots import read_snapshot
from memforest_ray.commit.version import Birth, Tables, Version
from memforest_ray.errors import NotFound
from memforest_ray.forest.checking import findings
from memforest_ray.ids import UserId
from memforest_ray.index.index import Index
from memforest_ray.local.derived import NO_THRESHOLDS, Derived, derived_of
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.store import ObjectStore

__all__ = ["Examination", "examine"]


@dataclass(frozen=True, slots=True)
class Examination:
    """What was looked at, and what is wrong with it."""

    version: int
    objects: int
    """Parts, log slots and snapshots whose checksums hold, and the manifest."""
    findings: tuple[str, ...]
    derived: Derived = field(default_factory=Derived)

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings


async def examine(store: ObjectStore, user: UserId) -> Examination:
    """All of a user's forest, its snapshots included.

    Raises:
        CorruptState: an object is damaged, missing, foreign or from the future; it is named.
        NotFound: there is no such user.
    """
    keys = UserKeys.of(user)
    loaded = await load(store, keys)
    manifest = loaded.manifest
    if manifest is None or manifest.state == "deleted":
        raise NotFound.memory(user)
    index = Index(int(manifest.fingerprint["dimension"]))
    found = _wrong(loaded.tables, loaded.version, manifest, index)
    for saved in manifest.saved:
        then = await read_snapshot(store, keys, saved.name)
        found += [
            f"snapshot {saved.name!r}: {what}"
            for what in _wrong(then.tables, then.version, manifest, Index(index.dimension))
        ]
    objects = 1 + len(manifest.parts) + len(loaded.tail) + len(manifest.saved)
    return Examination(loaded.version, objects, tuple(found), await derived_of(store, keys, index))


def _wrong(tables: Tables, number: int, manifest: Manifest, index: Index) -> list[str]:
    if not any(tables.values()):
        return []
    version = Version.load(tables, number, Birth.of(manifest.birth), NO_THRESHOLDS, index)
    return findings(version, tables, index.dimension)
