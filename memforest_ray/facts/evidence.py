"""Evidence: all that facts are computed from. Mentions, what is known of pairs of atoms, what is withheld.

`Evidence` is immutable and shared between versions; a `Draft` is one edit of it under way.
"""

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import filterfalse
from typing import TYPE_CHECKING, Any

from immutables import Map

from memforest_ray.errors import CorruptState
from memforest_ray.facts.atoms import Atom, Entry, atom_id, needs_judge, text_key
from memforest_ray.facts.candidates import Mention
from memforest_ray.facts.equality import LikeKey
from memforest_ray.facts.rows import (
    MENTIONS,
    PENDING,
    VERDICTS,
    WITHHELD,
    Row,
    decode_mention,
    decode_pending,
    decode_verdict,
    encode_mention,
    encode_pair,
)
from memforest_ray.facts.verdicts import Link, Pair, PairKey, pair_key
from memforest_ray.facts.withheld import HASH_MARK, Withheld
from memforest_ray.ids import AtomId, CellId, MentionId

if TYPE_CHECKING:
    from immutables._protocols import MapMutation

__all__ = ["EMPTY", "Draft", "Evidence", "EvidenceEdit", "Links"]

Links = Map[AtomId, Link]
"""What is known of the pairs of one atom, by the other one."""

EMPTY: Any = Map()
MOVES_ONE_BY_ONE_MAX = 4
"""More entries of one key than this are cheaper sorted in than inserted, each a copy of the list's tail."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is written down (mentions, links, withheld), and what finds things in it."""

    mentions: Map[MentionId, Mention] = EMPTY
    by_cell: Map[CellId, tuple[MentionId, ...]] = EMPTY
    """By candidate number."""
    atoms: Map[AtomId, Atom] = EMPTY
    alike: Map[LikeKey, tuple[Entry, ...]] = EMPTY
    """Atoms that the rule finds alike, the least first."""
    links: Map[AtomId, Links] = EMPTY
    """Judged and pending pairs, from both sides."""
    pending: Map[PairKey, float] = EMPTY
    """Pairs still to be judged, with their similarity."""
    withheld: Withheld = field(default_factory=Withheld)

    def unjudged(self, one: AtomId, other: AtomId) -> bool:
        """Whether a pair of atoms needs a judge: it could be one fact, and nothing decides it yet."""
        if one == other or other not in self.atoms:
            return False
        link = self.links.get(one, EMPTY).get(other)
        if link is not None:
            return bool(link.equivalent is None)
        return needs_judge(self.atoms[one], self.atoms[other])

    def pair(self, key: PairKey, similarity: float) -> Pair:
        """The pair as a judge is shown it: the lesser first."""
        first, second = sorted(key, key=lambda atom: self.atoms[atom].entry)
        return Pair(first, second, similarity)

    def rows(self) -> Iterator[Row]:
        """All that has to be written down to have this again."""
        for mention_id, mention in self.mentions.items():
            yield Row(MENTIONS, mention_id, encode_mention(mention))
        for one, links in self.links.items():
            for other, link in links.items():
                if one < other:
                    yield from _link_rows((one, other), None, link)
        yield from (Row(WITHHELD, name, key) for name, key in self.withheld.rows())

    @classmethod
    def gathered(cls, mentions: Iterable[Mention]) -> "Evidence":
        """The evidence of these mentions alone: what comes of admitting each, made in one pass."""
        known = {mention.id: mention for mention in mentions}
        by_cell: defaultdict[CellId, list[tuple[int, MentionId]]] = defaultdict(list)
        by_atom: dict[AtomId, tuple[str, list[Mention]]] = {}
        for mention in known.values():
            by_cell[mention.cell_id].append((mention.number, mention.id))
            key = text_key(mention.candidate.text)
            by_atom.setdefault(atom_id(mention, key), (key, []))[1].append(mention)
        atoms = {name: Atom.of(name, here, key) for name, (key, here) in by_atom.items()}
        alike: defaultdict[LikeKey, list[Entry]] = defaultdict(list)
        for atom in atoms.values():
            for like_key in atom.keys:
                alike[like_key].append(atom.entry)
        return cls(
            Map(known),
            Map({cell: tuple([name for _, name in sorted(here)]) for cell, here in by_cell.items()}),
            Map(atoms),
            Map({key: tuple(here) if len(here) == 1 else tuple(sorted({*here})) for key, here in alike.items()}),
        )

    @classmethod
    def load(cls, tables: Mapping[str, Mapping[str, Any]]) -> "Evidence":
        """The evidence of stored rows, by table. Raises `CorruptState` when damaged or contradictory."""
        draft = Draft(cls.gathered(decode_mention(name, row) for name, row in tables.get(MENTIONS, {}).items()))
        for key, row in tables.get(PENDING, {}).items():
            draft.load_link(*decode_pending(key, row), None)
        for key, row in tables.get(VERDICTS, {}).items():
            draft.load_link(*decode_verdict(key, row))
        for name, key in tables.get(WITHHELD, {}).items():
            draft.load_withheld(name, key)
        return draft.evidence()


