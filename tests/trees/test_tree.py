"""MemTree against a sorted list: order, balance, counts, ranges, sharing, differences, rows."""

import math
import random
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from memforest_ray.errors import CorruptState
from memforest_ray.ids import ItemId, ScopeId, SessionId
from memforest_ray.testing.trees import check_tree
from memforest_ray.trees.tree import (
    UNKNOWN_MS,
    Edit,
    Leaf,
    MemTree,
    Node,
    node_row,
    order_key,
    rebuild,
)

SCOPE = ScopeId("entity:bob")
FANOUTS = (3, 4, 5, 7, 8, 16)


def leaf(number: int, text: str = "Bob baked bread.", *, undated: bool = False) -> Leaf:
    """A leaf whose place is its number."""
    item = ItemId(f"f{number:020x}")
    order = order_key(event_ms=None, source_ms=number, session_id=SessionId("s1"), turn=0, item=item)
    return Leaf(item, order, (number, number + 5), undated, (number, number + 1) if number % 3 else None, text)


def grown(k: int, numbers: Iterable[int]) -> MemTree:
    """A tree that got its leaves one by one."""
    tree = MemTree(SCOPE, k)
    for number in numbers:
        tree = tree.edit([leaf(number)]).tree
    return tree


def reachable(tree: MemTree) -> set[Node]:
    return set(tree.nodes())


def widths(tree: MemTree) -> list[int]:
    """Children of the root's children."""
    assert isinstance(tree.root, Node)
    return [len(child.children) for child in tree.root.children if isinstance(child, Node)]


def check_edit(before: MemTree, edit: Edit) -> None:
    """The reported difference is the real one, children come first, and what is shared is the same object."""
    old, new = reachable(before), reachable(edit.tree)
    assert set(edit.added) == new - old
    assert set(edit.removed) == old - new
    assert len(edit.added) == len(set(edit.added))
    places: dict[str, int] = {node.id: place for place, node in enumerate(edit.added)}
    for node in edit.added:
        below = [places[child.id] for child in node.children if child.id in places]
        assert all(place < places[node.id] for place in below)
    objects = {node.id: node for node in before.nodes()}
    assert all(objects[node.id] is node for node in edit.tree.nodes() if node.id in objects)


class AgainstASortedList(RuleBasedStateMachine):
    """Random edits, compared with a sorted list of leaves after each."""

    def __init__(self) -> None:
        super().__init__()
        self.tree = MemTree(SCOPE, 4)
        self.model: dict[int, Leaf] = {}

    @initialize(k=st.sampled_from(FANOUTS), numbers=st.sets(st.integers(0, 400), max_size=200))
    def start(self, k: int, numbers: set[int]) -> None:
        self.tree = MemTree(SCOPE, k)
        self.change({number: leaf(number) for number in numbers}, set())

    def change(self, put: dict[int, Leaf], drop: set[int]) -> None:
        old = [self.model.pop(number) for number in drop | (put.keys() & self.model.keys())]
        self.model.update(put)
        edit = self.tree.edit(put.values(), old)
        check_edit(self.tree, edit)
        self.tree = edit.tree

    @rule(number=st.integers(0, 400))
    def put_one(self, number: int) -> None:
        self.change({number: leaf(number)}, set())

    @rule(numbers=st.sets(st.integers(0, 400), max_size=60))
    def put_many(self, numbers: set[int]) -> None:
        self.change({number: leaf(number) for number in numbers}, set())

    @rule(number=st.integers(1, 30))
    def append(self, number: int) -> None:
        start = max(self.model, default=0) + 1
        self.change({start + place: leaf(start + place) for place in range(number)}, set())

    @rule(data=st.data())
    def change_text(self, data: st.DataObject) -> None:
        if self.model:
            number = data.draw(st.sampled_from(sorted(self.model)))
            self.change({number: leaf(number, "Bob baked two loaves.", undated=True)}, set())

    @rule(start=st.integers(0, 400), width=st.integers(0, 150))
    def drop_run(self, start: int, width: int) -> None:
        self.change({}, {number for number in self.model if start <= number < start + width})

    @rule(data=st.data())
    def mixed(self, data: st.DataObject) -> None:
        drop = data.draw(st.sets(st.sampled_from(sorted(self.model)))) if self.model else set()
        put = data.draw(st.sets(st.integers(0, 400), max_size=20)) - drop
        self.change({number: leaf(number) for number in put}, drop)

    @invariant()
    def same_leaves(self) -> None:
        assert list(self.tree.leaves()) == [self.model[number] for number in sorted(self.model)]
        check_tree(self.tree)

    @invariant()
    def same_neighbours(self) -> None:
        numbers = sorted(self.model)
        for probe in (-1, 57, 200, 401):
            order = leaf(probe).order if probe >= 0 else (-1, 0, "", 0, "")
            smaller = [self.model[number] for number in reversed(numbers) if number < probe]
            larger = [self.model[number] for number in numbers if number > probe]
            assert list(self.tree.before(order, 5)) == smaller[:5]
            assert list(self.tree.after(order, 5)) == larger[:5]
            assert self.tree.find(order) == self.model.get(probe)


