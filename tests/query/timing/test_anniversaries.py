"""Birthdays and anniversaries: found by their day, and by "when", though they have no event time."""

import pytest

from memforest_ray.facts.candidates import Kind
from memforest_ray.testing.memory import Memory


def _days(memory: Memory) -> Memory:
    memory.told("s1", "2023-05-01", "My birthday is November 12th", kind=Kind.STATE)
    memory.told("s2", "2023-05-02", "Our anniversary is on 3 November", kind=Kind.STATE)
    memory.told("s3", "2023-05-03", "Ann may buy a kayak for my birthday", kind=Kind.STATE)
    return memory


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is on 12 November?", {"My birthday is November 12th"}),
        ("What is in November?", {"My birthday is November 12th", "Our anniversary is on 3 November"}),
        ("What is on 13 November?", set()),
        ("What is on 4 May?", set()),
    ],
)
def test_a_day_of_every_year_is_found_by_its_name(memory: Memory, question: str, expected: set[str]) -> None:
    """It has no event time, so that no year is made up; asked for by day or month it is there all the same."""
    assert {hit.text for hit in _days(memory).ask(question, kind="fact", k=50)} == expected


def test_when_a_birthday_is_tells_what_names_its_day(memory: Memory) -> None:
    """It counts as dated; what only mentions the birthday does not, nor the anniversary that is not asked for."""
    hits = _days(memory).ask("When is the birthday?", kind="fact", k=50, explain=True)
    dated = {hit.text for hit in hits if hit.why is not None and dict(hit.why.parts).get("dated", 0) > 0}
    assert dated == {"My birthday is November 12th"}


def test_a_word_that_stands_everywhere_hides_no_birthday(memory: Memory) -> None:
    """Of thousands that hold "may" those are read that are likest, birthdays first."""
    memory.told("b", "2023-05-01", "My birthday is May 12th", kind=Kind.STATE)
    lines = [f"Ann may like kayak {number}" for number in range(400)]
    memory.say("s", "2023-06-01", *(("Bob", line) for line in lines))
    for turn, line in enumerate(lines):
        memory.state("s", turn, line)
    assert [hit.text for hit in memory.ask("What is in May?", kind="fact")] == ["My birthday is May 12th"]
