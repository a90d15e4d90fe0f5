"""Comparing: what was held against the index once is held against what has come since only, and it shows nowhere."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from memforest_ray.forest.comparing import Compared, alike_among, compare, stored_alike
from memforest_ray.ids import AtomId
from memforest_ray.index.shelves import Entry, Shelf, ShelfView

DIMENSION = 8
THRESHOLD = 0.9
Vectors = Sequence[NDArray[np.float16]]


def vectors(seed: int, number: int) -> Vectors:
    """Unit vectors, some of them near each other."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(3, DIMENSION))[rng.integers(0, 3, number)] + 0.3 * rng.normal(size=(number, DIMENSION))
    return list((rows / np.linalg.norm(rows, axis=1)[:, None]).astype(np.float16))


def shelf_of(rows: Vectors) -> Shelf:
    shelf = Shelf(DIMENSION, ("number",))
    add(shelf, rows)
    return shelf


def add(shelf: Shelf, rows: Vectors) -> None:
    first = len(shelf.view(0).table)
    entries = [Entry(f"f{first + place}", (place,)) for place in range(len(rows))]
    shelf.add(entries, np.array(rows, np.float16).reshape(len(rows), DIMENSION))


def found(shelf: ShelfView, compared: Compared, asked: Vectors) -> dict[tuple[str, str], float]:
    named = {AtomId(f"asked{place}"): row for place, row in enumerate(asked)}
    return {(one, other): cosine for one, other, cosine in stored_alike(shelf, compared, named)}


def plainly(shelf: ShelfView, asked: Vectors) -> dict[tuple[str, str], float]:
    """One product after the other."""
    pairs = {}
    for place, vector in enumerate(asked):
        for row in np.flatnonzero(shelf.table.live()).tolist():
            cosine = round(float(vector.astype(np.float64) @ shelf.vectors[row].astype(np.float64)), 4)
            if cosine >= THRESHOLD:
                pairs[f"asked{place}", shelf.ids[row]] = cosine
    return pairs


@given(seed=st.integers(0, 10_000), sizes=st.lists(st.integers(0, 30), min_size=1, max_size=4), data=st.data())
@settings(max_examples=40, deadline=None)
def test_what_is_known_and_what_has_come_since(seed: int, sizes: list[int], data: st.DataObject) -> None:
    """However rows come and go between the looks, the last one sees what a first look would see."""
    asked = vectors(seed, 5)
    shelf = shelf_of(vectors(seed, 20))
    known: list[Compared] = []
    for version, size in enumerate(sizes, start=1):
        mine = data.draw(st.lists(st.sampled_from(range(5)), unique=True))
        known.append(compare(shelf.view(version), [asked[each] for each in mine], THRESHOLD, known))
        add(shelf, vectors(seed + version, size))
        live = np.flatnonzero(shelf.view(version).table.live()).tolist()
        for row in data.draw(st.lists(st.sampled_from(live), unique=True, max_size=3)):
            shelf.bury(row, version)
    view = shelf.view(len(sizes) + 1)
    pairs = found(view, compare(view, asked, THRESHOLD, known), asked)
    expected = plainly(view, asked)
    assert pairs.keys() == expected.keys()
    assert all(abs(cosine - expected[pair]) <= 0.0002 for pair, cosine in pairs.items())


def test_a_shelf_that_was_written_anew_is_looked_at_anew() -> None:
    """Its rows have other numbers."""
    asked = vectors(1, 3)
    shelf = shelf_of(asked)
    before = compare(shelf.view(0), asked, THRESHOLD)
    shelf.bury(0, 1)
    shelf.compact()
    view = shelf.view(1)
    pairs = found(view, compare(view, asked, THRESHOLD, [before]), asked)
    assert pairs == plainly(view, asked)


def test_alike_among_some() -> None:
    """Each with those of the others that are near enough, itself if it is among them."""
    one, other = np.eye(DIMENSION, dtype=np.float16)[:2]
    names = [AtomId(name) for name in ("a", "b", "c")]
    others = dict(zip(names, (one, other, one), strict=True))
    assert list(alike_among({names[0]: one}, others, THRESHOLD)) == [("a", "a", 1.0), ("a", "c", 1.0)]
    assert list(alike_among({}, others, THRESHOLD)) == list(alike_among(others, {}, THRESHOLD)) == []
