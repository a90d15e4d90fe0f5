"""Likenesses of nodes, made of those of their leaves."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memforest_ray.ids import CellId, FactId, NodeId, ScopeId, SessionId
from memforest_ray.index.index import Index, IndexView
from memforest_ray.index.rows import CellRow, FactRow, NodeRow, Passage, Row, Vector
from memforest_ray.index.vectors import Asked, similarities

DIMENSION = 8
QUERY = np.linspace(-1, 1, DIMENSION, dtype=np.float32)


def _vector(seed: int) -> Vector | None:
    if seed % 7 == 0:
        return None
    row = np.random.default_rng(seed).standard_normal(DIMENSION)
    unit: Vector = (row / np.linalg.norm(row)).astype(np.float16)
    return unit


def _item(number: int, seed: int) -> FactRow | CellRow:
    if number % 3:
        name, places = FactId(f"f{number}"), ((SessionId("s"), number),)
        return FactRow(name, _vector(seed), f"tea {seed}", "Bob", places, 1000, None)
    return CellRow(CellId(f"c{number}"), _vector(seed), SessionId("s"), (Passage(number, "Bob", "tea", 1000),))


def _tree(scope: str, items: Sequence[str], written: int) -> list[NodeRow]:
    """Nodes of three children over each other; every `written`-th has a vector of its own."""
    rows: list[NodeRow] = []
    below, level = list(items), 1
    while len(below) > 1 or level == 1:
        groups = [tuple(below[start : start + 3]) for start in range(0, len(below), 3)]
        below = [f"n{scope}-{level}-{place}" for place in range(len(groups))]
        for name, group in zip(below, groups, strict=True):
            own = _vector(len(rows) + 1) if written and len(rows) % written == 0 else None
            rows.append(NodeRow(NodeId(name), ScopeId(f"entity:{scope}"), level, group, 1000, own))
        level += 1
    return rows


def _likenesses(view: IndexView) -> dict[str, float]:
    own = (similarities(each, Asked.of(QUERY)) for each in (view.facts.vectors, view.cells.vectors, view.own))
    found = view.foliage.likenesses(*own)
    return {name: float(found[row]) for row in range(len(found)) if view.row_of(name := view.nodes.ids[row]) == row}


def _products(view: IndexView) -> dict[str, float]:
    """The same by the nodes' own vectors."""
    rows = {name: row for name in view.nodes.ids if (row := view.row_of(name)) is not None}
    return {name: float(view.nodes.vectors[row].astype(np.float32) @ QUERY) for name, row in rows.items()}


@pytest.mark.parametrize("written", [0, 2, 1])
def test_a_node_is_as_like_as_its_vector_is(written: int) -> None:
    """Whether its own or the mean of its children, at every level."""
    items: list[Row] = [_item(number, number + 1) for number in range(25)]
    view = Index(DIMENSION).apply([*items, *_tree("a", [row.id for row in items], written)])
    assert _likenesses(view) == pytest.approx(_products(view), abs=2e-3)


def test_no_mean_is_made_below_a_vector_of_its_own() -> None:
    """Nobody would ask for it: such a node is told by a length of nothing, and counts with its items as others do."""
    items: list[Row] = [_item(number, number + 1) for number in range(25)]
    plain, some = (Index(DIMENSION).apply([*items, *_tree("a", [row.id for row in items], n)]) for n in (0, 2))
    own = some.nodes.table["own"]
    lengths = some.nodes.table["length"].view(np.float64)
    assert (own >= 0).any()
    assert (own < 0).any()
    assert np.array_equal(lengths == 0, own >= 0)
    assert np.array_equal(some.own.blocks[0], some.nodes.vectors.rows(np.flatnonzero(own >= 0)).astype(np.float32))
    assert np.array_equal(some.nodes.table["embedded"], plain.nodes.table["embedded"])


_edits = st.lists(st.tuples(st.integers(0, 5), st.integers(1, 12), st.integers(0, 4)), max_size=12)


@settings(max_examples=30)
@given(_edits)
def test_likenesses_survive_edits_and_compaction(edits: Sequence[tuple[int, int, int]]) -> None:
    """Trees are replaced, items written anew under their ids; before and after everything is written anew."""
    index = Index(DIMENSION)
    items = {row.id: row for row in (_item(number, number + 1) for number in range(12))}
    view = index.apply(list(items.values()))
    trees: dict[int, list[NodeRow]] = {}
    for tree, count, written in edits:
        gone = [node.id for node in trees.get(tree, ())]
        trees[tree] = _tree(str(tree), list(items)[:count], written)
        again = list(items.values())[count % len(items)]
        view = index.apply([again, *trees[tree]], gone)
    held = view
    before = _likenesses(view)
    assert before == pytest.approx(_products(view), abs=2e-3)
    purged = index.purge()
    assert _likenesses(purged) == pytest.approx(before, abs=1e-6)
    assert _likenesses(held) == before


def test_nothing_is_like_nothing() -> None:
    """An index without nodes."""
    assert _likenesses(Index(DIMENSION).view()) == {}
