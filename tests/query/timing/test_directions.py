"""Which way along time a question looks, and what it measures from."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memforest_ray.query.timing.directions import _IN_ASCII, MEASURED, Direction, look, plain_words


@pytest.mark.parametrize(
    ("text", "direction", "anchors"),
    [
        ("How long was it between the flood and the fair?", Direction.SPAN, ("the flood", "the fair")),
        ("How many weeks from the flood to the fair?", Direction.SPAN, ("the flood", "the fair")),
        ("How long after the flood was the fair?", Direction.SPAN, ("the flood", "the fair")),
        ("How long did the flood last?", None, ()),
        ("How long ago did Bob quit?", Direction.AGO, ("Bob quit",)),
        ("How many weeks ago was the fair?", Direction.AGO, ("the fair",)),
        ("How long has it been since Bob quit?", Direction.AGO, ("Bob quit",)),
        ("How long is it since the fair?", Direction.AGO, ("the fair",)),
        ("How many times did Bob swim?", Direction.COUNT, ()),
        ("How often did Bob swim?", Direction.COUNT, ()),
        ("How often does Bob swim?", Direction.CURRENT, ()),
        ("When did Bob last swim?", Direction.LAST, ()),
        ("When was the last time that Bob swam?", Direction.LAST, ()),
        ("What did Bob do last week?", None, ()),
        ("Where did Bob work when he moved to Rome?", Direction.AT, ("he moved to Rome",)),
        ("When he moved to Rome, where did Bob work?", Direction.AT, ("he moved to Rome",)),
        ("Where did Bob live as of 2021?", Direction.AT, ("2021",)),
        ("What did Ann eat during the fair?", Direction.AT, ("the fair",)),
        ("When did Bob move?", None, ()),
        ("Where has Bob lived since 2020?", Direction.AFTER, ("2020",)),
        ("Is Bob a vegetarian?", Direction.CURRENT, ()),
        ("What did Bob do in May?", None, ()),
        ("Where is Bob going to move?", None, ()),
        ("Where will Bob live?", None, ()),
        ("What was Bob's first job?", Direction.FIRST, ()),
    ],
)
def test_looks(text: str, direction: Direction | None, anchors: tuple[str, ...]) -> None:
    """Direction and anchors."""
    looked = look(text)
    assert (looked.direction, looked.anchors) == (direction, anchors)


def test_the_topic_is_what_is_left() -> None:
    """Without the words about time."""
    assert look("What did Bob buy before he sold the kiln?").topic.split() == ["What", "did", "Bob", "buy", "?"]
    assert look("Where does Bob live?").topic == "Where does Bob live?"


@given(st.text(max_size=200))
def test_any_text_is_looked_at(text: str) -> None:
    """What is measured has something that it is measured from."""
    looked = look(text)
    assert bool(looked.anchors) == (looked.direction in MEASURED)


@pytest.mark.parametrize("place", range(len(_IN_ASCII)))
@settings(max_examples=20)
@given(st.data())
def test_a_direction_is_looked_for_where_one_of_its_words_stands(place: int, data: st.DataObject) -> None:
    """Whatever a pattern matches holds one of them."""
    direction, pattern, signs = _IN_ASCII[place]
    text = data.draw(st.from_regex(pattern, alphabet=st.characters(codec="ascii")))
    assert signs & plain_words(text), direction
