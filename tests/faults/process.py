"""The parent's end of a child: commands in, answers out, signals."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.faults.programme import Deed, Orders

__all__ = ["LIFE_S_MAX", "Child", "Life", "heard_of"]

_ROOT = Path(__file__).parents[2]
LIFE_S_MAX = 120


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


def _popen(orders: Orders) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.faults.child", json.dumps(asdict(orders))]
    return subprocess.Popen(command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def heard_of(lines: Iterable[str], code: int) -> Life:
    """A life that is over, by what was heard of it."""
    rows = [json.loads(line) for line in lines]
    return Life(
        {row["op"]: row["answer"] for row in rows if "answer" in row},
        {row["op"]: row["error"] for row in rows if "error" in row},
        tuple(row["halts"] for row in rows if "halts" in row),
        code,
    )


class Child:
    """A life in a conversation: `with Child(orders) as child`. It is killed if it did not leave by itself."""

    def __init__(self, orders: Orders) -> None:
        self._process = _popen(orders)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def tell(self, command: dict[str, Any]) -> None:
        """Send one command, and do not wait."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        """The next line; waits for it."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
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
        self._process.send_signal(signal.SIGSTOP)
        self.stopped()

    def stopped(self) -> None:
        """Wait until it stands still."""
        os.waitid(os.P_PID, self._process.pid, os.WSTOPPED | os.WNOWAIT)

    def go_on(self) -> None:
        """Let it run again."""
        self._process.send_signal(signal.SIGCONT)

    def leave(self) -> int:
        """No more commands: it closes its forest. Its exit status."""
        self._process.communicate(timeout=LIFE_S_MAX)
        return self._process.returncode
