"""`memforest export` and `memforest import`: one memory as one file."""

import fcntl
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memforest_ray.cli.call import Call
from memforest_ray.cli.failures import OK
from memforest_ray.cli.screen import clean
from memforest_ray.errors import CorruptState, InvalidInput

if TYPE_CHECKING:
    from rich.console import Console

    from memforest_ray.config import Settings
    from memforest_ray.ids import UserId
    from memforest_ray.local.portable import Imported

__all__ = ["export", "import_"]


def export(
    call: Call,
    user: Annotated[str, typer.Argument(metavar="USER", help="Whose memory.")],
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write; an existing one is kept.")],
) -> int:
    """Write a memory to one portable file. Snapshots are left out."""
    import asyncio

    from memforest_ray.ids import UserId
    from memforest_ray.local.portable import export_forest
    from memforest_ray.storage.open import open_store

    raw = asyncio.run(export_forest(open_store(call.durable_store()), UserId(user)))
    try:
        _put(path, raw)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written ({error.strerror}); nothing was changed in the store") from error
    data: dict[str, Any] = {"user": user, "path": str(path), "bytes": len(raw)}
    call.answer(data, lambda screen: _say(screen, f"{user}: {len(raw):,} bytes in {path}"))
    return OK


def import_(
    call: Call,
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A file that `memforest export` wrote.")],
    *,
    user: Annotated[
        str, typer.Option("--user", "-u", metavar="USER", help="Whose memory it becomes; a user without one.")
    ],
) -> int:
    """Import an exported memory, for a user who has none."""
    import asyncio
    import shlex

    from memforest_ray.commit.frames import framed
    from memforest_ray.handles import checked_user
    from memforest_ray.local.portable import EXPORT

    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read ({error.strerror}); nothing was changed") from error
    if raw and not framed(raw):
        raise InvalidInput(
            f"{path} is no file that `memforest export` wrote; nothing was changed; if it holds conversations: "
            f"memforest ingest {shlex.quote(str(path))} --user {shlex.quote(user)}"
        )
    call.durable_store()
    try:
        found = asyncio.run(_imported(call.settings(), raw, checked_user(user)))
    except CorruptState as error:
        if error.detail.get("key") != EXPORT:
            raise
        raise InvalidInput(str(error).replace(f"object {EXPORT}", f"file {path}")) from error
    line = f"{user}: {found.sessions} sessions, {found.facts} facts"
    if found.duplicate:
        line = f"{line}; they came from this file before, as version {found.version}: all is as it was"
    call.answer({"user": user, **found.to_json()}, lambda screen: _say(screen, line))
    return OK


def _put(path: Path, raw: bytes) -> None:
    """Make `path` a file of `raw`, which is there whole or not at all; one that holds just this is left as it is.

    It grows in a hidden file beside, which the next try takes over should this one be cut off. Raises OSError;
    InvalidInput for a file that holds something else, or is being written.
    """
    part = path.with_name(f".{path.name}.memforest-part")
    if _same(path, raw):
        return
    with part.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InvalidInput(
                f"{path} is being written by another export; wait for it, or name another file"
            ) from None
        if _same(path, raw):  # by one that was faster, in whose file we must not write
            return
        try:
            file.truncate(0)
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
            part.rename(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _same(path: Path, raw: bytes) -> bool:
    """Whether `path` holds just `raw`. Raises InvalidInput where it holds something else."""
    if not path.exists():
        return False
    if path.is_file() and path.stat().st_size == len(raw) and path.read_bytes() == raw:
        return True
    raise InvalidInput(f"{path} exists and holds something else; it was kept; name another file")


async def _imported(settings: "Settings", raw: bytes, user: "UserId") -> "Imported":
    """With the embedder that is set up: another one's vectors would be refused by whoever asks this memory."""
    from memforest_ray.ambient import SystemClock, SystemRandom
    from memforest_ray.local.models import open_models
    from memforest_ray.local.portable import import_forest
    from memforest_ray.storage.open import open_store

    clock, random = SystemClock(), SystemRandom()
    # The embedder alone: no chat model is asked anything.
    quiet = settings if settings.remote_embedder else settings.model_copy(update={"backend": "offline"})
    opened = open_models(quiet, clock, random)
    try:
        return await import_forest(raw, open_store(settings.store), user, opened.models.embedder, clock, random)
    finally:
        await opened.close()


def _say(screen: "Console", line: str) -> None:
    from rich.text import Text

    screen.print(Text(clean(line)), soft_wrap=True)
