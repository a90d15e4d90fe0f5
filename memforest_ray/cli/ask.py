"""`memforest query` and `memforest ask`: evidence, and an answer from it."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from memforest_ray.cli.call import Call
from memforest_ray.cli.failures import OK
from memforest_ray.cli.screen import clean, day, interval

if TYPE_CHECKING:  # for speed: `--help` loads neither the client nor rich
    from rich.console import Console

    from memforest_ray.query.result import Answer, Hit, Result, Trace

__all__ = ["ask", "draw_hit", "query"]

CITED_SHOWN = 5
"""Pieces of evidence under an answer; `--json` has all of them."""

_EMPTY = {
    "no_memory": "nothing is remembered yet",
    "no_match": "nothing matches",
    "filtered": "what was found lies outside what was asked for",
}

UserArgument = Annotated[str, typer.Argument(metavar="U", help="Whose memory.")]
TextArgument = Annotated[str, typer.Argument(metavar="TEXT", help="The question.")]
KOption = Annotated[int | None, typer.Option("--k", metavar="N", help="At most so many pieces of evidence.")]
ModeOption = Annotated[
    str | None, typer.Option("--mode", metavar="NAME", help="How trees are browsed: flat, root, embed.")
]
AsOfOption = Annotated[str | None, typer.Option("--as-of", metavar="TIME", help="As it was known at TIME.")]
SinceOption = Annotated[str | None, typer.Option("--since", metavar="TIME", help="What happened from TIME on.")]
UntilOption = Annotated[str | None, typer.Option("--until", metavar="TIME", help="What happened before TIME.")]
AtLeastOption = Annotated[
    int | None, typer.Option("--at-least", metavar="VERSION", help="Answer from this version, or a newer one.")
]
ExplainOption = Annotated[bool, typer.Option("--explain", help="Show which trees were looked into, and why.")]


def query(
    call: Call,
    user: UserArgument,
    text: TextArgument,
    *,
    k: KOption = None,
    mode: ModeOption = None,
    as_of: AsOfOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    at_least: AtLeastOption = None,
    explain: ExplainOption = False,
) -> int:
    """Show the evidence that a memory holds for a question, best first."""
    options = _given(k=k, mode=mode, as_of=as_of, since=since, until=until, at_least=at_least)
    with call.client() as client:
        result = client.user(user).query(text, **options)
    data = {"user": user, "question": text, **result.to_json()}
    call.answer(data, lambda screen: _draw(screen, user, result, explain=explain))
    return OK


def ask(
    call: Call,
    user: UserArgument,
    text: TextArgument,
    *,
    k: KOption = None,
    mode: ModeOption = None,
    as_of: AsOfOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    at_least: AtLeastOption = None,
) -> int:
    """Answer a question from memory alone, naming the evidence."""
    options = _given(k=k, mode=mode, as_of=as_of, since=since, until=until, at_least=at_least)
    with call.client() as client:
        answer = client.user(user).ask(text, **options)
    data = {"user": user, "question": text, **answer.to_json()}
    call.answer(data, lambda screen: _draw_answer(screen, user, answer))
    return OK


def _given(**options: Any) -> dict[str, Any]:
    """Those that were given: the others have their defaults in the library."""
    return {name: value for name, value in options.items() if value is not None}


def _draw(screen: "Console", user: str, result: "Result", *, explain: bool) -> None:
    if not result:
        _draw_nothing(screen, user, result)
    for number, hit in enumerate(result, start=1):
        draw_hit(screen, number, hit)
    if explain:
        _draw_trace(screen, result.trace)


def _draw_nothing(screen: "Console", user: str, result: "Result") -> None:
    from rich.text import Text  # noqa: PLC0415 - for speed

    reason = result.message or _EMPTY.get(result.reason or "", "nothing was found")
    screen.print(Text(clean(f"{user}: {reason}"), style="yellow"))


def draw_hit(screen: "Console", number: int, hit: "Hit") -> None:
    """One piece of evidence: its text, its source and times, and where in the forest it stands."""
    from rich.padding import Padding  # noqa: PLC0415 - for speed
    from rich.text import Text  # noqa: PLC0415 - for speed

    head = Text(f"{number:>3}. ", style="bold")
    head.append(clean(hit.text), style="not bold")
    head.append(f"  {hit.score:.2f}", style="cyan")
    screen.print(head)
    for line in (_source(hit), _place(hit), hit.note):
        if line:
            screen.print(Padding(Text(clean(line), style="dim"), (0, 0, 0, 5), expand=False))


def _source(hit: "Hit") -> str:
    """Who said it and when, when it happened, and which turns hold it."""
    said = f"said by {hit.speaker}, {day(hit.source_time)}"
    turns = f"turns {', '.join(hit.turn_ids)}"
    if hit.event_time is None:
        return f"{said} | {turns}"
    event = hit.event_time
    when = interval(event.start, event.end, event.precision)
    return f"{said} | happened {when} ({event.expression!r}) | {turns}"


def _place(hit: "Hit") -> str:
    """The tree, and the intervals of the nodes from its root down."""
    return " > ".join((hit.tree, *hit.path))


def _draw_answer(screen: "Console", user: str, answer: "Answer") -> None:
    from rich.text import Text  # noqa: PLC0415 - for speed

    screen.print(Text(clean(answer.text), style="bold"))
    result = answer.result
    if result is None:
        return
    cited = [hit for hit in result if hit.fact_id in answer.citations or {*hit.turn_ids} & {*answer.citations}]
    for number, hit in enumerate(cited[:CITED_SHOWN], start=1):
        draw_hit(screen, number, hit)
    if not result:
        _draw_nothing(screen, user, result)


def _draw_trace(screen: "Console", trace: "Trace") -> None:
    """Which trees were looked into, with scores, and how the question was read."""
    from rich.table import Table  # noqa: PLC0415 - for speed
    from rich.text import Text  # noqa: PLC0415 - for speed

    screen.print(Text(f"mode {trace.mode}, {trace.nodes_visited} nodes visited", style="bold"))
    for line in (*trace.reading, *trace.fallbacks):
        screen.print(Text(f"  {clean(line)}"))
    table = Table(box=None, pad_edge=True, header_style="bold")
    table.add_column("tree", style="cyan", no_wrap=True)
    for title in ("score", "root", "best fact"):
        table.add_column(title, justify="right")
    for tree in trace.trees:
        table.add_row(Text(clean(tree.scope)), *(f"{number:.2f}" for number in (tree.score, tree.root, tree.fact)))
    screen.print(table)
