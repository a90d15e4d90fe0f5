"""What a verb has done, as a person reads it: name and value, one a line."""

from typing import TYPE_CHECKING, Any

from memforest_ray.cli.screen import clean

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["counted", "draw_report"]

NAMES_SHOWN = 10
"""Of a list on the screen; `--json` has all of it."""

_FOR_PROGRAMS = frozenset({"op_id", "usage", "seconds", "depth", "idle_share", "what"})
"""Fields that tell a person nothing."""


def draw_report(screen: "Console", report: dict[str, Any], *, indent: str = "") -> None:
    """Its fields but those that are empty; of one that changed nothing, only that."""
    from rich.text import Text

    if report.get("duplicate"):
        screen.print(Text(f"{indent}nothing changed"))
        return
    for name, value in report.items():
        expected = name == "refreshed"  # all else is worth a line if it is anything
        if name in _FOR_PROGRAMS or bool(value) == expected:
            continue
        words = name.replace("_", " ")
        line = counted(words, value) if isinstance(value, list) else f"{words}: {_shown(value)}"
        screen.print(Text(clean(f"{indent}{line}")), soft_wrap=True)


def counted(what: str, names: list[str]) -> str:
    """`facts (12): f1, f2, ... and 2 more`: how many there are, and the first of them."""
    more = len(names) - NAMES_SHOWN
    rest = f" and {more:,} more (--json lists them all)" if more > 0 else ""
    return f"{what} ({len(names):,}): {', '.join(map(str, names[:NAMES_SHOWN]))}{rest}"


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
