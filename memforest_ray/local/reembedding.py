"""Moves a forest to another embedder: vectors are made beside it, then all of them change at once.

Until then nothing is claimed or written, so whoever has the old embedder reads and writes on; then the manifest, in one
change, lists rows with the new vectors under the new fingerprint, snapshots included.
"""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from memforest_ray.ambient import Clock, Random
from memforest_ray.commit.changes import VECTORS, Changes
from memforest_ray.commit.loaded import Loaded
from memforest_ray.commit.log import CommitLog, Reload
from memforest_ray.commit.manifest import Manifest
from memforest_ray.commit.version import Birth, Tables, Version
from memforest_ray.errors import Fenced, NotFound, StoreUnavailable
from memforest_ray.forest.embedding import embedding_texts
from memforest_ray.forest.errands import Reembedded
from memforest_ray.ids import OpId, UserId
from memforest_ray.index.index import Index
from memforest_ray.models.embedder import Embedder
from memforest_ray.storage.open import probe
from memforest_ray.storage.store import ObjectStore
from memforest_ray.trees.scenes import Thresholds

__all__ = ["reembed_forest"]

_ROUNDS_MAX = 8
"""Times that it looks for what was written meanwhile before it claims all the same: the rest is then made under the
claim."""
_CLAIMS_MAX = 8
_TEXTS_AT_ONCE = 512
_THRESHOLDS = Thresholds(assign=1.0, spawn=0.0, merge=1.0)
"""They decide where new facts go; nothing is placed here."""


async def reembed_forest(
    store: ObjectStore, user: UserId, embedder: Embedder, op_id: OpId, clock: Clock, random: Random
) -> Reembedded:
    """Give the memory of `user` the vectors of `embedder`. Done once under an operation id.

    Raises NotFound, CorruptState, StoreUnavailable, Fenced (others keep claiming it).
    """
    move = _Move(user, CommitLog(store, user, clock, random), embedder, op_id)
    loaded = await move.known()
    if (told := move.told(loaded)) is not None:
        return told
    await probe(store, random)
    for _ in range(_CLAIMS_MAX):
        manifest = move.manifest(loaded)
        try:
            await move.log.claim(manifest.birth, manifest.fingerprint)
        except (Reload, Fenced):
            loaded = await move.known()
            if (told := move.told(loaded)) is not None:
                return told
            continue
        return await move.finish()
    raise Fenced("other owners keep taking over this memory; its vectors are unchanged; make the same call again")


class _Move:
    """One move under way."""

    def __init__(self, user: UserId, log: CommitLog, embedder: Embedder, op_id: OpId) -> None:
        self._user = user
        self.log = log
        self._embedder = embedder
        self._op_id = op_id
        self._rows: dict[str, bytes] = {}
        """By text."""

    async def known(self) -> Loaded:
        """The newest rows, when nearly all of their texts have vectors."""
        loaded = await self.log.read()
        for _ in range(_ROUNDS_MAX):
            if self.told(loaded) is not None or not await self._embed(await self._texts(loaded)):
                break
            loaded = await self.log.read()
        return loaded

    def manifest(self, loaded: Loaded) -> Manifest:
        """The manifest of these rows. Raises NotFound."""
        if loaded.manifest is None or loaded.manifest.state == "deleted" or not loaded.tables:
            raise NotFound.memory(self._user)
        return loaded.manifest

    def told(self, loaded: Loaded) -> Reembedded | None:
        """The answer, if it is done already, or if there is nothing to do. Raises NotFound."""
        manifest = self.manifest(loaded)
        row = loaded.tables.get("operations", {}).get(self._op_id)
        if row is not None and row["kind"] == "reembedded":
            return Reembedded.from_json({name: value for name, value in row.items() if name != "kind"})
        ours = self._fingerprint
        if all(manifest.fingerprint.get(name) == value for name, value in ours.items()):
            return Reembedded(loaded.version, self._op_id, ours["model"], ours["dimension"], duplicate=True)
        return None

    async def finish(self) -> Reembedded:
        """The one change; the forest is ours. An erasure that is open stays so: the next who writes finishes it, who
        can make of each snapshot what it is without the text; dropping rows would not do.
        """
        try:
            loaded = await self.log.read()
            texts = await self._texts(loaded)
            done = Reembedded(
                self.log.version,
                self._op_id,
                self._fingerprint["model"],
                self._fingerprint["dimension"],
                vectors=len(texts),
                snapshots=len(self.manifest(loaded).saved),
            )

            async def rewrite(shown: Loaded) -> Changes:
                changes = await self._changes(shown)
                if shown.version == done.version:
                    changes.put("operations", self._op_id, {"kind": "reembedded", **done.to_json()})
                return changes

            await self.log.refit(self._fingerprint, rewrite)
            return done
        finally:
            with suppress(Fenced, StoreUnavailable):  # what was done stands, and what failed before is what is told
                await self.log.close()

    @property
    def _fingerprint(self) -> dict[str, Any]:
        fingerprint = self._embedder.fingerprint
        return {"model": fingerprint.model, "dimension": fingerprint.dimension}

    async def _changes(self, shown: Loaded) -> Changes:
        """All vectors of these rows anew."""
        texts = await self._texts(shown)
        await self._embed(texts)
        stored = shown.tables.get(VECTORS, {})
        changes = Changes(puts={VECTORS: {name: self._rows[text] for name, text in texts.items()}})
        for name in stored.keys() - texts.keys():
            changes.drop(VECTORS, name)
        return changes

    async def _texts(self, shown: Loaded) -> dict[str, str]:
        manifest = self.manifest(shown)
        return await asyncio.to_thread(_texts_of, shown.tables, shown.version, manifest)

    async def _embed(self, texts: dict[str, str]) -> int:
        """Make what is missing; how many that were."""
        missing = [text for text in dict.fromkeys(texts.values()) if text not in self._rows]
        for part in _chunks(missing):
            rows = await self._embedder.embed(part)
            self._rows.update((text, row.tobytes()) for text, row in zip(part, rows, strict=True))
        return len(missing)


def _texts_of(tables: Tables, number: int, manifest: Manifest) -> dict[str, str]:
    version = Version.load(
        tables, number, Birth.of(manifest.birth), _THRESHOLDS, Index(int(manifest.fingerprint["dimension"]))
    )
    return embedding_texts(version, tables.get(VECTORS, {}))


def _chunks(texts: list[str]) -> Iterable[list[str]]:
    return (texts[start : start + _TEXTS_AT_ONCE] for start in range(0, len(texts), _TEXTS_AT_ONCE))
