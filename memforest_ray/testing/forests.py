"""Whole forests in a test's hand: drivers over one store, and what must hold of any version."""

import pickle
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import fields, replace
from itertools import count
from typing import Any

import numpy as np

from memforest_ray.commit.frames import unpack, unseal
from memforest_ray.commit.version import Version
from memforest_ray.config import Settings, load_settings
from memforest_ray.errors import CorruptState
from memforest_ray.facts.cells import cut
from memforest_ray.facts.rules import RuleExtractor
from memforest_ray.facts.sessions import Session
from memforest_ray.forest.intents import Forgotten, Receipt, Wait
from memforest_ray.ids import ItemId, OpId, ScopeId, UserId
from memforest_ray.local.driver import ForestDriver
from memforest_ray.local.effects import Models
from memforest_ray.local.runtime import LocalRuntime
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.storage.store import ObjectStore
from memforest_ray.testing.clock import ManualClock, SeededRandom
from memforest_ray.testing.facts import check_facts
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.testing.store import contents
from memforest_ray.testing.trees import check_tree, placements_of
from memforest_ray.trees.nodes import Leaf
from memforest_ray.trees.routing import entity_scope, scene_scope, session_scope
from memforest_ray.trees.scenes import SCENE_TREE_MIN
from memforest_ray.trees.summaries import SelectionSummarizer
from memforest_ray.trees.tree import MemTree

__all__ = ["Forests", "TestForest", "check_forest", "check_same", "decided", "residue", "same_state"]

ANN = UserId("ann")


class TestForest:
    """One driver, with the verbs of a handle. Write ids are `op0`, `op1` ... with the driver's own prefix."""

    __test__ = False

    def __init__(self, driver: ForestDriver, prefix: str) -> None:
        self.driver = driver
        self._names: Iterator[str] = (f"{prefix}-op{number}" for number in count())

    async def version(self, seen: int = 0) -> Version:
        """The published version, of number `seen` or newer."""
        return await self.driver.version(seen)

    async def ingest(
        self,
        session: Session,
        op_id: str | None = None,
        *,
        seen: int = 0,
        replace: bool = False,
        wait: Wait = "refreshed",
    ) -> Receipt:
        """As `AsyncUser.ingest`; `seen` is the version that it must come after."""
        arguments = {"session": session, "replace": replace, "wait": wait}
        receipt: Receipt = await self.driver.call("ingest", arguments, op_id=self._name(op_id), seen=seen)
        return receipt

    async def forget(self, op_id: str | None = None, **what: Any) -> Forgotten:
        """As `AsyncUser.forget`."""
        report: Forgotten = await self.driver.call("forget", what, op_id=self._name(op_id), seen=0)
        return report

    async def repair(self, op_id: str | None = None) -> Receipt:
        """As `AsyncUser.repair`."""
        receipt: Receipt = await self.driver.call("repair", {}, op_id=self._name(op_id), seen=0)
        return receipt

    async def read(self, verb: str, *, seen: int = 0, **arguments: Any) -> Any:
        """Any verb that reads."""
        return await self.driver.call(verb, arguments, op_id=None, seen=seen)

    def _name(self, op_id: str | None) -> OpId:
        return OpId(op_id or next(self._names))


class Forests:
    """Drivers and runtimes over one store: each has its own entropy, as each process has; the clock is theirs all."""

    def __init__(
        self,
        store: ObjectStore | None = None,
        models: Models | None = None,
        clock: ManualClock | None = None,
        seed: int = 0,
        **settings: Any,
    ) -> None:
        self.store = MemoryStore() if store is None else store
        self.models = models or Models(RuleExtractor(), SelectionSummarizer(), HashEmbedder())
        self.clock = clock or ManualClock()
        self.settings: Settings = load_settings(
            store="memory://", runtime="local", **{"refresh_linger_s": 0, **settings}
        )
        self._seeds = count(seed * 1000)

    def open(
        self,
        user: str = ANN,
        store: ObjectStore | None = None,
        models: Models | None = None,
        *,
        resumes: bool = False,
    ) -> TestForest:
        """One more possible owner of a user's forest."""
        seed = next(self._seeds)
        random = SeededRandom(seed)
        driver = ForestDriver(
            UserId(user),
            store or self.store,
            models or self.models,
            self.settings,
            self.clock,
            random,
            resumes=resumes,
        )
        return TestForest(driver, str(seed))

    def runtime(self, store: ObjectStore | None = None) -> LocalRuntime:
        """A process of its own, so to say."""
        random = SeededRandom(next(self._seeds))
        return LocalRuntime(self.settings, store or self.store, self.models, self.clock, random)

    async def settled(self, *steps: Callable[[TestForest], Awaitable[Any]]) -> Version:
        """What a forest comes to by `steps`, each checked, as live and as loaded."""
        forest = self.open()
        for step in steps:
            await step(forest)
            check_forest(await forest.version())
        version = await forest.version()
        check_same(version, await self.open().version())
        await forest.driver.close()
        return version


def decided(version: Version) -> dict[str, Any]:
    """What must be a function of the set of sessions: all but scenes, shapes of trees, summaries and receipts."""
    lasting = {scope: tree for scope, tree in version.trees.items() if not scope.startswith("scene:")}
    return {
        "sessions": dict(version.sessions),
        "cells": dict(version.cells),
        "failed": dict(version.failed),
        "mentions": dict(version.facts.mentions),
        "facts": {fact.id: fact for fact in version.facts},
        "leaves": {scope: [leaf.id for leaf in tree.leaves()] for scope, tree in lasting.items()},
        "placements": {
            item: kept for item, scopes in version.placements.items() if (kept := frozenset(scopes & lasting.keys()))
        },
        "vectors": {item: version.vector(item).tobytes() for item in _items(version)},
    }


