"""Birthdays and anniversaries: days of every year, unless it is said that they are of one."""

from datetime import UTC, datetime

import pytest

from memforest_ray.facts.expressions import find_any_year, find_times

_SAID = int(datetime(2025, 6, 11, 10, tzinfo=UTC).timestamp()) * 1000
"""Wednesday, 11 June 2025."""


@pytest.mark.parametrize(
    "text",
    [
        "My birthday is 12 November.",
        "My birthday is on 12 November.",
        "My birthday's on 12 November.",
        "My birthday is in November.",
        "Her birthday is on 19 January.",
        "Ana's birthday is May 8th.",
        "12 November is my birthday.",
        "5 May is our wedding anniversary.",
        "The wedding anniversary is on 5 May.",
        "Our anniversary is on 5 May.",
        "Our anniversary falls on 5 May.",
        "I was born on 12 November.",
        "I was born on 6 June.",
        "Born on 6 June, I am a Gemini.",
        "She was born on May 8.",
        "My son was born in Oslo on 12 November.",
        "Birthday: 12 November.",
        "My birthday, 12 November.",
        "Mum's birthday is the 3rd of March.",
        "His name day is on 6 December.",
        "Date of birth: 12 November.",
        "My wife's birthday is always on 4 July.",
        "The anniversary of their wedding is on 5 May.",
        "I have my birthday in May.",
        "My twins' birthday is 3 May.",
        "Born on 12 November, I am a Scorpio.",
    ],
)
def test_a_yearly_day_has_no_year_that_was_not_said(text: str) -> None:
    """It is no event time, neither of last year nor of the next; asked for, the day is still found."""
    assert find_times(text, _SAID, None) == []
    assert len(find_any_year(text)) == 1


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Her birthday party is on 12 November.", "2025-11-12"),
        ("My birthday dinner is on 3 July.", "2025-07-03"),
        ("Ana's 40th birthday is on 12 November.", "2025-11-12"),
        ("Our first anniversary is on 5 August.", "2025-08-05"),
        ("My birthday is coming up on 12 November.", "2025-11-12"),
        ("We're celebrating my birthday on 12 November.", "2025-11-12"),
        ("Grandpa's birthday is on the 22nd.", "2025-06-22"),
        ("My birthday is next month.", "2025-07-01"),
        ("My birthday is on Friday.", "2025-06-13"),
        ("I was born on 12 November 1990.", "1990-11-12"),
        ("Her birthday was on 12 November.", "2024-11-12"),
        ("We met on my birthday in May.", "2025-05-01"),
        ("I got a bike for my birthday in May.", "2025-05-01"),
        ("The puppies were born on 3 May.", "2025-05-03"),
        ("Our baby was born in May.", "2025-05-01"),
        ("My niece was born on 6 June.", "2025-06-06"),
        ("Tim was born in Oslo on June 2nd.", "2025-06-02"),
        ("He was born in Oslo. On 5 May he left.", "2025-05-05"),
    ],
)
def test_what_is_held_on_it_is_of_one_year(text: str, first: str) -> None:
    """So is a birthday with a number, one that was, and the birth of the newly born."""
    assert [f"{found.event.start:%Y-%m-%d}" for found in find_times(text, _SAID, None)] == [first]
