"""Things: what a question asks something of, and whether it asks how it is now."""

import pytest

from memforest_ray.query.timing.things import Shape, asks_present, asks_whether_done, thing_of


@pytest.mark.parametrize(
    ("text", "nouns", "acts", "shape"),
    [
        ("How much is my rent?", {"rent"}, set(), Shape.AMOUNT),
        ("How much do I owe my sister?", {"sister"}, {"owe"}, Shape.AMOUNT),
        ("Where is the spare key?", {"spare", "key"}, set(), Shape.PLACE),
        ("Who owns payments?", {"payment"}, {"own"}, Shape.NAME),
        ("What is Ann's cafe called?", {"cafe"}, {"call"}, Shape.OPEN),
        ("What laptop do I have?", {"laptop"}, set(), Shape.OPEN),
        ("When is the wedding?", {"wed"}, set(), Shape.TIME),
        ("When is the concert?", {"concert"}, set(), Shape.TIME),
        ("Is Ann still learning Italian?", {"italian"}, {"learn"}, Shape.WHETHER),
        ("Do I eat fish?", {"fish"}, {"eat"}, Shape.WHETHER),
        ("What was the original budget?", {"budget"}, set(), Shape.OPEN),
    ],
)
def test_what_is_asked_of(text: str, nouns: set[str], acts: set[str], shape: Shape) -> None:
    """Nouns, what is done with them, and the form of an answer; names of speakers are no things."""
    thing = thing_of(text, text, ["Ann"])
    assert (set(thing.nouns), set(thing.acts), thing.shape) == (nouns, acts, shape)
    assert not thing.people


def test_people_who_do_not_speak() -> None:
    """Are those whom both statements must be of."""
    thing = thing_of("What does Emil like?", "What does Emil like?", ["Ann"])
    assert (set(thing.people), set(thing.acts), thing.words) == ({"emil"}, {"like"}, ("like", "emil"))


@pytest.mark.parametrize(
    "text",
    [
        "Where is the key?",
        "What's my rent?",
        "Who owns payments?",
        "Does Ann eat fish?",
        "Has Ann still got the kayak?",
        "Should you answer in bullet points?",
        "With whom does Ann live?",
        "How much is my rent now?",
    ],
)
def test_the_present(text: str) -> None:
    """In whatever form it is asked."""
    assert asks_present(text)


@pytest.mark.parametrize(
    "text",
    ["Where was the key?", "What did Ann buy?", "Who was captain?", "Has Ann ever been to Iceland?", "Ann's rent", ""],
)
def test_no_present(text: str) -> None:
    """What was, what happened, and what is no question."""
    assert not asks_present(text)


def test_whether_it_was_done() -> None:
    """Asked of something that somebody meant to do."""
    assert asks_whether_done("Did Ann go to Iceland?")
    assert asks_whether_done("Why didn't Ann go to Iceland?")
    assert not asks_whether_done("What did Ann buy?")
