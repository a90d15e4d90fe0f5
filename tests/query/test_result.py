"""What a query gives, as it travels between processes."""

import copy
import pickle
from dataclasses import replace
from typing import Any

import pytest

from memforest_ray.facts.times import EventTime, Precision
from memforest_ray.ids import SessionId
from memforest_ray.models.usage import Usage
from memforest_ray.query.request import QueryRequest
from memforest_ray.query.result import Answer, EmptyReason, Result, Trace
from memforest_ray.query.search import search
from memforest_ray.testing.memory import Memory, word_vector


@pytest.fixture
def found() -> Result:
    """Facts and dialogue, dated and undated, with what their scores are made of."""
    memory = Memory()
    day = EventTime(1_614_556_800_000, 1_614_643_200_000, Precision.DAY, "on 1 March", None)
    memory.told("a", "2021-03-04", "Bob moved to Davis", event=day)
    memory.told("b", None, "Bob keeps geese")
    text = "Where did Bob move?"
    return search(memory.version, QueryRequest(text, explain=True), word_vector(text))


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_result_arrives_as_it_was_sent(found: Result, protocol: int) -> None:
    """Every field of it, in any protocol; also inside an answer, and copied."""
    assert found.hits[0].why is not None
    assert _sent(found, protocol) == found
    assert _sent(found.hits[0], protocol) == found.hits[0]
    answer = Answer("Davis", True, ("f1",), found)
    assert _sent(answer, protocol) == answer
    assert copy.copy(found) == found == copy.deepcopy(found)


def test_an_empty_result_arrives_with_its_reason() -> None:
    """Falsy, as it was."""
    nothing = Result(3, (), Trace("embed"), EmptyReason.NO_MATCH, "nothing is remembered for May", only_time=True)
    assert not _sent(nothing, 5)
    assert _sent(nothing, 5) == nothing
    assert _sent(replace(nothing, lead=0.5), 5).lead == 0.5
    known = replace(nothing, certain=True, strangers=("Eve",), aside=(0, 2))
    assert _sent(known, 5) == known


@pytest.mark.parametrize("odd", ["half a pair \ud800", "\0", "\u200d😀", ""])
def test_any_text_arrives(found: Result, odd: str) -> None:
    """Also what is no UTF-8."""
    hit = replace(found.hits[0], text=odd, session_id=SessionId(odd))
    assert _sent(replace(found, hits=(hit,), message=odd), 5) == replace(found, hits=(hit,), message=odd)


def test_what_models_cost_arrives(found: Result) -> None:
    """With the answer, by what they did."""
    trace = replace(found.trace, spent={"plan": Usage(calls=2, prompt_tokens=70)}, fallbacks=("no model",))
    assert _sent(replace(found, trace=trace), 5).trace == trace


def _sent(value: Any, protocol: int) -> Any:
    return pickle.loads(pickle.dumps(value, protocol))
