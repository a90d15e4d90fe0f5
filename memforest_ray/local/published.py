"""What is published of one forest: the newest version known here, its index, and the log that both come from."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from memforest_ray.ambient import Clock, Random
from memforest_ray.commit.building import undisturbed
from memforest_ray.commit.changes import Changes
from memforest_ray.commit.fencing import shut_out
from memforest_ray.commit.loaded import Loaded
from memforest_ray.commit.log import CommitLog, Reload
from memforest_ray.commit.manifest import check_fingerprint
from memforest_ray.commit.responses import Responses
from memforest_ray.commit.snapshots import Rewrite
from memforest_ray.commit.version import Birth, Version, load_sessions
from memforest_ray.config import Settings
from memforest_ray.errors import Fenced, InvalidInput, MemForestError, OutcomeUnknown, StoreUnavailable
from memforest_ray.forest import snapshots
from memforest_ray.forest.errands import LOAN_MS, Lend, Lent, Merge, Return, Returned
from memforest_ray.forest.intents import Deleted, DeleteSnapshot, Forget, Restore, Save, Saved
from memforest_ray.forest.work import Written
from memforest_ray.ids import OpId, UserId
from memforest_ray.index.graphs import Graph
from memforest_ray.index.index import Index, IndexView
from memforest_ray.index.neighbours import GraphRules
from memforest_ray.local.borrowing import Borrowed, check_unerased, read_borrowed, read_neighbour
from memforest_ray.local.effects import Models, run
from memforest_ray.local.graphs import GraphKeeper
from memforest_ray.local.past import OpenSnapshots
from memforest_ray.storage.keys import UserKeys
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
        self.snapshots = OpenSnapshots(self.log, self._built_past)
        self._fingerprint = models.embedder.fingerprint
        self._index = Index(self._fingerprint.dimension)
        self._version: Version | None = None
        self._read_at = 0.0
        # Held by whoever replaces the version; readers of a version that is there do not wait for it.
        self._changing = asyncio.Lock()
        self._since: float | None = None
        """When the write began that is under way: others may have read it, and been answered, before we are."""
        self._behind = False
        """The store holds more than the version here: it must be read before anything is said or built on it."""
        self._probed = False
        rules = GraphRules(settings.graph_rows_min, settings.forest_graph_rows_min)
        self.graphs = GraphKeeper(store, UserKeys.of(user), random, rules)
        self.responses = Responses(store, UserKeys.of(user), clock, random, lambda: self.epoch)

    # ---- reading -----------------------------------------------------------------------------------------

    async def opened(self) -> Version:
        """The version known here. Raises CorruptState, EmbeddingMismatch, StoreUnavailable."""
        if self._version is None:
            async with self._changing:
                if self._version is None:
                    await self._load()
        return self.known()

    async def fresh(self, seen: int, within_s: float) -> Version:
        """The version known here, proven to be the newest within `within_s` seconds, and to hold version `seen`.

        Raises:
            Fenced: another owner has taken over.
        """
        await self.opened()
        if self.log.owned and self._late(seen, within_s) and await self._landed():
            async with self._changing:
                pass  # it is there as soon as we are told
        if self._lags(seen, within_s):
            async with self._changing:
                # Of many readers that waited here the first has read for all; or the forest has become ours meanwhile.
                if self._behind:
                    await self._load()
                elif self._lags(seen, within_s):
                    await self._catch_up()
        if self.log.owned:
            await self.log.prove(0.0 if seen > self.known().number else within_s)
        return self.known()

    def _late(self, seen: int, within_s: float) -> bool:
        """Whether a write of ours may have been read by others for longer than `within_s`."""
        since = self._since
        return since is not None and (seen > self.known().number or self._clock.elapsed() - since >= within_s)

    async def _landed(self) -> bool:
        return self.log.version > self.known().number or await self.log.moved()

    async def check_refusal(self, refusal: MemForestError) -> None:
        """Make sure that a write is not refused by what was so before another owner came.

        Raises Fenced (open the forest again: it may have been done there), StoreUnavailable.
        """
        if self.log.owned and not isinstance(refusal, Fenced | OutcomeUnknown | StoreUnavailable):
            await self.log.prove()

    def _lags(self, seen: int, within_s: float) -> bool:
        """Whether the store has to be looked at: what we know of may be too old, and no claim says that it is not."""
        return self._behind or (not self.log.owned and self._outdated(seen, within_s))

    async def newest(self) -> Version:
        """What a writer builds on: without a claim nothing else tells it of what others have written."""
        return await self.fresh(0, self._settings.fresh_s if self.log.owned else 0.0)

    def known(self) -> Version:
        """The version known here; something was read already."""
        assert self._version is not None
        return self._version

    def _outdated(self, seen: int, within_s: float) -> bool:
        return seen > self.known().number or self._clock.elapsed() - self._read_at >= within_s

    async def _catch_up(self) -> None:
        started = self._clock.elapsed()
        if await self.log.moved():
            await self._load()
        self._read_at = started

    async def _load(self) -> None:
        """The newest version from the store, with a new index."""
        started = self._clock.elapsed()
        loaded = await self.log.read()
        # The log goes on from there, whether or not we get as far: should this end here, nobody may build on what was.
        self._behind = True
        self._version, self._index = await self._built(loaded, self._random.nonce())
        self._read_at = started
        self._behind = False
        self.graphs.wake(self)

    async def _built(self, loaded: Loaded, secret: str) -> tuple[Version, Index]:
        """The version that was read, with an index of its own; `secret` is for one that has none yet."""
        birth = Birth.of(self._settings.birth)
        if loaded.manifest is not None and loaded.manifest.state != "deleted":
            check_fingerprint(loaded.manifest, self._fingerprint_row)
            birth = Birth.of(loaded.manifest.birth)
        index = Index(self._fingerprint.dimension)
        thresholds = Thresholds.of(self._fingerprint)
        if loaded.tables:
            with undisturbed():
                version = await asyncio.to_thread(Version.load, loaded.tables, loaded.version, birth, thresholds, index)
        else:
            version = Version.empty(birth, secret, thresholds, index.view())
            version = replace(version, number=loaded.version)
        return version, index

    async def _built_past(self, loaded: Loaded) -> Version:
        version, _ = await self._built(loaded, self.known().secret)
        return version

    @property
    def _fingerprint_row(self) -> dict[str, Any]:
        """What a manifest keeps of the embedder: what must not change unnoticed."""
        return {"model": self._fingerprint.model, "dimension": self._fingerprint.dimension}

    # ---- writing -----------------------------------------------------------------------------------------

    @asynccontextmanager
    async def _writing(self) -> AsyncIterator[None]:
        async with self._changing:
            self._since = self._clock.elapsed()
            try:
                yield
            finally:
                self._since = None

    async def own(self, version: Version) -> bool:
        """Make sure that the forest is ours, and whether `version` is still what is to be built on.

        Finishes erasures that were begun and not finished: nothing may be acknowledged before. Raises Fenced,
        EmbeddingMismatch, StoreUnavailable, CorruptState.
        """
        async with self._writing():
            await self._claimed()
            if not self.log.owned or self._behind:
                return False
            current = self._version is version
            self._renumber()
            if self.log.erasing:
                await self._erase()
            return current

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
            # It is ours now, and without what others wrote: should reading that fail, nobody may build on the rest.
            self._behind = True
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
        async with self._writing():
            opens = operations[:1] if written.erases else ()
            await self.log.commit(
                written.changes,
                operations,
                opens=opens,
                including_snapshots=including_snapshots,
                rewrite=self._forgetting(written.version),
            )
            await self._publish(written, index)
            if opens:
                await self._erase_landed(opens[0])

    async def _erase_landed(self, operation: OpId) -> None:
        try:
            await self._erase()
        except StoreUnavailable as error:
            raise StoreUnavailable(
                f"{error.reason}: it is forgotten, but what is stored could not be cleaned of it, which the next "
                "write does first; make the same call again with the same op_id",
                op_id=operation,
            ) from error

    async def _publish(self, written: Written, index: Index | None) -> None:
        try:
            self._index = self._index if index is None else index
            view = await asyncio.to_thread(self._indexed, written)
            self._version = replace(written.version, index=view)
            self.graphs.wake(self)
        except BaseException:
            # The store holds it: whoever comes next reads it from there.
            self._behind = True
            raise

    def _indexed(self, written: Written) -> IndexView:
        view = self._index.apply(written.add, written.drop)
        if not written.erases:
            return view
        # Dead rows keep words, vectors and names until a shelf is written anew, and what nobody has read yet keeps all
        # that it might be read from: what was forgotten must not wait.
        written.version.read_all()
        return self._index.purge()

    async def _erase(self) -> None:
        if self.log.unreturned:
            # A copy that was begun before may still be on its way: what is erased here must not land there.
            for borrower in sorted(self.known().copies):
                await shut_out(self._store, borrower, self._clock, self._random)
        async with self.graphs.storing, self.responses.erasing():
            self.graphs.erased()
            erased = await self.log.erase(self._forgetting(self.known()))
        self.snapshots.close()
        self._version = replace(self.known(), number=erased.version)
        self.graphs.wake(self)

    # ---- graphs ------------------------------------------------------------------------------------------

    def indexed(self) -> tuple[Index, IndexView]:
        """The index, and its newest view."""
        return self._index, self.known().index

    async def graphed(self, index: Index, graphs: Mapping[str, Graph | None], purges: int) -> bool:
        """Take in graphs, None to do without one; whether `index` is still the one, and nothing was purged since."""
        async with self._changing:
            if self._index is not index or index.purges != purges:
                return False
            await asyncio.to_thread(index.graph, graphs)
            # Nothing that can be seen of the version has changed, so it stays the one that writes are built on.
            self.known().index.adopt(index.graphs)
            return True

    @property
    def epoch(self) -> int | None:
        """Under which the forest is ours; None when it is not."""
        return self.log.manifest.epoch if self.log.owned and self.log.manifest else None

    # ---- snapshots ---------------------------------------------------------------------------------------

    def _forgetting(self, now: Version) -> Rewrite:
        """How a snapshot forgets what `now` has forgotten: asked for no intent, so anybody can go on with it."""

        async def rewrite(loaded: Loaded) -> Changes:
            if not await asyncio.to_thread(snapshots.holds_forgotten, loaded.tables, now):
                return Changes()
            then, _ = await self._built(loaded, now.secret)
            steps = snapshots.forgotten_again(then, now, self._models.summarizer.model)
            return (await run(steps, self._models, asking=False)).changes

        return rewrite

    async def looked_back(self, version: Version, write: Forget) -> Forget:
        """With what snapshots alone hold of what is to be forgotten.

        Raises CorruptState, StoreUnavailable; InvalidInput for a turn's id that is found in several sessions.
        """
        if not write.including_snapshots or write.origin is not None or not snapshots.missing(write, version):
            return write
        held = [await self.log.read_snapshot(info.name) for info in await self.log.snapshots()]
        if write.fact is not None:
            past = [await self._built_past(loaded) for loaded in held]
            return replace(write, kept=snapshots.relics_of_fact(write, version, past))
        sessions = [load_sessions(loaded.tables) for loaded in held]
        if write.turns is not None:
            return replace(write, kept=snapshots.relics_of_turns(write, version, sessions))
        return replace(write, kept=snapshots.relics_of_session(write, sessions))

    async def save(self, write: Save) -> Saved:
        """Keep the present state; the forest is ours. Raises InvalidInput (see `CommitLog.save`)."""
        async with self._writing():
            kept = await self.log.save(write.name, replace=write.replacing, operation=write.op_id)
            self._renumber()
            return Saved(kept.version, write.op_id, kept.name)

    async def expect(self, write: Restore | DeleteSnapshot) -> Deleted | None:
        """Make sure that there is such a snapshot; claims nothing. Raises NotFound.

        What a removal that is done already was told; else None.
        """
        version = await self.log.deleted(write.name, write.op_id)
        return None if version is None else Deleted(version, write.op_id, write.name)

    async def past(self, name: str) -> Past:
        """A snapshot of a forest that is ours. Raises NotFound, CorruptState, EmbeddingMismatch."""
        loaded = await self.log.read_snapshot(name)
        rows = await self.log.restore(name, kept=snapshots.KEPT)
        version, index = await self._built(loaded, self.known().secret)
        return Past(version, index, rows)

    async def delete_snapshot(self, write: DeleteSnapshot) -> Deleted | None:
        """Remove a snapshot; None when the forest could not be claimed yet. Raises NotFound.

        An open erasure is not finished first: a snapshot that is damaged may be what stands in its way.
        """
        async with self._writing():
            await self._claimed()
            if not self.log.owned:
                return None
            version = await self.log.delete_snapshot(write.name, operation=write.op_id)
            self._renumber()
            return Deleted(version, write.op_id, write.name)

    # ---- copies ------------------------------------------------------------------------------------------

    async def lend(self, write: Lend) -> Lent:
        """Pin what is there for a copy, and note who makes it; the forest is ours. Raises Overloaded."""
        async with self._writing():
            version = self.known()
            if write.borrower not in version.copies:
                await self.log.commit(Changes(puts={"copies": {write.borrower: version.number}}), [write.op_id])
                self._version = replace(version, copies=version.copies.set(write.borrower, version.number))
            expires_ms = await self._pin(write.loan)
            self._renumber()
            return Lent(self.known().number, write.op_id, expires_ms)

    async def _pin(self, loan: OpId) -> int:
        """Until when it stands. What was over before its turn had come is made again: no fault of the borrower."""
        while True:
            expires_ms = self._clock.now_ms() + LOAN_MS
            try:
                await self.log.pin(loan, expires_ms)
            except InvalidInput:
                if self._clock.now_ms() < expires_ms:
                    raise
            else:
                return expires_ms

    async def take_back(self, write: Return) -> Returned:
        """Let go of a pin. One of another owner is left to expire: nothing is claimed for it."""
        async with self._writing():
            if self.log.owned:
                await self.log.unpin(write.loan, landed=write.landed)
                self._renumber()
            return Returned(self.known().number, write.op_id)

    async def borrowed(self, write: Merge) -> Borrowed:
        """The memory that a merge takes over, as it stands in the store, pinned. Raises Overloaded, NotFound."""
        loaded = await read_borrowed(self._store, write, self._clock)
        version, _ = await self._built(loaded, "")
        assert loaded.manifest is not None
        return Borrowed(version, loaded.manifest)

    async def neighbour(self, user: UserId) -> Version:
        """Another user's memory, as it stands in the store. Raises NotFound, EmbeddingMismatch, CorruptState."""
        version, _ = await self._built(await read_neighbour(self._store, user), "")
        return version

    async def still_borrowed(self, write: Merge, source: Borrowed) -> None:
        """Make sure that nothing can have been erased from the source meanwhile; the forest is ours already.

        Raises Overloaded, NotFound.
        """
        await check_unerased(self._store, write, source.manifest, self._clock)

    def _renumber(self) -> None:
        """A claim takes a number without changing anything: the state is the same under it.

        What was read after we were overtaken is newer than all that our log knows; it keeps its number.
        """
        if self.known().number < self.log.version:
            self._version = replace(self.known(), number=self.log.version)
