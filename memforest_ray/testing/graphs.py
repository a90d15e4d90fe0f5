"""Views of an index with other graphs over the same rows: what is found must not depend on them."""

from copy import copy

from immutables import Map

from memforest_ray.index.neighbours import Coverage
from memforest_ray.index.view import IndexView

__all__ = ["with_graphs", "without_graphs"]


def with_graphs(view: IndexView, graphs: Map[str, Coverage]) -> IndexView:
    """Another view of the same rows; what was laid out for queries is kept."""
    other = copy(view)
    other.adopt(graphs)
    return other


def without_graphs(view: IndexView) -> IndexView:
    """A view that scans every row."""
    return with_graphs(view, Map())
