"""Forest recall: which trees to look into, from their roots and from the facts and cells that match."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from memforest_ray.ids import ItemId, ScopeId
from memforest_ray.index.lexical import Floats
from memforest_ray.index.table import Integers
from memforest_ray.query.inquiry import Inquiry
from memforest_ray.query.result import RecalledTree
from memforest_ray.trees.routing import scope_family
from memforest_ray.trees.tree import Leaf

__all__ = ["TREES_MAX", "recall", "strongest"]

TREES_MAX: Final = 10
"""Trees that are browsed: the paper's figure; more cost time and bring what the facts find anyway."""
_WITNESSES: Final = 32
"""Best facts, cells and roots that may call for a tree: a few for each place among the ten."""


def recall(inquiry: Inquiry, root_share: float, trees_max: int = TREES_MAX) -> tuple[RecalledTree, ...]:
    """The best trees by `root_share` x root's likeness + the rest x the best likeness of something in it."""
    facts = _best_by_scope(inquiry)
    roots = dict(_roots(inquiry))
    trees = [
        _tree(inquiry, scope, roots.get(scope), facts.get(scope, 0.0), root_share)
        for scope in facts.keys() | roots.keys()
        if scope_family(scope) in inquiry.request.families and scope in inquiry.version.trees
    ]
    trees.sort(key=lambda tree: (-tree.score, tree.scope))
    return tuple(trees[:trees_max])


def _tree(inquiry: Inquiry, scope: ScopeId, root: float | None, fact: float, root_share: float) -> RecalledTree:
    likeness = _root_likeness(inquiry, scope, fact) if root is None else root
    score = root_share * likeness + (1 - root_share) * max(fact, 0.0)
    return RecalledTree(scope, round(score, 6), round(likeness, 6), round(fact, 6))


def _root_likeness(inquiry: Inquiry, scope: ScopeId, fact: float) -> float:
    """A tree of one leaf has that leaf for its root."""
    root = inquiry.version.trees[scope].root
    if root is None or isinstance(root, Leaf):
        return fact
    return inquiry.node_likeness(root, 0.0)


def _roots(inquiry: Inquiry) -> Iterator[tuple[ScopeId, float]]:
    index = inquiry.version.index
    rows = index.roots
    rows = rows[inquiry.may_show(rows)]
    scopes, names = index.nodes.table["scope"], index.registers.scopes.names
    for place in strongest(inquiry.nodes[rows], _WITNESSES):
        yield ScopeId(names[scopes[rows[place]]]), float(inquiry.nodes[rows[place]])


def _best_by_scope(inquiry: Inquiry) -> dict[ScopeId, float]:
    """For each tree that holds one of the best facts or cells, the best likeness of these."""
    best: dict[ScopeId, float] = {}
    for item, likeness in _witnesses(inquiry):
        for scope in inquiry.version.placements.get(item, ()):
            best[scope] = max(best.get(scope, likeness), likeness)
    return best


def _witnesses(inquiry: Inquiry) -> Iterator[tuple[ItemId, float]]:
    index, corpus = inquiry.version.index, inquiry.corpus
    for values, rows, ids in (
        (inquiry.facts, corpus.statements.facts, index.facts.ids),
        (inquiry.cells, corpus.dialogue.cells, index.cells.ids),
    ):
        for number in strongest(values, _WITNESSES):
            yield ItemId(ids[rows[number]]), float(values[number])


def strongest(values: Floats, count: int) -> Integers:
    """Numbers of the `count` highest values, and of all that equal the last of them: no tie is cut at random."""
    if len(values) <= count:
        return np.arange(len(values))
    least = np.partition(values, len(values) - count)[len(values) - count]
    return np.flatnonzero(values >= least)
