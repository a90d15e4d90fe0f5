"""`memforest doctor`: settings in force and what the probes found."""

from pathlib import Path

import pytest

from memforest_ray.cli import doctor
from memforest_ray.errors import StoreUnavailable
from tests.cli.conftest import FakeClient, Program


@pytest.fixture
def healthy(fake: FakeClient, monkeypatch: pytest.MonkeyPatch) -> FakeClient:
    """Everything answers; the embedder is not loaded."""
    monkeypatch.setattr(doctor, "_probe_embedder", lambda _settings: "a model gives 384 dimensions")
    fake.answers["stats"] = {}
    return fake


def test_all_is_well(program: Program, healthy: FakeClient, tmp_path: Path) -> None:
    """Each probe has a line, the settings that were named are in force, and the probe leaves nothing behind."""
    store = tmp_path / "store"
    run = program("doctor", "--store", f"file://{store}", "--runtime", "local")
    assert run.code == 0
    assert f"store = file://{store}" in run.out
    assert "ok   store: " in run.out
    assert "ok   embedder: a model gives 384 dimensions" in run.out
    assert "ok   runtime: local answered" in run.out
    assert [path for path in store.rglob("*") if path.is_file() and path.stat().st_size] == []


def test_json_names_settings_probes_and_packages(program: Program, healthy: FakeClient, tmp_path: Path) -> None:
    """What a report about a fault needs."""
    data = program("doctor", "--store", f"file://{tmp_path}", "--runtime", "local", "--json").data
    assert data["settings"]["store"] == f"file://{tmp_path}"
    assert [probe["ok"] for probe in data["probes"]] == [True, True, True]
    assert "ray" in data["packages"]


def test_what_fails_is_named(program: Program, healthy: FakeClient, tmp_path: Path) -> None:
    """One probe failing does not hide the others; the code says that a dependency is unavailable."""
    healthy.answers["stats"] = StoreUnavailable("the cluster sleeps; nothing was changed; wake it")
    run = program("doctor", "--store", f"file://{tmp_path}", "--runtime", "local")
    assert run.code == 4
    assert "ok   store: " in run.out
    assert "FAIL runtime: the cluster sleeps; nothing was changed; wake it" in run.out


def test_a_store_that_is_none_is_a_finding(program: Program, healthy: FakeClient) -> None:
    """A store of an unknown kind is reported as such, with those that are known."""
    run = program("doctor", "--store", "ftp://x", "--runtime", "local")
    assert run.code == 4
    assert "FAIL store: 'ftp' is not a kind of store" in run.out


def test_bad_settings_are_an_input_error(
    program: Program, healthy: FakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without settings there is nothing to probe."""
    monkeypatch.setenv("MEMFOREST_CELL_TURNS", "many")
    run = program("doctor")
    assert run.code == 2
    assert "cell_turns" in run.err
