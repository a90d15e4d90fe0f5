"""Browse: the way down the recalled trees. One small strategy for each mode."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np

from memforest_ray.ids import ItemId
from memforest_ray.index.foliage import CELL, FACT
from memforest_ray.index.lexical import Floats
from memforest_ray.index.table import Integers
from memforest_ray.models.usage import Usage
from memforest_ray.query.inquiry import Inquiry
from memforest_ray.query.result import RecalledTree
from memforest_ray.trees.tree import Leaf, MemTree, Node, OrderKey

__all__ = ["BEAM", "Browse", "Browsed", "Reached", "embed", "flat", "roots"]

BEAM: Final = 4
"""Nodes that are opened at each level of a tree: half of a full fan-out of 8, all of 4."""
LEAVES_MAX: Final = 2_048
"""Leaves of one tree that its root speaks for: a bound on the time of a query."""
_THE_END: Final[OrderKey] = (1 << 63, 0, "", 0, "")
"""After every leaf."""


@dataclass(frozen=True, slots=True)
class Reached:
    """Values of the facts and cells that a way down came to; minus infinity for the others."""

    facts: Floats
    """By number of the fact."""
    cells: Floats
    """By number of the cell."""

    @classmethod
    def nothing(cls, inquiry: Inquiry) -> "Reached":
        """No fact and no cell."""
        corpus = inquiry.corpus
        return cls(*(_nowhere(len(rows)) for rows in (corpus.statements.facts, corpus.dialogue.cells)))

    @classmethod
    def of(cls, inquiry: Inquiry, values: Mapping[ItemId, float]) -> "Reached":
        """Those of the items, as far as this query may see them."""
        found = cls.nothing(inquiry)
        if values:
            rows = inquiry.version.index.rows_of(values)
            told = np.fromiter(values.values(), np.float32, len(values))
            kinds = np.array([FACT if item[0] == "f" else CELL for item in values])
            found.raise_to(inquiry, kinds[rows >= 0], rows[rows >= 0], told[rows >= 0])
        return found

    def raise_to(self, inquiry: Inquiry, kinds: Integers, rows: Integers, values: Floats) -> None:
        """Note values of some rows; of several the highest stays. Only while it is being made."""
        corpus = inquiry.corpus
        for kind, mine, number_of_row in (
            (FACT, self.facts, corpus.statements.number_of_row),
            (CELL, self.cells, corpus.dialogue.number_of_row),
        ):
            here = np.flatnonzero(kinds == kind)
            numbers = number_of_row[rows[here]]
            np.maximum.at(mine, numbers[numbers >= 0], values[here[numbers >= 0]])

    def of_inquiry(self, inquiry: Inquiry) -> "Reached":
        """The same facts and cells, with their own likeness."""
        return Reached(
            np.where(np.isneginf(self.facts), self.facts, inquiry.facts),
            np.where(np.isneginf(self.cells), self.cells, inquiry.cells),
        )

    def joined(self, other: "Reached | None") -> "Reached":
        """What either came to."""
        if other is None:
            return self
        return Reached(np.maximum(self.facts, other.facts), np.maximum(self.cells, other.cells))


def _nowhere(size: int) -> Floats:
    return np.full(size, -np.inf, np.float32)


@dataclass(slots=True)
class Browsed:
    """What a way down found: for each leaf how well the nodes above it answer."""

    leaves: dict[ItemId, float] = field(default_factory=dict)
    """The best over the trees, where leaves were found one by one ..."""
    reached: Reached | None = None
    """... and where they were found many at once."""
    judged: dict[ItemId, float] = field(default_factory=dict)
    """What a model that was shown them says of leaves, from 0 to 1."""
    own: Reached | None = None
    """How much leaves are like what a plan looks for, where that is another wording than the question's."""
    nodes_visited: int = 0
    fallbacks: list[str] = field(default_factory=list)
    """What could not be done as asked, one sentence each."""
    spent: dict[str, Usage] = field(default_factory=dict)
    """What models were asked for it, by what they did: plan, rank, rerank."""

    def charge(self, stage: str, usage: Usage) -> None:
        """A model has been asked."""
        self.spent[stage] = self.spent.get(stage, Usage()) + usage

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
    if not inquiry.bounded:
        return _beams(inquiry, trees)
    browsed = Browsed()
    for tree in trees:
        _descend(inquiry, inquiry.version.trees[tree.scope], tree.root, browsed)
    browsed.reached, browsed.leaves = Reached.of(inquiry, browsed.leaves), {}
    return browsed


def _beams(inquiry: Inquiry, trees: Sequence[RecalledTree]) -> Browsed:
    """Down all trees at once, by the rows of their nodes: no tree has to be read for it."""
    index = inquiry.version.index
    rows = index.roots_of([tree.scope for tree in trees])
    alone = [trees[place] for place in np.flatnonzero(rows < 0).tolist()]
    browsed = Browsed(leaves=dict(_single_leaves(inquiry, alone)))
    reached = Reached.of(inquiry, browsed.leaves)
    tree_of = np.flatnonzero(rows >= 0)
    likeness = np.array([trees[place].root for place in tree_of.tolist()], np.float32)
    rows = rows[tree_of]
    lowest: list[tuple[Integers, Floats]] = []
    while len(rows):
        best = _widest(tree_of, likeness)
        browsed.nodes_visited += len(best)
        rows, tree_of, likeness = rows[best], tree_of[best], likeness[best]
        low = np.equal(index.nodes.table["level"][rows], 1)
        lowest.append((rows[low], likeness[low]))
        high = (~low).nonzero()[0]
        above, rows = index.nodes_below(rows[high])
        high = high[above]
        tree_of, likeness = tree_of[high], inquiry.likenesses_of(rows, likeness[high])
    if lowest:
        nodes, values = map(np.concatenate, zip(*lowest, strict=True))
        above, kinds, leaves = index.leaves_below(nodes)
        reached.raise_to(inquiry, kinds, leaves, values[above])
    browsed.reached, browsed.leaves = reached, {}
    return browsed


def _single_leaves(inquiry: Inquiry, trees: Sequence[RecalledTree]) -> Iterator[tuple[ItemId, float]]:
    """The leaves of trees that have no node."""
    for tree in trees:
        root = inquiry.version.trees[tree.scope].root
        if isinstance(root, Leaf):
            yield root.item, tree.root


def _widest(tree_of: Integers, likeness: Floats) -> Integers:
    """Places of the `BEAM` best of each tree, its best first. Equals stay in the order of time."""
    order = np.lexsort((-likeness, tree_of))
    sorted_trees = tree_of[order]
    first = np.searchsorted(sorted_trees, sorted_trees)
    best: Integers = order[np.arange(len(order)) - first < BEAM]
    return best


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
