"""Chains of states: before, after, between, first, previous, current; and never the wrong time."""

from itertools import permutations
from typing import Any

import pytest

from memforest_ray.facts.candidates import Kind
from memforest_ray.query.inquiry import inquire
from memforest_ray.query.request import QueryRequest
from memforest_ray.query.result import Hit
from memforest_ray.query.timing.chains import asks_no_more, chain_of
from memforest_ray.testing.memory import Memory, days, word_vector

MOVES = (
    ("h1", "2019-05-02", "Bob lives in Boston", Kind.STATE, "Boston", None),
    ("h2", "2023-09-01", "Bob moved to Davis", Kind.TRANSITION, "Davis", days("2020-08-01", 31)),
    ("h3", "2022-02-20", "Bob moved to Miami", Kind.TRANSITION, "Miami", days("2022-02-01", 28)),
)
TOPICS = ("soup", "tulips", "chess", "rain", "violins", "paper", "geese", "mirrors", "coffee", "maps")


def _residence(memory: Memory, *moves: tuple[str, str, str, Kind, str, Any]) -> None:
    for session, said, text, kind, value, event in moves:
        memory.told(session, said, text, kind=kind, subject="Bob", attribute="residence", value=value, event=event)


def _filled(memory: Memory, count: int = 300) -> None:
    """Unrelated facts, many of them about the same people and towns."""
    for number in range(count // 5):
        month, day = number % 12 + 1, number % 28 + 1
        lines = [f"Bob spoke about {TOPICS[(number + each) % 10]} with person {number}x{each}" for each in range(4)]
        lines.append(f"Bob heard that Miami has {number} beaches")
        memory.say(f"t{number}", f"{2019 + number % 5}-{month:02d}-{day:02d}", *(("Bob", line) for line in lines))
        for turn, line in enumerate(lines):
            memory.state(f"t{number}", turn, line)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_before_a_move_finds_the_state_before_it(memory: Memory, order: tuple[int, ...]) -> None:
    """Davis, among 300 unrelated facts, told in any order; not Boston, not Miami, which are more alike."""
    _residence(memory, MOVES[order[0]])
    _filled(memory)
    _residence(memory, *(MOVES[place] for place in order[1:]))
    assert len(memory.version.facts) >= 300
    first = memory.ask("Where did Bob live before moving to Miami?", mode="embed")[0]
    assert first.text == "Bob moved to Davis"
    assert first.event_time == days("2020-08-01", 31)
    assert first.note == "before 2022-02-01: residence"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where does Bob live now?", "Bob moved to Miami"),
        ("Where does Bob live?", "Bob moved to Miami"),
        ("What is Bob's current residence?", "Bob moved to Miami"),
        ("Where did Bob live previously?", "Bob moved to Davis"),
        ("Where did Bob live first?", "Bob lives in Boston"),
        ("Where did Bob live after Boston?", "Bob moved to Davis"),
        ("Where did Bob live before 2020?", "Bob lives in Boston"),
        ("Where did Bob live before Davis?", "Bob lives in Boston"),
        ("Where did Bob live between June 2020 and December 2021?", "Bob moved to Davis"),
    ],
)
def test_which_way_along_the_chain(memory: Memory, question: str, answer: str) -> None:
    """Each word about time picks its entry."""
    _residence(memory, *MOVES)
    _filled(memory, 50)
    assert memory.ask(question)[0].text == answer


@pytest.mark.parametrize("question", ["Where did Bob live before moving to Miami?", "Where did Bob live previously?"])
@pytest.mark.parametrize(("text", "known"), [("Bob moved from Davis to Miami", True), ("Bob moved to Miami", False)])
def test_a_move_may_say_itself_where_from(memory: Memory, question: str, text: str, known: bool) -> None:
    """Where nothing else tells of what was before it."""
    _residence(memory, ("h1", "2024-01-15", text, Kind.TRANSITION, "Miami", days("2023-12-01", 31)))
    _filled(memory, 50)
    best = memory.ask(question)[0]
    assert (best.text == text and best.timely) is known


def test_a_return_makes_three_entries(memory: Memory) -> None:
    """Davis 2019, Miami 2021, Davis 2023: current is Davis with its last times, before that Miami."""
    for session, said, value in (
        ("a", "2019-05-01", "Davis"),
        ("b", "2021-05-01", "Miami"),
        ("c", "2023-05-01", "Davis"),
    ):
        _residence(memory, (session, said, f"Bob lives in {value}", Kind.STATE, value, None))
    inquiry = inquire(memory.version, QueryRequest("Where does Bob live?"), word_vector("Where does Bob live?"))
    chain = chain_of(inquiry, "Bob", "residence")
    assert chain is not None
    assert [(entry.value, entry.mention.session_id) for entry in chain.entries] == [
        ("davis", "a"),
        ("miami", "b"),
        ("davis", "c"),
    ]
    current, before = memory.ask("Where does Bob live now?")[0], memory.ask("Where did Bob live previously?")[0]
    assert (current.text, current.session_id, current.turn_ids[0]) == ("Bob lives in Davis", "c", "c#0")
    assert before.text == "Bob lives in Miami"


