"""Numbers that count units of time."""

import re

import pytest

from memforest_ray.facts.phrases.numbers import COUNT, amount, counted


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("7", (7, 7)),
        ("a", (1, 1)),
        ("nineteen", (19, 19)),
        ("Twenty-five", (25, 25)),
        ("ninety nine", (99, 99)),
        ("a hundred", (100, 100)),
        ("two hundred and twelve", (212, 212)),
        ("a couple of", (2, 3)),
        ("a few", (2, 6)),
        ("several", (3, 7)),
    ],
)
def test_amounts(words: str, expected: tuple[int, int]) -> None:
    """In figures and words, exact or vague; the pattern takes them whole."""
    assert amount(words) == expected
    found = re.compile(COUNT, re.IGNORECASE).match(words)
    assert found is not None
    assert found["count"] == words


@pytest.mark.parametrize(
    ("words", "unit", "expected"),
    [
        ("half a", "year", (6, 6, "month")),
        ("half an", "hour", (30, 30, "minute")),
        ("2.5", "year", (30, 30, "month")),
        ("one and a half", "month", (6, 6, "week")),
        ("a and a half", "week", (10, 10, "day")),
        ("a", "fortnight", (2, 2, "week")),
        ("a few", "fortnight", (4, 12, "week")),
        ("three", "day", (3, 3, "day")),
    ],
)
def test_counts_of_units(words: str, unit: str, expected: tuple[int, int, str]) -> None:
    """Halves are told in a finer unit, a fortnight in weeks."""
    assert counted(words, unit) == expected


def test_what_is_no_number() -> None:
    """Said so, not guessed."""
    with pytest.raises(ValueError, match="not a number: 'many'"):
        amount("many")
