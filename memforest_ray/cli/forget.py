"""`memforest forget`: erase a session, turns, a fact, or a whole user."""

import sys
from typing import Annotated

import typer

from memforest_ray.cli.call import Call, OpIdOption
from memforest_ray.cli.failures import OK
from memforest_ray.cli.reports import draw_report
from memforest_ray.cli.screen import clean
from memforest_ray.errors import InvalidInput

__all__ = ["forget"]


def forget(
    call: Call,
    user: Annotated[str, typer.Argument(metavar="USER", help="Whose memory.")],
    *,
    session: Annotated[
        str | None,
        typer.Option(
            "--session", metavar="ID", help="Forget this session; with --turns: the session the turns are in."
        ),
    ] = None,
    turns: Annotated[
        list[str] | None,
        typer.Option("--turns", "--turn", metavar="ID", help="Forget this turn, as `s3#0`; repeatable."),
    ] = None,
    fact: Annotated[
        str | None, typer.Option("--fact", metavar="ID", help="Forget this fact; its dialogue stays.")
    ] = None,
    origin: Annotated[
        str | None, typer.Option("--origin", metavar="USER", help="Forget everything merged from this user's memory.")
    ] = None,
    with_dialogue: Annotated[
        bool, typer.Option("--with-dialogue", help="With --fact: forget the dialogue that says it, too.")
    ] = False,
    including_snapshots: Annotated[
        bool,
        typer.Option(
            "--including-snapshots", help="Erase it from saved states, too; else it is refused while one holds it."
        ),
    ] = False,
    everything: Annotated[bool, typer.Option("--everything", help="Forget the whole memory of this user.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="With --everything: do not ask for confirmation.")] = False,
    op_id: OpIdOption = None,
) -> int:
    """Erase part of a memory, or all of it, for good. Reports what may still hold the text."""
    what = [session or turns, fact, origin, everything]
    if sum(bool(item) for item in what) != 1:
        raise InvalidInput(
            "say one thing to forget: --session, --turns, --fact, --origin or --everything; nothing was changed",
            user=user,
        )
    if everything and not yes:
        _confirm(user)
    with call.client() as client:
        if everything:
            copies = client.delete_user(user)
            gone = {"deleted": user, "still_in_the_memories_of": copies}
            call.answer({"user": user, "deleted": True, "copies": copies}, lambda screen: draw_report(screen, gone))
            return OK
        report = client.user(user).forget(
            session=session,
            turns=turns or None,
            fact=fact,
            origin=origin,
            with_dialogue=with_dialogue,
            including_snapshots=including_snapshots,
            op_id=op_id,
        )
    data = report.to_json()
    call.answer({"user": user, **data}, lambda screen: draw_report(screen, data))
    return OK


def _confirm(user: str) -> None:
    """Ask who sits at a terminal; a script says `--yes`. Raises InvalidInput for anything but yes."""
    if not sys.stdin.isatty():
        raise InvalidInput(
            f"this erases the whole memory of {clean(user)}, for good; nothing was changed; add --yes to mean it",
            user=user,
        )
    try:
        agreed = typer.confirm(f"Erase the whole memory of {clean(user)}, for good?", err=True)
    except typer.Abort:
        agreed = False
    if not agreed:
        raise InvalidInput("that was not confirmed; nothing was changed", user=user)
