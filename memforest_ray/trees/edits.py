"""Edits: what routing moved, applied to the trees of a forest. Pure; its new nodes need summaries."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, TypeAlias

from immutables import Map, MapMutation

from memforest_ray.ids import CellId, ItemId, ScopeId, SessionId
from memforest_ray.trees.nodes import Leaf, Node
from memforest_ray.trees.routing import Move, Moves, scope_family, session_scope
from memforest_ray.trees.tree import MemTree

__all__ = [
    "ForestEdit",
    "Placements",
    "Trees",
    "plan_edits",
    "session_moves",
    "tree_row",
]

Trees: TypeAlias = Map[ScopeId, MemTree]
Placements: TypeAlias = Map[ItemId, frozenset[ScopeId]]
"""Fact or cell -> the trees that have a leaf of it."""


_NOTHING: Mapping[ScopeId, MemTree] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ForestEdit:
    """Changed trees of a forest, and how their nodes differ from those that were."""

    trees: Trees
    placements: Placements
    changed: tuple[ScopeId, ...] = ()
    """Trees that are new or have another root."""
    dropped: tuple[ScopeId, ...] = ()
    """Trees that are no more."""
    added: tuple[tuple[ScopeId, Node], ...] = ()
    """New nodes, in each tree children before parents."""
    removed: tuple[tuple[ScopeId, Node], ...] = ()


def session_moves(added: Iterable[tuple[SessionId, CellId]], removed: Iterable[tuple[SessionId, CellId]] = ()) -> Moves:
    """Cells entering and leaving the trees of their sessions."""
    inserts: dict[ScopeId, set[ItemId]] = {}
    removes: dict[ScopeId, set[ItemId]] = {}
    for cells, target in ((added, inserts), (removed, removes)):
        for session, cell in cells:
            target.setdefault(session_scope(session), set()).add(ItemId(cell))
    nothing: set[ItemId] = set()
    return {
        scope: Move(frozenset(inserts.get(scope, nothing)), frozenset(removes.get(scope, nothing)))
        for scope in inserts.keys() | removes.keys()
    }


def plan_edits(
    trees: Trees,
    placements: Placements,
    moves: Moves,
    *,
    leaf_before: Callable[[ItemId], Leaf],
    leaf_after: Callable[[ItemId], Leaf],
    fanouts: Mapping[str, int],
    grafts: Mapping[ScopeId, MemTree] = _NOTHING,
) -> ForestEdit:
    """The forest after `moves`.

    `leaf_before` knows items as they were, `leaf_after` as they are; an item in both parts of a move whose
    leaf is the same is left alone. `fanouts` gives children per node by family, for trees that are born here.
    `grafts` are trees that came whole from elsewhere: their leaves are among those that a move inserts.
    Raises ValueError when a move does not fit its tree.
    """
    before, after = cache(leaf_before), cache(leaf_after)
    trees_now, placed = trees.mutate(), placements.mutate()
    changed, dropped = [], []
    added: list[tuple[ScopeId, Node]] = []
    removed: list[tuple[ScopeId, Node]] = []
    for scope in sorted(moves):
        move = moves[scope]
        tree = trees[scope] if scope in trees else MemTree(scope, fanouts[scope_family(scope)])
        graft = grafts.get(scope)
        insert, remove = _leaves(move, before, after)
        if graft is not None:
            whole = {leaf.item for leaf in graft.leaves()}
            insert = [leaf for leaf in insert if leaf.item not in whole]
        edit = tree.edit(insert, remove, graft)
        if edit.tree.root == tree.root:
            continue
        added += [(scope, node) for node in edit.added]
        removed += [(scope, node) for node in edit.removed]
        _place(placed, scope, move)
        if edit.tree.root is None:
            del trees_now[scope]
            dropped.append(scope)
        else:
            trees_now[scope] = edit.tree
            changed.append(scope)
    return ForestEdit(trees_now.finish(), placed.finish(), tuple(changed), tuple(dropped), tuple(added), tuple(removed))


def _leaves(
    move: Move, before: Callable[[ItemId], Leaf], after: Callable[[ItemId], Leaf]
) -> tuple[list[Leaf], list[Leaf]]:
    """What to insert and what to remove, without leaves that stay as they are."""
    insert = {item: after(item) for item in move.insert}
    remove = {item: before(item) for item in move.remove}
    same = {item for item in insert.keys() & remove.keys() if insert[item] == remove[item]}
    return (
        [leaf for item, leaf in insert.items() if item not in same],
        [leaf for item, leaf in remove.items() if item not in same],
    )


def _place(placed: MapMutation[ItemId, frozenset[ScopeId]], scope: ScopeId, move: Move) -> None:
    for item in move.remove - move.insert:
        rest = placed[item] - {scope}
        if rest:
            placed[item] = rest
        else:
            del placed[item]
    for item in move.insert - move.remove:
        placed[item] = placed.get(item, frozenset[ScopeId]()) | {scope}


def tree_row(tree: MemTree) -> dict[str, Any]:
    """What is stored of a tree under its scope."""
    return {"family": scope_family(tree.scope), "k": tree.k, "root": tree.root_id}
