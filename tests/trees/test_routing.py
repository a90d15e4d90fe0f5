"""Entities: a function of the set of facts, active in both directions, members never copied."""

import pickle
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memforest_ray.ids import FactId, ItemId, ScopeId, SessionId
from memforest_ray.trees.routing import (
    Entities,
    Move,
    Moves,
    UnreadEntities,
    entity_key,
    entity_scope,
    scene_scope,
    scope_family,
    session_scope,
)

REX = ScopeId("entity:rex")


@dataclass(frozen=True)
class Spoken:
    """A fact as routing sees it."""

    id: FactId
    entities: tuple[str, ...] = ()
    speakers: tuple[str, ...] = ("Maya",)
    sessions: frozenset[SessionId] = frozenset({SessionId("s1")})
    domain: str = "home"
    source_ms: int | None = field(default=None)


def fact(number: int, *entities: str, session: str = "s1", speakers: tuple[str, ...] = ("Maya",)) -> Spoken:
    return Spoken(FactId(f"f{number}"), entities, speakers, frozenset({SessionId(session)}))


def items(*numbers: int) -> frozenset[ItemId]:
    return frozenset(ItemId(f"f{number}") for number in numbers)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("José", "JOSÉ"),
        ("Bob  Smith\n", "bob smith"),
        ("O’Neil", "O'Neil"),
        ("ＡＢＣ", "abc"),
        ("Straße", "STRASSE"),
        ("Άννα", "ΆΝΝΑ"),
    ],
)
def test_one_entity_however_it_is_written(left: str, right: str) -> None:
    """Composition, case, width, apostrophes and white space do not make another entity."""
    assert entity_key(left) == entity_key(right)


def test_entities_of_any_script_and_near_names_stay_apart() -> None:
    """Chinese, Devanagari, Cyrillic, accents, C, C++ and C#: each its own key."""
    labels = ["小明", "राम", "Иван", "Jose", "José", "C", "C++", "C#", "O'Neil", "ONeil"]
    assert len({entity_key(label) for label in labels}) == len(labels)


def test_scopes_name_their_family() -> None:
    """`family:name`, whatever stands in the name."""
    assert session_scope(SessionId("a:b")) == "session:a:b"
    assert scope_family(entity_scope("x:y")) == "entity"
    assert scope_family(scene_scope("77")) == "scene"


def test_active_from_three_facts_in_two_sessions() -> None:
    """The third fact, from a second session, brings all three into the new tree."""
    two = Entities().edit([fact(1, "Rex"), fact(2, "Rex", session="s2")])
    assert REX not in two.moves
    three = two.entities.edit([fact(3, "Rex")])
    assert three.moves[REX] == Move(insert=items(1, 2, 3))
    four = three.entities.edit([fact(4, "REX")])
    assert four.moves[REX] == Move(insert=items(4))


def test_many_facts_of_one_session_open_no_tree() -> None:
    """Three facts of a single session are that session's business."""
    assert REX not in Entities().edit([fact(number, "Rex") for number in range(9)]).moves


def test_forgetting_closes_a_tree() -> None:
    """Below three facts, or two sessions, everything leaves again."""
    facts = [fact(1, "Rex"), fact(2, "Rex"), fact(3, "Rex", session="s2"), fact(4, "Rex", session="s2")]
    full = Entities().edit(facts).entities
    by_count = full.edit([], [facts[0]]).entities.edit([], [facts[1]])
    assert by_count.moves[REX] == Move(remove=items(2, 3, 4))
    by_session = full.edit([], facts[2:])
    assert by_session.moves[REX] == Move(remove=items(1, 2, 3, 4))


def test_speakers_are_active_from_the_first_fact() -> None:
    """Whoever speaks has a tree at once, of what he said and of what is said about him."""
    first = Entities().edit([fact(1, speakers=("Rex",))])
    assert first.moves == {REX: Move(insert=items(1))}
    told = first.entities.edit([fact(2, "Rex")])
    assert told.moves[REX] == Move(insert=items(2))
    silent = told.entities.edit([], [fact(1, speakers=("Rex",))])
    assert silent.moves[REX] == Move(remove=items(1, 2))


