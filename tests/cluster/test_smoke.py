"""The check of an endpoint, against the simulated server whose behaviour is known: it finds what was put there."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import Any

import pytest

from memforest_ray.ambient import SystemClock
from memforest_ray.cli.app import run
from memforest_ray.simulation.faults import Faults, parse_rates
from memforest_ray.simulation.http import HttpServer
from memforest_ray.simulation.server import SimulatedServer, Workload
from tests.cluster.strict import CLUSTER

SCRIPT = CLUSTER / "checks/llm_smoke.py"


@pytest.fixture(scope="module")
def smoke() -> ModuleType:
    """The program as a module; it is no package's."""
    spec = spec_from_file_location("llm_smoke", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["llm_smoke"] = module  # dataclasses look themselves up
    spec.loader.exec_module(module)
    return module


Measure = Callable[..., Awaitable[Any]]


@pytest.fixture
async def measure(smoke: ModuleType, capsys: pytest.CaptureFixture[str]) -> AsyncIterator[Measure]:
    """Measures a simulated server with certain faults, that is quick."""
    servers: list[HttpServer] = []

    async def measure(faults: str = "", *arguments: str) -> Any:
        simulated = SimulatedServer(Workload(latency_s=0.01), Faults(parse_rates(faults), 5), SystemClock())
        server = HttpServer(simulated.handle)
        servers.append(server)
        url = await server.start() + "/v1"
        told = ["--url", url, "--embed-url", url, "--in-flight-max", "4", *arguments]
        return await smoke.measure(smoke.parser().parse_args(told))

    yield measure
    for server in servers:
        await server.close()


async def test_a_sound_server(measure: Measure) -> None:
    """Every answer can be used; vectors have length 1 and are a function of the text; levels double."""
    report = await measure("", "--calls", "20")
    assert report.outcomes == {"ok": 20}
    assert (report.embedding["length_min"], report.embedding["cosine_alone_and_in_batch"]) == (1.0, 1.0)
    assert [row["in_flight"] for row in report.latency] == [1, 2, 4]
    assert report.prefix["cached_share"] > 0.5
    assert report.prompt_tokens > report.completion_tokens > 0
    assert "--faults" not in report.sim_llm


async def test_faults_are_found_and_named(measure: Measure) -> None:
    """Each kind in the words of the simulated server; the arguments printed are ones that it takes."""
    report = await measure("429=0.1,500=0.1,reset=0.1,truncate=0.1,junk=0.1,whitespace=0.1", "--calls", "120")
    assert {"429", "500", "truncate", "whitespace"} <= set(report.outcomes)
    assert 0.3 < report.outcomes["ok"] / 120 < 0.6
    words = report.sim_llm.split()
    given = dict(zip(words[2::2], words[3::2], strict=True))
    assert set(given) == {"--slots", "--slower", "--tokens", "--faults"}
    rates = parse_rates(given["--faults"])
    assert sum(rates.values()) == pytest.approx(1 - report.outcomes["ok"] / 120, abs=0.01)
    assert run(["sim-llm", "--help"]) == 0


@pytest.mark.parametrize(
    ("text", "finish", "expected"),
    [
        ('{"facts": []}', "stop", "ok"),
        ('{"facts": [', "length", "truncate"),
        ('{"facts": [' + " \n\t" * 40, "length", "whitespace"),
        ("Sure! Here are the facts.", "stop", "junk"),
        ("", "stop", "junk"),
        ('{"facts": [{"t": 1}]}', "stop", "junk"),
        ('{"items": []}', "stop", "junk"),
    ],
)
def test_what_an_answer_is(smoke: ModuleType, text: str, finish: str, expected: str) -> None:
    """Usable, or in which way not."""
    assert smoke.outcome(text, finish, smoke.cell(0)) == expected


def test_cells_differ(smoke: ModuleType) -> None:
    """No two calls of a run are the same, or a cache would answer them."""
    texts = [json.dumps([turn.text for turn in smoke.cell(number).turns]) for number in range(300)]
    assert len(set(texts)) == 300


def test_slots_are_where_throughput_ends_to_grow(smoke: ModuleType) -> None:
    """The last level that was worth it; slower by the median of levels."""
    rows = [(1, 100, 2.0), (2, 190, 2.0), (4, 300, 2.2), (8, 305, 4.0)]
    report = smoke.Report(outcomes={"ok": 9, "junk": 1}, completion_tokens=99.6)
    report.latency = [{"in_flight": each, "tokens_per_s": rate, "slower": slower} for each, rate, slower in rows]
    assert smoke.simulated(report, 10) == "memforest sim-llm --slots 4 --slower 2.1 --tokens 100 --faults junk=0.1"


def test_an_endpoint_that_is_not_there() -> None:
    """Is said; exit code 4, as everywhere a dependency is away."""
    command = [sys.executable, str(SCRIPT), "--url", "http://127.0.0.1:9/v1", "--model", "x", "--timeout", "1"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 4
    assert "http://127.0.0.1:9/v1" in done.stderr
