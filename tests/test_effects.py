"""Steps: code that asks for what it needs, and what is sent to it."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, assert_type

import pytest

from memforest_ray.commit.version import Vector
from memforest_ray.effects import Answered, Finished, carried_out, step
from memforest_ray.forest.effects import Embed, JudgeFrom, Steps


@dataclass(frozen=True, slots=True)
class Length(Answered[int]):
    """Answer: how long a text is."""

    text: str


def _lengths(*texts: str) -> Generator[Length, Any, int]:
    total = 0
    for text in texts:
        total += yield from Length(text)
    return total


def test_an_effect_is_asked_and_answered() -> None:
    """Whoever runs the steps is given each effect as it is, and each is given what he sends."""
    steps = _lengths("tea", "chess")
    assert step(steps, None) == Length("tea")
    assert step(steps, 3) == Length("chess")
    assert step(steps, 5) == Finished(8)


def test_steps_are_carried_out_where_all_is_known() -> None:
    """Without any effect too."""
    assert carried_out(_lengths("tea", "chess"), lambda effect: len(effect.text)) == 8
    assert carried_out(_lengths(), lambda effect: len(effect.text)) == 0


def test_what_goes_wrong_in_a_step_is_raised() -> None:
    """That includes what is wrong with an answer."""

    def fails() -> Generator[Length, Any, int]:
        return 1 // (yield from Length(""))

    with pytest.raises(ZeroDivisionError):
        carried_out(fails(), lambda effect: len(effect.text))


def test_answers_have_types() -> None:
    """A type checker knows what each effect is answered with."""

    def steps() -> Steps[int]:
        rows = yield from Embed(("tea",))
        assert_type(rows, Sequence[Vector])
        threshold = yield from JudgeFrom()
        assert_type(threshold, float | None)
        return len(rows)

    assert carried_out(steps(), lambda effect: [0] if isinstance(effect, Embed) else None) == 1
