"""What time singles out and rules out."""

from typing import Any

import pytest

from memforest_ray.facts.candidates import Kind
from memforest_ray.query.result import Result
from memforest_ray.testing.memory import Memory, days


def _lives(memory: Memory, session: str, said: str, value: str, **fields: Any) -> None:
    text = fields.pop("text", f"Bob lives in {value}")
    memory.told(session, said, text, kind=Kind.STATE, subject="Bob", attribute="residence", value=value, **fields)


def _returned(memory: Memory) -> Memory:
    """Davis, Miami, and Davis again in the same words: one fact, three entries of the chain."""
    for session, said, value in (
        ("a", "2019-05-01", "Davis"),
        ("b", "2021-05-01", "Miami"),
        ("c", "2023-05-01", "Davis"),
    ):
        _lives(memory, session, said, value)
    return memory


@pytest.mark.parametrize(
    ("question", "answer", "session"),
    [
        ("Where did Bob live before moving to Davis?", "Bob lives in Miami", "b"),
        ("Where did Bob live before Davis?", "Bob lives in Miami", "b"),
        ("Where did Bob live before moving to Miami?", "Bob lives in Davis", "a"),
        ("Where did Bob live after Miami?", "Bob lives in Davis", "c"),
        ("Where did Bob live after Davis?", "Bob lives in Miami", "b"),
        ("Where does Bob live?", "Bob lives in Davis", "c"),
        ("Where did Bob live in 2022?", "Bob lives in Miami", "b"),
        ("Where did Bob live in 2020?", "Bob lives in Davis", "a"),
    ],
)
def test_a_place_that_was_left_and_found_again(memory: Memory, question: str, answer: str, session: str) -> None:
    """The entry that is meant is shown, with the turn that made it first."""
    first = _returned(memory).ask(question)[0]
    assert (first.text, first.session_id, first.turn_ids[0]) == (answer, session, f"{session}#0")


def test_moves_in_other_words_are_told_apart(memory: Memory) -> None:
    """Davis twice, once by "lives" and once by "moved back": before moving to Miami is Davis, not Miami."""
    _lives(memory, "a", "2019-05-01", "Davis")
    _lives(memory, "b", "2021-05-01", "Miami", text="Bob moved to Miami")
    _lives(memory, "c", "2023-05-01", "Davis", text="Bob moved back to Davis")
    assert memory.ask("Where did Bob live before moving to Miami?")[0].text == "Bob lives in Davis"
    assert memory.ask("Where did Bob live before moving back to Davis?")[0].text == "Bob moved to Miami"


def test_what_a_chain_does_not_hold_is_said(memory: Memory) -> None:
    """No state lies before the first: its own words are ruled out, not put first as if they answered."""
    result = _returned(memory).ask("Where did Bob live before 2019?")
    assert result.message == "no residence of Bob is remembered for: before 2019"
    assert [hit.timely for hit in result if "lives" in hit.text and hit.kind == "fact"] == [False, False]


def test_the_only_state_is_no_previous_one(memory: Memory) -> None:
    """What is current was not before it."""
    _lives(memory, "a", "2019-05-01", "Davis")
    result = memory.ask("Where did Bob live previously?")
    assert result.message.startswith("no residence of Bob")
    assert not result[0].timely


def test_two_who_are_named_have_a_state_each(memory: Memory) -> None:
    """Both are put first; the earlier states of both are not of the time."""
    _returned(memory)
    for session, said, value in (("e", "2020-05-01", "Oslo"), ("f", "2022-05-01", "Rome")):
        memory.told(
            session, said, f"Eve lives in {value}", speaker="Eve",
            kind=Kind.STATE, subject="Eve", attribute="residence", value=value,
        )  # fmt: skip
    now = memory.ask("Where do Bob and Eve live now?", k=50)
    assert _notes(now) == [("Bob lives in Davis", "current: residence"), ("Eve lives in Rome", "current: residence")]
    assert {hit.text for hit in now if not hit.timely} == {"Bob lives in Miami", "Eve lives in Oslo"}
    before = memory.ask("Where did Bob and Eve live before 2021?", k=50)
    assert [text for text, _ in _notes(before)] == ["Bob lives in Davis", "Eve lives in Oslo"]