def test_states_told_twice_in_a_row_are_one_entry(memory: Memory) -> None:
    """Previous is what was before the state, not its first mention."""
    _residence(memory, ("a", "2019-01-01", "Bob lives in Oslo", Kind.STATE, "Oslo", None))
    for session, said in (("b", "2020-01-01"), ("c", "2021-01-01")):
        _residence(memory, (session, said, "Bob lives in Bergen", Kind.STATE, "Bergen", None))
    assert memory.ask("Where did Bob live previously?")[0].text == "Bob lives in Oslo"


def test_a_plan_is_no_state(memory: Memory) -> None:
    """Who will move has not moved."""
    _residence(memory, ("a", "2019-01-01", "Bob lives in Oslo", Kind.STATE, "Oslo", None))
    _residence(memory, ("b", "2020-01-01", "Bob will move to Rome", Kind.PLAN, "Rome", None))
    assert memory.ask("Where does Bob live now?")[0].text == "Bob lives in Oslo"


def test_work_before_a_move(memory: Memory) -> None:
    """The time is that of the move, the chain is that of the work."""
    _residence(memory, *MOVES)
    jobs = (("w1", "2018-01-01", "Acme"), ("w2", "2021-01-01", "Globex"), ("w3", "2023-01-01", "Initech"))
    for session, said, value in jobs:
        memory.told(
            session, said, f"Bob works at {value}", kind=Kind.STATE, subject="Bob", attribute="employer", value=value
        )
    assert memory.ask("Where did Bob work before moving to Miami?")[0].text == "Bob works at Globex"


def test_another_person_has_another_chain(memory: Memory) -> None:
    """Ann's moves do not answer for Bob."""
    _residence(memory, *MOVES)
    memory.told(
        "ann", "2021-12-01", "Ann moved to Lyon", speaker="Ann",
        kind=Kind.TRANSITION, subject="Ann", attribute="residence", value="Lyon",
    )  # fmt: skip
    assert memory.ask("Where did Bob live before moving to Miami?")[0].text == "Bob moved to Davis"
    assert memory.ask("Where does Ann live?")[0].text == "Ann moved to Lyon"


def test_as_of_the_chain_ends_there(memory: Memory) -> None:
    """What was said later is not current then, nor a happening to measure from."""
    _residence(memory, *MOVES)
    assert memory.ask("Where does Bob live now?", as_of="2020-01-01")[0].text == "Bob lives in Boston"
    hits = memory.ask("Where did Bob live before moving to Miami?", as_of="2020-01-01")
    assert [hit.note for hit in hits if hit.note] == []


def test_without_an_attribute_neighbours_in_time_are_given(memory: Memory) -> None:
    """What was most like the question among what lies just after the happening."""
    memory.told("a", "2021-01-01", "Bob enjoyed a trip by train", event=days("2021-01-01"))
    memory.told("b", "2021-06-01", "Bob married Eve in Ghent", kind=Kind.EVENT, event=days("2021-06-01"))
    memory.told("c", "2021-06-03", "Bob enjoyed a trip by boat", kind=Kind.EVENT, event=days("2021-06-03"))
    _filled(memory, 50)
    hits = memory.ask("Which trip by boat did Bob enjoy after he married Eve?")
    assert hits[0].text == "Bob enjoyed a trip by boat"
    assert hits[0].note == "after 2021-06-01"


def test_picked_hits_keep_absolute_scores_in_order(memory: Memory) -> None:
    """What time puts first has no lower score than what follows; and stands once."""
    _residence(memory, *MOVES)
    hits: list[Hit] = list(memory.ask("Where did Bob live before moving to Miami?", k=50))
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert len({hit.fact_id for hit in hits if hit.fact_id}) == sum(hit.fact_id is not None for hit in hits)


def test_a_filter_bars_a_pick(memory: Memory) -> None:
    """What may not be a hit is none, whatever its time."""
    _residence(memory, *MOVES)
    hits = memory.ask("Where did Bob live before moving to Miami?", session="h1")
    assert "Bob moved to Davis" not in [hit.text for hit in hits]


