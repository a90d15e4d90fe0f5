"""Replies of an extractor: what is set right, what is refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.facts.candidates import CANDIDATES_MAX, DOMAINS, Candidate, Kind, TurnInput
from memforest_ray.facts.replies import candidates_of
from memforest_ray.facts.times import Precision
from memforest_ray.models.asking import Unusable
from memforest_ray.models.prompts.extract import EXAMPLE, EXTRACT

DAY_MS = 86_400_000
SAID_MS = 19_494 * DAY_MS  # Wednesday, 17 May 2023
TURNS = (
    TurnInput(4, "Ana", "user", "How was the move?", SAID_MS),
    TurnInput(5, "Ivo", "user", "We left Porto last week.", SAID_MS),
)
ITEM = {
    "t": "Ivo left Porto.",
    "k": "transition",
    "n": [2],
    "s": ["Ivo", "Residence", "Lisbon"],
    "e": ["Porto", "Ivo"],
    "d": "home",
    "w": ["last week", "2023-05-08", "2023-05-14"],
    "c": 8,
}


def read(*items: Any, turns: tuple[TurnInput, ...] = TURNS) -> list[Candidate]:
    return candidates_of({"facts": list(items)}, turns, None)


def item(**other: Any) -> dict[str, Any]:
    return {**ITEM, **other}


def test_a_reply_as_it_is_asked_for() -> None:
    """Every field has its place; speaker and role are those of the turn."""
    (candidate,) = read(ITEM)
    event = candidate.event
    assert event is not None
    assert (event.precision, event.expression, event.base_ms) == (Precision.WEEK, "last week", SAID_MS)
    assert candidate == Candidate(
        text="Ivo left Porto.",
        kind=Kind.TRANSITION,
        speaker="Ivo",
        role="user",
        turns=(5,),
        subject="Ivo",
        attribute="residence",
        value="Lisbon",
        entities=("Ivo", "Porto"),
        topics=("left",),
        domain="home",
        confidence=0.9,
        event=event,
    )


def test_no_facts_is_an_answer() -> None:
    """Small talk says nothing."""
    assert read() == []


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({}, "facts: Field required"),
        ({"type": "object", "properties": {"facts": {}}}, "facts: Field required"),
        ({"facts": None}, "facts: Input should be a valid list"),
        ({"facts": "none"}, "facts: Input should be a valid list"),
        ({"facts": [], "note": "x"}, "note: Extra inputs are not permitted"),
        ({"facts": ["Ivo left."]}, "facts.0: Input should be a valid dictionary"),
        ({"facts": [item(t=None)]}, "facts.0.t: Input should be a valid string"),
        ({"facts": [item(t=7)]}, "facts.0.t: Input should be a valid string"),
        ({"facts": [item(t="  ")]}, "facts.0.t: String should have at least 1 character"),
        ({"facts": [item(t="x" * 2001)]}, "facts.0.t: String should have at most 2000 characters"),
        ({"facts": [{"t": "Ivo left."}]}, "facts.0.k: Field required"),
        ({"facts": [item(why="because")]}, "facts.0.why: Extra inputs are not permitted"),
        ({"facts": [item(n=[9])]}, "no item names a turn from 1 to 2"),
        ({"facts": [item(n=None)]}, "no item names a turn from 1 to 2"),
        ({"facts": [item(n="2023-05-01")]}, "no item names a turn from 1 to 2"),
    ],
)
def test_what_leaves_the_meaning_open_is_refused_with_a_reason(value: dict[str, Any], reason: str) -> None:
    """The reason names the place, so that the model can do better; it quotes nothing."""
    with pytest.raises(Unusable) as caught:
        candidates_of(value, TURNS, None)
    assert str(caught.value).startswith(reason)


@pytest.mark.parametrize(
    ("given", "field", "expected"),
    [
        ({"k": "EVENT "}, "kind", Kind.EVENT),
        ({"k": "rumour"}, "kind", Kind.DETAIL),
        ({"k": None}, "kind", Kind.DETAIL),
        ({"d": "Food"}, "domain", "food"),
        ({"d": "astrology"}, "domain", "other"),
        ({"d": 3}, "domain", "other"),
        ({"c": 42}, "confidence", 1.0),
        ({"c": -3}, "confidence", 0.1),
        ({"c": 7.6}, "confidence", 0.8),
        ({"c": "sure"}, "confidence", 1.0),
        ({"c": "3"}, "confidence", 0.4),
        ({"c": 0.9}, "confidence", 0.9),
        ({"c": 1}, "confidence", 0.2),
        ({"c": True}, "confidence", 1.0),
        ({"c": float("nan")}, "confidence", 0.1),
        ({"c": float("inf")}, "confidence", 1.0),
        ({"n": "2"}, "turns", (5,)),
        ({"n": 1}, "turns", (4,)),
        ({"n": "turn 2"}, "turns", (5,)),
        ({"n": "1, 2"}, "turns", (4, 5)),
        ({"n": ["[1]", "Turns 1 and 2."]}, "turns", (4, 5)),
        ({"n": [2, "1", 2, 0, -1, 77, None, 1.5]}, "turns", (4, 5)),
        ({"s": None}, "subject", None),
        ({"s": {"of": "Ivo"}}, "attribute", None),
        ({"s": ["Ivo"]}, "subject", None),
        ({"s": ["Ivo", "pet", ""]}, "value", None),
        ({"s": ["I", "pet", "Rex"]}, "subject", "Ivo"),
        ({"s": ["The user", "pet", "Rex"]}, "subject", "Ivo"),
        ({"s": ["assistant", "pet", "Rex"]}, "subject", "assistant"),
        ({"e": ["I", "user", "Porto"]}, "entities", ("Ivo", "Porto")),
        ({"s": ["Ivo", "the thing that he said he would do", "x"]}, "attribute", None),
        ({"s": ["Ivo", "pet", "Rex"], "k": "event"}, "attribute", None),
        ({"e": "Porto"}, "entities", ("Ivo", "Porto")),
        ({"e": None}, "entities", ("Ivo",)),
        ({"e": ["Porto", "porto", " ", 5, "ivo", "x" * 101]}, "entities", ("Ivo", "Porto")),
        ({"w": None}, "event", None),
        ({"w": ["", "2023-05-08"]}, "event", None),
        ({"w": ["some day", "never"]}, "event", None),
        ({"t": " Ivo left Porto. "}, "text", "Ivo left Porto."),
    ],
)
def test_what_has_one_sensible_reading_is_given_it(given: dict[str, Any], field: str, expected: object) -> None:
    """Wrong types, unknown kinds and domains, numbers out of range."""
    (candidate,) = read(item(**given))
    assert getattr(candidate, field) == expected


@pytest.mark.parametrize("text", ["None", "N/A", "no facts.", "No relevant information in these turns.", "nothing"])
def test_nothing_is_no_statement(text: str) -> None:
    """Put into an item where there is none: it is left out, what else was noted stays."""
    assert [candidate.text for candidate in read(item(t=text), item())] == ["Ivo left Porto."]
    assert read(item(t=text)) == []


def test_what_says_nothing_of_somebody_is_a_statement() -> None:
    """Only a whole item of such words is none."""
    said = ("Nothing happened to Ivo.", "No facts are known to Ana", "No information was lost.", "None of them came.")
    assert len(read(*(item(t=text) for text in said))) == len(said)


def test_the_example_of_the_prompt_is_not_remembered() -> None:
    """A small model may repeat it of turns that say nothing of the kind; where they do, it may be meant."""
    shown = "Ivo moved away from Porto."
    assert shown in EXAMPLE
    assert all(example in EXTRACT.system for example in EXAMPLE)
    other = (TurnInput(4, "Ana", "user", "I bake bread.", SAID_MS),)
    with pytest.raises(Unusable, match="of the example"):
        read(item(t=shown), item(t="Ana bakes bread."), turns=other)
    assert [candidate.text for candidate in read(item(t=shown))] == [shown]


def test_fields_that_a_model_leaves_out_have_a_default() -> None:
    """Without a schema to hold it, a model may leave out what is empty."""
    (candidate,) = read({"t": "Ivo likes tea.", "k": "preference", "n": [2]})
    assert (candidate.domain, candidate.confidence, candidate.event, candidate.subject) == ("other", 1.0, None, None)


def test_an_item_without_a_source_goes_alone() -> None:
    """Nobody can be said to have said it; the others stay."""
    assert [each.text for each in read(item(n=[3], t="Ana is tall."), ITEM)] == ["Ivo left Porto."]


def test_of_one_turn_the_source_is_clear() -> None:
    """Whatever number a model gives it."""
    (candidate,) = read(item(n=[6]), turns=TURNS[1:])
    assert candidate.turns == (5,)


def test_more_than_the_most_candidates_are_cut_to_the_surest() -> None:
    """In their order."""
    many = [item(t=f"Ivo said {number}.", c=9 if number % 2 else 3) for number in range(30)]
    found = read(*many)
    assert [each.text for each in found] == [f"Ivo said {number}." for number in range(1, 30, 2)]
    assert len(found) == CANDIDATES_MAX


def test_the_same_statement_twice_is_one() -> None:
    """The first of them."""
    assert [each.text for each in read(ITEM, item(t="IVO left porto."))] == ["Ivo left Porto."]


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("tknsedwcx"), inner, max_size=8),
    max_leaves=20,
)


@given(JUNK | st.fixed_dictionaries({"facts": st.lists(JUNK, max_size=4)}))
def test_any_json_is_read_or_refused(value: Any) -> None:
    """Nothing else comes out, and what is read is in range."""
    if not isinstance(value, dict):
        return
    try:
        found = candidates_of(value, TURNS, "Europe/Lisbon")
    except Unusable:
        return
    for candidate in found:
        assert candidate.text.strip() == candidate.text != ""
        assert candidate.domain in DOMAINS
        assert 0 < candidate.confidence <= 1
        assert {4, 5} >= set(candidate.turns) != set()
