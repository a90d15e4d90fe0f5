"""What the client of model servers costs, and what faults cost it: the extraction of one conversation, simulated.

    python tests/benchmarks/model_client.py [CONVERSATION.json] [--latency 2] [--permits 32]

Starts `memforest sim-llm` in a process of its own for each row. CPU is that of this process: requests, answers read.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memforest_ray import read_conversations
from memforest_ray.ambient import SystemClock, SystemRandom
from memforest_ray.config import Settings
from memforest_ray.facts.candidates import CellInput
from memforest_ray.facts.cells import cut
from memforest_ray.facts.extraction import ModelExtractor
from memforest_ray.facts.inputs import cell_inputs
from memforest_ray.facts.sessions import admit
from memforest_ray.models.backend import Backend

BOB = Path(__file__).parents[2] / "examples" / "bob.json"
ROWS = (
    "",
    "429=0.1",
    "500=0.1",
    "reset=0.1",
    "500=0.04,429=0.03,reset=0.03",
    "whitespace=0.1",
    "silence=0.01",
)


@contextmanager
def simulated(latency: float, faults: str) -> Iterator[str]:
    """Base URL of a server of its own."""
    program = "from memforest_ray.cli import main; main()"
    command = [sys.executable, "-c", program, "sim-llm", "--port", "0", "--json", "--latency", str(latency)]
    with subprocess.Popen(
        [*command, "--faults", faults], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["url"]
        process.terminate()


async def extract(url: str, cells: list[CellInput], permits: int) -> tuple[float, float, int, int]:
    """Wall and CPU seconds, calls, failed cells; connections are there already."""
    settings = Settings(llm_urls=(url,), llm_model="simulated", llm_permits=permits)
    backend = Backend(settings, SystemClock(), SystemRandom())
    extractor = ModelExtractor(backend.of("extract"))
    await extractor.extract(cells[:permits])
    began, cpu = time.perf_counter(), time.process_time()
    found = await extractor.extract(cells)
    took = time.perf_counter() - began, time.process_time() - cpu
    await backend.close()
    return *took, sum(each.usage.calls for each in found), sum(each.failure is not None for each in found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", nargs="?", type=Path, default=BOB)
    parser.add_argument("--latency", type=float, default=2.0, help="seconds of every call")
    parser.add_argument("--permits", type=int, default=32, help="calls in flight")
    arguments = parser.parse_args()
    conversation = next(iter(read_conversations(arguments.path)))
    records = [admit(session).record for session in conversation.sessions]
    cells = [shown for record in records for shown in cell_inputs(record, cut(record))]
    print(f"{len(cells)} cells, {arguments.permits} permits, L = {arguments.latency:g} s, SIMULATED")
    print("| faults | wall s | against none | own CPU s | ms a call | calls | failed |")
    print("|---|---|---|---|---|---|---|")
    base = 0.0
    for faults in ROWS:
        with simulated(arguments.latency, faults) as url:
            wall, cpu, calls, failed = asyncio.run(extract(url, cells, arguments.permits))
        base = base or wall
        shown = f"{wall:.1f} | {wall / base:.2f} | {cpu:.2f} | {1000 * cpu / calls:.1f} | {calls} | {failed}"
        print(f"| {faults or 'none'} | {shown} |")


if __name__ == "__main__":
    main()
