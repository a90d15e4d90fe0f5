"""Graphs of hnswlib, with the traps that it sets."""

from typing import Any

import hnswlib
import msgpack
import numpy as np
import pytest

from memforest_ray.errors import CorruptState
from memforest_ray.index.graphs import SEARCH_WIDTH, Graph, prints_of, search_width
from memforest_ray.index.lexical import Floats

DIMENSION = 24


def _rows(count: int, seed: int = 0) -> Floats:
    """Unit rows as they stand on a shelf: rounded to fp16."""
    rows = np.random.default_rng(seed).standard_normal((count, DIMENSION))
    unit: Floats = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float16).astype(np.float32)
    return unit


def _names(count: int, first: int = 0) -> list[str]:
    return [f"f{number:05d}" for number in range(first, first + count)]


def _graph(rows: Floats) -> Graph:
    graph = Graph.build(_names(len(rows)), rows, lambda: True)
    assert graph is not None
    return graph


def _recall(graph: Graph, rows: Floats) -> float:
    """Share of the exact ten nearest that it finds, over forty questions."""
    found = 0
    for query in _rows(40, seed=99):
        exact = set(np.argsort(-(rows @ query))[:10].tolist())
        found += len(exact & set(graph.nearest(query, 10)[0].tolist()))
    return found / 400


def test_the_nearest_are_found() -> None:
    """Nearly all of them, the most alike first, with their cosines."""
    rows = _rows(1_500)
    graph = _graph(rows)
    numbers, likenesses = graph.nearest(rows[7], 10)
    assert numbers[0] == 7
    assert likenesses == pytest.approx(rows[numbers] @ rows[7], abs=1e-5)
    assert sorted(likenesses, reverse=True) == likenesses.tolist()
    assert _recall(graph, rows) >= 0.98


def test_a_build_is_the_same_each_time() -> None:
    """Trap: with two threads four builds gave four files."""
    rows = _rows(300)
    assert _graph(rows).plain() == _graph(rows).plain()


def test_a_stored_graph_finds_what_it_found() -> None:
    """It goes through bytes and comes back over the vectors of the shelf; it holds none itself."""
    rows = _rows(700)
    graph = _graph(rows)
    stored = msgpack.packb(graph.plain())
    assert rows[3].tobytes() not in stored
    assert rows[3].astype(np.float16).tobytes() not in stored
    again = Graph.of_plain(msgpack.unpackb(stored), rows)
    assert again.ids == graph.ids
    assert np.array_equal(again.prints, graph.prints)
    for query in _rows(20, seed=5):
        assert again.nearest(query, 10)[0].tolist() == graph.nearest(query, 10)[0].tolist()
    assert again.plain() == graph.plain()


def test_the_width_of_the_search_survives() -> None:
    """Trap: hnswlib's ef falls back to 10 with every load and copy, which costs a third of the recall."""
    rows = _rows(1_000)
    graph = _graph(rows)
    grown = graph.grown(_names(1, 1_000), _rows(1, seed=2), lambda: True)
    assert grown is not None
    widths = [each._links.ef for each in (graph, grown, Graph.of_plain(graph.plain(), rows))]
    assert widths == [SEARCH_WIDTH] * 3
    assert _recall(Graph.of_plain(graph.plain(), rows), rows) >= 0.98


def test_a_larger_graph_is_searched_more_widely() -> None:
    """Or it would find less and less."""
    assert [search_width(items) for items in (1, 10_000, 40_000, 100_000)] == [128, 128, 256, 405]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_no_more_than_there_is_can_be_asked_for(count: int) -> None:
    """Trap: hnswlib raises when it is asked for more than it holds."""
    graph = _graph(_rows(count))
    assert sorted(graph.nearest(_rows(1, seed=3)[0], 10)[0].tolist()) == list(range(count))
    assert graph.nearest(_rows(1, seed=3)[0], 0)[0].tolist() == []


def test_an_empty_graph_is_asked_nothing() -> None:
    """Trap: a search of an index without items ends the process, it does not raise."""
    graph = Graph((), np.zeros(0, np.uint64), hnswlib.Index("ip", DIMENSION))
    assert graph.nearest(_rows(1)[0], 3)[0].tolist() == []


def test_a_graph_grows_in_a_copy() -> None:
    """Trap: queries beside insertions are not allowed, so the old one stays as it is."""
    rows = _rows(900)
    graph = _graph(rows[:600])
    before = graph.plain()
    grown = graph.grown(_names(300, 600), rows[600:], lambda: True)
    assert grown is not None
    assert (len(graph), len(grown)) == (600, 900)
    assert graph.plain() == before
    assert grown.ids == tuple(_names(900))
    assert _recall(grown, rows) >= 0.98
    assert _recall(Graph.of_plain(grown.plain(), rows), rows) >= 0.98


def test_a_build_ends_when_nobody_wants_it() -> None:
    """Between two portions."""
    looks = iter([True, False])
    assert Graph.build(_names(1_200), _rows(1_200), lambda: next(looks)) is None


def test_items_without_a_vector_are_passed_over() -> None:
    """What is gone since has a row of zeros: like nothing, and the others are still found."""
    rows = _rows(1_000)
    plain = _graph(rows).plain()
    gone = np.arange(0, 1_000, 20)
    rows[gone] = 0
    again = Graph.of_plain(plain, rows)
    assert _recall(again, rows) >= 0.95


def test_prints_tell_vectors_apart() -> None:
    """Equal for equal rows, whatever stands beside them."""
    rows = _rows(500).astype(np.float16)
    prints = prints_of(rows)
    assert len(set(prints.tolist())) == 500
    assert np.array_equal(prints_of(rows[10:20]), prints[10:20])
    changed = rows.copy()
    changed[3, 5] += np.float16(0.01)
    assert np.flatnonzero(prints_of(changed) != prints).tolist() == [3]


def _spoil(plain: dict[str, Any], what: str) -> dict[str, Any]:
    links = np.frombuffer(plain["links"], "<u4").copy()
    width = len(links) // len(plain["ids"])
    if what == "a link leads nowhere":
        links[1] = len(plain["ids"])
    elif what == "more links than it can hold":
        links[0] = width
    levels = np.frombuffer(plain["levels"], "<i4").copy()
    if what == "upper levels are cut":
        levels[1] += 1
        return {**plain, "levels": np.minimum(levels, plain["max_level"] or 1).tobytes(), "upper": plain["upper"][:-4]}
    entry = len(levels) if what == "no way in" else plain["entry"]
    ids = plain["ids"][:-1] if what == "another shape" else plain["ids"]
    if what == "another shape":
        return {**plain, "links": links[:-width].tobytes(), "ids": ids}
    return {**plain, "links": links.tobytes(), "entry": entry, "ids": ids}


@pytest.mark.parametrize(
    "what",
    ["a link leads nowhere", "more links than it can hold", "upper levels are cut", "no way in", "another shape"],
)
def test_a_damaged_graph_is_refused(what: str) -> None:
    """Trap: hnswlib believes its links, and a wrong one ends the process."""
    rows = _rows(200)
    with pytest.raises(CorruptState, match=what):
        Graph.of_plain(_spoil(_graph(rows).plain(), what), rows)
