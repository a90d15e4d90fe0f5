"""`memforest ingest`: files of conversations become memory."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from dataclasses import replace as replaced
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from memforest_ray.cli.call import Call, FormatOption, TimeOption
from memforest_ray.cli.failures import OK, PARTIAL, UNAVAILABLE, exit_code, in_shell, sentence
from memforest_ray.cli.screen import clean, console
from memforest_ray.errors import InvalidInput, MemForestError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from memforest_ray.client import Client
    from memforest_ray.facts.sessions import Session
    from memforest_ray.forest.intents import Receipt

__all__ = ["Outcome", "Work", "ingest", "read_work"]

FAILURES_SHOWN = 50
"""Lines about failures on stderr; all of them stand in the JSON."""
_COLUMNS = {
    "sessions": "sessions",
    "duplicates": "duplicates",
    "cells": "cells",
    "facts_added": "new facts",
    "facts_merged": "merged",
    "turns_without_time": "undated",
    "version": "version",
}
"""What a person is told of a user: count -> title, together narrow enough for 80 columns."""
SESSIONS_NAMED = 3
"""Of those that failed for one reason; all of them stand in the JSON."""


@dataclass(frozen=True, slots=True)
class Work:
    """The sessions that go to one user."""

    user: str
    sessions: "tuple[Session, ...]"


@dataclass(slots=True)
class Outcome:
    """What became of one user's sessions."""

    user: str
    receipts: "list[Receipt]" = field(default_factory=list)
    errors: list[MemForestError] = field(default_factory=list)

    @property
    def totals(self) -> dict[str, Any]:
        """Counts over all receipts; the version is the last one."""
        return {
            "user": self.user,
            "version": max((receipt.version for receipt in self.receipts), default=None),
            "sessions": len(self.receipts),
            "duplicates": sum(receipt.duplicate for receipt in self.receipts),
            "cells": sum(receipt.cells for receipt in self.receipts),
            "facts_added": sum(receipt.facts_added for receipt in self.receipts),
            "facts_merged": sum(receipt.facts_merged for receipt in self.receipts),
            "turns_without_time": sum(receipt.turns_without_time for receipt in self.receipts),
            "naive_times": sum(receipt.naive_times for receipt in self.receipts),
        }

    @property
    def notes(self) -> list[str]:
        """What receipts say of sessions that are kept, a line for each kind of it."""
        found: dict[str, list[str]] = {}
        for receipt in self.receipts:
            for note in receipt.notes:
                found.setdefault(note, []).append(str(receipt.session_id))
        return [f"{_sessions_named(sessions)}: {in_shell(note)}" for note, sessions in found.items()]

    @property
    def failures(self) -> list[dict[str, Any]]:
        """Everything that did not become memory, each by name."""
        cells = [
            {"user": self.user, "session": receipt.session_id, "cell": cell, "message": reason}
            for receipt in self.receipts
            for cell, reason in receipt.failed_cells.items()
        ]
        whole = [
            {
                "user": self.user,
                "session": error.detail.get("session"),
                "kind": error.kind,
                "message": sentence(error),
            }
            for error in self.errors
        ]
        return cells + whole


def ingest(
    call: Call,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Files of conversations.")],
    *,
    user: Annotated[str, typer.Option("--user", "-u", metavar="USER", help="Whose memory.")],
    format: FormatOption = "auto",  # noqa: A002 - the option's name
    one_user: Annotated[
        bool,
        typer.Option("--one-user", help="Put all conversations of a file into USER, not into USER/<conversation id>."),
    ] = False,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Replace stored sessions whose turns differ."),
    ] = False,
    speaker: Annotated[
        str | None,
        typer.Option("--speaker", metavar="NAME", help='Who "user" is, in chats that do not name them.'),
    ] = None,
    time: TimeOption = None,
    wait: Annotated[
        Literal["refreshed", "facts"],
        typer.Option(help="With a model: return when summaries are written, or as soon as facts can be found."),
    ] = "refreshed",
) -> int:
    """Add conversations to a user's memory. They can be queried when this command ends.

    Ingesting the same file again changes nothing; one that has grown adds what is new.
    """
    told = {"speaker": speaker, "time": time}
    work = [item for path in paths for item in read_work(path, user, format, one_user=one_user, **told)]
    with call.client() as client, _bar(call) as bar:
        outcomes = _ingest_all(client, work, bar, replace=replace, wait=wait)
    return _report(call, work, outcomes)


def read_work(path: Path, user: str, format_name: str, *, one_user: bool, **told: Any) -> list[Work]:
    """The sessions of one file, by user; `told`: its speaker and time. Raises InvalidInput for a file without any."""
    from memforest_ray.facts.readers import read_conversations

    _refuse_exported(path, user)
    conversations = list(read_conversations(path, format=format_name, **told))
    if len(conversations) == 1:
        return [Work(user, tuple(conversations[0].sessions))]
    if one_user:
        # Conversations of one file often number their sessions alike: each keeps its own.
        sessions = [replaced(one, id=f"{item.id}/{one.id}") for item in conversations for one in item.sessions]
        return [Work(user, tuple(sessions))]
    return [Work(f"{user}/{item.id}", tuple(item.sessions)) for item in conversations]


def _refuse_exported(path: Path, user: str) -> None:
    """A memory is imported, as it is: it was read already. Raises InvalidInput; what cannot be read is told later."""
    from memforest_ray.commit.frames import framed

    if not path.is_file():  # what is read from a pipe is gone
        return
    try:
        with path.open("rb") as file:
            head = file.read(16)
    except (OSError, ValueError):
        return
    if framed(head):
        raise InvalidInput(
            f"{path} is an exported memory; nothing was changed; import it: "
            f"memforest import {shlex.quote(str(path))} --user {shlex.quote(user)}"
        )


