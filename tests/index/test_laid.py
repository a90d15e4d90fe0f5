"""What is laid out for queries is taken over from version to version, and always what it would be if made anew."""

from dataclasses import fields
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from memforest_ray.ids import CellId, FactId, NodeId, ScopeId, SessionId
from memforest_ray.index.corpus import Corpus
from memforest_ray.index.foliage import Foliage
from memforest_ray.index.index import Index, IndexView
from memforest_ray.index.pairs import Pairs
from memforest_ray.index.rows import CellRow, FactRow, NodeRow, Passage, Row
from memforest_ray.index.vectors import Asked, similarities

DIMENSION = 8
QUERY = Asked.of(np.linspace(-1, 1, DIMENSION, dtype=np.float32))


def _vector(seed: int) -> Any:
    row = np.random.default_rng(seed).standard_normal(DIMENSION)
    return (row / np.linalg.norm(row)).astype(np.float16)


def _cell(session: int, number: int) -> CellRow:
    """Two turns, of which the next cell of the session holds the second, too: as of a turn that was split."""
    passages = tuple(Passage(turn, "Ann", f"word{turn} tea", 10 * turn) for turn in (number, number + 1))
    return CellRow(CellId(f"c{session}-{number}"), _vector(number), SessionId(f"s{session}"), passages)


def _fact(number: int, places: list[tuple[int, int]]) -> FactRow:
    told = tuple((SessionId(f"s{session}"), turn) for session, turn in places)
    return FactRow(FactId(f"f{number}"), _vector(number + 50), f"tea word{number}", "Bob", told, number, None)


def _node(number: int, children: tuple[str, ...], level: int) -> NodeRow:
    return NodeRow(NodeId(f"n{number}"), ScopeId(f"scene:{number % 3}"), level, children, 1)


def _same(one: Any, other: Any, path: str = "") -> None:
    """Every array of two corpora."""
    if isinstance(one, np.ndarray):
        assert np.array_equal(one, other), path
    elif isinstance(one, tuple):
        for place, (mine, its) in enumerate(zip(one, other, strict=True)):
            _same(mine, its, f"{path}[{place}]")
    elif hasattr(one, "__dataclass_fields__") and not isinstance(one, Pairs):
        for field in fields(one):
            if field.name != "words":
                _same(getattr(one, field.name), getattr(other, field.name), f"{path}.{field.name}")
    elif isinstance(one, Pairs):
        _same(
            (one.left, one.right, one._by_left, one._by_right),
            (other.left, other.right, other._by_left, other._by_right),
            path,
        )
    else:
        assert one == other, path


def _node_likenesses(view: IndexView, foliage: Foliage) -> dict[str, float]:
    facts, cells, own = (similarities(each, QUERY) for each in (view.facts.vectors, view.cells.vectors, view.own))
    found = foliage.likenesses(facts, cells, own)
    return {view.nodes.ids[row]: float(found[row]) for row in np.flatnonzero(view.nodes.table.live()).tolist()}


def _is_as_new(view: IndexView) -> None:
    _same(view.corpus, Corpus.of(view.facts, view.cells))
    fresh = Foliage.of(view.facts, view.cells, view.nodes)
    assert _node_likenesses(view, view.foliage) == _node_likenesses(view, fresh)


_PLACES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6)), min_size=1, max_size=3)
_ROWS = st.one_of(
    st.builds(_cell, st.integers(0, 3), st.integers(0, 5)),
    st.builds(_fact, st.integers(0, 12), _PLACES),
)


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.lists(_ROWS, max_size=5), st.lists(st.integers(0, 99), max_size=3), st.booleans()), max_size=12
    )
)
def test_it_is_as_if_made_anew(writes: list[tuple[list[Row], list[int], bool]]) -> None:
    """Sessions that grow at their ends and in their middle, rows that go and come again; asked now and then."""
    index, here = Index(DIMENSION), dict[str, Row]()
    views: list[IndexView] = []
    for number, (rows, gone, asked) in enumerate(writes):
        dropped = [name for place, name in enumerate(sorted(here)) if place in gone and name[0] != "n"]
        added: dict[str, Row] = {row.id: row for row in rows}
        leaves = sorted(name for name in {*here, *added} - set(dropped) if name[0] != "n")
        if leaves:
            low = _node(2 * number, tuple(leaves[:3]), 1)
            added |= {low.id: low, f"n{2 * number + 1}": _node(2 * number + 1, (low.id,), 2)}
        views.append(index.apply(list(added.values()), dropped))
        here = {name: row for name, row in {**here, **added}.items() if name not in dropped}
        if asked:
            _is_as_new(views[-1])
    for view in reversed(views):  # an old version that is asked late takes over nothing that came after it
        _is_as_new(view)


def test_it_is_made_anew_where_rows_have_moved() -> None:
    """After a compaction, of dead rows or of what was forgotten."""
    index = Index(DIMENSION)
    view = index.apply([_cell(number, 0) for number in range(200)])
    _is_as_new(view)
    view = index.apply([], [f"c{number}-0" for number in range(150)])
    assert len(view.cells.table) == 50
    _is_as_new(view)
    _is_as_new(index.apply([_cell(1, 0), _fact(1, [(1, 0)])]))
    _is_as_new(index.purge())


def test_nodes_that_came_since_are_laid_out_alone_while_they_are_few() -> None:
    """Then all of them together, and so again when the rows outgrow their room."""
    index = Index(DIMENSION)
    facts = [_fact(number, [(0, 0)]) for number in range(100)]
    nodes = [_node(number, (f"f{number}",), 1) for number in range(100)]
    base = index.apply([*facts, *nodes]).foliage
    few = index.apply([_node(500, ("f1", "f2"), 1)])
    assert few.foliage.base is base.base
    assert [len(level.nodes) for level in few.foliage.recent] == [1]
    many = index.apply([_node(600 + number, ("f3",), 1) for number in range(40)])
    assert many.foliage.recent == ()
    _is_as_new(many)
    wide = index.apply([_fact(1_000 + number, [(0, 1)]) for number in range(300)])
    assert wide.foliage.base is not many.foliage.base
    _is_as_new(wide)
