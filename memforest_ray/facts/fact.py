"""Facts: what a forest knows. One atom, or several that are one statement."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memforest_ray.facts.atoms import Atom, atom_id, mention_order, text_key
from memforest_ray.facts.candidates import Candidate, Kind, Mention
from memforest_ray.facts.times import EventTime
from memforest_ray.ids import AtomId, FactId, SessionId

__all__ = ["Fact"]


@dataclass(frozen=True, slots=True)
class Fact:
    """A canonical fact. All it shows is computed from its mentions, so nothing that was forgotten."""

    id: FactId
    """The id of its least atom."""
    atoms: tuple[AtomId, ...]
    """The least first; each of them addresses the fact."""
    mentions: tuple[Mention, ...]
    """In order: earliest source time first, unknown last."""

    @classmethod
    def of(cls, atoms: Sequence[Atom]) -> "Fact":
        """The fact of these atoms, the least first."""
        least = atoms[0]
        if len(atoms) == 1:
            return cls(FactId(least.id), (least.id,), least.mentions)
        ranked = [
            (*mention_order(mention), atom.entry[0][-1], mention.id, mention)
            for atom in atoms
            for mention in atom.mentions
        ]
        mentions = tuple(entry[-1] for entry in sorted(ranked, key=lambda entry: entry[:-1]))
        return cls(FactId(least.id), tuple(atom.id for atom in atoms), mentions)

    def as_of(self, instant_ms: int) -> "Fact | None":
        """The fact as it was known then: only mentions with a known source time up to `instant_ms`."""
        known = tuple(m for m in self.mentions if m.source_ms is not None and m.source_ms <= instant_ms)
        if len(known) == len(self.mentions):
            return self
        if not known:
            return None
        if len(self.atoms) == 1:
            return Fact(self.id, self.atoms, known)
        told = set(map(atom_id, known))
        return Fact(self.id, tuple(atom for atom in self.atoms if atom in told), known)

    @property
    def text(self) -> str:
        return self._least.text

    @property
    def kind(self) -> Kind:
        return self._least.kind

    @property
    def speaker(self) -> str:
        return self._least.speaker

    @property
    def role(self) -> str:
        return self._least.role

    @property
    def domain(self) -> str:
        return self._least.domain

    @property
    def speakers(self) -> tuple[str, ...]:
        """All who said it, in order."""
        return self._each(lambda candidate: (candidate.speaker,))

    @property
    def entities(self) -> tuple[str, ...]:
        """Of all mentions, in order; spellings that fold to the same are one, the first."""
        return self._each(lambda candidate: candidate.entities)

    @property
    def topics(self) -> tuple[str, ...]:
        return self._each(lambda candidate: candidate.topics)

    @property
    def subject(self) -> str | None:
        """Subject, attribute and value come from one mention, the first that has an attribute."""
        return self._stated.subject

    @property
    def attribute(self) -> str | None:
        return self._stated.attribute

    @property
    def value(self) -> str | None:
        return self._stated.value

    @property
    def confidence(self) -> float:
        """That of the surest mention."""
        return max(mention.candidate.confidence for mention in self.mentions)

    @property
    def event(self) -> EventTime | None:
        """The event time, from the least mention that has one; no two mentions have different intervals."""
        for mention in self.mentions:
            if mention.candidate.event is not None:
                return mention.candidate.event
        return None

    @property
    def corrected_from(self) -> str | None:
        """The fact that this one was put in the place of; None for one that was only ever said."""
        return next((m.candidate.corrected_from for m in self.mentions if m.candidate.corrected_from), None)

    @property
    def source_ms(self) -> int | None:
        """When it was first said, as far as known."""
        return self.mentions[0].source_ms

    @property
    def latest_source_ms(self) -> int | None:
        """When it was last said, as far as known."""
        return max([m.source_ms for m in self.mentions if m.source_ms is not None], default=None)

    @property
    def undated(self) -> bool:
        """Whether some mention has no source time."""
        return self.mentions[-1].source_ms is None

    @property
    def session_id(self) -> SessionId:
        """The session of the least mention; with `turn` and the times it decides the place in a tree."""
        return self.mentions[0].session_id

    @property
    def turn(self) -> int:
        """The first source turn of the least mention, counted from 0 in its session."""
        return self._least.turns[0]

    @property
    def sessions(self) -> frozenset[SessionId]:
        return frozenset(mention.session_id for mention in self.mentions)

    @property
    def turns(self) -> tuple[tuple[SessionId, int], ...]:
        """Every source turn once, in the order of the mentions."""
        return tuple(dict.fromkeys([(m.session_id, turn) for m in self.mentions for turn in m.candidate.turns]))

    @property
    def _least(self) -> Candidate:
        return self.mentions[0].candidate

    @property
    def _stated(self) -> Candidate:
        for mention in self.mentions:
            if mention.candidate.attribute is not None:
                return mention.candidate
        return self._least

    def _each(self, names: Callable[[Candidate], Iterable[str]]) -> tuple[str, ...]:
        first: dict[str, str] = {}
        for mention in self.mentions:
            for name in names(mention.candidate):
                first.setdefault(_name_key(name), name)
        return tuple(first.values())


_name_key = lru_cache(maxsize=1 << 14)(text_key)
"""Names return again and again."""
