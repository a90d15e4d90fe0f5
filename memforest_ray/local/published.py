"""What is published of one forest: the newest version known here, its index, and the log that both come from."""

import asyncio
import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from memforest_ray.ambient import Clock, Random
from memforest_ray.commit.changes import Changes
from memforest_ray.commit.loaded import Loaded
from memforest_ray.commit.log import CommitLog, Reload
from memforest_ray.commit.manifest import check_fingerprint
from memforest_ray.commit.snapshots import Rewrite
from memforest_ray.commit.version import Birth, Version
from memforest_ray.config import Settings
from memforest_ray.errors import Fenced, NotFound
from memforest_ray.forest import snapshots
from memforest_ray.forest.intents import Deleted, DeleteSnapshot, Save, Saved
from memforest_ray.forest.work import Written
from memforest_ray.ids import OpId, UserId
from memforest_ray.index.index import Index, IndexView
from memforest_ray.local.effects import Models, run
from memforest_ray.storage.open import probe
from memforest_ray.storage.store import ObjectStore
from memforest_ray.trees.scenes import Thresholds

__all__ = ["Past", "Published"]


@dataclass(frozen=True, slots=True)
class Past:
    """A snapshot, opened to become the present."""

    version: Version
    index: Index
    rows: Changes
    """What makes the tables those of the snapshot, but for `snapshots.KEPT`."""


class Published:
    """Read from the store when it is first needed, replaced whole by each commit. One writer, any number of readers."""

    def __init__(
        self,
        user: UserId,
        store: ObjectStore,
        models: Models,
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
        self._models = models
        self._fingerprint = models.embedder.fingerprint
        self._index = Index(self._fingerprint.dimension)
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
        self._version, self._index = await self._built(loaded, self._random.nonce())
        self._read_at = started
        self._behind = False

    async def _built(self, loaded: Loaded, secret: str) -> tuple[Version, Index]:
        """The version that was read, with an index of its own; `secret` is for one that has none yet."""
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
            version = Version.empty(birth, secret, thresholds, index.view())
            version = replace(version, number=loaded.version)
        return version, index

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
        async with self._changing:
            await self._claimed()
            if self.log.owned and self.log.erasing:
                await self._erase()
            return self.log.owned and self._version is version and not self._behind

    async def _claimed(self) -> None:
        """Claim the forest unless it is ours; it is not yet when it had to be read anew."""
        if self.fenced:
            raise Fenced("another owner has taken over this memory; nothing was written; open it again")
        if self.log.owned:
            return
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

    async def land(
        self,
        written: Written,
        operations: Sequence[OpId],
        *,
        including_snapshots: bool = False,
        index: Index | None = None,
    ) -> None:
        """Make it durable, then publish it; then, if it forgets something, erase. `index`: in place of the present one.

        Raises Fenced, StoreUnavailable, OutcomeUnknown, InvalidInput when a snapshot holds what is forgotten (see
        `CommitLog.commit`). When an erasure fails the version is published, and the erasure stays open: `own` takes
        it up.
        """
        async with self._changing:
            opens = operations[:1] if written.erases else ()
            await self.log.commit(
                written.changes,
                operations,
                opens=opens,
                including_snapshots=including_snapshots,
                rewrite=self._forgetting(written.version),
            )
            # From here on the store holds it. Should publishing it fail, the next writer reads it from there.
            self._behind = True
            self._index = self._index if index is None else index
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
        erased = await self.log.erase(self._forgetting(self._known()))
        self._version = replace(self._known(), number=erased.version)

    # ---- snapshots ---------------------------------------------------------------------------------------

    def _forgetting(self, now: Version) -> Rewrite:
        """How a snapshot forgets what `now` has forgotten: asked for no intent, so anybody can go on with it."""

        async def rewrite(loaded: Loaded) -> Changes:
            if not await asyncio.to_thread(snapshots.holds_forgotten, loaded.tables, now):
                return Changes()
            then, _ = await self._built(loaded, now.secret)
            steps = snapshots.forgotten_again(then, now, self._models.summarizer.model)
            return (await run(steps, self._models, {})).changes

        return rewrite

    async def save(self, write: Save) -> Saved:
        """Keep the present state; the forest is ours. Raises InvalidInput (see `CommitLog.save`)."""
        async with self._changing:
            kept = await self.log.save(write.name, replace=write.replacing, operation=write.op_id)
            self._renumber()
            return Saved(kept.version, write.op_id, kept.name)

    async def expect(self, name: str) -> None:
        """Raises NotFound when there is no snapshot of that name; claims nothing."""
        if all(kept.name != name for kept in await self.log.snapshots()):
            raise NotFound(f"There is no snapshot {name!r}; nothing was changed.", name=name)

    async def past(self, name: str) -> Past:
        """A snapshot of a forest that is ours. Raises NotFound, CorruptState, EmbeddingMismatch."""
        loaded = await self.log.read_snapshot(name)
        rows = await self.log.restore(name, kept=snapshots.KEPT)
        version, index = await self._built(loaded, self._known().secret)
        return Past(version, index, rows)

    async def delete_snapshot(self, write: DeleteSnapshot) -> Deleted | None:
        """Remove a snapshot; None when the forest could not be claimed yet. Raises NotFound.

        An open erasure is not finished first: a snapshot that is damaged may be what stands in its way.
        """
        async with self._changing:
            await self._claimed()
            if not self.log.owned:
                return None
            await self.log.delete_snapshot(write.name)
            self._renumber()
            return Deleted(self._known().number, write.op_id, write.name)

    def _renumber(self) -> None:
        """A claim takes a number without changing anything: the state is the same under it."""
        self._version = replace(self._known(), number=self.log.version)


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
