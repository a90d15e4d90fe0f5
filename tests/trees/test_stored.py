"""Trees known by their rows, and read when somebody asks."""

import pickle
from typing import Any

import pytest

from memforest_ray.errors import CorruptState
from memforest_ray.ids import ItemId, ScopeId, SessionId
from memforest_ray.testing.trees import load_trees, placements_of
from memforest_ray.trees.edits import tree_row
from memforest_ray.trees.nodes import Leaf, OrderKey, node_row, order_key
from memforest_ray.trees.stored import StoredForest, StoredTree
from memforest_ray.trees.tree import MemTree

ITEMS = [ItemId(f"f{number:020d}") for number in range(30)]


def _leaf(item: ItemId) -> Leaf | None:
    """Said in the order of the items; that of the seventh has no time."""
    if item not in ITEMS:
        return None
    number = ITEMS.index(item)
    said = None if number == 7 else number
    order = order_key(event_ms=None, source_ms=said, session_id=SessionId("s"), turn=number, item=item)
    return Leaf(item, order, None if said is None else (said, said), said is None, None, f"line {number}")


LATEST: dict[str, int | None] = {item: None if number == 7 else number for number, item in enumerate(ITEMS)}


def _trees() -> dict[ScopeId, MemTree]:
    """One of all items, one of some, one of a single item, one of none."""
    members = {"entity:bob": ITEMS, "scene:x": ITEMS[:11:2], "session:s": ITEMS[3:4], "scene:none": []}
    leaves = {name: [leaf for item in items if (leaf := _leaf(item)) is not None] for name, items in members.items()}
    return {ScopeId(name): MemTree(ScopeId(name), 4).edit(insert=found).tree for name, found in leaves.items()}


def _rows() -> tuple[dict[str, Any], dict[str, Any]]:
    trees = _trees()
    return (
        {str(scope): tree_row(tree) for scope, tree in trees.items()},
        {node.id: node_row(node) for tree in trees.values() for node in tree.nodes()},
    )


def test_stored_trees_are_the_trees() -> None:
    """With their placements, and an outline of each node, children first."""
    trees, (tree_rows, node_rows) = _trees(), _rows()
    stored = StoredForest(tree_rows, node_rows, LATEST, _leaf)
    expected = load_trees(tree_rows, node_rows, _leaf)
    assert dict(stored.trees) == trees
    assert stored.trees == expected
    assert expected == stored.trees
    assert stored.placements == placements_of(expected)
    outlines = {each.name: each for each in stored.outlines}
    seen: set[str] = set()
    for each in stored.outlines:
        assert each.level == 1 or set(each.children) <= seen
        seen.add(each.name)
    for scope, tree in trees.items():
        for node in tree.nodes():
            latest = None if node.undated or node.source_ms is None else node.source_ms[1]
            told = outlines[node.id]
            assert (told.scope, told.level, told.latest_ms) == (scope, node.level, latest)
    assert len(outlines) == len(node_rows)


def test_a_tree_is_read_when_it_is_asked_for() -> None:
    """Once, and not before; every leaf is made once for all trees."""
    asked: list[ItemId] = []

    def leaf(item: ItemId) -> Leaf | None:
        asked.append(item)
        return _leaf(item)

    stored = StoredForest(*_rows(), LATEST, leaf)
    assert asked == []
    tree = stored.trees[ScopeId("scene:x")]
    assert isinstance(tree, StoredTree)
    assert (len(tree), tree.height, asked) == (6, 2, ITEMS[:11:2])
    assert [one.item for one in tree.leaves()] == ITEMS[:11:2]
    assert len(stored.trees[ScopeId("entity:bob")]) == 30
    assert sorted(asked) == sorted(ITEMS)


def test_where_a_path_leads_is_told_without_reading_the_tree() -> None:
    """The same spans, for every leaf and for what would stand before, between or after; from a few leaves."""
    asked: list[ItemId] = []

    def leaf(item: ItemId) -> Leaf | None:
        asked.append(item)
        return _leaf(item)

    for scope, plain in _trees().items():
        keys = [_key(number, event) for number in range(-1, 31) for event in (None, 5)]
        for key in (*keys, *(one.order for one in plain.leaves())):
            tree = StoredForest(*_rows(), LATEST, leaf).trees[scope]
            asked.clear()
            assert tree.spans(key) == plain.spans(key)
            assert len(asked) <= 3 + 4 * plain.height
            assert (len(tree), tree.spans(key)) == (len(plain), plain.spans(key))


def test_a_path_over_an_item_that_is_gone_is_told() -> None:
    """As reading the tree tells it."""
    known = iter([True])
    stored = StoredForest(*_rows(), LATEST, lambda item: _leaf(item) if next(known, False) else None)
    with pytest.raises(CorruptState, match=r"tree entity:bob, node n.*: its item .* is not there"):
        stored.trees[ScopeId("entity:bob")].spans(_key(9, None))


def _key(number: int, event_ms: int | None) -> OrderKey:
    return order_key(event_ms=event_ms, source_ms=number, session_id=SessionId("s"), turn=number, item=ItemId("f"))


def test_a_stored_tree_can_be_edited_compared_hashed_and_pickled() -> None:
    """As any other."""
    plain = _trees()[ScopeId("entity:bob")]
    tree = StoredForest(*_rows(), LATEST, _leaf).trees[ScopeId("entity:bob")]
    gone = [leaf for leaf in plain.leaves() if leaf.item == ITEMS[3]]
    assert tree.edit(remove=gone).tree == plain.edit(remove=gone).tree
    assert (tree == plain, plain == tree, hash(tree) == hash(plain)) == (True, True, True)
    assert tree != _trees()[ScopeId("scene:x")]
    again = pickle.loads(pickle.dumps(tree))
    assert (type(again), again) == (MemTree, plain)


@pytest.mark.parametrize(
    ("table", "change", "why"),
    [
        ("nodes", {"level": 3}, "of level"),
        ("nodes", {"children": [ITEMS[0], "f-unknown"]}, "is not there"),
        ("trees", {"root": "n" + "0" * 24}, "is not there"),
    ],
)
def test_rows_that_do_not_meet_are_refused_at_once(table: str, change: dict[str, Any], why: str) -> None:
    """A node that is missing or of a wrong level, an item that nobody has."""
    tree_rows, node_rows = _rows()
    rows = node_rows if table == "nodes" else tree_rows
    name = min(name for name, row in rows.items() if row.get("level") == 1) if table == "nodes" else "entity:bob"
    rows[name] = {**rows[name], **change}
    with pytest.raises(CorruptState, match=why):
        StoredForest(tree_rows, node_rows, LATEST, _leaf)


def test_nodes_that_do_not_add_up_are_refused_when_they_are_read() -> None:
    """The other trees can be read; the error names scope and node."""
    tree_rows, node_rows = _rows()
    victim = {row["children"][0]: name for name, row in node_rows.items() if row["level"] == 1}[ITEMS[0]]
    node_rows[victim] = {**node_rows[victim], "children": node_rows[victim]["children"][:-1]}
    stored = StoredForest(tree_rows, node_rows, LATEST, _leaf)
    assert len(stored.trees[ScopeId("session:s")]) == 1
    with pytest.raises(CorruptState) as caught:
        [len(stored.trees[ScopeId(scope)]) for scope in ("entity:bob", "scene:x")]
    assert caught.value.detail["node"] == victim
