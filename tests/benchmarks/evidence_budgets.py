"""Evidence within equal budgets of turns: trees, no trees, and a log in order of time. Run by hand:

    python tests/benchmarks/evidence_budgets.py LOCOMO.json [--category 2]

The unit is a turn, as in `evidence_recall.py`; a budget of n is the first n turns that a retriever names. Beside the
modes `embed` and `flat` stands a control without facts, vectors and trees: the turns of the log in order of time, of
which those are taken that hold most of the question's words (BM25), that lie in a time which the question names, and,
where it asks for one, that name a time themselves.
"""

import argparse
import json
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import bm25s
import Stemmer

import memforest_ray as mf
from memforest_ray.facts.expressions import find_times
from memforest_ray.facts.instants import parse_instant
from memforest_ray.query.question import Question as Reading
from tests.benchmarks.evidence_recall import CATEGORIES, TURNS_MAX, Question, by_memory, questions_of

BUDGETS: Final = (5, 10, 20, 30, 50, 100)
WITHIN: Final = 0.5
"""What a turn of the time that is named gains, as a share of the best turn's BM25."""
DATED: Final = 0.25
"""What a turn that names a time gains when the question asks for one."""


def log_of(conversation: mf.Conversation) -> list[tuple[str, str, int | None]]:
    """Turns in order of time: id, text with its speaker, when it was said."""
    return [
        (
            turn.id or "",
            f"{turn.speaker}: {turn.text}",
            None if session.time is None else parse_instant(session.time).ms,
        )
        for session in conversation.sessions
        for turn in session.turns
    ]


def by_log(conversation: mf.Conversation, questions: Sequence[Question]) -> list[list[str]]:
    """Turn ids as the log, reranked by words and times, gives them."""
    log = log_of(conversation)
    stemmer = Stemmer.Stemmer("english")
    index = bm25s.BM25()
    index.index(bm25s.tokenize([text for _, text, _ in log], stemmer=stemmer, show_progress=False), show_progress=False)
    dated = [bool(find_times(text, said, None)) for _, text, said in log]
    latest = max((said for _, _, said in log if said is not None), default=None)
    ranked = []
    for question in questions:
        asked = bm25s.tokenize([question.text], stemmer=stemmer, show_progress=False)
        places, scores = index.retrieve(asked, k=len(log), show_progress=False)
        words = dict(zip(places[0].tolist(), scores[0].tolist(), strict=True))
        best = max(words.values()) or 1.0
        spans = [found.event.interval for found in find_times(question.text, latest, None)]
        wants = Reading.of(question.text).wants_time
        value = [
            words[place] / best
            + WITHIN * any(said is not None and low <= said < high for low, high in spans)
            + DATED * (wants and dated[place])
            for place, (_, _, said) in enumerate(log)
        ]
        order = sorted(range(len(log)), key=lambda place: (-value[place], place))
        ranked.append([log[place][0] for place in order])
    return ranked


def row(name: str, questions: Sequence[Question], ranked: Sequence[Sequence[str]]) -> str:
    """One line of the table: mean recall within each budget."""
    cells = [
        statistics.fmean(
            len(question.evidence & set(ids[:budget])) / len(question.evidence)
            for question, ids in zip(questions, ranked, strict=True)
        )
        for budget in BUDGETS
    ]
    return f"| {name} | {len(questions)} | {' | '.join(f'{cell:.3f}' for cell in cells)} |"


def main() -> None:
    """Print the table for the questions of one category."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="a LoCoMo file")
    parser.add_argument("--category", type=int, default=2, choices=[0, *CATEGORIES], help="0: all")
    given = parser.parse_args()
    samples: list[dict[str, Any]] = json.loads(given.data.read_text("utf-8"))
    kept = [each for sample in samples for each in questions_of(sample) if given.category in (0, each.category)]
    conversations = {each.id: each for each in mf.read_conversations(str(given.data))}
    print(
        f"| retriever | n | {' | '.join(f'{budget} turns' for budget in BUDGETS)} |\n|---|---|{'---|' * len(BUDGETS)}"
    )
    log = [
        ids
        for name, conversation in conversations.items()
        for ids in by_log(conversation, [each for each in kept if each.conversation == name])
    ]
    print(row("log in order of time, words and times", kept, log), flush=True)
    with (
        tempfile.TemporaryDirectory(prefix="mf-") as place,
        mf.connect(store=f"file://{place}", runtime="local") as client,
    ):
        for conversation in conversations.values():
            client.user(conversation.id).ingest_many(conversation.sessions)
        for mode in ("flat", "root", "embed"):
            print(row(f"memforest-ray, {mode}", kept, by_memory(client, kept, mode, TURNS_MAX)), flush=True)


if __name__ == "__main__":
    main()
