"""Canonical facts without a judge: what is one, what is not, and that nothing depends on order."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.facts.candidates import Kind, Mention
from memforest_ray.facts.canonical import Facts, FactsEdit, atom_id
from memforest_ray.facts.times import EventTime
from memforest_ray.testing.facts import check_facts, day, mention


def _facts(*mentions: Mention) -> Facts:
    facts = Facts().edit(mentions).facts
    check_facts(facts)
    return facts


def _texts(facts: Facts) -> list[str]:
    return [fact.text for fact in facts.in_order()]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ana is allergic to nuts", "Ana is not allergic to nuts"),
        ("Ana flew from Boston to Davis", "Ana flew from Davis to Boston"),
        ("The door code is 7-A", "The door code is 9-A"),
        ("The wedding is on 3 May", "The wedding is on 10 May"),
        ("Bob has been 5 years at the firm", "Bob has been 6 years at the firm"),
        ("李明住在北京", "李明住在南京"),
    ],
)
@pytest.mark.parametrize("kind", list(Kind))
def test_near_duplicates_stay_two(one: str, other: str, kind: Kind) -> None:
    """A word that turns the meaning keeps two statements apart, whatever their kind."""
    facts = _facts(mention(one, said=1, kind=kind), mention(other, "s2", said=1, kind=kind))
    assert _texts(facts) == [one, other]


def test_the_same_statement_is_one_fact() -> None:
    """Said again, with another spelling, article or full stop, it is one fact with three mentions."""
    told = [
        mention("Bob has a dog", said=1),
        mention("Bob has  a DOG", "s2", said=2),
        mention("Bob has the dog.", "s3", said=3),
    ]
    (fact,) = _facts(*told)
    assert fact.mentions == tuple(told)
    assert len(fact.atoms) == 2


@pytest.mark.parametrize("with_today", [True, False])
@pytest.mark.parametrize("text", ["Bob went to the gym", "Bob went to the gym today"])
def test_five_visits_stay_five(text: str, with_today: bool) -> None:
    """The same words on five days are five events, with and without a time of their own."""
    visits = [
        mention(text, f"s{n}", said=n, kind=Kind.EVENT, event=day(n, "today") if with_today else None)
        for n in (1, 3, 8, 9, 30)
    ]
    assert [fact.source_ms for fact in _facts(*visits).in_order()] == [visit.source_ms for visit in visits]


def test_five_visits_told_both_ways_stay_five() -> None:
    """Some with a time and some without, some told twice a day: still one a day."""
    visits = [
        mention("Bob went to the gym", f"s{n}", turn, said=n, kind=Kind.EVENT, event=day(n) if n % 2 else None)
        for n in (1, 2, 3, 4, 5)
        for turn in (0, 2)
    ]
    mixed = mention("Bob went to the gym", "s3", 4, said=3, kind=Kind.EVENT)
    facts = _facts(*visits, mixed)
    assert [len(fact.mentions) for fact in facts.in_order()] == [2, 2, 3, 2, 2]


def test_one_event_told_on_two_days_is_one() -> None:
    """Yesterday on the 4th is today on the 3rd."""
    told = [
        mention("Bob ran today", said=3, kind=Kind.EVENT, event=day(3, "today")),
        mention("Bob ran yesterday", "s2", said=4, kind=Kind.EVENT, event=day(3, "yesterday")),
    ]
    (fact,) = _facts(*told)
    assert (fact.event, fact.mentions) == (day(3, "today"), tuple(told))


def test_a_known_time_is_shown_by_the_whole_fact() -> None:
    """A state of unknown time joined with one of known time shows the known time."""
    (fact,) = _facts(mention("Bob has a dog", said=1), mention("Bob has a dog.", "s2", said=2, event=day(9)))
    assert (fact.text, fact.event) == ("Bob has a dog", day(9))


def test_two_times_are_never_bridged() -> None:
    """A state of unknown time joins the least of two that it equals; those two stay apart."""
    facts = _facts(
        mention("Bob is ill", said=5, event=day(5)),
        mention("Bob is ill", "s2", said=9, event=day(9)),
        mention("Bob is ill.", "s3", said=7),
    )
    assert [(fact.event, len(fact.mentions)) for fact in facts.in_order()] == [(day(5), 2), (day(9), 1)]


def test_many_spellings_of_unknown_time_are_one() -> None:
    """Each of them chooses the least, the least the second: no class of spellings falls apart."""
    spellings = ("Bob has a dog", "Bob has a dog!", "Bob has the dog", "Bob has the dog!", "Bob has the dog;")
    assert len(_facts(*(mention(text, f"s{n}", said=n) for n, text in enumerate(spellings)))) == 1


def test_all_spellings_count() -> None:
    """An older mention in lower case, which hides what is a name, does not part what was one."""
    told = [mention("Bob knows Rose", said=3), mention("Bob knows Rose.", "s2", said=4)]
    assert len(_facts(*told, mention("bob knows rose", "s3", said=1))) == 1


def test_two_speakers() -> None:
    """Two can say one thing of a third; what each says of himself stays his own."""
    of_bob = [mention("Bob has a dog", "s1", n, speaker=name, subject="Bob") for n, name in enumerate(("Ana", "Bob"))]
    own = [mention("I like tea", "s2", n, speaker=name, subject="Bob") for n, name in enumerate(("Ana", "Bob"))]
    facts = _facts(*of_bob, *own)
    assert [fact.speakers for fact in facts.in_order()] == [("Ana", "Bob"), ("Ana",), ("Bob",)]


def test_every_atom_addresses_its_fact() -> None:
    """A fact is found by the id of any atom in it, also of one that is not the least any more."""
    late, early = mention("Bob has a dog", said=9), mention("Bob has a dog.", "s2", said=1)
    before = _facts(late)
    after = before.edit([early]).facts
    assert before.get(atom_id(late)) is not None
    assert after.get(atom_id(late)) == after.get(atom_id(early)) == next(iter(after))
    assert str(next(iter(after)).id) == atom_id(early)
    assert after.get(atom_id(mention("Never said"))) is None


def test_a_changed_fact_is_removed_and_added() -> None:
    """An edit names the facts it touched, old and new, and no others."""
    first, other, again = mention("Bob runs"), mention("Bob swims", turn=2), mention("Bob runs", "s2", said=3)
    one = Facts().edit([first, other])
    assert ([fact.text for fact in one.added], one.removed) == (["Bob runs", "Bob swims"], ())
    two = one.facts.edit([again])
    assert [fact.mentions for fact in two.removed] == [(first,)]
    assert [fact.mentions for fact in two.added] == [(first, again)]
    assert two.fresh == (atom_id(again),)
    three = two.facts.edit(remove=[first.id, again.id])
    assert ([fact.text for fact in three.removed], three.added, three.fresh) == (["Bob runs"], (), ())


def test_nothing_new_changes_nothing() -> None:
    """What is there already, what was never there, and what leaves and returns at once leave no trace."""
    told = [mention("Bob runs"), mention("Bob swims", turn=2)]
    facts = _facts(*told)
    assert facts.edit(told, [mention("Never", "s9").id]) == FactsEdit(facts)
    assert facts.edit(told, [m.id for m in told]) == FactsEdit(facts)
    assert facts.edit() == FactsEdit(facts)


def test_a_mention_of_the_same_id_takes_its_place() -> None:
    """One place holds one mention."""
    facts = _facts(mention("Bob runs")).edit([mention("Bob swims")]).facts
    check_facts(facts)
    assert _texts(facts) == ["Bob swims"]


def test_untouched_facts_are_shared() -> None:
    """An edit leaves the other facts the same objects."""
    facts = _facts(mention("Bob runs"), mention("Bob swims", turn=2))
    after = facts.edit([mention("Bob runs", "s2")]).facts
    swims = atom_id(mention("Bob swims"))
    assert after.get(swims) is facts.get(swims)


def test_of_cell() -> None:
    """What a cell told, by candidate number."""
    told = [mention("Bob runs", number=1), mention("Bob swims", number=0), mention("Bob sings", turn=2)]
    facts = _facts(*told)
    assert facts.of_cell(told[0].cell_id) == (told[1], told[0])
    assert facts.edit(remove=[told[2].id]).facts.of_cell(told[2].cell_id) == ()


def test_growth_is_one_ingest() -> None:
    """The open cell withdrawn and cut anew in one edit equals the grown session ingested at once."""
    short = [mention("Bob runs"), mention("Bob swims", turn=2)]
    grown = [mention("Bob swims", turn=2, number=1), mention("Bob sings", turn=2), mention("Bob runs", turn=4)]
    facts = _facts(*short)
    step = facts.edit(grown, [m.id for m in facts.of_cell(short[1].cell_id)])
    assert step.facts == _facts(short[0], *grown)


def test_two_edits_as_one() -> None:
    """Facts that came and went in between do not show; the last row of a key counts."""
    facts = _facts(mention("Bob runs"), mention("Bob has a dog", turn=8))
    one = facts.edit([mention("Bob swims", turn=2), mention("Bob has the dog", "s2", said=5)])
    two = one.facts.edit([mention("Bob sings", turn=4)], [mention("Bob swims", turn=2).id, mention("Bob runs").id])
    both = one.then(two)
    at_once = facts.edit(
        [mention("Bob sings", turn=4), mention("Bob has the dog", "s2", said=5)], [mention("Bob runs").id]
    )
    assert both.facts == at_once.facts
    assert [sorted(facts, key=lambda fact: fact.id) for facts in (both.added, both.removed)] == [
        sorted(facts, key=lambda fact: fact.id) for facts in (at_once.added, at_once.removed)
    ]
    assert both.then(FactsEdit(both.facts)) == both


def test_a_fact_that_changes_back_was_not_touched() -> None:
    """Added to and taken from again, a fact is neither added nor removed."""
    facts = _facts(mention("Bob runs"))
    one = facts.edit([mention("Bob runs", "s2")])
    both = one.then(one.facts.edit(remove=[mention("Bob runs", "s2").id]))
    assert (both.facts, both.added, both.removed) == (facts, (), ())


TEXTS = ("Bob has a dog", "bob has a DOG", "Bob has the dog.", "Bob has the dog today", "Bob has no dog", "Ana runs")
EVENTS: tuple[EventTime | None, ...] = (None, None, day(1, "today"), day(2, "today"))
mentions = st.builds(
    mention,
    st.sampled_from(TEXTS),
    st.sampled_from(("s1", "s2")),
    st.integers(0, 3),
    st.integers(0, 1),
    said=st.sampled_from((None, 0, 1, 2)),
    kind=st.sampled_from((Kind.STATE, Kind.EVENT, Kind.PLAN)),
    speaker=st.sampled_from(("Ana", "Bob")),
    subject=st.sampled_from((None, "Bob")),
    event=st.sampled_from(EVENTS),
)
mention_sets = st.lists(mentions, max_size=14, unique_by=lambda m: m.id)


def _batches(told: Sequence[Mention], rng: random.Random) -> list[list[Mention]]:
    batches: list[list[Mention]] = [[] for _ in range(rng.randint(1, 5))]
    for known in told:
        rng.choice(batches).append(known)
    return batches


@given(told=mention_sets, extra=mention_sets, rng=st.randoms(use_true_random=False))
def test_facts_are_a_function_of_the_set(told: list[Mention], extra: list[Mention], rng: random.Random) -> None:
    """Any order and batching, with anything else added and removed again, gives equal facts."""
    expected = _facts(*told)
    known = {m.id for m in told}
    guests = [m for m in extra if m.id not in known]
    facts = Facts()
    for batch in _batches([*told, *guests], rng):
        rng.shuffle(batch)
        facts = facts.edit(batch).facts
        check_facts(facts)
    for batch in _batches(guests, rng):
        facts = facts.edit(remove=[m.id for m in batch]).facts
    assert facts == expected


@given(first=mention_sets, second=mention_sets, rng=st.randoms(use_true_random=False))
def test_an_edit_names_what_differs(first: list[Mention], second: list[Mention], rng: random.Random) -> None:
    """Facts before, without `removed`, with `added`, are the facts after; only real changes are named."""
    before = Facts().edit(first).facts
    gone = [m.id for m in first if rng.random() < 0.4]
    edit = before.edit(second, gone)
    check_facts(edit.facts)
    assert set(before) - set(edit.removed) | set(edit.added) == set(edit.facts)
    assert set(edit.added) == set(edit.facts) - set(before)
    assert set(edit.removed) == set(before) - set(edit.facts)
    orders = [[fact.mentions[0].source_ms or 10**15 for fact in facts] for facts in (edit.added, edit.removed)]
    assert orders == [sorted(order) for order in orders]
