"""Rows: the physical effects of a batch, for the log and for the index."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from memforest_ray.commit.changes import VECTORS, Changes
from memforest_ray.commit.journal import News
from memforest_ray.commit.version import Vector, Version, put_cells, put_sessions
from memforest_ray.forest.work import Work, Written
from memforest_ray.ids import AtomId, FactId, ScopeId
from memforest_ray.index.rows import NodeRow, Row, cell_row, fact_row, node_row
from memforest_ray.trees.edits import ForestEdit, tree_row
from memforest_ray.trees.nodes import Child, Node, OrderKey
from memforest_ray.trees.nodes import node_row as stored_node
from memforest_ray.trees.scenes import ScenesEdit
from memforest_ray.trees.summaries import summary_row

__all__ = ["Nodes", "news_between", "with_vectors", "written"]


Nodes: TypeAlias = tuple[tuple[ScopeId, Node], ...]


def written(work: Work, version: Version, scenes: ScenesEdit, forest: ForestEdit, again: Nodes) -> Written:
    """What `work` has made of its version: the rows that differ, and what they are to the index.

    `again` are nodes that were there, and whose summaries were made anew. Vectors of nodes may follow (`with_vectors`).
    """
    changes = Changes()
    _put_dialogue(changes, work, version)
    for row in work.facts.rows:
        _put_or_drop(changes, row.table, row.key, row.value)
    _put_trees(changes, work, version, forest)
    for scene in scenes.changed:
        _put_or_drop(changes, "scenes", scene, version.scenes.row(scene))
    drop = tuple(_gone(work, version, forest))
    _put_vectors(changes, work, version, drop, again)
    above = tuple(_above(version, again, forest.added))
    add = tuple(_index_rows(work, version, (*again, *forest.added), above))
    stale = tuple(pair for pair in (*again, *forest.added) if work.made[pair[1].id].stale)
    return Written(version, changes, add, drop, news=_news(work, version), stale=stale)


def with_vectors(draft: Written, vectors: Mapping[str, Vector]) -> Written:
    """With the vectors of summaries that a model wrote. Changes what it is given."""
    for name, vector in vectors.items():
        draft.changes.put(VECTORS, name, vector.tobytes())
    add = tuple(
        row._replace(vector=vectors[row.id]) if isinstance(row, NodeRow) and row.id in vectors else row
        for row in draft.add
    )
    return replace(draft, add=add)


def _news(work: Work, version: Version) -> News:
    before, touched = work.version, work.dialogue.touched
    facts = [fact.id for fact in work.facts.added]
    return News(
        before.number,
        before.number,
        facts_added=tuple(fact for fact in facts if fact not in before.facts.shown),
        facts_changed=tuple(fact for fact in facts if fact in before.facts.shown),
        facts_removed=tuple(fact.id for fact in work.facts.removed if fact.id not in version.facts.shown),
        sessions_added=tuple(name for name in touched if name in version.sessions and name not in before.sessions),
        sessions_changed=tuple(name for name in touched if name in version.sessions and name in before.sessions),
        sessions_removed=tuple(name for name in touched if name in before.sessions and name not in version.sessions),
    )


def news_between(before: Version, after: Version) -> News:
    """The same, of two versions that may differ in anything."""
    old, new = before.facts.shown, after.facts.shown
    gone, come = before.sessions, after.sessions
    return News(
        before.number,
        after.number,
        facts_added=tuple(sorted(set(new) - set(old))),
        facts_changed=tuple(sorted(fact for fact in set(new) & set(old) if new[fact] != old[fact])),
        facts_removed=tuple(sorted(set(old) - set(new))),
        sessions_added=tuple(sorted(set(come) - set(gone))),
        sessions_changed=tuple(sorted(name for name in set(come) & set(gone) if come[name] != gone[name])),
        sessions_removed=tuple(sorted(set(gone) - set(come))),
    )


def _put_vectors(changes: Changes, work: Work, version: Version, drop: Iterable[str], again: Nodes) -> None:
    echoes = work.version.echoes
    gone = (name for name in (*drop, *filter(echoes.__contains__, work.moved)) if name not in version.echoes)
    for name in (*gone, *_wordless(work, again)):
        changes.drop(VECTORS, name)
    for name, vector in work.vectors.items():
        if name[0] != "f" or FactId(name) in version.facts.shown or AtomId(name) in version.echoes:
            changes.put(VECTORS, name, vector.tobytes())


def _wordless(work: Work, again: Nodes) -> Iterable[str]:
    """Nodes whose summary was a model's and is none any more."""
    before = work.version.summaries
    for _, node in again:
        if before[node.id].source == "model" and work.made[node.id].source != "model":
            yield node.id


