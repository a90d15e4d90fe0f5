"""What really happened to one memory: every change of its log and of its manifest, seen where it lands.

The chronicle stands behind all faults, so it knows the one order of all commits, and with that, for each version, the
state that whoever reads it must see.
"""

from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from memforest_ray.commit.garbage import RETENTION_MS
from memforest_ray.commit.manifest import Manifest, decode
from memforest_ray.commit.slots import Slot, decode_slot
from memforest_ray.commit.snapshots import saved_parts
from memforest_ray.ids import UserId
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.storage.store import Stored
from memforest_ray.testing.clock import ManualClock
from tests.world.states import Fact, Forget, Ingest, Intent, Merge, Origin, Place, State

__all__ = ["Chronicle", "Kept", "Town"]


@dataclass(frozen=True, slots=True)
class Kept:
    """A snapshot: which version it kept, for whom, and what it still holds of that."""

    version: int
    operation: str
    state: State


@dataclass(slots=True)
class Chronicle:
    """Implements `ObjectStore` over memory. `wrong` collects what must never have landed."""

    user: UserId
    clock: ManualClock
    inner: MemoryStore = field(default_factory=MemoryStore)
    intents: dict[str, Intent] = field(default_factory=dict)
    """By operation: whoever asks for a write says here what it means."""
    neighbours: Mapping[UserId, "Chronicle"] = field(default_factory=dict)
    """Of other memories in the same store."""
    states: dict[int, State] = field(default_factory=dict)
    """By version."""
    steps: dict[int, list[State]] = field(default_factory=dict)
    """By version, what the writes of its batch came to, one after the other."""
    head: int = 0
    life: int = 0
    """Raised when the user is deleted."""
    commits: defaultdict[tuple[int, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    """By life and operation: the versions that did it."""
    saves: defaultdict[tuple[int, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    drops: set[tuple[int, str]] = field(default_factory=set)
    """Lives and names of snapshots that were let go of, or replaced."""
    snapshots: dict[str, Kept] = field(default_factory=dict)
    catalogues: list[dict[str, Kept]] = field(default_factory=lambda: [{}])
    """The snapshots there were, by name, one state of them after the other."""
    whole: int = 0
    """Of `catalogues`, the last one before what is being erased now was to leave the snapshots."""
    landed: Counter[str] = field(default_factory=Counter)
    """Slots by kind; each fence is a claim."""
    erasing: set[str] = field(default_factory=set)
    removed: set[Place] = field(default_factory=set)
    """Turns that were forgotten, or deleted with their user, at some time."""
    erased: set[Place] = field(default_factory=set)
    """Those of them of which somebody may have been told that they are nowhere any more."""
    url: str = "memory://chronicle"
    wrong: list[str] = field(default_factory=list)
    _epoch: int = 0
    hollow: bool = False
    """Whether the user was deleted at some time: then all went at once."""
    _listed: set[str] = field(default_factory=set)
    _until_ms: dict[str, int] = field(default_factory=dict)
    """When an object was last needed."""
    _floor: int = 0

    def __post_init__(self) -> None:
        self.states[0] = self._born()

    def _born(self) -> State:
        return State(f"{self.user}#{self.life}")

    @property
    def now(self) -> State:
        """The state of the newest version."""
        return self.states[self.head]

    @property
    def keys(self) -> UserKeys:
        return UserKeys.of(self.user)

    # ---- the store ---------------------------------------------------------------------------------------

    async def get(self, key: str) -> Stored:
        return await self.inner.get(key)

    async def create(self, key: str, body: bytes) -> str:
        tag = await self.inner.create(key, body)
        await self._landed(key, body)
        return tag

    async def swap(self, key: str, body: bytes, tag: str) -> str:
        fresh = await self.inner.swap(key, body, tag)
        await self._landed(key, body)
        return fresh

    async def overwrite(self, key: str, body: bytes) -> None:
        await self.inner.overwrite(key, body)

    async def delete(self, key: str) -> None:
        self._removed(key)
        await self.inner.delete(key)

    async def list(self, prefix: str) -> AsyncIterator[str]:
        async for key in self.inner.list(prefix):
            yield key

    # ---- what has landed ---------------------------------------------------------------------------------

    async def _landed(self, key: str, body: bytes) -> None:
        seq = self.keys.seq_of(key)
        if key == self.keys.manifest:
            manifest = decode(body, key)
            self._list(await self._needed(manifest))
            self._manifest(manifest)
        elif seq is not None and seq > self._floor:  # else a freed name: no version, and nobody may be told of one
            self._slot(decode_slot(body, key, seq))

    async def _needed(self, manifest: Manifest) -> set[str]:
        """Objects that whoever reads `manifest` may ask for."""
        slots = {key async for key in self.inner.list(self.keys.slots) if (self.keys.seq_of(key) or 0) > manifest.floor}
        parts = {part.key for part in manifest.parts} | await saved_parts(self.inner, manifest)
        return slots | parts | {saved.key for saved in manifest.saved}

    def _list(self, needed: set[str]) -> None:
        """What is needed no more was needed until now."""
        self._until_ms |= dict.fromkeys(self._listed - needed, self.clock.now_ms())
        self._listed = needed

    def _removed(self, key: str) -> None:
        if self.erasing:
            self._until_ms.clear()  # whatever is not needed goes at once
        if key in self._listed and not self.hollow:
            self.wrong.append(f"{key} was removed, and is needed")
        elif self.clock.now_ms() < self._until_ms.get(key, 0) + RETENTION_MS - 60_000 and not self.hollow:
            self.wrong.append(f"{key} was removed, and was needed until {self._until_ms[key]}")

    def _slot(self, slot: Slot) -> None:
        if slot.seq != self.head + 1:
            self.wrong.append(f"slot {slot.seq} was taken after {self.head}")
        if slot.epoch < self._epoch:
            self.wrong.append(f"epoch {slot.epoch} wrote slot {slot.seq} after epoch {self._epoch} had fenced the log")
        self._epoch = slot.epoch
        done = slot.changes.puts.get("operations", {})
        steps = [self.now]
        for operation in filter(done.__contains__, slot.operations):
            steps.append(self._done(operation, slot.seq, steps[-1], done[operation]))
        if not self.erasing:
            self.whole = len(self.catalogues) - 1
        self.erasing = (self.erasing | {*slot.opens}) - {*slot.closes}
        if slot.closes and not self.erasing:
            self.erased |= self.removed
        self._noted()
        self.head = slot.seq
        self.landed[slot.kind] += 1
        self.states[slot.seq] = steps[-1]
        self.steps[slot.seq] = steps

    def _done(self, operation: str, version: int, state: State, told: Mapping[str, Any]) -> State:
        versions = self.commits[self.life, operation]
        versions.append(version)
        if len(versions) > 1:
            self.wrong.append(f"{operation} was done twice, in versions {versions}")
        intent = self.intents.get(operation)
        if intent is None:
            return state
        source = self._source(operation, intent, told) if isinstance(intent, Merge) else None
        after = state.after(intent, {name: kept.state for name, kept in self.snapshots.items()}, source)
        if isinstance(intent, Forget | Fact | Origin):
            self.removed |= state.rows - after.rows
            self._forgotten(operation, intent, after)
        elif isinstance(intent, Ingest | Merge):
            self.removed -= after.rows
            self.erased -= after.rows
        return after

    def _source(self, operation: str, intent: Merge, told: Mapping[str, Any]) -> State:
        """What a merge took over, which must not have been erased there by now."""
        neighbour = self.neighbours[UserId(intent.user)]
        source = neighbour.states[told["source_version"]]
        if back := source.rows & neighbour.erased:
            self.wrong.append(f"{operation} brought {sorted(back)}, which {intent.user} has forgotten")
        return source

    def _forgotten(self, operation: str, intent: Forget | Fact | Origin, now: State) -> None:
        """What is forgotten leaves the snapshots too; it was not to be done if they stood in the way."""
        for name, kept in [*self.snapshots.items()]:
            after = kept.state.caught_up(now)
            if after.sessions != kept.state.sessions and not intent.including_snapshots:
                self.wrong.append(f"{operation} was done, though snapshot {name} held it")
            self.removed |= kept.state.rows - after.rows - now.rows
            self.snapshots = {**self.snapshots, name: Kept(kept.version, kept.operation, after)}

    def _manifest(self, manifest: Manifest) -> None:
        self._floor = max(self._floor, manifest.floor)
        if manifest.state == "deleted" and manifest.floor > self.head:
            self.removed |= self.now.rows | {row for kept in self.snapshots.values() for row in kept.state.rows}
            self.head = manifest.floor
            self.life += 1
            self.states[self.head] = self._born()
            self.hollow = True
            self.erasing = set()
        if manifest.state == "deleted" and not manifest.erasures:
            self.erased |= self.removed
        self._saved(manifest)

    def _saved(self, manifest: Manifest) -> None:
        found = {}
        for saved in manifest.saved:
            before = self.snapshots.get(saved.name)
            if before is None or (before.version, before.operation) != (saved.version, saved.operation):
                self._kept(saved.operation, saved.version)
                before = Kept(saved.version, saved.operation, self.states[saved.version])
            found[saved.name] = before
        if gone := [name for name, kept in self.snapshots.items() if found.get(name) != kept]:
            self.drops |= {(self.life, name) for name in gone}
        self.snapshots = found
        self._noted()

    def _noted(self) -> None:
        if self.snapshots != self.catalogues[-1]:
            self.catalogues.append(self.snapshots)

    def _kept(self, operation: str, version: int) -> None:
        versions = self.saves[self.life, operation]
        versions.append(version)
        if len(versions) > 1:
            self.wrong.append(f"{operation} saved twice, versions {versions}")


@dataclass(slots=True)
class Town:
    """Implements `ObjectStore`: the memories of all who live in one store, each behind its chronicle."""

    chronicles: Mapping[UserId, Chronicle]
    url: str = "memory://town"

    def _of(self, key: str) -> Chronicle:
        """Whose object it is; what is nobody's is kept by the first."""
        found = (each for each in self.chronicles.values() if key.startswith(each.keys.prefix))
        return next(found, next(iter(self.chronicles.values())))

    async def get(self, key: str) -> Stored:
        return await self._of(key).get(key)

    async def create(self, key: str, body: bytes) -> str:
        return await self._of(key).create(key, body)

    async def swap(self, key: str, body: bytes, tag: str) -> str:
        return await self._of(key).swap(key, body, tag)

    async def overwrite(self, key: str, body: bytes) -> None:
        await self._of(key).overwrite(key, body)

    async def delete(self, key: str) -> None:
        await self._of(key).delete(key)

    async def list(self, prefix: str) -> AsyncIterator[str]:
        async for key in self._of(prefix).list(prefix):
            yield key