def test_questions_in_chinese_and_hindi_look_along_chains(memory: Memory) -> None:
    """Their words for before and now."""
    for session, said, value in (("a", "2019-01-01", "北京"), ("b", "2021-01-01", "杭州")):
        memory.told(
            session, said, f"小明住在{value}", speaker="小明",
            kind=Kind.STATE, subject="小明", attribute="residence", value=value,
        )  # fmt: skip
    assert memory.ask("小明以前住在哪里?")[0].text == "小明住在北京"
    assert memory.ask("小明现在住在哪里?")[0].text == "小明住在杭州"


@pytest.mark.parametrize(
    ("topic", "no_more"),
    [
        ("Where does Bob work", True),
        ("Where does Bob live", True),
        ("What is the name of the band that Bob saw at work", False),
        ("Where does Bob work on his boat", False),
    ],
)
def test_a_question_for_nothing_but_an_attribute(topic: str, no_more: bool) -> None:
    """Subject and attribute alone ask for that chain, whatever else is alike; a word more may mean something else."""
    assert any(asks_no_more(topic, "Bob", attribute) for attribute in ("employer", "residence")) is no_more


@pytest.mark.parametrize("order", list(permutations(range(2))))
def test_a_move_of_a_month_is_after_what_was_said_to_be_so_in_it(memory: Memory, order: tuple[int, ...]) -> None:
    """On 8 January Bob lived in Boston; that he moved "last month", said in February, was after that day."""
    moves = (
        ("h1", "2023-01-08", "Bob lives in Boston", Kind.STATE, "Boston", None),
        ("h2", "2023-02-08", "Bob moved to Davis", Kind.TRANSITION, "Davis", days("2023-01-01", 31)),
    )
    _residence(memory, *(moves[place] for place in order))
    assert memory.ask("Where does Bob live?")[0].text == "Bob moved to Davis"
    assert memory.ask("Where did Bob live before?")[0].text == "Bob lives in Boston"
    assert memory.ask("Where did Bob live before Davis?")[0].text == "Bob lives in Boston"


def test_a_move_of_a_month_is_before_what_it_led_to(memory: Memory) -> None:
    """On 20 January Bob lived in Davis already: he moved between that day and the 8th, on which it was Boston."""
    _residence(
        memory,
        ("h1", "2023-01-08", "Bob lives in Boston", Kind.STATE, "Boston", None),
        ("h2", "2023-01-20", "Bob lives in Davis", Kind.STATE, "Davis", None),
        ("h3", "2023-01-25", "Bob lives in Miami", Kind.STATE, "Miami", None),
        ("h4", "2023-02-08", "Bob moved to Davis", Kind.TRANSITION, "Davis", days("2023-01-01", 31)),
    )
    assert memory.ask("Where does Bob live?")[0].text == "Bob lives in Miami"
    assert memory.ask("Where did Bob live before Davis?")[0].text == "Bob lives in Boston"


def test_what_has_no_time_is_in_the_order_in_which_it_was_told(memory: Memory) -> None:
    """Within one session, where nothing that has a time says otherwise and the question names none."""
    memory.say("a", None, ("Bob", "I live in Oslo"), ("Bob", "I live in Moss"))
    for turn, value in enumerate(("Oslo", "Moss")):
        told: dict[str, Any] = {"kind": Kind.STATE, "subject": "Bob", "attribute": "residence", "value": value}
        memory.state("a", turn, f"Bob lives in {value}", **told)
    assert (memory.ask("Where does Bob live now?")[0].text, memory.ask("Where did Bob live previously?")[0].text) == (
        "Bob lives in Moss",
        "Bob lives in Oslo",
    )
    assert not any(hit.note for hit in memory.ask("Where did Bob live in 2021?"))


def test_of_several_sessions_without_a_time_none_is_the_latest(memory: Memory) -> None:
    """Unless they say the same."""
    for session, value in (("a", "Oslo"), ("b", "Moss")):
        told: dict[str, Any] = {"kind": Kind.STATE, "subject": "Bob", "attribute": "residence", "value": value}
        memory.told(session, None, f"Bob lives in {value}", **told)
    assert not any(hit.note for hit in memory.ask("Where does Bob live now?"))


def test_names_begin_with_any_capital(memory: Memory) -> None:
    """Whom a question names is known by a capital of whatever alphabet."""
    _residence(memory, ("h1", "2024-01-01", "Bob lives in Oslo", Kind.STATE, "Oslo", None))
    fields: dict[str, Any] = {"kind": Kind.TRANSITION, "subject": "Ömer", "attribute": "residence", "value": "Kiel"}
    memory.told("h2", "2023-01-01", "Ömer moved to Kiel", **fields)
    assert memory.ask("Where does Ömer live?")[0].text == "Ömer moved to Kiel"
