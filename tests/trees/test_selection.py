"""Selection of lines: what must be in, in what order, in how much room."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.trees.selection import select_lines, shorten

SMALL_TALK = [f"2023-03-{day:02d} Maya said that it was nice and that she was well." for day in range(1, 25)]


def test_what_fits_is_kept_whole() -> None:
    """Nothing is lost that need not be; blank lines and repetitions are no loss."""
    lines = ["Bob has a dog.", "", "Maya sings.", "Bob has a dog."]
    assert select_lines(lines, 100) == ["Maya sings.", "Bob has a dog."]


def test_names_numbers_and_changes_win_over_small_talk() -> None:
    """Among many lines that say nothing, those that say something are found, in their order."""
    telling = {
        3: "2019-05-02 Bob lived in Davis and worked for Acme.",
        9: "2021-06-11 Bob moved from Davis to Miami for a job at Globex.",
        15: "2022-01-30 Bob ran the Lake Marathon in 3:58.",
    }
    lines = [telling.get(place, line) for place, line in enumerate(SMALL_TALK)]
    chosen = select_lines(lines, 300)
    assert [line for line in chosen if line in telling.values()] == list(telling.values())
    assert chosen == sorted(chosen, key=lines.index)


def test_the_latest_state_is_always_in() -> None:
    """Even when it is the dullest line of all."""
    lines = [f"Bob flew from Oslo to Rome {number} times with Anna." for number in range(30)] + ["He rests."]
    assert select_lines(lines, 200)[-1] == "He rests."


def test_a_change_is_chosen_over_a_state() -> None:
    """Old -> new is what a summary must not lose."""
    lines = [
        "Bob works in a bakery near Davis.",
        "Bob quit his work in a bakery near Davis.",
        "Bob works in a bakery, Davis, near.",
        "Bob is fine today.",
    ]
    assert select_lines(lines, 70) == ["Bob quit his work in a bakery near Davis.", "Bob is fine today."]


def test_scripts_without_spaces_or_case() -> None:
    """Chinese and Hindi lines are weighed by their words, too."""
    dull = ["今天天气很好。"] * 5 + [f"嗯，好的，第{number}次。" for number in range(20)]
    assert "小明从北京搬到上海工作了。" in select_lines([*dull, "小明从北京搬到上海工作了。", "好的。"], 60)
    hindi = ["राम दिल्ली से मुंबई चला गया।", *["हाँ, ठीक है।" + " अच्छा" * number for number in range(12)]]
    assert hindi[0] in select_lines(hindi, 120)


@pytest.mark.parametrize(
    ("line", "chars_max", "expected"),
    [
        ("short", 10, "short"),
        ("Bob went to the market", 15, "Bob went to…"),
        ("abcdefghijklmnop", 6, "abcde…"),
        ("anything", 1, "…"),
    ],
)
def test_shorten(line: str, chars_max: int, expected: str) -> None:
    """At a word's end where there is one near."""
    assert shorten(line, chars_max) == expected


@given(
    lines=st.lists(st.text(max_size=300) | st.sampled_from(SMALL_TALK), max_size=30),
    chars_max=st.integers(1, 900),
)
def test_selection_keeps_its_promises(lines: list[str], chars_max: int) -> None:
    """Never too long, in order, each line once, the last always there, the same each time."""
    chosen = select_lines(lines, chars_max)
    assert len("\n".join(chosen)) <= chars_max
    assert len(set(chosen)) == len(chosen)
    assert select_lines(lines, chars_max) == chosen
    told = [line.strip() for line in lines if line.strip()]
    assert bool(chosen) == bool(told)
    if told:
        assert told[-1].startswith(chosen[-1].rstrip("…")[: len(told[-1])].rstrip())
