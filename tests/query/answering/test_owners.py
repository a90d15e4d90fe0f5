"""Whose a thing is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.query.answering.owners import is_anothers, owned_in


def _owners(text: str) -> list[tuple[str, set[str]]]:
    return [(each.owner, set(each.things)) for each in owned_in(text)]


def test_what_a_text_says_that_somebody_has() -> None:
    """By a name, or a word that stands for one."""
    assert _owners("My exam is late, and Nell’s wedding too.") == [("my", {"exam"}), ("nell", {"wed"})]
    assert _owners("What's new? It's his old car.") == [("his", {"old", "car"})]
    assert _owners("José's birthday") == [("jose", {"birthday"})]
    assert _owners("Tonight's dinner") == []


@pytest.mark.parametrize(
    ("question", "statement", "speaks", "another"),
    [
        ("When was Gwen's wedding?", "Nell's wedding was yesterday.", True, True),
        ("When was Nell's wedding?", "Nell's wedding was yesterday.", False, False),
        ("When was Gwen's wedding?", "My wedding was yesterday.", True, False),
        ("When was Gwen's wedding?", "My wedding was yesterday.", False, True),
        ("When was Gwen's wedding?", "Her wedding was yesterday.", True, True),
        ("When was Gwen's wedding?", "Her wedding was yesterday.", False, False),
        ("When was Gwen's wedding?", "Your wedding was lovely.", False, False),
        ("When was Gwen's wedding?", "Our wedding was lovely.", False, False),
        ("When was Gwen's wedding?", "The wedding was lovely.", False, False),
        ("When was Gwen's wedding?", "Nell's wedding was after mine, my wedding that is.", True, False),
        ("When was Gwen's wedding?", "Nell's exam was yesterday.", True, False),
        ("When is Mom's birthday?", "My mother's birthday is on 4 March.", True, False),
        ("When is Mom's birthday?", "My sister's birthday is on 4 March.", True, True),
        ("Where is neighbor's cat?", "My neighbour's cat is in the garden.", True, False),
        ("What is wife's car like?", "Mia's car is red.", True, False),
        ("What is wife's car like?", "My car is red.", False, True),
    ],
)
def test_the_same_thing_of_somebody_else(question: str, statement: str, speaks: bool, another: bool) -> None:
    """Only where nothing says that it may be the owner's."""
    (asked,) = owned_in(question)
    assert is_anothers(asked, [(statement, speaks)]) is another


@given(st.text(max_size=80))
def test_any_text_is_read(text: str) -> None:
    """Whatever is owned has a name."""
    assert all(each.things and each.owner for each in owned_in(text))
