"""Holidays that move."""

from datetime import date

import pytest
from dateutil.easter import easter
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.facts.phrases.holidays import HOLIDAYS, holiday


@given(st.integers(1583, 4099))
def test_easter_is_as_the_church_reckons_it(year: int) -> None:
    """As another implementation has it, in all years for which that one is made."""
    assert holiday("easter", year) == easter(year)


@pytest.mark.parametrize(
    ("name", "year", "expected"),
    [
        ("good friday", 2024, date(2024, 3, 29)),
        ("easter monday", 2024, date(2024, 4, 1)),
        ("thanksgiving", 2023, date(2023, 11, 23)),
        ("black friday", 2024, date(2024, 11, 29)),
        ("memorial day", 2023, date(2023, 5, 29)),
        ("labor day", 2024, date(2024, 9, 2)),
        ("new year's eve", 2024, date(2024, 12, 31)),
    ],
)
def test_days_by_rule(name: str, year: int, expected: date) -> None:
    """The fourth Thursday, the last Monday, the day after."""
    assert holiday(name, year) == expected


def test_each_name_has_a_day_in_each_year() -> None:
    """None of them is only in some years."""
    assert all(holiday(name, year).year == year for name in HOLIDAYS for year in (1900, 2000, 2023, 2024))
