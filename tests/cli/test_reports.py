"""Reports of verbs that write: what a person is told."""

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from memforest_ray.cli.reports import draw_report


def drawn(report: dict[str, Any], indent: str = "") -> list[str]:
    """Its lines on a screen that is too narrow for some of them."""
    draw_report(Console(file=(file := StringIO()), width=40), report, indent=indent)
    return file.getvalue().splitlines()


def test_fields_are_told_that_say_something() -> None:
    """Not what is empty, or only for programs; a list with its length, and the first of it."""
    report = {
        "version": 1234,
        "op_id": "o",
        "turns": 0,
        "still_in": [],
        "seconds": {"embed": 1.0},
        "facts_joined": 2,
        "entities": [f"e{number}" for number in range(12)],
        "refreshed": True,
        "source": "bad\x1b[31m",
    }
    assert drawn(report, indent="  ") == [
        "  version: 1,234",
        "  facts joined: 2",
        "  entities (12): e0, e1, e2, e3, e4, e5, e6, e7, e8, e9 and 2 more (--json lists them all)",
        "  source: bad [31m",
    ]


@pytest.mark.parametrize(
    ("report", "lines"),
    [
        ({"version": 3, "refreshed": False, "notes": ["later"]}, ["version: 3", "refreshed: no", "notes (1): later"]),
        ({"version": 3, "duplicate": True}, ["nothing changed"]),
        ({"version": 3, "duplicate": False}, ["version: 3"]),
    ],
)
def test_what_is_not_as_expected_is_told(report: dict[str, Any], lines: list[str]) -> None:
    """Summaries that did not come; that nothing was done."""
    assert drawn(report) == lines
