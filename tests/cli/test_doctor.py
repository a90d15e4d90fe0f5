"""`memforest doctor`: settings in force and what the probes found."""

import asyncio
from pathlib import Path

import pytest

from memforest_ray.ambient import SystemClock
from memforest_ray.cli import doctor
from memforest_ray.errors import StoreUnavailable
from memforest_ray.facts.rules import RuleExtractor
from memforest_ray.facts.sessions import Session, Turn
from memforest_ray.local.effects import Models
from memforest_ray.simulation.faults import Faults
from memforest_ray.simulation.http import HttpServer
from memforest_ray.simulation.server import SimulatedServer, Workload
from memforest_ray.storage.disk import DiskStore
from memforest_ray.testing.forests import Forests
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.trees.summaries import SelectionSummarizer
from tests.cli.conftest import FakeClient, Program, Run


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


async def _written(folder: Path) -> None:
    """A small memory of ann's, whose graphs begin with eight rows."""
    models = Models(RuleExtractor(), SelectionSummarizer(), HashEmbedder(32))
    forest = Forests(DiskStore(folder), models, graph_rows_min=8, forest_graph_rows_min=8).open("ann")
    turns = [Turn(f"I bought the lamp number {number} in Oslo.", "Bob") for number in range(10)]
    await forest.ingest(Session("s1", turns, time="2023-05-08T10:00:00Z"))
    await forest.driver._published.graphs.settled()
    await forest.driver.close()


def test_what_is_derived_is_rebuilt(program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Damage of a graph is told and is no fault; with --rebuild all of them are there again."""
    monkeypatch.setenv("MEMFOREST_GRAPH_ROWS_MIN", "8")
    monkeypatch.setenv("MEMFOREST_FOREST_GRAPH_ROWS_MIN", "8")
    asyncio.run(_written(tmp_path))
    graphs = [path for path in tmp_path.rglob("*") if path.is_file() and "graph" in path.parts]
    graphs[0].write_bytes(b"junk")
    deep = ("doctor", "--deep", "--user", "ann", "--store", f"file://{tmp_path}")
    told = program(*deep)
    assert (told.code, "damaged graphs: 1 (rebuilt when" in told.out) == (0, True)
    rebuilt = program(*deep, "--rebuild", "--json").data
    assert rebuilt["graphs"] == {"whole": len(graphs), "damaged": 0}
    assert len(rebuilt["rebuilt"]) == len(graphs)
    assert "rebuilt: graph of facts, 10 rows" in program(*deep, "--rebuild").out


def test_a_rebuild_needs_a_user(program: Program) -> None:
    """It is one memory's."""
    assert program("doctor", "--rebuild").code == 2


def test_models_behind_endpoints_are_probed(program: Program, fake: FakeClient, tmp_path: Path) -> None:
    """The chat model and the embedder, each by its name; who is down is named, and not the other."""
    fake.answers["stats"] = {}
    place = ["--store", f"file://{tmp_path}", "--runtime", "local"]

    async def ask(**environment: str) -> Run:
        simulated = SimulatedServer(Workload(latency_s=0.0), Faults({}), SystemClock())
        server = HttpServer(simulated.handle)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("MEMFOREST_LLM_URLS", await server.start() + "/v1")
            for name, value in environment.items():
                patch.setenv(f"MEMFOREST_{name}", value)
            run = await asyncio.to_thread(program, "doctor", *place)
        await server.close()
        return run

    well = asyncio.run(ask(EMBED_MODEL="simulated-offline"))
    assert "ok   llm: simulated-offline answered in " in well.out
    assert "ok   embedder: simulated-offline gives vectors of 384 dimensions" in well.out
    down = asyncio.run(ask(EMBED_MODEL="e", EMBED_URLS="http://127.0.0.1:9/v1"))
    assert (down.code, "ok   llm: " in down.out) == (4, True)
    assert "FAIL embedder: the embedding endpoint http://127.0.0.1:9/v1 gave no vector" in down.out