def test_a_chain_that_is_not_meant_puts_nothing_first(memory: Memory) -> None:
    """Ann's name is not the name of the band that she saw."""
    memory.told(
        "a", "2019-05-01", "Ann goes by the name of Ann Lee", speaker="Ann",
        kind=Kind.STATE, subject="Ann", attribute="name", value="Ann Lee",
    )  # fmt: skip
    memory.told("b", "2021-05-01", "Ann saw a band with the strange name Damp Matches", speaker="Ann")
    result = memory.ask("What is the strange name of the band that Ann saw?")
    assert result[0].text.startswith("Ann saw a band")
    assert memory.ask("What is Ann's name?")[0].note == "current: name"


def _deeds(memory: Memory) -> Memory:
    for number, (day, text) in enumerate(
        (
            ("2023-01-05", "Bob planted leeks"),
            ("2023-02-05", "Bob painted a fence"),
            ("2023-03-05", "Bob married Eve in Ghent"),
            ("2023-04-05", "Bob planted onions"),
            ("2023-05-05", "Bob sailed a boat"),
        )
    ):
        memory.told(f"d{number}", "2023-06-01", text, kind=Kind.EVENT, event=days(day))
    return memory


def _notes(result: Result) -> list[tuple[str, str]]:
    return [(hit.text, hit.note) for hit in result if hit.note]


def test_what_is_nearest_when_anything_is_asked_for(memory: Memory) -> None:
    """Three at most, the nearest first; the happening itself is not what was done before it."""
    before = _deeds(memory).ask("What did Bob do before he married Eve?", k=50)
    assert _notes(before) == [
        ("Bob painted a fence", "before 2023-03-05"),
        ("Bob planted leeks", "before 2023-03-05"),
    ]
    assert [hit.timely for hit in before if hit.text in ("Bob married Eve in Ghent", "Bob sailed a boat")] == [
        False
    ] * 2
    after = memory.ask("What did Bob do after he married Eve?", k=50)
    assert [text for text, _ in _notes(after)] == ["Bob planted onions", "Bob sailed a boat"]


def test_what_is_like_the_topic_on_the_right_side(memory: Memory) -> None:
    """Planted after, not planted before, whatever else lies nearer."""
    after = _deeds(memory).ask("What has Bob planted after he married Eve?", k=50)
    assert _notes(after)[0] == ("Bob planted onions", "after 2023-03-05")
    before = memory.ask("What has Bob planted before he married Eve?", k=50)
    assert _notes(before)[0] == ("Bob planted leeks", "before 2023-03-05")


def test_between_two_dates_rules_out_what_lies_outside(memory: Memory) -> None:
    """Known events outside are not of that time."""
    result = _deeds(memory).ask("What has Bob planted between March 2023 and May 2023?", k=50)
    timely = {hit.text for hit in result if hit.timely and hit.kind == "fact"}
    assert timely == {"Bob married Eve in Ghent", "Bob planted onions"}


def test_how_long_from_one_to_the_other(memory: Memory) -> None:
    """Both happenings, in the order of time whatever the order of the question."""
    result = _deeds(memory).ask("How long was it between sailing the boat and the leeks that Bob planted?", k=50)
    assert _notes(result) == [("Bob planted leeks", "from 2023-01-05"), ("Bob sailed a boat", "to 2023-05-05")]


def test_things_alike_are_counted_in_order(memory: Memory) -> None:
    """Each time once; the first and the last of them."""
    for number, day in enumerate(("2023-03-03", "2021-03-03", "2022-03-03")):
        memory.told(
            f"x{number}", day, "Bob swam across the cold lake behind the old mill", kind=Kind.EVENT, event=days(day)
        )
    _deeds(memory)
    assert [note for _, note in _notes(memory.ask("How many times has Bob swum in the lake?", k=50))] == [
        "1 of 3: 2021-03-03",
        "2 of 3: 2022-03-03",
        "3 of 3: 2023-03-03",
    ]
    assert _notes(memory.ask("When did Bob first swim in the lake?", k=9))[0][1] == "first of 3: 2021-03-03"
    assert _notes(memory.ask("When has Bob last swum in the lake?", k=9))[0][1] == "last of 3: 2023-03-03"
    assert _notes(memory.ask("When did Bob first sail a boat?", k=9)) == []