def same_state(version: Version, other: Version) -> bool:
    """Whether everything but the index is equal."""
    names = [field.name for field in fields(version) if field.name != "index"]
    return all(getattr(version, name) == getattr(other, name) for name in names)


def check_same(version: Version, other: Version) -> None:
    """Assert that two versions are one, and that their indexes hold the same vectors."""
    if not version.operations:  # nothing was ever written: each reader makes up a secret
        version = replace(version, secret=other.secret)
    assert same_state(version, other)
    assert len(version.index) == len(other.index)
    for name in [*_items(version), *version.summaries]:
        assert np.array_equal(version.vector(name), other.vector(name)), name


def check_forest(version: Version) -> None:
    """Assert all that must hold of any version."""
    _check_dialogue(version)
    check_facts(version.facts)
    _check_trees(version)
    _check_entities(version)
    _check_scenes(version)
    _check_nothing_hidden(version)
    nodes = [node.id for tree in version.trees.values() for node in tree.nodes()]
    assert set(version.summaries) == set(nodes)
    items = _items(version)
    assert len(version.index) == len(items) + len(nodes)
    assert [name for name in [*items, *nodes] if version.index.row_of(name) is None] == []


async def residue(text: str, store: ObjectStore, version: Version) -> list[str]:
    """Where a text still stands, in any case of letters: keys of objects, and "live" for the version."""
    word = text.lower().encode()
    stored = {key: _opened(key, body) for key, body in (await contents(store)).items()}
    found = [key for key, plain in stored.items() if word in plain.lower()]
    return found + ["live"] * (word in pickle.dumps(version).lower())


def _opened(key: str, body: bytes) -> bytes:
    """All bytes of an object, and what they say where they are compressed."""
    try:
        frame = unseal(body, key, "manifest", "text", "vectors", "commit", "fence", "tombstone")
        return body + repr(unpack(frame.body, key)).encode()
    except CorruptState:
        return body


def _items(version: Version) -> list[ItemId]:
    """Facts shown and cells that say something."""
    spoken = [ItemId(cell.id) for cell in version.cells.values() if version.spoken(cell)]
    return [*map(ItemId, version.facts.shown), *spoken]


def _check_dialogue(version: Version) -> None:
    assert set(version.sessions) == set(version.session_cells)
    assert sorted(name for names in version.session_cells.values() for name in names) == sorted(version.cells)
    for session, names in version.session_cells.items():
        cells = [version.cells[name] for name in names]
        assert [cell.number for cell in cells] == list(range(len(cells)))
        if all(turn.hole is None for turn in version.sessions[session].turns):
            assert cells == list(cut(version.sessions[session], **version.birth.limits))
    assert set(version.failed) <= set(version.cells)
    for mention in version.facts.mentions.values():
        assert mention.cell_id in version.cells
        # A correction stands, though its cell could not be read anew.
        assert mention.cell_id not in version.failed or mention.candidate.corrected_from is not None
        turns = version.sessions[mention.session_id].turns
        assert all(turns[turn].hole is None for turn in mention.candidate.turns)


def _check_trees(version: Version) -> None:
    assert version.placements == placements_of(version.trees)
    for scope, tree in version.trees.items():
        assert tree.scope == scope
        assert tree.k == version.birth.fanouts[scope.partition(":")[0]]
        check_tree(tree, joined=True)
        assert [leaf.item for leaf in tree.leaves() if leaf != version.leaf_of(leaf.item)] == []


def _leaves(version: Version, scope: ScopeId) -> set[str]:
    tree: MemTree | None = version.trees.get(scope)
    return set() if tree is None else {leaf.item for leaf in tree.leaves()}


def _kept(version: Version, family: str, items: set[Any]) -> set[Any]:
    """What a tree of that family should hold of some items: nothing where there are no such trees."""
    return items if family in version.birth.families else set()


def _check_entities(version: Version) -> None:
    trees = {session_scope(session) for session in version.sessions}
    for session, names in version.session_cells.items():
        spoken = {name for name in names if version.spoken(version.cells[name])}
        assert _leaves(version, session_scope(session)) == _kept(version, "session", spoken)
    for key, entity in version.entities.by_key.items():
        trees.add(entity_scope(key))
        members = set(entity.facts) if entity.active else set()
        assert _leaves(version, entity_scope(key)) == _kept(version, "entity", members)
    assert {scope for scope in version.trees if not scope.startswith("scene:")} <= trees


def _check_scenes(version: Version) -> None:
    scenes = version.scenes
    assert "scene" in version.birth.families or not scenes.by_id
    assert dict(scenes.scene_of) == {fact: name for name, scene in scenes.by_id.items() for fact in scene.members}
    for name, scene in scenes.by_id.items():
        members = set(scene.members)
        assert {version.facts.shown[fact].domain for fact in members} == {scene.gate}
        assert _leaves(version, scene_scope(name)) == (members if len(members) >= SCENE_TREE_MIN else set())
        total = np.sum([version.vector(fact).astype(np.float64) for fact in scene.members], axis=0)
        assert np.array_equal(scene.total, total)
    assert {scope for scope in version.trees if scope.startswith("scene:")} <= {
        scene_scope(name) for name in scenes.by_id
    }


def _check_nothing_hidden(version: Version) -> None:
    hidden = set(version.facts.hidden)
    assert hidden.isdisjoint(version.placements)
    assert hidden.isdisjoint(version.scenes.scene_of)
    assert all(hidden.isdisjoint(entity.facts) for entity in version.entities.by_key.values())
    assert [name for name in hidden if version.index.row_of(name) is not None] == []
    leaves: list[Leaf] = [leaf for tree in version.trees.values() for leaf in tree.leaves()]
    assert hidden.isdisjoint(leaf.item for leaf in leaves)
