"""Facts: mentions without ceremony, and what must hold of all facts."""

from itertools import combinations

from memforest_ray.facts.atoms import DAY_MS, Atom, atom_id, times_agree
from memforest_ray.facts.candidates import Candidate, Kind, Mention
from memforest_ray.facts.canonical import Fact, Facts
from memforest_ray.facts.evidence import Evidence
from memforest_ray.facts.times import EventTime, Precision
from memforest_ray.ids import AtomId, CellId, FactId, SessionId

__all__ = ["check_facts", "day", "mention"]


def day(number: int, expression: str = "", base_ms: int | None = None) -> EventTime:
    """The whole UTC day of this number, counted from 1970."""
    return EventTime(number * DAY_MS, (number + 1) * DAY_MS, Precision.DAY, expression, base_ms)


def mention(
    text: str,
    session: str = "s1",
    turn: int = 0,
    number: int = 0,
    *,
    said: int | None = 0,
    kind: Kind = Kind.STATE,
    speaker: str = "Bob",
    subject: str | None = None,
    attribute: str | None = None,
    value: str | None = None,
    entities: tuple[str, ...] = (),
    event: EventTime | None = None,
) -> Mention:
    """A mention in the cell of one turn. `said` is the day number of its source time (at noon)."""
    candidate = Candidate(
        text,
        kind,
        speaker,
        "user",
        (turn,),
        subject=subject,
        attribute=attribute,
        value=value,
        entities=entities,
        event=event,
    )
    source_ms = None if said is None else said * DAY_MS + DAY_MS // 2
    return Mention.of(CellId(f"c-{session}-{turn}"), SessionId(session), number, source_ms, candidate)


def check_facts(facts: Facts) -> None:
    """Assert that the facts are what their evidence says, found again without any index."""
    _check_atoms(facts.evidence)
    everything = {**dict(facts.shown.items()), **dict(facts.hidden.items())}
    groups = {frozenset(fact.atoms) for fact in everything.values()}
    assert groups == _groups(facts.evidence)
    assert len(everything) == len(facts.shown) + len(facts.hidden)
    assert dict(facts.homes.items()) == {atom: fact.id for fact in everything.values() for atom in fact.atoms}
    for fact in everything.values():
        _check_fact(facts, fact)


def _check_atoms(evidence: Evidence) -> None:
    told: dict[AtomId, list[Mention]] = {}
    cells: dict[CellId, list[Mention]] = {}
    for known in evidence.mentions.values():
        told.setdefault(atom_id(known), []).append(known)
        cells.setdefault(known.cell_id, []).append(known)
    assert dict(evidence.atoms.items()) == {atom: Atom.of(atom, mentions) for atom, mentions in told.items()}
    assert dict(evidence.by_cell.items()) == {
        cell: tuple(m.id for m in sorted(mentions, key=lambda m: (m.number, m.id))) for cell, mentions in cells.items()
    }
    keys = {key for atom in evidence.atoms.values() for key in atom.keys}
    assert dict(evidence.alike.items()) == {
        key: tuple(sorted(atom.entry for atom in evidence.atoms.values() if key in atom.keys)) for key in keys
    }


def _check_fact(facts: Facts, fact: Fact) -> None:
    atoms = sorted((facts.atoms[atom] for atom in fact.atoms), key=lambda atom: atom.entry)
    assert fact.atoms == tuple(atom.id for atom in atoms)
    assert fact.id == FactId(atoms[0].id)
    assert fact.text == atoms[0].mentions[0].candidate.text
    assert len({atom.interval for atom in atoms if atom.interval is not None}) <= 1
    assert sorted(m.id for m in fact.mentions) == sorted(m.id for atom in atoms for m in atom.mentions)
    hides = any(facts.withheld.hides(atom) for atom in fact.atoms)
    assert (fact.id in facts.hidden) == hides


def _groups(evidence: Evidence) -> set[frozenset[AtomId]]:
    """Connected components, by the definition: every pair is looked at."""
    atoms = list(evidence.atoms.values())
    group = {atom.id: {atom.id} for atom in atoms}
    edges = [
        (one.id, other.id)
        for one, other in combinations(atoms, 2)
        if one.interval is not None and other.interval is not None and _offer(evidence, one, other) is not None
    ]
    for atom in atoms:
        if atom.interval is None:
            offers = [(-offer, other.entry) for other in atoms if (offer := _offer(evidence, atom, other)) is not None]
            edges += [(atom.id, min(offers)[1][1])] if offers else []
    for one, other in edges:
        joined = group[one] | group[other]
        group.update(dict.fromkeys(joined, joined))
    return {frozenset(members) for members in group.values()}


def _offer(evidence: Evidence, one: Atom, other: Atom) -> float | None:
    """The similarity at which two atoms could be joined; `None` when they could not."""
    if one.id == other.id or not times_agree(one, other):
        return None
    if one.alike(other):
        return 1.0
    links = evidence.links.get(one.id)
    link = None if links is None else links.get(other.id)
    return link.similarity if link is not None and link.equivalent else None
