"""The main job, measured on a warm local cluster. Run by hand:

    python tests/benchmarks/main_job.py LOCOMO.json

Starts a cluster of its own (`memforest up` in a temporary place), ingests the file's conversations as one user each,
again, asks its questions, and prints a table. Times are of this machine, in this run; compare within a run only.
"""

import argparse
import hashlib
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import memforest_ray as mf
from memforest_ray.ids import ItemId, ScopeId, SessionId
from memforest_ray.testing.trees import check_tree
from memforest_ray.trees.tree import Leaf, MemTree, order_key

SAMPLES = Path(__file__).parent.parent / "samples"
FOREST = "ray::UserForest"


def spent(work: Callable[[], Any]) -> float:
    """Seconds that `work` takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def settled(store: Path) -> str:
    """The store's digest once it has stopped changing: a checkpoint may follow the last write."""
    digest = ""
    while digest != (digest := store_digest(store)):
        threading.Event().wait(2.0)
    return digest


def memforest(*arguments: str) -> str:
    """One run of the command line; its standard output."""
    command = [str(Path(sys.executable).parent / "memforest"), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def store_digest(store: Path) -> str:
    """Of every name and byte in the store."""
    state = hashlib.sha256()
    for path in sorted(path for path in store.rglob("*") if path.is_file()):
        state.update(str(path.relative_to(store)).encode() + b"\0" + path.read_bytes())
    return state.hexdigest()


def forests() -> Iterator[int]:
    """Process ids of the forest actors on this machine."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if command.startswith(FOREST.encode()):
                yield int(entry.name)


def private_mb(pid: int) -> float:
    """Memory that is only this process's."""
    rows = Path(f"/proc/{pid}/smaps_rollup").read_text("utf-8").splitlines()
    return sum(int(row.split()[1]) for row in rows if row.startswith("Private_")) / 1024


def report(name: str, value: str, goal: str) -> None:
    """One row of the table."""
    print(f"| {name} | {value} | {goal} |", flush=True)


def ingest(client: mf.Client, conversations: list[mf.Conversation]) -> list[mf.Receipt]:
    return [
        receipt
        for conversation in conversations
        for receipt in client.user(conversation.id).ingest_many(conversation.sessions)
    ]


def latencies(client: mf.Client, data: Path) -> list[float]:
    """Seconds of each question of the file, through a warm handle; every fifth to keep it short."""
    times = []
    for sample in json.loads(data.read_text("utf-8")):
        user = client.user(sample["sample_id"])
        user.query("warm")
        texts = [question["question"] for question in sample["qa"][::5]]
        times += [spent(partial(user.query, text)) for text in texts]
    return sorted(times)


def tree_insert_ms() -> tuple[float, int]:
    """Median milliseconds of an insert into a tree of 100,000 leaves, and its height."""

    def leaf(number: int) -> Leaf:
        item = ItemId(f"f{number:020d}")
        order = order_key(event_ms=number, source_ms=number, session_id=SessionId("s"), turn=0, item=item)
        return Leaf(item, order, (number, number), False, None, f"leaf {number}")

    tree = MemTree(ScopeId("entity:bench"), 8).edit([leaf(2 * n) for n in range(100_000)], []).tree
    leaves = [leaf(10 * number + 1) for number in range(1, 20_000, 20)]
    times = [spent(partial(tree.edit, [one], [])) * 1e3 for one in leaves]
    check_tree(tree)
    return statistics.median(times), tree.height


def hits_at_5(client: mf.Client, name: str) -> int:
    """Questions of a sample whose evidence is among the first five hits, of ten."""
    user = client.user(f"sample-{name}")
    (conversation,) = mf.read_conversations(str(SAMPLES / f"{name}.json"))
    user.ingest_many(conversation.sessions)
    questions = json.loads((SAMPLES / f"{name}_questions.json").read_text("utf-8"))["questions"]
    found = 0
    for item in questions:
        turns = {turn for hit in user.query(item["question"], k=5) for turn in hit.turn_ids}
        found += not turns.isdisjoint(item["evidence"])
    return found


def activation_s(client: mf.Client, user: str) -> float:
    """Seconds of the first question after the forest's actor was killed: start, load, answer."""
    for pid in forests():
        os.kill(pid, signal.SIGKILL)
    return spent(lambda: client.user(user).query("Where did Bob live before moving to Miami?"))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="a LoCoMo file")
    data: Path = parser.parse_args().data
    with tempfile.TemporaryDirectory(prefix="mf-") as place:
        store = Path(place) / "store"
        os.environ["MEMFOREST_STORE"] = f"file://{store}"
        conversations = list(mf.read_conversations(str(data)))
        print("| what | measured | goal |\n|---|---|---|")
        report("`memforest up`", f"{spent(lambda: memforest('up')):.1f} s", "")
        try:
            measure(data, store, conversations)
        finally:
            memforest("down")
    median_ms, height = tree_insert_ms()
    report("insert into a 100,000-leaf MemTree, p50", f"{median_ms:.3f} ms, height {height}", "0.2 ms, 10")


def measure(data: Path, store: Path, conversations: list[mf.Conversation]) -> None:
    with mf.connect() as client:
        turns = sum(len(session.turns) for item in conversations for session in item.sessions)
        report(
            f"ingest of {len(conversations)} conversations, {turns} turns",
            f"{spent(lambda: ingest(client, conversations)):.1f} s",
            "60 s",
        )
        before = settled(store)
        again: list[mf.Receipt] = []
        seconds = spent(lambda: again.extend(ingest(client, conversations)))
        same = all(receipt.duplicate for receipt in again) and settled(store) == before
        report(
            "the same again, store unchanged" if same else "the same again, STORE CHANGED", f"{seconds:.2f} s", "5 s"
        )
        times = latencies(client, data)
        p50, p95 = (times[int(len(times) * share)] * 1e3 for share in (0.5, 0.95))
        report(
            f"`query` through a warm handle, {len(times)} questions", f"p50 {p50:.1f}, p95 {p95:.1f} ms", "15, 30 ms"
        )
        memory = [private_mb(pid) for pid in forests()]
        report("private memory of a forest actor", f"{max(memory):.0f} MB at most of {len(memory)}", "150 MB")
        for name in ("chinese", "hindi"):
            report(f"{name} sample, hit@5", f"{hits_at_5(client, name)} of 10", "8")
        (bob,) = mf.read_conversations(str(SAMPLES.parent.parent / "examples" / "bob.json"))
        client.user("bob").ingest_many(bob.sessions)
        facts = client.user("bob").stats()["facts"]
        report(
            f"activation of a {facts}-fact forest, process start included",
            f"{activation_s(client, 'bob'):.2f} s",
            "3 s",
        )
    whole = [spent(lambda: memforest("query", "bob", "Where does Bob live now?")) for _ in range(5)]
    report("`memforest query`, the whole command, median of 5", f"{statistics.median(whole):.2f} s", "2.5 s")


if __name__ == "__main__":
    main()
