"""What people see of stored times."""

from datetime import UTC, datetime

import pytest

from memforest_ray.cli.screen import interval


@pytest.mark.parametrize(
    ("start", "end", "precision", "shown"),
    [
        ("2021-10-09", "2021-10-10", "day", "2021-10-09"),
        ("2022-02-01", "2022-03-01", "month", "2022-02"),
        ("2022-01-01", "2023-01-01", "year", "2022"),
        ("2022-03-05", "2022-03-12", "week", "2022-03-05 to 2022-03-11"),
        ("2022-03-05T14:30", "2022-03-05T14:31", "instant", "2022-03-05 14:30"),
        ("1922-03-05", "2022-03-05", "range", "before 2022-03-05"),
    ],
)
def test_an_interval_is_as_fine_as_it_is_known(start: str, end: str, precision: str, shown: str) -> None:
    """Its last day, not the one after; where only its end is known, that one."""
    first, last = (datetime.fromisoformat(text).replace(tzinfo=UTC) for text in (start, end))
    assert interval(first, last, precision) == shown
