"""Plans: which graphs a forest should have and has not, and what each is to be built of. Decides; builds when told."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from memforest_ray.index.graphs import Graph
from memforest_ray.index.neighbours import GraphRules
from memforest_ray.index.table import Integers
from memforest_ray.index.vectors import VectorsView
from memforest_ray.index.view import CELLS, FACTS, IndexView

__all__ = ["GraphPlan", "plans", "unwanted"]


@dataclass(frozen=True, slots=True)
class GraphPlan:
    """One graph to be built."""

    name: str
    base: Graph | None
    """What it grows from; None: it is built from nothing."""
    ids: tuple[str, ...]
    """Of the items that come to it."""
    vectors: VectorsView
    rows: Integers

    def build(self, wanted: Callable[[], bool]) -> Graph | None:
        """The graph; about 0.5 s for 1,000 rows of 1,024 dimensions. None as soon as it is not `wanted` any more."""
        rows = self.vectors.rows(self.rows)
        return Graph.build(self.ids, rows, wanted) if self.base is None else self.base.grown(self.ids, rows, wanted)


def plans(view: IndexView, rules: GraphRules) -> list[GraphPlan]:
    """What is missing or has become too old, the smallest first: it is ready soonest."""
    found = [_plan(view, name) for name, least in _wanted(view, rules) if view.near(name).wants_graph(least)]
    return sorted(found, key=lambda plan: (len(plan.rows), plan.name))


def unwanted(view: IndexView, rules: GraphRules) -> list[str]:
    """Graphs of what has shrunk below half of what a graph pays for, or is no more."""
    least = {FACTS: rules.forest_rows_min, CELLS: rules.forest_rows_min}
    return [name for name in view.graphs if 2 * len(view.near(name).rows) < least.get(name, rules.tree_rows_min)]


def _wanted(view: IndexView, rules: GraphRules) -> Iterator[tuple[str, int]]:
    """What is large enough for a graph, or has one; with the rows it pays from.

    While all facts are scanned, those of each tree are known with them, and no tree needs a graph of its own.
    """
    yield FACTS, rules.forest_rows_min
    yield CELLS, rules.forest_rows_min
    names: set[str] = set()
    if FACTS in view.graphs or len(view.near(FACTS).rows) >= rules.forest_rows_min:
        nodes = view.nodes.table
        large = view.roots[nodes["embedded"][view.roots] >= rules.tree_rows_min]
        names = {view.registers.scopes.names[number] for number in nodes["scope"][large]}
    for name in sorted(names | (set(view.graphs) - {FACTS, CELLS})):
        yield name, rules.tree_rows_min


def _plan(view: IndexView, name: str) -> GraphPlan:
    near, coverage, shelf = view.near(name), view.graphs.get(name), view.shelf_of(name)
    grows = coverage is not None and not near.outworn
    rows = near.beside if grows else near.rows
    base = coverage.graph if coverage is not None and grows else None
    # In the order of their ids, so that a graph built of the same items is the same graph.
    ids = [shelf.ids[row] for row in rows]
    order = np.array(sorted(range(len(ids)), key=ids.__getitem__), np.int64)
    return GraphPlan(name, base, tuple(ids[place] for place in order), shelf.vectors, rows[order])
