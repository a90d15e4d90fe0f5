"""Joining: two trees of one scope become one, sharing every subtree that no leaf of the other falls into.

A few leaves of one among those of the other (*strays*: no more than a node holds, with leaves of the other on both
sides) change over first, each tree mended as by any edit: they would tear apart what stands around them. Then both
are taken apart only where they still overlap; what is left is a row of whole subtrees in order, of different heights.
Neighbours of one height get parents of their own, and the trees that come of that are concatenated: the lower one
is hung into the other's spine at its own height, so a join copies a path, as a B+ tree's does. Two of one height share
one root if that has room for the children of both, else they get one above them.

What was a tree's right spine stands inside then, thin nodes and all. From a fanout of 5 on it is left so, as the last
child of any node may then be thin: two trees of one height have one new node, and one new summary, their root. Of the
N leaves of such a tree there are at least (ceil(k/2) - 1)^(height - 1). Smaller fanouts have no such slack: there the
spine is made whole. An edit that comes by later does that in any case, where it touches.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice, takewhile
from typing import Final

from memforest_ray.ids import NodeId
from memforest_ray.trees.balance import Surgery
from memforest_ray.trees.nodes import Child, Leaf, Node, OrderKey

__all__ = ["Joining"]


_BOTH: Final = 2
_HALF_MIN: Final = 3
"""From this half of a fanout on a thin last child does no harm."""


class Joining(Surgery):
    """An edit under way that takes over another tree's nodes, too."""

    _kept: frozenset[NodeId] = frozenset()
    """Nodes of the other tree as it came."""

    def unite(self, root: Child | None, other: Child | None) -> Child | None:
        """The tree of the leaves of both. Raises ValueError when they have a leaf of one place in common."""
        self._kept = _ids(other)
        if root is not None and other is not None:
            root, other = self._exchanged(root, other)
        self._take_over(other)
        if other is None or root is None:
            return root if other is None else other
        trees = [self._stacked(list(run)) for _, run in groupby(self._woven([root], [other]), key=_level)]
        united = trees[0]
        for tree in trees[1:]:
            united = self._concatenated(united, tree)
        return united

    def _exchanged(self, root: Child, other: Child) -> tuple[Child | None, Child | None]:
        """Both trees, the strays of each in the other one."""
        ours, theirs = _strays(root, other, self.k)
        if not ours and not theirs:
            return root, other
        return self.operate(root, theirs, ours), Surgery(self.scope, self.k).operate(other, ours, theirs)

    def _take_over(self, child: Child | None) -> None:
        """The other tree's nodes are new to this one."""
        if isinstance(child, Node):
            self.made[child.id] = child
            for below in child.children:
                self._take_over(below)

    def _woven(self, ours: list[Child], theirs: list[Child]) -> Iterator[Child]:
        """Whole subtrees of both in order, none overlapping another."""
        ours.reverse()
        theirs.reverse()
        while ours and theirs:
            mine, other = ours[-1], theirs[-1]
            if mine.last < other.first:
                yield ours.pop()
            elif other.last < mine.first:
                yield theirs.pop()
            elif isinstance(mine, Leaf) and isinstance(other, Leaf):
                raise ValueError(f"{self.scope} already has a leaf {other.item} at {other.order}")
            else:
                if mine.level >= other.level:
                    ours[-1:] = reversed(self._parts_of(mine))
                if other.level >= mine.level:
                    theirs[-1:] = reversed(self._parts_of(other))
        yield from reversed(ours or theirs)

    def _parts_of(self, child: Child) -> Sequence[Child]:
        return self._open(child) if isinstance(child, Node) else (child,)

    def _stacked(self, run: list[Child]) -> Child:
        """One tree over neighbours of one height."""
        nodes = [child for child in run if isinstance(child, Node)]
        if len(nodes) == _BOTH:
            return self._concatenated(*nodes)
        if nodes:
            run = [*self._settle([*map(self._healed, nodes[:-1]), nodes[-1]], last=True)]
        return self._topped([tuple(part) for part in self._cut(run, append=False)])

    def _topped(self, parts: list[tuple[Child, ...]]) -> Child:
        while len(parts) > 1:
            parts = self._cut([self._make(part) for part in parts], append=False)
        return self._crown(parts[0])

    def _healed(self, node: Node) -> Node:
        """The node without thin ones on its right spine: it will not stand on the whole tree's any more.

        A thin only child stays: its parent is thin, too, and is joined with a sibling, children and all.
        """
        last = node.children[-1]
        if isinstance(last, Leaf) or self.half >= _HALF_MIN:
            return node
        healed = self._healed(last)
        if healed is last and (len(node.children) == 1 or not self._thin(last)):
            return node
        siblings = [child for child in self._open(node)[:-1] if isinstance(child, Node)]
        return self._make(tuple(self._settle([*siblings, healed], last=False)))

    def _concatenated(self, left: Child, right: Child) -> Child:
        """One tree; every leaf of `left` stands before those of `right`."""
        if isinstance(left, Node):
            left = self._healed(left)
        if left.level > right.level:
            return self._topped(self._hung_behind(left, right))
        if left.level < right.level:
            return self._topped(self._hung_before(left, right, last=True))
        return self._topped(self._row(self._met(left, right, last=True, top=True), last=True))

    def _hung_behind(self, node: Child, right: Child) -> list[tuple[Child, ...]]:
        """What becomes of `node` when `right`, which is lower, is its last descendant of that height."""
        *rest, last = self._parts_of(node)
        if node.level == right.level + 1:
            return self._row([*rest, *self._met(last, right, last=True)], last=True)
        return self._row([*rest, *self._hung_behind(last, right)], last=True)

    def _hung_before(self, left: Child, node: Child, *, last: bool) -> list[tuple[Child, ...]]:
        """What becomes of `node` when `left`, which is lower, is its first descendant of that height."""
        first, *rest = self._parts_of(node)
        if node.level == left.level + 1:
            return self._row([*self._met(left, first, last=last and not rest), *rest], last=last)
        return self._row([*self._hung_before(left, first, last=last and not rest), *rest], last=last)

    def _met(self, left: Child, right: Child, *, last: bool, top: bool = False) -> Sequence[Child | tuple[Child, ...]]:
        """Neighbours from both sides: one node, if there is room and one of them is new in any case.

        `top`: they are whole trees, over which a new node comes otherwise; one that has their children is as cheap,
        unless that takes mending.
        """
        if not isinstance(left, Node) or not isinstance(right, Node):
            return (left, right)
        inner = left.children[-1]
        cheap = top and (isinstance(inner, Leaf) or not self._thin(inner))
        fit = len(left.children) + len(right.children) <= self.k
        if fit and (cheap or self._is_new(left) or self._is_new(right)):
            return self._join(left, right, last=last)
        return (left, right)

    def _is_new(self, node: Node) -> bool:
        return node.id in self.made and node.id not in self._kept

    def _row(self, kids: Sequence[Child | tuple[Child, ...]], *, last: bool) -> list[tuple[Child, ...]]:
        """Siblings, settled and shared out."""
        nodes = [kid for kid in kids if not isinstance(kid, Leaf)]
        if nodes:
            return self._cut(self._settle(nodes, last=last), append=False)
        return self._cut([kid for kid in kids if isinstance(kid, Leaf)], append=False)


