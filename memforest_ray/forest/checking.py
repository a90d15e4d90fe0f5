"""What is wrong with a forest whose objects are all whole: references that do not meet. Reads only.

`Version.load` refuses what cannot be a forest at all; here is what loads and still should not be. Each finding is one
sentence that names the thing.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from memforest_ray.commit.changes import VECTORS
from memforest_ray.commit.version import Version
from memforest_ray.ids import ScopeId
from memforest_ray.trees.routing import entity_scope, scene_scope, scope_family, session_scope
from memforest_ray.trees.scenes import SCENE_TREE_MIN

__all__ = ["findings"]


def findings(version: Version, tables: Mapping[str, Mapping[str, Any]], dimension: int) -> list[str]:
    """What does not fit together in `tables` and in the version that was loaded from them; empty when all is well."""
    return [
        *_dialogue(version),
        *_mentions(version),
        *_trees(version),
        *_summaries(version, tables),
        *_vectors(version, tables.get(VECTORS, {}), dimension),
    ]


def _dialogue(version: Version) -> Iterator[str]:
    for session, names in version.session_cells.items():
        cells = [version.cells[name] for name in names]
        if [cell.number for cell in cells] != list(range(len(cells))):
            yield f"session {session!r} lacks cells between its first and its last"
        covered = {span.turn for cell in cells for span in cell.spans}
        if missing := set(range(len(version.sessions[session].turns))) - covered:
            yield f"session {session!r}: turns {sorted(missing)} are in no cell"
    for session in version.sessions:
        if session not in version.session_cells:
            yield f"session {session!r} has no cells"
    for cell in version.failed:
        if cell not in version.cells:
            yield f"cell {cell} is noted as failed and is not there"
    for session in version.origins:
        if session not in version.sessions:
            yield f"session {session!r} is noted as merged and is not there"


def _mentions(version: Version) -> Iterator[str]:
    for name, mention in version.facts.mentions.items():
        session = version.sessions.get(mention.session_id)
        if mention.cell_id not in version.cells or session is None:
            yield f"mention {name} comes from cell {mention.cell_id}, which is not there"
        elif any(turn >= len(session.turns) or session.turns[turn].hole for turn in mention.candidate.turns):
            yield f"mention {name} comes from a turn of session {mention.session_id!r} that was forgotten or never was"


def _trees(version: Version) -> Iterator[str]:
    wanted = _wanted(version)
    for scope in sorted({*wanted, *version.trees}):
        tree = version.trees.get(scope)
        leaves = set() if tree is None else {leaf.item for leaf in tree.leaves()}
        items = wanted.get(scope, frozenset())
        if missing := items - leaves:
            yield f"tree {scope} lacks {_some(missing)}"
        if surplus := leaves - items:
            yield f"tree {scope} holds {_some(surplus)}, which do not belong in it"


def _wanted(version: Version) -> dict[ScopeId, frozenset[str]]:
    """What each tree should hold."""
    trees: dict[ScopeId, frozenset[str]] = {}
    for session, names in version.session_cells.items():
        trees[session_scope(session)] = frozenset(name for name in names if version.spoken(version.cells[name]))
    for key, entity in version.entities.by_key.items():
        if entity.active:
            trees[entity_scope(key)] = frozenset(entity.facts)
    for name, scene in version.scenes.by_id.items():
        if len(scene.members) >= SCENE_TREE_MIN:
            trees[scene_scope(name)] = frozenset(scene.members)
    return {scope: items for scope, items in trees.items() if scope_family(scope) in version.birth.families}


def _summaries(version: Version, tables: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    nodes = {node.id for tree in version.trees.values() for node in tree.nodes()}
    if missing := nodes - set(version.summaries):
        yield f"nodes without a summary: {_some(missing)}"
    if surplus := set(version.summaries) - nodes:
        yield f"summaries of nodes that are in no tree: {_some(surplus)}"
    told = version.facts.mentions
    if outlived := {name for name, summary in version.summaries.items() if any(m not in told for m in summary.also)}:
        yield f"summaries that may tell of what was forgotten: {_some(outlived)}"
    if orphans := tables.get("nodes", {}).keys() - nodes:
        yield f"nodes that are in no tree: {_some(orphans)}"


def _vectors(version: Version, rows: Mapping[str, bytes], dimension: int) -> Iterator[str]:
    items = set(version.facts.shown) | {cell.id for cell in version.cells.values() if version.spoken(cell)}
    written = {name for name, summary in version.summaries.items() if summary.source == "model"}
    if missing := items - set(rows):
        yield f"without a vector: {_some(missing)}"
    if surplus := set(rows) - items - written:
        yield f"vectors of what is not there: {_some(surplus)}"
    if uneven := {name for name, row in rows.items() if len(row) != 2 * dimension}:
        yield f"vectors that are not of dimension {dimension}: {_some(uneven)}"


def _some(names: Iterable[str]) -> str:
    listed = sorted(names)
    return ", ".join(listed[:3]) + (f" and {len(listed) - 3} more" if len(listed) > 3 else "")
