"""Scenes: facts of one domain that are about the same thing, clustered by meaning.

A scene is represented by the *sum* of its members' vectors, so that a member can leave exactly: vectors are
fp16 of about unit length, hence multiples of 2^-24 below 2, and a float64 holds the sum of 60 of them without
rounding, in any order. A fact without a vector (its script is unknown to the embedder) is in no scene.

Placement depends on arrival, as any such clustering does; it is therefore part of what is committed, never
computed again on load. `rescene` does it anew in canonical order.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NewType, TypeAlias

import numpy as np
from immutables import Map, MapMutation
from numpy.typing import NDArray

from memforest_ray.errors import CorruptState
from memforest_ray.ids import FactId, ItemId, ScopeId, digest
from memforest_ray.trees.clustering import Clusters, Span, Sums, Thresholds, assign, closest_pairs, span_of
from memforest_ray.trees.routing import Move, Moves, Routable, scene_scope

__all__ = [
    "SCENE_FACTS_MAX",
    "SCENE_TREE_MIN",
    "Scene",
    "SceneId",
    "Scenes",
    "ScenesEdit",
    "Thresholds",
    "VectorOf",
]

SCENE_FACTS_MAX: Final = 60
"""A scene is a topic, not a domain."""
SCENE_TREE_MIN: Final = 2
"""A scene of one fact needs no tree."""
_CHUNK: Final = 256
"""Facts placed per matrix product: bounds memory at this many rows by all scenes of a gate."""

SceneId = NewType("SceneId", str)
"""20 hex digits, of one of its members: its founder, or who came after it."""
VectorOf: TypeAlias = Callable[[Routable], NDArray[np.float16]]


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """One cluster. Its first member gives it its id."""

    gate: str
    """The domain all its members have."""
    members: tuple[FactId, ...]
    times: tuple[int | None, ...]
    """When each member was said."""
    total: Sums
    """Sum of its members' vectors."""

    id: SceneId = field(init=False)
    span: Span = field(init=False)
    """Of its times."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", SceneId(digest("scene", self.members[0])))
        object.__setattr__(self, "span", span_of(self.times))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Scene)
            and (self.gate, self.members, self.times) == (other.gate, other.members, other.times)
            and np.array_equal(self.total, other.total)
        )

    def __hash__(self) -> int:
        return hash(self.members)

    def row(self) -> dict[str, Any]:
        """What is stored; sums are computed again from the vectors."""
        return {"gate": self.gate, "members": list(self.members)}

    def join(self, facts: Sequence[Routable], vectors: Sums) -> "Scene":
        return Scene(
            self.gate,
            (*self.members, *[fact.id for fact in facts]),
            (*self.times, *[fact.source_ms for fact in facts]),
            self.total + vectors.sum(axis=0),
        )

    def leave(self, fact: FactId, vector: Sums) -> "Scene | None":
        """Without one member; None when it was the last."""
        place = self.members.index(fact)
        members = self.members[:place] + self.members[place + 1 :]
        times = self.times[:place] + self.times[place + 1 :]
        return Scene(self.gate, members, times, self.total - vector) if members else None

    def change(self, fact: Routable, difference: Sums) -> "Scene":
        place = self.members.index(fact.id)
        times = (*self.times[:place], fact.source_ms, *self.times[place + 1 :])
        return Scene(self.gate, self.members, times, self.total + difference)

    def merge(self, other: "Scene") -> "Scene":
        return Scene(self.gate, self.members + other.members, self.times + other.times, self.total + other.total)


@dataclass(frozen=True, slots=True)
class ScenesEdit:
    """Changed scenes, and what that means for their trees."""

    scenes: "Scenes"
    moves: Moves
    changed: tuple[SceneId, ...]
    """Whose rows have to be written, or dropped when the scene is no more; sorted."""


@dataclass(frozen=True, slots=True)
class Scenes:
    """All scenes of a forest."""

    thresholds: Thresholds
    by_id: Map[SceneId, Scene] = field(default_factory=Map)
    scene_of: Map[FactId, SceneId] = field(default_factory=Map)
    gates: Map[str, Map[SceneId, None]] = field(default_factory=Map)

    def edit(
        self,
        added: Iterable[Routable],
        removed: Iterable[Routable] = (),
        *,
        vector_of: VectorOf,
        together: Iterable[Sequence[FactId]] = (),
    ) -> ScenesEdit:
        """Scenes without `removed` and with `added`, placed in the order given.

        A fact that changed is in both and keeps its place, unless its domain changed. `vector_of` is asked
        for a removed fact, too: it is the fact as it was. `together` were one scene each elsewhere: what of them is
        new here stays one, and is joined with others only when it has come as close as any two scenes must.
        """
        work = _Work(self)
        arriving = {fact.id: fact for fact in added}
        for old in removed:
            new = arriving.get(old.id)
            if new is not None and work.keep(old, new, vector_of):
                del arriving[old.id]
            else:
                work.leave(old, vector_of)
        companies = [list(names) for names in together]
        # What was alone among those that come now has been held against them: only what is here is of interest to it.
        work.place_all(_alone(companies, arriving), vector_of, {})
        grown = work.found(_companies(companies, arriving), vector_of)
        work.place_all(arriving.values(), vector_of, grown)
        return work.finish()

    def rescene(self, facts: Iterable[Routable], *, vector_of: VectorOf) -> ScenesEdit:
        """All placed anew in the order given, as if none had been placed before; moves are from what is."""
        fresh = Scenes(self.thresholds).edit(facts, vector_of=vector_of).scenes
        touched = set(self.by_id) | set(fresh.by_id)
        return _difference(self, fresh, touched, frozenset())

    def row(self, scene: SceneId) -> dict[str, Any] | None:
        """What is stored of a scene; None when it is no more."""
        found = self.by_id.get(scene)
        return None if found is None else found.row()

    @classmethod
    def load(
        cls,
        thresholds: Thresholds,
        rows: Mapping[str, Mapping[str, Any]],
        fact_of: Callable[[FactId], Routable | None],
        vector_of: VectorOf,
    ) -> "Scenes":
        """From stored rows. Raises CorruptState when one names a fact that is not there, or not its own."""
        by_id: dict[SceneId, Scene] = {}
        scene_of: dict[FactId, SceneId] = {}
        gates: dict[str, dict[SceneId, None]] = {}
        for name, row in sorted(rows.items()):
            members = [fact_of(FactId(fact)) for fact in row["members"]]
            facts = [fact for fact in members if fact is not None]
            if not facts or len(facts) != len(members):
                raise CorruptState(f"scene {name} holds a fact that is not there; nothing was changed", scene=name)
            vectors = np.concatenate([vector_of(fact) for fact in facts]).reshape(len(facts), -1)
            scene = _found(row["gate"], facts, vectors)
            if scene.id != name or any(fact in scene_of for fact in scene.members):
                raise CorruptState(f"scene {name} is not what its row says; nothing was changed", scene=name)
            by_id[scene.id] = scene
            scene_of.update(dict.fromkeys(scene.members, scene.id))
            gates.setdefault(scene.gate, {})[scene.id] = None
        return cls(thresholds, Map(by_id), Map(scene_of), Map({gate: Map(names) for gate, names in gates.items()}))


def _companies(together: Iterable[Sequence[FactId]], arriving: dict[FactId, Routable]) -> Iterator[list[Routable]]:
    """Takes out of `arriving` those that come as a scene: at least two, of one domain."""
    for names in together:
        company = [arriving[name] for name in names if name in arriving]
        company = [fact for fact in company if fact.domain == company[0].domain]
        if len(company) >= SCENE_TREE_MIN:
            for fact in company:
                del arriving[fact.id]
            yield company


def _alone(together: Iterable[Sequence[FactId]], arriving: dict[FactId, Routable]) -> list[Routable]:
    """Takes out of `arriving` those that were a scene of one."""
    names = [company[0] for company in together if len(company) == 1]
    return [arriving.pop(name) for name in names if name in arriving]


def _found(gate: str, facts: Sequence[Routable], vectors: NDArray[np.floating[Any]]) -> Scene:
    ids = tuple([fact.id for fact in facts])
    return Scene(gate, ids, tuple([fact.source_ms for fact in facts]), vectors.sum(axis=0, dtype=np.float64))


class _Work:
    """Scenes under change."""

    def __init__(self, before: Scenes) -> None:
        self.before = before
        self.by_id: MapMutation[SceneId, Scene] = before.by_id.mutate()
        self.scene_of: MapMutation[FactId, SceneId] = before.scene_of.mutate()
        self.gates = before.gates
        self.touched: set[SceneId] = set()
        self.renewed: set[FactId] = set()

    def gate(self, gate: str) -> Map[SceneId, None]:
        return self.gates.get(gate, Map())

    def put(self, scene: Scene) -> None:
        before = self.by_id.get(scene.id)
        self.by_id[scene.id] = scene
        self.gates = self.gates.set(scene.gate, self.gate(scene.gate).set(scene.id, None))
        self.touched.add(scene.id)
        known = 0 if before is None or scene.members[: len(before.members)] != before.members else len(before.members)
        for fact in scene.members[known:]:
            self.scene_of[fact] = scene.id

    def drop(self, scene: Scene) -> None:
        del self.by_id[scene.id]
        rest = self.gate(scene.gate).delete(scene.id)
        self.gates = self.gates.set(scene.gate, rest) if rest else self.gates.delete(scene.gate)
        self.touched.add(scene.id)

    def leave(self, fact: Routable, vector_of: VectorOf) -> None:
        name = self.scene_of.get(fact.id)
        if name is None:
            return
        scene = self.by_id[name]
        del self.scene_of[fact.id]
        self.drop(scene)
        rest = scene.leave(fact.id, vector_of(fact).astype(np.float64))
        if rest is not None:
            self.put(rest)

    def keep(self, old: Routable, new: Routable, vector_of: VectorOf) -> bool:
        """Whether a changed fact stays where it was; if so, with its new time and vector."""
        name = self.scene_of.get(old.id)
        vector = vector_of(new)
        if name is None or self.by_id[name].gate != new.domain or not vector.any():
            return False
        difference = vector.astype(np.float64) - vector_of(old).astype(np.float64)
        self.put(self.by_id[name].change(new, difference))
        self.renewed.add(new.id)
        return True

    def found(self, companies: Iterable[Sequence[Routable]], vector_of: VectorOf) -> dict[str, set[SceneId]]:
        """Each company becomes a scene; their names by gate."""
        grown: dict[str, set[SceneId]] = {}
        for company in companies:
            known = [(fact, vector) for fact in company if (vector := vector_of(fact)).any()]
            if known:
                vectors = np.stack([vector for _, vector in known])
                scene = _found(company[0].domain, [fact for fact, _ in known], vectors)
                self.put(scene)
                grown.setdefault(scene.gate, set()).add(scene.id)
        return grown

    def place_all(self, facts: Iterable[Routable], vector_of: VectorOf, grown: Mapping[str, set[SceneId]]) -> None:
        """Gives facts their scenes, gate by gate; `grown` are scenes that are to be held against others, by gate."""
        by_gate: dict[str, list[Routable]] = {}
        for fact in facts:
            by_gate.setdefault(fact.domain, []).append(fact)
        for gate in sorted({*by_gate, *grown}):
            self.place(gate, by_gate.get(gate, ()), vector_of, grown.get(gate, set()))

    def place(self, gate: str, facts: Sequence[Routable], vector_of: VectorOf, grown: set[SceneId]) -> None:
        """Gives facts of one gate their scenes, then joins scenes that have come close, also those already `grown`."""
        known = [(fact, vector) for fact in facts if (vector := vector_of(fact)).any()]
        for start in range(0, len(known), _CHUNK):
            chunk = known[start : start + _CHUNK]
            grown |= self._place([fact for fact, _ in chunk], np.stack([vector for _, vector in chunk]), gate)
        while grown:
            grown = self._merge(gate, grown)

    def _place(self, facts: Sequence[Routable], vectors: NDArray[np.float16], gate: str) -> set[SceneId]:
        scenes = [self.by_id[name] for name in sorted(self.gate(gate))]
        exact = vectors.astype(np.float64)
        clusters = _clusters(scenes, exact.shape[1])
        found = assign(clusters, exact, [fact.source_ms for fact in facts], self.before.thresholds)
        joined: dict[int, list[int]] = {}
        for place, number in enumerate(found):
            joined.setdefault(number, []).append(place)
        grown: set[SceneId] = set()
        for number, places in joined.items():
            here = [facts[place] for place in places]
            scene = (
                scenes[number].join(here, exact[places]) if number < len(scenes) else _found(gate, here, exact[places])
            )
            self.put(scene)
            grown.add(scene.id)
        return grown

    def _merge(self, gate: str, grown: set[SceneId]) -> set[SceneId]:
        """One round of merging around `grown`; the scenes that came of it."""
        scenes = [self.by_id[name] for name in sorted(self.gate(gate))]
        places = [place for place, scene in enumerate(scenes) if scene.id in grown]
        pairs = closest_pairs(_clusters(scenes, 0), places, self.before.thresholds.merge)
        merged: set[SceneId] = set()
        used: set[int] = set()
        for left, right in pairs:
            if not used & {left, right}:
                used |= {left, right}
                merged.add(self._unite(scenes[left], scenes[right]))
        return merged

    def _unite(self, left: Scene, right: Scene) -> SceneId:
        """The larger keeps its name: fewer leaves move."""
        large, small = sorted((left, right), key=lambda scene: (-len(scene.members), scene.id))
        self.drop(small)
        united = large.merge(small)
        self.put(united)
        return united.id

    def finish(self) -> ScenesEdit:
        after = Scenes(self.before.thresholds, self.by_id.finish(), self.scene_of.finish(), self.gates)
        return _difference(self.before, after, self.touched, frozenset(self.renewed))


def _clusters(scenes: Sequence[Scene], dimension: int) -> Clusters:
    totals = np.stack([scene.total for scene in scenes]) if scenes else np.zeros((0, dimension))
    return Clusters(totals, [scene.span for scene in scenes], SCENE_FACTS_MAX)


def _difference(before: Scenes, after: Scenes, touched: Iterable[SceneId], renewed: frozenset[FactId]) -> ScenesEdit:
    moves: dict[ScopeId, Move] = {}
    changed: list[SceneId] = []
    for name in sorted(touched):
        old, new = before.by_id.get(name), after.by_id.get(name)
        was, now = _shown(old), _shown(new)
        move = Move(now - (was - renewed), was - (now - renewed))
        if move.insert or move.remove:
            moves[scene_scope(name)] = move
        if (old and old.row()) != (new and new.row()):
            changed.append(name)
    return ScenesEdit(after, moves, tuple(changed))


def _shown(scene: Scene | None) -> frozenset[ItemId]:
    """Members whose leaves a scene's tree has."""
    if scene is None or len(scene.members) < SCENE_TREE_MIN:
        return frozenset()
    return frozenset(map(ItemId, scene.members))
