"""Trees as they are stored: known by their rows at once, read node by node only when somebody asks for the nodes.

A forest has thousands of trees and a question looks into ten. What all of them are needed for when a forest opens
(which item stands where, what the index keeps of each node) is told by the rows alone; that a tree's nodes add up to
their ids is found when it is read.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from immutables import Map

from memforest_ray.errors import CorruptState
from memforest_ray.ids import ItemId, NodeId, ScopeId
from memforest_ray.trees.edits import Placements, Trees
from memforest_ray.trees.nodes import Child, Leaf, OrderKey, Range
from memforest_ray.trees.tree import MemTree, names_node, rebuild

__all__ = ["Outline", "StoredForest", "StoredTree"]

Leaves = Callable[[ItemId], Leaf | None]
"""The leaf of an item; None when it is not there."""


class StoredTree(MemTree):
    """A tree that is read when its root is first asked for. Raises CorruptState then, naming scope and node."""

    __slots__ = ("_read", "_root")
    _read: "_Reading | None"
    _root: Child | None

    def __init__(self, scope: ScopeId, k: int, read: "_Reading") -> None:
        object.__setattr__(self, "scope", scope)
        object.__setattr__(self, "k", k)
        object.__setattr__(self, "_read", read)
        object.__setattr__(self, "_root", None)

    @property
    def root(self) -> Child | None:
        # Two threads may read it at once: they come to the same.
        read = self._read
        if read is not None:
            object.__setattr__(self, "_root", read().root)
            object.__setattr__(self, "_read", None)
        return self._root

    def spans(self, order: OrderKey) -> tuple[Range, ...]:
        """Of a tree that was not read yet, the path alone is looked at: a tree may have all leaves of a forest."""
        read = self._read
        return super().spans(order) if read is None else tuple(read.spans(order))

    def __reduce__(self) -> tuple[Any, ...]:
        return MemTree, (self.scope, self.k, self.root)


class Outline(NamedTuple):
    """One node, as its row tells of it."""

    name: NodeId
    scope: ScopeId
    level: int
    children: tuple[str, ...]
    latest_ms: int | None
    """Latest source time below it; None when any of it is unknown."""


class StoredForest:
    """All trees of a forest, from their rows. `latest` has every item there may be, with its latest source time, or
    None when any of it is unknown; `leaf_of` is asked for an item's leaf when a tree is read.

    Raises CorruptState, naming scope and node, when a row or an item is missing, or of a wrong level.
    """

    def __init__(
        self,
        tree_rows: Mapping[str, Mapping[str, Any]],
        node_rows: Mapping[str, Mapping[str, Any]],
        latest: Mapping[str, int | None],
        leaf_of: Leaves,
    ) -> None:
        self._rows = node_rows
        self._latest = latest
        self._leaves = _Leaves(leaf_of)
        self._scopes: defaultdict[str, list[ScopeId]] = defaultdict(list)
        self.outlines: list[Outline] = []
        """Children before parents."""
        trees: dict[ScopeId, MemTree] = {}
        for name, row in tree_rows.items():
            trees[ScopeId(name)] = self._tree(ScopeId(name), row)
        self.trees: Trees = Map(trees)
        self.placements: Placements = Map({ItemId(item): frozenset(found) for item, found in self._scopes.items()})
        del self._scopes, self._latest

    def _tree(self, scope: ScopeId, row: Mapping[str, Any]) -> MemTree:
        root = row["root"]
        if root is None:
            return MemTree(scope, row["k"])
        if names_node(root):
            self._outlined(scope, root, None)
        else:
            self._placed(scope, root, [root])
        return StoredTree(scope, row["k"], _Reading(scope, row["k"], root, self._rows, self._leaves))

    def _outlined(self, scope: ScopeId, name: str, level: int | None) -> int | None:
        """Outline a node, after those below it; its latest source time."""
        row = self._rows.get(name)
        if row is None:
            raise _corrupt(scope, name, "it is not there")
        if level is not None and row["level"] != level:
            raise _corrupt(scope, name, f"it is of level {row['level']}, not {level}")
        level, children = row["level"], tuple(row["children"])
        if level > 1:
            times = [self._outlined(scope, child, level - 1) for child in children]
        else:
            times = self._placed(scope, name, children)
        latest = None if not times or None in times else max(times)  # type: ignore[type-var]  # None is not among them
        self.outlines.append(Outline(NodeId(name), scope, level, children, latest))
        return latest

    def _placed(self, scope: ScopeId, node: str, items: Sequence[str]) -> list[int | None]:
        """Place the items of a lowest node; their latest source times."""
        latest, scopes = self._latest, self._scopes
        for item in items:
            if item not in latest:
                raise _corrupt(scope, node, f"its item {item} is not there")
            scopes[item].append(scope)
        return [latest[item] for item in items]


class _Leaves:
    """Leaves by item, each made once."""

    def __init__(self, leaf_of: Leaves) -> None:
        self._leaf_of = leaf_of
        self._known: dict[ItemId, Leaf | None] = {}

    def __call__(self, item: ItemId) -> Leaf | None:
        if item not in self._known:
            self._known[item] = self._leaf_of(item)
        return self._known[item]


@dataclass(frozen=True, slots=True)
class _Reading:
    """What it takes to read one tree."""

    scope: ScopeId
    k: int
    root: str
    rows: Mapping[str, Mapping[str, Any]]
    leaf_of: Leaves
    known: dict[str, tuple[OrderKey, list[OrderKey]]] = field(default_factory=dict)
    """Of the nodes that `spans` has gone by: where the first leaf stands, and the last one of each child node."""

    def __call__(self) -> MemTree:
        return rebuild(self.scope, self.k, self.root, self.rows, self.leaf_of)

    def spans(self, order: OrderKey) -> Iterator[Range]:
        """What `MemTree.spans` tells, by the leaves at the ends of the nodes that it goes by."""
        name = self.root
        while names_node(name):
            first, lasts = self._ends(name)
            yield first[0], lasts[-1][0]
            name = self.rows[name]["children"][min(bisect_left(lasts, order), len(lasts) - 1)]

    def _ends(self, name: str) -> tuple[OrderKey, list[OrderKey]]:
        known = self.known.get(name)
        if known is None:
            children = self.rows[name]["children"]
            further = children if names_node(children[0]) else children[-1:]  # nothing below a lowest node is gone by
            known = self.known[name] = self._end(children[0], 0), [self._end(child, -1) for child in further]
        return known

    def _end(self, name: str, place: int) -> OrderKey:
        """The order key of the first (0) or last (-1) leaf below a node or item."""
        while names_node(name):
            name = self.rows[name]["children"][place]
        leaf = self.leaf_of(ItemId(name))
        if leaf is None:
            raise _corrupt(self.scope, self.root, f"its item {name} is not there")
        return leaf.order


def _corrupt(scope: ScopeId, name: str, why: str) -> CorruptState:
    return CorruptState(
        f"tree {scope}, node {name}: {why}; nothing was changed, restore the store from a copy",
        scope=scope,
        node=name,
    )
