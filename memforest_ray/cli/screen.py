"""What people and scripts see: consoles, JSON, and stored text and times made fit to be shown."""

import json
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TextIO

from memforest_ray.facts.times import LIFETIME

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["clean", "console", "day", "interval", "json_text"]

PIPED_WIDTH = 65_536
"""Columns of what goes to a file or a pipe: there no line is folded, so that it can be searched."""

_CONTROLS = {code: " " for code in (*range(32), *range(127, 160)) if code != 10}
_DATE_CHARACTERS = {"day": 10, "month": 7, "year": 4}


def console(file: TextIO) -> "Console":
    """A rich console on `file`: colours and the terminal's width on a terminal, neither elsewhere."""
    from rich.console import Console

    width = None if file.isatty() else PIPED_WIDTH
    return Console(file=file, width=width, highlight=False, markup=False, emoji=False)


def clean(text: str) -> str:
    """Stored text without control characters: it must not be able to drive a terminal."""
    return text.translate(_CONTROLS).encode("utf-8", "replace").decode()


def day(time: datetime | None) -> str:
    """A date for a person, or `unknown`."""
    return "unknown" if time is None else time.astimezone(UTC).strftime("%Y-%m-%d")


def interval(start: datetime, end: datetime, precision: str) -> str:
    """A half-open interval as finely as it is known: `2021-10-09`, `2022-02`, `2022-03-05 to 2022-03-11`.

    `before 2022-03-05` where nothing but its end is known.
    """
    if end - start >= LIFETIME:
        return f"before {day(end)}"
    if precision == "instant":
        return start.astimezone(UTC).strftime("%Y-%m-%d %H:%M")
    if precision in _DATE_CHARACTERS:
        return day(start)[: _DATE_CHARACTERS[precision]]
    last = datetime.fromtimestamp(end.timestamp() - 1, UTC)
    return f"{day(start)} to {day(last)}"


def json_text(value: Any) -> str:
    """One JSON document, readable in every script; escaped where the text or stdout cannot be UTF-8."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, default=str)
    return text
