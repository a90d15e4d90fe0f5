"""`memforest show`, `users` and `stats`: what there is."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from memforest_ray.cli.call import Call, expect_memory
from memforest_ray.cli.failures import OK
from memforest_ray.cli.screen import clean

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text
    from rich.tree import Tree

    from memforest_ray.forest.overviews import Stats, TreeCard, TreeNode

__all__ = ["show", "stats", "users"]

SUMMARY_CHARACTERS = 160
"""Of a node's summary on the screen; `--json` has all of it."""
SEPARATOR = " · "
"""Between the statements of a summary, each of which is a line of it."""
SCOPE_COLUMNS = 40
"""Of a list's width that names may take before they are cut."""
NARROW = 100
"""Columns of a screen on which summaries need the room that the height of trees would take."""

_Column = tuple[str, Literal["left", "right"]]
_HEIGHT: _Column = ("height", "right")
_COLUMNS: tuple[_Column, ...] = (("tree", "left"), ("leaves", "right"), _HEIGHT, ("from", "left"), ("to", "left"))


def show(
    call: Call,
    user: Annotated[str, typer.Argument(metavar="USER", help="Whose memory.")],
    scope: Annotated[
        str | None,
        typer.Argument(
            metavar="SCOPE", help="The tree to draw (entity:bob, session:s1, scene:...); without it, all are listed."
        ),
    ] = None,
    summary: Annotated[
        int, typer.Option("--summary", min=0, metavar="N", help="Show at most N characters of each summary.")
    ] = SUMMARY_CHARACTERS,
) -> int:
    """List the trees of a memory, or draw one of them."""
    with call.client() as client:
        memory = client.user(user)
        if scope is not None:
            tree = memory.tree(scope)
            call.answer({"user": user, "tree": tree}, lambda screen: screen.print(_draw_tree(tree, summary)))
            return OK
        cards = memory.trees()
        if not cards:
            expect_memory(memory)
    call.answer({"user": user, "trees": cards}, lambda screen: _draw_cards(screen, user, cards, summary))
    return OK


def users(
    call: Call,
    prefix: Annotated[str, typer.Argument(metavar="PREFIX", help="Only ids that begin with PREFIX.")] = "",
) -> int:
    """List the users who have a memory in the store."""
    with call.client() as client:
        found = list(client.users(prefix))
    store = call.settings().store
    call.answer({"users": found}, lambda screen: _draw_users(screen, found, prefix, store))
    return OK


def stats(call: Call, user: Annotated[str, typer.Argument(metavar="USER", help="Whose memory.")]) -> int:
    """Show what a memory holds and what it has cost."""
    with call.client() as client:
        counts = expect_memory(client.user(user))
    call.answer({"user": user, **counts}, lambda screen: _draw_stats(screen, counts))
    return OK


def _draw_cards(screen: "Console", user: str, cards: "list[TreeCard]", characters: int) -> None:
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    if not cards:
        screen.print(Text(f"{clean(user)}: nothing is remembered yet", style="yellow"))
        return
    columns = [each for each in _COLUMNS if screen.width > NARROW or each != _HEIGHT]
    rows = [_row(card, columns) for card in cards]
    table = Table(box=None, pad_edge=False, header_style="bold")
    room = screen.width
    for number, (title, justify) in enumerate(columns):
        width = max(len(title), *(min(cell_len(row[number]), SCOPE_COLUMNS) for row in rows))
        table.add_column(title, justify=justify, no_wrap=True, width=width)
        room -= width + 2
    table.add_column("summary", no_wrap=True)
    for card, row in zip(cards, rows, strict=True):
        line = _short(_undated(card["summary"], card), characters)
        line.truncate(max(room, 0), overflow="ellipsis")
        table.add_row(*(Text(clean(cell)) for cell in row), line)
    screen.print(table)


def _row(card: "TreeCard", columns: "Sequence[_Column]") -> list[str]:
    first, last = _ends(card)
    values = {
        "tree": card["scope"],
        "leaves": str(card["leaves"]),
        "height": str(card["height"]),
        "from": first,
        "to": last,
    }
    return [values[title] for title, _ in columns]


def _draw_tree(node: "TreeNode", characters: int) -> "Tree":
    """A node and everything below it."""
    from rich.tree import Tree

    drawn = Tree(_label(node, characters), guide_style="dim")
    for child in node.get("children") or ():
        drawn.children.append(_draw_tree(child, characters))
    return drawn


def _label(node: "TreeNode", characters: int) -> "Text":
    """`2019-04-23 to 2022-03-05 (12) summary`; a leaf has no count."""
    from rich.text import Text

    label = Text()
    label.append(" to ".join(dict.fromkeys(_ends(node))), style="cyan")
    if node.get("children"):
        label.append(f" ({node['count']})", style="bold")
    label.append(" ")
    summary = node.get("summary")
    label.append_text(_short(summary if node.get("children") else _undated(summary, node), characters))
    if node.get("stale"):
        label.append(" [stale]", style="yellow")
    return label


def _ends(item: "TreeCard | TreeNode") -> tuple[str, str]:
    """First and last day of an interval, as ISO dates; `undated` where nothing in it has a time."""
    first, last = item.get("start"), item.get("end")
    if not first or not last:
        return "undated", "undated"
    before = datetime.fromisoformat(last) - timedelta(milliseconds=1)
    return first[:10], before.isoformat()[:10]


def _undated(summary: str | None, item: "TreeCard | TreeNode") -> str:
    """A summary without the day that it begins with, where that stands beside it."""
    return (summary or "").removeprefix(f"{_ends(item)[0]} ")


def _short(text: str | None, characters: int) -> "Text":
    """At most `characters` of a text, its lines on one."""
    from rich.text import Text

    line = SEPARATOR.join(" ".join(clean(each).split()) for each in (text or "").split("\n") if each.strip())
    return Text(line if len(line) <= characters else line[: max(characters - 1, 0)] + "…")


def _draw_users(screen: "Console", found: list[str], prefix: str, store: str) -> None:
    from rich.text import Text

    for user in found:
        screen.print(Text(clean(user)))
    if not found:
        none = f"no user id in {store} begins with {prefix}" if prefix else f"{store} holds no memory"
        screen.print(Text(clean(none), style="yellow"), soft_wrap=True)


def _draw_stats(screen: "Console", counts: "Stats") -> None:
    """Name and number, one a line."""
    from rich.text import Text

    for line in _lines({name: value for name, value in counts.items() if name != "exists"}):
        screen.print(Text(clean(line)), soft_wrap=True)


def _lines(counts: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    """Groups are indented below their name; empty ones are left out."""
    for name, value in counts.items():
        words = name.replace("_", " ")
        if not isinstance(value, dict):
            yield f"{indent}{words.removesuffix(' s')}{' (seconds)' * words.endswith(' s')}: {_shown(value)}"
        elif value:
            yield f"{indent}{words}"
            yield from _lines(value, f"{indent}  ")


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, float):
        return f"{value:,.3g}" if abs(value) < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
