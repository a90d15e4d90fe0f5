"""The sample conversations, remembered and asked: evidence is found in every script."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import memforest_ray as mf
from memforest_ray.facts.rules import RuleExtractor
from memforest_ray.local import LocalRuntime, Models
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.trees.summaries import SelectionSummarizer

ROOT = Path(__file__).parents[2]
PLACES = 10
"""Turns looked at for each question."""


async def _found(conversation: Path, asked: list[dict[str, Any]]) -> dict[str, bool]:
    """Question -> whether a turn of its evidence is among the first. Words alone: the embedder knows no meaning."""
    settings = mf.Settings(store="memory://samples", runtime="local")
    models = Models(RuleExtractor(), SelectionSummarizer(), HashEmbedder())
    runtime = LocalRuntime(settings, MemoryStore("samples"), models)
    async with mf.AsyncClient(settings, runtime) as client:
        (read,) = mf.read_conversations(conversation)
        user = client.user(read.id)
        await user.ingest_many(read.sessions)
        return {item["question"]: await _holds(user, item) for item in asked}


def _asked(questions: Path) -> list[dict[str, Any]]:
    asked: list[dict[str, Any]] = json.loads(questions.read_text("utf-8"))["questions"]
    return asked


async def _holds(user: mf.AsyncUser, item: dict[str, Any]) -> bool:
    hits = await user.query(item["question"], k=PLACES)
    first = list(dict.fromkeys(_turns(hits)))[:PLACES]
    return not set(item["evidence"]).isdisjoint(first)


def _turns(hits: mf.Result) -> Iterator[str]:
    for hit in hits:
        yield from hit.turn_ids


@pytest.mark.parametrize("name", ["chinese", "hindi"])
async def test_evidence_is_found_in_scripts_without_case(name: str) -> None:
    """Every question's evidence is among the first ten turns, by words and bigrams alone."""
    folder = ROOT / "tests/samples"
    found = await _found(folder / f"{name}.json", _asked(folder / f"{name}_questions.json"))
    assert [question for question, held in found.items() if not held] == []


async def test_evidence_is_found_among_years_of_talk() -> None:
    """Most of Bob's questions, the four of the demo among them, without any model of meaning."""
    found = await _found(ROOT / "examples/bob.json", _asked(ROOT / "examples/bob_questions.json"))
    missed = [question for question, held in found.items() if not held]
    assert len(missed) <= 4, missed
    assert set(missed).isdisjoint(list(found)[:4])
