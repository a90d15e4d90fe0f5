"""Evidence recall on a LoCoMo file, beside plain BM25 over its turns. Run by hand:

    python tests/benchmarks/evidence_recall.py LOCOMO.json [--mode embed] [--runtime local]

The unit is a turn: recall@n is the share of the turns annotated as evidence that are among the first n turn ids,
averaged over the questions of categories 1 to 4 with usable evidence. A hit stands for its source turns, in order.
"""

import argparse
import json
import re
import statistics
import tempfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bm25s
import Stemmer

import memforest_ray as mf

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
DEPTHS = (5, 10, 20, 50)
TURNS_MAX = 200


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


def by_memory(client: mf.Client, questions: Sequence[Question], mode: str) -> list[list[str]]:
    """Turn ids as the memory ranks them."""
    ranked: list[list[str]] = []
    for question in questions:
        hits = client.user(question.conversation).query(question.text, k=TURNS_MAX, mode=mode)
        ranked.append(list(dict.fromkeys(turn for hit in hits for turn in hit.turn_ids)))
    return ranked


def report(name: str, questions: Sequence[Question], ranked: Sequence[Sequence[str]]) -> None:
    """One row of the table."""
    cells = []
    for depth in DEPTHS:
        shares = [
            len(question.evidence & set(ids[:depth])) / len(question.evidence)
            for question, ids in zip(questions, ranked, strict=True)
        ]
        cells.append(f"{statistics.fmean(shares):.3f}")
    print(f"| {name} | {len(questions)} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Print the table: BM25, the memory, and the memory by kind of question."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="a LoCoMo file")
    parser.add_argument("--mode", default="embed")
    parser.add_argument("--runtime", default="local")
    given = parser.parse_args()
    samples = json.loads(given.data.read_text("utf-8"))
    questions = [question for sample in samples for question in questions_of(sample)]
    print(f"| retriever | n | {' | '.join(f'r@{depth}' for depth in DEPTHS)} |\n|---|---|{'---|' * len(DEPTHS)}")
    words = [ids for sample in samples for ids in by_words(sample, list(questions_of(sample)))]
    report("BM25 on turns, stemmed", questions, words)
    with (
        tempfile.TemporaryDirectory(prefix="mf-") as place,
        mf.connect(store=f"file://{place}", runtime=given.runtime) as client,
    ):
        for conversation in mf.read_conversations(str(given.data)):
            client.user(conversation.id).ingest_many(conversation.sessions)
        ranked = by_memory(client, questions, given.mode)
    report(f"memforest-ray, {given.mode}", questions, ranked)
    for category, name in CATEGORIES.items():
        places = [place for place, question in enumerate(questions) if question.category == category]
        report(name, [questions[place] for place in places], [ranked[place] for place in places])


if __name__ == "__main__":
    main()
