"""`memforest warm`: open memories before they are asked."""

from typing import TYPE_CHECKING, Annotated

import typer

from memforest_ray.cli.call import Call
from memforest_ray.cli.failures import OK, PARTIAL, exit_code
from memforest_ray.cli.screen import clean
from memforest_ray.errors import MemForestError, NotFound

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["warm"]


def warm(call: Call, users: Annotated[list[str], typer.Argument(metavar="USER", help="Whose memories.")]) -> int:
    """Open memories before the first question. Use it with a warm cluster (`memforest up`)."""
    with call.client() as client:
        found = client.warm(users)
    opened = {user: each for user, each in found.items() if not isinstance(each, MemForestError) and each}
    failed = [
        (user, each if isinstance(each, MemForestError) else NotFound.memory(user))
        for user, each in found.items()
        if user not in opened
    ]
    for user, error in failed:
        call.say(f"{user}: {call.sentence(error)}")
    errors = [{"user": user, "kind": error.kind, "message": str(error)} for user, error in failed]
    call.answer({"versions": opened, "failed": errors}, lambda screen: _draw(screen, opened))
    if not failed:
        return OK
    return PARTIAL if opened else max(exit_code(error) for _, error in failed)


def _draw(screen: "Console", versions: dict[str, int]) -> None:
    from rich.text import Text

    for user, version in versions.items():
        screen.print(Text(clean(f"{user}: open at version {version}")), soft_wrap=True)
