"""A forest as one portable file, and back: between stores, users and embedders. No pickle in it.

The file is one framed object (`commit/frames.py`), kind and key `export`. Head: version, fingerprint, birth. Body: zstd
over msgpack {table: {key: row}}, every table of the log but those that belong to the store they were made in.
"""

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from memforest_ray.ambient import Clock, Random
from memforest_ray.commit.changes import VECTORS, Changes
from memforest_ray.commit.frames import corrupt, off_loop, pack, seal, shaped, unpack, unseal
from memforest_ray.commit.loaded import Loaded, load
from memforest_ray.commit.log import CommitLog, Reload
from memforest_ray.commit.manifest import LENT
from memforest_ray.commit.version import Birth, Tables, Version
from memforest_ray.errors import Fenced, InvalidInput, NotFound, StoreUnavailable
from memforest_ray.forest.checking import findings
from memforest_ray.forest.embedding import embedding_texts
from memforest_ray.forest.reports import Report
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
_TRIES_MAX = 8
"""Of a commit that another owner was faster than."""


@dataclass(frozen=True, slots=True)
class Imported(Report):
    """What an import has written."""

    version: int
    sessions: int
    facts: int
    embedded: int
    """Vectors that were made anew, since another embedder had made those in the file."""
    duplicate: bool = False
    """Whether this memory was made of the same file already, and nothing was written now."""


async def export_forest(store: ObjectStore, user: UserId) -> bytes:
    """All of a user's forest but its snapshots, as of its newest version. Raises NotFound, CorruptState."""
    loaded = await load(store, UserKeys.of(user))
    if loaded.manifest is None or loaded.manifest.state == "deleted" or not loaded.tables:
        raise NotFound.memory(user)
    tables = {name: rows for name, rows in loaded.tables.items() if name not in _LOCAL and rows}
    head = {
        "version": loaded.version,
        "fingerprint": dict(loaded.manifest.fingerprint),
        "birth": {name: each for name, each in loaded.manifest.birth.items() if name != LENT},
    }
    size = sum(map(len, tables.get(VECTORS, {}).values()))
    return seal(EXPORT, EXPORT, head, await off_loop(2 * size, pack, tables))


async def import_forest(
    raw: bytes, store: ObjectStore, user: UserId, embedder: Embedder, clock: Clock, random: Random
) -> Imported:
    """Make the forest of an exported file that of `user`, who must have none: one commit, or nothing.

    Text and structure are taken as they are; vectors are made anew where another embedder made them. The same file
    again, after whatever became of the first try, is done once: the memory that it has become is told, and kept.

    Raises:
        CorruptState: the file is damaged, not an export, or from the future.
        InvalidInput: the user has a memory already.
        Fenced: others keep claiming it; nothing was imported.
    """
    head, tables = await off_loop(2 * len(raw), _opened, raw)
    log = CommitLog(store, user, clock, random)
    operation = OpId(hashlib.sha256(raw).hexdigest()[:32])
    if (told := _told(user, await log.read(), operation)) is not None:  # before anything is embedded
        return told
    fingerprint = {"model": embedder.fingerprint.model, "dimension": embedder.fingerprint.dimension}
    dimension = int(head["fingerprint"]["dimension"])
    version = _checked(tables, head, dimension)
    embedded = 0
    if head["fingerprint"] != fingerprint:
        tables[VECTORS] = await _embedded(version, embedder)
        embedded = len(tables[VECTORS])
    await probe(store, random)
    done = Imported(0, len(version.sessions), len(version.facts), embedded)
    for left in reversed(range(_TRIES_MAX)):
        try:
            return await _commit(user, tables, log, operation, done, head["birth"], fingerprint)
        except (Fenced, Reload):  # another writer was faster: what that one has written decides
            if not left:
                break
    raise Fenced("other owners keep taking over this memory; nothing was imported; call again")


def _told(user: UserId, loaded: Loaded, operation: OpId) -> Imported | None:
    """What this import was told, if it is done already. Raises InvalidInput where another memory stands."""
    if not loaded.tables:
        return None
    row = loaded.tables.get("operations", {}).get(operation)
    if row is None:
        raise InvalidInput(
            f"user {user!r} has a memory already; it was kept; name another user, or delete that memory first"
        )
    told = Imported.from_json({name: value for name, value in row.items() if name != "kind"})
    return replace(told, duplicate=True)


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
    user: UserId,
    tables: Tables,
    log: CommitLog,
    operation: OpId,
    done: Imported,
    birth: Mapping[str, Any],
    fingerprint: Mapping[str, Any],
) -> Imported:
    if (told := _told(user, await log.read(), operation)) is not None:
        return told
    await log.claim(birth, fingerprint)
    if (told := _told(user, await log.read(), operation)) is not None:
        return told
    if log.erasing:  # the life before was deleted, and that was cut off
        await log.erase()
    done = replace(done, version=log.version + 1)
    changes = Changes(puts={name: dict(rows) for name, rows in tables.items()})
    changes.put("operations", operation, {"kind": "imported", **done.to_json()})
    await log.commit(changes, [operation])
    with suppress(Fenced, StoreUnavailable):  # it stands; without a checkpoint the next opening takes longer
        await log.close()
    return done
