"""What the log holds above the manifest's floor, folded: the next checkpoint's delta."""

from dataclasses import replace

from memforest_ray.commit.changes import Changes
from memforest_ray.commit.loaded import Loaded, open_erasures
from memforest_ray.commit.manifest import Manifest
from memforest_ray.commit.slots import Slot
from memforest_ray.ids import OpId

__all__ = ["ROW_BYTES", "Pending"]

ROW_BYTES = 400
"""A guess, to decide whether encoding is worth a thread: a mention packs to 300 to 500, a vector to 768."""


class Pending:
    """Changes of the slots above the floor, in order; `version` is the last slot's number."""

    def __init__(self, version: int, erasing: tuple[str, ...] = ()) -> None:
        self.version = version
        self.erasing = erasing
        self.changes = Changes()
        self.operations: tuple[OpId, ...] = ()
        self._marks: list[Slot] = []
        self.commits = 0
        self.bytes = 0

    @classmethod
    def after(cls, loaded: Loaded) -> "Pending":
        """As a reader of `loaded` would continue."""
        floor = loaded.version - len(loaded.tail)
        pending = cls(floor, loaded.manifest.erasures if loaded.manifest else ())
        for slot in loaded.tail:
            pending.add(slot, slot.changes.rows * ROW_BYTES)
        return pending

    def begin(self, manifest: Manifest) -> None:
        """Continue under `manifest`, whose floor may have moved past some of what was read as log."""
        above = (slot for slot in self._marks if slot.seq > manifest.floor)
        self.erasing = open_erasures(manifest.erasures, above)

    def add(self, slot: Slot, size: int) -> None:
        """Continue with the next slot."""
        self.version = slot.seq
        self.changes.absorb(slot.changes)
        self.operations += slot.operations
        self.erasing = open_erasures(self.erasing, (slot,))
        if slot.opens or slot.closes:
            self._marks.append(replace(slot, changes=Changes(drops=slot.changes.drops)))
        self.commits += slot.kind == "commit"
        self.bytes += size

    @property
    def begun(self) -> tuple[Changes, ...]:
        """What the commits dropped that began the open erasures, as far as the log still tells."""
        return tuple(slot.changes for slot in self._marks if {*slot.opens} & {*self.erasing})

    def emptied(self) -> "Pending":
        """After the floor has reached our version."""
        return Pending(self.version, self.erasing)
