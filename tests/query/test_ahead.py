"""Questions about what is to come: what was told ahead goes before what has happened."""

from typing import Any

import pytest

from memforest_ray.query.answering.answer import answer
from memforest_ray.query.result import EmptyReason
from memforest_ray.query.timing.temporal import looks_ahead
from memforest_ray.testing.memory import Memory, days


@pytest.fixture(scope="module")
def lena() -> Memory:
    """A life with a past and plans. Only read."""
    memory = Memory()
    for name, said, text, event in (
        ("s1", "2023-02-20", "Lena saw the dentist in town", days("2023-02-18")),
        ("s2", "2023-03-01", "Lena is to see the dentist again", days("2023-06-06")),
        ("s3", "2022-06-20", "Lena planted roses and tulips", days("2022-06-18")),
        ("s4", "2023-03-05", "Lena flies to Oslo", days("2023-06-20")),
        ("s5", "2023-05-01", "Lena sold a vase", days("2023-04-30")),
        ("s6", "2023-05-02", "Lena glazed a bowl", None),
    ):
        memory.told(name, said, text, speaker="Lena", event=event)
    for number in range(10):
        memory.told(f"t{number}", f"2023-01-{number + 1:02d}", f"Tomas counted geese {number}", speaker="Tomas")
    return memory


def _texts(memory: Memory, text: str, **options: Any) -> list[str]:
    return [hit.text for hit in memory.ask(text, **options)]


@pytest.mark.parametrize("options", [{}, {"asked": "2023-05-10"}, {"as_of": "2023-05-10"}])
def test_what_was_told_ahead_comes_before_what_happened(lena: Memory, options: dict[str, Any]) -> None:
    """The coming appointment, not the one that was; asked about the past it is the other way round."""
    assert _texts(lena, "When will Lena see the dentist?", **options)[0] == "Lena is to see the dentist again"
    assert _texts(lena, "When did Lena see the dentist?", **options)[0] == "Lena saw the dentist in town"


def test_what_is_planned_for_a_month_is_what_was_told_ahead(lena: Memory) -> None:
    """Not what happened in that month of another year, whether or not somebody said when it is asked."""
    planned = {"Lena is to see the dentist again", "Lena flies to Oslo"}
    for options in ({}, {"asked": "2023-05-10"}, {"as_of": "2023-05-10"}):
        assert set(_texts(lena, "What is planned for June?", **options)) == planned
    answered = answer(lena.ask("What is planned for June?", asked="2023-05-10"), "What is planned for June?")
    assert answered
    assert "roses" not in answered.text
    assert "Lena planted roses and tulips" in _texts(lena, "What happened in June?")


def test_the_coming_month_is_meant_when_it_is_known_when_it_was_asked(lena: Memory) -> None:
    """Asked in July 2023 "will ... in June" means June 2024, of which nothing is known."""
    result = lena.ask("What will happen in June?", asked="2023-07-10")
    assert result.reason is EmptyReason.NO_MATCH
    assert result.message == "nothing is remembered for 2024-06-01 to 2024-06-30"
    assert result.trace.reading == ("ahead", "2024-06-01 to 2024-06-30")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("When will Bob move?", True),
        ("What is planned for June?", True),
        ("What was planned for the party?", True),
        ("What is Bob going to cook?", True),
        ("When is Bob's next appointment?", True),
        ("What did Bob do next?", False),
        ("Who lives next to Bob?", False),
        ("When did Bob move?", False),
        ("Where does Bob live?", False),
        ("What does Will keep?", False),
        ("When will Will move?", True),
        ("Will it rain?", True),
        ("他打算去哪里?", True),
        ("他去了哪里?", False),
    ],
)
def test_signs_of_what_is_to_come(text: str, expected: bool) -> None:
    """Future forms and words for plans; "next" only where nothing says past."""
    assert looks_ahead(text) is expected


def test_before_a_happening_it_is_never_itself(lena: Memory) -> None:
    """With nothing earlier that is like what is asked for nothing is claimed, whether its time is known or not."""
    for text, what in (
        ("What did Lena plant before she planted roses?", "roses"),
        ("What happened before Lena planted roses?", "roses"),
        ("What did Lena glaze before she glazed a bowl?", "bowl"),
    ):
        result = lena.ask(text)
        assert [hit.timely for hit in result if what in hit.text] == [False]
        assert not answer(result, text)


def test_a_statement_that_tells_both_answers(memory: Memory) -> None:
    """What was before something may stand in the words that tell of it."""
    memory.told("s1", "2023-05-08", "Lena bought a spade before she planted roses", speaker="Lena")
    result = memory.ask("What did Lena buy before she planted roses?")
    assert result[0].timely
    assert answer(result, "What did Lena buy before she planted roses?")


def test_what_asks_for_nothing_but_a_time_is_answered_by_what_lies_in_it(lena: Memory) -> None:
    """However little its words have to do with that."""
    answered = answer(lena.ask("What happened on 18 February 2023?"), "What happened on 18 February 2023?")
    assert "Lena saw the dentist in town" in answered.text
