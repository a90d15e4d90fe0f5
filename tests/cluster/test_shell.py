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


STAND_INS = {
    "scontrol": 'printf "node-a\\nnode-b\\n"',
    # The address of the first node is asked for on the last one; all else is a step that lasts until it is stopped.
    "srun": """case "$*" in
*getent*) echo "$@" >"$HOME/asked"; echo "10.0.0.1 STREAM node-a" ;;
*) echo "$@" >"$HOME/others"; exec sleep 60 ;;
esac""",
    "ray": 'echo "$@" >>"$HOME/ray"; test "$1" != start || test ! -e "$HOME/broken"',
    "python": """echo "$@" >>"$HOME/python"
case "$1" in -) cat >"$HOME/waiting"; until test -s "$HOME/others"; do :; done; test ! -e "$HOME/alone" ;; esac""",
}


@pytest.fixture
def surroundings(tmp_path: Path) -> dict[str, str]:
    """A job of two nodes; the programs of a cluster note in the home directory what they were called with."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, body in STAND_INS.items():
        program = programs / name
        program.write_text(f"#!/bin/sh\n{body}\n", "utf-8")
        program.chmod(0o755)
    (tmp_path / "memforest.env").write_text("MEMFOREST_STORE=s3://bucket/memories\n", "utf-8")
    job = {
        "SLURM_JOB_NODELIST": "node-[a-b]",
        "SLURM_JOB_ID": "12345",
        "SLURM_JOB_NUM_NODES": "2",
        "SLURM_CPUS_PER_TASK": "8",
        "SLURM_MEM_PER_NODE": "32768",
    }
    return {**job, "PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(tmp_path)}


TELL = ["sh", "-c", 'echo "$1" "$MEMFOREST_STORE" "$RAY_AUTH_MODE" "$RAY_ADDRESS"; exit 7', "sh", "two words"]


def _run(surroundings: dict[str, str], *command: str) -> "subprocess.CompletedProcess[str]":
    home = surroundings["HOME"]
    return subprocess.run([SCRIPT, *command], check=False, capture_output=True, text=True, env=surroundings, cwd=home)


def _noted(surroundings: dict[str, str], name: str) -> list[str]:
    path = Path(surroundings["HOME"]) / name
    return path.read_text("utf-8").splitlines() if path.exists() else []


def test_the_script_runs_the_command_on_a_cluster(surroundings: dict[str, str]) -> None:
    """The command has its spaces, the store and the cluster's address; what it says and its exit code are the job's."""
    done = _run(surroundings, *TELL)
    assert (done.returncode, done.stdout, done.stderr) == (
        7,
        "two words s3://bucket/memories token 10.0.0.1:22345\n",
        "",
    )


def test_the_script_starts_ray_on_every_node(surroundings: dict[str, str]) -> None:
    """The head on the first, by the address that the last node knows it by; cores and memory are those of the job."""
    _run(surroundings, *TELL)
    size = "--num-cpus=8 --object-store-memory=1073741824 --memory=24051810304"
    assert _noted(surroundings, "ray") == [
        "get-auth-token --generate",
        f"start --head --node-ip-address=10.0.0.1 --port=22345 {size}",
        "stop",
    ]
    (others,) = _noted(surroundings, "others")
    assert others.startswith("--nodes=1 --ntasks=1 --exclude=node-a --cpus-per-task=8")
    assert others.endswith(f"ray start --address=10.0.0.1:22345 --block {size}")
    (asked,) = _noted(surroundings, "asked")
    assert "--nodelist=node-b" in asked


def test_the_script_has_the_forests_leave(surroundings: dict[str, str]) -> None:
    """It waits for the nodes before the command, and for checkpoints after it."""
    _run(surroundings, *TELL)
    assert _noted(surroundings, "python") == ["- 2", "-m memforest_actors.drain --everywhere"]


def test_what_waits_for_the_nodes_is_python(surroundings: dict[str, str]) -> None:
    """The lines that the script gives to Python compile."""
    _run(surroundings, *TELL)
    compile("\n".join(_noted(surroundings, "waiting")), str(SCRIPT), "exec")


def test_without_a_head_nothing_is_done(surroundings: dict[str, str]) -> None:
    """Ray that does not start on the first node fails the job, and says where to look."""
    (Path(surroundings["HOME"]) / "broken").touch()
    done = _run(surroundings, *TELL)
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr == "Ray does not start here, see memforest-12345.ray.log; nothing was done\n"


def test_without_all_nodes_nothing_is_done(surroundings: dict[str, str]) -> None:
    """A node that does not join fails the job; what has started is stopped."""
    (Path(surroundings["HOME"]) / "alone").touch()
    done = _run(surroundings, *TELL)
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr == "Ray does not start on all nodes, see memforest-12345.ray.log; nothing was done\n"
    assert _noted(surroundings, "ray")[-1] == "stop"


def test_the_token_is_not_told(surroundings: dict[str, str]) -> None:
    """Whoever can read the logs does not read the key of the cluster."""
    ray = Path(surroundings["PATH"].split(":")[0]) / "ray"
    ray.write_text('#!/bin/sh\ncase "$1" in get-auth-token) echo SECRET ;; esac\n', "utf-8")
    done = _run(surroundings, *TELL)
    told = [done.stdout, done.stderr, *_noted(surroundings, "memforest-12345.ray.log")]
    assert [line for line in told if "SECRET" in line] == []


def test_the_script_wants_a_command(surroundings: dict[str, str]) -> None:
    """Without one nothing starts."""
    done = _run(surroundings)
    assert (done.returncode, done.stdout) == (2, "")
    assert _noted(surroundings, "ray") == []


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
