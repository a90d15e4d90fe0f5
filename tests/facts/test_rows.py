"""Rows of facts: written down, read again, and refused when damaged."""

import random
from itertools import pairwise
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.errors import CorruptState
from memforest_ray.facts.candidates import Candidate, Kind, Mention
from memforest_ray.facts.canonical import Facts, FactsEdit, Pair, Row, Verdict, atom_id
from memforest_ray.facts.rows import decode_mention, decode_pair, encode_mention, encode_pair
from memforest_ray.facts.times import EventTime, Precision
from memforest_ray.ids import AtomId, CellId, SessionId
from memforest_ray.testing.facts import check_facts, day, mention

KEY = "ab" * 16
HAS, OWNS, KEEPS = (mention(f"Bob {verb} a dog", f"s{n}", said=n) for n, verb in enumerate(("has", "owns", "keeps")))

Tables = dict[str, dict[str, Any]]


def _written(tables: Tables, *rows: Row) -> Tables:
    """The tables after these rows, through the bytes they are stored in."""
    for row in rows:
        if row.value is None:
            del tables[row.table][row.key]
        else:
            value = msgpack.unpackb(msgpack.packb(row.value, use_bin_type=True))
            tables.setdefault(row.table, {})[row.key] = value
    return {table: kept for table, kept in tables.items() if kept}


def _tables(facts: Facts) -> Tables:
    return _written({}, *facts.rows())


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
names = st.lists(texts, max_size=3).map(tuple)
times = st.builds(
    lambda start, length, precision, expression, base: EventTime(start, start + length, precision, expression, base),
    st.integers(-(10**14), 10**14),
    st.integers(1, 10**12),
    st.sampled_from(Precision),
    texts,
    st.none() | st.integers(-(10**14), 10**14),
)
candidates = st.builds(
    Candidate,
    texts,
    st.sampled_from(Kind),
    texts,
    texts,
    st.lists(st.integers(0, 9), min_size=1, max_size=3).map(tuple),
    subject=st.none() | texts,
    attribute=st.none() | texts,
    value=st.none() | texts,
    entities=names,
    topics=names,
    domain=st.sampled_from(("other", "home")),
    confidence=st.floats(0, 1),
    event=st.none() | times,
)


@given(candidates, st.none() | st.integers(0, 10**14))
def test_a_mention_is_read_as_it_was_written(candidate: Candidate, source_ms: int | None) -> None:
    """Every field comes back, through msgpack."""
    known = Mention.of(CellId("c1"), SessionId("s1"), 3, source_ms, candidate)
    (row,) = _written({}, Row("mentions", known.id, encode_mention(known)))["mentions"].values()
    assert decode_mention(known.id, row) == known


def test_a_row_holds_what_is_there() -> None:
    """The stored form: names of fields are part of the format."""
    known = mention("Bob has a dog", said=None, entities=("Bob",), event=day(1, "today", 5))
    assert encode_mention(known) == {
        "cell": "c-s1-0",
        "session": "s1",
        "number": 0,
        "text": "Bob has a dog",
        "kind": "state",
        "speaker": "Bob",
        "role": "user",
        "turns": [0],
        "entities": ["Bob"],
        "event": [86_400_000, 172_800_000, "day", "today", 5],
    }


@pytest.mark.parametrize(
    ("field", "value"),
    [("text", None), ("kind", "rumour"), ("turns", 3), ("event", [1, 2]), ("event", [2, 1, "day", "", None])],
)
def test_a_damaged_mention_is_refused(field: str, value: object) -> None:
    """A row that lacks a field or holds nonsense names its mention."""
    row = encode_mention(HAS)
    row.pop(field, None)
    if value is not None:
        row[field] = value
    with pytest.raises(CorruptState, match=HAS.id):
        decode_mention(HAS.id, row)


def test_pairs_are_keys() -> None:
    """A pair is one key whichever atom is the lesser; anything else is no pair."""
    pair = Pair(AtomId("f2"), AtomId("f1"), 1.0)
    assert encode_pair(pair.key) == "f1:f2"
    assert decode_pair("f1:f2") == pair.key
    for key in ("f1", "f2:f1", "f1:f1", ""):
        with pytest.raises(CorruptState):
            decode_pair(key)


