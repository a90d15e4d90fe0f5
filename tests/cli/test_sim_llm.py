"""`memforest sim-llm` in a process of its own, and `memforest estimate` against what that was asked."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from memforest_ray.ambient import SystemClock, SystemRandom
from memforest_ray.client import AsyncClient
from memforest_ray.config import Settings
from memforest_ray.facts.readers import read_conversations
from memforest_ray.local.models import open_models
from memforest_ray.local.runtime import LocalRuntime
from memforest_ray.simulation.server import MODEL
from memforest_ray.storage.memory import MemoryStore
from tests.cli.conftest import Program

BOB = Path(__file__).parents[2] / "examples" / "bob.json"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """A simulated server in a process of its own, until it is told to end."""
    program = "from memforest_ray.cli import main; main()"
    command = [sys.executable, "-c", program, "sim-llm", "--port", "0", "--latency", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline() or "{}")
        assert told.get("simulated") is True
        yield told["url"]
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=30)
    assert (process.returncode, "simulated calls: {'simulated': True" in said) == (0, True)


def stats(url: str) -> Any:
    with openai.OpenAI(base_url=url, api_key="none", max_retries=0) as client:
        return client.get("/stats", cast_to=dict[str, Any])


async def ingest(url: str) -> list[dict[str, str]]:
    """The example into a memory of this process, through the server; what failed, by session."""
    settings = Settings(llm_urls=(url,), llm_model=MODEL, embed_model=MODEL, embed_dimension=384, store="memory://")
    opened = open_models(settings, SystemClock(), SystemRandom())
    client = AsyncClient(settings, LocalRuntime(settings, MemoryStore(), opened.models))
    (conversation,) = read_conversations(BOB)
    receipts = await client.user("bob").ingest_many(conversation.sessions)
    await client.close()
    await opened.close()
    return [{str(cell): reason for cell, reason in receipt.failed_cells.items()} for receipt in receipts]


def test_an_estimate_is_what_a_first_ingest_asks_for(server: str, program: Program) -> None:
    """Calls for cells exactly, tokens and summaries nearly: scenes depend on the order of arrival."""
    assert asyncio.run(ingest(server)) == [{}] * 16
    asked = stats(server)

    estimated = program("estimate", str(BOB), "--tokens-min", "0", "--json").data
    roles = estimated["roles"]
    assert (estimated["turns"], estimated["sessions"], estimated["users"]) == (372, 16, 1)
    assert asked["roles"]["extract"] == roles["extract"]["calls"] == 190
    assert asked["roles"]["summarise"] == pytest.approx(roles["summarise"]["calls"], rel=0.5)
    assert asked["prompt_tokens"] == pytest.approx(estimated["total"]["prompt_tokens"], rel=0.15)
    assert asked["completion_tokens"] == pytest.approx(estimated["total"]["completion_tokens"], rel=0.25)


def test_an_estimate_is_drawn(program: Program, tmp_path: Path) -> None:
    """It says what it is; the length of answers can be set."""
    path = tmp_path / "one.json"
    turns = [{"text": "I live in Davis."}, {"text": "Nice!"}, {"text": "I have a cat called Miso."}]
    path.write_text(json.dumps({"id": "one", "sessions": [{"id": "s1", "turns": turns}]}))
    shown = program("estimate", str(path))
    assert (shown.code, "by a dry run of the rules" in shown.out, "extract" in shown.out) == (0, True, True)
    data = program("estimate", str(path), "--tokens", "100", "--json").data
    assert data["roles"]["extract"]["completion_tokens"] == 200
    assert data["roles"]["summarise"]["calls"] == 0
    assert program("estimate", str(path), "--tokens", "-1").code == 2


@pytest.mark.parametrize(
    "arguments",
    [["--slots", "-1"], ["--slower", "0"], ["--latency", "-1"], ["--faults", "404=1"], ["--port", "70000"]],
    ids=lambda arguments: arguments[0],
)
def test_a_server_that_cannot_be_is_refused(program: Program, arguments: list[str]) -> None:
    """Before anything listens."""
    assert program("sim-llm", *arguments).code == 2
