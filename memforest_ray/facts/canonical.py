"""Canonical facts: mentions in, facts out.

The facts are a function of the set of mentions, the verdicts on their pairs and what is withheld: no order of
arrival, batching, growth or removal shows in them. An edit costs in proportion to the groups it touches.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from immutables import Map

from memforest_ray.errors import NotFound
from memforest_ray.facts.atoms import Atom, atom_id, text_key
from memforest_ray.facts.candidates import Mention
from memforest_ray.facts.evidence import EMPTY, Draft, Evidence, EvidenceEdit
from memforest_ray.facts.fact import Fact
from memforest_ray.facts.groups import Graph
from memforest_ray.facts.rows import Row
from memforest_ray.facts.verdicts import VERDICTS_PER_ATOM_MAX, Pair, PairKey, Verdict, Wave, pair_key
from memforest_ray.facts.withheld import Withheld
from memforest_ray.ids import AtomId, CellId, FactId, MentionId

__all__ = [
    "Atom",
    "Fact",
    "Facts",
    "FactsEdit",
    "Neighbours",
    "Pair",
    "Row",
    "Verdict",
    "Wave",
    "atom_id",
    "text_key",
]

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")

Neighbours = Callable[[AtomId], Iterable[tuple[AtomId, float]]]
"""The atoms (withheld ones too) whose cosine with this one is at least the embedder's threshold."""


