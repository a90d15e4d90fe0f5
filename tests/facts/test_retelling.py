"""Retelling: the third person where it is sure, else a quotation."""

import pytest

from memforest_ray.facts.retelling import opening, retell, statement_of


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("I moved to Davis last year!", "Ana moved to Davis last year."),
        ("I'm allergic to nuts.", "Ana is allergic to nuts."),
        ("I've painted my boat", "Ana has painted their boat"),
        ("I'll call him", "Ana will call him"),
        ("I really love old maps", "Ana really loves old maps"),
        ("I don't eat meat", "Ana doesn't eat meat"),
        ("I have two cats", "Ana has two cats"),
        ("I study law", "Ana studies law"),
        ("I was at sea with my brother", "Ana was at sea with their brother"),
        ("My dog ate my shoe", "Ana's dog ate their shoe"),
        ("You're a fine cook", "Ben is a fine cook"),
        ("You were late", "Ben was late"),
    ],
)
def test_sure_forms(clause: str, expected: str) -> None:
    """First and second person become names where grammar leaves no doubt."""
    assert retell(clause, "Ana", "Ben") == (expected, True)


@pytest.mark.parametrize(
    "clause",
    [
        "I wobble often",
        "I told you so",
        "I think we should go",
        "My sister and I left",
        "You like tea",
        "The ferry was late",
        "It rained",
        "Gonna paint the fence",
        "आज बारिश हुई",
    ],
)
def test_anything_else_is_quoted(clause: str) -> None:
    """Where a form is not sure the words stay as they are."""
    assert retell(clause, "Ana", "Ben") == (f"Ana: {clause}", False)


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("Will lives in Davis.", "Will lives in Davis."),
        ("Will's dog is old", "Will's dog is old"),
        ("Will is late!", "Will is late."),
        ("Will you come along", "Will: Will you come along"),
        ("Will be there at five", "Will: Will be there at five"),
        ("Willow trees are green", "Will: Willow trees are green"),
    ],
)
def test_who_speaks_of_themselves_by_name_is_not_quoted(clause: str, expected: str) -> None:
    """As where a memory has told it and it is fed back: it is the same statement. A name may be a verb, too."""
    assert retell(clause, "Will", None)[0] == expected


def test_you_is_nobody_in_a_group() -> None:
    """Without a certain other "you" is not resolved."""
    assert retell("You're a fine cook", "Ana", None) == ("Ana: You're a fine cook", False)


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("Hey Ben! By the way, I moved", "I moved"),
        ("Thanks, Ana, the tea was good", "the tea was good"),
        ("Yeah I moved", "I moved"),
        ("Well Benny, I moved", "I moved"),
        ("Did you know that I moved to Davis?", "I moved to Davis?"),
        ("Did you know him?", "Did you know him?"),
        ("So many birds", "So many birds"),
        ("Hey Benny!", ""),
        ("Ana!", ""),
    ],
)
def test_openings(clause: str, expected: str) -> None:
    """What only opens a clause is no part of the statement."""
    assert statement_of(clause, opening(("Ana", "Ben"))) == expected
