"""What a scrape of a node shows: every metric under its name, counting, and no user in any label."""

import asyncio
import re
from collections.abc import Iterator
from urllib.request import urlopen

import pytest
import ray

from memforest_actors import metrics, refs
from memforest_actors.cluster import RayRuntime, connect
from memforest_actors.metrics import NAMES
from memforest_actors.options import PATIENCE, forest_name
from memforest_ray.config import Settings
from memforest_ray.facts.sessions import Session, Turn
from memforest_ray.forest.intents import Receipt
from memforest_ray.ids import OpId, UserId
from memforest_ray.models.usage import Usage
from tests.actors.conftest import QUICK, TINY_MODELS, caller

pytestmark = pytest.mark.ray

SAMPLE = re.compile(r"^(ray_memforest_\w+?)(?:\{(.*)\})? ([\d.e+-]+)$", re.MULTILINE)


def _scraped(runtime: RayRuntime) -> str:
    """The Prometheus text of every node."""
    nodes = ray.nodes()  # type: ignore[no-untyped-call]  # Ray's own signature
    ports = [(node["NodeManagerAddress"], node["MetricsExportPort"]) for node in nodes if node["Alive"]]
    return "".join(urlopen(f"http://{host}:{port}/metrics", timeout=10).read().decode() for host, port in ports)


def _samples(text: str) -> Iterator[tuple[str, dict[str, str], float]]:
    for name, labels, value in SAMPLE.findall(text):
        yield name.removeprefix("ray_"), dict(re.findall(r'(\w+)="([^"]*)"', labels)), float(value)


def _sum(text: str, name: str, **labels: str) -> float:
    return sum(value for found, held, value in _samples(text) if found == name and labels.items() <= held.items())


async def _until_scraped(runtime: RayRuntime, name: str, least: float, **labels: str) -> str:
    """The scrape that shows it: processes hand their numbers on every few seconds."""
    async with asyncio.timeout(60):
        while _sum(text := await asyncio.to_thread(_scraped, runtime), name, **labels) < least:
            await asyncio.wait([asyncio.ensure_future(refs.nodes())], timeout=1.0)
    return text


async def test_a_forests_life_is_counted(settings: Settings) -> None:
    """Opened, called, written, gone: each shows, as seconds and counts, and nobody's id stands anywhere."""
    runtime = connect(settings, TINY_MODELS, QUICK)
    call = caller(runtime)
    turns = [Turn("I moved to Turin in 2021.", speaker="Ann"), Turn("I like it.", speaker="Ann")]
    receipt = await call("measured@example.org", "ingest", "op-1", session=Session(id="s1", turns=turns))
    assert isinstance(receipt, Receipt)
    await call("measured@example.org", "stats")
    ref = await refs.find(forest_name(runtime.settings, UserId("measured@example.org")))
    assert ref is not None
    shown = await _until_scraped(runtime, "memforest_calls_total", 1, verb="stats", outcome="ok")
    with pytest.raises(refs.Gone):
        await ref.call("passivate", timeout_s=PATIENCE.drain_s)
    await _until_scraped(runtime, "memforest_passivations_total", 1, reason="asked")
    await runtime.close()
    assert _sum(shown, "memforest_activations_total") >= 1
    assert _sum(shown, "memforest_cold_start_seconds_count") >= 1
    assert _sum(shown, "memforest_calls_total", verb="ingest", outcome="ok") >= 1
    assert _sum(shown, "memforest_call_seconds_count", verb="ingest") >= 1
    assert _sum(shown, "memforest_commit_seconds_count") >= 1
    assert _sum(shown, "memforest_stage_seconds_count", stage="extract") >= 1
    names = {name for name, _, _ in _samples(shown)}
    assert {"memforest_lane_depth", "memforest_refresh_backlog", "memforest_residents"} <= names
    assert "measured" not in shown
    assert forest_name(runtime.settings, UserId("measured@example.org")) not in "".join(
        line for line in shown.splitlines() if line.startswith("ray_memforest_")
    )


def test_receipts_of_models_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls, retries and tokens by stage; a duplicate counts nothing, and nothing is not counted."""
    seen: list[tuple[str, float, dict[str, str]]] = []

    class Counted:
        def __init__(self, name: str, *_: object) -> None:
            self.name = name

        def inc(self, value: float = 1.0, tags: dict[str, str] | None = None) -> None:
            seen.append((self.name, value, tags or {}))

        def observe(self, value: float, tags: dict[str, str] | None = None) -> None:
            seen.append((self.name, value, tags or {}))

        set = inc

    for kind in ("Counter", "Gauge", "Histogram"):
        monkeypatch.setattr(metrics, kind, Counted)
    counted = metrics.ForestMetrics()
    usage = Usage(calls=4, prompt_tokens=900, completion_tokens=80, cached_tokens=500, retries=1)
    receipt = Receipt(3, OpId("o"), usage={"extract": usage, "judge": Usage()}, seconds={"commit": 0.25})
    counted.answered("ingest", 0.5, ("ok", receipt))
    counted.answered("ingest", 0.5, ("ok", Receipt(3, OpId("o"), duplicate=True)))
    assert [each for each in seen if each[0].startswith("memforest_llm")] == [
        ("memforest_llm_calls", 4, {"stage": "extract"}),
        ("memforest_llm_retries", 1, {"stage": "extract"}),
        ("memforest_llm_tokens", 900, {"stage": "extract", "kind": "prompt"}),
        ("memforest_llm_tokens", 500, {"stage": "extract", "kind": "cached"}),
        ("memforest_llm_tokens", 80, {"stage": "extract", "kind": "completion"}),
    ]
    assert ("memforest_commit_seconds", 0.25, {}) in seen
    directory = metrics.DirectoryMetrics()
    directory.left("idle")
    directory.left("fenced")
    assert [(name, tags) for name, _, tags in seen if name in ("memforest_passivations", "memforest_fenced")] == [
        ("memforest_passivations", {"reason": "idle"}),
        ("memforest_passivations", {"reason": "fenced"}),
        ("memforest_fenced", {}),
    ]
    gateway = metrics.GatewayMetrics()
    with gateway.in_flight("extract", 16), gateway.in_flight("extract", 4):
        pass
    assert [value for name, value, _ in seen if name == "memforest_llm_in_flight"] == [16, 20, 16, 0]


def test_every_metric_is_described() -> None:
    """Names are Prometheus', each with a sentence."""
    assert all(re.fullmatch(r"memforest_[a-z_]+", name) and text.endswith(".") for name, text in NAMES.items())
