"""What a search costs by the size of the forest, and what the index costs. Run by hand, prints a markdown table:

    python tests/benchmarks/index_latency.py [FACTS ...] [--dimension N] [--queries N] [--graphs FOLDER]

Forests are made out of nothing (`memforest_ray.testing.synthetic`), questions are about things that are there, their
vectors are given. `--graphs` keeps the graphs that were built, and takes them again in a later run: 100,000 facts
need some minutes of one core. Each size runs in a process of its own, on one thread for its matrix products. Times
are of this machine, in this run; compare within a run only.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from memforest_ray.commit.frames import pack, unpack
from memforest_ray.commit.version import Version
from memforest_ray.ids import FactId, NodeId, ScopeId, SessionId
from memforest_ray.index.graphs import Graph
from memforest_ray.index.index import Index
from memforest_ray.index.neighbours import GraphRules
from memforest_ray.index.plans import plans
from memforest_ray.index.rows import FactRow, NodeRow, Row, Vector
from memforest_ray.index.view import FACTS, IndexView
from memforest_ray.query.request import QueryRequest
from memforest_ray.query.search import search
from memforest_ray.testing.graphs import without_graphs
from memforest_ray.testing.synthetic import Synthetic, load_synthetic, questions, synthetic

SIZES = (1_400, 10_800, 100_000)
WARM_UP = 10
INGESTS = 30
FIRST = 9
ROWS = (
    ("trees", "trees", "{:,}"),
    ("search, p50", "p50", "{:.2f} ms"),
    ("search, p95", "p95", "{:.2f} ms"),
    ("CPU of a search, p50", "cpu", "{:.2f} ms"),
    ("the first search after a write, p50", "first", "{:.1f} ms"),
    ("a question about now, p50", "now", "{:.2f} ms"),
    ("a question about a time, p50", "dated", "{:.1f} ms"),
    ("a question about a time, p95", "dated_p95", "{:.1f} ms"),
    ("recall@10 of the graph against a scan", "recall", "{:.3f}"),
    ("ten nearest facts: graph, p50", "near", "{:.2f} ms"),
    ("ten nearest facts: scan, p50", "scan", "{:.2f} ms"),
    ("vectors of facts and cells, fp32", "vectors", "{:.1f} MB"),
    ("index, graphs included", "index", "{:.1f} MB"),
    ("index / vectors", "share", "{:.2f}"),
    ("index work of 20 facts with 60 nodes, p50", "write", "{:.1f} ms"),
    ("index work, the slowest of 30", "write_max", "{:.1f} ms"),
    ("rows into a version with its index", "load", "{:.2f} s"),
    ("graphs", "graphs", "{}"),
    ("graphs built", "built", "{:.1f} s"),
    ("graphs as stored", "stored", "{:.1f} MB"),
    ("graphs taken again", "taken", "{:.2f} s"),
)


def timed(work: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """Seconds, and what came of it."""
    started = time.perf_counter()
    result = work(*arguments)
    return time.perf_counter() - started, result


def index_mb(view: IndexView) -> float:
    """Bytes of all arrays of the index, with what is laid out for queries; words and ids by their count."""
    shelves = (view.facts, view.cells, view.nodes)
    vectors = sum(shelf.vectors.nbytes for shelf in shelves) + view.own.nbytes
    tables = sum(
        column.nbytes for shelf in shelves for each in (shelf.table, shelf.parts) for column in each.columns.values()
    )
    words = sum(posting.entries.nbytes + 100 for shelf in shelves for posting in shelf.words.words.values())
    corpus = sum(
        array.nbytes
        for each in (view.corpus.dialogue, view.corpus.statements)
        for array in vars(each).values()
        if isinstance(array, np.ndarray)
    )
    corpus += view.corpus.dialogue.concordance.nbytes + view.corpus.statements.concordance.nbytes
    foliage = sum(
        level.nodes.nbytes
        + sum(column.nbytes for column in level.children)
        + sum(column.nbytes for column in level.scales)
        for level in (*view.foliage.base, *view.foliage.recent)
    )
    graphs = sum(2.6e6 + len(each.graph) * (4 * view.facts.vectors.dimension + 300) for each in view.graphs.values())
    return float(vectors + tables + words + corpus + foliage + graphs + 150 * len(view)) / 1e6


def graphed(index: Index, view: IndexView, folder: Path | None) -> dict[str, Any]:
    """Give the view its graphs: kept ones, else fresh ones."""
    told: dict[str, Any] = {"built": 0.0, "taken": 0.0, "stored": 0.0}
    for plan in plans(view, GraphRules()):
        path = (
            folder / f"{plan.name.replace(':', '-')}-{len(plan.ids)}-{view.facts.vectors.dimension}" if folder else None
        )
        if path is not None and path.exists():
            body = path.read_bytes()
            spent, graph = timed(_opened, body, view)
            told["taken"] += spent
        else:
            spent, graph = timed(plan.build, lambda: True)
            told["built"] += spent
            body = pack(graph.plain())
            if path is not None:
                path.write_bytes(body)
        told["stored"] += len(body) / 1e6
        index.graph({plan.name: graph})
    view.adopt(index.graphs)
    told["graphs"] = ", ".join(f"{len(each.graph):,}" for each in index.graphs.values()) or "none"
    return told


def _opened(body: bytes, view: IndexView) -> Graph:
    plain = unpack(body, "a graph")
    return Graph.of_plain(plain, view.vectors_of(plain["ids"]))


def latencies(version: Version, asked: Sequence[tuple[str, Vector]]) -> tuple[list[float], list[float]]:
    """Milliseconds of each search, and those of the CPU."""
    spent, cpu = [], []
    for text, vector in asked:
        before = time.thread_time()
        spent.append(timed(search, version, QueryRequest(text), vector)[0] * 1000)
        cpu.append((time.thread_time() - before) * 1000)
    return spent[WARM_UP:], cpu[WARM_UP:]


def first_latency(version: Version, index: Index, made: Synthetic, asked: Sequence[tuple[str, Vector]]) -> float:
    """Milliseconds of the first search after a write of 20 facts and 60 nodes; the median of some."""
    spent = []
    for (text, vector), (rows, gone) in zip(asked, written(made, "first", FIRST), strict=False):
        changed = replace(version, index=index.apply(rows, gone))
        spent.append(timed(search, changed, QueryRequest(text), vector)[0] * 1000)
    return statistics.median(spent)


def nearest(view: IndexView, asked: Sequence[tuple[str, Vector]]) -> dict[str, float]:
    """How well and how fast the nearest facts are found."""
    plain = without_graphs(view)
    found = 0
    graph: list[float] = []
    scan: list[float] = []
    for _, vector in asked:
        query = vector.astype(np.float32)
        spent, (rows, _) = timed(view.near(FACTS).nearest, query, 10)
        graph.append(spent * 1000)
        spent, (exact, _) = timed(plain.near(FACTS).nearest, query, 10)
        scan.append(spent * 1000)
        found += len(set(rows.tolist()) & set(exact.tolist()))
    return {"recall": found / 10 / len(asked), "near": statistics.median(graph), "scan": statistics.median(scan)}


def writes(index: Index, made: Synthetic) -> list[float]:
    """Milliseconds of index work of one ingest."""
    return [timed(index.apply, *write)[0] * 1000 for write in written(made, "w", INGESTS)]


def written(made: Synthetic, name: str, count: int) -> Iterator[tuple[list[Row], list[str]]]:
    """What ingests write: 20 new facts, 60 new nodes in the place of old ones."""
    rng = np.random.default_rng(3)
    gone: list[str] = []
    for number in range(count):
        noise = rng.standard_normal((20, made.dimension))
        vectors = (noise / np.linalg.norm(noise, axis=1, keepdims=True)).astype(np.float16)
        facts = [
            FactRow(
                FactId(f"f{name}{number}-{place}"),
                vector,
                made.texts[number * 20 + place],
                "Bob",
                ((SessionId(name), place),),
                1,
                None,
            )
            for place, vector in enumerate(vectors)
        ]
        nodes = [
            NodeRow(
                NodeId(f"n{name}{number}-{place}"),
                ScopeId(f"scene:{name}{place}"),
                1,
                (facts[place % 20].id, facts[0].id),
                1,
            )
            for place in range(60)
        ]
        yield [*facts, *nodes], gone
        gone = [node.id for node in nodes]


def measured(facts: int, dimension: int, queries: int, folder: Path | None) -> dict[str, Any]:
    """One size."""
    made = synthetic(facts, dimension)
    index = Index(dimension)
    load, version = timed(load_synthetic, made, index)
    asked = list(questions(made, queries + WARM_UP))
    row: dict[str, Any] = {"facts": len(version.facts), "trees": len(version.trees), "load": load}
    row |= graphed(index, version.index, folder)
    spent, cpu = latencies(version, asked)
    cuts = statistics.quantiles(spent, n=20)
    row |= {
        "cpu": statistics.median(cpu),
        "p50": statistics.median(spent),
        "p95": cuts[18],
    }
    dated = [(f"{text[:-1]} in March 2021?", vector) for text, vector in asked[: WARM_UP + 60]]
    spent, _ = latencies(version, dated)
    row |= {"dated": statistics.median(spent), "dated_p95": statistics.quantiles(spent, n=20)[18]}
    now = [(text.replace("What did", "What does"), vector) for text, vector in asked]
    row["now"] = statistics.median(latencies(version, now)[0])
    row |= nearest(version.index, asked[:200])
    view = version.index
    row["vectors"] = sum(block.nbytes for shelf in (view.facts, view.cells) for block in shelf.vectors.blocks) / 1e6
    row["index"] = index_mb(view)
    row["share"] = row["index"] / row["vectors"]
    row["first"] = first_latency(version, index, made, asked)
    spent = writes(index, made)
    return row | {"write": statistics.median(spent), "write_max": max(spent)}


def main(sizes: Sequence[int], arguments: Sequence[str]) -> None:
    """The table, one column for each size."""
    rows = []
    for size in sizes:
        command = [sys.executable, __file__, str(size), *arguments, "--json"]
        rows.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
        print(f"{size:,} facts are done", file=sys.stderr, flush=True)
    print("| facts | " + " | ".join(f"{row['facts']:,}" for row in rows) + " |")
    print("|---" * (len(rows) + 1) + "|")
    for label, key, form in ROWS:
        print(f"| {label} | " + " | ".join(form.format(row[key]) for row in rows) + " |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("facts", nargs="*", type=int, default=SIZES)
    parser.add_argument("--dimension", type=int, default=1_024)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--graphs", type=Path, help="where graphs are kept")
    parser.add_argument("--json", action="store_true", help="one size, in this process")
    given = parser.parse_args()
    if given.graphs:
        given.graphs.mkdir(parents=True, exist_ok=True)
    if given.json:
        print(json.dumps(measured(given.facts[0], given.dimension, given.queries, given.graphs)))
    else:
        kept = ["--graphs", str(given.graphs)] if given.graphs else []
        main(given.facts, ["--dimension", str(given.dimension), "--queries", str(given.queries), *kept])
