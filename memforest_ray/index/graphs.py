"""Graphs: sealed hnswlib indexes over rows that do not change, and the form in which they are kept.

A graph is built once, or grown from a copy, and never written again once anybody reads it: hnswlib does not allow
queries beside insertions. Its stored form holds links only, no vectors: these stand in the store already, so what is
kept is small, and holds nothing of a text. Builds are single-threaded, so the same rows give the same graph.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import hnswlib
import numpy as np
from numpy.typing import NDArray

from memforest_ray.errors import CorruptState
from memforest_ray.index.lexical import Floats
from memforest_ray.index.table import Integers

__all__ = ["SEARCH_WIDTH", "Graph", "Prints", "prints_of", "search_width"]

LINKS: Final = 16
"""hnswlib's M: links of a node at the upper levels, half of those at the lowest."""
BUILD_WIDTH: Final = 100
"""Its ef_construction."""
SEARCH_WIDTH: Final = 128
"""Its ef, the candidates that a search keeps, in a graph of 10,000 items: .99 of the ten nearest in 1,024 dimensions.

It grows with the root of the items: 400 in 100,000 items find .986, 128 would find .93."""
_WIDTH_ITEMS: Final = 10_000
_TOGETHER: Final = 512
"""Rows that are added between two looks at whether the build is still wanted: about 0.3 s."""
_SEED: Final = 7
_LINK_BYTES: Final = 4

Prints = NDArray[np.uint64]
"""A fingerprint of each vector."""


def prints_of(vectors: NDArray[np.float16]) -> Prints:
    """Fingerprints of rows: equal for equal vectors, and for different ones not (1 in 2^64)."""
    words = np.ascontiguousarray(vectors).view(np.uint16).astype(np.uint64)
    weights = np.random.default_rng(_SEED).integers(1, 1 << 63, words.shape[1], np.uint64) | np.uint64(1)
    with np.errstate(over="ignore"):
        return np.asarray((words * weights).sum(axis=1, dtype=np.uint64), np.uint64)


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """A graph over some items, which have the numbers 0, 1, 2 ... in it."""

    ids: tuple[str, ...]
    prints: Prints
    """Of the vectors as they were: an item with another one now is not this one."""
    _links: hnswlib.Index

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def build(cls, ids: Sequence[str], vectors: Floats, wanted: Callable[[], bool]) -> "Graph | None":
        """Over at least one item, of unit length each. None as soon as it is not `wanted` any more."""
        index = hnswlib.Index("ip", vectors.shape[1])
        index.init_index(max_elements=len(ids), M=LINKS, ef_construction=BUILD_WIDTH, random_seed=_SEED)
        return cls._filled(index, 0, tuple(ids), vectors, prints_of(vectors.astype(np.float16)), wanted)

    def grown(self, ids: Sequence[str], vectors: Floats, wanted: Callable[[], bool]) -> "Graph | None":
        """A copy with more items. None as soon as it is not `wanted` any more."""
        index = hnswlib.Index.__new__(hnswlib.Index)
        index.__setstate__(self._links.__getstate__())
        index.resize_index(len(self) + len(ids))
        prints = np.concatenate([self.prints, prints_of(vectors.astype(np.float16))])
        return self._filled(index, len(self), (*self.ids, *ids), vectors, prints, wanted)

    @classmethod
    def _filled(
        cls, index: Any, first: int, ids: tuple[str, ...], vectors: Floats, prints: Prints, wanted: Callable[[], bool]
    ) -> "Graph | None":
        for start in range(0, len(vectors), _TOGETHER):
            if not wanted():
                return None
            rows = vectors[start : start + _TOGETHER]
            index.add_items(rows, np.arange(first + start, first + start + len(rows)), num_threads=1)
        return cls(ids, prints, _ready(index))

    def nearest(self, query: Floats, count: int) -> tuple[Integers, Floats]:
        """Numbers of about the `count` nearest items, at most all, and their likenesses; the most alike first."""
        count = min(count, len(self))
        if count < 1:
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        try:
            labels, distances = self._links.knn_query(query, k=count, num_threads=1)
        except RuntimeError:  # it reached fewer than that: parts of a graph may not be connected
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        return labels[0].astype(np.int64), (1 - distances[0]).astype(np.float32)

    # ---- as it is kept -----------------------------------------------------------------------------------

    def plain(self) -> dict[str, Any]:
        """What is stored: msgpack types, no vector among them."""
        state = self._links.__getstate__()[0]
        level0 = np.asarray(state["data_level0"]).view(np.uint8).reshape(len(self), -1)
        return {
            "ids": list(self.ids),
            "prints": self.prints.astype("<u8").tobytes(),
            "links": np.ascontiguousarray(level0[:, : state["offset_data"]]).tobytes(),
            "levels": np.asarray(state["element_levels"]).astype("<i4").tobytes(),
            "upper": np.asarray(state["link_lists"]).tobytes(),
            "max_level": state["max_level"],
            "entry": state["enterpoint_node"],
            "width": state["max_M"],
        }

    @classmethod
    def of_plain(cls, plain: Mapping[str, Any], vectors: Floats) -> "Graph":
        """The graph again, over the vectors that its items have now. An item without one has a row of zeros.

        Raises CorruptState when it is not one: hnswlib itself would follow any link into the dark.
        """
        ids = tuple(str(name) for name in plain["ids"])
        count, width = len(ids), int(plain["width"])
        levels = np.frombuffer(plain["levels"], "<i4")
        links = np.frombuffer(plain["links"], np.uint8).reshape(count, -1)
        prints = np.frombuffer(plain["prints"], "<u8")
        upper = np.frombuffer(plain["upper"], np.uint8)
        _check(links, levels, upper, width, int(plain["entry"]), int(plain["max_level"]))
        if vectors.shape[0] != count or len(prints) != count:
            raise _damaged("its items do not fit each other")
        state = _state(links, levels, upper, vectors, plain)
        index = hnswlib.Index.__new__(hnswlib.Index)
        index.__setstate__((state,))
        return cls(ids, prints.astype(np.uint64), _ready(index))


