"""`memforest forget`: erase a session, turns, a fact, or a whole user."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memforest_ray.cli.call import Call
from memforest_ray.cli.failures import OK
from memforest_ray.cli.screen import clean
from memforest_ray.errors import InvalidInput

if TYPE_CHECKING:  # for speed: `--help` loads neither the client nor rich
    from rich.console import Console

__all__ = ["forget"]


def forget(
    call: Call,
    user: Annotated[str, typer.Argument(metavar="U", help="Whose memory.")],
    *,
    session: Annotated[
        str | None,
        typer.Option("--session", metavar="ID", help="This session; with --turn, the turns' session."),
    ] = None,
    turns: Annotated[list[str] | None, typer.Option("--turn", metavar="ID", help="This turn; may be repeated.")] = None,
    fact: Annotated[str | None, typer.Option("--fact", metavar="ID", help="This fact; its dialogue stays.")] = None,
    origin: Annotated[
        str | None, typer.Option("--origin", metavar="USER", help="All that came from this user's memory by merges.")
    ] = None,
    with_dialogue: Annotated[
        bool, typer.Option("--with-dialogue", help="With --fact: also the dialogue that says it.")
    ] = False,
    including_snapshots: Annotated[
        bool, typer.Option("--including-snapshots", help="Rewrite saved states that hold it, too.")
    ] = False,
    everything: Annotated[bool, typer.Option("--everything", help="The whole memory of this user, for good.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="With --everything: do not ask at a terminal.")] = False,
) -> int:
    """Erase for good, and say what may still hold it."""
    what = [session or turns, fact, origin, everything]
    if sum(bool(item) for item in what) != 1:
        raise InvalidInput(
            "say one thing to forget: --session, --turn, --fact, --origin or --everything; nothing was changed",
            user=user,
        )
    if everything and not yes:
        _confirm(user)
    with call.client() as client:
        if everything:
            copies = client.delete_user(user)
            gone = {"deleted": user, "still_in_the_memories_of": copies}
            call.answer({"user": user, "deleted": True, "copies": copies}, lambda screen: _draw(screen, gone))
            return OK
        report = client.user(user).forget(
            session=session,
            turns=turns or None,
            fact=fact,
            origin=origin,
            with_dialogue=with_dialogue,
            including_snapshots=including_snapshots,
        )
    data = report.to_json()
    call.answer({"user": user, **data}, lambda screen: _draw(screen, data))
    return OK


def _confirm(user: str) -> None:
    """Ask who sits at a terminal; a script has said what it wants. Raises InvalidInput for anything but yes."""
    if not sys.stdin.isatty():
        return
    try:
        agreed = typer.confirm(f"Erase the whole memory of {clean(user)}, for good?", err=True)
    except typer.Abort:
        agreed = False
    if not agreed:
        raise InvalidInput("that was not confirmed; nothing was changed", user=user)


def _draw(screen: "Console", report: dict[str, Any]) -> None:
    """Name and value, one a line; empty ones are left out."""
    from rich.text import Text  # noqa: PLC0415 - for speed

    for name, value in report.items():
        if value in (None, "", [], {}):
            continue
        shown = ", ".join(str(item) for item in value) if isinstance(value, list) else str(value)
        screen.print(Text(f"{name.replace('_', ' ')}: {clean(shown)}"))
