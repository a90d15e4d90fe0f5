"""Two trees become one: the leaves of both in order, balanced, sharing what lies apart."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memforest_ray.ids import ItemId, ScopeId, SessionId
from memforest_ray.testing.trees import check_tree
from memforest_ray.trees.tree import Leaf, MemTree, Node, order_key

SCOPE = ScopeId("entity:bob")
FANOUTS = (3, 4, 5, 8)
Edits = list[tuple[str, set[int]]]


def leaf(number: int) -> Leaf:
    """A leaf whose place is its number."""
    item = ItemId(f"f{number:020x}")
    order = order_key(event_ms=None, source_ms=number, session_id=SessionId("s1"), turn=0, item=item)
    return Leaf(item, order, (number, number), False, None, "Bob baked bread.")


def lived(k: int, edits: Edits) -> MemTree:
    """A tree after some inserts and removals: no two of one set of leaves are shaped alike."""
    tree = MemTree(SCOPE, k)
    for verb, numbers in edits:
        held = {found.order[1] for found in tree.leaves()}
        if verb == "put":
            tree = tree.edit([leaf(number) for number in numbers - held]).tree
        else:
            tree = tree.edit(remove=[leaf(number) for number in numbers & held]).tree
    return tree


def numbers_of(tree: MemTree) -> list[int]:
    return [found.order[1] for found in tree.leaves()]


def check_join(ours: MemTree, theirs: MemTree) -> MemTree:
    """Leaves, balance and the reported difference; what is shared is the same object."""
    edit = ours.edit(graft=theirs)
    tree = edit.tree
    check_tree(tree, joined=True)
    assert numbers_of(tree) == sorted(numbers_of(ours) + numbers_of(theirs))
    before, after = set(ours.nodes()), set(tree.nodes())
    assert set(edit.added) == after - before
    assert set(edit.removed) == before - after
    assert len(edit.added) == len(set(edit.added))
    seen: set[Node] = set()
    for node in edit.added:
        assert all(below in seen or below in before for below in node.children if isinstance(below, Node))
        seen.add(node)
    return tree


def histories(low: int, high: int, step: int = 1) -> Any:
    """Lives of a tree whose leaves are some of these numbers."""
    numbers = st.sets(st.sampled_from(range(low, high, step)), max_size=120)
    return st.lists(st.tuples(st.sampled_from(["put", "put", "drop"]), numbers), max_size=4)


@given(st.sampled_from(FANOUTS), histories(0, 300, 2), histories(1, 300, 2))
@settings(max_examples=120)
def test_interleaved_trees(k: int, ours: Edits, theirs: Edits) -> None:
    """However their leaves fall among each other."""
    check_join(lived(k, ours), lived(k, theirs))


@given(st.sampled_from(FANOUTS), histories(0, 300), histories(300, 600), st.booleans())
@settings(max_examples=120)
def test_trees_that_lie_apart(k: int, early: Edits, late: Edits, swapped: bool) -> None:
    """One after the other, in either direction, of any two heights: only the seam is new."""
    first, second = lived(k, early), lived(k, late)
    tree = check_join(second, first) if swapped else check_join(first, second)
    fresh = set(tree.nodes()) - set(first.nodes()) - set(second.nodes())
    assert len(fresh) <= 3 * (tree.height + 1)


def test_two_of_one_height_have_a_new_root_and_nothing_else() -> None:
    """Trees that were grown by appending, however thin their right spines are."""
    for size in (65, 80, 130, 200):
        first, second = lived(8, [("put", set(range(size)))]), lived(8, [("put", set(range(size, 2 * size)))])
        if len(first.root.children) >= 4:  # type: ignore[union-attr]  # a node
            edit = first.edit(graft=second)
            assert [node.level for node in edit.added if node not in set(second.nodes())] == [first.height + 1]
            assert edit.removed == ()


@given(
    st.sampled_from((3, 5, 8)),
    st.lists(st.tuples(st.sampled_from("pdj"), st.sets(st.integers(0, 240), max_size=60)), max_size=9),
)
@settings(max_examples=150)
def test_a_life_of_joins_and_edits(k: int, steps: Edits) -> None:
    """Leaves come one by one, in whole trees, and go: order, balance and height hold throughout."""
    tree, held = MemTree(SCOPE, k), set[int]()
    for verb, numbers in steps:
        if verb == "d":
            tree = tree.edit(remove=[leaf(number) for number in numbers & held]).tree
            held -= numbers
        elif verb == "p":
            tree = tree.edit([leaf(number) for number in numbers - held]).tree
            held |= numbers
        else:
            tree = check_join(tree, lived(k, [("put", numbers - held)]))
            held |= numbers
        check_tree(tree, joined=True)
        assert numbers_of(tree) == sorted(held)


@given(
    st.sampled_from(FANOUTS),
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 40)), min_size=1, max_size=8),
)
@settings(max_examples=120)
def test_blocks_in_turn(k: int, blocks: list[tuple[str, int]]) -> None:
    """Sessions of two people in turn: whole subtrees stay whole."""
    parts: dict[str, set[int]] = {"a": set(), "b": set()}
    place = 0
    for name, size in blocks:
        parts[name] |= set(range(place, place + size))
        place += size
    check_join(lived(k, [("put", parts["a"])]), lived(k, [("put", parts["b"])]))


@given(st.sampled_from(FANOUTS), histories(0, 200, 2), histories(1, 200, 2), st.data())
@settings(max_examples=60)
def test_a_join_and_an_edit_in_one(k: int, ours: Edits, theirs: Edits, data: st.DataObject) -> None:
    """Leaves that leave, leaves that come and a whole tree, reported as one difference."""
    tree, graft = lived(k, ours), lived(k, theirs)
    held = sorted(numbers_of(tree))
    gone = data.draw(st.sets(st.sampled_from(held))) if held else set()
    come = data.draw(st.sets(st.integers(500, 540), max_size=10))
    edit = tree.edit([leaf(number) for number in come], [leaf(number) for number in gone], graft)
    check_tree(edit.tree, joined=True)
    assert numbers_of(edit.tree) == sorted((set(held) - gone) | come | set(numbers_of(graft)))
    before, after = set(tree.nodes()), set(edit.tree.nodes())
    assert (set(edit.added), set(edit.removed)) == (after - before, before - after)


def test_one_leaf_twice_is_refused() -> None:
    """Two trees of one leaf: whoever joins them has not looked."""
    tree = lived(4, [("put", set(range(20)))])
    with pytest.raises(ValueError, match="already has a leaf"):
        tree.edit(graft=lived(4, [("put", {7})]))


@given(st.sampled_from(FANOUTS), histories(0, 300))
@settings(max_examples=40)
def test_a_shape_over_other_leaves(k: int, edits: Edits) -> None:
    """A tree can be had again over other leaves, node for node."""
    tree = lived(k, edits)
    other = tree.shaped([leaf(number + 1000) for number in numbers_of(tree)], ScopeId("entity:ann"))
    check_tree(other)
    assert numbers_of(other) == [number + 1000 for number in numbers_of(tree)]
    assert [len(node.children) for node in other.nodes()] == [len(node.children) for node in tree.nodes()]


def _torn(before: MemTree, other: MemTree) -> tuple[int, int]:
    """New nodes above the lowest level, and the height, of both trees joined."""
    edit = before.edit(graft=other)
    known = set(before.nodes()) | set(other.nodes())
    return sum(node.level > 1 and node not in known for node in edit.added), edit.tree.height


def test_a_few_leaves_among_others_tear_nothing_apart() -> None:
    """A few dates of one that lie within the other, either way: they change trees, and the rest stays whole."""
    early = lived(8, [("put", set(range(0, 400, 2)))])
    assert _torn(early, lived(8, [("put", {51, 53, 251, *range(400, 520)})]))[0] <= 8
    late = lived(8, [("put", set(range(201, 401, 2)) | {702, 705})])
    assert _torn(late, lived(8, [("put", set(range(500, 900, 3)))]))[0] <= 6
    strays = check_join(early, lived(8, [("put", {51, *range(400, 520)})]))
    assert {node for node in early.nodes() if node.last < leaf(49).order and node.level == 1} <= set(strays.nodes())


def test_roots_of_one_height_become_one_if_there_is_room() -> None:
    """No level is added for a seam."""
    first = lived(8, [("put", set(range(256)))])
    second = lived(8, [("put", set(range(300, 492)))])
    tree = check_join(first, second)
    assert (first.height, second.height, tree.height) == (3, 3, 3)


@given(st.sampled_from(FANOUTS), st.lists(st.integers(1, 12), min_size=1, max_size=40))
@settings(max_examples=40)
def test_runs_of_any_length(k: int, sizes: list[int]) -> None:
    """Strays on strays: whoever changes over, all leaves are there, in order."""
    runs: tuple[set[int], set[int]] = (set(), set())
    place = 0
    for number, size in enumerate(sizes):
        runs[number % 2].update(range(place, place + size))
        place += size
    check_join(lived(k, [("put", runs[0])]), lived(k, [("put", runs[1])]))
