"""The nearest rows of a version, with graphs and without."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from memforest_ray.ids import CellId, FactId, NodeId, ScopeId, SessionId
from memforest_ray.index.graphs import Graph
from memforest_ray.index.index import Index
from memforest_ray.index.neighbours import GraphRules
from memforest_ray.index.plans import plans, unwanted
from memforest_ray.index.rows import CellRow, FactRow, NodeRow, Passage, Vector
from memforest_ray.index.view import CELLS, FACTS, IndexView
from memforest_ray.testing.graphs import with_graphs

DIMENSION = 12
RULES = GraphRules(tree_rows_min=20, forest_rows_min=40)
TREE = "entity:bob"


def _vector(seed: int) -> Vector:
    row = np.random.default_rng(seed).standard_normal(DIMENSION)
    unit: Vector = (row / np.linalg.norm(row)).astype(np.float16)
    return unit


def _fact(number: int, seed: int | None = None, *, known: bool = True) -> FactRow:
    vector = _vector(number if seed is None else seed) if known else None
    return FactRow(FactId(f"f{number:03d}"), vector, "tea", "Bob", ((SessionId("s"), number),), 1, None)


def _cell(number: int) -> CellRow:
    return CellRow(
        CellId(f"c{number:03d}"), _vector(-1 - number & 0xFFF), SessionId("s"), (Passage(number, "B", "", 1),)
    )


def _tree(numbers: Sequence[int], name: str = "r") -> list[NodeRow]:
    """Nodes of five leaves under one root."""
    groups = [numbers[start : start + 5] for start in range(0, len(numbers), 5)]
    lowest = [
        NodeRow(NodeId(f"n{name}{place}"), ScopeId(TREE), 1, tuple(f"f{number:03d}" for number in group), 1)
        for place, group in enumerate(groups)
    ]
    return [*lowest, NodeRow(NodeId(f"n{name}"), ScopeId(TREE), 2, tuple(node.id for node in lowest), 1)]


def _tend(index: Index, view: IndexView) -> IndexView:
    """Build what is wanted, as a driver does."""
    index.graph(dict.fromkeys(unwanted(view, RULES)))
    index.graph({plan.name: plan.build(lambda: True) for plan in plans(view, RULES)})
    return with_graphs(view, index.graphs)


def _exact(view: IndexView, names: Sequence[str], query: Vector, count: int) -> list[str]:
    shelf = view.facts if names[0][0] == "f" else view.cells
    rows = {name: row for name in names if (row := view.row_of(name)) is not None}
    likeness = {name: float(shelf.vectors[row] @ query.astype(np.float32)) for name, row in rows.items()}
    return sorted(likeness, key=lambda name: -likeness[name])[:count]


def _near(view: IndexView, name: str, query: Vector, count: int = 5) -> list[str]:
    rows, likenesses = view.near(name).nearest(query.astype(np.float32), count)
    assert likenesses.tolist() == sorted(likenesses.tolist(), reverse=True)
    return [view.shelf_of(name).ids[row] for row in rows]


def test_graphs_come_from_a_size_on() -> None:
    """Of the forest's facts and cells, of a tree's leaves; none below."""
    index = Index(DIMENSION)
    view = index.apply([*map(_fact, range(39)), *map(_cell, range(40)), *_tree(range(19))])
    assert [plan.name for plan in plans(view, RULES)] == [CELLS]
    view = index.apply([_fact(39), *_tree(range(20), "q")], [node.id for node in _tree(range(19))])
    assert {plan.name: len(plan.rows) for plan in plans(view, RULES)} == {TREE: 20, FACTS: 40, CELLS: 40}
    view = _tend(index, view)
    assert plans(view, RULES) == []
    assert sorted(view.graphs) == sorted([CELLS, FACTS, TREE])


def test_the_nearest_are_those_of_a_scan() -> None:
    """With a graph and without, of everything and of one tree."""
    index = Index(DIMENSION)
    plain = index.apply([*map(_fact, range(60)), *map(_cell, range(50)), *_tree(range(0, 50, 2))])
    sealed = _tend(index, plain)
    assert (len(plain.graphs), len(sealed.graphs)) == (0, 3)
    for seed in range(1000, 1020):
        query = _vector(seed)
        for name, names in (
            (FACTS, [f"f{number:03d}" for number in range(60)]),
            (CELLS, [f"c{number:03d}" for number in range(50)]),
            (TREE, [f"f{number:03d}" for number in range(0, 50, 2)]),
        ):
            expected = _exact(plain, names, query, 5)
            assert _near(plain, name, query) == expected
            assert _near(sealed, name, query) == expected


def test_more_than_there_is_gives_all() -> None:
    """And nothing of nothing."""
    index = Index(DIMENSION)
    view = _tend(index, index.apply([*map(_fact, range(45))]))
    assert len(_near(view, FACTS, _vector(1), 100)) == 45
    assert _near(view, CELLS, _vector(1)) == []
    assert _near(view, "entity:nobody", _vector(1)) == []


def test_newer_rows_are_looked_at_beside_the_graph() -> None:
    """Found at once; the graph is grown only when there are many, and not by an ordinary write."""
    index = Index(DIMENSION)
    _tend(index, index.apply([*map(_fact, range(60))]))
    view = index.apply([_fact(100)])
    assert _near(view, FACTS, _vector(100))[0] == "f100"
    assert plans(view, RULES) == []
    view = index.apply([*map(_fact, range(101, 108))])
    (plan,) = plans(view, RULES)
    assert (plan.base is not None, len(plan.rows)) == (True, 8)
    grown = _tend(index, view)
    assert len(grown.graphs[FACTS].graph) == 68
    assert len(grown.near(FACTS).beside) == 0
    assert _near(grown, FACTS, _vector(104))[0] == "f104"


def test_what_a_version_does_not_hold_is_not_found() -> None:
    """Neither what went before it nor what came after; the graph knows both."""
    index = Index(DIMENSION)
    early = index.apply([*map(_fact, range(50))])
    later = _tend(index, index.apply([_fact(50)], ["f007"]))
    early = with_graphs(early, later.graphs)
    assert _near(early, FACTS, _vector(7))[0] == "f007"
    assert "f050" not in _near(early, FACTS, _vector(50), 100)
    assert "f007" not in _near(later, FACTS, _vector(7), 100)
    assert _near(later, FACTS, _vector(50))[0] == "f050"


def test_a_graph_of_the_dead_is_built_anew() -> None:
    """When a third of its items are gone; when nearly all are, there is none any more."""
    index = Index(DIMENSION)
    _tend(index, index.apply([*map(_fact, range(90))]))
    view = index.apply([], [f"f{number:03d}" for number in range(28)])
    (plan,) = plans(view, RULES)
    assert (plan.base, len(plan.rows)) == (None, 62)
    view = _tend(index, view)
    assert view.graphs[FACTS].gone == 0
    view = index.apply([], [f"f{number:03d}" for number in range(28, 75)])
    assert unwanted(view, RULES) == [FACTS]
    assert _near(view, FACTS, _vector(80))[0] == "f080"


def test_when_most_that_a_graph_gives_is_gone_more_is_asked_for() -> None:
    """Down to all of them."""
    index = Index(DIMENSION)
    _tend(index, index.apply([*map(_fact, range(80))]))
    query = _vector(5)
    alive = index.view()
    near = _near(alive, FACTS, query, 60)
    view = index.apply([], near)
    left = [f"f{number:03d}" for number in range(80) if f"f{number:03d}" not in near]
    assert _near(view, FACTS, query, 5) == _exact(view, left, query, 5)


def test_a_row_that_was_written_anew_is_no_stranger_to_its_tree() -> None:
    """Its lowest node was not: the leaf is the same."""
    index = Index(DIMENSION)
    index.apply([*map(_fact, range(30)), *_tree(range(30))])
    view = index.apply([_fact(3)])
    assert _near(view, TREE, _vector(3))[0] == "f003"
    assert len(view.near(TREE).rows) == 30


def test_a_purge_leaves_no_graph_with_something_forgotten() -> None:
    """It holds vectors; one without anything that is gone stays. What was begun before can be told by the count."""
    index = Index(DIMENSION)
    view = _tend(index, index.apply([*map(_fact, range(60)), *map(_cell, range(50)), *_tree(range(30))]))
    before = index.purges
    index.apply([], ["f040"])
    after = index.purge()
    assert sorted(after.graphs) == sorted([CELLS, TREE])
    assert index.purges > before
    assert _near(after, TREE, _vector(3))[0] == "f003"
    assert _near(after, CELLS, _vector(-1 - 4 & 0xFFF))[0] == "c004"
    assert sorted(view.graphs) == sorted([CELLS, FACTS, TREE])


def test_a_graph_serves_again_over_other_rows() -> None:
    """After a reload the rows stand in another order; an item that changed or is gone is left out of it."""
    index = Index(DIMENSION)
    _tend(index, index.apply([*map(_fact, range(50))]))
    graph = index.graphs[FACTS].graph
    fresh = Index(DIMENSION)
    rows = [_fact(number) for number in reversed(range(50)) if number != 20]
    rows[0] = _fact(49, seed=777)
    fresh.apply(rows)
    again = Graph.of_plain(graph.plain(), fresh.view().vectors_of(graph.ids))
    fresh.graph({FACTS: again})
    view = fresh.view()
    assert view.graphs[FACTS].gone == 2
    assert _near(view, FACTS, _vector(777))[0] == "f049"
    assert "f020" not in _near(view, FACTS, _vector(20), 100)
    assert len(_near(view, FACTS, _vector(20), 100)) == 49


def test_facts_without_a_vector_are_in_no_graph() -> None:
    """They are like nothing, and they do not make it grow."""
    index = Index(DIMENSION)
    view = _tend(
        index, index.apply([*map(_fact, range(45)), *(_fact(number, known=False) for number in range(45, 80))])
    )
    assert len(view.graphs[FACTS].graph) == 45
    assert plans(view, RULES) == []


_writes = st.lists(st.tuples(st.booleans(), st.integers(0, 60), st.integers(0, 3)), max_size=40)


@settings(max_examples=40)
@given(_writes, st.integers(2_000, 2_100))
def test_whatever_happened_the_nearest_are_exact(writes: Sequence[tuple[bool, int, int]], seed: int) -> None:
    """Rows come, go and change, shelves are written anew, graphs are built now and then: small ones miss nothing."""
    index = Index(DIMENSION)
    index.apply([*map(_fact, range(30, 75))])
    held = set(range(30, 75))
    query = _vector(seed)
    for put, number, step in writes:
        index.apply([_fact(number, number + 500 * step)] if put else [], [] if put else [f"f{number:03d}"])
        (held.add if put else held.discard)(number)
        if step == 3:
            index.purge()
        if step == 2:
            _tend(index, index.view())
        names = [f"f{each:03d}" for each in held]
        assert _near(index.view(), FACTS, query, 3) == _exact(index.view(), names, query, 3)
