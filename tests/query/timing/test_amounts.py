"""Amounts that have changed: both statements stay; a question means the latest unless it asks for an earlier one."""

import pytest

from memforest_ray.facts.sessions import Session, Turn
from memforest_ray.query.request import QueryRequest
from memforest_ray.query.result import Answer
from memforest_ray.query.timing.amounts import has_number
from memforest_ray.testing.forests import Forests

FIRM = ("I have been 5 years at the firm.", "I have been 6 years at the firm.")
CHANGED = {
    "How many years has she been at the firm?": (*FIRM, "6 years"),
    "How many years has Mara been at the firm?": (*FIRM, "6 years"),
    "How long has Mara been at the firm?": (*FIRM, "6 years"),
    "How long had Mara been at the firm before?": (*FIRM, "5 years"),
    "How many kilos does Mara weigh?": ("I weigh 82 kilos.", "I weigh 78 kilos now.", "78 kilos"),
    "How much did Mara weigh before?": ("I weigh 82 kilos.", "I weigh 78 kilos now.", "82 kilos"),
    "How many children does Mara have?": ("We have two children.", "We have three children now.", "three children"),
    "How many children did Mara have before?": ("We have two children.", "We have three children.", "two children"),
    "How much rent does Mara pay?": ("I pay 900 euros of rent.", "I pay 1,050 euros of rent.", "1,050 euros"),
    "How old is Mara?": ("I am 41 years old.", "I am 42 years old.", "42 years"),
    "How far does Mara run each week?": ("I run 20 km each week.", "I run 35 km each week.", "35 km"),
}


async def _asked(question: str, *told: str, speaker: str = "Mara") -> Answer:
    """What is answered when one thing was said each year."""
    forest = Forests().open()
    for number, text in enumerate(told):
        turns = [Turn(text, speaker), Turn("I see.", "Leo")]
        await forest.ingest(Session(f"s{number}", turns, time=f"{2020 + number}-03-02T10:00:00Z"))
    answer: Answer = await forest.read("ask", request=QueryRequest(question))
    return answer


@pytest.mark.parametrize("question", CHANGED)
async def test_the_amount_that_is_asked_for_is_the_only_one_told(question: str) -> None:
    """In whatever order they came up, beside other numbers and other talk of the same thing."""
    older, newer, expected = CHANGED[question]
    for told in ((older, newer), (older, "The firm moved to 3 bigger rooms.", newer, "I bought a red bicycle.")):
        answer = await _asked(question, *told)
        wrong = newer if expected in older else older
        assert (answer.found, expected in answer.text, wrong.removeprefix("I ") in answer.text) == (True, True, False)


async def test_both_statements_stay() -> None:
    """The older one is held back, not gone."""
    answer = await _asked("How many years has Mara been at the firm?", *FIRM)
    assert answer.result is not None
    told = {hit.text: hit.timely for hit in answer.result.hits if hit.fact_id}
    assert told == {"Mara has been 6 years at the firm.": True, "Mara has been 5 years at the firm.": False}


async def test_an_amount_that_came_back_is_the_latest() -> None:
    """82, 78, 82 kilos: it is 82 now, and was 78 before."""
    told = ("I weigh 82 kilos.", "I weigh 78 kilos.", "I weigh 82 kilos.")
    assert "82 kilos" in (await _asked("How many kilos does Mara weigh?", *told)).text
    assert "78 kilos" in (await _asked("How many kilos did Mara weigh before?", *told)).text


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("How many books has Mara bought?", ("I bought 3 books in Oslo.", "I bought 2 books in Bergen.")),
        ("How many cousins does Mara have?", ("I have 5 cousins in Oslo.", "I have 3 aunts in Oslo.")),
    ],
)
async def test_amounts_of_different_things_do_not_replace_each_other(question: str, told: tuple[str, str]) -> None:
    """What was bought twice, or is of something else, stays as good as it was."""
    answer = await _asked(question, *told)
    assert answer.result is not None
    assert [hit.text for hit in answer.result.hits if not hit.timely] == []


@pytest.mark.parametrize(
    ("text", "expected"), [("It cost 80 euros", True), ("Billy is four", True), ("It cost a lot", False), ("", False)]
)
def test_whether_a_number_is_told(text: str, expected: bool) -> None:
    """In digits or in words."""
    assert has_number(text) is expected
