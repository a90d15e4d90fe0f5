"""Browse: the way down the recalled trees. One small strategy for each mode."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from memforest_ray.ids import ItemId
from memforest_ray.models.chat import ChatUsage
from memforest_ray.query.inquiry import Inquiry
from memforest_ray.query.result import RecalledTree
from memforest_ray.trees.tree import Leaf, MemTree, Node, OrderKey

__all__ = ["BEAM", "Browse", "Browsed", "embed", "flat", "roots"]

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
    judged: dict[ItemId, float] = field(default_factory=dict)
    """What a model that was shown them says of leaves, from 0 to 1."""
    own: dict[ItemId, float] = field(default_factory=dict)
    """How much leaves are like what a plan looks for, where that is another wording than the question's."""
    nodes_visited: int = 0
    fallbacks: list[str] = field(default_factory=list)
    """What could not be done as asked, one sentence each."""
    usage: ChatUsage = field(default_factory=ChatUsage)
    """What models were asked for it."""

    def found(self, leaf: Leaf, likeness: float) -> None:
        self.leaves[leaf.item] = max(self.leaves.get(leaf.item, likeness), likeness)


class Browse(Protocol):
    """Finds leaves in recalled trees, by itself."""

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
    if isinstance(tree.root, Leaf):
        browsed.found(tree.root, likeness)
    level = [(likeness, tree.root)] if isinstance(tree.root, Node) else []
    while level:
        level.sort(key=_likeness, reverse=True)  # stable: equals stay in time order
        del level[BEAM:]
        browsed.nodes_visited += len(level)
        if level[0][1].level == 1:
            break
        level = [entry for above, node in level for entry in _below(inquiry, node, above)]
    leaves, bounded = browsed.leaves, inquiry.bounded
    for above, node in level:
        for leaf in node.children:
            if (
                isinstance(leaf, Leaf)
                and leaves.get(leaf.item, -1.0) < above
                and (not bounded or inquiry.overlaps(leaf))
            ):
                leaves[leaf.item] = above


def _likeness(entry: tuple[float, Node]) -> float:
    return entry[0]


def _below(inquiry: Inquiry, node: Node, likeness: float) -> list[tuple[float, Node]]:
    """The nodes below that time leaves, each with its own likeness."""
    bounded = inquiry.bounded
    return [
        (inquiry.node_likeness(child, likeness), child)
        for child in node.children
        if isinstance(child, Node) and (not bounded or inquiry.overlaps(child))
    ]
