"""A forest as one portable file, and back: between stores, users and embedders. No pickle in it.

The file is one framed object (`commit/frames.py`), kind and key `export`. Head: version, fingerprint, birth. Body: zstd
over msgpack {table: {key: row}}, every table of the log but those that belong to the store they were made in.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memforest_ray.ambient import Clock, Random
from memforest_ray.commit.changes import VECTORS, Changes
from memforest_ray.commit.frames import corrupt, off_loop, pack, seal, shaped, unpack, unseal
from memforest_ray.commit.loaded import load
from memforest_ray.commit.log import CommitLog
from memforest_ray.commit.version import Birth, Tables, Version
from memforest_ray.errors import InvalidInput, NotFound
from memforest_ray.forest.checking import findings
from memforest_ray.forest.embedding import embedding_texts
from memforest_ray.ids import OpId, UserId
from memforest_ray.index.index import Index
from memforest_ray.models.embedder import Embedder
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.open import probe
from memforest_ray.storage.store import ObjectStore
from memforest_ray.trees.scenes import Thresholds

__all__ = ["EXPORT", "Imported", "export_forest", "import_forest"]

EXPORT = "export"
"""The kind of the file, and what a `CorruptState` about it calls it (`detail["key"]`): it has no key in a store."""
_LOCAL = ("operations", "copies", "journal")
"""Tables that belong to the store they were made in."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import has written."""

    version: int
    sessions: int
    facts: int
    embedded: int
    """Vectors that were made anew, since another embedder had made those in the file."""


async def export_forest(store: ObjectStore, user: UserId) -> bytes:
    """All of a user's forest but its snapshots, as of its newest version. Raises NotFound, CorruptState."""
    loaded = await load(store, UserKeys.of(user))
    if loaded.manifest is None or loaded.manifest.state == "deleted" or not loaded.tables:
        raise NotFound("there is no such user, or nothing is remembered of him; nothing was written")
    tables = {name: rows for name, rows in loaded.tables.items() if name not in _LOCAL and rows}
    head = {
        "version": loaded.version,
        "fingerprint": dict(loaded.manifest.fingerprint),
        "birth": dict(loaded.manifest.birth),
    }
    size = sum(map(len, tables.get(VECTORS, {}).values()))
    return seal(EXPORT, EXPORT, head, await off_loop(2 * size, pack, tables))


async def import_forest(
    raw: bytes, store: ObjectStore, user: UserId, embedder: Embedder, clock: Clock, random: Random
) -> Imported:
    """Make the forest of an exported file that of `user`, who must have none: one commit, or nothing.

    Text and structure are taken as they are; vectors are made anew where another embedder made them.

    Raises:
        CorruptState: the file is damaged, not an export, or from the future.
        InvalidInput: the user has a memory already.
    """
    head, tables = await off_loop(2 * len(raw), _opened, raw)
    fingerprint = {"model": embedder.fingerprint.model, "dimension": embedder.fingerprint.dimension}
    dimension = int(head["fingerprint"]["dimension"])
    version = _checked(tables, head, dimension)
    embedded = 0
    if head["fingerprint"] != fingerprint:
        tables[VECTORS] = await _embedded(version, embedder)
        embedded = len(tables[VECTORS])
    await probe(store, random)
    number = await _commit(tables, CommitLog(store, user, clock, random), head["birth"], fingerprint, random)
    return Imported(number, len(version.sessions), len(version.facts), embedded)


def _opened(raw: bytes) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    frame = unseal(raw, EXPORT, EXPORT)
    tables = unpack(frame.body, EXPORT)
    with shaped(EXPORT):
        head = {"fingerprint": dict(frame.head["fingerprint"]), "birth": dict(frame.head["birth"])}
        return head, {str(name): dict(rows) for name, rows in tables.items()}


def _checked(tables: Tables, head: Mapping[str, Any], dimension: int) -> Version:
    """The version in the file. Raises CorruptState when it is not one, or does not fit together."""
    thresholds = Thresholds(assign=1.0, spawn=0.0, merge=1.0)  # nothing is placed here
    version = Version.load(tables, 1, Birth.of(head["birth"]), thresholds, Index(dimension))
    if wrong := findings(version, tables, dimension):
        raise corrupt(EXPORT, wrong[0])
    return version


async def _embedded(version: Version, embedder: Embedder) -> dict[str, bytes]:
    """Vectors of everything that has one, by id; each distinct text is embedded once."""
    texts = embedding_texts(version)
    distinct = list(dict.fromkeys(texts.values()))
    rows = dict(zip(distinct, await embedder.embed(distinct), strict=True)) if distinct else {}
    return {name: rows[text].tobytes() for name, text in texts.items()}


async def _commit(
    tables: Tables, log: CommitLog, birth: Mapping[str, Any], fingerprint: Mapping[str, Any], random: Random
) -> int:
    loaded = await log.read()
    if loaded.tables:
        raise InvalidInput("this user has a memory already; it was kept; name another user, or delete this one first")
    await log.claim(birth, fingerprint)
    if (await log.read()).tables:
        raise InvalidInput("another writer was faster, this user has a memory now; it was kept; name another user")
    changes = Changes(puts={name: dict(rows) for name, rows in tables.items()})
    number = await log.commit(changes, [OpId(random.nonce())])
    await log.close()
    return number
