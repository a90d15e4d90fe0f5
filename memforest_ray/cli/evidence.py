"""What `query` and `ask` show: pieces of evidence, why they rank where they do, and how they were found."""

from typing import TYPE_CHECKING

from memforest_ray.cli.screen import clean, day, interval

if TYPE_CHECKING:
    from rich.console import Console

    from memforest_ray.query.result import Answer, Hit, Result, Trace, Why

__all__ = ["draw_answer", "draw_result"]

CITED_SHOWN = 5
"""Pieces of evidence under an answer; `--json` has all of them."""

UNDATED = "unknown to unknown"
"""The interval of a node in which nothing has a time."""
_EMPTY = {
    "no_memory": "nothing is remembered yet",
    "no_match": "nothing matches",
    "filtered": "the filters or the token budget left nothing",
}


def draw_result(screen: "Console", user: str, result: "Result", *, explain: bool) -> None:
    """The hits, best first, and what could not be done as asked; with `explain` what each score is made of, and how."""
    if not result or result.message:
        _draw_message(screen, user, result)
    for number, hit in enumerate(result, start=1):
        _draw_hit(screen, number, hit)
    if explain:
        _draw_trace(screen, result.trace)
    else:
        _draw_fallbacks(screen, result.trace)


def draw_answer(screen: "Console", user: str, answer: "Answer", *, told: bool) -> None:
    """The answer, unless it was `told` while it came, and the evidence that it names."""
    from rich.text import Text

    if not told:
        screen.print(Text(clean(answer.text), style="bold"))
    result = answer.result
    if result is None:
        return
    cited = _cited(answer, result)
    for number, hit in enumerate(cited[:CITED_SHOWN], start=1):
        _draw_hit(screen, number, hit)
    if len(cited) > CITED_SHOWN:
        screen.print(Text(f"  and {len(cited) - CITED_SHOWN} more (--json lists them all)", style="dim"))
    _draw_fallbacks(screen, result.trace)
    if asked := _asked(result.trace):
        screen.print(Text(f"  {asked}", style="dim"))
    if not result and _reason(result).casefold() not in answer.text.casefold():
        _draw_message(screen, user, result)


def _cited(answer: "Answer", result: "Result") -> "list[Hit]":
    """The evidence that an answer names, facts and dialogue, in its order."""
    named = {hit.citation: hit for hit in reversed(result.hits)}
    return [named[name] for name in dict.fromkeys(answer.citations) if name in named]


def _draw_fallbacks(screen: "Console", trace: "Trace") -> None:
    """What could not be done as asked: a person who asked for a model must hear that none was there."""
    from rich.text import Text

    for line in trace.fallbacks:
        screen.print(Text(f"  {clean(line)}", style="dim"))


def _reason(result: "Result") -> str:
    """Why there is nothing, or what else is to be said of it."""
    return result.message or _EMPTY.get(result.reason or "", "nothing was found")


def _draw_message(screen: "Console", user: str, result: "Result") -> None:
    from rich.text import Text

    screen.print(Text(clean(f"{user}: {_reason(result)}"), style="yellow"))


def _draw_hit(screen: "Console", number: int, hit: "Hit") -> None:
    """One piece of evidence: its text, its source and times, where in the forest it stands, and why there."""
    from rich.table import Table
    from rich.text import Text

    block = Table.grid(padding=(0, 1, 0, 0))
    block.add_column(width=4, justify="right", style="bold")
    block.add_column(overflow="fold")
    block.add_row(f"{number}.", Text.assemble(clean(hit.text), (f"  {hit.score:.2f}", "cyan")))
    late = "" if hit.timely else "of another time than the question asks for"
    for line in (_source(hit), _place(hit), hit.note or late, _why(hit.why)):
        if line:
            block.add_row("", Text(clean(line), style="dim"))
    screen.print(block)


def _source(hit: "Hit") -> str:
    """What it is known by, who said it and when, when it happened, and which turns hold it."""
    name = "dialogue" if hit.fact_id is None else f"fact {hit.fact_id}"
    parts = [name, f"said by {hit.speaker}, {day(hit.source_time)}"]
    if (event := hit.event_time) is not None:
        when = interval(event.start, event.end, event.precision)
        parts.append(f"happened {when} ({event.expression!r})")
    return " | ".join((*parts, f"turns {', '.join(hit.turn_ids)}"))


def _place(hit: "Hit") -> str:
    """The tree, and the intervals of the nodes from its root down; of undated ones none."""
    return " > ".join((hit.tree, *(each for each in hit.path if each != UNDATED)))


def _why(why: "Why | None") -> str:
    """What the score is made of, and which of what was said and which time made it."""
    if why is None:
        return ""
    parts = ", ".join(f"{name} {value:+.1f}" for name, value in why.parts if abs(value) >= 0.05)
    said = "" if why.mention is None else f" | shown as said in {why.mention}"
    often = f", one of {why.mentions} times" * (why.mentions > 1)
    return f"because {parts}{said}{often} | its {why.time} time counts"


def _asked(trace: "Trace") -> str:
    """What was asked of a chat model, and for what; nothing where none was."""
    usage = trace.usage
    if not usage.calls:
        return ""
    each = ", ".join(f"{stage} {spent.calls}" for stage, spent in trace.spent.items())
    return f"{usage.calls} model calls ({each}), {usage.prompt_tokens} + {usage.completion_tokens} tokens"


def _draw_trace(screen: "Console", trace: "Trace") -> None:
    """Which trees were looked into, with scores, how the question was read, what models were asked."""
    from rich.table import Table
    from rich.text import Text

    asked = _asked(trace)
    head = f"mode {trace.mode}, {trace.nodes_visited} nodes visited"
    screen.print(Text(f"{head}, {asked}" if asked else head, style="bold"))
    for line in (*trace.reading, *trace.fallbacks):
        screen.print(Text(f"  {clean(line)}"))
    table = Table(box=None, pad_edge=True, header_style="bold")
    table.add_column("tree", style="cyan", no_wrap=True)
    for title in ("score", "root", "best fact"):
        table.add_column(title, justify="right")
    for tree in trace.trees:
        table.add_row(Text(clean(tree.scope)), *(f"{number:.2f}" for number in (tree.score, tree.root, tree.fact)))
    screen.print(table)