def test_a_changed_fact_is_in_both_parts() -> None:
    """A fact that gains a session stays where it is; its leaf is made anew."""
    facts = [fact(1, "Rex"), fact(2, "Rex"), fact(3, "Rex", session="s2")]
    now = Spoken(FactId("f1"), ("Rex",), sessions=frozenset({SessionId("s1"), SessionId("s3")}))
    edit = Entities().edit(facts).entities.edit([now], [facts[0]])
    assert edit.moves[REX] == Move(items(1), items(1))
    assert edit.entities == Entities().edit([now, *facts[1:]]).entities


def test_the_label_is_the_most_frequent_spelling() -> None:
    """Not the first that came: by count, then by code points."""
    entities = Entities().edit([fact(1, "rex"), fact(2, "REX"), fact(3, "REX"), fact(4, "rex")]).entities
    assert entities.label("rex") == "REX"
    assert entities.edit([fact(5, "rex")]).entities.label("rex") == "rex"
    assert entities.label("nobody") == "nobody"
    assert set(map(ItemId, entities.members("rex"))) == items(1, 2, 3, 4)
    assert entities.members("nobody") == frozenset()


def test_misfitting_edits_are_refused() -> None:
    """Removing what is not there and adding what is would spoil the counts."""
    entities = Entities().edit([fact(1, "Rex")]).entities
    with pytest.raises(KeyError):
        entities.edit([], [fact(2, "Rex")])
    with pytest.raises(ValueError, match="already carries"):
        entities.edit([fact(1, "Rex")])


NAMES = st.lists(st.sampled_from(["Rex", "REX", "Lena", "小明", " "]), max_size=3)
FACTS = st.lists(
    st.builds(
        lambda number, names, speaker, sessions: Spoken(
            FactId(f"f{number}"), tuple(names), (speaker,), frozenset(map(SessionId, sessions))
        ),
        st.integers(0, 30),
        NAMES,
        st.sampled_from(["Maya", "Bob"]),
        st.sets(st.sampled_from(["s1", "s2", "s3"]), min_size=1),
    ),
    max_size=20,
    unique_by=lambda fact: fact.id,
)


def follow(trees: dict[ScopeId, frozenset[ItemId]], moves: Moves) -> None:
    """Applies moves to sets of members, insisting that they fit."""
    for scope, move in moves.items():
        members = trees.get(scope, frozenset())
        assert move.remove <= members
        assert not (members - move.remove) & move.insert
        trees[scope] = (members - move.remove) | move.insert


@given(facts=FACTS, data=st.data())
@settings(max_examples=150, deadline=None)
def test_entities_are_a_function_of_the_set(facts: list[Spoken], data: st.DataObject) -> None:
    """Any order, batching, and comings and goings of the same facts end in the same entities and members."""
    gone = data.draw(st.sets(st.sampled_from(facts))) if facts else set()
    order = data.draw(st.permutations(facts))
    trees: dict[ScopeId, frozenset[ItemId]] = {}
    entities = Entities()
    for each in order:
        step = entities.edit([each])
        follow(trees, step.moves)
        entities = step.entities
    step = entities.edit([], gone)
    follow(trees, step.moves)
    at_once = Entities().edit([each for each in facts if each not in gone])
    expected: dict[ScopeId, frozenset[ItemId]] = {}
    follow(expected, at_once.moves)
    assert step.entities == at_once.entities
    assert {scope: members for scope, members in trees.items() if members} == expected


def test_unread_entities_are_the_entities() -> None:
    """Made when they are first asked for, once; equal to, pickled and edited as any others."""
    facts = [fact(1, "Rex"), fact(2, "Rex", session="s2")]
    asked: list[int] = []

    class Facts:
        def __iter__(self) -> Iterator[Any]:
            asked.append(1)
            return iter(facts)

    unread, known = UnreadEntities(Facts()), Entities().edit(facts).entities
    assert asked == []
    assert (unread == known, known == unread, hash(unread) == hash(known)) == (True, True, True)
    assert (unread.label("rex"), asked) == ("Rex", [1])
    assert pickle.loads(pickle.dumps(unread)) == known
    assert unread.edit([], facts[:1]).entities == known.edit([], facts[:1]).entities
