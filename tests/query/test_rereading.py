"""Details in very long turns."""

import pytest

from memforest_ray.facts.candidates import CANDIDATES_MAX
from memforest_ray.query.answering.answer import answer
from memforest_ray.testing.memory import Memory

FILLER = "The garden was quiet that evening and nobody had watered the beans. "
SECRET = "The spare key lies under the third flowerpot. "


def _told(before: int, after: int, facts: int = CANDIDATES_MAX) -> Memory:
    """One very long turn, of which as many statements were kept as may be; and small talk."""
    memory = Memory()
    memory.say("long", "2023-05-01", ("Bob", FILLER * before + SECRET + FILLER * after))
    for number in range(facts):
        memory.state("long", 0, f"Bob saw bean number{number}")
    for number in range(20):
        memory.told(f"t{number}", "2023-05-02", f"Bob painted shelf number{number}")
    return memory


@pytest.mark.parametrize(("before", "after"), [(60, 20), (0, 80), (100, 0), (150, 150)])
def test_a_detail_is_found_wherever_it_stands(before: int, after: int) -> None:
    """Also where the turn was split: the part that holds it is shown, and the answer quotes the passage."""
    memory = _told(before, after)
    result = memory.ask("Where is the spare key?", explain=True)
    assert (result[0].kind, result[0].turn_ids) == ("cell", ("long#0",))
    assert SECRET.strip() in result[0].text
    assert result[0].why is not None
    assert "passage" in dict(result[0].why.parts)
    told = answer(result, "Where is the spare key?", held_min=0.1)  # word vectors say less than a model's
    assert told
    assert SECRET.strip() in told.text
    assert len(told.text.splitlines()[0]) < 600


@pytest.mark.parametrize(("before", "after"), [(60, 20), (400, 1000)])
def test_dialogue_without_any_statement_is_read_again(before: int, after: int) -> None:
    """Its extraction failed, say: it stays searchable, however long it is."""
    result = _told(before, after, facts=0).ask("Where is the spare key?")
    assert (result[0].kind, SECRET.strip() in result[0].text) == ("cell", True)


def test_what_kept_all_its_statements_is_not_read_again() -> None:
    """Nothing is missing there."""
    result = _told(60, 20, facts=CANDIDATES_MAX - 1).ask("Where is the spare key?", explain=True, k=50)
    assert all("passage" not in dict(hit.why.parts) for hit in result if hit.why is not None)


def test_what_holds_little_of_the_question_is_not_read_again() -> None:
    """Half of its words at least."""
    result = _told(60, 20).ask("Which elephants juggle a key?", explain=True, k=50)
    assert all("passage" not in dict(hit.why.parts) for hit in result if hit.why is not None)


def test_a_budget_cuts_long_dialogue_to_its_passage() -> None:
    """Rather than leave out what answers."""
    [hit] = _told(60, 20).ask("Where is the spare key?", token_budget=150, k=1)
    assert SECRET.strip() in hit.text
    assert len(hit.text) < 500