TestAgainstASortedList = AgainstASortedList.TestCase
TestAgainstASortedList.settings = settings(max_examples=80, stateful_step_count=25, deadline=None)


@pytest.mark.parametrize("k", range(3, 17))
@pytest.mark.parametrize("arrival", ["append", "reverse", "random"])
def test_height_stays_logarithmic(k: int, arrival: str) -> None:
    """One by one, in any order of arrival, height <= ceil(log_{ceil(k/2)} N) + 1."""
    numbers = list(range(150))
    if arrival == "reverse":
        numbers.reverse()
    if arrival == "random":
        random.Random(k).shuffle(numbers)
    tree = MemTree(SCOPE, k)
    for count, number in enumerate(numbers, start=1):
        tree = tree.edit([leaf(number)]).tree
        assert tree.height <= math.ceil(math.log(count, (k + 1) // 2)) + 1
    check_tree(tree)


@pytest.mark.parametrize("k", [3, 4, 8])
def test_appending_fills_nodes(k: int) -> None:
    """Leaves that arrive in order leave every node full but those on the right spine."""
    tree = grown(k, range(k * k + 1))
    full = [node for node in tree.nodes() if node.level == 1][:-1]
    assert [len(node.children) for node in full] == [k] * k


def test_a_batch_in_order_is_packed_like_single_appends() -> None:
    """Bulk load and one-by-one appending build the very same tree."""
    assert MemTree(SCOPE, 8).edit([leaf(number) for number in range(500)]).tree == grown(8, range(500))


def test_a_middle_insert_splits_in_halves() -> None:
    """A full node that gets a leaf in its middle becomes two of about k/2."""
    tree = grown(4, [0, 10, 20, 30]).edit([leaf(15)]).tree
    assert isinstance(tree.root, Node)
    assert [child.count for child in tree.root.children] == [2, 3]


def test_there_is_room_above_the_leaves() -> None:
    """A full node of nodes takes in half as many more in the middle before it is split; its parent stays as it was."""
    tree = grown(4, range(0, 160, 10))
    assert isinstance(tree.root, Node)
    assert widths(tree) == [4, 4, 4, 4]
    for count, number in enumerate((35, 75), start=5):
        tree = tree.edit([leaf(number)]).tree
        assert isinstance(tree.root, Node)
        assert (tree.height, len(tree.root.children)) == (2, count)
    tree = tree.edit([leaf(115)]).tree
    assert isinstance(tree.root, Node)
    assert widths(tree) == [3, 4]
    check_tree(tree)


def test_appending_leaves_what_is_fuller_as_it_is() -> None:
    """A node that took in more than k stays whole when a sibling is started behind it."""
    tree = grown(4, range(0, 160, 10)).edit([leaf(35)]).tree
    assert isinstance(tree.root, Node)
    edit = tree.edit([leaf(500)])
    assert isinstance(edit.tree.root, Node)
    assert edit.tree.root.children[0] is tree.root
    assert widths(edit.tree) == [5, 1]
    check_tree(edit.tree)


def test_an_edit_touches_one_path() -> None:
    """An insert into 4,000 leaves makes at most two nodes per level and a new root."""
    tree = grown(8, range(0, 8_000, 2))
    edit = tree.edit([leaf(4_001)])
    assert len(edit.added) <= 2 * tree.height + 1
    assert len(edit.removed) <= tree.height


def test_old_trees_stay_as_they_were() -> None:
    """A version that somebody holds never changes."""
    tree = grown(4, range(60))
    kept = list(tree.leaves())
    tree.edit([leaf(100)], [leaf(3), leaf(4)])
    assert list(tree.leaves()) == kept
    check_tree(tree)


def test_empty_and_single() -> None:
    """No leaf: no root. One leaf: the leaf is the root."""
    empty = MemTree(SCOPE, 8)
    one = empty.edit([leaf(1)]).tree
    assert (len(empty), empty.height, empty.root, empty.find(leaf(1).order)) == (0, 0, None, None)
    assert (len(one), one.height, one.root) == (1, 0, leaf(1))
    assert one.edit(remove=[leaf(1)]).tree == empty
    assert empty.edit() == Edit(empty)


def test_removing_what_is_not_there_is_refused() -> None:
    """An edit that does not fit the tree is a mistake of the caller, never ignored."""
    with pytest.raises(ValueError, match="has no leaf"):
        grown(4, range(5)).edit(remove=[leaf(9)])
    with pytest.raises(ValueError, match="already has a leaf"):
        grown(4, range(5)).edit([leaf(3)])
    with pytest.raises(ValueError, match="at least 3"):
        MemTree(SCOPE, 2)


def test_unknown_times_sort_last() -> None:
    """Event start, else source time, else last; then source time, session, turn, id."""
    item, session = ItemId("f1"), SessionId("s")
    keys = [
        order_key(event_ms=-5, source_ms=None, session_id=session, turn=0, item=item),
        order_key(event_ms=None, source_ms=3, session_id=session, turn=9, item=item),
        order_key(event_ms=3, source_ms=4, session_id=session, turn=0, item=item),
        order_key(event_ms=3, source_ms=None, session_id=session, turn=0, item=item),
        order_key(event_ms=None, source_ms=None, session_id=session, turn=0, item=item),
        order_key(event_ms=None, source_ms=None, session_id=session, turn=1, item=item),
    ]
    assert all(left < right for left, right in pairwise(keys))
    assert keys[-1][0] == UNKNOWN_MS


def test_ranges_cover_the_leaves() -> None:
    """A node tells the earliest and latest source time, the hull of events and how many are undated."""
    leaves = [leaf(1), leaf(2, undated=True), replace(leaf(9), source_ms=None, event_ms=(2, 70))]
    root = MemTree(SCOPE, 4).edit(leaves).tree.root
    assert isinstance(root, Node)
    assert (root.source_ms, root.event_ms, root.undated, root.count) == ((1, 7), (1, 70), 1, 3)


def test_ids_tell_content_and_scope() -> None:
    """Same leaves in the same scope: same id; another text, another scope: another id."""
    here = MemTree(SCOPE, 4).edit([leaf(1), leaf(2)]).tree.root
    changed = MemTree(SCOPE, 4).edit([leaf(1), leaf(2, "Bob baked cake.")]).tree.root
    elsewhere = MemTree(ScopeId("scene:x"), 4).edit([leaf(1), leaf(2)]).tree.root
    assert isinstance(here, Node)
    assert here == grown(4, [2, 1]).root
    assert len(here.id) == 25
    assert len({node.id for node in (here, changed, elsewhere) if node is not None}) == 3


def test_path_leads_to_the_leaf() -> None:
    """From the root down, each node holding the next."""
    tree = grown(4, range(50))
    path = tree.path(leaf(17).order)
    assert [node.level for node in path] == list(range(tree.height, 0, -1))
    assert all(below in above.children for above, below in pairwise(path))
    assert leaf(17) in path[-1].children


@given(numbers=st.sets(st.integers(0, 300), max_size=80), k=st.sampled_from(FANOUTS))
@settings(max_examples=40, deadline=None)
def test_rows_rebuild_the_same_tree(numbers: set[int], k: int) -> None:
    """What is stored of the nodes is enough, with the items, to have the tree again."""
    tree = grown(k, numbers)
    leaves = {leaf.item: leaf for leaf in tree.leaves()}
    again = rebuild(SCOPE, k, tree.root_id, {node.id: node_row(node) for node in tree.nodes()}, leaves.get)
    assert again == tree
    check_tree(again)


def corrupt(tree: MemTree, rows: dict[str, dict[str, Any]], leaves: dict[ItemId, Leaf]) -> CorruptState:
    assert isinstance(tree.root, Node)
    with pytest.raises(CorruptState) as caught:
        rebuild(SCOPE, tree.k, tree.root.id, rows, leaves.get)
    assert caught.value.detail["scope"] == SCOPE
    return caught.value


def test_rebuild_believes_nothing() -> None:
    """A missing row, a missing item, another text, a wrong level, swapped children: each names the node."""
    tree = grown(3, range(12))
    leaves = {leaf.item: leaf for leaf in tree.leaves()}
    rows: dict[str, dict[str, Any]] = {node.id: node_row(node) for node in tree.nodes()}
    low = next(node for node in tree.nodes() if node.level == 1)
    first = low.children[0]
    assert isinstance(first, Leaf)
    broken: list[tuple[dict[str, dict[str, Any]], dict[ItemId, Leaf]]] = [
        ({name: row for name, row in rows.items() if name != low.id}, leaves),
        (rows, {item: leaf for item, leaf in leaves.items() if item != first.item}),
        (rows, leaves | {first.item: replace(first, text="Bob burnt the bread.")}),
        (rows | {low.id: {**rows[low.id], "level": 2}}, leaves),
        (rows | {low.id: {**rows[low.id], "children": rows[low.id]["children"][::-1]}}, leaves),
        (rows | {low.id: {**rows[low.id], "children": rows[low.id]["children"][:-1]}}, leaves),
        (rows | {low.id: {**rows[low.id], "children": []}}, leaves),
    ]
    assert {corrupt(tree, *each).detail["node"] for each in broken} == {low.id}


def test_check_tree_finds_what_is_wrong() -> None:
    """The invariant is not vacuous: a root with one child and a thin node inside are found."""
    tree = grown(8, range(20))
    low = next(node for node in tree.nodes() if node.level == 1)
    with pytest.raises(AssertionError):
        check_tree(MemTree(SCOPE, 8, Node.of(SCOPE, (low,))))
    thin = Node.of(SCOPE, low.children[:2])
    rest = Node.of(SCOPE, low.children[2:])
    with pytest.raises(AssertionError):
        check_tree(MemTree(SCOPE, 8, Node.of(SCOPE, (thin, rest))))
