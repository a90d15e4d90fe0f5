"""Verbs that keep a memory in order: `repair`, `resummarise`, `rescene`, `rebuild`, `reembed`, `correct`, `changes`."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from memforest_ray.cli.call import Call, OpIdOption, expect_memory
from memforest_ray.cli.failures import OK, PARTIAL
from memforest_ray.cli.reports import counted, draw_report
from memforest_ray.cli.screen import clean
from memforest_ray.errors import VersionGone

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["changes", "correct", "rebuild", "reembed", "repair", "rescene", "resummarise"]

_User = Annotated[str, typer.Argument(metavar="USER", help="Whose memory.")]


def repair(call: Call, user: _User, op_id: OpIdOption = None) -> int:
    """Retry what failed: cells, verdicts, summaries."""
    with call.client() as client:
        data = client.user(user).repair(op_id=op_id).to_json()
    _answer(call, user, data)
    for cell, reason in data["failed_cells"].items():
        call.say(f"cell {cell} failed again: {reason}")
    return PARTIAL if data["failed_cells"] else OK


def resummarise(
    call: Call,
    user: _User,
    scope: Annotated[str | None, typer.Argument(metavar="SCOPE", help="Only this tree, such as entity:bob.")] = None,
    op_id: OpIdOption = None,
) -> int:
    """Rewrite all summaries, or those of one tree."""
    with call.client() as client:
        _answer(call, user, client.user(user).resummarise(scope, op_id=op_id).to_json())
    return OK


def rescene(call: Call, user: _User, op_id: OpIdOption = None) -> int:
    """Cluster all facts into scenes again. Goes through them in the order in which they were said."""
    with call.client() as client:
        _answer(call, user, client.user(user).rescene(op_id=op_id).to_json())
    return OK


def rebuild(call: Call, user: _User, op_id: OpIdOption = None) -> int:
    """Rebuild trees, scenes, summaries and vectors. Dialogue, candidates and verdicts are kept."""
    with call.client() as client:
        _answer(call, user, client.user(user).rebuild(op_id=op_id).to_json())
    return OK


def reembed(call: Call, user: _User, op_id: OpIdOption = None) -> int:
    """Switch a memory to the configured embedder. The old vectors serve until all new ones are ready."""
    with call.client() as client:
        _answer(call, user, client.user(user).reembed(op_id=op_id).to_json())
    return OK


def correct(
    call: Call,
    user: _User,
    fact: Annotated[str, typer.Argument(metavar="FACT", help="The fact's id, as `query` shows it.")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What it should say.")],
    value: Annotated[
        str | None,
        typer.Option("--value", metavar="TEXT", help="The new value of its attribute, such as Miami for a residence."),
    ] = None,
    event_time: Annotated[
        str | None,
        typer.Option("--event-time", metavar="TIME", help="When it is true or happened; unchanged unless given."),
    ] = None,
    op_id: OpIdOption = None,
) -> int:
    """Replace a fact by another statement. What it said before does not come back; its dialogue stays."""
    with call.client() as client:
        done = client.user(user).correct(fact, text, value=value, event_time=event_time, op_id=op_id)
    _answer(call, user, done.to_json())
    return OK


def changes(
    call: Call,
    user: _User,
    since: Annotated[int, typer.Option("--since", metavar="VERSION", help="List what changed after this version.")],
) -> int:
    """List what was added, changed or removed since a version."""
    with call.client() as client:
        memory = client.user(user)
        try:
            news = memory.changes(since).to_json()
        except VersionGone:
            expect_memory(memory)
            raise
        if news["version"] == since:
            expect_memory(memory)
    call.answer({"user": user, **news}, lambda screen: _draw_news(screen, news))
    return OK


def _answer(call: Call, user: str, data: dict[str, Any]) -> None:
    call.answer({"user": user, **data}, lambda screen: draw_report(screen, data))


def _draw_news(screen: "Console", news: dict[str, Any]) -> None:
    from rich.text import Text

    if news["version"] == news["since"]:
        screen.print(Text(f"nothing changed since version {news['since']}"))
        return
    screen.print(Text(f"version {news['version']}, since version {news['since']}"))
    for kind in ("sessions", "facts"):
        for what, names in news[kind].items():
            if names:
                screen.print(Text(clean(counted(f"{kind} {what}", names))), soft_wrap=True)
