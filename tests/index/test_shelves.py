"""Shelves and the numbers of names."""

import numpy as np

from memforest_ray.index.shelves import OWNER, Entry, Names, Shelf

UP = np.array([1, 0], np.float16)


def _entry(number: int, *parts: int) -> Entry:
    words = [[f"part{part}"] for part in parts]
    return Entry(f"c{number}", (number,), [(part,) for part in parts], words)


def _add(shelf: Shelf, *entries: Entry) -> range:
    return shelf.add(entries, np.stack([UP] * len(entries)))


def test_a_name_keeps_its_number() -> None:
    """Given once, found again; unknown names have none until they are given one."""
    names = Names()
    assert [names.number(name) for name in ("Bob", "Ann", "Bob")] == [0, 1, 0]
    assert (names.get("Ann"), names.get("Eve")) == (1, None)
    assert names.names == ["Bob", "Ann"]


def test_parts_know_their_row() -> None:
    """And their words are found by part."""
    shelf = Shelf(2, ("value",), ("part",), words_in_parts=True)
    assert _add(shelf, _entry(1, 10, 11), _entry(2, 20)) == range(2)
    view = shelf.view(1)
    assert view.parts[OWNER].tolist() == [0, 0, 1]
    assert view.parts["part"].tolist() == [10, 11, 20]
    assert view.words.words["part11"].rows.tolist() == [1]
    assert list(view.ids) == ["c1", "c2"]


def test_a_buried_row_takes_its_parts_along() -> None:
    """Nothing of it is live afterwards."""
    shelf = Shelf(2, ("value",), ("part",), words_in_parts=True)
    _add(shelf, _entry(1, 10, 11), _entry(2, 20))
    shelf.bury(0, 2)
    assert shelf.view(2).table.live().tolist() == [False, True]
    assert shelf.view(2).parts.live().tolist() == [False, False, True]


def test_a_shelf_is_written_anew_when_it_pays() -> None:
    """More than 30 % dead, and enough of them; the living keep order, parts and words."""
    shelf = Shelf(2, ("value",), ("part",), words_in_parts=True)
    _add(shelf, *[_entry(number, number * 10, number * 10 + 1) for number in range(210)])
    for row in range(63):
        shelf.bury(row, 2)
    before = shelf.sparse
    shelf.bury(63, 2)
    assert (before, shelf.sparse) == (False, True)
    compaction = shelf.compact()
    assert compaction.rows == {f"c{number}": number - 64 for number in range(64, 210)}
    assert compaction.numbers.tolist() == [-1] * 64 + list(range(146))
    view = shelf.view(3)
    assert view.parts[OWNER][:3].tolist() == [0, 0, 1]
    assert view.parts["part"][:2].tolist() == [640, 641]
    assert view.words.words["part2090"].rows.tolist() == [290]
    shelf.bury(145, 4)
    assert np.flatnonzero(~shelf.view(4).parts.live()).tolist() == [290, 291]


def test_a_replaced_row_leads_to_the_one_of_its_id() -> None:
    """What refers to it by number means what is there now."""
    shelf = Shelf(2, ("value",))
    _add(shelf, Entry("f1", (1,)), Entry("f2", (2,)))
    shelf.bury(0, 2)
    _add(shelf, Entry("f1", (3,)))
    compaction = shelf.compact()
    assert (compaction.numbers.tolist(), compaction.heirs.tolist()) == ([-1, 0, 1], [1, 0, 1])


def test_nothing_to_add_is_no_row() -> None:
    """Its rows begin where the next ones will."""
    shelf = Shelf(2, ("value",))
    _add(shelf, Entry("f1", (1,)))
    assert shelf.add([], np.zeros((0, 2), np.float16)) == range(1, 1)
    assert shelf.value("value", 0) == 1
