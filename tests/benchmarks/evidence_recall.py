"""Evidence recall on a LoCoMo file, beside plain BM25 over its turns. Run by hand:

    python tests/benchmarks/evidence_recall.py LOCOMO.json [--mode embed] [--runtime local] [--graph-rows-min 256]
        [--out RANKED.json] [--against RANKED.json]

The unit is a turn: recall@n is the share of the turns annotated as evidence that are among the first n turn ids,
averaged over the questions of categories 1 to 4 with usable evidence. A hit stands for its source turns, in order.

Memories are written, closed and opened again before they are asked. With `--graph-rows-min` they have graphs from so
many rows on, over trees and over the whole, which are built, stored and taken again; default sizes need none here.

Two states of the code are compared by what one wrote with `--out` and the other is given `--against`: the gain at each
depth, of all and of each conversation, with what nine in ten samples of the questions, drawn with replacement, lie in.
"""

import argparse
import json
import random
import re
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bm25s
import Stemmer

import memforest_ray as mf

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
DEPTHS = (5, 10, 20, 50)
TURNS_MAX = 200
SAMPLES = 2_000


@dataclass(frozen=True, slots=True)
class Question:
    """One annotated question that can be scored."""

    conversation: str
    category: int
    text: str
    evidence: frozenset[str]


