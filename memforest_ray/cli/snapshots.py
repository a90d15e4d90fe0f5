"""`memforest save`, `restore` and `snapshots`: states of a memory under names."""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memforest_ray.cli.call import Call, OpIdOption, expect_memory
from memforest_ray.cli.failures import OK
from memforest_ray.cli.screen import clean

if TYPE_CHECKING:
    from rich.console import Console

    from memforest_ray.commit.snapshots import SnapshotInfo
    from memforest_ray.forest.intents import Restored

__all__ = ["restore", "save", "snapshots"]

_User = Annotated[str, typer.Argument(metavar="USER", help="Whose memory.")]
_Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of the snapshot: any text.")]


def save(
    call: Call,
    user: _User,
    name: _Name,
    replace: Annotated[bool, typer.Option("--replace", help="Replace an older snapshot of this name.")] = False,
    op_id: OpIdOption = None,
) -> int:
    """Save the present state of a memory under a name."""
    with call.client() as client:
        saved = client.user(user).save(name, replace=replace, op_id=op_id)
    line = f"saved as {name}: version {saved.version}"
    call.answer({"user": user, **saved.to_json()}, lambda screen: screen.print(clean(line)))
    return OK


def restore(call: Call, user: _User, name: _Name, op_id: OpIdOption = None) -> int:
    """Restore a saved state. What was forgotten since then stays forgotten."""
    with call.client() as client:
        restored = client.user(user).restore(name, op_id=op_id)
    equals = f"version {restored.version} equals version {restored.snapshot_version}"
    line = f"restored {name}: {equals}{_left_out(restored)}"
    call.answer({"user": user, **restored.to_json()}, lambda screen: screen.print(clean(line)))
    return OK


def _left_out(restored: "Restored") -> str:
    """What did not come back, and why."""
    counts = {"turns": restored.turns_left_out, "facts": len(restored.facts_left_out)}
    parts = [f"{count:,} {what if count > 1 else what[:-1]}" for what, count in counts.items() if count]
    if not parts:
        return ""
    return f" but for what was forgotten or corrected since, which stays so: {' and '.join(parts)}"


def snapshots(
    call: Call,
    user: _User,
    delete: Annotated[str | None, typer.Option("--delete", metavar="NAME", help="Delete this snapshot.")] = None,
    op_id: OpIdOption = None,
) -> int:
    """List the saved states of a memory, or delete one."""
    with call.client() as client:
        memory = client.user(user)
        if delete is not None:
            memory.delete_snapshot(delete, op_id=op_id)
            call.answer({"user": user, "deleted": delete}, lambda screen: screen.print(clean(f"deleted {delete}")))
            return OK
        kept = memory.snapshots()
        if not kept:
            expect_memory(memory)
    call.answer({"user": user, "snapshots": [_row(info) for info in kept]}, lambda screen: _draw(screen, kept))
    return OK


def _row(info: "SnapshotInfo") -> dict[str, Any]:
    row = asdict(info)
    row["created"] = _created(info).isoformat()
    del row["created_ms"]
    return row


def _created(info: "SnapshotInfo") -> datetime:
    return datetime.fromtimestamp(info.created_ms / 1000, UTC)


def _draw(screen: "Console", kept: "list[SnapshotInfo]") -> None:
    from rich.table import Table
    from rich.text import Text

    if not kept:
        screen.print(Text("nothing is saved", style="yellow"))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("name")
    table.add_column("created (UTC)")
    table.add_column("version", justify="right")
    table.add_column("bytes", justify="right")
    for info in kept:
        created = _created(info).strftime("%Y-%m-%d %H:%M")
        table.add_row(Text(clean(info.name)), created, f"{info.version:,}", f"{info.bytes:,}")
    screen.print(table)
