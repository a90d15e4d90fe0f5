"""Phrases that name a time: which words they are looked for by, and in which direction along time they are meant."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memforest_ray.facts.expressions import _may_tell, find_times
from memforest_ray.facts.phrases.dates import DATES
from memforest_ray.facts.phrases.nearby import NEARBY
from memforest_ray.facts.phrases.phrase import Phrase
from memforest_ray.facts.phrases.vocabulary import hooks_in
from memforest_ray.facts.phrases.within import WITHIN

_JANUARY = int(datetime(2024, 1, 15, 10, tzinfo=UTC).timestamp()) * 1000


@pytest.mark.parametrize("phrase", [*WITHIN, *DATES, *NEARBY], ids=lambda phrase: phrase.pattern.pattern[:40])
@settings(max_examples=5)
@given(data=st.data())
def test_what_a_pattern_matches_is_searched_for(phrase: Phrase, data: st.DataObject) -> None:
    """The words by which a search is left out are in whatever the search would find."""
    match = phrase.pattern.search(data.draw(st.from_regex(phrase.pattern)))
    if match is not None and match[0].isascii():
        assert _may_tell(match[0])
        assert not any(hooks_in(match[0]).isdisjoint(hooks) for hooks in phrase.hooks)


@pytest.mark.parametrize(
    "text",
    [
        "My dentist appointment is on 4 March.",
        "The deadline is 4 March.",
        "The report is due on 4 March.",
        "The wedding is in March.",
        "My flight leaves on 4 March.",
        "The exhibition opens on March 4th.",
        "My passport expires in March.",
        "I have to submit the form by 4 March.",
        "We must be out of the flat by 4 March.",
        "Dentist appointment on 4 March at 9 am.",
        "Remind me on 4 March to call Ana.",
        "I have an interview on 4 March.",
        "In March I have an exam.",
        "The meeting on 4 March is about taxes.",
        "I fly to Oslo on 4 March.",
        "On 4 March I'll fly to Oslo.",
        "The next concert is on 4 March.",
        "It is planned for March.",
        "The meeting was moved to 4 March.",
        "They rescheduled it to March 4th.",
        "The wedding had to be postponed until March.",
        "The exam was pushed back to the 4th of March.",
    ],
)
def test_what_is_fixed_for_a_day_lies_ahead(text: str) -> None:
    """Said in January: the coming March, whether the future has a form, is a present, or has no verb at all."""
    [found] = find_times(text, _JANUARY, None)
    assert (found.event.start.year, found.event.start.month) == (2024, 3)


@pytest.mark.parametrize(
    "text",
    [
        "My dentist appointment was on 4 March.",
        "I had an appointment on 4 March.",
        "The deadline passed on 4 March.",
        "This is a photo of us in March.",
        "This is me in March.",
        "I have a photo from 4 March.",
        "I have a friend who moved here in March.",
        "On 4 March we met.",
        "I had to submit it by 4 March.",
        "I was in Rome until 4 March.",
        "Back in March I have a memory of rain.",
        "The vase is from March.",
    ],
)
def test_without_such_a_sign_the_nearest_past_is_meant(text: str) -> None:
    """Also where a present or an appointment stands in a sentence of the past."""
    [found] = find_times(text, _JANUARY, None)
    assert (found.event.start.year, found.event.start.month) == (2023, 3)
