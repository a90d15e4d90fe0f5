"""Trees for tests: what is true of any, and what is kept up to date of them made anew."""

from collections.abc import Callable, Mapping
from functools import cache
from itertools import pairwise
from typing import Any

from immutables import Map

from memforest_ray.ids import ItemId, ScopeId
from memforest_ray.trees.balance import children_max
from memforest_ray.trees.edits import Placements, Trees
from memforest_ray.trees.nodes import Leaf, Node
from memforest_ray.trees.tree import MemTree, rebuild

__all__ = ["check_tree", "load_trees", "placements_of"]


def placements_of(trees: Trees) -> Placements:
    """The placement map that belongs to some trees: what `plan_edits` keeps up to date."""
    found: dict[ItemId, set[ScopeId]] = {}
    for scope, tree in trees.items():
        for leaf in tree.leaves():
            found.setdefault(leaf.item, set()).add(scope)
    return Map({item: frozenset(scopes) for item, scopes in found.items()})


def load_trees(
    tree_rows: Mapping[str, Mapping[str, Any]],
    node_rows: Mapping[str, Mapping[str, Any]],
    leaf_of: Callable[[ItemId], Leaf | None],
) -> Trees:
    """All trees of a forest from their stored rows. Raises CorruptState naming scope and node."""
    known = cache(leaf_of)
    return Map(
        {
            ScopeId(name): rebuild(ScopeId(name), row["k"], row["root"], node_rows, known)
            for name, row in tree_rows.items()
        }
    )


def check_tree(tree: MemTree, *, joined: bool = False) -> None:
    """Asserts everything that is true of any tree: order, balance, counts, ranges, ids, height.

    `joined`: it may have come of a join, which leaves spines as they are from some fanout on (`trees/joining.py`).
    """
    if tree.root is None:
        return
    leaves = list(tree.leaves())
    assert all(left.order < right.order for left, right in pairwise(leaves)), "in order, none twice"
    assert len(tree) == len(leaves)
    if isinstance(tree.root, Node):
        assert len(tree.root.children) >= 2, "a root has at least two children or is a leaf"
        _check_node(tree, tree.root, thin_allowed=True, joined=joined)
    half = (tree.k + 1) // 2
    least = half - 1 if joined and half > 2 else half
    assert least ** max(tree.height - 1, 0) <= len(leaves), "height is logarithmic"


def _check_node(tree: MemTree, node: Node, *, thin_allowed: bool, joined: bool) -> None:
    least = 1 if thin_allowed else (tree.k + 1) // 2
    most = tree.k if node.level == 1 else children_max(tree.k)
    assert least <= len(node.children) <= most, f"{node} has {len(node.children)} children"
    made = Node.of(tree.scope, node.children)
    fields = ("id", "level", "count", "first", "last", "source_ms", "undated", "event_ms")
    assert all(getattr(made, name) == getattr(node, name) for name in fields), f"{node} tells of its leaves"
    for place, child in enumerate(node.children):
        if isinstance(child, Node):
            assert child.level == node.level - 1, "all leaves are equally deep"
            last = place == len(node.children) - 1
            _check_node(tree, child, thin_allowed=last and (thin_allowed or joined), joined=joined)
        else:
            assert node.level == 1
