"""What a bulk load has done, kept in the memories' own store while the load is unfinished.

Without it a load that goes on would start the forest of every user only to be told `duplicate`. An entry is the
digest of one user's sessions; entries are gone as soon as a load has ended without a failure.
"""

from dataclasses import dataclass, field

from memforest_ray.facts.sessions import Session
from memforest_ray.ids import digest
from memforest_ray.storage.keys import LOADS
from memforest_ray.storage.store import AlreadyExists, ObjectStore

__all__ = ["Journal"]


@dataclass(slots=True)
class Journal:
    """The entries of one load, which is known by its name."""

    store: ObjectStore
    name: str
    _done: set[str] = field(default_factory=set)

    @property
    def _prefix(self) -> str:
        return f"{LOADS}{digest(self.name)}/"

    async def read(self) -> int:
        """Learn what earlier runs have done; how many entries there are. Raises StoreUnavailable."""
        self._done = {key.rpartition("/")[2] async for key in self.store.list(self._prefix)}
        return len(self._done)

    def holds(self, user: str, sessions: tuple[Session, ...]) -> bool:
        """Whether exactly these sessions of this user are done."""
        return _entry(user, sessions) in self._done

    async def add(self, user: str, sessions: tuple[Session, ...]) -> None:
        """Note that these are done. Raises StoreUnavailable."""
        entry = _entry(user, sessions)
        self._done.add(entry)
        try:
            await self.store.create(self._prefix + entry, b"")
        except AlreadyExists:
            return  # another run of the same load was faster

    async def remove(self) -> None:
        """Forget all of it. Raises StoreUnavailable."""
        for key in [key async for key in self.store.list(self._prefix)]:
            await self.store.delete(key)
        self._done.clear()


def _entry(user: str, sessions: tuple[Session, ...]) -> str:
    return digest(user, repr(sessions), size=16)
