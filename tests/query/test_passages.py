"""The part of a long text that holds most of what is asked for."""

from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.query.passages import PASSAGE_CHARS, passage

FILLER = "The garden was quiet. Nobody had watered the beans. "


def test_the_sentences_with_the_words_are_found() -> None:
    """Wherever they stand, without what holds nothing of it."""
    text = FILLER * 50 + "The spare key is under the flowerpot. It is rusty. " + FILLER * 50
    part, value = passage(text, {"spare": 1.0, "key": 2.0, "rusti": 0.5})
    assert part == "The spare key is under the flowerpot. It is rusty."
    assert value == 3.5


def test_a_lone_sentence_brings_the_one_that_leads_in() -> None:
    """What it speaks of may be named there."""
    part, _ = passage("We have a shed. The key is in it. " + FILLER, {"key": 1.0})
    assert part == "We have a shed. The key is in it."


def test_the_earlier_of_equals_is_taken() -> None:
    """Ties are no matter of chance."""
    part, _ = passage("A key here. " + FILLER * 30 + "A key there.", {"key": 1.0})
    assert part == "A key here."


def test_a_text_without_sentences_is_cut() -> None:
    """Nothing to choose from."""
    assert passage("", {"key": 1.0}) == ("", 0.0)


@given(st.text(max_size=600), st.integers(20, 200))
def test_any_text_has_a_passage(text: str, chars: int) -> None:
    """A part of it, as long as allowed but for sentences that are longer."""
    part, value = passage(text, {"key": 1.0}, chars)
    assert part in text.replace("’", "'") or part in text
    assert value in (0.0, 1.0)
    assert PASSAGE_CHARS > 0
