"""What is published of one forest: the newest version known here, its index, and the log that both come from."""

import asyncio
import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from memforest_ray.ambient import Clock, Random
from memforest_ray.commit.log import CommitLog, Reload
from memforest_ray.commit.manifest import check_fingerprint
from memforest_ray.commit.version import Birth, Version
from memforest_ray.config import Settings
from memforest_ray.errors import Fenced
from memforest_ray.forest.work import Written
from memforest_ray.ids import OpId, UserId
from memforest_ray.index.index import Index, IndexView
from memforest_ray.models.embedder import Fingerprint
from memforest_ray.storage.open import probe
from memforest_ray.storage.store import ObjectStore
from memforest_ray.trees.scenes import Thresholds

__all__ = ["Published"]


class Published:
    """Read from the store when it is first needed, replaced whole by each commit. One writer, any number of readers."""

    def __init__(
        self,
        user: UserId,
        store: ObjectStore,
        fingerprint: Fingerprint,
        settings: Settings,
        clock: Clock,
        random: Random,
    ) -> None:
        self.log = CommitLog(
            store,
            user,
            clock,
            random,
            checkpoint_commits=settings.checkpoint_commits,
            checkpoint_bytes=settings.checkpoint_bytes,
            prove_after_s=settings.prove_after_s,
        )
        self.fenced = False
        """Another owner has taken over: this is of no more use."""
        self._store = store
        self._settings = settings
        self._clock = clock
        self._random = random
        self._fingerprint = fingerprint
        self._index = Index(fingerprint.dimension)
        self._version: Version | None = None
        self._read_at = 0.0
        # Held by whoever replaces the version; readers of a version that is there do not wait for it.
        self._changing = asyncio.Lock()
        self._behind = False
        self._probed = False

    # ---- reading -----------------------------------------------------------------------------------------

    async def opened(self) -> Version:
        """The version known here. Raises CorruptState, EmbeddingMismatch, StoreUnavailable."""
        if self._version is None:
            async with self._changing:
                if self._version is None:
                    await self._load()
        return self._known()

    async def fresh(self, seen: int, within_s: float) -> Version:
        """The version known here, proven to be the newest within `within_s` seconds, and to hold version `seen`.

        Raises:
            Fenced: another owner has taken over.
        """
        version = await self.opened()
        if self.log.owned:
            await self.log.prove(0.0 if seen > version.number else within_s)
        elif self._outdated(seen, within_s):
            async with self._changing:
                # Of many readers that waited here the first has read for all.
                if not self.log.owned and self._outdated(seen, within_s):
                    await self._catch_up()
        return self._known()

    async def newest(self) -> Version:
        """What a writer builds on: without a claim nothing else tells it of what others have written."""
        if self._behind:
            async with self._changing:
                await self._load()
        return await self.fresh(0, self._settings.fresh_s if self.log.owned else 0.0)

    def _known(self) -> Version:
        assert self._version is not None
        return self._version

    def _outdated(self, seen: int, within_s: float) -> bool:
        return seen > self._known().number or self._clock.elapsed() - self._read_at >= within_s

    async def _catch_up(self) -> None:
        started = self._clock.elapsed()
        if await self.log.moved():
            await self._load()
        self._read_at = started

    async def _load(self) -> None:
        """The newest version from the store, with a new index."""
        started = self._clock.elapsed()
        loaded = await self.log.read()
        birth = Birth.of(self._settings.birth)
        if loaded.manifest is not None and loaded.manifest.state != "deleted":
            check_fingerprint(loaded.manifest, self._fingerprint_row)
            birth = Birth.of(loaded.manifest.birth)
        index = Index(self._fingerprint.dimension)
        thresholds = Thresholds.of(self._fingerprint)
        if loaded.tables:
            with _collection_paused():
                version = await asyncio.to_thread(Version.load, loaded.tables, loaded.version, birth, thresholds, index)
        else:
            version = Version.empty(birth, self._random.nonce(), thresholds, index.view())
            version = replace(version, number=loaded.version)
        self._index, self._version, self._read_at = index, version, started
        self._behind = False

    @property
    def _fingerprint_row(self) -> dict[str, Any]:
        """What a manifest keeps of the embedder: what must not change unnoticed."""
        return {"model": self._fingerprint.model, "dimension": self._fingerprint.dimension}

    # ---- writing -----------------------------------------------------------------------------------------

    async def own(self, version: Version) -> bool:
        """Make sure that the forest is ours, and whether `version` is still what is to be built on.

        Finishes erasures that were begun and not finished: nothing may be acknowledged before. Raises Fenced,
        EmbeddingMismatch, StoreUnavailable, CorruptState.
        """
        if self.fenced:
            raise Fenced("another owner has taken over this memory; nothing was written; open it again")
        async with self._changing:
            if not self.log.owned:
                await self._claim()
            if self.log.owned and self.log.erasing:
                await self._erase()
            return self.log.owned and self._version is version and not self._behind

    async def _claim(self) -> None:
        if not self._probed:
            await probe(self._store, self._random)
            self._probed = True
        try:
            others = await self.log.claim(self._settings.birth, self._fingerprint_row)
        except Reload:
            await self._load()
            return
        if others:
            await self._load()

    async def land(self, written: Written, operations: Sequence[OpId]) -> None:
        """Make it durable, then publish it; then, if it forgets something, erase.

        Raises Fenced, StoreUnavailable, OutcomeUnknown (see `CommitLog.commit`). When an erasure fails the version
        is published, and the erasure stays open: `own` takes it up.
        """
        async with self._changing:
            opens = operations[:1] if written.erases else ()
            await self.log.commit(written.changes, operations, opens=opens)
            # From here on the store holds it. Should publishing it fail, the next writer reads it from there.
            self._behind = True
            view = await asyncio.to_thread(self._indexed, written)
            self._version = replace(written.version, index=view)
            self._behind = False
            if opens:
                await self._erase()

    def _indexed(self, written: Written) -> IndexView:
        view = self._index.apply(written.add, written.drop)
        # Dead rows keep words, vectors and names until a shelf is written anew: what was forgotten must not wait.
        return self._index.purge() if written.erases else view

    async def _erase(self) -> None:
        erased = await self.log.erase()
        self._version = replace(self._known(), number=erased.version)


@contextmanager
def _collection_paused() -> Iterator[None]:
    """Without the cyclic garbage collector: a load makes a million objects that stay, a third of its time is looking
    through them for garbage."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
