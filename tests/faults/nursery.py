"""Has children at once: it imports everything once, and forks a process for each life that is asked for.

A child is a process like any other: it has its own pipes, is killed or stopped by the kernel, and leaves nothing but
its store. Only its parent can wait for it, so the nursery does that, too.
"""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.faults.child import Worker
from tests.faults.process import Child, Life, Wait
from tests.faults.programme import Deed, Orders

__all__ = ["Nursery"]

_ROOT = Path(__file__).parents[2]
_LIFE_S_MAX = 120
_MESSAGE_BYTES_MAX = 1 << 16


class Nursery:
    """The tests' end: `with Nursery() as nursery`."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-m", "tests.faults.nursery"]
            self._process = subprocess.Popen(command, cwd=_ROOT, stdin=theirs.fileno())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._socket.close()
        self._process.wait()

    def bear(self, orders: Orders) -> Child:
        """A life in a conversation."""
        (ears, mouth), (answers, tongue) = os.pipe(), os.pipe()
        cloud = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
        pid = self._ask("bear", [asdict(orders), cloud], ears, tongue)
        os.close(ears)
        os.close(tongue)
        return Child(pid, os.fdopen(mouth, "w"), os.fdopen(answers), lambda wait: self._ask(wait, [pid]))

    def live(self, orders: Orders, todo: Iterable[Deed]) -> Life:
        """A whole life."""
        with self.bear(orders) as child:
            return child.live(todo)

    def _ask(self, what: str, arguments: list[Any], *pipes: int) -> int:
        socket.send_fds(self._socket, [json.dumps([what, arguments]).encode()], pipes)
        return int(self._socket.recv(_MESSAGE_BYTES_MAX))


def _wait(wait: Wait, pid: int) -> int:
    """Until a child stands still, or has ended: its exit status then, or minus the signal that killed it."""
    if wait == "ended":
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    return 0


def _bear(parent: socket.socket, pipes: list[int], orders: dict[str, Any], environment: dict[str, str]) -> int:
    """One more process; its id."""
    child = os.fork()
    if child:
        for pipe in pipes:
            os.close(pipe)
        return child
    parent.close()
    for place, pipe in enumerate(pipes):
        os.dup2(pipe, place)
        os.close(pipe)
    os.environ.update(environment)
    signal.alarm(_LIFE_S_MAX)  # one that hangs keeps nobody waiting for ever
    try:
        asyncio.run(Worker(Orders(**orders)).work())
    except BaseException:  # noqa: BLE001 - a child ends here, whatever has happened
        traceback.print_exc()
        os._exit(1)
    sys.stdout.flush()
    os._exit(0)


def _main() -> None:
    with socket.socket(fileno=os.dup(0)) as parent:
        while True:
            message, pipes, _, _ = socket.recv_fds(parent, _MESSAGE_BYTES_MAX, 2)
            if not message:
                return
            what, arguments = json.loads(message)
            answer = _bear(parent, pipes, *arguments) if what == "bear" else _wait(what, *arguments)
            parent.send(str(answer).encode())


if __name__ == "__main__":
    _main()
