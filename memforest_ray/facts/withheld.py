"""Withheld atoms: statements that must not come back.

While the dialogue that says it stays, a withheld atom stays too, never shown. When its last mention goes,
only a keyed hash of its id is kept: enough to know it again, and worth nothing without the key.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from immutables import Map

from memforest_ray.ids import AtomId

__all__ = ["HASH_MARK", "Withheld", "keyed_hash"]

HASH_MARK = "h"
"""What a hash begins with where it stands beside atom ids, which begin with "f"."""
_EMPTY: Any = Map()


def keyed_hash(key: str, atom: AtomId) -> str:
    """32 hex digits; `key` is 2 to 128 hex digits, fresh and random (a `Random.nonce()` fits)."""
    return hashlib.blake2b(atom.encode(), key=bytes.fromhex(key), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Withheld:
    """Which atoms are withheld: by id while they have mentions, by keyed hash after that."""

    atoms: Map[AtomId, str] = _EMPTY
    """Atom -> the key of its set."""
    hashes: Map[str, Map[str, None]] = _EMPTY
    """Key -> hashes of atoms without mentions. Testing an atom costs one hash per key."""

    def hides(self, atom: AtomId) -> bool:
        """Whether an atom that has mentions is withheld."""
        return atom in self.atoms

    def key_of(self, atom: AtomId) -> str | None:
        """The set that knows an atom without mentions by its hash."""
        if not self.hashes:
            return None
        return next((key for key, known in self.hashes.items() if keyed_hash(key, atom) in known), None)

    def hide(self, atom: AtomId, key: str) -> "Withheld":
        """Withhold an atom that has mentions; one that is withheld already keeps its key."""
        return self if atom in self.atoms else replace(self, atoms=self.atoms.set(atom, key))

    def forget(self, atom: AtomId) -> "Withheld":
        """The atom's last mention has gone: its hash takes its place."""
        key = self.atoms[atom]
        return replace(self._with(key, keyed_hash(key, atom)), atoms=self.atoms.delete(atom))

    def absorb(self, hashes: Iterable[tuple[str, str]]) -> "Withheld":
        """Add (key, hash) pairs of another forest."""
        grown = self
        for key, hashed in hashes:
            grown = grown._with(key, hashed)
        return grown

    def readmit(self, atom: AtomId) -> "Withheld":
        """The atom may come back."""
        atoms = self.atoms.delete(atom) if atom in self.atoms else self.atoms
        hashes = self.hashes
        for key, known in self.hashes.items():
            hashed = keyed_hash(key, atom)
            if hashed in known:
                rest = known.delete(hashed)
                hashes = hashes.set(key, rest) if rest else hashes.delete(key)
        return Withheld(atoms, hashes)

    def pairs(self) -> Iterator[tuple[str, str]]:
        """The (key, hash) pairs: what another forest takes over when it merges this one."""
        yield from ((key, hashed) for key, known in self.hashes.items() for hashed in known)

    def rows(self) -> Iterator[tuple[str, str]]:
        """Atom id, or marked hash, with the key of its set."""
        yield from self.atoms.items()
        yield from ((HASH_MARK + hashed, key) for key, hashed in self.pairs())

    def _with(self, key: str, hashed: str) -> "Withheld":
        return replace(self, hashes=self.hashes.set(key, self.hashes.get(key, _EMPTY).set(hashed, None)))
