"""Groups: which atoms are one fact. A graph of atoms whose connected components are the facts.

An atom of known time is joined with every equivalent one of the same interval. An atom of unknown time
joins one other, the most similar of those that are equivalent and whose times agree (the rule counts as
similarity 1, ties go to the lesser); others may choose it. So an unknown atom has one way out and a known
one none, and a component holds only one known interval: what would bridge two times never does.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from memforest_ray.facts.atoms import Atom, Entry, times_agree
from memforest_ray.facts.evidence import EMPTY, Evidence
from memforest_ray.facts.verdicts import Link
from memforest_ray.ids import AtomId

__all__ = ["Graph"]


@dataclass(slots=True)
class Graph:
    """The atoms and their edges. Edges are found when asked for."""

    evidence: Evidence
    _choices: dict[AtomId, AtomId | None] = field(default_factory=dict)

    def group(self, start: AtomId) -> list[Atom]:
        """The atoms of `start`'s component, the least first."""
        found = {start}
        frontier = [self.evidence.atoms[start]]
        if self._alone(frontier[0]):
            return frontier
        for atom in frontier:
            for other in self.edges(atom):
                if other not in found:
                    found.add(other)
                    frontier.append(self.evidence.atoms[other])
        return sorted(frontier, key=lambda atom: atom.entry) if len(frontier) > 1 else frontier

    def _alone(self, atom: Atom) -> bool:
        """Whether nothing is alike to it, by its words or by a verdict: as most atoms are."""
        alike = self.evidence.alike
        return atom.id not in self.evidence.links and all(len(alike[key]) == 1 for key in atom.keys)

    def edges(self, atom: Atom) -> Iterator[AtomId]:
        """The atoms joined to `atom`; of twins enough to connect them all."""
        chosen = self.choice(atom)
        if chosen is not None:
            yield chosen
        yield from self._twins(atom)
        for other in self._agreeing(atom):
            if atom.interval is not None and other.interval is not None:
                yield other.id
        for chooser in self._possible_choosers(atom):
            if self.choice(chooser) == atom.id:
                yield chooser.id

    def choice(self, atom: Atom) -> AtomId | None:
        """The one atom that an atom of unknown time joins."""
        if atom.interval is not None:
            return None
        if atom.id not in self._choices:
            offers = [(-1.0, entry) for entry in self._least_alike(atom)]
            links = self.evidence.links.get(atom.id, EMPTY)
            offers += [(-links[other.id].similarity, other.entry) for other in self._agreeing(atom)]
            self._choices[atom.id] = min(offers)[1][1] if offers else None
        return self._choices[atom.id]

    def _least_alike(self, atom: Atom) -> Iterator[Entry]:
        for key in atom.like_keys:
            yield from (entry for entry in self.evidence.alike[key][:2] if entry[1] != atom.id)

    def _agreeing(self, atom: Atom) -> Iterator[Atom]:
        """Atoms that a verdict calls equivalent and whose times agree."""
        links: Mapping[AtomId, Link] = self.evidence.links.get(atom.id, EMPTY)
        for other_id, link in links.items():
            other = self.evidence.atoms[other_id]
            if link.equivalent and times_agree(atom, other):
                yield other

    def _twins(self, atom: Atom) -> Iterator[AtomId]:
        """Edges of a star around the least twin: connected as if each were joined with each."""
        for key in atom.twin_keys:
            twins = self.evidence.alike[key]
            yield from (twin for _, twin in (twins if twins[0][1] == atom.id else twins[:1]))

    def _possible_choosers(self, atom: Atom) -> Iterator[Atom]:
        for other in self._agreeing(atom):
            if other.interval is None:
                yield other
        for key in atom.like_keys:
            entries = self.evidence.alike[key]
            # Only the two least can be anybody's choice: the least, or the second for the least itself.
            if len(entries) > 1 and any(entry[1] == atom.id for entry in entries[:2]):
                yield from self._unknown(entries)

    def _unknown(self, entries: Iterable[Entry]) -> Iterator[Atom]:
        """Those whose time is unknown: the ones that choose."""
        return (atom for _, name in entries if (atom := self.evidence.atoms[name]).interval is None)
