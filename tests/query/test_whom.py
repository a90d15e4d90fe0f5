"""Whom a question is about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.query.whom import names_written, relatives_named, whom, words_of


@pytest.mark.parametrize(
    ("text", "people", "others"),
    [
        ("When did Bob quit?", ("Bob",), ()),
        ("When did Bob and Ana quit?", ("Bob", "Ana"), ()),
        ("Where does Ana Lima work?", ("Ana Lima",), ()),
        ("Who is Carol?", ("Carol",), ()),
        ("Didn't Carol quit?", ("Carol",), ()),
        ("Bob's cat", (), ("Bob",)),
        ("What is Carol Smith's cat called?", (), ("Carol Smith",)),
        ("What is James' cat called?", (), ("James",)),
        ("What’s Ana’s cat’s name?", (), ("Ana",)),
        ("what is ana's cat called?", (), ("ana",)),
        ("what is my doctor's name?", (), ()),
        ("what is the doctor's name?", (), ()),
        ("Did Bob meet Carol?", ("Bob",), ("Carol",)),
        ("What do you know about Carol?", (), ("Carol",)),
        ("WHERE DOES NORA WORK?", (), ()),
        ("What's new?", (), ()),
        ("What did Ann say to Bob?", ("Ann",), ("Bob",)),
        ("What did Ann give to Bob and Eva?", ("Ann",), ("Bob", "Eva")),
        ("What did Ann send to America?", ("Ann",), ()),
        ("what is 'dune' about", (), ()),
        ("is it 'home' or away", (), ()),
        ("'s", (), ()),
        ("what is tonight's dinner", (), ()),
        ("what is everyone's favourite", (), ()),
        ("What did I do on Valentine's Day?", (), ()),
        ("what did i do on new year's eve", (), ()),
        ("Where do I live?", (), ()),
        ("Is Monday free?", (), ()),
        ("What happened in May?", (), ()),
        ("Who quit?", (), ()),
        ("小明住在哪里？", (), ()),
    ],
)
def test_who_is_named(text: str, people: tuple[str, ...], others: tuple[str, ...]) -> None:
    """Those who do something; those whose something is, or without whom it did not happen."""
    found = whom(text)
    assert (found.people, found.others) == (people, others)


@pytest.mark.parametrize(
    ("text", "kin"),
    [
        ("Where does my dad live?", ("dad",)),
        ("Where does Bob's little sister live?", ("sister",)),
        ("What is my wife's name?", ("wife",)),
        ("Is dad well?", ()),
        ("Where do I live?", ()),
    ],
)
def test_which_relative(text: str, kin: tuple[str, ...]) -> None:
    """Behind whose they are."""
    assert whom(text).kin == kin


def test_a_relative_is_told_by_other_words_too() -> None:
    """Dad is father, and a parent; not mother."""
    told = whom("Where does my dad live?").told_by[0]
    assert {"dad", "father", "parent"} <= told
    assert "mother" not in told


@pytest.mark.parametrize(
    ("question", "statement", "another"),
    [
        ("Where does Ann live?", "Ann's boss Karl lives in Ulm.", True),
        ("Where do I live?", "user's sister Ines lives in Porto.", True),
        ("Where does Ann live?", "Ann: My little sister lives in Ulm.", True),
        ("Where does Karl live?", "Ann's boss Karl lives in Ulm.", False),
        ("Where does Ann's boss live?", "Ann's boss Karl lives in Ulm.", False),
        ("What did I buy?", "user: My wife Marta and I bought a car.", False),
        ("Where does Ann live?", "Ann's flat is in Ulm.", False),
        ("Where does Ann work?", "Ann: She works in Ulm.", True),
        ("Where do I work?", "user: She works in Ulm.", True),
        ("Where does Lea work?", "Ann: She works in Ulm.", False),
        ("Where does Ann live?", "Anna: She lives in Ulm.", False),
        ("Where does Ann live?", "Ann's boss moved to Annaberg.", True),
        ("Who lives in Ulm?", "Ann's boss Karl lives in Ulm.", False),
    ],
)
def test_what_is_of_somebody_else_than_who_says_it(question: str, statement: str, another: bool) -> None:
    """Ann's boss lives somewhere else than Ann."""
    assert whom(question).is_of_another(statement) is another


def test_places_are_named_behind_where_they_are() -> None:
    """Apart from what nobody calls so who was there, and from times."""
    assert whom("When did Ann fly from Rome to New York?").places == ("Rome", "New York")
    assert whom("What did Ann do in Europe in May?").places == ()
    assert whom("Did Ann fly to Rome in Spring?").places == ("Rome",)
    assert whom("What did Ann say to Bob in French in Q2?").places == ()


def test_names_are_written_with_capitals() -> None:
    """Apart from what every sentence has."""
    assert list(names_written("When I met Ana's dog Rex on Monday, it barked.")) == ["Ana", "Rex"]
    assert words_of("José Lima") == {"jose", "lima"}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Mia is my wife.", [("wife", "Mia")]),
        ("Mia, my dear wife, called.", [("wife", "Mia")]),
        ("My little sister Ines called.", [("sister", "Ines")]),
        ("Ann's brother is called Émile.", [("brother", "Émile")]),
        ("My dad's name is Karl.", [("dad", "Karl")]),
        ("My dad's car is a Volvo.", []),
        ("My dad is well. She is my boss.", []),
        ("Rex is my son's dog.", []),
    ],
)
def test_relatives_have_names(text: str, named: list[tuple[str, str]]) -> None:
    """Told before or behind what they are."""
    assert list(relatives_named(text)) == named


def test_many_names_are_read() -> None:
    """However many there are."""
    assert whom("Where do " + "Ann and " * 1_500 + "live now?").people == ("Ann",)
    assert whom("Ann's " * 600 + "cat").others


@given(st.text(max_size=80))
def test_any_text_is_read(text: str) -> None:
    """Every name that is found stands in it."""
    found = whom(text)
    plain = text.lower() if text.isupper() else text
    assert all(part in plain for name in (*found.people, *found.others) for part in name.split())
