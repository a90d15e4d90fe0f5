"""The lexical index."""

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.index.lexical import LENGTH_SHARE, SATURATION, Lexicon, Postings, bm25, damping
from memforest_ray.index.table import renumbering

TEXTS = [
    "bob moved to davis in spring",
    "ann moved to miami with her dog and her other dog",
    "the dog likes davis",
    "bob bob bob",
    "nothing of interest here at all",
    "spring in miami",
]


def _scores(texts: list[str], query: list[str]) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    lexicon = Lexicon()
    lexicon.add({row: text.split() for row, text in enumerate(texts)})
    found = lexicon.view().occurrences(query, np.arange(len(texts)), len(texts))
    return bm25(found, damping(np.array([len(text.split()) for text in texts], np.float32)))


@pytest.mark.parametrize("query", [["dog"], ["bob", "davis"], ["spring", "miami", "dog"], ["bob", "unicorn"]])
def test_scores_are_those_of_bm25s_up_to_scale(query: list[str]) -> None:
    """bm25s, Lucene's variant, is the oracle."""
    oracle = bm25s.BM25(k1=SATURATION, b=LENGTH_SHARE, method="lucene")
    oracle.index([text.split() for text in TEXTS], show_progress=False)
    known = [word for word in query if any(word in text.split() for text in TEXTS)]
    expected = oracle.get_scores(known)
    actual = _scores(TEXTS, query)
    scale = expected.max() / actual.max()
    # bm25s leaves out the constant factor k1 + 1, and we divide by the most that the query could score.
    assert np.allclose(expected, actual * scale, atol=1e-5)


def test_a_score_is_a_share() -> None:
    """Between 0 and 1; words that stand nowhere lower it."""
    known, half = _scores(TEXTS, ["davis"]), _scores(TEXTS, ["davis", "unicorn"])
    assert 0 < half.max() < known.max() < 1


def test_an_empty_memory_has_no_scores() -> None:
    """No text and no word is no error."""
    assert _scores([], ["dog"]).tolist() == []
    assert _scores(TEXTS, []).tolist() == [0.0] * len(TEXTS)


def test_rows_of_one_place_count_together() -> None:
    """A turn that was split is one text."""
    lexicon = Lexicon()
    lexicon.add({0: ["dog"], 1: ["dog", "cat"], 2: ["cat"]})
    found = lexicon.view().occurrences(["dog", "cat"], np.array([0, 0, -1]), 1)
    assert found.tolist() == [[2.0], [1.0]]


@given(st.lists(st.lists(st.lists(st.sampled_from("abc")), max_size=4), max_size=4))
def test_every_word_of_every_row_is_found(batches: list[list[list[str]]]) -> None:
    """Whatever is written at once or after another, with as many occurrences as the row has."""
    lexicon, rows = Lexicon(), list[list[str]]()
    for batch in batches:
        lexicon.add(dict(enumerate(batch, len(rows))))
        rows += batch
    words = lexicon.view().words
    assert set(words) == {word for row in rows for word in row}
    for word, postings in words.items():
        expected = [(number, row.count(word)) for number, row in enumerate(rows) if word in row]
        assert list(zip(postings.rows.tolist(), postings.occurrences.tolist(), strict=True)) == expected


def test_more_than_255_occurrences_are_255() -> None:
    """A count is bounded; the row beside it is not touched."""
    lexicon = Lexicon()
    lexicon.add({7: ["no"] * 1000})
    found = lexicon.view().occurrences(["no"], np.arange(8), 8)
    assert found[0].tolist() == [0.0] * 7 + [255.0]


def test_a_view_does_not_see_later_words() -> None:
    """Appending writes behind what older views read."""
    lexicon = Lexicon()
    lexicon.add({0: ["dog"]})
    before = lexicon.view()
    for row in range(1, 50):
        lexicon.add({row: ["dog", "cat"]})
    assert before.words["dog"].rows.tolist() == [0]
    assert "cat" not in before.words
    assert lexicon.view().words["dog"].rows.tolist() == list(range(50))


def test_postings_share_their_array_while_it_has_room() -> None:
    """An append to a long list copies nothing."""
    first = Postings(np.zeros(0, np.int64), 0).appended(np.array([256, 512]))
    second = first.appended(np.array([768]))
    third = second.appended(np.array([1024]))
    assert third.entries is second.entries
    assert first.rows.tolist() == [1, 2]
    assert second.rows.tolist() == [1, 2, 3]
    assert third.rows.tolist() == [1, 2, 3, 4]


@given(
    st.lists(st.lists(st.sampled_from("abcde"), min_size=1, max_size=6), min_size=1, max_size=12),
    st.sets(st.integers(0, 11)),
)
def test_scores_are_a_function_of_the_living_texts(texts: list[list[str]], dead: set[int]) -> None:
    """Deleted rows and the order of arrival leave no trace; nor does compaction."""
    lexicon = Lexicon()
    lexicon.add(dict(enumerate(texts)))
    kept = np.array([row not in dead for row in range(len(texts))])
    numbers = renumbering(kept)
    living = [text for row, text in enumerate(texts) if row not in dead]
    lengths = np.array([len(text) for text in living], np.float32)
    fresh = Lexicon()
    for row in reversed(range(len(living))):
        fresh.add({row: living[row]})
    expected = bm25(fresh.view().occurrences(["a", "b"], np.arange(len(living)), len(living)), damping(lengths))
    masked = bm25(lexicon.view().occurrences(["a", "b"], numbers, len(living)), damping(lengths))
    compact = lexicon.compacted(numbers).view()
    assert np.array_equal(expected, masked)
    assert np.array_equal(
        expected, bm25(compact.occurrences(["a", "b"], np.arange(len(living)), len(living)), damping(lengths))
    )
