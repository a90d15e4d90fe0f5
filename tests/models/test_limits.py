"""Limits: what a first try is given, and when that is no use."""

from typing import Any

import pytest

from memforest_ray.models.chat import ChatRequest
from memforest_ray.models.limits import Limits, used_up
from memforest_ray.models.prompts.extract import EXTRACT
from memforest_ray.models.prompts.prompt import Usual
from memforest_ray.models.prompts.summarise import SUMMARISE


def request(usual: int | None, most: int = 1_500) -> ChatRequest:
    return ChatRequest("extract", "Fixed.", "Say.", {}, most, usual)


@pytest.mark.parametrize(("usual", "given"), [(400, 400), (None, 1_500), (1_500, 1_500), (9_000, 1_500)])
def test_the_first_try_is_given_what_is_usual(usual: int | None, given: int) -> None:
    """And never more than all."""
    assert Limits().first(request(usual)).tokens_max == given


def test_a_model_that_needs_more_each_time_is_given_all_at_once() -> None:
    """After three answers; while one in a hundred needs more the others gain."""
    limits, given = Limits(), []
    for _ in range(4):
        given.append(limits.first(request(400)).tokens_max)
        limits.note_cut()
    assert given == [400, 400, 400, 1_500]
    limits = Limits()
    for number in range(500):
        if limits.first(request(400)).tokens_max == 400 and number % 100 == 99:
            limits.note_cut()
    assert limits.first(request(400)).tokens_max == 400


@pytest.mark.parametrize(
    ("usage", "text", "used"),
    [
        ({"completion_tokens": 400}, "", True),
        ({"completion_tokens": 399}, "x" * 5_000, False),
        (None, "x" * 400, True),
        ({}, "x" * 399, False),
        ({"completion_tokens": None}, "", True),
    ],
)
def test_who_ended_an_answer(usage: Any, text: str, used: bool) -> None:
    """The server says how many tokens there were; else a token has one byte at least, and thoughts have none."""
    assert used_up({"usage": usage}, 400, text) == used


def test_what_is_usual_grows_with_the_text() -> None:
    """By its bytes: the same in Chinese takes as many characters less as it takes tokens more."""
    assert Usual(100, 0.5).of("x" * 60) == Usual(100, 0.5).of("\u6c34" * 20) == 130
    turn = "1 | Wed 2023-05-17 09:06 | Ivo: Fine! We left Porto last week. No lifting for me though."
    assert [prompt.request(turn).tokens_usual for prompt in (EXTRACT, SUMMARISE)] == [408, 261]
