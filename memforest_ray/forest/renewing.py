"""Renewing: derived state made anew from what is persistent. Nothing that was said, found or judged is touched."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from immutables import Map

from memforest_ray.commit.changes import VECTORS
from memforest_ray.commit.version import Vector, Version
from memforest_ray.errors import InvalidInput, NotFound
from memforest_ray.forest.dialogue import Dialogue
from memforest_ray.forest.effects import Embed, Refresh, Steps
from memforest_ray.forest.errands import Renew, Renewed
from memforest_ray.forest.rows import Nodes, written
from memforest_ray.forest.work import Work, Written
from memforest_ray.forest.writing import finish
from memforest_ray.ids import CellId, FactId, ItemId, NodeId, ScopeId
from memforest_ray.index.rows import Row, cell_embedding_text, cell_row, fact_embedding_text, fact_row, node_row
from memforest_ray.trees.edits import ForestEdit, Trees, plan_edits, session_moves
from memforest_ray.trees.nodes import Node
from memforest_ray.trees.routing import Entities, Move, Moves, scene_scope
from memforest_ray.trees.scenes import SCENE_TREE_MIN, ScenesEdit
from memforest_ray.trees.summaries import RefreshPlan, Summary

__all__ = ["rebuild", "rescene", "resummarise"]


def resummarise(version: Version, write: Renew, model: str) -> Steps[Written]:
    """Have all summaries made anew, or those of one tree. What is there serves until its successor is.

    Raises NotFound.
    """
    work = Work(version, Dialogue(version))
    nodes = _nodes_of(version, write.scope)
    # Without their inputs nobody takes them for what is asked for.
    unmade = {node.id: replace(version.summaries[node.id], inputs="", inherited=False) for _, node in nodes}
    plan = RefreshPlan(nodes, summaries=version.summaries.update(unmade), model=model)
    work.summarised = yield from Refresh(plan)
    work.made = {name: _kept(version, name, made) for name, made in plan.results().items()}
    yield from _embed_summaries(work)
    after = replace(version, summaries=version.summaries.update(work.made))
    changed = tuple(each for each in nodes if work.made[each[1].id] != version.summaries[each[1].id])
    scenes, forest = ScenesEdit(version.scenes, {}, ()), ForestEdit(version.trees, version.placements)
    return _answered(written(work, after, scenes, forest, changed), write, work, forest)


def _nodes_of(version: Version, scope: str | None) -> Nodes:
    if scope is not None and ScopeId(scope) not in version.trees:
        message = f"there is no tree {scope!r}; nothing was changed; `trees()` lists the trees"
        raise NotFound(message, what="tree", scope=scope)
    scopes = sorted(version.trees) if scope is None else [ScopeId(scope)]
    return tuple((name, node) for name in scopes for node in version.trees[name].nodes())


def _kept(version: Version, name: NodeId, made: Summary) -> Summary:
    """The new summary; while that has not been made, the old one, marked as stale so that it will be."""
    old = version.summaries[name]
    return replace(old, inputs="", stale=True, inherited=False) if made.stale and not old.stale else made


def _embed_summaries(work: Work) -> Steps[None]:
    texts: dict[NodeId, str] = {}
    for name, made in work.made.items():
        if made.source == "model":
            if made.text == work.version.summaries[name].text:
                work.vectors[name] = work.version.vector(name)
            else:
                texts[name] = made.text
    if texts:
        distinct = tuple(dict.fromkeys(texts.values()))
        rows = dict(zip(distinct, (yield from Embed(distinct)), strict=True))
        work.vectors.update({name: rows[text] for name, text in texts.items()})


def rescene(version: Version, write: Renew, model: str) -> Steps[Written]:
    """Cluster all facts anew, in the order in which they were said. Raises InvalidInput where there are no scenes."""
    if "scene" not in version.birth.families:
        raise InvalidInput("this memory has no scene trees, so there is nothing to cluster; nothing was changed")
    work = Work(version, Dialogue(version))
    edit = version.scenes.rescene(version.facts.in_order(), vector_of=lambda fact: version.vector(fact.id))
    forest = plan_edits(
        version.trees,
        version.placements,
        edit.moves,
        leaf_before=version.leaf_of,
        leaf_after=version.leaf_of,
        fanouts=version.birth.fanouts,
    )
    return (yield from _finished(version, write, work, edit, forest, model))


def rebuild(version: Version, write: Renew, model: str) -> Steps[Written]:
    """Make everything anew that is not dialogue or evidence; summaries stay where what they summarise is the same."""
    work = Work(version, Dialogue(version))
    vectors = yield from _embedded(version)
    work.vectors = {name: row for name, row in vectors.items() if not np.array_equal(row, version.vector(name))}
    entities = Entities().edit(version.facts.in_order())
    scenes = ScenesEdit(version.scenes, {}, ())
    if "scene" in version.birth.families:
        scenes = version.scenes.rescene(version.facts.in_order(), vector_of=lambda fact: vectors[fact.id])
    fresh = _planted(version, {**entities.moves, **_scene_moves(scenes), **_cells(version)})
    forest = _difference(version, fresh)
    version_after = replace(version, entities=entities.entities)
    after = yield from _finished(version_after, write, work, scenes, forest, model)
    return replace(after, add=(*_moved_rows(version, work, forest), *after.add)) if work.vectors else after


def _embedded(version: Version) -> Steps[dict[str, Vector]]:
    texts: dict[str, str] = {fact.id: fact_embedding_text(fact) for fact in version.facts}
    for cell in version.cells.values():
        if version.spoken(cell):
            texts[cell.id] = cell_embedding_text(cell, version.sessions[cell.session_id])
    distinct = tuple(dict.fromkeys(texts.values()))
    rows = dict(zip(distinct, (yield from Embed(distinct)), strict=True)) if distinct else {}
    return {name: rows[text] for name, text in texts.items()}


def _scene_moves(scenes: ScenesEdit) -> Moves:
    """Every scene's leaves enter its tree, as if there were none yet."""
    return {
        scene_scope(name): Move(frozenset(map(ItemId, scene.members)))
        for name, scene in scenes.scenes.by_id.items()
        if len(scene.members) >= SCENE_TREE_MIN
    }


