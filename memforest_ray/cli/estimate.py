"""`memforest estimate`: what a backfill would ask of models, before any is asked."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memforest_ray.cli.call import Call, FormatOption
from memforest_ray.cli.failures import OK
from memforest_ray.cli.ingest import Work, read_work

if TYPE_CHECKING:
    from rich.console import Console

    from memforest_ray.config import Settings

__all__ = ["estimate"]

ANSWER_TOKENS = 270
"""Of one extraction, as measured of Qwen3-30B-A3B with longer keys than ours: rather too many than too few."""

_DIMENSION = 384
"""Of the offline embedder: how facts fall into scenes depends on it."""


def estimate(
    call: Call,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Files of conversations.")],
    *,
    format: FormatOption = "auto",  # noqa: A002 - the option's name
    tokens_min: Annotated[
        int,
        typer.Option(
            "--tokens-min", "--tokens", metavar="N", min=0, help="Count at least N completion tokens per cell."
        ),
    ] = ANSWER_TOKENS,
    one_user: Annotated[
        bool, typer.Option("--one-user", help="As for `ingest`: one memory for all conversations.")
    ] = False,
) -> int:
    """Estimate the model calls and tokens of an ingest. No model is needed and nothing is stored.

    This is a dry run of a first ingest of all sessions at once, with the offline rules in place of the model. Verdicts,
    retries and queries come on top.
    """
    import asyncio

    work = [item for path in paths for item in read_work(path, "estimate", format, one_user=one_user)]
    data = asyncio.run(_counted(call.settings(), work, tokens_min))
    call.answer(data, lambda screen: _draw(screen, data))
    return OK


async def _counted(settings: "Settings", work: list[Work], tokens_min: int) -> dict[str, Any]:
    """Calls and tokens by role."""
    from memforest_ray.simulation.counting import CountingExtractor, CountingSummarizer

    extractor, summarizer = CountingExtractor(tokens_min), CountingSummarizer()
    for item in work:
        await _dry_run(settings, item, extractor, summarizer)
    roles = {"extract": extractor.tally, "summarise": summarizer.tally}
    sums = {name: sum(tally.to_json()[name] for tally in roles.values()) for name in extractor.tally.to_json()}
    turns = sum(len(session.turns) for item in work for session in item.sessions)
    return {
        "estimated": True,
        "users": len(work),
        "sessions": sum(len(item.sessions) for item in work),
        "turns": turns,
        "roles": {role: tally.to_json() for role, tally in roles.items()},
        "total": sums,
        "tokens_per_turn": round((sums["prompt_tokens"] + sums["completion_tokens"]) / turns) if turns else 0,
    }


async def _dry_run(settings: "Settings", work: Work, extractor: Any, summarizer: Any) -> None:
    """One user's sessions into a memory that nobody keeps."""
    from memforest_ray.client import AsyncClient
    from memforest_ray.local.effects import Models
    from memforest_ray.local.runtime import LocalRuntime
    from memforest_ray.simulation.vectors import HashEmbedder
    from memforest_ray.storage.memory import MemoryStore

    models = Models(extractor, summarizer, HashEmbedder(_DIMENSION))
    client = AsyncClient(settings, LocalRuntime(settings, MemoryStore(), models))
    try:
        await client.user("estimate").ingest_many(work.sessions)
    finally:
        await client.close()


def _draw(screen: "Console", data: dict[str, Any]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("role")
    for title in ("calls", "prompt tokens", "of these fixed", "completion tokens"):
        table.add_column(title, justify="right")
    rows: dict[str, dict[str, int]] = {**data["roles"], "total": data["total"]}
    for role, tally in rows.items():
        table.add_row(role, *(f"{number:,}" for number in tally.values()))
    screen.print(f"estimate for {data['turns']:,} turns in {data['sessions']:,} sessions, by a dry run of the rules")
    screen.print(table)
    screen.print(f"{data['tokens_per_turn']:,} tokens a turn; judging, repeats and queries come on top")