def turns_of(sample: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The turns of a LoCoMo conversation, session by session."""
    sessions = {int(key[8:]): key for key in sample["conversation"] if re.fullmatch(r"session_\d+", key)}
    for number in sorted(sessions):
        yield from sample["conversation"][sessions[number]]


def questions_of(sample: dict[str, Any], categories: Collection[int] = CATEGORIES) -> Iterator[Question]:
    """Questions with evidence; ids that are written oddly are repaired, those of no turn left out."""
    known = {turn["dia_id"] for turn in turns_of(sample)}
    for item in sample["qa"]:
        found = re.findall(r"D:?(\d+):(\d+)", " ".join(item.get("evidence") or []))
        evidence = frozenset(f"D{int(session)}:{int(turn)}" for session, turn in found) & known
        if item["category"] in categories and evidence:
            yield Question(sample["sample_id"], item["category"], item["question"], evidence)


def by_words(sample: dict[str, Any], questions: Sequence[Question]) -> list[list[str]]:
    """Turn ids as BM25 over stemmed turns ranks them."""
    stemmer = Stemmer.Stemmer("english")
    turns = list(turns_of(sample))
    texts = [f"{turn['speaker']}: {turn['text']} {turn.get('blip_caption', '')}" for turn in turns]
    index = bm25s.BM25()
    index.index(bm25s.tokenize(texts, stemmer=stemmer, show_progress=False), show_progress=False)
    asked = bm25s.tokenize([question.text for question in questions], stemmer=stemmer, show_progress=False)
    found, _ = index.retrieve(asked, k=min(TURNS_MAX, len(turns)), show_progress=False)
    return [[turns[place]["dia_id"] for place in row] for row in found]


def by_memory(client: mf.Client, questions: Sequence[Question], mode: str, k: int) -> list[list[str]]:
    """Turn ids as the memory ranks them."""
    ranked: list[list[str]] = []
    spent: list[float] = []
    for question in questions:
        started = time.perf_counter()
        hits = client.user(question.conversation).query(question.text, k=k, mode=mode)
        spent.append((time.perf_counter() - started) * 1000)
        ranked.append(list(dict.fromkeys(turn for hit in hits for turn in hit.turn_ids)))
    cuts = statistics.quantiles(spent, n=20)
    told = f"{mode}, question embedded: p50 {statistics.median(spent):.1f} ms, p95 {cuts[18]:.1f} ms"
    print(told, file=sys.stderr, flush=True)  # beside the table, not in it
    return ranked


def graphs_of(client: mf.Client, names: Sequence[str]) -> dict[str, int]:
    """What became of the graphs of these memories, all together."""
    told: list[Mapping[str, Any]] = [client.user(name).stats()["graphs"] for name in names]
    return {key: sum(each[key] for each in told) for key in told[0]}


def settle(client: mf.Client, names: Sequence[str], within_s: float = 120) -> None:
    """Wait until each memory has graphs over its facts and its cells."""
    deadline = time.monotonic() + within_s
    while any(client.user(name).stats()["graphs"]["built"] < 2 for name in names) and time.monotonic() < deadline:
        threading.Event().wait(0.2)


def shares(questions: Sequence[Question], ranked: Sequence[Sequence[str]], depth: int) -> list[float]:
    """Of each question the part of its evidence that is among the first turns."""
    return [
        len(question.evidence & set(ids[:depth])) / len(question.evidence)
        for question, ids in zip(questions, ranked, strict=True)
    ]


def report(name: str, questions: Sequence[Question], ranked: Sequence[Sequence[str]]) -> None:
    """One row of the table."""
    cells = [f"{statistics.fmean(shares(questions, ranked, depth)):.3f}" for depth in DEPTHS]
    print(f"| {name} | {len(questions)} | {' | '.join(cells)} |", flush=True)


def gain(now: Sequence[float], before: Sequence[float]) -> str:
    """Mean gain over the same questions, and the 5th and 95th percentile of that of samples of them."""
    gains = [mine - theirs for mine, theirs in zip(now, before, strict=True)]
    drawn = random.Random(0)
    means = sorted(statistics.fmean(drawn.choices(gains, k=len(gains))) for _ in range(SAMPLES))
    return f"{statistics.fmean(gains):+.3f} [{means[SAMPLES // 20]:+.3f}, {means[-SAMPLES // 20]:+.3f}]"


def compare(questions: Sequence[Question], ranked: Sequence[Sequence[str]], before: Sequence[Sequence[str]]) -> None:
    """The table of gains: all, then each conversation."""
    print(f"\n| gain | n | {' | '.join(f'r@{depth}' for depth in DEPTHS)} |\n|---|---|{'---|' * len(DEPTHS)}")
    for name in ("all", *dict.fromkeys(question.conversation for question in questions)):
        places = [place for place, each in enumerate(questions) if name in ("all", each.conversation)]
        asked = [questions[place] for place in places]
        mine, theirs = [ranked[place] for place in places], [before[place] for place in places]
        cells = [gain(shares(asked, mine, depth), shares(asked, theirs, depth)) for depth in DEPTHS]
        print(f"| {name} | {len(asked)} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Print the table: BM25, the memory, and the memory by kind of question."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="a LoCoMo file")
    parser.add_argument("--mode", default="embed")
    parser.add_argument("--runtime", default="local")
    parser.add_argument("--k", type=int, default=TURNS_MAX, help="hits; more than 50 are looked for in everything")
    parser.add_argument("--graph-rows-min", type=int)
    parser.add_argument("--out", type=Path, help="where to write the ranking")
    parser.add_argument("--against", type=Path, help="a ranking that was written before")
    given = parser.parse_args()
    samples = json.loads(given.data.read_text("utf-8"))
    questions = [question for sample in samples for question in questions_of(sample)]
    rows_min = given.graph_rows_min
    rules = {} if rows_min is None else {"graph_rows_min": rows_min, "forest_graph_rows_min": rows_min}
    with tempfile.TemporaryDirectory(prefix="mf-") as place:
        settings = {"store": f"file://{place}", "runtime": given.runtime, **rules}
        conversations = list(mf.read_conversations(str(given.data)))
        names = [conversation.id for conversation in conversations]
        with mf.connect(**settings) as client:
            for conversation in conversations:
                client.user(conversation.id).ingest_many(conversation.sessions)
            if rules:
                settle(client, names)
                print(f"graphs, written: {graphs_of(client, names)}")
        with mf.connect(**settings) as client:
            ranked = by_memory(client, questions, given.mode, given.k)
            if rules:
                print(f"graphs, opened again: {graphs_of(client, names)}\n")
    print(f"| retriever | n | {' | '.join(f'r@{depth}' for depth in DEPTHS)} |\n|---|---|{'---|' * len(DEPTHS)}")
    words = [ids for sample in samples for ids in by_words(sample, list(questions_of(sample)))]
    report("BM25 on turns, stemmed", questions, words)
    report(f"memforest-ray, {given.mode}", questions, ranked)
    for category, name in CATEGORIES.items():
        places = [place for place, question in enumerate(questions) if question.category == category]
        report(name, [questions[place] for place in places], [ranked[place] for place in places])
    for user in names:
        places = [place for place, question in enumerate(questions) if question.conversation == user]
        report(user, [questions[place] for place in places], [ranked[place] for place in places])
    if given.out:
        given.out.write_text(json.dumps(ranked), "utf-8")
    if given.against:
        compare(questions, ranked, json.loads(given.against.read_text("utf-8")))


if __name__ == "__main__":
    main()
