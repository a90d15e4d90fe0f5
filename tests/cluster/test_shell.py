"""The Slurm script and the environment examples: linted, and run with stand-ins for what a cluster has."""

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from memforest_ray.config import load_settings
from memforest_ray.storage.open import open_store
from tests.cluster.strict import CLUSTER, documents

SCRIPT = CLUSTER / "slurm/memforest.sbatch"
MODELS = CLUSTER / "env/models.env.example"
EXAMPLES = sorted(set((CLUSTER / "env").glob("*.env.example")) - {MODELS})


def test_the_script_has_no_faults() -> None:
    """ShellCheck finds nothing."""
    checker = Path(sys.executable).parent / "shellcheck"
    done = subprocess.run([checker, SCRIPT], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.fixture
def surroundings(tmp_path: Path) -> dict[str, str]:
    """A job of two nodes; `srun` and `ray` tell what they were called with."""
    programs = {
        "scontrol": 'printf "node-a\\nnode-b\\n"',
        "srun": 'printf "%s\\n" "$@"; printf "%s\\n" "store=$MEMFOREST_STORE" "mode=$RAY_AUTH_MODE"; exit 7',
        "ray": "true",
    }
    for name, body in programs.items():
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\n{body}\n", "utf-8")
        program.chmod(0o755)
    (tmp_path / "memforest.env").write_text("MEMFOREST_STORE=s3://bucket/memories\n", "utf-8")
    job = {
        "SLURM_JOB_NODELIST": "node-[a-b]",
        "SLURM_JOB_ID": "12345",
        "SLURM_JOB_NUM_NODES": "2",
        "SLURM_CPUS_PER_TASK": "8",
    }
    return {**job, "PATH": f"{tmp_path}:{os.environ['PATH']}", "HOME": str(tmp_path)}


def test_the_script_starts_one_cluster_and_runs_the_command(surroundings: dict[str, str]) -> None:
    """All nodes, an address of its own on the first, the command with its spaces, the store, the exit code."""
    command = ["memforest", "load", "/data/two words"]
    done = subprocess.run([SCRIPT, *command], check=False, capture_output=True, text=True, env=surroundings)
    lines = done.stdout.splitlines()
    assert done.returncode == 7
    assert lines[:1] == ["--nodes=2"]
    assert lines[lines.index("--address") + 1] == "node-a:22345"
    assert lines[lines.index("--min-nodes") + 1] == "2"
    assert lines[lines.index("--") + 1 : -2] == ["env", "RAY_ADDRESS=node-a:22345", *command]
    assert lines[-2:] == ["store=s3://bucket/memories", "mode=token"]


def test_the_script_wants_a_command(surroundings: dict[str, str]) -> None:
    """Without one nothing starts."""
    done = subprocess.run([SCRIPT], check=False, capture_output=True, text=True, env=surroundings)
    assert (done.returncode, done.stdout) == (2, "")


def _variables(path: Path) -> dict[str, str]:
    pairs = [line.partition("=") for line in path.read_text("utf-8").splitlines() if "=" in line and line[0] != "#"]
    return {name: value for name, _, value in pairs}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_names_a_store(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its variables are settings that we know, its address is a store's, its secrets are blank."""
    given = _variables(path)
    for name, value in given.items():
        monkeypatch.setenv(name, value or "c2VjcmV0")  # what the operator fills in
    assert open_store(load_settings().store).url == given["MEMFOREST_STORE"]
    assert given["RAY_AUTH_MODE"] == "token"
    assert {value for name, value in given.items() if "KEY" in name} <= {""}


def test_every_kind_of_store_has_an_example() -> None:
    """Amazon, Google, Azure, and servers of one's own."""
    assert [path.name.partition(".")[0] for path in EXAMPLES] == ["azure", "gcs", "minio", "s3"]


def test_the_models_are_those_that_are_served(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings name the paths and models of the model tier, and are in force."""
    for name, value in _variables(MODELS).items():
        monkeypatch.setenv(name, value)
    settings = load_settings()
    served = {
        (f"{application['route_prefix']}/v1", model["model_loading_config"]["model_id"])
        for application in documents(CLUSTER / "serve/gen_embed.yaml")[0]["applications"]
        for model in application["args"]["llm_configs"]
    }
    asked = {(urlsplit(where.urls[0]).path, where.model) for where in map(settings.endpoints_of, ("extract", "embed"))}
    assert asked == served
    assert settings.remote_chat
    assert settings.remote_embedder
