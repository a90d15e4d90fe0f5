"""How it is now along a chain: what has ended, several things at once, and whose a thing is."""

import pytest

from memforest_ray.facts.sessions import Session, Turn
from memforest_ray.query.request import QueryRequest
from memforest_ray.query.result import Result
from memforest_ray.testing.forests import Forests


async def _asked(question: str, *told: str) -> Result:
    """What is found when Ana said one thing each year."""
    forest = Forests().open()
    for number, text in enumerate(told):
        turns = [Turn(text, "Ana"), Turn("I see.", "Bob")]
        await forest.ingest(Session(f"s{number}", turns, time=f"{2020 + number}-03-02T10:00:00Z"))
    found: Result = await forest.read("query", request=QueryRequest(question))
    return found


def _singled(result: Result) -> list[str]:
    return [hit.text for hit in result.hits if hit.note]


@pytest.mark.parametrize(
    ("question", "told", "expected"),
    [
        ("Which car does Ana drive?", ("I drive a Volvo.", "I don't drive a Volvo any more."), "any more"),
        ("Is Ana vegan?", ("I'm vegan.", "I'm not vegan any more."), "not vegan"),
        # Of several at once.
        ("Is Ana allergic to nuts?", ("I'm allergic to nuts.", "I'm not allergic to nuts any more."), "not allergic"),
        ("Is Ana allergic to nuts?", ("I'm not allergic to nuts.", "I'm allergic to nuts."), "is allergic to nuts"),
        ("Is Ana allergic to nuts?", ("I have a nut allergy.", "I outgrew my nut allergy."), "outgrew"),
        ("What is Ana allergic to?", ("I'm allergic to nuts.", "I'm not allergic to nuts at all."), "not allergic"),
        ("What is Ana's dog called?", ("My dog is called Rex.", "My dog Rex died."), "died"),
        ("What is Ana's dog called?", ("My dog is called Rex.", "Rex died.", "We got a puppy called Bo."), "Bo"),
        ("What is Ana's dog called?", ("My dog is called Rex.", "Bo died."), "Rex"),
        ("What is Ana's dog called?", ("My dog is called Rex.", "Rex died.", "My dog Rex was old."), "died"),
    ],
)
async def test_how_it_is_now(question: str, told: tuple[str, ...], expected: str) -> None:
    """The one statement that holds is singled out."""
    singled = _singled(await _asked(question, *told))
    assert [expected in text for text in singled] == [True]


@pytest.mark.parametrize(
    ("question", "told", "expected"),
    [
        (
            "What is Ana allergic to?",
            ("I'm allergic to nuts.", "I'm allergic to penicillin.", "I'm not allergic to nuts any more."),
            ["Ana is allergic to penicillin."],
        ),
        (
            "What is Ana allergic to?",
            ("I'm allergic to nuts.", "I'm not allergic to cats.", "I'm allergic to penicillin."),
            ["Ana is allergic to penicillin.", "Ana is allergic to nuts."],
        ),
        (
            "What are Ana's daughters called?",
            ("My daughter is called Zoe.", "My daughter is called Lea."),
            ["Ana's daughter is called Lea.", "Ana's daughter is called Zoe."],
        ),
        (
            "What is Ana's dog called?",
            ("My dog is called Rex.", "My dog is called Bello.", "My dog Rex died."),
            ["Ana's dog is called Bello."],
        ),
    ],
)
async def test_several_things_stand_beside_each_other(
    question: str, told: tuple[str, ...], expected: list[str]
) -> None:
    """A new one does not end the old one; a denial ends what it names alone."""
    assert _singled(await _asked(question, *told)) == expected


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Does Ana have allergies?", ("I like jazz.", "I don't eat pork.")),
        ("Is Ana allergic to shellfish?", ("I like jazz.", "I no longer like jazz.")),
    ],
)
async def test_what_ends_nothing(question: str, told: tuple[str, ...]) -> None:
    """Nothing is singled out or held back."""
    result = await _asked(question, *told)
    assert _singled(result) == []
    assert all(hit.timely for hit in result.hits)


FAMILY = (
    "My cat Pixel turned two today.",
    "My husband is called Tom.",
    "Tom moved to Oslo.",
    "Tom works as a nurse.",
    "I live in Graz.",
    "Pixel is three years old.",
    "My sister moved to Rome.",
    "I turned forty-one.",
)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How old is Pixel?", ["Ana: Pixel is three years old."]),
        ("How old was Pixel in 2020?", ["Ana's cat Pixel turned two today."]),
        ("How old is Ana's cat?", ["Ana: Pixel is three years old."]),
        ("How old is Ana's cat Pixel?", ["Ana: Pixel is three years old."]),
        ("What is Ana's cat called?", ["Ana's cat is called Pixel."]),
        ("How old is Ana?", ["Ana turned forty-one."]),
        ("Where does Ana's husband live?", ["Ana: Tom moved to Oslo."]),
        ("What does Ana's husband do?", ["Ana: Tom works as a nurse."]),
        ("Who is Ana's ex-husband?", []),
        ("Who is Ana's husband?", ["Ana's husband is called Tom."]),
        ("Where does Ana live?", ["Ana lives in Graz."]),
        ("Where does Ana's sister live?", []),  # nobody has said her name, and Ana herself is not meant
    ],
)
async def test_what_is_asked_of_somebody_by_what_they_are(question: str, expected: list[str]) -> None:
    """Ana's cat is Pixel, and her husband Tom; what they do is theirs, not hers."""
    assert _singled(await _asked(question, *FAMILY)) == expected


async def test_whose_mine_is() -> None:
    """In a dialogue with an assistant "my cat" is the user's."""
    forest = Forests().open()
    turns = [Turn("My cat Pixel turned two today.", role="user"), Turn("Happy birthday!", role="assistant")]
    await forest.ingest(Session("s0", turns, time="2024-03-02T10:00:00Z"))
    found: Result = await forest.read("query", request=QueryRequest("How old is my cat?"))
    assert _singled(found) == ["user's cat Pixel turned two today."]
