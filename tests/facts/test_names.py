"""Names: who and what a clause speaks of."""

import pytest

from memforest_ray.facts.names import ENTITIES_MAX, Speakers, inner_names, names_in

TWO = Speakers(("Melinda Ray", "Ben"))


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("We saw Lake Tahoe with Mia O'Neil", ("Lake Tahoe", "Mia O'Neil")),
        ("The University of Davis called", ("University of Davis",)),
        ("I write C++ and C# but not C", ("C++", "C#", "C")),
        ("On Monday in May I met Mr. Fox's dog", ("Mr. Fox",)),
        ("Wow, Thanks! Yesterday was fun", ()),
        ("Painting is fun", ()),
        ("Mel met ben at MIT", ("Melinda Ray", "MIT")),
        ("Ben's boat", ("Ben",)),
        ("They'll say I'm late", ()),
        ("I read “The Quiet Sea” twice", ("The Quiet Sea", "Quiet Sea")),
        ("我读了《三体》", ("三体",)),
        ("HERON-7 is the word", ("HERON-7",)),
        ("Анна живёт рядом с Иваном", ("Иваном",)),
        ("", ()),
    ],
)
def test_names(clause: str, expected: tuple[str, ...]) -> None:
    """Capitals inside a sentence, odd spellings, quotations and short forms of speakers are names."""
    assert sorted(names_in(clause, TWO)) == sorted(expected)


def test_a_name_seen_elsewhere_is_one_at_the_start() -> None:
    """A capital at the start of a clause counts when the cell has it inside a sentence."""
    known = inner_names("We saw Tahoe.\nTahoe was cold. Painting is fun")
    assert names_in("Tahoe was cold", TWO, (), known) == ("Tahoe",)
    assert names_in("Painting is fun", TWO, (), known) == ()


def test_words_that_return_are_names_where_there_is_no_case() -> None:
    """Hints from the session name entities in scripts without case."""
    assert names_in("老王今天来了", TWO, ("老王", "咖啡")) == ("老王",)
    assert names_in("今天小明来了", Speakers(("小明",))) == ("小明",)


def test_you_is_the_other_of_two() -> None:
    """In a conversation of two the other is certain, in a group or alone nobody is."""
    assert TWO.other("Ben") == "Melinda Ray"
    assert Speakers(("Ana", "Ben", "Cy")).other("Ana") is None
    assert Speakers(("Ana",)).other("Ana") is None


def test_a_short_form_of_two_is_nobodys() -> None:
    """ "Ma" or a shared part of names calls neither."""
    both = Speakers(("Maria Sol", "Marion Sol"))
    assert both.called("Mar") is None
    assert both.called("Sol") is None
    assert both.called("Maria") == "Maria Sol"


def test_a_list_of_names_is_bounded() -> None:
    """Thirty places belong to no place."""
    clause = "We saw " + " and ".join(f"Port{letter}ville" for letter in "abcdefghijklmnopqrst")
    assert len(names_in(clause, TWO)) == ENTITIES_MAX
