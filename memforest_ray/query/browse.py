"""Browse: the way down the recalled trees. One small strategy for each mode."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from memforest_ray.errors import InvalidInput
from memforest_ray.ids import ItemId
from memforest_ray.query.inquiry import Inquiry
from memforest_ray.query.result import RecalledTree
from memforest_ray.trees.tree import Child, Leaf, MemTree, Node, OrderKey

__all__ = ["MODES", "Browse", "Browsed", "browse_of"]

BEAM: Final = 4
"""Nodes that are opened at each level of a tree: half of a full fan-out of 8, all of 4."""
LEAVES_MAX: Final = 2_048
"""Leaves of one tree that its root speaks for: a bound on the time of a query."""
_THE_END: Final[OrderKey] = (1 << 63, 0, "", 0, "")
"""After every leaf."""


@dataclass(slots=True)
class Browsed:
    """What a way down found: for each leaf how well the nodes above it answer."""

    leaves: dict[ItemId, float] = field(default_factory=dict)
    """The best over the trees."""
    nodes_visited: int = 0

    def found(self, leaf: Leaf, likeness: float) -> None:
        self.leaves[leaf.item] = max(self.leaves.get(leaf.item, likeness), likeness)


class Browse(Protocol):
    """Finds leaves in recalled trees."""

    def __call__(self, inquiry: Inquiry, trees: Sequence[RecalledTree]) -> Browsed: ...


def flat(inquiry: Inquiry, trees: Sequence[RecalledTree]) -> Browsed:
    """Looks into no tree: facts and dialogue by their own likeness."""
    return Browsed()


def roots(inquiry: Inquiry, trees: Sequence[RecalledTree]) -> Browsed:
    """Goes by root summaries alone: each of a tree's latest leaves counts as its root does."""
    browsed = Browsed(nodes_visited=len(trees))
    for tree in trees:
        for leaf in inquiry.version.trees[tree.scope].before(_THE_END, LEAVES_MAX):
            browsed.found(leaf, tree.root)
    return browsed


def embed(inquiry: Inquiry, trees: Sequence[RecalledTree]) -> Browsed:
    """A beam down each tree over the likeness of its nodes, to the leaves below the best."""
    browsed = Browsed()
    for tree in trees:
        _descend(inquiry, inquiry.version.trees[tree.scope], tree.root, browsed)
    return browsed


def _descend(inquiry: Inquiry, tree: MemTree, likeness: float, browsed: Browsed) -> None:
    level: list[tuple[float, Child]] = [] if tree.root is None else [(likeness, tree.root)]
    while level and isinstance(level[0][1], Node):
        level.sort(key=lambda entry: -entry[0])  # stable: equals stay in time order
        opened = level[:BEAM]
        browsed.nodes_visited += len(opened)
        level = [entry for above, node in opened if isinstance(node, Node) for entry in _below(inquiry, node, above)]
    for above, child in level:
        if isinstance(child, Leaf):
            browsed.found(child, above)


def _below(inquiry: Inquiry, node: Node, likeness: float) -> list[tuple[float, Child]]:
    """The children that time leaves, each with its own likeness, a leaf with that of the node above it."""
    if node.level == 1:
        return [(likeness, leaf) for leaf in node.children if inquiry.overlaps(leaf)]
    return [
        (inquiry.node_likeness(child, likeness), child)
        for child in node.children
        if isinstance(child, Node) and inquiry.overlaps(child)
    ]


MODES: Final[Mapping[str, Browse]] = {"embed": embed, "flat": flat, "root": roots}
"""The ways down that need no model."""


def browse_of(mode: str) -> Browse:
    """The strategy of a mode. Raises InvalidInput for an unknown one."""
    found = MODES.get(mode)
    if found is None:
        raise InvalidInput(f"unknown mode {mode!r}; known: {', '.join(sorted(MODES))}", mode=mode)
    return found
