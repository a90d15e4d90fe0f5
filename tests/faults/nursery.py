"""Has children at once: it imports everything once, and forks a process for each life that is asked for.

A child is a process like any other: it has its own pipes, is killed by the kernel, and leaves nothing but its store.
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
from tests.faults.process import LIFE_S_MAX, Life, heard_of
from tests.faults.programme import Deed, Orders

__all__ = ["Nursery"]

_ROOT = Path(__file__).parents[2]
_MESSAGE_BYTES_MAX = 1 << 16


class Nursery:
    """The parent's end: `with Nursery() as nursery`."""

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

    def live(self, orders: Orders, todo: Iterable[Deed]) -> Life:
        """A whole life: told everything at once, heard to the end."""
        (ears, mouth), (answers, tongue) = os.pipe(), os.pipe()
        cloud = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
        socket.send_fds(self._socket, [json.dumps([asdict(orders), cloud]).encode()], [ears, tongue])
        os.close(ears)
        os.close(tongue)
        with os.fdopen(mouth, "w") as told, os.fdopen(answers) as heard:
            try:
                told.writelines(json.dumps(deed.command) + "\n" for deed in todo)
                told.close()
            except BrokenPipeError:
                pass  # killed before it was told everything
            lines = heard.readlines()
        return heard_of(lines, int(self._socket.recv(_MESSAGE_BYTES_MAX)))


def _bear(orders: dict[str, Any], environment: dict[str, str], pipes: list[int]) -> int:
    """One more process; the parent hears its status when it has ended."""
    child = os.fork()
    if child:
        for pipe in pipes:
            os.close(pipe)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    for place, pipe in enumerate(pipes):
        os.dup2(pipe, place)
        os.close(pipe)
    os.environ.update(environment)
    signal.alarm(LIFE_S_MAX)  # one that hangs keeps nobody waiting for ever
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
            orders, environment = json.loads(message)
            parent.send(str(_bear(orders, environment, pipes)).encode())


if __name__ == "__main__":
    _main()
