"""Clauses: where a turn is cut, and which of its words say something."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.facts.clauses import Clause, clauses, content_words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I moved. She stayed!", ["I moved.", "She stayed!"]),
        ("Dr. Lee and Mr. Fox met at 3.30 p.m. in St. Ives", ["Dr. Lee and Mr. Fox met at 3.30 p.m.", "in St. Ives"]),
        ("I used to live in Rome, but I moved to Oslo", ["I used to live in Rome", "I moved to Oslo"]),
        ("I like tea and I sleep", ["I like tea and I sleep"]),
        ("By telling our stories, we can build a bridge", ["By telling our stories, we can build a bridge"]),
        ("The house we bought in Rome is old", ["The house we bought in Rome is old"]),
        ("We sold the old boat - my knees hurt too much", ["We sold the old boat", "my knees hurt too much"]),
        (
            "I had coffee with Ira on Monday and lunch with Olu on Tuesday.",
            ["I had coffee with Ira on Monday", "lunch with Olu on Tuesday."],
        ),
        (
            "I see my aunt this afternoon, and the interview is the day after tomorrow",
            ["I see my aunt this afternoon", "the interview is the day after tomorrow"],
        ),
        ("We swim on Monday and I see my aunt on Friday", ["We swim on Monday", "I see my aunt on Friday"]),
        ("The fair is on Monday and Tuesday", ["The fair is on Monday and Tuesday"]),
        ("I work between Monday and the last bell on Friday", ["I work between Monday and the last bell on Friday"]),
        ("first line\nsecond line", ["first line", "second line"]),
        ("我住在北京。你呢？", ["我住在北京。", "你呢？"]),
        ("我叫小明，我住在北京，很大", ["我叫小明", "我住在北京，很大"]),
        ("मैं यहाँ हूँ। तुम?", ["मैं यहाँ हूँ।", "तुम?"]),
        ('She said "Go!" Then left.', ['She said "Go!"', "Then left."]),
        ("", []),
        (" \n ", []),
    ],
)
def test_cuts(text: str, expected: list[str]) -> None:
    """Sentences are cut at their ends, and where each part has a subject of its own."""
    assert [clause.text for clause in clauses(text)] == expected


def test_questions_and_captions_are_marked() -> None:
    """A clause knows that it asks, and that it is a caption."""
    found = clauses("Look! [image: a kite on a roof] Is it yours?")
    assert found == [
        Clause("Look!", 0, 5),
        Clause("a kite on a roof", 6, 31, image=True),
        Clause("Is it yours?", 32, 44, question=True),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[tool call: search]", []),
        ("[image]", []),
        ("[media]", []),
        ("I live in Rome.\n[image]\n[file: plan.pdf]", ["I live in Rome."]),
        ("[laughs] I moved to Rome.", ["[laughs] I moved to Rome."]),
    ],
)
def test_notes_say_nothing(text: str, expected: list[str]) -> None:
    """What a reader notes of a file or a tool is nobody's statement."""
    assert [clause.text for clause in clauses(text)] == expected


def test_a_page_without_full_stops_is_cut_at_spaces() -> None:
    """No clause is longer than 600 characters, and nothing is lost."""
    text = "word " * 1_000
    found = clauses(text)
    assert max(len(clause.text) for clause in found) <= 600
    assert " ".join(clause.text for clause in found).split() == text.split()


PIECES = st.sampled_from(["I", ".", "!", "?", "and", "[image:", "]", "\n", "we", "a", ";", "-", "。", "，我"])


@given(st.text(st.characters(codec=None)) | st.lists(PIECES).map(" ".join))
def test_clauses_lie_in_the_text_in_order(text: str) -> None:
    """Any text is cut; offsets point at the clause and never overlap."""
    end = 0
    for clause in clauses(text):
        assert end <= clause.start < clause.end <= len(text)
        assert clause.image or text[clause.start : clause.end].replace("’", "'") == clause.text
        end = clause.end


def test_words_of_courtesy_say_nothing() -> None:
    """What is left without courtesies and names is what is said."""
    names = frozenset({"ana"})
    assert content_words("Thanks so much, Ana! That's awesome", names) == []
    assert content_words("Ana's new kayak is great", names) == ["new", "kayak"]


@pytest.mark.parametrize("part", ["a", "a. ", "! ", "[image: ", " and I ", "。", "\n", "Monday and ", "may the "])
def test_a_long_text_is_cut_in_linear_time(part: str) -> None:
    """400,000 characters of any one thing are cut at once."""
    assert sum(len(clause.text) for clause in clauses(part * (400_000 // len(part)))) <= 400_000
