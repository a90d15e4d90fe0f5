"""What scores and answers are worth, offline, on a LoCoMo file. Run by hand:

    python tests/benchmarks/evidence_scores.py LOCOMO.json

First: the best score of fifty questions that mean nothing, put to every conversation, beside the best scores of the
questions that have an answer. Then: how many questions `ask` answers, by category, and whether what it cites holds
evidence. Questions of category 5 were put to the wrong one of two people: an answer to one is a mistake.
"""

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

import memforest_ray as mf
from tests.benchmarks.evidence_recall import CATEGORIES, Question, questions_of

NONSENSE: Final = (
    "How many photons fit into a teaspoon of regret?",
    "zxcvb qwerty asdfgh",
    "Which prime number married the Danube?",
    "blorf snarg wuzzle plim",
    "Does the moon file its taxes in Esperanto?",
    "What is the torque of a sonnet?",
    "colourless green ideas sleep furiously",
    "Why do triangles refuse to whisper on Thursdays?",
    "lorem ipsum dolor sit amet",
    "How deep is the alphabet at low tide?",
    "When was the Treaty of Westphalia microwaved?",
    "kjh kjh kjh kjh",
    "Which gearbox ratio suits a glacier?",
    "Quel est le poids du silence en octets?",
    "What voltage does nostalgia need?",
    "the of and to a in that it",
    "Who compiled the kernel of the pyramid of Cheops?",
    "flibber flabber gibbet tock",
    "Is a tensor field heavier than an orchestra?",
    "How often does gravity change its password?",
    "What did the Jurassic parliament export?",
    "1234567 89 0 42 17 3.14159",
    "Can a semaphore digest cobalt?",
    "mnop lkji hgfe dcba",
    "Which isotope of laughter is stable?",
    "Where do polynomials go to hibernate?",
    "aaaa bbbb cccc dddd eeee",
    "How many decibels are in a kilogram of fog?",
    "Which dialect of XML do volcanoes speak?",
    "What is the half-life of a comma?",
    "vex jumbo quartz glyph sphinx waltz",
    "Did the pancreas of the algorithm rust?",
    "Who holds the patent on entropy in Liechtenstein?",
    "What is the tariff on imaginary numbers?",
    "!!! ??? ### $$$",
    "How is marzipan transpiled to assembler?",
    "Why was the periodic table recalled by its dealer?",
    "trombone asphalt kerosene parabola",
    "Which basilisk chairs the monetary committee?",
    "When does the hypotenuse molt?",
    "How long do neutrinos proof before baking?",
    "xylo phono krono thermo",
    "What colour is the eigenvalue of a haddock?",
    "Who umpired the eruption of Krakatoa?",
    "Is the subjunctive soluble in benzene?",
    "what what what what",
    "How many furlongs per fortnight is a hiccup?",
    "Does a cantilever bridge dream of moss?",
    "Which sonata leaks hydraulic fluid?",
    "What is the postal code of infinity?",
)
MISPUT: Final = 5


def best_scores(client: mf.Client, asked: Sequence[tuple[str, str]]) -> list[float]:
    """The score of the first hit of each user's question; 0 where there is none."""
    found = (client.user(user).query(text, k=1) for user, text in asked)
    return [result[0].score if result else 0.0 for result in found]


def compare(client: mf.Client, users: Sequence[str], questions: Sequence[Question]) -> None:
    """Nonsense beside questions with an answer."""
    real = best_scores(client, [(each.conversation, each.text) for each in questions])
    empty = best_scores(client, [(user, text) for user in users for text in NONSENSE])
    print(f"questions with an answer ({len(real)}): 5th percentile {np.percentile(real, 5):.3f}", end=", ")
    print(f"10th {np.percentile(real, 10):.3f}, median {np.median(real):.3f}")
    print(
        f"nonsense ({len(empty)}): median {np.median(empty):.3f}, 95th percentile {np.percentile(empty, 95):.3f}",
        end=", ",
    )
    print(f"highest {max(empty):.3f}", flush=True)


def answers(client: mf.Client, name: str, questions: Sequence[Question]) -> None:
    """One line of the table: answered, with evidence among what is cited, pieces cited."""
    answered = [client.user(each.conversation).ask(each.text) for each in questions]
    held, cited = 0, 0
    for question, answer in zip(questions, answered, strict=True):
        hits = () if answer.result is None else answer.result.hits
        ids = set(answer.citations)
        turns = {turn for hit in hits if hit.fact_id in ids or set(hit.turn_ids) & ids for turn in hit.turn_ids}
        held += bool(turns & question.evidence) and answer.found
        cited += len(answer.citations)
    count = sum(map(bool, answered))
    cells = (f"{count / len(questions):.2f}", f"{held / len(questions):.2f}", f"{cited / max(count, 1):.1f}")
    print(f"| {name} | {len(questions)} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Ingest once, then print both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="a LoCoMo file")
    given = parser.parse_args()
    samples = json.loads(given.data.read_text("utf-8"))
    questions = [each for sample in samples for each in questions_of(sample, {*CATEGORIES, MISPUT})]
    with (
        tempfile.TemporaryDirectory(prefix="mf-") as place,
        mf.connect(store=f"file://{place}", runtime="local") as client,
    ):
        users = []
        for conversation in mf.read_conversations(str(given.data)):
            users.append(conversation.id)
            client.user(conversation.id).ingest_many(conversation.sessions)
        compare(client, users, [each for each in questions if each.category != MISPUT])
        print("| questions | n | answered | with evidence | cited |\n|---|---|---|---|---|")
        for category, name in {**CATEGORIES, MISPUT: "put to the wrong person"}.items():
            answers(client, name, [each for each in questions if each.category == category])


if __name__ == "__main__":
    main()
