"""How an edit keeps a tree balanced: split, borrow, merge, copying only the paths that it touches.

Rules: appending fills nodes (a full right-most one starts a sibling); an insert in the middle splits in
halves, a node of leaves when it has more than k, one of nodes when it has half as many more; a node below ceil(k/2)
children borrows from a sibling or merges with it; only the right spine may be thinner; a root has at least two children
or is a leaf.

The room above the leaves is for what comes late, here and there, into a tree that has grown by appending: without it
each of these splits a large node, and two halves have to be summarised anew where one takes in a line.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TypeAlias

from memforest_ray.ids import NodeId, ScopeId
from memforest_ray.trees.nodes import Child, Leaf, Node, OrderKey

__all__ = ["Surgery", "children_max"]

_Part: TypeAlias = tuple[Child, ...]
"""Children of a node that is not made yet."""


def _order(leaf: Leaf) -> OrderKey:
    return leaf.order


def children_max(k: int) -> int:
    """Most children of a node above nodes, where appending fills it with `k`."""
    return k + k // 2


class Surgery:
    """One edit under way: which nodes were taken apart, which were made.

    Below a node that is being edited everything stands in parts (tuples of children); a part becomes a node
    only when its parent has settled who is whose sibling, so nothing is made in vain.
    """

    def __init__(self, scope: ScopeId, k: int) -> None:
        self.scope = scope
        self.k = k
        self.half = (k + 1) // 2
        self.most = children_max(k)
        self.opened: dict[NodeId, Node] = {}
        self.made: dict[NodeId, Node] = {}

    def operate(self, root: Child | None, insert: Sequence[Leaf], remove: Sequence[Leaf]) -> Child | None:
        append = not remove and (root is None or insert[0].order > root.last)
        if isinstance(root, Node):
            parts = self._edit(root, insert, remove, last=True)
        else:
            leaves = self._merge(() if root is None else (root,), insert, remove)
            parts = self._cut(leaves, append=append)
        while len(parts) > 1:
            parts = self._cut([self._make(part) for part in parts], append=append)
        return self._crown(parts[0]) if parts else None

    def _crown(self, part: _Part) -> Child:
        """The root over one part: no node with a single child."""
        while len(part) == 1:
            only = part[0]
            if isinstance(only, Leaf) or len(only.children) > 1:
                return only
            part = self._open(only)
        return self._make(part)

    def _edit(self, node: Node, insert: Sequence[Leaf], remove: Sequence[Leaf], *, last: bool) -> list[_Part]:
        """What becomes of `node`: nothing, one part or several. `last`: it stands on the right spine."""
        append = last and not remove and insert[0].order > node.last
        children = self._open(node)
        if node.level == 1:
            return self._cut(self._merge(children, insert, remove), append=append, held=len(children))
        settled = self._settle(self._descend(children, insert, remove, last), last=last)
        return self._cut(settled, append=append, held=len(children))

    def _descend(
        self, children: _Part, insert: Sequence[Leaf], remove: Sequence[Leaf], last: bool
    ) -> list[Node | _Part]:
        """Gives each child its share of the edit."""
        done: list[Node | _Part] = []
        put = drop = 0
        final = len(children) - 1
        for place, child in enumerate(children):
            assert isinstance(child, Node)
            put_end = len(insert) if place == final else bisect_right(insert, child.last, put, key=_order)
            drop_end = len(remove) if place == final else bisect_right(remove, child.last, drop, key=_order)
            if put_end == put and drop_end == drop:
                done.append(child)
            else:
                on_spine = last and place == final
                done += self._edit(child, insert[put:put_end], remove[drop:drop_end], last=on_spine)
            put, drop = put_end, drop_end
        return done

    def _merge(self, children: Iterable[Child], insert: Sequence[Leaf], remove: Sequence[Leaf]) -> list[Leaf]:
        leaves = {leaf.order: leaf for leaf in children if isinstance(leaf, Leaf)}
        for leaf in remove:
            if leaves.pop(leaf.order, None) is None:
                raise ValueError(f"{self.scope} has no leaf {leaf.item} at {leaf.order}")
        for leaf in insert:
            if leaf.order in leaves:
                raise ValueError(f"{self.scope} already has a leaf {leaf.item} at {leaf.order}")
            leaves[leaf.order] = leaf
        return [leaves[order] for order in sorted(leaves)] if insert else list(leaves.values())

    def _settle(self, kids: Sequence[Node | _Part], *, last: bool) -> list[Node]:
        """Siblings of which none is thin, save the last on the right spine and one that is alone."""
        settled: list[Node | _Part] = []
        for place, kid in enumerate(kids):
            if settled and self._thin(settled[-1]):
                settled[-1:] = self._join(settled[-1], kid, last=last and place == len(kids) - 1)
            else:
                settled.append(kid)
        if len(settled) > 1 and self._thin(settled[-1]) and not last:
            settled[-2:] = self._join(settled[-2], settled[-1], last=False)
        return [kid if isinstance(kid, Node) else self._make(kid) for kid in settled]

    def _thin(self, kid: Node | _Part) -> bool:
        return len(kid.children if isinstance(kid, Node) else kid) < self.half

    def _join(self, left: Node | _Part, right: Node | _Part, *, last: bool) -> list[_Part]:
        """Two siblings as one, or shared out evenly (which is borrowing) when they are too many for one.

        A thin node may have a single thin child (nobody to join it with, until now): so settle below, too.
        """
        below = [*self._open(left), *self._open(right)]
        nodes = [child for child in below if isinstance(child, Node)]
        return self._cut(self._settle(nodes, last=last) if nodes else below, append=False)

    def _cut(self, kids: Sequence[Child], *, append: bool, held: int = 0) -> list[_Part]:
        """What becomes of so many siblings: one part if they have room in one, else several.

        When appending these are full ones and a rest, the first of them what was together (`held`) if that is more;
        else equal ones, none of them thin.
        """
        total = len(kids)
        full = max(self.k, held) if append else self.k if total and isinstance(kids[0], Leaf) else self.most
        if total <= full:
            return [tuple(kids)] if kids else []
        if append:
            ends = [0, *range(full, total, self.k), total]
        else:
            number = -(-total // self.k)
            ends = [total * place // number for place in range(number + 1)]
        return [tuple(kids[start:end]) for start, end in pairwise(ends)]

    def _open(self, kid: Node | _Part) -> _Part:
        if isinstance(kid, tuple):
            return kid
        if kid.id not in self.made:
            self.opened[kid.id] = kid
        return kid.children

    def _make(self, part: _Part) -> Node:
        node = Node.of(self.scope, part)
        if node.id in self.opened:
            return self.opened[node.id]
        return self.made.setdefault(node.id, node)

    def difference(self, root: Child | None) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
        """Nodes that only the new tree has (children first), and those that only the old one had.

        Every old node that is gone was opened and every new one made, so only these are looked at.
        """
        added: list[Node] = []
        kept: set[NodeId] = set()
        self._visit(root, added, kept)
        return tuple(added), tuple(node for name, node in self.opened.items() if name not in kept)

    def _visit(self, child: Child | None, added: list[Node], kept: set[NodeId]) -> None:
        if not isinstance(child, Node) or (child.id not in self.made and child.id not in self.opened):
            return
        for below in child.children:
            self._visit(below, added, kept)
        if child.id in self.opened:
            kept.add(child.id)
        else:
            added.append(child)
