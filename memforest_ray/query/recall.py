"""Forest recall: which trees to look into, from their roots and from the facts and cells that match."""

from collections.abc import Collection, Iterator, Sequence
from typing import Final

import numpy as np

from memforest_ray.ids import FactId, ItemId, ScopeId
from memforest_ray.index.lexical import Floats
from memforest_ray.index.table import Integers
from memforest_ray.query.inquiry import Inquiry
from memforest_ray.query.result import RecalledTree
from memforest_ray.trees.routing import entity_key, entity_scope, scope_family

__all__ = ["TREES_MAX", "recall", "scopes_of", "strongest"]

TREES_MAX: Final = 10
"""Trees that are browsed: the paper's figure; more cost time and bring what the facts find anyway."""
_NOWHERE: Final[frozenset[ScopeId]] = frozenset()
_WITNESSES: Final = 32
"""Best facts, cells and roots that may call for a tree: a few for each place among the ten."""


def recall(inquiry: Inquiry, root_share: float, trees_max: int = TREES_MAX) -> tuple[RecalledTree, ...]:
    """The best trees by `root_share` x root's likeness + the rest x the best likeness of something in it."""
    facts = _best_by_scope(inquiry)
    families, trees = inquiry.request.families, inquiry.version.trees
    scopes = [scope for scope in facts.keys() | _by_root(inquiry) if scope_family(scope) in families and scope in trees]
    found: list[tuple[float, ScopeId, float, float]] = []
    for scope, known in zip(scopes, _root_likenesses(inquiry, scopes), strict=True):
        fact = facts.get(scope, 0.0)
        root = fact if known is None else known  # a tree of one leaf has that leaf for its root
        found.append((-round(root_share * root + (1 - root_share) * max(fact, 0.0), 6), scope, root, fact))
    found.sort()
    return tuple(
        RecalledTree(scope, -score, round(root, 6), round(fact, 6)) for score, scope, root, fact in found[:trees_max]
    )


def _by_root(inquiry: Inquiry) -> set[ScopeId]:
    """Whose trees to look into for their roots alone; none where nodes are looked at one by one."""
    if not inquiry.nodes.complete:
        return set()
    index = inquiry.version.index
    rows = index.roots[inquiry.may_show(index.roots)]
    best = rows[strongest(inquiry.nodes.at(rows), _WITNESSES)]
    names = index.registers.scopes.names
    return {ScopeId(names[scope]) for scope in index.nodes.table["scope"][best].tolist()}


def _root_likenesses(inquiry: Inquiry, scopes: Sequence[ScopeId]) -> list[float | None]:
    """Of each tree's root, 0 for one that tells what is not to be known yet; None for a tree of one leaf."""
    rows = inquiry.version.index.roots_of(scopes)
    there = rows >= 0
    found: list[float | None] = [None] * len(scopes)
    values = np.where(inquiry.may_show(rows[there]), inquiry.nodes.at(rows[there]), 0)
    for place, value in zip(np.flatnonzero(there).tolist(), values.tolist(), strict=True):
        found[place] = value
    return found


def _best_by_scope(inquiry: Inquiry) -> dict[ScopeId, float]:
    """For each tree that holds one of the best facts or cells, the best likeness of these."""
    best: dict[ScopeId, float] = {}
    for item, likeness in _witnesses(inquiry):
        for scope in scopes_of(inquiry, item):
            if best.get(scope, -1.0) < likeness:
                best[scope] = likeness
    return best


def scopes_of(inquiry: Inquiry, item: ItemId) -> Collection[ScopeId]:
    """Trees that an item stands in, as far as this query may know: not those of names that it got later."""
    scopes = inquiry.version.placements.get(item, _NOWHERE)
    fact = inquiry.fact(FactId(item)) if inquiry.request.as_of_ms is not None and item[0] == "f" else None
    if fact is None:
        return scopes
    known = {entity_scope(entity_key(name)) for name in (*fact.speakers, *fact.entities)}
    return [scope for scope in scopes if scope in known or scope_family(scope) != "entity"]


def _witnesses(inquiry: Inquiry) -> Iterator[tuple[ItemId, float]]:
    index, corpus = inquiry.version.index, inquiry.corpus
    for values, rows, ids in (
        (inquiry.facts, corpus.statements.facts, index.facts.ids),
        (inquiry.cells, corpus.dialogue.cells, index.cells.ids),
    ):
        best = strongest(values, _WITNESSES)
        for row, likeness in zip(rows[best].tolist(), values[best].tolist(), strict=True):
            yield ItemId(ids[row]), likeness


def strongest(values: Floats, count: int) -> Integers:
    """Numbers of the `count` highest values, and of all that equal the last of them: no tie is cut at random."""
    if len(values) <= count:
        return np.arange(len(values))
    least = np.partition(values, len(values) - count)[len(values) - count]
    return np.flatnonzero(values >= least)
