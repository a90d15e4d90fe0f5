"""Rows: the physical effects of a batch, for the log and for the index."""

from collections.abc import Iterable
from typing import Any

from memforest_ray.commit.changes import VECTORS, Changes
from memforest_ray.commit.version import Version, put_cells, put_sessions
from memforest_ray.forest.work import Work, Written
from memforest_ray.index.rows import Row, cell_row, fact_row, node_row
from memforest_ray.trees.edits import ForestEdit, tree_row
from memforest_ray.trees.nodes import node_row as stored_node
from memforest_ray.trees.scenes import ScenesEdit
from memforest_ray.trees.summaries import summary_row

__all__ = ["written"]


def written(work: Work, version: Version, scenes: ScenesEdit, forest: ForestEdit) -> Written:
    """What `work` has made of its version: the rows that differ, and what they are to the index."""
    changes = Changes()
    _put_dialogue(changes, work, version)
    for row in work.facts.rows:
        _put_or_drop(changes, row.table, row.key, row.value)
    _put_trees(changes, work, version, forest)
    for scene in scenes.changed:
        _put_or_drop(changes, "scenes", scene, version.scenes.row(scene))
    drop = tuple(_gone(work, version, forest))
    for name in drop:
        changes.drop(VECTORS, name)
    for name, vector in work.vectors.items():
        changes.put(VECTORS, name, vector.tobytes())
    return Written(version, changes, tuple(_index_rows(work, version, forest)), drop)


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
        changes.put("summaries", name, summary_row(summary))


def _index_rows(work: Work, version: Version, forest: ForestEdit) -> Iterable[Row]:
    for fact in work.facts.added:
        yield fact_row(fact, work.vectors.get(fact.id))
    for cell in work.spoken:
        yield cell_row(cell, version.sessions[cell.session_id], work.vectors.get(cell.id))
    for scope, node in forest.added:
        yield node_row(node, scope, work.vectors.get(node.id))
