"""Evidence as a line, and what it costs."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.facts.remembered import without_remembered
from memforest_ray.query.answering.answer import answer
from memforest_ray.query.render import line, tokens
from memforest_ray.testing.memory import Memory, days


def test_a_line_has_speaker_text_and_both_times(memory: Memory) -> None:
    """The speaker's name once."""
    memory.told("s1", "2023-05-08", "Bob keeps bees", event=days("2021-04-01"))
    memory.told("s2", None, "The hive is blue")
    bees, hive = memory.ask("bees", kind="fact")[0], memory.ask("hive", kind="fact")[0]
    assert line(bees) == "Bob keeps bees (time: 1 April 2021; said 8 May 2023)"
    assert line(hive) == "Bob: The hive is blue (said at an unknown time)"
    assert (
        line(replace(hive, kind="cell", text="Bob: The hive is blue"))
        == "Bob: The hive is blue (said at an unknown time)"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 0), ("bees", 1), ("bees!", 2), ("我住在杭州", 5), ("मधुमक्खी", 8), ("ab蜜", 2), ("🐝🐝", 6)],
)
def test_tokens_are_never_too_few(text: str, expected: int) -> None:
    """Four Latin letters are one; a letter of another script is one by itself, an emoji three."""
    assert tokens(text) == expected


@given(st.text(max_size=80), st.text(max_size=80))
def test_more_text_is_not_less_tokens(one: str, other: str) -> None:
    """A budget that holds two lines holds each."""
    assert max(tokens(one), tokens(other)) <= tokens(one + other) <= tokens(one) + tokens(other)


def test_what_is_rendered_is_known_as_remembered() -> None:
    """Fed back in a turn it is no new statement: neither evidence nor an answer, of facts and of dialogue."""
    memory = Memory()
    memory.told("s1", "2023-05-08", "Bob keeps bees", event=days("2021-04-01", 30))
    memory.told("s2", None, "Bob sold the hive")
    for question in ("bees", "hive"):
        found = memory.ask(question)
        assert without_remembered("\n".join(map(line, found)).replace("\nBob: ", " ")) == ""
        assert without_remembered(answer(found, question).text) == ""
