"""The rule that makes two statements one where no model can judge."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.facts.candidates import Candidate, Kind
from memforest_ray.facts.equality import like_keys, signature, timeless
from memforest_ray.testing.facts import day


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Bob has a dog", "Bob has the dog."),
        ("Ana likes tea", "Ana like tea!"),
        ("Ana keeps bees in boxes", "Ana keep bee in box"),
        ("Bob doesn't eat nuts", "Bob doesn’t eat nuts"),
        ("The cat sleeps", "A cat sleeps"),
        ('Bob read "Emma"', "Bob read “Emma”"),
        ("李明住在北京", "李明住在北京。"),
        ("मीरा दिल्ली में रहती है", "मीरा दिल्ली में रहती है।"),
        ("Jose\u0301 sings", "José sings"),
    ],
)
def test_one_statement(one: str, other: str) -> None:
    """Articles, punctuation, spelling and inflection do not make another statement."""
    assert signature(one) == signature(other) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Bob is allergic to nuts", "Bob is not allergic to nuts"),
        ("Bob moved from Boston to Davis", "Bob moved from Davis to Boston"),
        ("The code is 7-A", "The code is 9-A"),
        ("The code is 7-A", "The code is 7"),
        ("The race is on 3 May", "The race is on 10 May"),
        ("Bob has 5 years at the firm", "Bob has 6 years at the firm"),
        ("Bob is not just a nurse", "Bob is not a nurse"),
        ("Bob has been fired", "Bob has fired"),
        ("Bob likes markets", "Bob likes marketing"),
        ("Ana hired a design", "Ana hired a designer"),
        ("Bob takes vitamin A", "Bob takes vitamin"),
        ("It is -5 outside", "It is 5 outside"),
        ("Ana paid $5", "Ana paid 5%"),
        ("Ana owes .5 kg", "Ana owes 5 kg"),
        ("Bob lived in Davis", "Bob lives in Davis"),
        ("Bob knows Rose", "Bob knows Roses"),
        ("Bob lives in Davis?", "Bob lives in Davis"),
        ("Bob is fine 👍", "Bob is fine 👎"),
        ("李明住在北京", "李明住在南京"),
        ("李明不喜欢茶", "李明喜欢茶"),
        ("मीरा चाय पीती है", "मीरा चाय नहीं पीती है"),
    ],
)
def test_two_statements(one: str, other: str) -> None:
    """Negation, direction, numbers, names, tense, voice and word formation do."""
    assert signature(one) != signature(other)


@pytest.mark.parametrize("text", ["", "...", "👍", " \n"])
def test_a_text_without_words_is_like_nothing(text: str) -> None:
    """What has no words is never made one with anything."""
    assert signature(text) == ""
    assert like_keys(Candidate(text, Kind.DETAIL, "Bob", "user", (0,)), None) == ((), ())


@given(st.text())
def test_any_text_has_a_signature(text: str) -> None:
    """No text raises, and case folded away in one place is not missed in another."""
    assert signature(text) == signature(f"  {text}\n")


@pytest.mark.parametrize(
    ("text", "expression", "expected"),
    [
        ("Bob went to the gym today", "today", "Bob went to the gym"),
        ("Bob ran on 3 May with Ana", "3 May", "Bob ran with Ana"),
        ("Yesterday, Bob ran", "Yesterday", ", Bob ran"),
        ("Bob ran today", "in May", "Bob ran today"),
        ("Maya sang", "May", "Maya sang"),
        ("Bob ran", "", "Bob ran"),
    ],
)
def test_timeless(text: str, expression: str, expected: str) -> None:
    """The expression goes with its preposition, but never a part of a word."""
    assert timeless(text, expression).strip() == expected


def _keys(text: str, speaker: str, subject: str | None) -> object:
    return like_keys(Candidate(text, Kind.STATE, speaker, "user", (0,), subject=subject), None)


def test_speakers_who_name_the_same_subject_can_say_one_thing() -> None:
    """Bob moved, whoever says so."""
    assert _keys("Bob lives in Davis", "Bob", "Bob") == _keys("Bob lives in Davis.", "Maya", "bob")


@pytest.mark.parametrize("text", ["I like tea", "my sister likes tea", "我喜欢茶", "मुझे चाय पसंद है", "You like tea"])
def test_quoted_speech_stays_with_its_speaker(text: str) -> None:
    """Words for oneself and the other mean someone else in another mouth, whatever subject was found."""
    assert _keys(text, "Ann", "Bob") != _keys(text, "Bob", "Bob")


def test_without_a_subject_the_speaker_counts() -> None:
    """Two people who say the same of an unnamed subject are not one."""
    assert _keys("Likes tea", "Ann", None) != _keys("Likes tea", "Bob", None)


def test_known_time_takes_the_place_of_its_expression() -> None:
    """Yesterday, said on the 4th, is today, said on the 3rd."""
    today = Candidate("Bob ran today", Kind.EVENT, "Bob", "user", (0,), event=day(3, "today"))
    past = Candidate("Bob ran yesterday", Kind.EVENT, "Bob", "user", (0,), event=day(3, "yesterday"))
    assert like_keys(today, {3})[0] == like_keys(past, {4})[0] != ()
