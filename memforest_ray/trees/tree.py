"""MemTree: a persistent, balanced k-ary tree of structure only, its leaves in time order.

A B+ tree without separator keys: a node holds its children, the order keys of its first and last leaf, a
count and time ranges. An edit copies the paths it touches and shares every other node, so an old tree stays
valid for ever, and the nodes that are new in an edit are exactly those whose summaries have to be made.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from operator import attrgetter
from typing import Any, Final

from memforest_ray.errors import CorruptState
from memforest_ray.ids import ItemId, ScopeId
from memforest_ray.trees.joining import Joining
from memforest_ray.trees.nodes import UNKNOWN_MS, Child, Leaf, Node, OrderKey, Range, node_row, order_key

__all__ = [
    "FANOUT_MIN",
    "UNKNOWN_MS",
    "Child",
    "Edit",
    "Leaf",
    "MemTree",
    "Node",
    "OrderKey",
    "names_node",
    "node_row",
    "order_key",
    "rebuild",
]

FANOUT_MIN: Final = 3
"""Below it a node that is split leaves halves that have no slack."""


@dataclass(frozen=True, slots=True, eq=False)
class MemTree:
    """The leaves of one scope. Every method that changes it returns another tree."""

    scope: ScopeId
    k: int
    """Children of a full node; above the lowest nodes half as many more have room. Fixed when the tree is born."""
    root: Child | None = None

    def __post_init__(self) -> None:
        if self.k < FANOUT_MIN:
            raise ValueError(f"a tree has at least {FANOUT_MIN} children per node, not {self.k}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MemTree) and (self.scope, self.k, self.root) == (other.scope, other.k, other.root)

    def __hash__(self) -> int:
        return hash((self.scope, self.k, self.root))

    def __len__(self) -> int:
        return 0 if self.root is None else self.root.count

    @property
    def height(self) -> int:
        """Levels of nodes above the leaves: 0 for a tree of one leaf or none."""
        return self.root.level if isinstance(self.root, Node) else 0

    @property
    def root_id(self) -> str | None:
        """What `rebuild` starts from: a node id, or the item id of a single leaf."""
        if self.root is None:
            return None
        return self.root.item if isinstance(self.root, Leaf) else self.root.id

    def leaves(self) -> Iterator[Leaf]:
        """All leaves in order."""
        yield from () if self.root is None else _from_start(self.root)

    def nodes(self) -> Iterator[Node]:
        """All nodes, children before their parent."""
        yield from _nodes(self.root)

    def find(self, order: OrderKey) -> Leaf | None:
        """The leaf of that key."""
        child = self.root
        while isinstance(child, Node):
            if order > child.last:
                return None
            child = child.children[bisect_left(child.children, order, key=_last)]
        return child if child is not None and child.order == order else None

    def path(self, order: OrderKey) -> tuple[Node, ...]:
        """Nodes from the root down to where a leaf of that key is or would be."""
        found: list[Node] = []
        child = self.root
        while isinstance(child, Node):
            found.append(child)
            place = bisect_left(child.children, order, key=_last)
            child = child.children[min(place, len(child.children) - 1)]
        return tuple(found)

    def spans(self, order: OrderKey) -> tuple[Range, ...]:
        """Of each node of that path where its first and its last leaf stand in time."""
        return tuple([(node.first[0], node.last[0]) for node in self.path(order)])

    def before(self, order: OrderKey, n: int) -> Iterator[Leaf]:
        """At most `n` leaves that precede `order`, nearest first; found as they are asked for."""
        return islice(_backward(self.root, order), n)

    def after(self, order: OrderKey, n: int) -> Iterator[Leaf]:
        """At most `n` leaves that follow `order`, nearest first; found as they are asked for."""
        return islice(_forward(self.root, order), n)

    def edit(self, insert: Iterable[Leaf] = (), remove: Iterable[Leaf] = (), graft: "MemTree | None" = None) -> "Edit":
        """The tree without `remove` and with `insert`; to change a leaf, remove the old and insert the new.

        `graft` is another tree of this scope and fanout, whose leaves come in too: its nodes are shared where no
        leaf of ours falls among theirs. Costs about the touched paths, and the nodes of `graft`. Raises ValueError
        for a leaf to remove that is not there, and for one to insert that is.
        """
        inserted, removed = sorted(insert, key=_order), sorted(remove, key=_order)
        if not inserted and not removed and graft is None:
            return Edit(self)
        surgery = Joining(self.scope, self.k)
        root = surgery.operate(self.root, inserted, removed) if inserted or removed else self.root
        if graft is not None:
            root = surgery.unite(root, graft.root)
        added, gone = surgery.difference(root)
        return Edit(MemTree(self.scope, self.k, root), added, gone)

    def shaped(self, leaves: Sequence[Leaf], scope: ScopeId) -> "MemTree":
        """A tree of this shape over other leaves, as many and in order."""
        return MemTree(scope, self.k, None if self.root is None else _shaped(self.root, iter(leaves), scope))


@dataclass(frozen=True, slots=True)
class Edit:
    """A changed tree, and how its nodes differ from those of the tree it came from."""

    tree: MemTree
    added: tuple[Node, ...] = ()
    """Children before parents."""
    removed: tuple[Node, ...] = ()


def _shaped(child: Child, leaves: Iterator[Leaf], scope: ScopeId) -> Child:
    if isinstance(child, Leaf):
        return next(leaves)
    return Node.of(scope, tuple(_shaped(below, leaves, scope) for below in child.children))


_order = attrgetter("order")
_first = attrgetter("first")
_last = attrgetter("last")


def _nodes(child: Child | None) -> Iterator[Node]:
    if isinstance(child, Node):
        if child.level > 1:
            for below in child.children:
                yield from _nodes(below)
        yield child


def _from_start(child: Child) -> Iterator[Leaf]:
    if isinstance(child, Leaf):
        yield child
        return
    for below in child.children:
        yield from _from_start(below)


def _forward(child: Child | None, order: OrderKey) -> Iterator[Leaf]:
    if isinstance(child, Node):
        for below in child.children[bisect_right(child.children, order, key=_last) :]:
            yield from _forward(below, order)
    elif child is not None and child.order > order:
        yield child


def _backward(child: Child | None, order: OrderKey) -> Iterator[Leaf]:
    if isinstance(child, Node):
        for below in reversed(child.children[: bisect_left(child.children, order, key=_first)]):
            yield from _backward(below, order)
    elif child is not None and child.order < order:
        yield child


def rebuild(
    scope: ScopeId,
    k: int,
    root: str | None,
    rows: Mapping[str, Mapping[str, Any]],
    leaf_of: Callable[[ItemId], Leaf | None],
) -> MemTree:
    """The tree whose root is the node, or the single item, `root`.

    Raises CorruptState, naming scope and node, when a row or an item is missing or does not add up to its id.
    """
    return MemTree(scope, k, None if root is None else _Rebuild(scope, rows, leaf_of).child(root, root, None))


@dataclass(frozen=True, slots=True)
class _Rebuild:
    scope: ScopeId
    rows: Mapping[str, Mapping[str, Any]]
    leaf_of: Callable[[ItemId], Leaf | None]

    def child(self, name: str, parent: str, level: int | None) -> Child:
        """The child `name` of `parent`; `level` is None for the root, which may be of any."""
        if level == 0 or (level is None and not names_node(name)):
            leaf = self.leaf_of(ItemId(name))
            if leaf is None:
                raise self._corrupt(parent, f"its item {name} is not there")
            return leaf
        row = self.rows.get(name)
        if row is None:
            raise self._corrupt(name, "it is not there")
        if level is not None and row["level"] != level:
            raise self._corrupt(name, f"it is of level {row['level']}, not {level}")
        return self._node(name, row)

    def _node(self, name: str, row: Mapping[str, Any]) -> Node:
        children = tuple(self.child(below, name, row["level"] - 1) for below in row["children"])
        if not children or any(left.last >= right.first for left, right in pairwise(children)):
            raise self._corrupt(name, "its children are out of order or none")
        node = Node.of(self.scope, children)
        if node.id != name:
            raise self._corrupt(name, f"its content is that of {node.id}")
        return node

    def _corrupt(self, name: str, why: str) -> CorruptState:
        return CorruptState(
            f"tree {self.scope}, node {name}: {why}; nothing was changed, restore the store from a copy",
            scope=self.scope,
            node=name,
        )


def names_node(name: str) -> bool:
    """Whether it is the id of a node, and not of an item."""
    return len(name) == 25 and name.startswith("n")
