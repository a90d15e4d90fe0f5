"""Edits of a forest: moves in, trees, placements and node differences out."""

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from immutables import Map

from memforest_ray.errors import CorruptState
from memforest_ray.ids import CellId, ItemId, ScopeId, SessionId
from memforest_ray.testing.trees import check_tree, load_trees, placements_of
from memforest_ray.trees.edits import (
    ForestEdit,
    Placements,
    Trees,
    plan_edits,
    session_moves,
    tree_row,
)
from memforest_ray.trees.routing import Move, Moves
from memforest_ray.trees.tree import Leaf, Node, node_row, order_key

FANOUTS = {"session": 4, "entity": 8, "scene": 8}
BOB, REX, S1 = ScopeId("entity:bob"), ScopeId("entity:rex"), ScopeId("session:s1")


def leaf(item: ItemId, text: str = "Rex barked.") -> Leaf:
    number = int(item[1:])
    order = order_key(event_ms=None, source_ms=number, session_id=SessionId("s1"), turn=0, item=item)
    return Leaf(item, order, (number, number), False, None, text)


def item(number: int) -> ItemId:
    return ItemId(f"f{number}")


def items(*numbers: int) -> frozenset[ItemId]:
    return frozenset(map(item, numbers))


def edited(trees: Trees, placements: Placements, moves: Moves, texts: Mapping[ItemId, str] | None = None) -> ForestEdit:
    """`plan_edits` where `texts` tells the items that say something else now."""
    changed = texts or {}
    return plan_edits(
        trees,
        placements,
        moves,
        leaf_before=leaf,
        leaf_after=lambda name: leaf(name, changed.get(name, "Rex barked.")),
        fanouts=FANOUTS,
    )


def planted(moves: Moves) -> ForestEdit:
    return edited(Map(), Map(), moves)


def test_trees_are_born_with_the_fanout_of_their_family() -> None:
    """A session's tree has 4 children per node, others 8; placements name every tree."""
    edit = planted({S1: Move(items(*range(9))), BOB: Move(items(1, 2)), REX: Move(items(2))})
    assert {scope: tree.k for scope, tree in edit.trees.items()} == {S1: 4, BOB: 8, REX: 8}
    assert edit.placements[item(2)] == {S1, BOB, REX}
    assert edit.placements[item(8)] == {S1}
    assert (edit.changed, edit.dropped) == ((BOB, REX, S1), ())
    assert {scope for scope, _ in edit.added} == {S1, BOB}
    assert edit.removed == ()


def test_an_empty_tree_is_dropped() -> None:
    """When the last leaf goes, so do the tree, its nodes and its placements."""
    before = planted({BOB: Move(items(1, 2)), REX: Move(items(2))})
    edit = edited(before.trees, before.placements, {BOB: Move(remove=items(1, 2))})
    assert set(edit.trees) == {REX}
    assert (edit.changed, edit.dropped, edit.added) == ((), (BOB,), ())
    assert [scope for scope, _ in edit.removed] == [BOB]
    assert dict(edit.placements) == {item(2): frozenset({REX})}


def test_a_changed_leaf_makes_its_path_anew() -> None:
    """An item in both parts of a move: the tree has its new leaf, the placement stays."""
    before = planted({BOB: Move(items(1, 2, 3))})
    move = Move(items(2), items(2))
    edit = edited(before.trees, before.placements, {BOB: move}, {item(2): "Rex slept."})
    assert [leaf.text for leaf in edit.trees[BOB].leaves()] == ["Rex barked.", "Rex slept.", "Rex barked."]
    assert edit.placements == before.placements
    assert len(edit.added) == len(edit.removed) == 1


def test_a_leaf_that_says_the_same_is_left_alone() -> None:
    """The same leaf out and in is no edit: the very same tree stays."""
    before = planted({BOB: Move(items(1, 2, 3))})
    edit = edited(before.trees, before.placements, {BOB: Move(items(2), items(2))})
    assert edit == ForestEdit(before.trees, before.placements)
    assert edit.trees[BOB] is before.trees[BOB]


def test_moves_that_do_not_fit_are_refused() -> None:
    """Nothing is silently skipped."""
    with pytest.raises(ValueError, match="entity:bob has no leaf f7"):
        planted({BOB: Move(remove=items(7))})


def test_session_moves() -> None:
    """A cell that grew is another cell: the old one leaves as the new one enters."""
    s1, s2 = SessionId("s1"), SessionId("s2")
    moves = session_moves([(s1, CellId("c2")), (s2, CellId("c3"))], [(s1, CellId("c1"))])
    assert moves == {
        S1: Move(frozenset({ItemId("c2")}), frozenset({ItemId("c1")})),
        ScopeId("session:s2"): Move(frozenset({ItemId("c3")})),
    }


def test_rows_give_the_same_forest() -> None:
    """Trees and nodes are stored, items come from elsewhere; one that says something else is refused."""
    edit = planted({S1: Move(items(*range(30))), BOB: Move(items(7))})
    tree_rows: dict[str, dict[str, object]] = {scope: tree_row(tree) for scope, tree in edit.trees.items()}
    node_rows: dict[str, dict[str, object]] = {node.id: node_row(node) for _, node in edit.added}
    assert tree_rows[BOB] == {"family": "entity", "k": 8, "root": "f7"}
    again = load_trees(tree_rows, node_rows, leaf)
    assert again == edit.trees
    assert placements_of(again) == edit.placements
    with pytest.raises(CorruptState, match="session:s1"):
        load_trees(tree_rows, node_rows, lambda name: leaf(name, "Rex slept."))


SCOPES = (S1, BOB, REX)


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_placements_and_nodes_follow_the_trees(data: st.DataObject) -> None:
    """After any moves: placements are those of the trees, and differences add up to the nodes there are."""
    model: dict[ScopeId, frozenset[ItemId]] = dict.fromkeys(SCOPES, frozenset())
    trees: Trees = Map()
    placements: Placements = Map()
    nodes: dict[str, Node] = {}
    for _ in range(5):
        moves: dict[ScopeId, Move] = {}
        for scope in data.draw(st.sets(st.sampled_from(SCOPES))):
            insert = data.draw(st.frozensets(st.integers(0, 60).map(item), max_size=30)) - model[scope]
            held = sorted(model[scope])
            remove = data.draw(st.frozensets(st.sampled_from(held))) if held else frozenset()
            moves[scope] = Move(insert, remove)
            model[scope] = (model[scope] - remove) | insert
        edit = edited(trees, placements, moves)
        for _, node in edit.removed:
            del nodes[node.id]
        nodes |= {node.id: node for _, node in edit.added}
        trees, placements = edit.trees, edit.placements
        assert {scope: held for scope, held in model.items() if held} == {
            scope: frozenset(leaf.item for leaf in tree.leaves()) for scope, tree in trees.items()
        }
        assert placements == placements_of(trees)
        assert nodes == {node.id: node for tree in trees.values() for node in tree.nodes()}
        for tree in trees.values():
            check_tree(tree)
