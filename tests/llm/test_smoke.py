"""The check of an endpoint against a real server. The model is tiny: that its answers are of no use is found, too."""

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "cluster/checks/llm_smoke.py"


def test_a_real_server_is_measured(chat_url: str, embedding_url: str) -> None:
    """Every check runs; what cannot be used is counted and is the exit code."""
    place = ["--url", chat_url, "--embed-url", embedding_url, "--json"]
    size = ["--calls", "4", "--at-once", "4", "--in-flight-max", "2", "--tokens-max", "16"]
    done = subprocess.run([sys.executable, str(SCRIPT), *place, *size], check=False, capture_output=True, text=True)
    report = json.loads(done.stdout)
    assert done.returncode == 3, done.stderr
    assert sum(report["outcomes"].values()) == 4
    assert report["prompt_tokens"] > 100
    assert report["embedding"]["dimension"] == 576
    assert [row["in_flight"] for row in report["latency"]] == [1, 2]
    assert report["sim_llm"].startswith("memforest sim-llm --slots ")