@dataclass(frozen=True, slots=True)
class EvidenceEdit:
    """What a draft came to."""

    evidence: Evidence
    touched: tuple[AtomId, ...]
    """Atoms whose group may have changed; those that have gone too."""
    fresh: tuple[AtomId, ...] = ()
    """Atoms to compare with all others: new, said on a new day, or alike to others than before; in order."""
    dropped: tuple[Mention, ...] = ()
    """Mentions of atoms that were withheld and forgotten."""
    rows: tuple[Row, ...] = ()


@dataclass(slots=True)
class _Change:
    """What comes to an atom and what leaves it."""

    coming: dict[MentionId, Mention] = field(default_factory=dict)
    leaving: set[MentionId] = field(default_factory=set)


@dataclass(slots=True)
class _Move:
    """Atoms that are found by a key no more, and those that are now."""

    leaving: list[Entry] = field(default_factory=list)
    coming: list[Entry] = field(default_factory=list)

    def applied(self, entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
        """The entries after the move, in order; a few are moved one by one, many are sorted in."""
        if not entries and len(self.coming) == 1:
            return (self.coming[0],)
        if len(self.leaving) + len(self.coming) > MOVES_ONE_BY_ONE_MAX:
            return tuple(sorted({*entries}.difference(self.leaving).union(self.coming)))
        seats = list(entries)
        for entry in self.leaving:
            del seats[bisect_left(seats, entry)]
        for entry in self.coming:
            insort(seats, entry)
        return tuple(seats)


class Draft:
    """One edit under way: mentions first; after `settle`, links and what is withheld; at last `finish`."""

    def __init__(self, before: Evidence) -> None:
        self._before = before
        self._mentions = before.mentions.mutate()
        self._by_cell = before.by_cell.mutate()
        self._atoms = before.atoms.mutate()
        self._alike = before.alike.mutate()
        self._links = before.links.mutate()
        self._pending = before.pending.mutate()
        self._withheld = before.withheld
        self._changes: dict[AtomId, _Change] = {}
        self._touched: dict[AtomId, None] = {}
        self._moves: dict[LikeKey, _Move] = {}
        self._fresh: list[AtomId] = []
        self._dropped: list[Mention] = []
        self._told: dict[MentionId, None] = {}
        self._paired: dict[PairKey, None] = {}

    def withdraw(self, mention_id: MentionId) -> None:
        """Remove a mention, if it is there."""
        mention = self._mentions.pop(mention_id, None)
        if mention is None:
            return
        rest = tuple(other for other in self._by_cell[mention.cell_id] if other != mention_id)
        _put(self._by_cell, mention.cell_id, rest or None)
        change = self._changes.setdefault(atom_id(mention), _Change())
        change.coming.pop(mention_id, None)
        change.leaving.add(mention_id)
        self._told[mention_id] = None

    def admit(self, mention: Mention) -> None:
        """Add a mention, in place of one with its id, unless its atom must not come back."""
        if self._mentions.get(mention.id) == mention:
            return
        self.withdraw(mention.id)
        atom = atom_id(mention)
        if self._withheld.key_of(atom) is not None:
            self._dropped.append(mention)
            return
        self._mentions[mention.id] = mention
        cell = (*self._by_cell.get(mention.cell_id, ()), mention.id)
        numbered = tuple(sorted(cell, key=lambda known: (self._mentions[known].number, known)))
        self._by_cell[mention.cell_id] = numbered
        self._changes.setdefault(atom, _Change()).coming[mention.id] = mention
        self._told[mention.id] = None

    def settle(self) -> None:
        """Bring the atoms up to their mentions, and what hangs on an atom up to the atoms."""
        changes, self._changes = self._changes, {}
        changed = [atom for atom, change in changes.items() if self._apply(atom, change)]
        for atom in changed:
            self._touched[atom] = None
            if atom in self._links:
                self._touched.update(dict.fromkeys(self._links[atom]))
                self._review_links(atom)
            if atom not in self._atoms and self._withheld.hides(atom):
                self._withheld = self._withheld.forget(atom)
        self._reseat()

    def link(self, pair: Pair, equivalent: bool | None) -> bool:
        """Note what is known of a pair; whether both its atoms are there."""
        if pair.first not in self._atoms or pair.second not in self._atoms:
            return False
        # The rule's 1 is the most there is; a cosine of rounded vectors can come out above it.
        link = Link(min(pair.similarity, 1.0), equivalent)
        for one, other in ((pair.first, pair.second), (pair.second, pair.first)):
            self._links[one] = self._links.get(one, EMPTY).set(other, link)
            self._touched[one] = None
        _put(self._pending, pair.key, link.similarity if equivalent is None else None)
        self._paired[pair.key] = None
        return True

    def part(self, pair: PairKey) -> None:
        """Forget what is known of a pair."""
        one, other = pair
        if other in self._links.get(one, EMPTY):
            self._unlink(one, other)
            self._touched.update(dict.fromkeys(pair))

    def hide(self, atom: AtomId, key: str) -> None:
        """Withhold an atom that is there."""
        self._withheld = self._withheld.hide(atom, key)
        self._touched[atom] = None

    def readmit(self, atom: AtomId) -> None:
        """Let an atom come back."""
        self._withheld = self._withheld.readmit(atom)
        self._touched[atom] = None

    def absorb(self, hashes: Iterable[tuple[str, str]]) -> None:
        """Withhold what (key, hash) pairs name: atoms that are there by id, others by their hash."""
        foreign = Withheld().absorb(hashes)
        for atom in self._before.atoms:
            key = foreign.key_of(atom)
            if key is not None:
                foreign = foreign.readmit(atom)
                self.hide(atom, key)
        self._withheld = self._withheld.absorb(foreign.pairs())

    def load_link(self, key: PairKey, similarity: float, equivalent: bool | None) -> None:
        """As `link`, of a stored row."""
        if not self.link(Pair(*key, similarity), equivalent):
            name = encode_pair(key)
            raise CorruptState(f"the pair {name} names an atom without mentions; nothing was changed", key=name)

    def load_withheld(self, name: str, key: str) -> None:
        """As `hide` or `absorb`, of a stored row."""
        if name.startswith(HASH_MARK):
            self._withheld = self._withheld.absorb([(key, name.removeprefix(HASH_MARK))])
        elif AtomId(name) in self._atoms:
            self.hide(AtomId(name), key)
        else:
            raise CorruptState(f"the withheld atom {name} has no mentions; nothing was changed", key=name)

    def evidence(self) -> Evidence:
        """The evidence as it is now; ends the draft."""
        self.settle()
        return Evidence(
            self._mentions.finish(),
            self._by_cell.finish(),
            self._atoms.finish(),
            self._alike.finish(),
            self._links.finish(),
            self._pending.finish(),
            self._withheld,
        )

    def finish(self) -> EvidenceEdit:
        """The evidence as it is now, and what the draft did."""
        evidence = self.evidence()
        fresh = sorted((atom for atom in self._fresh if atom in evidence.atoms), key=lambda a: evidence.atoms[a].entry)
        rows = tuple(self._rows(evidence))
        return EvidenceEdit(evidence, tuple(self._touched), tuple(fresh), tuple(self._dropped), rows)

    def _apply(self, atom: AtomId, change: _Change) -> bool:
        """Make the atom anew; whether it has changed."""
        old = self._atoms.get(atom)
        kept = [m for m in old.mentions if m.id not in change.leaving] if old else []
        kept.extend(change.coming.values())
        new = Atom.of(atom, kept) if kept else None
        if new == old:
            return False
        _put(self._atoms, atom, new)
        self._move(old, new)
        if new is not None and (old is None or new.keys != old.keys or not new.places <= old.places):
            self._fresh.append(atom)
        return True

    def _move(self, old: Atom | None, new: Atom | None) -> None:
        """Note where the atom is found no more, and where now."""
        stay = set(old.keys) & set(new.keys) if old and new and old.entry == new.entry else set()
        if old is not None:
            for key in filterfalse(stay.__contains__, old.keys):
                self._moves.setdefault(key, _Move()).leaving.append(old.entry)
        if new is not None:
            for key in filterfalse(stay.__contains__, new.keys):
                self._moves.setdefault(key, _Move()).coming.append(new.entry)

    def _reseat(self) -> None:
        """Carry out the moves. Touch who may choose otherwise now: only the two least of a key can be chosen."""
        moves, self._moves = self._moves, {}
        for key, move in moves.items():
            before: tuple[Entry, ...] = self._alike.get(key, ())
            after = move.applied(before)
            _put(self._alike, key, after or None)
            if before[:2] != after[:2]:
                unknown = (atom for _, atom in after if self._atoms[atom].interval is None)
                self._touched.update(dict.fromkeys(unknown))

    def _review_links(self, atom: AtomId) -> None:
        """Drop all links of an atom that has gone; of a changed one what need not be asked any more."""
        here = self._atoms.get(atom)
        for other, link in self._links.get(atom, EMPTY).items():
            there = self._atoms.get(other)
            judged = link.equivalent is not None
            if not (here is not None and there is not None and (judged or needs_judge(here, there))):
                self._unlink(atom, other)

    def _unlink(self, one: AtomId, other: AtomId) -> None:
        for here, there in ((one, other), (other, one)):
            _put(self._links, here, self._links[here].delete(there) or None)
        key = pair_key(one, other)
        _put(self._pending, key, None)
        self._paired[key] = None

    def _rows(self, now: Evidence) -> Iterator[Row]:
        for mention_id in self._told:
            mention = now.mentions.get(mention_id)
            if mention != self._before.mentions.get(mention_id):
                yield Row(MENTIONS, mention_id, None if mention is None else encode_mention(mention))
        for one, other in self._paired:
            old, new = (evidence.links.get(one, EMPTY).get(other) for evidence in (self._before, now))
            yield from _link_rows((one, other), old, new)
        if now.withheld is not self._before.withheld:
            was, known = dict(self._before.withheld.rows()), dict(now.withheld.rows())
            yield from (Row(WITHHELD, name, None) for name in was if name not in known)
            yield from (Row(WITHHELD, name, key) for name, key in known.items() if was.get(name) != key)


def _link_rows(key: PairKey, old: Link | None, new: Link | None) -> Iterator[Row]:
    """The rows that turn what was known of a pair into what is known now."""
    for table, judged in ((VERDICTS, True), (PENDING, False)):
        was, known = (_link_value(link, judged=judged) for link in (old, new))
        if was != known:
            yield Row(table, encode_pair(key), known)


def _link_value(link: Link | None, *, judged: bool) -> list[Any] | float | None:
    if link is None or judged == (link.equivalent is None):
        return None
    return [link.equivalent, link.similarity] if judged else link.similarity


def _put(table: "MapMutation[Any, Any]", key: object, value: object) -> None:
    """Set a key, or with `None` remove it if it is there: equal evidence has equal keys."""
    if value is None:
        table.pop(key, None)
    else:
        table[key] = value
