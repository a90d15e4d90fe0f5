"""What one query may see of the index."""

import numpy as np

from memforest_ray.ids import CellId, FactId, SessionId
from memforest_ray.index.index import Index, IndexView
from memforest_ray.index.rows import CellRow, FactRow, Passage
from memforest_ray.index.table import UNKNOWN


def _view() -> IndexView:
    """Two sessions: three turns about tea and one about a cat; the second begins later."""
    early = CellRow(
        CellId("c1"),
        None,
        SessionId("s1"),
        (Passage(0, "Ann", "Do you drink tea?", 10), Passage(1, "Bob", "Only green", 20)),
    )
    later = CellRow(CellId("c2"), None, SessionId("s1"), (Passage(2, "Ann", "Lovely", 30),))
    other = CellRow(CellId("c3"), None, SessionId("s2"), (Passage(0, "Bob", "My cat sleeps", 40),))
    unknown = CellRow(CellId("c4"), None, SessionId("s3"), (Passage(0, "Bob", "Some day", None),))
    one = FactRow(FactId("f1"), None, "Bob drinks green tea", "Bob", ((SessionId("s1"), 1),), 20, None)
    two = FactRow(FactId("f2"), None, "Bob has a cat", "Bob", ((SessionId("s2"), 0), (SessionId("s1"), 0)), 40, (5, 9))
    return Index(4).apply([early, later, other, unknown, one, two])


def test_turns_stand_by_session() -> None:
    """Places in order, sessions apart, each with its words and its time."""
    dialogue = _view().corpus.dialogue
    assert len(dialogue.places) == 5
    assert dialogue.session_of.tolist() == [0, 0, 0, 1, 2]
    assert dialogue.sources.tolist() == [10, 20, 30, 40, UNKNOWN]
    assert _view().corpus.speakers.tolist() == [0, 1]
    assert dialogue.lengths.tolist() == [3, 2, 2, 3, 2]


def test_a_turn_is_found_through_its_neighbours() -> None:
    """The reply holds the word of the question before it, nearer ones more; the next session does not."""
    dialogue = _view().corpus.dialogue
    found = dialogue.windows(dialogue.found(["tea"]))
    assert (found > 0).tolist() == [True, True, True, False, False]
    assert found[0] > found[1] > found[2]


def test_a_region_is_a_mean_within_the_session() -> None:
    """Four turns on each side, fewer at the ends of a session."""
    rows = [
        CellRow(CellId(f"c{turn}"), None, SessionId("s1"), (Passage(turn, "Bob", "word", 1),)) for turn in range(12)
    ]
    other = CellRow(CellId("cx"), None, SessionId("s2"), (Passage(0, "Bob", "word", 1),))
    dialogue = Index(4).apply([*rows, other]).corpus.dialogue
    values = np.array([*range(12), 100], np.float32)
    assert dialogue.region_mean(values).tolist() == [2, 2.5, 3, 3.5, 4, 5, 6, 7, 7.5, 8, 8.5, 9, 100]


def test_a_session_speaks_for_all_its_turns() -> None:
    """The word anywhere in a session."""
    dialogue = _view().corpus.dialogue
    found = dialogue.sessions(dialogue.found(["tea"]))
    assert (found > 0).tolist() == [True, True, True, False, False]


def test_facts_and_turns_find_each_other() -> None:
    """A fact takes the best of its turns, a turn the best of its facts."""
    statements = _view().corpus.statements
    assert statements.from_places(np.array([1, 2, 3, 4, 5], np.float32)).tolist() == [2, 4]
    otherwise = np.full(5, -1, np.float32)
    assert statements.to_places(np.array([7, 8], np.float32), otherwise).tolist() == [8, 7, -1, 8, -1]


def test_cells_that_say_much_are_told_by_their_places() -> None:
    """All the turns of a cell, when its statements together are so many."""
    corpus = _view().corpus
    assert corpus.places_with(2).tolist() == [True, True, False, False, False]
    assert corpus.places_with(1).tolist() == [True, True, False, True, False]


def test_cells_and_turns_find_each_other() -> None:
    """A turn takes the value of its cell, a cell the best of its turns."""
    dialogue = _view().corpus.dialogue
    assert dialogue.best_of_cells(np.array([1, 2, 3, 4], np.float32)).tolist() == [1, 1, 2, 3, 4]
    assert dialogue.to_cells(np.array([5, 6, 7, 8, 9], np.float32)).tolist() == [6, 7, 8, 9]
    assert dialogue.cells_at(1).tolist() == [0]
    assert dialogue.number_of(int(dialogue.places[3])) == 3
    assert dialogue.number_of(10**12) == -1


def test_as_of_an_instant_only_what_was_said_is_there() -> None:
    """Later facts and cells, and those of unknown time, do not exist; nor do their words count."""
    corpus = _view().corpus_as_of(30)
    assert corpus.statements.facts.tolist() == [0]
    assert len(corpus.dialogue.places) == 3
    assert corpus.dialogue.occurrences(["cat"]).sum() == 0
    nothing = _view().corpus_as_of(9)
    assert len(nothing.dialogue.places) == len(nothing.statements.facts) == 0
    assert nothing.dialogue.sessions(nothing.dialogue.found(["tea"])).tolist() == []


def test_a_cell_is_there_once_all_of_it_was_said() -> None:
    """Its vector and text tell of every turn in it."""
    assert len(_view().corpus_as_of(15).dialogue.cells) == 0
    assert len(_view().corpus_as_of(20).dialogue.cells) == 1


def test_coverage_counts_rare_words_more_and_length_not() -> None:
    """All words make 1."""
    statements = _view().corpus.statements
    full = statements.coverage(["bob", "tea"])
    assert full[0] == 1
    assert 0 < full[1] < 0.5


def test_a_forest_without_anything_has_an_empty_corpus() -> None:
    """No rows, no error."""
    corpus = Index(4).view().corpus
    assert len(corpus.dialogue.places) == 0
    assert corpus.statements.matches(["tea"]).tolist() == []
    assert corpus.statements.from_places(np.zeros(0, np.float32)).tolist() == []
