"""The sample conversations are what the demo and the tests take them for."""

import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
BOB = (ROOT / "examples/bob.json", ROOT / "examples/bob_questions.json")
SAMPLES = {
    "bob": BOB,
    "chinese": (ROOT / "tests/samples/chinese.json", ROOT / "tests/samples/chinese_questions.json"),
    "hindi": (ROOT / "tests/samples/hindi.json", ROOT / "tests/samples/hindi_questions.json"),
}


def _load(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def _turns(conversation: Any) -> dict[str, str]:
    """Turn id -> text."""
    return {
        f"{session['id']}#{index}": turn["text"]
        for session in conversation["sessions"]
        for index, turn in enumerate(session["turns"])
    }


@pytest.mark.parametrize("name", SAMPLES)
def test_questions_name_turns_that_exist(name: str) -> None:
    """Each question has an answer and evidence, and the evidence is in the conversation."""
    conversation, questions = map(_load, SAMPLES[name])
    turns = _turns(conversation)
    assert conversation["id"] == questions["user"]
    for item in questions["questions"]:
        assert item["question"]
        assert item["answer"]
        assert item["evidence"]
        assert set(item["evidence"]) <= set(turns)


@pytest.mark.parametrize("name", SAMPLES)
def test_no_turn_is_said_twice(name: str) -> None:
    """Real variety: a repeated line would be one fact, and prove nothing."""
    texts = list(_turns(_load(SAMPLES[name][0])).values())
    assert len(set(texts)) == len(texts)


def test_bob_is_large_and_out_of_order() -> None:
    """A few years of two people, sessions not in order, and the middle city told last."""
    conversation, questions = map(_load, BOB)
    times = [session["time"] for session in conversation["sessions"]]
    assert len(times) >= 12
    assert len(_turns(conversation)) >= 300
    assert times != sorted(times)
    assert (min(times)[:4], max(times)[:4]) == ("2019", "2024")
    assert questions["questions"][0]["question"] == "Where did Bob live before moving to Miami?"
    assert [item["demo"] for item in questions["questions"]].count(True) == 4
    told = {turn.partition("#")[0] for turn, text in _turns(conversation).items() if "Davis" in text}
    assert told == {"bob-13"}
