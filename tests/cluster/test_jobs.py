"""Bulk load as a job on a cluster with a dashboard and token authentication: submitted, stopped, resumed, partial."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ray.job_submission import JobStatus, JobSubmissionClient

from tests.cluster.strict import ROOT

pytestmark = pytest.mark.ray

BIN = Path(sys.executable).parent
TOKEN = "0123456789abcdef0123456789abcdef"
USERS = 4
STRANGE = ("RAY_", "MEMFOREST_", "PYTHONDONTWRITEBYTECODE")
"""What the cluster does not take from our surroundings: without bytecode each of its processes compiles the package."""


@dataclass(frozen=True)
class Cluster:
    """A head with a dashboard, and the environment of whoever may use it."""

    dashboard: str
    address: str
    environment: dict[str, str]

    def submit(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """`ray job submit`. Ray tells a job the address of any head of this machine, so it is named here."""
        here = json.dumps(self.job_environment)
        return self.ray("job", "submit", "--address", self.dashboard, "--runtime-env-json", here, *arguments)

    @property
    def job_environment(self) -> dict[str, Any]:
        """What a job is told."""
        return {"env_vars": {"MEMFOREST_ADDRESS": self.address}}

    def ray(self, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        """One run of Ray's command line."""
        env = {**self.environment, **environment}
        return subprocess.run(
            [BIN / "ray", *arguments], check=False, capture_output=True, text=True, env=env, timeout=120
        )


@contextmanager
def _head(folder: Path) -> Iterator[Cluster]:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(STRANGE)},
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "PYTHONPATH": f"{ROOT}:{ROOT / 'actors'}",
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": TOKEN,
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_worker_niceness": "0",
        "MEMFOREST_STORE": f"file://{folder / 'store'}",
    }
    sockets = tempfile.mkdtemp(dir="/tmp", prefix="mf")  # short: paths of sockets below it have 107 characters
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.cluster.dashboard", sockets],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
        cwd=folder,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        state = json.loads(process.stdout.readline())
        yield Cluster(state["dashboard"], state["address"], environment)
    finally:
        process.stdin.close()
        process.wait(60)
        process.stdout.close()
        shutil.rmtree(sockets, ignore_errors=True)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """With token authentication on."""
    with _head(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture
def jobs(cluster: Cluster) -> JobSubmissionClient:
    """The dashboard's own client; this process may have another way of authentication, so the header is named."""
    return JobSubmissionClient(cluster.dashboard, headers={"Authorization": f"Bearer {TOKEN}"})


@pytest.fixture
def chats(tmp_path: Path) -> Path:
    """A file for each of a few users."""
    folder = tmp_path / "chats"
    folder.mkdir()
    for number in range(USERS):
        turns = [{"speaker": "Ann", "text": f"I moved to house number {number} last week."}]
        body = {"id": "c", "sessions": [{"id": "s1", "time": "2024-05-01", "turns": turns}]}
        (folder / f"u{number}.json").write_text(json.dumps(body), "utf-8")
    return folder


def _until(jobs: JobSubmissionClient, job: str, reached: Callable[[], bool]) -> None:
    """Wait for something that is seen in the job's log or status."""
    for _ in range(600):
        if reached():
            return
        subprocess.run(["sleep", "0.1"], check=True)  # a look at the dashboard each time: there is no event to wait for
    raise AssertionError(jobs.get_job_logs(job))


def _result(jobs: JobSubmissionClient, job: str) -> dict[str, Any]:
    last = jobs.get_job_logs(job).splitlines()[-1]
    result: dict[str, Any] = json.loads(last.removeprefix("RESULT "))
    return result


def test_a_load_is_submitted_stopped_and_resumed(cluster: Cluster, jobs: JobSubmissionClient, chats: Path) -> None:
    """`ray job submit` starts it, a stop ends it with its result told, the next one does the rest."""
    command = ["memforest", "load", str(chats), "--concurrency", "1"]
    submitted = cluster.submit("--submission-id", "load-1", "--no-wait", "--", *command)
    assert submitted.returncode == 0, submitted.stderr
    _until(jobs, "load-1", lambda: '"user"' in jobs.get_job_logs("load-1"))
    jobs.stop_job("load-1")  # what `ray job stop` calls; that program itself takes longer to start than the load
    _until(jobs, "load-1", lambda: jobs.get_job_status("load-1").is_terminal())
    stopped = _result(jobs, "load-1")
    assert jobs.get_job_status("load-1") == JobStatus.STOPPED
    assert (stopped["stopped"], 1 <= stopped["users"] < USERS) == (True, True)

    jobs.submit_job(entrypoint=" ".join(command), submission_id="load-2", runtime_env=cluster.job_environment)
    _until(jobs, "load-2", lambda: jobs.get_job_status("load-2").is_terminal())
    result = _result(jobs, "load-2")
    assert jobs.get_job_status("load-2") == JobStatus.SUCCEEDED, jobs.get_job_logs("load-2")
    assert (result["skipped"] >= stopped["users"], result["skipped"] + result["users"]) == (True, USERS)

    (chats / "broken.json").write_text("{", "utf-8")
    partial = cluster.submit("--submission-id", "load-3", "--", *command)
    assert partial.returncode == 1, partial.stdout
    assert jobs.get_job_info("load-3").driver_exit_code == 3
    assert _result(jobs, "load-3")["duplicates"] == USERS


def test_without_the_token_nobody_gets_in(cluster: Cluster) -> None:
    """Neither the dashboard nor a driver of ours; the message names the cluster."""
    foreign = {"RAY_AUTH_TOKEN": "f" * 32}
    listed = cluster.ray("job", "list", "--address", cluster.dashboard, **foreign)
    assert listed.returncode != 0
    joined = subprocess.run(
        [BIN / "memforest", "query", "u0", "Where?"],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        env={**cluster.environment, **foreign, "RAY_ADDRESS": cluster.address, "RAY_NUM_REDIS_GET_RETRIES": "1"},
    )
    assert joined.returncode == 4
    assert cluster.address in joined.stderr


def test_the_example_is_a_job(cluster: Cluster) -> None:
    """Handles travel into tasks, and each person's answer comes back."""
    done = cluster.submit("--working-dir", str(ROOT / "examples"), "--", "python", "ray_job.py")
    assert done.returncode == 0, done.stdout
    assert "Dana (version 2)" in done.stdout, done.stdout[-3000:]
    assert "Haifa" in done.stdout
