"""Scenes: gates, thresholds, exact leaving, merging, rows, and moves that fit."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from memforest_ray.errors import CorruptState
from memforest_ray.ids import FactId, ItemId, ScopeId, SessionId
from memforest_ray.models.embedder import Fingerprint
from memforest_ray.trees.clustering import TIME_BONUS, TIME_WINDOW_MS, Thresholds
from memforest_ray.trees.routing import Move, Moves, Routable, scene_scope
from memforest_ray.trees.scenes import SCENE_FACTS_MAX, SceneId, Scenes

THRESHOLDS = Thresholds(assign=0.70, spawn=0.58, merge=0.88)
DIMENSION = 16
DAY = 86_400_000


@dataclass(frozen=True)
class Spoken:
    """A fact as routing sees it; its vector stands in a table of the test."""

    id: FactId
    domain: str = "home"
    source_ms: int | None = None
    entities: tuple[str, ...] = ()
    speakers: tuple[str, ...] = ("Maya",)
    sessions: frozenset[SessionId] = frozenset({SessionId("s1")})


def towards(cosine: float, axis: int = 1) -> NDArray[np.float16]:
    """A unit vector with this cosine to axis 0, the rest along another."""
    vector = np.zeros(DIMENSION)
    vector[0], vector[axis] = cosine, np.sqrt(1 - cosine**2)
    return vector.astype(np.float16)


def table(vectors: Iterable[NDArray[np.float16]]) -> Callable[[Routable], NDArray[np.float16]]:
    """Vectors of facts f0, f1, ..."""
    rows = list(vectors)
    return lambda fact: rows[int(fact.id[1:])]


def items(*numbers: int) -> frozenset[ItemId]:
    return frozenset(ItemId(f"f{number}") for number in numbers)


def facts(number: int, **fields: object) -> list[Spoken]:
    return [replace(Spoken(FactId(f"f{place}")), **fields) for place in range(number)]  # type: ignore[arg-type]


def members(scenes: Scenes) -> list[list[str]]:
    return sorted(sorted(scene.members) for scene in scenes.by_id.values())


def check_scenes(scenes: Scenes, vector_of: Callable[[FactId], NDArray[np.float16]]) -> None:
    """What is true of any scenes: sizes, gates, exact sums, names after members, look-ups that agree."""
    for name, scene in scenes.by_id.items():
        assert scene.id == name
        assert 1 <= len(scene.members) == len(scene.times) <= SCENE_FACTS_MAX
        assert name in scenes.gates[scene.gate]
        exact = sum(vector_of(fact).astype(np.float64) for fact in scene.members)
        assert np.array_equal(scene.total, np.asarray(exact))
    placed = {fact: name for name, scene in scenes.by_id.items() for fact in scene.members}
    assert dict(scenes.scene_of) == placed
    assert sum(map(len, scenes.gates.values())) == len(scenes.by_id)


def follow(trees: dict[ScopeId, frozenset[ItemId]], moves: Moves) -> None:
    """Applies moves to sets of members, insisting that they fit."""
    for scope, move in moves.items():
        held = trees.get(scope, frozenset())
        assert move.remove <= held
        assert not (held - move.remove) & move.insert
        trees[scope] = (held - move.remove) | move.insert


def shown(scenes: Scenes) -> dict[ScopeId, frozenset[ItemId]]:
    """Trees that scenes have: those of two facts and more."""
    return {
        ScopeId(f"scene:{name}"): frozenset(map(ItemId, scene.members))
        for name, scene in scenes.by_id.items()
        if len(scene.members) >= 2
    }


def test_thresholds_come_from_the_embedder() -> None:
    """They stand beside its fingerprint."""
    fingerprint = Fingerprint("m", 4, 0.9, 0.7, 0.5, 0.8, 0.6)
    assert Thresholds.of(fingerprint) == Thresholds(0.7, 0.5, 0.8)


@pytest.mark.parametrize(
    ("cosine", "days", "together"),
    [
        (0.75, None, True),
        (0.65, None, False),
        (0.65, 2, True),
        (0.65, 30, False),
        (0.50, 0, False),
    ],
)
def test_assign_spawn_and_between(cosine: float, days: int | None, together: bool) -> None:
    """At `assign` a fact joins, below `spawn` it never does, in between only when its time fits."""
    first, second = facts(2)
    if days is not None:
        first, second = replace(first, source_ms=0), replace(second, source_ms=days * DAY)
    vectors = table([towards(1.0), towards(cosine)])
    scenes = Scenes(THRESHOLDS).edit([first, second], vector_of=vectors).scenes
    assert len(scenes.by_id) == (1 if together else 2)


def test_the_time_bonus_decides_between_equals() -> None:
    """Of two scenes that are equally close, the one of the same days is chosen."""
    assert THRESHOLDS.assign - THRESHOLDS.spawn > TIME_BONUS
    early, late, new = facts(3)
    early, late = replace(early, source_ms=0), replace(late, source_ms=40 * DAY)
    new = replace(new, source_ms=41 * DAY)
    both = np.zeros(DIMENSION)
    both[[1, 2]] = np.sqrt(0.5)
    vectors = table([towards(0.0, 1), towards(0.0, 2), both.astype(np.float16)])
    scenes = Scenes(THRESHOLDS).edit([early, late, new], vector_of=vectors).scenes
    assert members(scenes) == [["f0"], ["f1", "f2"]]
    assert TIME_WINDOW_MS < 40 * DAY


def test_gates_keep_domains_apart() -> None:
    """Equal vectors of two domains are two scenes."""
    home, work = facts(2)
    vectors = table([towards(1.0)] * 2)
    scenes = Scenes(THRESHOLDS).edit([home, replace(work, domain="work")], vector_of=vectors).scenes
    assert members(scenes) == [["f0"], ["f1"]]


def test_a_script_unknown_to_the_embedder_is_in_no_scene() -> None:
    """A vector of zeros places a fact nowhere, and it leaves without a trace."""
    known, unknown = facts(2)
    vectors = table([towards(1.0), np.zeros(DIMENSION, dtype=np.float16)])
    edit = Scenes(THRESHOLDS).edit([known, unknown], vector_of=vectors)
    assert members(edit.scenes) == [["f0"]]
    assert edit.scenes.edit([], [unknown], vector_of=vectors).changed == ()


def test_a_scene_holds_at_most_sixty() -> None:
    """The next fact founds another, and two that do not fit together are not merged."""
    many = facts(SCENE_FACTS_MAX + 5)
    vectors = table([towards(1.0)] * len(many))
    scenes = Scenes(THRESHOLDS).edit(many, vector_of=vectors).scenes
    assert sorted(len(scene.members) for scene in scenes.by_id.values()) == [5, SCENE_FACTS_MAX]


def test_a_scene_of_one_has_no_tree() -> None:
    """The second fact brings both in; when one leaves, both do."""
    first, second = facts(2)
    vectors = table([towards(1.0)] * 2)
    one = Scenes(THRESHOLDS).edit([first], vector_of=vectors)
    assert one.moves == {}
    two = one.scenes.edit([second], vector_of=vectors)
    [(scope, move)] = two.moves.items()
    assert move == Move(insert=items(0, 1))
    gone = two.scenes.edit([], [second], vector_of=vectors)
    assert gone.moves[scope] == Move(remove=items(0, 1))


def test_a_founder_that_leaves_takes_its_name_along() -> None:
    """No id is made of a fact that is no longer there: the rest moves to a scene of another name."""
    three = facts(3)
    vectors = table([towards(1.0)] * 3)
    before = Scenes(THRESHOLDS).edit(three, vector_of=vectors).scenes
    after = before.edit([], three[:1], vector_of=vectors)
    [old], [new] = before.by_id, after.scenes.by_id
    assert old != new
    assert after.changed == tuple(sorted((old, new)))
    assert after.moves[scene_scope(old)] == Move(remove=items(0, 1, 2))
    assert after.moves[scene_scope(new)] == Move(insert=items(1, 2))
    assert after.scenes.row(old) is None


def test_scenes_that_come_close_are_merged() -> None:
    """New members pull one scene towards another; of the two that merge the larger keeps its name."""
    vectors = [towards(1.0)] * 2 + [towards(0.66)] + [towards(0.9)] * 4
    arriving = facts(len(vectors))
    before = Scenes(THRESHOLDS).edit(arriving[:3], vector_of=table(vectors)).scenes
    assert members(before) == [["f0", "f1"], ["f2"]]
    loose = Thresholds(assign=0.70, spawn=0.58, merge=0.80)
    edit = replace(before, thresholds=loose).edit(arriving[3:], vector_of=table(vectors))
    assert members(edit.scenes) == [[f"f{place}" for place in range(7)]]
    assert edit.scenes.scene_of[FactId("f0")] == before.scene_of[FactId("f2")]


def test_a_changed_fact_keeps_its_place() -> None:
    """New evidence or another spelling moves no fact to another scene; another domain does."""
    two = facts(2, source_ms=5)
    old = table([towards(1.0), towards(0.9)])
    before = Scenes(THRESHOLDS).edit(two, vector_of=old).scenes
    now = replace(two[1], source_ms=9)
    new_vector = towards(0.1)
    edit = before.edit([now], [two[1]], vector_of=lambda fact: new_vector if fact is now else old(fact))
    [(_, move)] = edit.moves.items()
    assert move == Move(items(1), items(1))
    assert edit.changed == ()
    [scene] = edit.scenes.by_id.values()
    assert scene.times == (5, 9)
    assert np.array_equal(scene.total, towards(1.0).astype(float) + new_vector.astype(float))
    moved = before.edit([replace(two[1], domain="work")], [two[1]], vector_of=old)
    assert members(moved.scenes) == [["f0"], ["f1"]]


def test_rows_give_the_same_scenes() -> None:
    """Gate and members are stored; sums and times come back from facts and vectors."""
    arriving = facts(7, source_ms=3)
    vectors = table([towards(1.0)] * 4 + [towards(0.0, 3)] * 3)
    scenes = Scenes(THRESHOLDS).edit(arriving, vector_of=vectors).scenes
    rows: dict[str, dict[str, Any]] = {name: scene.row() for name, scene in scenes.by_id.items()}
    known = {fact.id: fact for fact in arriving}
    again = Scenes.load(THRESHOLDS, rows, known.get, vectors)
    assert {name: scene.row() for name, scene in again.by_id.items()} == rows
    check_scenes(again, lambda fact: vectors(known[fact]))
    assert (again.scene_of, again.gates) == (scenes.scene_of, scenes.gates)


@pytest.mark.parametrize(
    "rows",
    [
        {"x": {"gate": "home", "members": ["f0", "f9"]}},
        {"x": {"gate": "home", "members": []}},
        {"x": {"gate": "home", "members": ["f0"]}},
    ],
)
def test_rows_that_cannot_be_true_are_refused(rows: dict[str, dict[str, object]]) -> None:
    """A fact that is not there, no fact, a name that is not its own: CorruptState naming the scene."""
    known = {fact.id: fact for fact in facts(2)}
    with pytest.raises(CorruptState) as caught:
        Scenes.load(THRESHOLDS, rows, known.get, table([towards(1.0)] * 2))
    assert caught.value.detail == {"scene": "x"}


def test_rescene_is_as_if_all_had_come_in_order() -> None:
    """Placed anew in canonical order; the moves lead from what was to what is."""
    vectors = table([towards(1.0), towards(0.66), towards(0.9), towards(0.2, 2)])
    arriving = facts(4)
    old = Scenes(THRESHOLDS).edit(arriving[::-1], vector_of=vectors).scenes
    edit = old.rescene(arriving, vector_of=vectors)
    trees = shown(old)
    follow(trees, edit.moves)
    fresh = Scenes(THRESHOLDS).edit(arriving, vector_of=vectors).scenes
    assert members(edit.scenes) == members(fresh)
    assert {scope: held for scope, held in trees.items() if held} == shown(fresh)


@given(seed=st.integers(0, 10_000), data=st.data())
@settings(max_examples=60, deadline=None)
def test_leaving_undoes_joining_exactly(seed: int, data: st.DataObject) -> None:
    """Through random comings and goings sums stay exact, look-ups agree and moves fit the trees."""
    random = np.random.default_rng(seed)
    topics = random.normal(size=(4, DIMENSION))
    rows = topics[random.integers(0, 4, 40)] + 0.5 * random.normal(size=(40, DIMENSION))
    vectors = (rows / np.linalg.norm(rows, axis=1)[:, None]).astype(np.float16)
    everyone = [Spoken(FactId(f"f{place}"), "home" if place % 3 else "work", place * DAY) for place in range(40)]
    scenes, present = Scenes(THRESHOLDS), set[Spoken]()
    trees: dict[ScopeId, frozenset[ItemId]] = {}
    written: set[SceneId] = set()
    for _ in range(6):
        arriving = data.draw(st.sets(st.sampled_from(everyone))) - present
        leaving = data.draw(st.sets(st.sampled_from(sorted(present, key=repr)))) if present else set()
        added = sorted(arriving, key=lambda fact: fact.id)
        edit = scenes.edit(added, leaving, vector_of=table(vectors))
        present = (present | arriving) - leaving
        follow(trees, edit.moves)
        assert {scope: held for scope, held in trees.items() if held} == shown(edit.scenes)
        written |= set(edit.changed)
        unchanged = set(scenes.by_id) - set(edit.changed)
        assert all(scenes.row(name) == edit.scenes.row(name) for name in unchanged)
        scenes = edit.scenes
        check_scenes(scenes, lambda fact: vectors[int(fact[1:])])
        assert set(scenes.scene_of) == {fact.id for fact in present}
    assert set(scenes.by_id) <= written
    empty = scenes.edit([], present, vector_of=table(vectors)).scenes
    assert empty == Scenes(THRESHOLDS)


def test_who_was_alone_elsewhere_joins_what_is_here_or_nothing() -> None:
    """A scene of one that comes is not held against those that it comes with: it was, where it comes from."""
    vector_of = table([towards(1.0), towards(0.75), towards(0.72, 2), towards(0.74, 3)])
    ours, *theirs = facts(4)
    together = [(theirs[0].id, theirs[1].id), (theirs[2].id,)]
    apart = Scenes(THRESHOLDS).edit(theirs, vector_of=vector_of, together=together).scenes
    assert members(apart) == [["f1", "f2"], ["f3"]]
    here = Scenes(THRESHOLDS).edit([ours], vector_of=vector_of).scenes
    joined = here.edit(theirs, vector_of=vector_of, together=together).scenes
    assert members(joined) == [["f0", "f3"], ["f1", "f2"]]
    check_scenes(joined, lambda fact: vector_of(replace(ours, id=fact)))
