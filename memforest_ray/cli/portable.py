"""`memforest export` and `memforest import`: one memory as one file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memforest_ray.cli.call import Call
from memforest_ray.cli.failures import OK
from memforest_ray.cli.screen import clean
from memforest_ray.errors import CorruptState, InvalidInput

if TYPE_CHECKING:  # for speed: `--help` loads neither the client nor rich
    from rich.console import Console

__all__ = ["export", "import_"]


def export(
    call: Call,
    user: Annotated[str, typer.Argument(metavar="U", help="Whose memory.")],
    path: Annotated[Path, typer.Argument(metavar="FILE", help="Where it is written; must not exist.")],
) -> int:
    """Write all of one memory, but its snapshots, to one portable file."""
    import asyncio  # noqa: PLC0415 - for speed

    from memforest_ray.ids import UserId  # noqa: PLC0415 - for speed
    from memforest_ray.local.portable import export_forest  # noqa: PLC0415 - for speed
    from memforest_ray.storage.open import open_store  # noqa: PLC0415 - for speed

    if path.exists():
        raise InvalidInput(f"{path} exists; it was kept; name another file")
    raw = asyncio.run(export_forest(open_store(call.durable_store()), UserId(user)))
    try:
        with path.open("xb") as file:
            file.write(raw)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written ({error.strerror}); nothing was changed in the store") from error
    data: dict[str, Any] = {"user": user, "path": str(path), "bytes": len(raw)}
    call.answer(data, lambda screen: _say(screen, f"{user}: {len(raw):,} bytes in {path}"))
    return OK


def import_(
    call: Call,
    path: Annotated[Path, typer.Argument(metavar="FILE", help="What `memforest export` wrote.")],
    *,
    user: Annotated[str, typer.Option("--user", "-u", metavar="U", help="Whose memory it becomes; must have none.")],
) -> int:
    """Make an exported memory that of a user who has none."""
    import asyncio  # noqa: PLC0415 - for speed

    from memforest_ray.ambient import SystemClock, SystemRandom  # noqa: PLC0415 - for speed
    from memforest_ray.handles import checked_user  # noqa: PLC0415 - for speed
    from memforest_ray.local.portable import EXPORT, import_forest  # noqa: PLC0415 - for speed
    from memforest_ray.models.offline import OnnxEmbedder  # noqa: PLC0415 - for speed
    from memforest_ray.storage.open import open_store  # noqa: PLC0415 - for speed

    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read ({error.strerror}); nothing was changed") from error
    settings = call.settings()
    embedder = OnnxEmbedder(settings.embed_folder, threads=settings.embed_threads)
    store = open_store(call.durable_store())
    try:
        found = asyncio.run(import_forest(raw, store, checked_user(user), embedder, SystemClock(), SystemRandom()))
    except CorruptState as error:
        if error.detail.get("key") != EXPORT:
            raise
        raise InvalidInput(str(error).replace(f"object {EXPORT}", f"file {path}")) from error
    data = {
        "user": user,
        "version": found.version,
        "sessions": found.sessions,
        "facts": found.facts,
        "embedded": found.embedded,
    }
    call.answer(data, lambda screen: _say(screen, f"{user}: {found.sessions} sessions, {found.facts} facts"))
    return OK


def _say(screen: "Console", line: str) -> None:
    from rich.text import Text  # noqa: PLC0415 - for speed

    screen.print(Text(clean(line)), soft_wrap=True)