@dataclass(frozen=True, slots=True)
class Facts:
    """All mentions of a forest and the facts they make. Immutable; an edit shares what it does not touch."""

    evidence: Evidence = field(default_factory=Evidence)
    homes: Map[AtomId, FactId] = EMPTY
    """Atom -> the fact it belongs to, shown or hidden."""
    shown: Map[FactId, Fact] = EMPTY
    hidden: Map[FactId, Fact] = EMPTY
    """Facts that hold a withheld atom."""

    def __len__(self) -> int:
        return len(self.shown)

    def __iter__(self) -> Iterator[Fact]:
        """The facts shown, in no particular order."""
        return iter(self.shown.values())

    @property
    def mentions(self) -> Map[MentionId, Mention]:
        return self.evidence.mentions

    @property
    def atoms(self) -> Map[AtomId, Atom]:
        return self.evidence.atoms

    @property
    def pending(self) -> Map[PairKey, float]:
        """Pairs still to be judged, with their similarity."""
        return self.evidence.pending

    @property
    def withheld(self) -> Withheld:
        return self.evidence.withheld

    def get(self, address: FactId | AtomId) -> Fact | None:
        """The fact of this id, or the one an atom of this id belongs to; `None` when none is shown."""
        home = self.homes.get(AtomId(address))
        return None if home is None else self.shown.get(home)

    def in_order(self) -> list[Fact]:
        """The facts shown, in the order of their least atoms."""
        return sorted(self, key=lambda fact: self.atoms[fact.atoms[0]].entry)

    def of_cell(self, cell: CellId) -> tuple[Mention, ...]:
        """What was found in a cell, by candidate number."""
        return tuple(self.mentions[mention] for mention in self.evidence.by_cell.get(cell, ()))

    def edit(self, add: Iterable[Mention] = (), remove: Iterable[MentionId] = ()) -> "FactsEdit":
        """Remove mentions (unknown ids are passed over), then add some.

        A mention that is there already changes nothing; another of the same id takes its place; one whose
        atom was withheld and then forgotten is dropped. An atom's verdicts go with its last mention.
        """
        draft = Draft(self.evidence)
        for mention_id in remove:
            draft.withdraw(mention_id)
        for mention in add:
            draft.admit(mention)
        return self._with(draft.finish())

    def pairs_to_judge(
        self, fresh: Iterable[AtomId], neighbours: Neighbours, per_atom_max: int = VERDICTS_PER_ATOM_MAX
    ) -> Wave:
        """The pairs of `fresh` atoms (`FactsEdit.fresh`) that need a judge, and the pending ones.

        The most similar are asked first. Both parts of the wave go to `with_verdicts`.
        """
        similarities: dict[PairKey, float] = dict(self.pending.items())
        for atom in fresh:
            for other, similarity in neighbours(atom):
                if self.evidence.unjudged(atom, other):
                    similarities.setdefault(pair_key(atom, other), similarity)
        pairs = (self.evidence.pair(key, similarity) for key, similarity in similarities.items())
        return Wave.of(sorted(pairs, key=self._urgency), per_atom_max)

    def with_verdicts(
        self, verdicts: Iterable[Verdict], pending: Iterable[Pair] = (), parted: Iterable[PairKey] = ()
    ) -> "FactsEdit":
        """Take in what the judge said, and what has to wait: pairs over the limit or without an answer.

        `parted` are not alike any more: what is known of them goes. Pairs of atoms that have gone in the meantime are
        passed over.
        """
        draft = Draft(self.evidence)
        for pair_of in parted:
            draft.part(pair_of)
        for pair in pending:
            draft.link(pair, None)
        for verdict in verdicts:
            draft.link(verdict.pair, verdict.equivalent)
        return self._with(draft.finish())

    def withhold(self, address: FactId | AtomId, key: str) -> "FactsEdit":
        """Hide a fact for good: its atoms, and whatever is equivalent to one of them, now and later.

        `key` is the set's own, hex, fresh and random; one key may serve many calls. Raises `NotFound`.
        """
        fact = self.get(address)
        if fact is None:
            raise NotFound(f"no fact is addressed by {address}; nothing was changed", what="fact", fact=address)
        draft = Draft(self.evidence)
        for atom in fact.atoms:
            draft.hide(atom, key)
        return self._with(draft.finish())

    def withhold_atoms(self, keys: Mapping[AtomId, str]) -> "FactsEdit":
        """As `withhold`, of single atoms with the keys of their sets; those that are not here are passed over."""
        draft = Draft(self.evidence)
        for atom, key in keys.items():
            if atom in self.atoms:
                draft.hide(atom, key)
        return self._with(draft.finish())

    def withhold_hashed(self, hashes: Iterable[tuple[str, str]]) -> "FactsEdit":
        """Take over what another forest withholds (`Withheld.pairs`); atoms here that match are hidden."""
        draft = Draft(self.evidence)
        draft.absorb(hashes)
        return self._with(draft.finish())

    def readmit(self, atoms: Iterable[AtomId]) -> "FactsEdit":
        """Lift the withholding of these atoms: what is here is shown again, what is not may come back."""
        draft = Draft(self.evidence)
        for atom in atoms:
            draft.readmit(atom)
        return self._with(draft.finish())

    def rows(self) -> Iterator[Row]:
        """All that has to be written down to have these facts again."""
        return self.evidence.rows()

    @classmethod
    def load(cls, tables: Mapping[str, Mapping[str, Any]]) -> "Facts":
        """The facts of stored rows, by table. Raises `CorruptState` when rows are damaged or contradict."""
        evidence = Evidence.load(tables)
        facts = {fact.id: fact for fact in map(Fact.of, _groups(evidence, evidence.atoms))}
        seen, unseen = _by_sight(facts, evidence.withheld)
        homes = {atom: fact.id for fact in facts.values() for atom in fact.atoms}
        return cls(evidence, Map(homes), Map(seen), Map(unseen))

    def _urgency(self, pair: Pair) -> tuple[Any, ...]:
        return -pair.similarity, self.atoms[pair.first].entry, self.atoms[pair.second].entry

    def _with(self, edit: EvidenceEdit) -> "FactsEdit":
        """Regroup the atoms that an edit touched."""
        evidence = edit.evidence
        groups = self._groups(edit)
        before = self._former(edit.touched, groups)
        after = {fact.id: fact for fact in map(Fact.of, groups)}
        # An unchanged fact stays the same object, so that versions share it.
        after |= {fact_id: before[fact_id] for fact_id, fact in after.items() if before.get(fact_id) == fact}
        seen, unseen = _by_sight(after, evidence.withheld)
        facts = Facts(
            evidence,
            _changed(
                self.homes,
                drop=[atom for atom in edit.touched if atom not in evidence.atoms],
                put={atom: fact.id for fact in after.values() for atom in fact.atoms},
            ),
            _changed(self.shown, drop=before, put=seen),
            _changed(self.hidden, drop=before, put=unseen),
        )
        added, removed = facts._less(seen, self), self._less(before, facts)
        return FactsEdit(facts, added, removed, edit.fresh, edit.dropped, edit.rows, edit.touched)

    def _groups(self, edit: EvidenceEdit) -> list[list[Atom]]:
        """The groups, as they are now, of all atoms that shared one with a touched atom, before or now."""
        start: dict[AtomId, None] = dict.fromkeys(edit.touched)
        for atom in edit.touched:
            home = self.homes.get(atom)
            if home is not None:
                start.update(dict.fromkeys(self._any(home).atoms))
        return _groups(edit.evidence, (atom for atom in start if atom in edit.evidence.atoms))

    def _former(self, touched: Iterable[AtomId], groups: Iterable[Iterable[Atom]]) -> dict[FactId, Fact]:
        """The facts that these atoms were, shown or hidden."""
        atoms = (*touched, *(atom.id for group in groups for atom in group))
        homes = {home for atom in atoms if (home := self.homes.get(atom)) is not None}
        return {home: self._any(home) for home in homes}

    def _any(self, home: FactId) -> Fact:
        fact = self.shown.get(home)
        return self.hidden[home] if fact is None else fact

    def _less(self, fact_ids: Iterable[FactId], other: "Facts") -> tuple[Fact, ...]:
        """Those of these facts that are shown here and not, or not like this, in `other`; in order."""
        facts = (fact for fact_id in fact_ids if (fact := self.shown.get(fact_id)) is not None)
        new = [fact for fact in facts if fact is not other.shown.get(fact.id)]
        return tuple(sorted(new, key=lambda fact: self.atoms[fact.atoms[0]].entry))


