"""Every command that the operator is told to run: its program knows it and its options, its files are there."""

import re
import shlex
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import typer
from ray.scripts.scripts import cli as ray_cli

from memforest_actors import drain
from memforest_ray.cli.app import app
from tests.cluster.strict import CLUSTER, ROOT, documents

README = CLUSTER / "README.md"
BLOCK = re.compile(r"```bash\n(.*?)```", re.DOTALL)
FOREIGN = frozenset({"docker", "echo", "helm", "kubectl", "sbatch", "set", "export"})
"""Programs that are not at hand here."""
COPIES = frozenset({"cluster/kuberay/secrets.yaml"})
"""Files that the operator makes."""


@cache
def _programs() -> dict[str, Any]:
    from tests.cluster.serving import serve_cli  # noqa: PLC0415 - slow

    return {"ray": ray_cli, "serve": serve_cli(), "memforest": typer.main.get_command(app)}


def _lines(text: str) -> Iterator[str]:
    for block in BLOCK.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            yield line.split(" #")[0].strip()


def _told() -> Iterator[str]:
    """Commands of the README, those within them, and those of the files."""
    text = README.read_text("utf-8")
    yield from _lines(text)
    yield from re.findall(r"exec [^']*'(memforest [^']*)'", text)
    yield from re.findall(r"-- (memforest [^\n#]*)", text.replace("\\\n", " "))
    yield documents(CLUSTER / "kuberay/rayjob.load.yaml")[0]["spec"]["entrypoint"]
    for path in (CLUSTER / "launcher").glob("*.yaml"):
        for key in ("head_start_ray_commands", "worker_start_ray_commands"):
            yield from (part.strip() for line in documents(path)[0][key] for part in re.split(r"&&|\|\|", line))


COMMANDS = sorted({command for command in _told() if command})


def _words(command: str) -> list[str]:
    """Without assignments before and redirections behind."""
    words = shlex.split(command)
    while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
        words.pop(0)
    return words


def _options(command: Any) -> set[str]:
    return {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}


def _check(program: str, words: list[str]) -> None:
    command = _programs()[program]
    while hasattr(command, "commands"):
        name = words.pop(0)
        assert name in command.commands, f"{program} has no {name}"
        command = command.commands[name]
    own = words[: words.index("--")] if "--" in words else words
    known = _options(command) | {"--help"}
    assert [word for word in own if word.startswith("-") and word.split("=")[0] not in known] == []


def test_there_are_commands() -> None:
    """The search for them finds those of every kind."""
    assert {"ray", "serve", "memforest"} <= {_words(command)[0] for command in COMMANDS if _words(command)}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_known(command: str) -> None:
    """Its subcommands and options are those of the installed program."""
    words = _words(command)
    if not words or words[0] in (*FOREIGN, "true", ".") or command.startswith("POD="):
        return
    if words[0] == "python":
        assert words[1] == "-m" or (ROOT / words[1]).is_file()
        return
    _check(words[0], words[1:])


@pytest.mark.parametrize(
    "path", sorted(set(re.findall(r"\bcluster/[\w./-]+\.\w+", README.read_text("utf-8"))) - COPIES)
)
def test_a_named_file_is_there(path: str) -> None:
    """What commands take from this folder."""
    assert (ROOT / path).is_file()


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^)#]+)\)", README.read_text("utf-8")))))
def test_a_link_leads_somewhere(link: str) -> None:
    """Files and folders beside the README."""
    assert (CLUSTER / link).exists()


def test_every_file_is_told_of() -> None:
    """Nothing lies here of which the README, or a file that it names, says nothing."""
    text = "\n".join(path.read_text("utf-8") for path in [README, *CLUSTER.rglob("*.yaml"), *CLUSTER.rglob("Docker*")])
    files = [path for path in CLUSTER.rglob("*") if path.is_file() and path.suffix != ".pyc" and path != README]
    assert [path.name for path in files if path.name not in text and path.name.split(".")[0] not in text] == []


@pytest.mark.parametrize("arguments", [["--within", "120"], ["--everywhere"]])
def test_the_drain_takes_what_pods_and_people_give_it(arguments: list[str]) -> None:
    """Its parser accepts the arguments of the preStop hook and of the README."""
    assert drain.parser().parse_args(arguments)


def test_the_hook_is_the_one_that_is_tested() -> None:
    """The preStop hook gives the drain these arguments."""
    group = documents(CLUSTER / "kuberay/raycluster.memory.yaml")[0]["spec"]["workerGroupSpecs"][0]
    hook = group["template"]["spec"]["containers"][0]["lifecycle"]["preStop"]["exec"]["command"]
    assert shlex.split(hook[-1])[1:] == ["-m", "memforest_actors.drain", "--within", "120"]
