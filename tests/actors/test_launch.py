"""Heads: what is said to them, what they leave behind, and how their life is told."""

import fcntl
import re
from pathlib import Path

import pytest

from memforest_actors import environment, launch
from memforest_actors.launch import HeadOrder, HeadState
from memforest_ray.config import Settings
from memforest_ray.errors import ClusterUnavailable


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state file of the test's own."""
    path = tmp_path / "warm.json"
    monkeypatch.setattr(launch, "state_file", lambda: path)
    return path


def test_orders_and_states_travel() -> None:
    """Both are one line of JSON."""
    order = HeadOrder(Settings().model_dump(mode="json"), {"extractor": "a:b"}, "/tmp/x", None)
    assert HeadOrder.read(order.line().decode()) == order
    assert Settings(**HeadOrder.read(order.line().decode()).settings) == Settings()
    told = HeadState("h:1", 7, "token")
    assert HeadState.read(told.line()) == told


def test_no_state_no_head(state: Path) -> None:
    """Without a file there is no warm cluster, and none to stop."""
    assert launch.warm_head() is None
    assert launch.stop_warm() is None


def test_a_stale_file_deceives_nobody(state: Path) -> None:
    """What a head left behind when it was killed names nothing: nobody holds its lock."""
    state.write_text(HeadState("h:1", 7, "token").line())
    assert launch.warm_head() is None


def test_a_held_file_is_believed(state: Path) -> None:
    """A head that lives holds its file; one that is starting has not written it yet."""
    with state.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert launch.warm_head() is None
        held.write(HeadState("h:1", 7, "token").line())
        held.flush()
        assert launch.warm_head() == HeadState("h:1", 7, "token")


def test_a_head_that_cannot_start(monkeypatch: pytest.MonkeyPatch, state: Path) -> None:
    """Its last words are in the error, and where the others are."""
    monkeypatch.setattr("sys.executable", "/bin/false")
    monkeypatch.setattr(launch, "private_folder", lambda: state.parent)
    with pytest.raises(ClusterUnavailable, match="cannot be started"):
        launch.start_own(Settings())


def test_the_private_folder_is_private_and_short() -> None:
    """Nobody else may enter it, and sockets below it have names that fit."""
    folder = environment.private_folder()
    assert folder.stat().st_mode & 0o077 == 0
    assert len(str(folder)) < 40


def test_workers_find_our_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """A head's surroundings name the folders of our packages first, and no other cluster."""
    monkeypatch.setenv("PYTHONPATH", "relative")
    monkeypatch.setenv("RAY_ADDRESS", "h:1")
    given = environment.head_environment()
    paths = given["PYTHONPATH"].split(":")
    assert paths[: len(set(environment.roots()))] == list(dict.fromkeys(environment.roots()))
    assert paths[-1] == str(Path("relative").resolve())
    assert "RAY_ADDRESS" not in given


def test_workers_keep_bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the surroundings say: else each forest that starts would compile this package."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    assert "PYTHONDONTWRITEBYTECODE" not in environment.head_environment()


@pytest.mark.parametrize(
    "line",
    [
        "WARNING: 8 PYTHON worker processes have been started on node: ab with address: 10.0.0.1.",
        "A worker died or was killed while executing a task by an unexpected system error.",
    ],
)
def test_ray_says_nothing_that_nobody_needs_to_know(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it would print among the output of a command is left out by its own means."""
    surroundings = {"RAY_AUTH_MODE": "token"}
    monkeypatch.setattr("os.environ", surroundings)
    environment.prepare_driver("token")
    assert re.search(surroundings["RAY_DEDUP_LOGS_SKIP_REGEX"], line)