def _level(child: Child) -> int:
    return child.level


def _ids(child: Child | None) -> frozenset[NodeId]:
    """Of all nodes of a tree."""
    found: list[NodeId] = []
    left = [child]
    while left:
        node = left.pop()
        if isinstance(node, Node):
            found.append(node.id)
            left += node.children
    return frozenset(found)


@dataclass(slots=True)
class _Run:
    """Leaves that stand together, all of them to be in one tree."""

    theirs: bool
    """Whose that is."""
    size: int
    own: list[Leaf]
    """Those that are in it already; all of them as long as there are few."""
    strays: list[Leaf]
    """Those that are in the other tree now."""

    def close(self, gap: "_Run", onward: "_Run", most: int) -> None:
        """Take in the two runs that follow: a gap, which changes over, and one of this side."""
        self.size += gap.size + onward.size
        self.strays += gap.own
        self.strays += onward.strays
        self.own = [*self.own, *gap.strays, *onward.own] if self.size <= most else []


def _strays(root: Child, other: Child, most: int) -> tuple[list[Leaf], list[Leaf]]:
    """Leaves of ours and of theirs that are better off in the other tree, in order.

    Those of a run of at most so many that has a run of the other on both sides.
    """
    runs: list[_Run] = []
    for run in _runs(root, other, most):
        runs.append(run)
        if len(runs) > 2 and runs[-2].size <= most:
            last, gap = runs.pop(), runs.pop()
            runs[-1].close(gap, last, most)
    ours = [leaf for run in runs if run.theirs for leaf in run.strays]
    return ours, [leaf for run in runs if not run.theirs for leaf in run.strays]


def _runs(root: Child, other: Child, most: int) -> Iterator[_Run]:
    """The leaves of both in order; of a run of ours no more is looked at than it takes to see that it is long."""
    theirs = list(_after(other, None))
    low: OrderKey | None = None
    place = 0
    while place < len(theirs):
        first = theirs[place].order
        yield from _run_of(islice(_between(root, low, first), most + 1))
        following = next(_after(root, first), None)
        end = len(theirs) if following is None else bisect_left(theirs, following.order, place, key=_order)
        yield _Run(True, end - place, theirs[place:end], [])
        low, place = theirs[end - 1].order, end
    yield from _run_of(islice(_after(root, low), most + 1))


def _run_of(leaves: Iterable[Leaf]) -> Iterator[_Run]:
    """A run of ours, unless there are none."""
    own = list(leaves)
    if own:
        yield _Run(False, len(own), own, [])


def _after(child: Child, order: OrderKey | None) -> Iterator[Leaf]:
    """Leaves that follow `order`, or all of them; found as they are asked for."""
    if isinstance(child, Node):
        start = 0 if order is None else bisect_right(child.children, order, key=_last)
        for place in range(start, len(child.children)):
            yield from _after(child.children[place], order if place == start else None)
    elif order is None or child.order > order:
        yield child


def _between(child: Child, low: OrderKey | None, high: OrderKey) -> Iterator[Leaf]:
    return takewhile(lambda leaf: leaf.order < high, _after(child, low))


def _order(leaf: Leaf) -> OrderKey:
    return leaf.order


def _last(child: Child) -> OrderKey:
    return child.last
