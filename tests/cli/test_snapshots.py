"""`memforest save`, `restore`, `snapshots` on a real store on disk."""

from pathlib import Path
from typing import Any

import pytest

from memforest_ray import client
from memforest_ray.cli import snapshots as verbs
from memforest_ray.config import Settings
from memforest_ray.facts.rules import RuleExtractor
from memforest_ray.local import LocalRuntime, Models
from memforest_ray.storage.open import open_store
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.trees.summaries import SelectionSummarizer
from tests.cli.conftest import Program

BOB = Path(__file__).parents[2] / "examples/bob.json"


def _open(settings: Settings) -> LocalRuntime:
    """Forests in this process, with an embedder that loads nothing."""
    models = Models(RuleExtractor(), SelectionSummarizer(), HashEmbedder())
    return LocalRuntime(settings, open_store(settings.store), models)


@pytest.fixture
def bob(program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """The program over a store that holds Bob's conversation."""
    monkeypatch.setattr(client, "_open_runtime", _open)
    monkeypatch.setenv("MEMFOREST_STORE", f"file://{tmp_path / 'store'}")
    assert program("ingest", str(BOB), "--user", "bob", "--json").code == 0
    return program


def _sessions(bob: Program) -> Any:
    return bob("stats", "bob", "--json").data["sessions"]


def test_a_state_is_saved_and_restored(bob: Program) -> None:
    """Each run is a process of its own to the store; what was forgotten since stays forgotten."""
    saved = bob("save", "bob", "before trip", "--json")
    assert (saved.code, saved.data["user"], saved.data["name"]) == (0, "bob", "before trip")
    refused = bob("forget", "bob", "--session", "bob-08", "--json")
    assert (refused.code, refused.data["error"]["snapshots"]) == (2, ["before trip"])
    assert "give --including-snapshots to take it out" in refused.err
    assert _sessions(bob) == 16
    assert bob("forget", "bob", "--session", "bob-08", "--including-snapshots").code == 0
    restored = bob("restore", "bob", "before trip", "--json")
    assert (restored.code, restored.data["snapshot"]) == (0, "before trip")
    assert restored.data["snapshot_version"] == saved.data["version"] < restored.data["version"]
    assert _sessions(bob) == 15


def test_what_did_not_come_back_is_said(bob: Program) -> None:
    """What was forgotten since, and what was corrected; the saved state has lost it, too."""
    bob("save", "bob", "trip")
    assert " but for " not in bob("restore", "bob", "trip").out
    fact = bob("query", "bob", "Where does Bob live?", "--kind", "fact", "--json").data["hits"][0]["fact_id"]
    assert bob("correct", "bob", fact, "Bob lives on the moon.").code == 0
    assert bob("restore", "bob", "trip", "--json").data["facts_left_out"] == [fact]
    told = bob("restore", "bob", "trip").out
    assert told.endswith(" but for what was forgotten or corrected since, which stays so: 1 fact\n")
    turns = bob("forget", "bob", "--session", "bob-08", "--including-snapshots", "--json").data["turns"]
    assert bob("restore", "bob", "trip").out.endswith(f": {turns} turns and 1 fact\n")


def test_snapshots_are_listed_and_deleted(bob: Program) -> None:
    """As a table and as JSON; an unknown one is an input error."""
    assert "nothing is saved" in bob("snapshots", "bob").out
    for name in ("a", "b"):
        assert f"saved as {name}: version" in bob("save", "bob", name).out
    (first, second) = bob("snapshots", "bob", "--json").data["snapshots"]
    assert (first["name"], second["name"]) == ("a", "b")
    assert set(first) == {"name", "version", "created", "rows", "bytes"}
    drawn = bob("snapshots", "bob").out
    assert first["created"][:10] in drawn
    assert "deleted a" in bob("snapshots", "bob", "--delete", "a").out
    assert bob("snapshots", "bob", "--delete", "b", "--json").data == {"user": "bob", "deleted": "b"}
    for arguments in (["snapshots", "bob", "--delete", "a"], ["restore", "bob", "a"]):
        run = bob(*arguments)
        assert (run.code, run.out) == (2, "")
        assert "there is no snapshot 'a'" in run.err


def test_a_name_is_taken_unless_it_is_replaced(bob: Program) -> None:
    """One line that says what to do."""
    assert bob("save", "bob", "a").code == 0
    taken = bob("save", "bob", "a")
    assert (taken.code, taken.out) == (2, "")
    assert "there is already a snapshot 'a', of version " in taken.err
    assert bob("save", "bob", "a", "--replace").code == 0
    assert "equals version" in bob("restore", "bob", "a").out


def test_a_name_cannot_drive_a_terminal(bob: Program) -> None:
    """Control characters of a name are not printed."""
    name = "a\x1b[2Jb"
    for run in (bob("save", "bob", name), bob("snapshots", "bob"), bob("restore", "bob", name)):
        assert (run.code, "\x1b" in run.out) == (0, False)


def test_a_write_is_done_once_under_its_id(bob: Program) -> None:
    """Who did not hear the answer asks again: each is told what was done, and nothing is done twice."""
    for verb, *arguments in (
        ("save", "bob", "a"),
        ("restore", "bob", "a"),
        ("snapshots", "bob", "--delete", "a"),
        ("forget", "bob", "--session", "bob-08"),
    ):
        first, again = (bob(verb, *arguments, "--json", "--op-id", f"one {verb}") for _ in range(2))
        assert (first.code, first.data) == (0, again.data)
        assert bob(verb, *arguments, "--op-id", f"another {verb}").code == (0 if verb == "restore" else 2)
    assert "it was forgotten before" in bob("forget", "bob", "--session", "bob-08").err


def test_verbs_are_listed() -> None:
    """What the program offers."""
    assert set(verbs.__all__) == {"save", "restore", "snapshots"}
