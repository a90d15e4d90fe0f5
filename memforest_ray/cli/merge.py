"""`memforest merge`: memories taken over into another one."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from memforest_ray.cli.call import Call, OpIdOption
from memforest_ray.cli.failures import OK, PARTIAL, exit_code
from memforest_ray.cli.reports import draw_report
from memforest_ray.cli.screen import clean
from memforest_ray.errors import MemForestError

if TYPE_CHECKING:
    from rich.console import Console

    from memforest_ray.client import User

__all__ = ["merge"]


def merge(
    call: Call,
    user: Annotated[str, typer.Argument(metavar="DST", help="The user whose memory the others are merged into.")],
    sources: Annotated[
        list[str], typer.Argument(metavar="SRC", help="The users whose memories are merged; these stay.")
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be joined, renamed, or conflict.")
    ] = False,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Also take over sessions that were replaced in SRC since an earlier merge."),
    ] = False,
    op_id: OpIdOption = None,
) -> int:
    """Merge other memories into one. Sessions become SRC/<id>; people and things are matched by name."""
    done: list[dict[str, Any]] = []
    failed: list[tuple[str, MemForestError]] = []
    with call.client() as client:
        memory = client.user(user)
        for source in dict.fromkeys(sources):
            try:
                done.append(_forecast(memory, source) if dry_run else _merged(memory, source, replace, op_id))
            except MemForestError as error:
                failed.append((source, error))
                call.say(f"{source}: {call.sentence(error)}")
    errors = [{"source": source, "kind": error.kind, "message": str(error)} for source, error in failed]
    key = "would_merge" if dry_run else "merged"
    call.answer({"user": user, key: done, "failed": errors}, lambda screen: _draw(screen, done))
    if not failed:
        return OK
    return PARTIAL if done else max(exit_code(error) for _, error in failed)


def _merged(memory: "User", source: str, replace: bool, op_id: str | None) -> dict[str, Any]:
    """Each source's is a write of its own: `op_id` names them all."""
    return memory.merge_from(source, replace=replace, op_id=f"{op_id}/{source}").to_json()


def _forecast(memory: "User", source: str) -> dict[str, Any]:
    return {"source": source, **memory.merge_forecast(source).to_json()}


def _draw(screen: "Console", done: list[dict[str, Any]]) -> None:
    """Each source with what came of it."""
    from rich.text import Text

    for row in done:
        screen.print(Text(clean(str(row["source"])), style="bold"))
        draw_report(screen, {name: value for name, value in row.items() if name != "source"}, indent="  ")
