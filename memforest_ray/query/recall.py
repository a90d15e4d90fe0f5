"""Forest recall: which trees to look into, from their roots and from the facts and cells that match."""

from collections.abc import Collection, Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memforest_ray.ids import FactId, ItemId, ScopeId
from memforest_ray.index.strongest import strongest
from memforest_ray.query.inquiry import Inquiry
from memforest_ray.query.result import RecalledTree
from memforest_ray.trees.routing import FAMILIES, entity_key, entity_scope, scope_family

__all__ = ["TREES_MAX", "recall", "scopes_of"]

TREES_MAX: Final = 10
"""Trees that are browsed: the paper's figure; more cost time and bring what the facts find anyway."""
_NOWHERE: Final[frozenset[ScopeId]] = frozenset()
_WITNESSES: Final = 32
"""Best facts, cells and roots that may call for a tree: a few for each place among the ten."""


def recall(inquiry: Inquiry, root_share: float, trees_max: int = TREES_MAX) -> tuple[RecalledTree, ...]:
    """The best trees by `root_share` x root's likeness + the rest x the best likeness of something in it."""
    facts, families = _best_by_scope(inquiry), inquiry.request.families
    known = facts.keys() | _by_root(inquiry)
    scopes = list(known) if families >= FAMILIES else [scope for scope in known if scope_family(scope) in families]
    best = np.array([facts.get(scope, 0.0) for scope in scopes], np.float64)
    roots = _root_likenesses(inquiry, scopes, best)
    scores = np.round(root_share * roots + (1 - root_share) * np.maximum(best, 0), 6)
    first = strongest(scores, trees_max)
    ranked = zip((-scores[first]).tolist(), [scopes[place] for place in first.tolist()], first.tolist(), strict=True)
    return tuple(
        RecalledTree(scope, -score, round(float(roots[place]), 6), round(float(best[place]), 6))
        for score, scope, place in sorted(ranked)[:trees_max]
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


def _root_likenesses(inquiry: Inquiry, scopes: Sequence[ScopeId], leaves: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of each tree's root, 0 for one that tells what is not to be known yet; of a tree of one leaf that leaf's."""
    rows = inquiry.version.index.roots_of(scopes)
    there = rows >= 0
    found = leaves.copy()
    found[there] = np.where(inquiry.may_show(rows[there]), inquiry.nodes.at(rows[there]), 0)
    return found


def _best_by_scope(inquiry: Inquiry) -> dict[ScopeId, float]:
    """For each tree that holds one of the best facts or cells, the best likeness of these."""
    best: dict[ScopeId, float] = {}
    placements, now = inquiry.version.placements, inquiry.request.as_of_ms is None
    for likeness, item in _witnesses(inquiry):  # the best comes last and stays
        scopes = placements.get(item, _NOWHERE) if now else scopes_of(inquiry, item)
        best.update(dict.fromkeys(scopes, likeness))
    return best


def scopes_of(inquiry: Inquiry, item: ItemId) -> Collection[ScopeId]:
    """Trees that an item stands in, as far as this query may know: not those of names that it got later."""
    scopes = inquiry.version.placements.get(item, _NOWHERE)
    fact = inquiry.fact(FactId(item)) if inquiry.request.as_of_ms is not None and item[0] == "f" else None
    if fact is None:
        return scopes
    known = {entity_scope(entity_key(name)) for name in (*fact.speakers, *fact.entities)}
    return [scope for scope in scopes if scope in known or scope_family(scope) != "entity"]


def _witnesses(inquiry: Inquiry) -> Iterator[tuple[float, ItemId]]:
    """The facts and cells that are most like the question, the best last."""
    index, corpus = inquiry.version.index, inquiry.corpus
    facts, cells = strongest(inquiry.facts, _WITNESSES), strongest(inquiry.cells, _WITNESSES)
    likenesses = np.concatenate([inquiry.facts[facts], inquiry.cells[cells]])
    rows = np.concatenate([corpus.statements.facts[facts], corpus.dialogue.cells[cells]])
    order = likenesses.argsort()
    of_facts, of_cells, first = index.facts.ids, index.cells.ids, len(facts)
    for place, likeness, row in zip(order.tolist(), likenesses[order].tolist(), rows[order].tolist(), strict=True):
        yield likeness, ItemId((of_facts if place < first else of_cells)[row])
