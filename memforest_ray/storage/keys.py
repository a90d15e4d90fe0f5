"""The name of every object we write. Nothing else in the library spells a key."""

import hashlib
from dataclasses import dataclass

from memforest_ray.ids import UserId, user_hash

__all__ = ["LOADS", "PROBES", "ROOT", "UserKeys", "shard_prefix", "user_of_key"]

ROOT = "v1/"
"""Prefix of everything of this layout; another layout would be another prefix."""
PROBES = "probe/"
"""Where `probe` writes, and removes, what it tries a store with."""
LOADS = "loads/"
"""Where an unfinished bulk load notes what it has done; of no forest, and removed when the load has ended."""

_SEQ_DIGITS = 16
_EPOCH_DIGITS = 10


def shard_prefix(shard: int) -> str:
    """Prefix of the users whose hash begins with the byte `shard` (0 to 255)."""
    return f"{ROOT}{shard:02x}/"


def user_of_key(key: str) -> str:
    """The user hash in a key of this layout; empty where there is none."""
    parts = key.split("/")
    return parts[2] if len(parts) > 3 and f"{parts[0]}/" == ROOT else ""


@dataclass(frozen=True, slots=True)
class UserKeys:
    """Keys of one user's forest. They hold the user's hash, never the id."""

    hash: str

    @classmethod
    def of(cls, user: UserId) -> "UserKeys":
        return cls(user_hash(user))

    @property
    def prefix(self) -> str:
        return f"{ROOT}{self.hash[:2]}/{self.hash}/"

    @property
    def manifest(self) -> str:
        """The one mutable object."""
        return f"{self.prefix}M"

    @property
    def slots(self) -> str:
        return f"{self.prefix}wal/"

    def slot(self, seq: int) -> str:
        """The commit slot that makes version `seq`."""
        return f"{self.slots}{seq:0{_SEQ_DIGITS}d}"

    def seq_of(self, key: str) -> int | None:
        """The number of a slot's key; None for any other key."""
        name = key.removeprefix(self.slots)
        return int(name) if name != key and len(name) == _SEQ_DIGITS and name.isdecimal() else None

    @property
    def parts(self) -> str:
        return f"{self.prefix}seg/"

    def part(self, epoch: int, now_ms: int, nonce: str) -> str:
        """A fresh name: the epoch that wrote it, then time and 80 random bits, so that names sort by age."""
        return f"{self.parts}{epoch:0{_EPOCH_DIGITS}d}-{now_ms:012x}{nonce[:20]}"

    def epoch_of(self, key: str) -> int | None:
        """The epoch that wrote a part, a snapshot, a graph or answers; None for any other key."""
        for prefix in (self.parts, self.snapshots, self.graphs, self.answers):
            epoch, dash, _ = key.removeprefix(prefix).partition("-")
            if key.startswith(prefix) and dash and len(epoch) == _EPOCH_DIGITS and epoch.isdecimal():
                return int(epoch)
        return None

    @property
    def snapshots(self) -> str:
        return f"{self.prefix}snap/"

    def snapshot(self, name: str, epoch: int, nonce: str) -> str:
        """A fresh name for a saved manifest. What the user calls it may be any text, so the key holds a hash of it."""
        told = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:40]
        return f"{self.snapshots}{epoch:0{_EPOCH_DIGITS}d}-{told}-{nonce[:20]}"

    @property
    def caches(self) -> str:
        """Derived answers that may hold a user's text; erasure purges them."""
        return f"{self.prefix}cache/"

    @property
    def graphs(self) -> str:
        """Graphs over vectors: derived, so among the caches."""
        return f"{self.caches}graph/"

    def graph(self, name: str, epoch: int, nonce: str) -> str:
        """A fresh name for the graph of `name`, which may tell of whom: so the key holds a hash of it."""
        told = hashlib.sha256(f"{self.hash}/{name}".encode("utf-8", "surrogatepass")).hexdigest()[:40]
        return f"{self.graphs}{epoch:0{_EPOCH_DIGITS}d}-{told}-{nonce[:20]}"

    @property
    def answers(self) -> str:
        """Answers of models that are not committed yet, among the caches."""
        return f"{self.caches}answer/"

    def answers_object(self, epoch: int, now_ms: int, nonce: str) -> str:
        """A fresh name, as of a part."""
        return f"{self.answers}{epoch:0{_EPOCH_DIGITS}d}-{now_ms:012x}{nonce[:20]}"

    def written_ms(self, key: str) -> int:
        """When answers were stored, by the clock of whoever did it; 0 for any other key."""
        if not key.startswith(self.answers) or self.epoch_of(key) is None:
            return 0
        digits = key.removeprefix(self.answers).partition("-")[2][:12]
        return int(digits, 16) if set(digits) <= set("0123456789abcdef") and digits else 0
