"""Withheld facts: what was forgotten does not come back."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.errors import NotFound
from memforest_ray.facts.candidates import Kind, Mention
from memforest_ray.facts.canonical import Facts, Pair, Verdict, atom_id
from memforest_ray.facts.withheld import Withheld, keyed_hash
from memforest_ray.testing.facts import check_facts, day, mention

KEY, OTHER_KEY = "00" * 16, "f1" * 16
PIN = mention("Bob's word is HERON", said=1)
AGAIN = mention("Bob's word is HERON.", "s2", said=2)
DOG = mention("Bob has a dog", "s1", 2, said=1)


def _withheld(*told: Mention) -> Facts:
    """Facts of `told` with the fact of the first one withheld."""
    facts = Facts().edit(told).facts.withhold(atom_id(told[0]), KEY).facts
    check_facts(facts)
    return facts


def test_a_withheld_fact_is_not_shown() -> None:
    """It is removed from what is shown; its dialogue, and so its mentions, stay."""
    step = Facts().edit([PIN, DOG]).facts.withhold(atom_id(PIN), KEY)
    check_facts(step.facts)
    assert [fact.text for fact in step.removed] == ["Bob's word is HERON"]
    assert [fact.text for fact in step.facts] == ["Bob has a dog"]
    assert (step.added, step.facts.get(atom_id(PIN)), len(step.facts.mentions)) == ((), None, 2)


def test_an_equal_statement_stays_away() -> None:
    """Said again in the same words, or in words that the rule or a judge calls equal, it is not shown."""
    facts = _withheld(PIN, DOG)
    other = mention("HERON is the word of Bob", "s3", said=3)
    step = facts.edit([AGAIN, mention("bob's word is heron", "s4", said=0), other])
    assert [fact.text for fact in step.added] == ["HERON is the word of Bob"]
    judged = step.facts.with_verdicts([Verdict(Pair(atom_id(PIN), atom_id(other), 0.95), equivalent=True)])
    check_facts(judged.facts)
    assert [fact.text for fact in judged.facts] == ["Bob has a dog"]
    assert [fact.text for fact in judged.removed] == ["HERON is the word of Bob"]


def test_pairs_with_withheld_atoms_are_asked() -> None:
    """A judge has to see what is withheld, else a paraphrase would be shown."""
    other = mention("HERON is the word of Bob", "s3", said=3)
    facts = _withheld(PIN).edit([other]).facts
    wave = facts.pairs_to_judge([atom_id(other)], lambda _: [(atom_id(PIN), 0.95)])
    assert wave.ask == (Pair(atom_id(PIN), atom_id(other), 0.95),)


def test_the_whole_fact_is_withheld() -> None:
    """All its atoms are, also when the one that led goes."""
    facts = _withheld(PIN, AGAIN)
    assert set(facts.withheld.atoms) == {atom_id(PIN), atom_id(AGAIN)}
    assert len(facts.edit(remove=[PIN.id]).facts) == 0


def test_once_the_dialogue_goes_only_a_hash_stays() -> None:
    """Nothing of the statement, nor its id, is kept; sent again it is dropped and named."""
    gone = _withheld(PIN, DOG).edit(remove=[PIN.id])
    check_facts(gone.facts)
    assert gone.facts.evidence.withheld == Withheld().absorb([(KEY, keyed_hash(KEY, atom_id(PIN)))])
    assert [(row.table, row.key, row.value is None) for row in gone.rows] == [
        ("mentions", PIN.id, True),
        ("withheld", atom_id(PIN), True),
        ("withheld", "h" + keyed_hash(KEY, atom_id(PIN)), False),
    ]
    back = gone.facts.edit([PIN, mention("BOB'S word is heron", "s9", said=9)])
    assert (back.facts, back.added, back.rows) == (gone.facts, (), ())
    assert [m.session_id for m in back.dropped] == ["s1", "s9"]


def test_repair_in_one_edit_keeps_it_withheld() -> None:
    """A cell extracted anew, its mention withdrawn and told again, changes nothing."""
    facts = _withheld(PIN, DOG)
    step = facts.edit([PIN], [PIN.id])
    assert (step.facts, step.dropped) == (facts, ())


def test_a_mention_that_must_not_come_back_takes_nobodys_place() -> None:
    """Where a dropped mention would have replaced another of its id, the other goes all the same."""
    gone = _withheld(PIN).edit(remove=[PIN.id]).facts
    step = gone.edit([mention("Bob has a cat", said=1)]).facts.edit([PIN])
    assert (step.facts, step.dropped) == (gone, (PIN,))


def test_withhold_what_is_not_shown() -> None:
    """An unknown or already withheld fact is not found, and nothing changes."""
    facts = _withheld(PIN)
    for name in (atom_id(PIN), atom_id(DOG)):
        with pytest.raises(NotFound, match=name):
            facts.withhold(name, KEY)


def test_readmit() -> None:
    """Withholding can be lifted, while the dialogue stays and after it went."""
    facts = _withheld(PIN, DOG)
    shown = facts.readmit([atom_id(PIN)])
    assert shown.facts == Facts().edit([PIN, DOG]).facts
    assert [fact.text for fact in shown.added] == ["Bob's word is HERON"]
    gone = facts.edit(remove=[PIN.id]).facts.readmit([atom_id(PIN)])
    assert gone.facts.edit([PIN]).facts == shown.facts
    assert [(row.key, row.value) for row in gone.rows] == [("h" + keyed_hash(KEY, atom_id(PIN)), None)]


def test_another_forests_withheld_are_taken_over() -> None:
    """What is here is hidden, what is not is known by its hash; each set keeps its key."""
    here, absent = atom_id(PIN), atom_id(mention("Ana's word is CRANE"))
    foreign = [(OTHER_KEY, keyed_hash(OTHER_KEY, atom)) for atom in (here, absent)]
    facts = Facts().edit([PIN, DOG]).facts.withhold_hashed(foreign).facts
    check_facts(facts)
    assert dict(facts.withheld.atoms.items()) == {here: OTHER_KEY}
    assert list(facts.withheld.pairs()) == foreign[1:]
    assert [m.candidate.text for m in facts.edit([mention("Ana's word is CRANE", "s5")]).dropped] == [
        "Ana's word is CRANE"
    ]
    assert facts.withhold(atom_id(DOG), KEY).facts.withhold_hashed(foreign).facts.withheld.key_of(absent) == OTHER_KEY


def test_keys_make_hashes_differ() -> None:
    """The same atom has another hash in another set."""
    assert keyed_hash(KEY, atom_id(PIN)) != keyed_hash(OTHER_KEY, atom_id(PIN))
    assert len(keyed_hash(KEY, atom_id(PIN))) == 32


TEXTS = ("Bob has a dog", "Bob has the dog", "Bob has a DOG!", "Bob has no dog", "Ana has a dog")
mentions = st.builds(
    mention,
    st.sampled_from(TEXTS),
    st.sampled_from(("s1", "s2")),
    st.integers(0, 3),
    said=st.sampled_from((None, 0, 1)),
    kind=st.sampled_from((Kind.STATE, Kind.EVENT)),
    event=st.sampled_from((None, day(1))),
)
mention_sets = st.lists(mentions, min_size=1, max_size=10, unique_by=lambda m: m.id)


@given(told=mention_sets, rng=st.randoms(use_true_random=False))
def test_a_withheld_atom_never_returns(told: list[Mention], rng: random.Random) -> None:
    """Whatever is removed and sent again, no atom of a withheld fact is ever shown."""
    facts = Facts().edit(told).facts
    victim = rng.choice(facts.in_order())
    facts = facts.withhold(victim.id, KEY).facts
    for _ in range(6):
        some = [m for m in told if rng.random() < 0.5]
        step = facts.edit(remove=[m.id for m in some]) if rng.random() < 0.5 else facts.edit(some)
        facts = step.facts
        check_facts(facts)
        assert not {atom for fact in facts for atom in fact.atoms} & set(victim.atoms)
        assert set(map(atom_id, step.dropped)) <= set(victim.atoms)
        assert set(facts.withheld.atoms) == set(victim.atoms) & set(facts.atoms)