def _cells(version: Version) -> Moves:
    spoken = [(cell.session_id, cell.id) for cell in version.cells.values() if version.spoken(cell)]
    return session_moves(spoken)


def _planted(version: Version, moves: Moves) -> ForestEdit:
    return plan_edits(
        Map(),
        Map(),
        version.birth.planted(moves),
        leaf_before=version.leaf_of,
        leaf_after=version.leaf_of,
        fanouts=version.birth.fanouts,
    )


def _difference(version: Version, fresh: ForestEdit) -> ForestEdit:
    """How trees that were planted anew differ from those that are there."""
    before, after = dict(_nodes(version.trees)), dict(_nodes(fresh.trees))
    changed = [name for name, tree in fresh.trees.items() if version.trees.get(name) != tree]
    return ForestEdit(
        fresh.trees,
        fresh.placements,
        tuple(sorted(changed)),
        tuple(sorted(name for name in version.trees if name not in fresh.trees)),
        tuple(pair for pair in fresh.added if pair[1].id not in before),
        tuple(pair for name, pair in before.items() if name not in after),
    )


def _nodes(trees: Trees) -> Iterator[tuple[NodeId, tuple[ScopeId, Node]]]:
    for scope, tree in trees.items():
        for node in tree.nodes():
            yield node.id, (scope, node)


def _moved_rows(version: Version, work: Work, forest: ForestEdit) -> Iterator[Row]:
    """Index rows of what has another vector now, and of all nodes that stay: they are means of what is below them."""
    for name, vector in work.vectors.items():
        fact = version.facts.shown.get(FactId(name))
        cell = version.cells.get(CellId(name))
        if fact is not None:
            yield fact_row(fact, vector)
        elif cell is not None:
            yield cell_row(cell, version.sessions[cell.session_id], vector)
    new = {node.id for _, node in forest.added}
    for node_id, (scope, node) in _nodes(forest.trees):
        if node_id not in new:
            own = version.summaries[node_id].source == "model"
            yield node_row(node, scope, version.vector(node_id) if own else None)


def _finished(
    version: Version, write: Renew, work: Work, scenes: ScenesEdit, forest: ForestEdit, model: str
) -> Steps[Written]:
    after = yield from finish(work, version, scenes, forest, model)
    return _answered(after, write, work, forest)


def _answered(after: Written, write: Renew, work: Work, forest: ForestEdit) -> Written:
    told = Renewed(
        work.version.number,
        write.op_id,
        write.subject,
        duplicate=after.changes.empty,
        trees=len(forest.changed) + len(forest.dropped),
        summaries=len(after.changes.puts.get("summaries", {})),
        refreshed=not after.stale,
        vectors=len(after.changes.puts.get(VECTORS, {})),
        usage={"summarise": work.summarised} if work.summarised.calls else {},
    )
    return replace(after, answers=(told,))
