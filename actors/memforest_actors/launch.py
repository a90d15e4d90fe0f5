"""Heads: Ray clusters on this machine that we start ourselves, each kept by one process of ours.

An *own* head lives as long as the pipe to it, so it ends with whoever started it, however that ends. A *warm* head
(`memforest up`) lives until `memforest down`; it holds a lock on its state file, so a stale file deceives nobody.
"""

import fcntl
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from memforest_actors.environment import head_environment, private_folder, state_file
from memforest_actors.options import OFFLINE, Components
from memforest_ray.config import Settings
from memforest_ray.errors import ClusterUnavailable

__all__ = ["HeadOrder", "HeadState", "OwnHead", "start_own", "start_warm", "stop_warm", "warm_head"]

START_S = 180
"""Longest that a head may take to start: about 5 s on two idle cores, models included about 7."""
STOP_S = 120
"""Longest that a head may take to have its forests checkpoint and end."""

_left_running: "list[subprocess.Popen[bytes]]" = []
"""Warm heads that this process started: kept, so that Python does not warn that they are still running."""


@dataclass(frozen=True, slots=True)
class HeadOrder:
    """What a head process is told, as one line of JSON on its stdin."""

    settings: dict[str, Any]
    components: dict[str, str]
    folder: str
    """Ray's temporary folder, the head's alone; removed when it ends."""
    state: str | None
    """A warm head's state file. None: an own head, which ends when its stdin does."""

    def line(self) -> bytes:
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def read(cls, line: str) -> Self:
        return cls(**json.loads(line))


@dataclass(frozen=True, slots=True)
class HeadState:
    """A head that runs, as one line of JSON on its stdout and, if warm, in its state file."""

    address: str
    pid: int
    auth_mode: str

    def line(self) -> str:
        return json.dumps(asdict(self)) + "\n"

    @classmethod
    def read(cls, line: str) -> Self:
        return cls(**json.loads(line))


class OwnHead:
    """A head that ends with this process, or when it is stopped."""

    def __init__(self, process: "subprocess.Popen[bytes]", state: HeadState) -> None:
        self._process = process
        self.state = state

    def stop(self) -> None:
        """Have forests checkpoint, then end everything that was started; waits for it."""
        _hang_up(self._process)
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()  # its Ray processes die with it
            self._process.wait()


def start_own(settings: Settings, components: Components = OFFLINE) -> OwnHead:
    """Start a cluster for this process. Raises ClusterUnavailable."""
    process, state = _start(settings, components, None)
    return OwnHead(process, state)


def start_warm(settings: Settings, components: Components = OFFLINE) -> tuple[HeadState, bool]:
    """Start the warm cluster of this installation unless it runs; whether it was started. Raises ClusterUnavailable."""
    with _only_one():
        running = warm_head()
        if running is not None:
            return running, False
        process, state = _start(settings, components, state_file())
        _hang_up(process)
        _left_running.append(process)
        return state, True


def stop_warm() -> HeadState | None:
    """Stop the warm cluster and wait until it is gone; what it was, or None if there was none."""
    with _only_one():
        running = warm_head()
        if running is not None:
            with state_file().open("rb") as file:
                os.kill(running.pid, signal.SIGTERM)
                fcntl.flock(file, fcntl.LOCK_SH)  # granted when the head, which holds it, has ended
            state_file().unlink(missing_ok=True)
            _reap(running.pid)
        return running


def warm_head() -> HeadState | None:
    """The warm cluster of this installation, if it runs."""
    try:
        with state_file().open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                line = file.read()
                return HeadState.read(line) if line else None  # it is starting
            return None  # nobody holds it: left over from a head that died
    except FileNotFoundError:
        return None


def _reap(pid: int) -> None:
    for process in [each for each in _left_running if each.pid == pid]:
        process.wait()
        _left_running.remove(process)


@contextmanager
def _only_one() -> Iterator[None]:
    """One `up` or `down` at a time."""
    with (private_folder() / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _start(
    settings: Settings, components: Components, state: Path | None
) -> tuple["subprocess.Popen[bytes]", HeadState]:
    folder = tempfile.mkdtemp(prefix="", dir=private_folder())
    order = HeadOrder(
        settings.model_dump(mode="json"), asdict(components), folder, None if state is None else str(state)
    )
    log = Path(folder) / "head.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "memforest_actors.head"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=output,
            bufsize=0,
            cwd=folder,
            env=head_environment(),
            start_new_session=True,  # Ctrl-C in the terminal is ours to answer, not the cluster's
        )
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(BrokenPipeError):  # it has ended already: then it has no answer either
        process.stdin.write(order.line())
    ready, _, _ = select.select([process.stdout], [], [], START_S)
    answer = process.stdout.readline().decode() if ready else ""
    if not answer:
        process.kill()
        raise ClusterUnavailable(f"Ray cannot be started here: {_last_words(process, log)}; nothing was changed")
    return process, HeadState.read(answer)


def _last_words(process: "subprocess.Popen[bytes]", log: Path) -> str:
    """Why a head ended before it began."""
    _hang_up(process)
    process.wait()
    lines = log.read_text(errors="replace").strip().splitlines()
    return f"{lines[-1] if lines else 'it gave no reason'} (full log: {log})"


def _hang_up(process: "subprocess.Popen[bytes]") -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
