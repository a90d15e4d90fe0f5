"""The README: what it tells a newcomer to run runs, and what it names is there."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

import memforest_ray as mf
from memforest_ray.cli.app import app
from memforest_ray.config import ENVIRONMENT_PREFIX, Settings

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
SHELL = "\n".join(re.findall(r"```bash\n(.*?)```", README, re.DOTALL))
COMMANDS = sorted(set(re.findall(r"^memforest [^#\n]*[^#\s]", SHELL, re.MULTILINE)))
SECOND = mf.Session(id="today", turns=[mf.Turn("I live in Miami.", speaker="Bob")])


def test_its_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Both blocks, as they stand; before the second is what it speaks of: a saved state, and Carol's memory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMFOREST_RUNTIME", "local")
    first, second = (compile(block, "README.md", "exec") for block in PYTHON)
    names: dict[str, Any] = {}
    exec(first, names)
    assert "Bob moved to Miami" in capsys.readouterr().out
    with mf.connect(store="file://memories") as client:
        names |= {"client": client, "alice": client.user("alice")}
        names["alice"].ingest(SECOND)
        names["alice"].save("before-trip")
        client.user("carol").ingest(SECOND)
        exec(second, names)
        assert [hit.text for hit in names["alice"].query("Where does Bob live now?", k=1)] == ["Bob lives in Dixon."]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_known(command: str) -> None:
    """The program has the verb and its options."""
    verbs: Any = typer.main.get_command(app)
    _, verb, *words = shlex.split(command)
    known = {name for parameter in verbs.commands[verb].params for name in (*parameter.opts, *parameter.secondary_opts)}
    assert [word for word in words if word.startswith("-") and word not in known] == []


def test_every_verb_of_daily_use_is_shown() -> None:
    """The search for commands finds them."""
    assert {"ingest", "query", "ask", "show", "forget", "doctor"} <= {command.split()[1] for command in COMMANDS}


def test_settings_are_called_by_their_names() -> None:
    """Variables of the environment."""
    known = {ENVIRONMENT_PREFIX + name.upper() for name in Settings.model_fields} | {ENVIRONMENT_PREFIX + "CONFIG"}
    assert set(re.findall(r"\bMEMFOREST_[A-Z_]*[A-Z]", README)) - known == set()


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^)#:]+)\)", README))))
def test_a_link_leads_somewhere(link: str) -> None:
    """Files and folders of the project."""
    assert (ROOT / link).exists()
