"""A judge: which pairs are asked, how verdicts join atoms, and that it does not matter when they came."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from memforest_ray.facts.candidates import Kind, Mention
from memforest_ray.facts.canonical import Facts, Pair, Verdict, Wave, atom_id
from memforest_ray.ids import AtomId, digest
from memforest_ray.testing.facts import check_facts, day, mention

HAS = mention("Bob has a dog", said=1)
OWNS = mention("Bob owns a dog", "s2", said=2)
KEEPS = mention("Bob keeps a dog", "s3", said=3)


def _pair(one: Mention, other: Mention, similarity: float = 0.95) -> Pair:
    return Pair(atom_id(one), atom_id(other), similarity)


def _judged(facts: Facts, *equivalent: Pair) -> Facts:
    after = facts.with_verdicts([Verdict(pair, equivalent=True) for pair in equivalent]).facts
    check_facts(after)
    return after


def _wave(facts: Facts, *fresh: Mention, per_atom_max: int = 4, **similar: float) -> Wave:
    """The wave when all atoms are neighbours; `similar` gives cosines by the last letter of a text."""

    def neighbours(atom: AtomId) -> list[tuple[AtomId, float]]:
        text = facts.atoms[atom].mentions[0].candidate.text[-1]
        return [
            (other.id, similar.get(max(text, other.mentions[0].candidate.text[-1]), 0.95))
            for other in facts.atoms.values()
        ]

    return facts.pairs_to_judge([atom_id(m) for m in fresh], neighbours, per_atom_max)


def test_a_verdict_joins_two_atoms() -> None:
    """Equivalent: one fact, with the text and id of the lesser; not equivalent: two, and never asked again."""
    facts = Facts().edit([OWNS, HAS]).facts
    pair = _pair(HAS, OWNS)
    assert _wave(facts, OWNS) == Wave(ask=(pair,))
    (fact,) = _judged(facts, pair)
    assert (fact.text, fact.mentions) == ("Bob has a dog", (HAS, OWNS))
    apart = facts.with_verdicts([Verdict(pair, equivalent=False)])
    assert (len(apart.facts), apart.added, apart.removed) == (2, (), ())
    assert _wave(apart.facts, HAS, OWNS) == Wave()


def test_what_needs_no_judge_is_not_asked() -> None:
    """The rule decides for equal words, time for different intervals; an atom is not compared with itself."""
    told = [
        HAS,
        mention("Bob has the dog", "s4", said=4),
        mention("Bob ran", "s5", kind=Kind.EVENT, event=day(1)),
        mention("Bob jogged", "s6", kind=Kind.EVENT, event=day(2)),
    ]
    assert _wave(Facts().edit(told[:2]).facts, *told[:2]).ask == ()
    assert _wave(Facts().edit(told[2:]).facts, *told[2:]).ask == ()


def test_the_lesser_is_shown_first() -> None:
    """The order of a pair follows source times, not arrival; the verdict holds when that order turns."""
    facts = Facts().edit([OWNS]).facts.edit([HAS]).facts
    assert _wave(facts, OWNS).ask == (_pair(HAS, OWNS),)
    turned = _judged(facts, _pair(HAS, OWNS)).edit([mention("Bob owns a dog", "s0", said=0)]).facts
    (fact,) = turned
    assert fact.text == "Bob owns a dog"
    assert _wave(turned, HAS, OWNS) == Wave()


def test_at_most_four_verdicts_per_atom_and_write() -> None:
    """The most similar pairs are asked; the rest is pending and drained by later waves."""
    others = [mention(f"Bob has dog {n}", "s2", n, said=n) for n in range(7)]
    facts = Facts().edit([KEEPS, *others]).facts
    similar = {str(n): 0.93 + n / 100 for n in range(7)}
    wave = facts.pairs_to_judge(
        [atom_id(KEEPS)],
        lambda _: [(atom_id(m), similar[m.candidate.text[-1]]) for m in others],
    )
    assert [pair.similarity for pair in wave.ask] == [similar[n] for n in "6543"]
    assert [pair.similarity for pair in wave.pending] == [similar[n] for n in "210"]
    step = facts.with_verdicts([Verdict(pair, equivalent=False) for pair in wave.ask], wave.pending)
    assert len(step.facts.pending) == 3
    rest = step.facts.pairs_to_judge((), lambda _: [])
    assert rest == Wave(ask=wave.pending)
    assert len(step.facts.with_verdicts([Verdict(p, equivalent=True) for p in rest.ask]).facts.pending) == 0


def test_an_unanswered_pair_is_pending() -> None:
    """A pair that the judge did not answer can be noted, and is asked again."""
    facts = Facts().edit([HAS, OWNS]).facts
    noted = facts.with_verdicts((), [_pair(HAS, OWNS)]).facts
    check_facts(noted)
    assert len(noted) == 2
    assert _wave(noted) == Wave(ask=(_pair(HAS, OWNS),))


def test_a_verdict_on_what_has_gone_is_passed_over() -> None:
    """An answer that comes too late changes nothing."""
    facts = Facts().edit([HAS]).facts
    assert facts.with_verdicts([Verdict(_pair(HAS, OWNS), equivalent=True)], [_pair(HAS, KEEPS)]).facts == facts


def test_links_go_with_the_last_mention() -> None:
    """What is known of the pairs of an atom that was forgotten is forgotten too; a bridge that goes parts."""
    facts = Facts().edit([HAS, OWNS, KEEPS]).facts
    joined = _judged(facts, _pair(HAS, OWNS), _pair(OWNS, KEEPS)).with_verdicts((), [_pair(HAS, KEEPS)]).facts
    assert len(joined) == 1
    step = joined.edit(remove=[OWNS.id, HAS.id])
    check_facts(step.facts)
    assert step.facts == Facts().edit([KEEPS]).facts


def test_a_pending_pair_that_cannot_be_one_any_more_is_dropped() -> None:
    """When the day that two events shared goes, so does the question."""
    known = mention("Bob ran", said=3, kind=Kind.EVENT, event=day(1))
    again = mention("Bob ran", "s2", said=5, kind=Kind.EVENT, event=day(1))
    other = mention("Bob jogged", "s3", said=5, kind=Kind.EVENT)
    facts = Facts().edit([known, again, other]).facts.with_verdicts((), [_pair(known, other)]).facts
    assert len(facts.pending) == 1
    assert facts.edit(remove=[again.id]).facts == Facts().edit([known, other]).facts
    back = facts.edit(remove=[again.id]).facts.edit([again])
    assert back.fresh == (atom_id(known),)


def test_an_unknown_time_joins_the_most_similar() -> None:
    """Of two equivalent facts it joins the nearer; the similarity that counts was kept with the verdict."""
    far = mention("Bob was ill in May", said=1, event=day(5))
    near = mention("Bob was ill in June", "s2", said=2, event=day(9))
    unknown = mention("Bob was ill", "s3", said=3)
    facts = Facts().edit([far, near, unknown]).facts
    both = _judged(facts, _pair(far, unknown, 0.94), _pair(near, unknown, 0.97))
    assert [len(fact.mentions) for fact in both.in_order()] == [1, 2]
    tie = _judged(facts, _pair(far, unknown, 0.96), _pair(near, unknown, 0.96))
    assert [len(fact.mentions) for fact in tie.in_order()] == [2, 1]
    assert [len(fact.mentions) for fact in both.edit(remove=[near.id]).facts.in_order()] == [2]


def test_a_tie_turns_when_an_older_mention_comes() -> None:
    """Of two equally similar facts the lesser is joined, also when which one that is changes later."""
    one = mention("Bob was ill in May", said=4, event=day(5))
    two = mention("Bob was ill in June", "s2", said=5, event=day(9))
    unknown = mention("Bob was ill", "s3", said=6)
    facts = _judged(Facts().edit([one, two, unknown]).facts, _pair(one, unknown), _pair(two, unknown))
    assert [len(fact.mentions) for fact in facts.in_order()] == [2, 1]
    turned = facts.edit([mention("Bob was ill in June", "s0", said=1, event=day(9))]).facts
    check_facts(turned)
    assert [len(fact.mentions) for fact in turned.in_order()] == [3, 1]


def test_what_is_alike_no_more_is_fresh() -> None:
    """When the spelling goes that made two atoms one, a judge may be asked."""
    told = [mention("Bob knows Rose", said=1), mention("bob knows rose", "s2", said=2)]
    other = mention("bob knows rose.", "s3", said=3)
    facts = Facts().edit([*told, other]).facts
    assert (len(facts), _wave(facts, *told, other)) == (1, Wave())
    step = facts.edit(remove=[told[1].id])
    assert (len(step.facts), step.fresh) == (2, (atom_id(told[0]),))
    assert _wave(step.facts, told[0]).ask == (_pair(told[0], other),)


def test_a_chain_of_unknown_times_never_bridges_two_known() -> None:
    """known - unknown - unknown - known: each unknown has one way out, so the ends stay apart."""
    ends = [mention("Bob was ill in May", said=1, event=day(5)), mention("Bob ailed", "s2", said=2, event=day(9))]
    middle = [mention("Bob was ill", "s3", said=3), mention("Bob felt ill", "s4", said=4)]
    facts = _judged(
        Facts().edit([*ends, *middle]).facts,
        _pair(ends[0], middle[0], 0.94),
        _pair(middle[0], middle[1], 0.99),
        _pair(ends[1], middle[1], 0.95),
    )
    times = [{m.candidate.event for m in fact.mentions} - {None} for fact in facts]
    assert max(map(len, times)) == 1


TEXTS = ("Bob has a dog", "Bob has the dog", "Bob owns a dog", "Bob keeps a dog", "A dog is Bob's", "Bob had a dog")
mentions = st.builds(
    mention,
    st.sampled_from(TEXTS),
    st.sampled_from(("s1", "s2")),
    st.integers(0, 3),
    st.integers(0, 1),
    said=st.sampled_from((None, 0, 1, 2)),
    kind=st.sampled_from((Kind.STATE, Kind.EVENT)),
    event=st.sampled_from((None, None, day(1), day(2))),
)
mention_sets = st.lists(mentions, max_size=12, unique_by=lambda m: m.id)


def _similarity(one: AtomId, other: AtomId) -> float:
    """Some cosine of the pair, with many ties."""
    return 0.9 + int(digest(*sorted((one, other)), size=1), 16) % 4 / 40


def _verdict(pair: Pair) -> Verdict:
    """Some verdict on the pair, always the same."""
    return Verdict(pair, equivalent=int(digest("judge", *pair.key, size=1), 16) % 3 > 0)


def _wave_of(facts: Facts, fresh: tuple[AtomId, ...], per_atom_max: int) -> Wave:
    def neighbours(atom: AtomId) -> list[tuple[AtomId, float]]:
        cosines = [(other, _similarity(atom, other)) for other in facts.atoms]
        return [(other, cosine) for other, cosine in cosines if cosine > 0.91]

    return facts.pairs_to_judge(fresh, neighbours, per_atom_max)


def _write(facts: Facts, add: list[Mention], remove: list[Mention], per_atom_max: int) -> Facts:
    edit = facts.edit(add, [m.id for m in remove])
    wave = _wave_of(edit.facts, edit.fresh, per_atom_max)
    return edit.then(edit.facts.with_verdicts(map(_verdict, wave.ask), wave.pending)).facts


def _drained(facts: Facts) -> Facts:
    while facts.pending:
        facts = _write(facts, [], [], 1)
    return facts


@settings(max_examples=150)
@given(told=mention_sets, extra=mention_sets, per_atom_max=st.integers(1, 4), rng=st.randoms(use_true_random=False))
def test_judged_facts_are_a_function_of_the_set(
    told: list[Mention], extra: list[Mention], per_atom_max: int, rng: random.Random
) -> None:
    """With the same verdict per pair and none pending, any order, batching and forgetting gives equal facts."""
    expected = _drained(_write(Facts(), told, [], 4))
    check_facts(expected)
    known = {m.id for m in told}
    guests = [m for m in extra if m.id not in known]
    arrivals = [*told, *guests]
    rng.shuffle(arrivals)
    facts = Facts()
    while arrivals:
        batch = [arrivals.pop() for _ in range(rng.randint(1, len(arrivals)))]
        facts = _write(facts, batch, [], per_atom_max)
        check_facts(facts)
    rng.shuffle(guests)
    for guest in guests:
        facts = _write(facts, [], [guest], per_atom_max)
        check_facts(facts)
    facts = _drained(facts)
    check_facts(facts)
    assert (facts.shown, facts.homes, facts.mentions) == (expected.shown, expected.homes, expected.mentions)
