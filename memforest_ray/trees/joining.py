"""Joining: two trees of one scope become one, sharing every subtree that no leaf of the other falls into.

Both are taken apart only where they overlap; what is left is a row of whole subtrees in order, of different heights.
Neighbours of one height get parents of their own, and the trees that come of that are concatenated: the lower one
is hung into the other's spine at its own height, so a join copies a path, as a B+ tree's does.

What was a tree's right spine stands inside then, thin nodes and all. From a fanout of 5 on it is left so, as the last
child of any node may then be thin: two trees of one height have one new node, and one new summary, their root. Of the
N leaves of such a tree there are at least (ceil(k/2) - 1)^(height - 1). Smaller fanouts have no such slack: there the
spine is made whole. An edit that comes by later does that in any case, where it touches.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from memforest_ray.trees.balance import Surgery
from memforest_ray.trees.nodes import Child, Leaf, Node

__all__ = ["Joining"]


_HALF_MIN: Final = 3
"""From this half of a fanout on a thin last child does no harm."""


class Joining(Surgery):
    """An edit under way that takes over another tree's nodes, too."""

    def unite(self, root: Child | None, other: Child | None) -> Child | None:
        """The tree of the leaves of both. Raises ValueError when they have a leaf of one place in common."""
        if other is None or root is None:
            self._take_over(other)
            return root if other is None else other
        self._take_over(other)
        trees = [self._stacked(list(run)) for _, run in groupby(self._woven([root], [other]), key=_level)]
        united = trees[0]
        for tree in trees[1:]:
            united = self._concatenated(united, tree)
        return united

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
        return self._topped(self._row([left, right], last=True))

    def _hung_behind(self, node: Child, right: Child) -> list[tuple[Child, ...]]:
        """What becomes of `node` when `right`, which is lower, is its last descendant of that height."""
        *rest, last = self._parts_of(node)
        if node.level == right.level + 1:
            return self._row([*rest, last, right], last=True)
        return self._row([*rest, *self._hung_behind(last, right)], last=True)

    def _hung_before(self, left: Child, node: Child, *, last: bool) -> list[tuple[Child, ...]]:
        """What becomes of `node` when `left`, which is lower, is its first descendant of that height."""
        first, *rest = self._parts_of(node)
        if node.level == left.level + 1:
            return self._row([left, first, *rest], last=last)
        return self._row([*self._hung_before(left, first, last=last and not rest), *rest], last=last)

    def _row(self, kids: Sequence[Child | tuple[Child, ...]], *, last: bool) -> list[tuple[Child, ...]]:
        """Siblings, settled and shared out."""
        nodes = [kid for kid in kids if not isinstance(kid, Leaf)]
        if nodes:
            return self._cut(self._settle(nodes, last=last), append=False)
        return self._cut([kid for kid in kids if isinstance(kid, Leaf)], append=False)


def _level(child: Child) -> int:
    return child.level
