"""Routing: which trees a fact belongs in. Sessions by id, entities here, scenes in `scenes`. Pure, no model.

Entity trees are a function of the set of facts alone: whatever order facts came in, or left again, the same
entities are active with the same members and the same labels.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, Protocol, TypeAlias

from immutables import Map

from memforest_ray.facts.words import fold
from memforest_ray.ids import FactId, ItemId, ScopeId, SessionId

__all__ = [
    "ENTITY_FACTS_MIN",
    "ENTITY_SESSIONS_MIN",
    "FAMILIES",
    "Entities",
    "EntitiesEdit",
    "Entity",
    "Move",
    "Moves",
    "Routable",
    "UnreadEntities",
    "entity_key",
    "entity_scope",
    "scene_scope",
    "scope_family",
    "session_scope",
]

ENTITY_FACTS_MIN: Final = 3
"""Fewer facts than this need no tree: they are found one by one."""
ENTITY_SESSIONS_MIN: Final = 2
"""What is spoken of in one session only has that session's tree."""

FAMILIES: Final = frozenset({"session", "entity", "scene"})
"""Of trees. A forest has those that it was born with."""


class Routable(Protocol):
    """What routing has to know of a fact."""

    @property
    def id(self) -> FactId: ...
    @property
    def speakers(self) -> Iterable[str]:
        """Who said it, as they are called in the dialogue."""

    @property
    def entities(self) -> Iterable[str]:
        """The names that it carries."""

    @property
    def domain(self) -> str:
        """What it is about at large: the candidate's `domain`."""

    @property
    def sessions(self) -> Iterable[SessionId]:
        """All in which it was said."""

    @property
    def source_ms(self) -> int | None:
        """When it was first said, as far as known."""


@dataclass(frozen=True, slots=True)
class Move:
    """What enters and leaves one tree. A fact that changed but stays is in both: its leaf is made anew."""

    insert: frozenset[ItemId] = frozenset()
    remove: frozenset[ItemId] = frozenset()


Moves: TypeAlias = Mapping[ScopeId, Move]


def session_scope(session: SessionId) -> ScopeId:
    """The scope of a session's tree."""
    return ScopeId(f"session:{session}")


def entity_scope(key: str) -> ScopeId:
    """The scope of an entity's tree."""
    return ScopeId(f"entity:{key}")


def scene_scope(scene: str) -> ScopeId:
    """The scope of a scene's tree."""
    return ScopeId(f"scene:{scene}")


def scope_family(scope: ScopeId) -> str:
    """One of `FAMILIES`."""
    return scope.partition(":")[0]


@lru_cache(maxsize=1 << 14)
def entity_key(label: str) -> str:
    """The spelling under which mentions of an entity meet: NFKC, casefold, white space folded, any script."""
    return " ".join(fold(label).split())


@dataclass(frozen=True, slots=True)
class Entity:
    """Who or what facts speak of, or by whom they were said. Persistent maps: members are never copied."""

    facts: Map[FactId, None] = field(default_factory=Map)
    sessions: Map[SessionId, int] = field(default_factory=Map)
    """Session -> how many of the facts have a mention in it."""
    labels: Map[str, int] = field(default_factory=Map)
    """Spelling -> how many of the facts use it."""
    spoken: int = 0
    """How many of the facts it said itself."""

    @property
    def active(self) -> bool:
        """Whether it has a tree: a speaker from the first fact, others once they recur."""
        recurs = len(self.facts) >= ENTITY_FACTS_MIN and len(self.sessions) >= ENTITY_SESSIONS_MIN
        return self.spoken > 0 or recurs

    @property
    def label(self) -> str:
        """The most frequent spelling; among equals the one that sorts first."""
        return min(self.labels.items(), key=lambda item: (-item[1], item[0]))[0]


@dataclass(frozen=True, slots=True)
class EntitiesEdit:
    """Changed entities, and what that means for their trees."""

    entities: "Entities"
    moves: Moves


