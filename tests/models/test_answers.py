"""What a model wrote, read as far as it goes."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.models.answers import Answer, ThoughtFilter, circles, read_answer, salvage

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@given(st.lists(JSON, max_size=6), st.integers(0, 400), st.sampled_from([None, 1]))
def test_what_is_salvaged_was_there(items: list[Any], cut: int, indent: int | None) -> None:
    """Of an object that is cut anywhere: its leading items, all of which were complete."""
    text = json.dumps({"facts": items}, indent=indent)
    found = salvage(text[:cut]).get("facts", [])
    assert found == items[: len(found)]


@given(st.lists(JSON, max_size=6))
def test_all_of_a_whole_object_is_salvaged(items: list[Any]) -> None:
    """Nothing is lost of what was not cut."""
    assert salvage(json.dumps({"n": 1, "facts": items, "z": "end"})) == {"n": 1, "facts": items, "z": "end"}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('{"facts": [{"t": "A"}, {"t": "B"}, {"t', {"facts": [{"t": "A"}, {"t": "B"}]}),
        ('{"facts": [{"t": "A"}', {"facts": []}),
        ('{"facts": [', {"facts": []}),
        ('{"facts": [1, 2', {"facts": [1]}),
        ('{"facts": [1, 2,', {"facts": [1, 2]}),
        ('{"facts": []', {"facts": []}),
        ('{"n": 12', {}),
        ('{"n": 12,', {"n": 12}),
        ('{"s": "whole"', {"s": "whole"}),
        ('{"s": "hal', {}),
        ("", {}),
        ("no JSON", {}),
        ('{"a', {}),
        ("{1: 2", {}),
    ],
)
def test_what_is_complete_is_kept(text: str, kept: dict[str, Any]) -> None:
    """A number at the end may have lost digits, an item its last member: these are not complete."""
    assert salvage(text) == kept


@given(st.text())
def test_any_text_is_read_or_refused_with_a_reason(text: str) -> None:
    """Nothing raises."""
    for at_limit in (False, True):
        answer = read_answer(text, at_limit=at_limit)
        assert (answer.failure is None) == (answer.value is not None and not answer.cut)


def test_a_fence_inside_a_value_is_no_fence() -> None:
    """An answer may speak of code."""
    assert read_answer('{"t": "use ```python```"}', at_limit=False) == Answer({"t": "use ```python```"})


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ('{"facts": []}\n{"facts": ["A"]}', ["A"]),
        ('{"facts": ["A"]}{"facts": ["B"]}', ["A", "B"]),
        ('As asked: {"facts": []}. My answer:\n```json\n{"facts": ["A"]}\n```', ["A"]),
        ('```json\n{"facts": ["A"]}\n```\nand\n```json\n{"facts": ["B"]}\n```', ["A", "B"]),
        ('{"facts": ["A"]} I left out {"t": "B"} since {it} is no statement.', ["A"]),
        ('{"facts": ["A"]} {"facts": ["B"', ["A"]),
        ('{"facts": ["first line\nsecond"]}', ["first line\nsecond"]),
    ],
)
def test_several_objects_are_one_answer(text: str, facts: list[str]) -> None:
    """An empty form before the answer does not stand for it, and one object a turn loses none."""
    assert read_answer(text, at_limit=False) == Answer({"facts": facts})


def test_objects_that_contradict_each_other_are_no_answer() -> None:
    """Whichever was meant: two facts are not made one by a guess. Said twice it is said once."""
    assert read_answer('{"same": true} No: {"same": false}', at_limit=False) == Answer(
        None, "the answer holds several objects that say different things"
    )
    assert read_answer('{"same": true} Yes: {"same": true}', at_limit=False) == Answer({"same": True})


def test_a_schema_that_is_echoed_is_an_object_like_any_other() -> None:
    """Whoever asked will not find in it what was asked for."""
    assert read_answer('{"type": "object"}', at_limit=False).value == {"type": "object"}


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        (["a", "b"], "ab"),
        (["<think>x</think>a"], "a"),
        (["<th", "ink>x", "</thi", "nk>", "\n a", " b"], "a b"),
        (["<b>", "old"], "<b>old"),
        (["<think>never ends"], ""),
        ([" <", "3"], " <3"),
        (["<"], "<"),
        ([], ""),
    ],
)
def test_thoughts_are_left_out_of_a_stream(pieces: list[str], shown: str) -> None:
    """Wherever the stream is cut."""
    thoughts = ThoughtFilter()
    assert "".join(thoughts.feed(piece) for piece in pieces) + thoughts.end() == shown


ITEM = '{"t":"Bob likes tea number %d.","k":"state","n":[1],"s":[],"e":["Bob"],"d":"food","w":[],"c":8},'


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("and so on " * 100, True),
        ('{"facts":[' + "".join(ITEM % 1 for _ in range(9))[:-7], True),
        ('{"facts":[' + "".join(ITEM % number for number in range(15))[:-7], False),
        ("Bob lives in Davis. " * 3, False),
        ("", False),
    ],
)
def test_an_answer_that_goes_round_in_circles_is_known_by_its_end(text: str, runs: bool) -> None:
    """The keys of many items are none, nor is what is said twice."""
    assert circles(text) == runs
