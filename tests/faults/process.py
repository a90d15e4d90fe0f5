"""The tests' end of a child: commands in, answers out, signals."""

import json
import os
import signal
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Self, TextIO

from tests.faults.programme import Deed

__all__ = ["Child", "Life", "Wait"]

Wait = Literal["stopped", "ended"]


@dataclass(frozen=True, slots=True)
class Life:
    """What was heard of a child until it ended."""

    acknowledged: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By operation."""
    errors: dict[str, str] = field(default_factory=dict)
    """Kind of error by operation."""
    halts: tuple[str, ...] = ()
    """Where it sent itself a signal."""
    code: int = 0
    """Its exit status, or minus the signal that killed it."""


class Child:
    """A process that owns a forest: `with nursery.bear(orders) as child`. It is killed if it did not leave by itself.

    `wait` returns when it stands still, or has ended: its exit status then, or minus the signal that killed it.
    """

    def __init__(self, pid: int, told: TextIO, heard: TextIO, wait: Callable[[Wait], int]) -> None:
        self._pid = pid
        self._told = told
        self._heard = heard
        self._wait = wait
        self._left = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not self._left:
            os.kill(self._pid, signal.SIGKILL)
            self.leave()

    def live(self, todo: Iterable[Deed]) -> Life:
        """A whole life: told everything at once, heard to the end."""
        with suppress(BrokenPipeError):  # killed before it was told everything
            self._told.writelines(json.dumps(deed.command) + "\n" for deed in todo)
            self._told.close()
        return _heard_of(self._heard.readlines(), self.leave())

    def tell(self, command: dict[str, Any]) -> None:
        """Send one command, and do not wait."""
        self._told.write(json.dumps(command) + "\n")
        self._told.flush()

    def hear(self) -> dict[str, Any]:
        """The next line; waits for it."""
        line = self._heard.readline()
        assert line, "it has left"
        row: dict[str, Any] = json.loads(line)
        return row

    def do(self, deed: Deed) -> dict[str, Any]:
        """One command and its answer."""
        self.tell(deed.command)
        heard = self.hear()
        assert heard["op"] == deed.op
        return heard

    def stop(self) -> None:
        """Have the kernel stop it, wherever it is, and wait until it stands still."""
        os.kill(self._pid, signal.SIGSTOP)
        self.stopped()

    def stopped(self) -> None:
        """Wait until it stands still."""
        self._wait("stopped")

    def go_on(self) -> None:
        """Let it run again."""
        os.kill(self._pid, signal.SIGCONT)

    def leave(self) -> int:
        """No more commands: it closes its forest. Its exit status."""
        with suppress(BrokenPipeError):
            self._told.close()
        self._heard.read()
        self._heard.close()
        self._left = True
        return self._wait("ended")


def _heard_of(lines: Iterable[str], code: int) -> Life:
    """A life that is over, by what was heard of it."""
    rows = [json.loads(line) for line in lines]
    return Life(
        {row["op"]: row["answer"] for row in rows if "answer" in row},
        {row["op"]: row["error"] for row in rows if "error" in row},
        tuple(row["halts"] for row in rows if "halts" in row),
        code,
    )