def _groups(evidence: Evidence, atoms: Iterable[AtomId]) -> list[list[Atom]]:
    """The groups of these atoms."""
    graph = Graph(evidence)
    groups: list[list[Atom]] = []
    grouped: set[AtomId] = set()
    for atom in atoms:
        if atom not in grouped:
            group = graph.group(atom)
            groups.append(group)
            grouped.update([member.id for member in group])
    return groups


def _by_sight(facts: Mapping[FactId, Fact], withheld: Withheld) -> tuple[dict[FactId, Fact], dict[FactId, Fact]]:
    """The facts that are shown and those that a withheld atom hides."""
    seen: dict[FactId, Fact] = {}
    unseen: dict[FactId, Fact] = {}
    for fact in facts.values():
        (unseen if any(map(withheld.hides, fact.atoms)) else seen)[fact.id] = fact
    return seen, unseen


def _changed(table: Map[_Key, _Value], *, drop: Iterable[_Key], put: Mapping[_Key, _Value]) -> Map[_Key, _Value]:
    """The table without `drop` and with `put`, sharing the rest."""
    draft = table.mutate()
    for key in drop:
        draft.pop(key, None)
    draft.update(put)
    return draft.finish()


@dataclass(frozen=True, slots=True)
class FactsEdit:
    """What an edit did."""

    facts: Facts
    added: tuple[Fact, ...] = ()
    """Facts shown now that were not shown before, or not like this; in order."""
    removed: tuple[Fact, ...] = ()
    """Facts shown before that are not shown now, or not like this; in order. A changed fact is in both."""
    fresh: tuple[AtomId, ...] = ()
    """Atoms to compare with all others: new, said on a new day, or alike to others than before; in order."""
    dropped: tuple[Mention, ...] = ()
    """Mentions that were not taken in: their atoms were withheld and forgotten."""
    rows: tuple[Row, ...] = ()
    """What has to be written down."""
    touched: tuple[AtomId, ...] = ()
    """All atoms that may be others than before, hidden ones and those that are no more among them."""

    def then(self, later: "FactsEdit") -> "FactsEdit":
        """This edit and a later one as one: facts that came and went in between do not show."""
        added = {fact.id: fact for fact in self.added}
        removed = {fact.id: fact for fact in self.removed}
        for fact in later.removed:
            if added.pop(fact.id, None) is None:
                removed[fact.id] = fact
        for fact in later.added:
            if removed.get(fact.id) == fact:
                del removed[fact.id]
            else:
                added[fact.id] = fact
        fresh = dict.fromkeys(atom for atom in (*self.fresh, *later.fresh) if atom in later.facts.atoms)
        rows = {(row.table, row.key): row for row in (*self.rows, *later.rows)}
        return FactsEdit(
            later.facts,
            added=tuple(added.values()),
            removed=tuple(removed.values()),
            fresh=tuple(fresh),
            dropped=(*self.dropped, *later.dropped),
            rows=tuple(rows.values()),
            touched=tuple(dict.fromkeys((*self.touched, *later.touched))),
        )
