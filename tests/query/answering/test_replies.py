"""What a model's text comes to, whole and piece by piece."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.models.prompts.answer import ANSWER, REFUSAL
from memforest_ray.query.answering.replies import Citing, answer_request, read_reply
from memforest_ray.query.result import Result, Trace
from memforest_ray.testing.memory import Memory, days


def _found() -> Result:
    memory = Memory()
    memory.told("s1", "2023-05-08", "Bob keeps bees", event=days("2021-04-01"))
    memory.say("s2", "2023-06-08", ("Ann", "Bees again?"), ("Bob", "Always"))
    return memory.ask("bees", k=5)


FOUND = _found()
IDS = [hit.fact_id or ", ".join(hit.turn_ids) for hit in FOUND]


def _streamed(text: str, cuts: list[int]) -> str:
    """What a listener hears of a text that comes in pieces of these lengths."""
    citing, shown, rest = Citing(FOUND), [], text
    for cut in cuts:
        shown.append(citing.feed(rest[:cut]))
        rest = rest[cut:]
    shown.append(citing.feed(rest))
    return "".join(shown) + citing.end()


@given(
    st.lists(
        st.sampled_from(["[1]", "[2]", "[9]", "[1, 2]", "[", "]", "Bees", " ", "1", "NOT IN", "ü", "\n"]), max_size=12
    ),
    st.lists(st.integers(0, 4), max_size=12),
)
def test_pieces_come_to_the_whole(parts: list[str], cuts: list[int]) -> None:
    """However a text is cut, what is heard is what is read in the end."""
    text = "".join(parts)
    answer = read_reply(text, FOUND)
    heard = _streamed(text, cuts)
    if answer.found:
        assert heard.strip() == answer.text
        assert set(answer.citations) <= set(IDS)
    assert "[9]" not in heard


@given(st.lists(st.integers(0, 5), max_size=9), st.sampled_from(["", " ", "\n"]))
def test_a_refusal_is_never_heard(cuts: list[int], before: str) -> None:
    """Its wording belongs to the model; the answer has its own."""
    assert _streamed(before + REFUSAL, cuts) == ""
    assert not read_reply(before + REFUSAL, FOUND)


def test_what_only_begins_like_a_refusal_is_heard() -> None:
    """NOT INSIDE is no refusal."""
    assert _streamed("NOT INSIDE [1]", [3, 3, 3]) == f"NOT INSIDE [{IDS[0]}]"


def test_the_request_shows_evidence_with_numbers_and_times() -> None:
    """In the order of the hits, each on a line of its own."""
    request = answer_request("Who keeps bees?", replace(FOUND, trace=Trace("embed", reading=("current",))))
    lines = request.text.splitlines()
    assert request.system == ANSWER.system
    assert lines[0] == "Question: Who keeps bees?"
    assert lines[1] == "As to time, the question was read as: current"
    assert lines[3] == "[1] Bob keeps bees (time: 1 April 2021; said 8 May 2023)"
    assert lines[4].startswith("[2] ")
    assert "Ann: Bees again? Bob: Always (said 8 June 2023)" in request.text


@pytest.mark.parametrize("length", [2_000, 100_000])
def test_long_dialogue_is_cut_to_its_passage(length: int) -> None:
    """A request has a bound, and holds what is asked for."""
    memory = Memory()
    filler = "The garden was quiet. " * (length // 22)
    memory.say("s1", "2023-05-08", ("Bob", f"{filler}The key is under the mat. {filler}"))
    result = memory.ask("Where is the key?", k=50)
    text = answer_request("Where is the key?", result).text
    assert "The key is under the mat." in text
    assert len(text) < 200 + len(result) * 2_500
