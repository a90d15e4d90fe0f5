"""What a version tells about itself: counts, cards of its trees, one tree in full."""

from memforest_ray.commit.version import Version
from memforest_ray.errors import NotFound
from memforest_ray.facts.times import to_datetime
from memforest_ray.forest.overviews import Counts, Tree, TreeCard, TreeNode
from memforest_ray.ids import NodeId, ScopeId
from memforest_ray.trees.nodes import Child, Leaf, Node, Range
from memforest_ray.trees.routing import scope_family
from memforest_ray.trees.tree import MemTree

__all__ = ["counts", "tree_card", "tree_cards", "whole_tree"]


def counts(version: Version) -> Counts:
    """How much of what a version holds."""
    families = [scope_family(scope) for scope in version.trees]
    turns = [turn for session in version.sessions.values() for turn in session.turns]
    return {
        "version": version.number,
        "exists": version.exists,
        "sessions": len(version.sessions),
        "turns": sum(turn.hole is None for turn in turns),
        "forgotten_turns": sum(turn.hole is not None for turn in turns),
        "turns_without_time": sum(
            session.source_ms(index) is None
            for session in version.sessions.values()
            for index, turn in enumerate(session.turns)
            if turn.hole is None
        ),
        "cells": len(version.cells),
        "failed_cells": len(version.failed),
        "facts": len(version.facts),
        "mentions": len(version.facts.mentions),
        "trees": {family: families.count(family) for family in ("session", "entity", "scene")},
        "families": sorted(version.birth.families),
        "nodes": sum(1 for tree in version.trees.values() for _ in tree.nodes()),
        "stale_summaries": sum(summary.stale for summary in version.summaries.values()),
    }


def tree_cards(version: Version) -> list[TreeCard]:
    """One card per tree, sessions first, then entities by size, then scenes."""
    order = {"session": 0, "entity": 1, "scene": 2}
    trees = sorted(version.trees.values(), key=lambda tree: (order[scope_family(tree.scope)], -len(tree), tree.scope))
    return [tree_card(version, tree) for tree in trees]


def tree_card(version: Version, tree: MemTree) -> TreeCard:
    """What there is to know of a tree without opening it."""
    start, end = _interval(tree.root)
    return {
        "scope": tree.scope,
        "family": scope_family(tree.scope),
        "label": _label(version, tree.scope),
        "leaves": len(tree),
        "height": tree.height,
        "start": start,
        "end": end,
        "summary": "" if tree.root is None else _text(version, tree.root),
    }


def whole_tree(version: Version, scope: str) -> Tree:
    """The nodes of one tree, nested. Raises NotFound."""
    tree = version.trees.get(ScopeId(scope))
    if tree is None or tree.root is None:
        raise NotFound(f"there is no tree {scope!r}; `trees()` lists the trees", what="tree", scope=scope)
    return {**tree_card(version, tree), **_nested(version, tree.root)}


def _nested(version: Version, child: Child) -> TreeNode:
    start, end = _interval(child)
    if isinstance(child, Leaf):
        return {"item": child.item, "start": start, "end": end, "count": 1, "summary": child.text}
    summary = version.summaries.get(NodeId(child.id))
    return {
        "node": child.id,
        "start": start,
        "end": end,
        "count": child.count,
        "summary": _text(version, child),
        "source": None if summary is None else summary.source,
        "stale": summary is not None and summary.stale,
        "children": [_nested(version, below) for below in child.children],
    }


def _text(version: Version, child: Child) -> str:
    if isinstance(child, Leaf):
        return child.text
    summary = version.summaries.get(child.id)
    return "" if summary is None else summary.text


def _interval(child: Node | Leaf | None) -> tuple[str | None, str | None]:
    """From its earliest to its latest known time, event or source, as ISO 8601; the end is exclusive.

    A leaf has the time that it is ordered by: its event's, else its source's.
    """
    if child is None:
        return None, None
    said = None if child.source_ms is None else (child.source_ms[0], child.source_ms[1] + 1)  # it has the last one, too
    spans = (child.event_ms or said,) if isinstance(child, Leaf) else (child.event_ms, said)
    known: list[Range] = [span for span in spans if span is not None]
    if not known:
        return None, None
    start, end = min(span[0] for span in known), max(span[1] for span in known)
    return to_datetime(start).isoformat(), to_datetime(end).isoformat()


def _label(version: Version, scope: ScopeId) -> str:
    family, _, key = scope.partition(":")
    return version.entities.label(key) if family == "entity" else key