@dataclass(frozen=True, slots=True, eq=False)
class Entities:
    """All entities of a forest, active or not."""

    by_key: Map[str, Entity] = field(default_factory=Map)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Entities) and self.by_key == other.by_key

    def __hash__(self) -> int:
        return hash(self.by_key)

    def edit(self, added: Iterable[Routable], removed: Iterable[Routable] = ()) -> EntitiesEdit:
        """Entities without `removed` and with `added`; a fact that changed is in both.

        Costs about the facts given, and for an entity that becomes active or inactive the facts it has.
        Raises KeyError when a fact to remove is not there, ValueError when one to add is.
        """
        work: dict[str, _Work] = {}
        for fact in removed:
            for key, label, spoken in _spellings(fact):
                self._work(work, key).leave(fact, label, spoken)
        for fact in added:
            for key, label, spoken in _spellings(fact):
                self._work(work, key).join(fact, label, spoken)
        by_key = self.by_key.mutate()
        moves: dict[ScopeId, Move] = {}
        for key, each in work.items():
            after = each.finish()
            if after.facts:
                by_key[key] = after
            else:
                by_key.pop(key, None)
            if (move := each.move(after)) is not None:
                moves[entity_scope(key)] = move
        return EntitiesEdit(Entities(by_key.finish()), moves)

    def _work(self, work: dict[str, "_Work"], key: str) -> "_Work":
        if key not in work:
            work[key] = _Work(self.by_key.get(key, Entity()))
        return work[key]

    def label(self, key: str) -> str:
        """How an entity is written for people; the key itself when it is unknown."""
        entity = self.by_key.get(key)
        return entity.label if entity is not None else key

    def members(self, key: str) -> frozenset[FactId]:
        """Facts that carry an entity, whether it is active or not."""
        entity = self.by_key.get(key)
        return frozenset() if entity is None else frozenset(entity.facts)


class UnreadEntities(Entities):
    """The entities of some facts, made when they are first asked for: a question seldom does."""

    __slots__ = ("_facts", "_found")
    _facts: Iterable[Routable] | None
    _found: Map[str, Entity]

    def __init__(self, facts: Iterable[Routable]) -> None:
        object.__setattr__(self, "_facts", facts)
        object.__setattr__(self, "_found", Map())

    @property
    def by_key(self) -> Map[str, Entity]:
        # Two threads may make them at once: they come to the same.
        facts = self._facts
        if facts is not None:
            object.__setattr__(self, "_found", Entities().edit(facts).entities.by_key)
            object.__setattr__(self, "_facts", None)
        return self._found

    def __reduce__(self) -> tuple[Any, ...]:
        return Entities, (self.by_key,)


def _spellings(fact: Routable) -> list[tuple[str, str, bool]]:
    """For each key of a fact: one spelling of it (the least) and whether that one is a speaker."""
    found: dict[str, tuple[str, bool]] = {}
    for names, spoken in ((fact.entities, False), (fact.speakers, True)):
        for name in names:
            label = " ".join(name.split())
            if key := entity_key(label):
                other, was_speaker = found.get(key, (label, False))
                found[key] = (min(label, other), spoken or was_speaker)
    return [(key, label, spoken) for key, (label, spoken) in found.items()]


class _Work:
    """One entity under change."""

    def __init__(self, before: Entity) -> None:
        self.before = before
        self.facts = before.facts.mutate()
        self.sessions = before.sessions.mutate()
        self.labels = before.labels.mutate()
        self.spoken = before.spoken
        self.joined: set[ItemId] = set()
        self.left: set[ItemId] = set()

    def join(self, fact: Routable, label: str, spoken: bool) -> None:
        if fact.id in self.facts:
            raise ValueError(f"{fact.id} already carries the entity {label!r}")
        self.facts[fact.id] = None
        self.joined.add(ItemId(fact.id))
        self._count(fact, label, spoken, 1)

    def leave(self, fact: Routable, label: str, spoken: bool) -> None:
        del self.facts[fact.id]
        self.left.add(ItemId(fact.id))
        self._count(fact, label, spoken, -1)

    def _count(self, fact: Routable, label: str, spoken: bool, step: int) -> None:
        self.spoken += step * spoken
        self.labels[label] = self.labels.get(label, 0) + step
        if not self.labels[label]:
            del self.labels[label]
        for session in set(fact.sessions):
            self.sessions[session] = self.sessions.get(session, 0) + step
            if not self.sessions[session]:
                del self.sessions[session]

    def finish(self) -> Entity:
        return Entity(self.facts.finish(), self.sessions.finish(), self.labels.finish(), self.spoken)

    def move(self, after: Entity) -> Move | None:
        if self.before.active and after.active:
            return Move(frozenset(self.joined), frozenset(self.left))
        if after.active:
            return Move(insert=frozenset(map(ItemId, after.facts)))
        if self.before.active:
            return Move(remove=frozenset(map(ItemId, self.before.facts)))
        return None