def _gone(work: Work, version: Version, forest: ForestEdit) -> Iterable[str]:
    shown = version.facts.shown
    yield from (fact.id for fact in work.facts.removed if fact.id not in shown)
    yield from work.dead
    yield from (node.id for _, node in forest.removed)


def _put_dialogue(changes: Changes, work: Work, version: Version) -> None:
    before, touched = work.version, work.dialogue.touched
    if not before.operations:  # nothing was ever committed
        changes.put("birth", "secret", before.secret)
    put_sessions(changes, before.sessions, version.sessions, touched)
    current = [version.cells[name] for session in touched for name in version.session_cells.get(session, ())]
    put_cells(changes, before.cells, current, [name for name in work.dead if name not in version.cells])
    for key in work.dialogue.told:
        if before.forgotten.get(key) != version.forgotten.get(key):
            _put_or_drop(changes, "forgotten", key, version.forgotten.get(key))
    for prefix, line in work.takeover.lineage.items():
        changes.put("lineage", prefix, list(line))
    for session in {*touched, *work.takeover.origins}:
        if before.origins.get(session) != version.origins.get(session):
            _put_or_drop(changes, "origins", session, version.origins.get(session))
    for name in {*work.dead, *work.extractions}:
        if before.failed.get(name) != version.failed.get(name):
            _put_or_drop(changes, "failed", name, version.failed.get(name))


def _put_or_drop(changes: Changes, table: str, key: str, value: Any) -> None:
    if value is None:
        changes.drop(table, key)
    else:
        changes.put(table, key, list(value) if isinstance(value, tuple) else value)


def _put_trees(changes: Changes, work: Work, version: Version, forest: ForestEdit) -> None:
    for scope in forest.dropped:
        changes.drop("trees", scope)
    for scope in forest.changed:
        changes.put("trees", scope, tree_row(version.trees[scope]))
    for _, node in forest.removed:
        changes.drop("nodes", node.id)
        changes.drop("summaries", node.id)
    for _, node in forest.added:
        changes.put("nodes", node.id, stored_node(node))
    for name, summary in work.made.items():
        if work.version.summaries.get(name) != summary:
            changes.put("summaries", name, summary_row(summary))


def _above(version: Version, again: Nodes, added: Nodes) -> Iterator[tuple[ScopeId, Node]]:
    """Nodes above those that are made anew: the index knows a node by its children's rows, and those are new."""
    known = {node.id for _, node in (*again, *added)}
    renewed = {node.id for _, node in again}
    firsts: dict[ScopeId, list[OrderKey]] = {}
    for scope, node in again:
        firsts.setdefault(scope, []).append(node.first)
    for scope, wanted in firsts.items():
        for node in _on_the_way(version.trees[scope].root, sorted(wanted)):
            if any(child.id in renewed for child in node.children):
                renewed.add(node.id)
                if node.id not in known:
                    yield scope, node


def _on_the_way(child: Child | None, firsts: Sequence[OrderKey]) -> Iterator[Node]:
    """Nodes that hold any of these places, which are in order, children before parents: some paths, not the tree."""
    if isinstance(child, Node):
        place = bisect_left(firsts, child.first)
        if place < len(firsts) and firsts[place] <= child.last:
            for below in child.children:
                yield from _on_the_way(below, firsts)
            yield child


def _index_rows(work: Work, version: Version, nodes: Nodes, above: Nodes) -> Iterable[Row]:
    for fact in work.facts.added:
        yield fact_row(fact, work.vectors.get(fact.id))
    for cell in work.spoken:
        yield cell_row(cell, version.sessions[cell.session_id], work.vectors.get(cell.id))
    for scope, node in nodes:
        yield node_row(node, scope, work.vectors.get(node.id))
    for scope, node in above:
        own = work.version.vector(node.id) if version.summaries[node.id].source == "model" else None
        yield node_row(node, scope, own)
