"""`memforest merge`, and what is forgotten afterwards, on a real store on disk."""

import json
from pathlib import Path
from typing import Any

import pytest

from memforest_ray import client
from memforest_ray.config import Settings
from memforest_ray.facts.rules import RuleExtractor
from memforest_ray.local import LocalRuntime, Models
from memforest_ray.storage.open import open_store
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.trees.summaries import SelectionSummarizer
from tests.cli.conftest import Program


def _open(settings: Settings) -> LocalRuntime:
    """Forests in this process, with an embedder that loads nothing."""
    return LocalRuntime(
        settings, open_store(settings.store), Models(RuleExtractor(), SelectionSummarizer(), HashEmbedder())
    )


@pytest.fixture
def two(program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """The program over a store with two memories."""
    monkeypatch.setattr(client, "_open_runtime", _open)
    monkeypatch.setenv("MEMFOREST_STORE", f"file://{tmp_path / 'store'}")
    for user, text in (("ann", "I live in Davis."), ("ben", "I moved to Oslo."), ("carl", "I paint boats.")):
        path = tmp_path / f"{user}.json"
        turns = [{"speaker": "Bob", "text": text}, {"role": "user", "text": "I like chess."}]
        path.write_text(json.dumps({"id": "s1", "time": "2023-05-08", "turns": turns}))
        assert program("ingest", str(path), "--user", user, "--json").code == 0
    return program


def _sessions(program: Program, user: str) -> Any:
    return program("stats", user, "--json").data["sessions"]


def test_memories_are_merged(two: Program) -> None:
    """Several into one; each with what came of it. The sources stay."""
    run = two("merge", "ann", "ben", "carl", "--json")
    assert (run.code, run.data["failed"]) == (0, [])
    assert [(row["source"], row["sessions"]) for row in run.data["merged"]] == [("ben", 1), ("carl", 1)]
    assert [_sessions(two, user) for user in ("ann", "ben", "carl")] == [3, 1, 1]
    assert "nothing changed" in two("merge", "ann", "ben").out


def test_a_dry_run_changes_nothing(two: Program) -> None:
    """It says who joins, who is renamed and what conflicts."""
    run = two("merge", "ann", "ben", "--dry-run", "--json")
    (found,) = run.data["would_merge"]
    assert (run.code, found["sessions_new"], found["speakers_joined"]) == (0, ["ben/s1"], ["Bob"])
    assert found["speakers_renamed"] == ["ben/user"]
    assert _sessions(two, "ann") == 1
    assert "speakers renamed (1): ben/user" in two("merge", "ann", "ben", "--dry-run").out


def test_a_part_that_fails_is_named(two: Program) -> None:
    """What could be merged is; nothing at all is an input error."""
    run = two("merge", "ann", "nobody", "ben", "--json")
    assert (run.code, [row["source"] for row in run.data["merged"]]) == (3, ["ben"])
    assert [(row["source"], row["kind"]) for row in run.data["failed"]] == [("nobody", "not_found")]
    assert two("merge", "ann", "nobody").code == 2


def test_what_came_from_somebody_is_forgotten(two: Program) -> None:
    """By origin; and who deletes himself learns who holds a copy."""
    assert two("merge", "ann", "ben", "carl").code == 0
    assert two("forget", "ann", "--origin", "carl").code == 0
    assert _sessions(two, "ann") == 2
    run = two("forget", "carl", "--everything", "--yes", "--json")
    assert run.data["copies"] == []
    run = two("forget", "ben", "--everything", "--yes")
    assert "still in the memories of (1): ann" in run.out


def test_a_memory_is_kept_in_order(two: Program) -> None:
    """Each verb says what it did, as text and as JSON; what had nothing to do says that."""
    for verb in ("repair", "resummarise", "rescene", "rebuild", "reembed"):
        run = two(verb, "ann", "--json")
        assert (run.code, run.data["user"]) == (0, "ann")
        assert two(verb, "ann").out == "nothing changed\n"
    refused = two("resummarise", "ann", "entity:nobody", "--json")
    assert (refused.code, refused.data["error"]["kind"]) == (2, "not_found")


@pytest.mark.parametrize("verb", ["repair", "resummarise", "rescene", "rebuild", "reembed"])
def test_nobody_is_not_kept_in_order(two: Program, verb: str) -> None:
    """A name that was mistyped is noticed, and nothing is made for it."""
    run = two(verb, "nobody", "--json")
    assert (run.code, run.data["error"]["kind"]) == (2, "not_found")
    assert "nobody" not in two("users", "--json").data["users"]


def test_a_fact_is_corrected(two: Program) -> None:
    """By its id; what changed since then is told by the journal."""
    (hit,) = two("query", "ann", "Where does Bob live?", "--k", "1", "--json").data["hits"]
    version = two("stats", "ann", "--json").data["version"]
    run = two("correct", "ann", hit["fact_id"], "Bob lives in Dixon.", "--value", "Dixon", "--json")
    assert (run.code, run.data["corrected"]) == (0, hit["fact_id"])
    news = two("changes", "ann", "--since", str(version), "--json").data
    assert news["facts"] == {"added": [run.data["fact"]], "changed": [], "removed": [hit["fact_id"]]}
    assert f"facts added (1): {run.data['fact']}" in two("changes", "ann", "--since", str(version)).out
    gone = two("changes", "ann", "--since", "99", "--json")
    assert (gone.code, gone.data["error"]["kind"]) == (2, "version_gone")


def test_a_merge_is_done_once_under_its_id(two: Program) -> None:
    """Of several sources, too: again under the id each is told what was taken over."""
    first, again = (two("merge", "ann", "ben", "carl", "--json", "--op-id", "mine").data["merged"] for _ in range(2))
    told = [[(row["source"], row["version"], row["facts_added"]) for row in each] for each in (first, again)]
    assert (told[0], len(told[0])) == (told[1], 2)
    other = two("merge", "ann", "ben", "--json", "--op-id", "other").data["merged"]
    assert [row["duplicate"] for row in other] == [True]