def _bar(call: Call) -> "Progress":
    """Sessions done, of how many, and how fast; on stderr, and only on a terminal."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("sessions"),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        console=console(call.stderr),
        disable=not call.stderr.isatty(),
        transient=True,
    )


def _ingest_all(client: "Client", work: list[Work], bar: "Progress", **how: Any) -> list[Outcome]:
    """One user after the other. Stops when nothing of a user could be written for want of a dependency."""
    outcomes: list[Outcome] = []
    for item in work:
        outcome = Outcome(item.user)
        outcomes.append(outcome)
        task = bar.add_task(clean(item.user), total=len(item.sessions), rate="")
        try:
            _ingest_one(client, item, outcome, bar, task, **how)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(_interrupted(outcomes, work)) from None
        if not outcome.receipts and any(exit_code(error) == UNAVAILABLE for error in outcome.errors):
            break
    return outcomes


def _ingest_one(client: "Client", item: Work, outcome: Outcome, bar: "Progress", task: "TaskID", **how: Any) -> None:
    def progress(_done: int, _total: int, became: "Receipt | MemForestError") -> None:
        if isinstance(became, MemForestError):
            outcome.errors.append(became)
        else:
            outcome.receipts.append(became)
        speed = bar.tasks[task].speed
        bar.update(task, advance=1, rate="" if speed is None else f"{speed:.1f}/s")

    try:
        client.user(item.user).ingest_many(item.sessions, on_progress=progress, **how)
    except MemForestError as error:
        if not outcome.errors:  # else it is one of those that progress has seen
            outcome.errors.append(error)


def _interrupted(outcomes: list[Outcome], work: list[Work]) -> str:
    kept = sum(len(outcome.receipts) for outcome in outcomes)
    total = sum(len(item.sessions) for item in work)
    return f"interrupted; at least {kept} of {total} sessions are kept; run the same command again to go on from there"


def _report(call: Call, work: list[Work], outcomes: list[Outcome]) -> int:
    """Say what was done and what was not. The exit code."""
    failures = [failure for outcome in outcomes for failure in outcome.failures]
    untried = [
        {"user": item.user, "message": "not tried: the failures before it concern every user"}
        for item in work[len(outcomes) :]
    ]
    lines = list(_lines(failures + untried))
    for line in lines[:FAILURES_SHOWN]:
        call.say(line)
    if len(lines) > FAILURES_SHOWN:
        call.say(f"{len(lines) - FAILURES_SHOWN} more lines about failures; --json lists them all")
    users = [outcome.totals for outcome in outcomes]
    receipts = [{"user": outcome.user, **item.to_json()} for outcome in outcomes for item in outcome.receipts]
    data = {"users": users, "receipts": receipts, "failures": failures + untried}
    call.answer(data, lambda screen: _draw(screen, users, list(_remarks(work, outcomes))))
    return _code(outcomes, failures)


def _remarks(work: list[Work], outcomes: list[Outcome]) -> Iterator[str]:
    """What a person should know of sessions that are kept: what else could be told of them, and what was left out."""
    receipts = [receipt for outcome in outcomes for receipt in outcome.receipts]
    undated = sum(receipt.turns_without_time for receipt in receipts)
    if undated:
        yield (
            f"undated {undated:,}: turns of which nothing says when they were spoken, so that no question about a time "
            "finds them; if you know when, run it again with --time TIME --replace"
        )
    turns = [turn for item in work for session in item.sessions for turn in session.turns]
    nameless = any(turn.role == "user" and turn.speaker in (None, "user") for turn in turns)
    if nameless and not all(receipt.duplicate for receipt in receipts):
        yield 'somebody is only called "user"; to say who that is, run it again with --speaker NAME --replace'
    for outcome in outcomes:
        yield from outcome.notes


def _lines(failures: list[dict[str, Any]]) -> Iterator[str]:
    """What failed and why, a line for each reason."""
    grouped: dict[tuple[str, str, str], list[str | None]] = {}
    for failure in failures:
        key = (failure["user"], failure.get("cell", ""), failure["message"])
        grouped.setdefault(key, []).append(failure.get("session"))
    for (user, cell, message), found in grouped.items():
        named = _sessions_named([session for session in found if session is not None])
        yield ": ".join(part for part in (user, named if named not in message else "", cell, message) if part)


def _sessions_named(sessions: list[str]) -> str:
    """`session 's1'`, `7 sessions ('s1', 's2', 's3', ...)`; empty for none."""
    named = ", ".join(repr(session) for session in sessions[:SESSIONS_NAMED])
    if len(sessions) > 1:
        return f"{len(sessions)} sessions ({named}{', ...' * (len(sessions) > SESSIONS_NAMED)})"
    return named and f"session {named}"


def _code(outcomes: list[Outcome], failures: list[dict[str, Any]]) -> int:
    if not failures:
        return OK
    if any(outcome.receipts for outcome in outcomes):
        return PARTIAL
    return max(exit_code(error) for outcome in outcomes for error in outcome.errors)


def _draw(screen: "Console", users: list[dict[str, Any]], remarks: list[str]) -> None:
    from rich.table import Table
    from rich.text import Text

    stored = [user for user in users if user["sessions"]]
    if not stored:
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("user", overflow="fold")
    for title in _COLUMNS.values():
        table.add_column(title, justify="right", no_wrap=True)
    for user in stored:
        table.add_row(Text(clean(user["user"])), *(f"{user[key]:,}" for key in _COLUMNS))
    screen.print(table)
    for remark in remarks:
        screen.print(Text(clean(remark), style="dim"))
