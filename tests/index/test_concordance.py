"""Where words stand, found out once."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.index.concordance import Concordance
from memforest_ray.index.lexical import Lexicon, bm25_of, damping

ROWS = st.lists(st.lists(st.sampled_from("abcd"), max_size=5), min_size=1, max_size=12)


def _concordance(rows: list[list[str]], places: list[int]) -> tuple[Lexicon, Concordance]:
    lexicon = Lexicon()
    lexicon.add(dict(enumerate(rows)))
    lengths = np.bincount([place + 1 for place in places], [len(row) for row in rows])[1:].astype(np.float32)
    return lexicon, Concordance(lexicon.view(), np.array(places), damping(lengths))


@given(ROWS, st.data())
def test_it_says_what_the_words_say(rows: list[list[str]], data: st.DataObject) -> None:
    """To the last bit, whether rows are of one text or of none; at first and when it knows a word."""
    places = data.draw(st.lists(st.integers(-1, len(rows) - 1), min_size=len(rows), max_size=len(rows)))
    words = data.draw(st.lists(st.sampled_from("abcde"), max_size=4, unique=True))
    lexicon, concordance = _concordance(rows, places)
    found = lexicon.view().found(words, np.array(places))
    lengths = np.bincount([place + 1 for place in places], [len(row) for row in rows])[1:].astype(np.float32)
    for _ in range(2):
        assert concordance.matches(words).tolist() == bm25_of(found, damping(lengths)).tolist()


@given(ROWS, st.data())
def test_of_some_texts_it_says_what_stands_there(rows: list[list[str]], data: st.DataObject) -> None:
    """By the numbers that they have among these."""
    words = data.draw(st.lists(st.sampled_from("abcde"), max_size=4, unique=True))
    kept = sorted(data.draw(st.sets(st.integers(0, len(rows) - 1))))
    _, concordance = _concordance(rows, list(range(len(rows))))
    numbers = np.full(len(rows), -1)
    numbers[kept] = np.arange(len(kept))
    found = concordance.among(words, numbers)
    expected = [
        (place, number, rows[row].count(word))
        for place, word in enumerate(words)
        for number, row in enumerate(kept)
        if word in rows[row]
    ]
    assert list(zip(found.words.tolist(), found.places.tolist(), found.counts.tolist(), strict=True)) == expected
    assert found.asked == len(words)


def test_a_word_is_looked_up_once() -> None:
    """And costs what its postings take, however often it is asked for."""
    _, concordance = _concordance([["a", "b"], ["a"]], [0, 1])
    assert concordance.nbytes == 0
    first = concordance("a")
    assert concordance("a") is first
    assert concordance.nbytes == first.nbytes == 2 * (8 + 4 + 4)