def _with_everything() -> list[FactsEdit]:
    """Edits that leave every kind of row."""
    one = Facts().edit(
        [HAS, OWNS, KEEPS, mention("Bob's word is HERON", turn=8), mention("Ana's word is CRANE", turn=2)]
    )
    two = one.facts.with_verdicts(
        [Verdict(Pair(atom_id(HAS), atom_id(OWNS), 0.95), equivalent=True)],
        [Pair(atom_id(HAS), atom_id(KEEPS), 0.94), Pair(atom_id(OWNS), atom_id(KEEPS), 0.9375)],
    )
    three = two.facts.with_verdicts([Verdict(Pair(atom_id(OWNS), atom_id(KEEPS), 0.9375), equivalent=False)])
    four = three.facts.withhold(atom_id(mention("Bob's word is HERON")), KEY)
    five = four.facts.withhold(atom_id(mention("Ana's word is CRANE")), KEY)
    six = five.facts.edit(remove=[mention("Ana's word is CRANE", turn=2).id])
    return [one, two, three, four, five, six]


def test_what_edits_write_is_what_is_there() -> None:
    """The rows of edits, one after another, are the rows of the facts they end with, and load to the same."""
    tables: Tables = {}
    for edit in _with_everything():
        tables = _written(tables, *edit.rows)
        assert tables == _tables(edit.facts)
        assert Facts.load(tables) == edit.facts
    assert {table: len(rows) for table, rows in tables.items()} == {
        "mentions": 4,
        "verdicts": 2,
        "pending": 1,
        "withheld": 2,
    }


def test_nothing_loads_to_nothing() -> None:
    """An empty store has no facts."""
    assert Facts.load({}) == Facts()


@pytest.mark.parametrize(
    "damage",
    [
        {"verdicts": {"f1:f2": [True, 0.9]}},
        {"pending": {"f1:f2": 0.9}},
        {"withheld": {"f1": KEY}},
    ],
)
def test_rows_that_contradict_are_refused(damage: Tables) -> None:
    """What is known of an atom that nobody told is a damaged store."""
    with pytest.raises(CorruptState, match="f1"):
        Facts.load({**_tables(Facts().edit([HAS]).facts), **damage})


@pytest.mark.parametrize("verdict", [None, [True], "no", [True, 0.9, 3]])
def test_a_damaged_verdict_is_refused(verdict: object) -> None:
    """A verdict that cannot be read names its pair."""
    facts = Facts().edit([HAS, OWNS]).facts
    key = encode_pair(Pair(atom_id(HAS), atom_id(OWNS), 1.0).key)
    with pytest.raises(CorruptState, match=key):
        Facts.load({**_tables(facts), "verdicts": {key: verdict}})


mentions = st.builds(
    mention,
    st.sampled_from(("Bob has a dog", "Bob has the dog", "Bob has no dog", "Ana runs")),
    st.sampled_from(("s1", "s2")),
    st.integers(0, 3),
    said=st.sampled_from((None, 0, 1)),
    kind=st.sampled_from((Kind.STATE, Kind.EVENT)),
    event=st.sampled_from((None, day(1))),
)


@given(st.lists(mentions, min_size=1, max_size=10, unique_by=lambda m: m.id), st.randoms(use_true_random=False))
def test_rows_follow_every_edit(told: list[Mention], rng: random.Random) -> None:
    """Random edits: applying their rows gives tables that load to the facts."""
    facts, tables = Facts(), Tables()
    for _ in range(8):
        some = [m for m in told if rng.random() < 0.4]
        match rng.randrange(4):
            case 0:
                edit = facts.edit(some)
            case 1:
                edit = facts.edit(some[:2], [m.id for m in some])
            case 2 if len(facts):
                edit = facts.withhold(rng.choice(facts.in_order()).id, KEY)
            case _:
                atoms = sorted(facts.atoms)
                pairs = [Pair(one, other, 0.95) for one, other in pairwise(atoms)]
                edit = facts.with_verdicts(
                    (Verdict(pair, equivalent=rng.random() < 0.5) for pair in pairs[::2]), pairs[1::2]
                )
        facts, tables = edit.facts, _written(tables, *edit.rows)
        assert tables == _tables(facts)
    assert Facts.load(tables) == facts
    check_facts(facts)