def _ready(index: Any) -> Any:
    """hnswlib forgets the width of its search with every copy and load."""
    index.set_ef(search_width(index.get_current_count()))
    return index


def search_width(items: int) -> int:
    """The width with which a graph of so many items is searched."""
    return round(SEARCH_WIDTH * math.sqrt(max(items / _WIDTH_ITEMS, 1.0)))


def _state(
    links: NDArray[np.uint8],
    levels: NDArray[np.int32],
    upper: NDArray[np.uint8],
    vectors: Floats,
    plain: Mapping[str, Any],
) -> dict[str, Any]:
    """What hnswlib takes itself from: of each item links, vector and label behind each other."""
    count, offset = links.shape
    vector_bytes = vectors.shape[1] * vectors.dtype.itemsize
    level0 = np.zeros((count, offset + vector_bytes + 8), np.uint8)
    level0[:, :offset] = links
    level0[:, offset:-8] = np.ascontiguousarray(vectors).view(np.uint8)
    level0[:, -8:] = np.arange(count, dtype="<u8").view(np.uint8).reshape(count, 8)
    width = int(plain["width"])
    return {
        "ser_version": 1,
        "space": "ip",
        "dim": vectors.shape[1],
        "index_inited": True,
        "ep_added": True,
        "normalize": False,
        "num_threads": 1,
        "seed": _SEED,
        "offset_level0": 0,
        "max_elements": count,
        "cur_element_count": count,
        "size_data_per_element": level0.shape[1],
        "label_offset": offset + vector_bytes,
        "offset_data": offset,
        "max_level": plain["max_level"],
        "enterpoint_node": plain["entry"],
        "max_M": width,
        "max_M0": 2 * width,
        "M": width,
        "mult": 1 / float(np.log(width)),
        "ef_construction": BUILD_WIDTH,
        "ef": search_width(count),
        "has_deletions": False,
        "size_links_per_element": _LINK_BYTES * (width + 1),
        "allow_replace_deleted": False,
        "label_lookup_external": np.arange(count, dtype=np.uint64),
        "label_lookup_internal": np.arange(count, dtype=np.uint32),
        "element_levels": levels.astype(np.int32),
        "data_level0": level0.reshape(-1).view(np.int8),
        "link_lists": upper.view(np.int8),
    }


def _check(
    links: NDArray[np.uint8], levels: NDArray[np.int32], upper: NDArray[np.uint8], width: int, entry: int, top: int
) -> None:
    """That every link leads to an item, so that no search leaves the graph."""
    count = len(links)
    if not count or links.shape[1] != _LINK_BYTES * (2 * width + 1) or len(levels) != count:
        raise _damaged("it has another shape")
    if not 0 <= entry < count or top != int(levels.max()) or int(levels[entry]) != top or levels.min() < 0:
        raise _damaged("it has no way in")
    if len(upper) != int(levels.sum()) * _LINK_BYTES * (width + 1):
        raise _damaged("its upper levels are cut")
    lists = np.ascontiguousarray(links).view("<u4")
    _check_lists(lists, count)
    _check_lists(np.ascontiguousarray(upper).view("<u4").reshape(-1, width + 1), count)


def _check_lists(lists: NDArray[np.uint32], count: int) -> None:
    lengths = lists[:, 0] & 0xFFFF  # the upper half of the word holds the mark of a deletion
    if (lengths > lists.shape[1] - 1).any():
        raise _damaged("a node has more links than it can hold")
    used = np.arange(lists.shape[1] - 1) < lengths[:, None]
    if (lists[:, 1:][used] >= count).any():
        raise _damaged("a link leads nowhere")


def _damaged(why: str) -> CorruptState:
    return CorruptState(f"a graph cannot be used: {why}; nothing was changed, it is built anew")
