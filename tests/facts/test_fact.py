"""Facts: what they show, and what they showed earlier."""

import pytest

from memforest_ray.facts.atoms import DAY_MS, Atom, atom_id
from memforest_ray.facts.candidates import Kind, Mention
from memforest_ray.facts.fact import Fact
from memforest_ray.testing.facts import day, mention

NOON = DAY_MS // 2


def _fact(*mentions: Mention) -> Fact:
    by_atom: dict[str, list[Mention]] = {}
    for known in mentions:
        by_atom.setdefault(atom_id(known), []).append(known)
    atoms = [Atom.of(atom_id(told[0]), told) for told in by_atom.values()]
    return Fact.of(sorted(atoms, key=lambda atom: atom.entry))


LIVES = mention("Bob lives in Davis", "s2", 4, said=20, entities=("Davis", "Bob"))
HOME = mention(
    "Davis is Bob's home",
    "s1",
    7,
    said=25,
    speaker="Maya",
    subject="Bob",
    attribute="residence",
    value="Davis",
    entities=("bob", "Home"),
    event=day(3),
)
UNDATED = mention("Bob lives in Davis", "s0", 1, said=None)


def test_a_fact_shows_its_least_mention() -> None:
    """Text, kind, speaker, place and times come from the mention that was said first."""
    fact = _fact(UNDATED, HOME, LIVES)
    assert str(fact.id) == atom_id(LIVES)
    assert fact.atoms == (atom_id(LIVES), atom_id(HOME))
    assert fact.mentions == (LIVES, HOME, UNDATED)
    assert (fact.text, fact.kind, fact.speaker, fact.role) == ("Bob lives in Davis", Kind.STATE, "Bob", "user")
    assert (fact.session_id, fact.turn, fact.domain) == ("s2", 4, "other")
    assert (fact.source_ms, fact.latest_source_ms, fact.undated) == (20 * DAY_MS + NOON, 25 * DAY_MS + NOON, True)


def test_a_fact_gathers_from_all_mentions() -> None:
    """Speakers, entities and turns are a union in order; subject, attribute and value stay together."""
    fact = _fact(UNDATED, HOME, LIVES)
    assert fact.speakers == ("Bob", "Maya")
    assert fact.entities == ("Davis", "Bob", "Home")
    assert (fact.subject, fact.attribute, fact.value) == ("Bob", "residence", "Davis")
    assert fact.turns == (("s2", 4), ("s1", 7), ("s0", 1))
    assert fact.sessions == {"s0", "s1", "s2"}
    assert fact.event == day(3)
    assert fact.confidence == 1.0
    assert fact.topics == ()


def test_unknown_times() -> None:
    """A fact that was only told without times has none."""
    fact = _fact(UNDATED)
    assert (fact.source_ms, fact.latest_source_ms, fact.undated, fact.event) == (None, None, True, None)
    assert (fact.subject, fact.attribute, fact.value) == (None, None, None)
    assert fact.as_of(10**15) is None


@pytest.mark.parametrize(
    ("instant_ms", "expected"),
    [
        (20 * DAY_MS, None),
        (20 * DAY_MS + NOON, (LIVES,)),
        (30 * DAY_MS, (LIVES, HOME)),
    ],
)
def test_as_of(instant_ms: int, expected: tuple[Mention, ...] | None) -> None:
    """Only what was said by then is known: no later mention, time, name or speaker, nothing undated."""
    known = _fact(UNDATED, HOME, LIVES).as_of(instant_ms)
    assert known == (None if expected is None else _fact(*expected))


def test_as_of_shares_what_is_known_in_full() -> None:
    """Nothing is built where nothing is hidden; a fact of one atom keeps that atom."""
    told = [mention("Bob lives in Davis", f"s{n}", said=n) for n in range(3)]
    fact = _fact(*told)
    assert fact.as_of(5 * DAY_MS) is fact
    assert fact.as_of(2 * DAY_MS) == _fact(*told[:2])
