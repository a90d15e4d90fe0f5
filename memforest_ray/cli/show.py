"""`memforest show`, `users` and `stats`: what there is."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from memforest_ray.cli.call import Call
from memforest_ray.cli.failures import OK
from memforest_ray.cli.screen import clean

if TYPE_CHECKING:  # for speed: `--help` loads neither the client nor rich
    from rich.console import Console
    from rich.text import Text
    from rich.tree import Tree

__all__ = ["show", "stats", "users"]

SUMMARY_CHARACTERS = 160
"""Of a node's summary on the screen; `--json` has all of it."""
SCOPE_COLUMNS = 40
"""Of a list's width that names may take before they are cut."""
_COLUMNS: "tuple[tuple[str, Literal['left', 'right']], ...]" = (
    ("tree", "left"),
    ("leaves", "right"),
    ("height", "right"),
    ("from", "left"),
    ("to", "left"),
)


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
    call.answer({"user": user, "trees": cards}, lambda screen: _draw_cards(screen, user, cards, summary))
    return OK


def users(
    call: Call,
    prefix: Annotated[str, typer.Argument(metavar="PREFIX", help="Only ids that begin with PREFIX.")] = "",
) -> int:
    """List the users who have a memory in the store."""
    with call.client() as client:
        found = list(client.users(prefix))
    call.answer({"users": found}, lambda screen: _draw_users(screen, found, prefix))
    return OK


def stats(call: Call, user: Annotated[str, typer.Argument(metavar="USER", help="Whose memory.")]) -> int:
    """Show what a memory holds and what it has cost."""
    with call.client() as client:
        counts = client.user(user).stats()
    call.answer({"user": user, **counts}, lambda screen: _draw_stats(screen, counts))
    return OK


def _draw_cards(screen: "Console", user: str, cards: list[dict[str, Any]], characters: int) -> None:
    from rich.cells import cell_len  # noqa: PLC0415 - for speed
    from rich.table import Table  # noqa: PLC0415 - for speed
    from rich.text import Text  # noqa: PLC0415 - for speed

    if not cards:
        screen.print(Text(f"{clean(user)}: nothing is remembered yet", style="yellow"))
        return
    rows = [(card["scope"], str(card["leaves"]), str(card["height"]), *_ends(card)) for card in cards]
    table = Table(box=None, pad_edge=False, header_style="bold")
    room = screen.width
    for number, (title, justify) in enumerate(_COLUMNS):
        width = max(len(title), *(min(cell_len(row[number]), SCOPE_COLUMNS) for row in rows))
        table.add_column(title, justify=justify, no_wrap=True, width=width)
        room -= width + 2
    table.add_column("summary", no_wrap=True)
    for card, row in zip(cards, rows, strict=True):
        line = _short(card["summary"], characters)
        line.truncate(max(room, 0), overflow="ellipsis")
        table.add_row(*(Text(clean(cell)) for cell in row), line)
    screen.print(table)


def _draw_tree(node: dict[str, Any], characters: int) -> "Tree":
    """A node and everything below it."""
    from rich.tree import Tree  # noqa: PLC0415 - for speed

    drawn = Tree(_label(node, characters), guide_style="dim")
    for child in node.get("children") or ():
        drawn.children.append(_draw_tree(child, characters))
    return drawn


def _label(node: dict[str, Any], characters: int) -> "Text":
    """`2019-04-23 to 2022-03-05 (12) summary`; a leaf has no count."""
    from rich.text import Text  # noqa: PLC0415 - for speed

    label = Text()
    label.append(" to ".join(dict.fromkeys(_ends(node))), style="cyan")
    if node.get("children"):
        label.append(f" ({node['count']})", style="bold")
    label.append(" ")
    label.append_text(_short(node.get("summary"), characters))
    if node.get("stale"):
        label.append(" [stale]", style="yellow")
    return label


def _ends(item: dict[str, Any]) -> tuple[str, str]:
    """First and last day of an interval, as ISO dates; `undated` where nothing in it has a time."""
    first, last = item.get("start"), item.get("end")
    if not first or not last:
        return "undated", "undated"
    # An interval ends before its end; a point does not.
    before = datetime.fromisoformat(last) - timedelta(milliseconds=last != first)
    return first[:10], before.isoformat()[:10]


def _short(text: str | None, characters: int) -> "Text":
    """At most `characters` of a text, on one line."""
    from rich.text import Text  # noqa: PLC0415 - for speed

    line = " ".join(clean(text or "").split())
    return Text(line if len(line) <= characters else line[: max(characters - 1, 0)] + "…")


def _draw_users(screen: "Console", found: list[str], prefix: str) -> None:
    from rich.text import Text  # noqa: PLC0415 - for speed

    for user in found:
        screen.print(Text(clean(user)))
    if not found:
        none = f"no user id begins with {clean(prefix)}" if prefix else "the store holds no memory"
        screen.print(Text(none, style="yellow"))


def _draw_stats(screen: "Console", counts: dict[str, Any]) -> None:
    """Name and number, one a line; a group of them is indented."""
    from rich.text import Text  # noqa: PLC0415 - for speed

    for name, value in counts.items():
        if isinstance(value, dict):
            screen.print(Text(_words(name), style="bold"))
            for inner, number in value.items():
                screen.print(Text(f"  {_words(str(inner))}: {_number(number)}"))
        else:
            screen.print(Text(f"{_words(name)}: {_number(value)}"))


def _words(name: str) -> str:
    return clean(name.replace("_", " "))


def _number(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.3g}" if abs(value) < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else clean(str(value))
