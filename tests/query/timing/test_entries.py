"""The order of a chain where times are told in no words: what people do when they tell a story decides."""

import pytest

from memforest_ray.facts.sessions import Session, Turn
from memforest_ray.query.request import QueryRequest
from memforest_ray.query.result import Result
from memforest_ray.testing.forests import Forests

NOW, BEFORE = "Where does Bob live now?", "Where did Bob live previously?"
DAVIS, MIAMI = "I moved to Davis.", "I moved to Miami last month."


async def _asked(question: str, *sessions: tuple[str, tuple[str, ...]]) -> Result:
    """What is found when Bob said these things, a turn each, in sessions with their times."""
    forest = Forests().open()
    for number, (time, told) in enumerate(sessions):
        turns = [turn for text in told for turn in (Turn(text, "Bob"), Turn("I see.", "Ana"))]
        await forest.ingest(Session(f"s{number}", turns, time=time))
    found: Result = await forest.read("query", request=QueryRequest(question))
    return found


def _singled(result: Result) -> list[str]:
    return [hit.text for hit in result.hits if hit.note]


STORIES = {
    # Undated, then dated: the dated is newer, if it is recent.
    (DAVIS, MIAMI): ("Miami", "Davis"),
    ("I moved to Davis. I moved to Miami last month.",): ("Miami", "Davis"),
    (DAVIS, "In 2023 I moved to Miami."): ("Miami", "Davis"),
    (DAVIS, "I moved to Reno.", MIAMI): ("Miami", "Reno"),
    ("I moved to Davis after college.", MIAMI): ("Miami", "Davis"),
    # Older history that is added to news.
    ("I moved to Davis!", "I moved to Boston in 2010."): ("Davis", "Boston"),
    ("I moved to Davis!", "I had moved to Boston in 2010."): ("Davis", "Boston"),
    ("I moved to Davis!", "I had moved to Miami last year."): ("Davis", "Miami"),
    ("I just moved to Davis.", MIAMI): ("Davis", "Miami"),
    ("I've moved to Davis.", MIAMI): ("Davis", "Miami"),
    # Dated, then undated: told in the order in which it happened.
    (MIAMI, DAVIS): ("Davis", "Miami"),
    (MIAMI, "Then I moved to Davis."): ("Davis", "Miami"),
    (MIAMI, DAVIS, MIAMI): ("Davis", "Miami"),
    # What steps back comes before what was told before it.
    (MIAMI, "Before that I moved to Davis."): ("Miami", "Davis"),
    (MIAMI, "Earlier I moved to Davis."): ("Miami", "Davis"),
    (MIAMI, "Before that I lived in Davis.", "Before that I lived in Boston."): ("Miami", "Davis"),
    ("I moved to Miami.", "I had moved to Davis before."): ("Miami", "Davis"),
    ("First I moved to Davis, then I moved to Miami.",): ("Miami", "Davis"),
    # What is long over.
    ("I moved to Davis when I was a kid.", MIAMI): ("Miami", "Davis"),
    ("I moved to Miami.", "I moved to Davis when I was nine."): ("Miami", "Davis"),
}


@pytest.mark.parametrize("told", STORIES)
async def test_moves_of_one_sitting(told: tuple[str, ...]) -> None:
    """Where somebody lives now, and where before."""
    now, before = STORIES[told]
    for question, place in ((NOW, now), (BEFORE, before)):
        singled = _singled(await _asked(question, ("2024-01-15T10:00:00Z", told)))
        assert [place in text for text in singled] == [True]


async def test_what_somebody_used_to_do_is_never_how_it_is_now() -> None:
    """Told years after what is still so; it was before the present state, whenever that was said first."""
    told = (("2020-01-15", ("I live in Boston.",)), ("2024-01-15", ("I used to live in Davis.",)))
    assert _singled(await _asked(NOW, *told)) == ["Bob lives in Boston."]
    assert _singled(await _asked(BEFORE, *told)) == ["Bob used to live in Davis."]


async def test_before_that_means_right_before() -> None:
    """Boston was known for long; Davis came between it and the move."""
    told = (("2019-01-15", ("I live in Boston.",)), ("2024-01-15", (MIAMI, "Before that I lived in Davis.")))
    assert _singled(await _asked(BEFORE, *told)) == ["Bob: Before that I lived in Davis."]
    assert _singled(await _asked("Where did Bob live before Davis?", *told)) == ["Bob lives in Boston."]


@pytest.mark.parametrize(
    "told",
    [
        (("2024-01-15", (DAVIS,)), ("2024-01-20", (MIAMI,))),  # another sitting: the move to Davis was news of its day
        (("2023-12-20", ("I moved to Davis.",)), ("2024-01-20", ("I moved to Miami in March 2023.",))),
    ],
)
async def test_another_session_tells_another_story(told: tuple[tuple[str, tuple[str, ...]], ...]) -> None:
    """The order of telling says nothing across sessions."""
    assert _singled(await _asked(NOW, *told)) == ["Bob moved to Davis."]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (("I joined Acme as a clerk.", "I started a job at Globex last month."), "Globex"),
        (("I quit my job at Acme.", "I started working at Globex last month."), "Globex"),
        (("I quit my job.", "I started working at Globex last year."), "quit"),
        (("I quit my job at Globex.", "I started working at Globex last month."), "quit"),
    ],
)
async def test_jobs_are_told_as_moves_are(told: tuple[str, ...], expected: str) -> None:
    """An end that is told before the next beginning; an end of the very job that is told of is none."""
    singled = _singled(await _asked("Where does Bob work now?", ("2024-01-15", told)))
    assert [expected in text for text in singled] == [True]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("I quit Globex in July.", "quit"),
        ("I left Globex after six years.", "left"),
        ("I quit Hooli in July.", "works at Globex"),
        ("I left Rome after six years.", "works at Globex"),
    ],
)
async def test_an_end_that_names_an_employer_ends_nothing_else(told: str, expected: str) -> None:
    """What somebody quits is no job unless it is the one that was held."""
    sessions = (("2024-01-15", ("I work at Globex.",)), ("2024-08-01", (told,)))
    singled = _singled(await _asked("Where does Bob work now?", *sessions))
    assert [expected in text for text in singled] == [True]
