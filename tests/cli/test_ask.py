"""`memforest query` and `memforest ask`: what is passed on, what is shown."""

from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO
from typing import Any, get_type_hints

import pytest
import typer
from rich.console import Console

from memforest_ray.cli import app
from memforest_ray.cli.evidence import draw_result
from memforest_ray.errors import InvalidInput
from memforest_ray.facts.times import EPOCH, EventTime, Precision
from memforest_ray.ids import FactId, ScopeId, SessionId, TurnId
from memforest_ray.models.usage import Usage
from memforest_ray.query.request import QueryOptions
from memforest_ray.query.result import Answer, EmptyReason, Hit, RecalledTree, Result, Trace, Why
from tests.cli.conftest import FakeClient, Program


def _ms(year: int, month: int, day: int) -> int:
    return int((datetime(year, month, day, tzinfo=UTC) - EPOCH).total_seconds()) * 1000


HIT = Hit(
    text="Bob moved to Davis.",
    kind="fact",
    fact_id=FactId("f1"),
    cell_id=None,
    turn_ids=(TurnId("s1#3"),),
    session_id=SessionId("s1"),
    speaker="Bob",
    source_time=datetime(2023, 4, 15, tzinfo=UTC),
    event_time=EventTime(_ms(2020, 8, 1), _ms(2020, 9, 1), Precision.MONTH, "in August 2020", None),
    score=0.91,
    tree=ScopeId("entity:bob"),
    path=("2019-04-23 to 2024-02-11", "2020-08-01 to 2021-02-02"),
    note="last residence before 2022-02",
)
UNDATED = Hit(
    text="\x1b[31mred [bold]alert[/bold]\nagain",
    kind="cell",
    fact_id=None,
    cell_id=None,
    turn_ids=(TurnId("s2#0"), TurnId("s2#1")),
    session_id=SessionId("s2"),
    speaker="Maya",
    source_time=None,
    event_time=None,
    score=0.2,
    tree=ScopeId("session:s2"),
)
TRACE = Trace("embed", (RecalledTree(ScopeId("entity:bob"), 0.8, 0.5, 0.9),), 12, ("a fallback",), ("before 2022",))
FOUND = Result(7, (HIT, UNDATED), TRACE)


@pytest.fixture
def asked(fake: FakeClient) -> FakeClient:
    """A client that finds two hits."""
    fake.answers["query"] = FOUND
    fake.answers["ask"] = Answer("Davis, from August 2020.", True, ("f1",), FOUND)
    return fake


def test_a_hit_shows_text_times_source_and_place(program: Program, asked: FakeClient) -> None:
    """Everything that a person needs to believe it."""
    run = program("query", "bob", "Where did Bob live?")
    assert run.code == 0
    expected = [
        "  1. Bob moved to Davis.  0.91",
        "     fact f1 | said by Bob, 2023-04-15 | happened 2020-08 ('in August 2020') | turns s1#3",
        "     entity:bob > 2019-04-23 to 2024-02-11 > 2020-08-01 to 2021-02-02",
        "     last residence before 2022-02",
    ]
    assert expected == [line.rstrip() for line in run.out.splitlines()[:4]]


def test_a_hit_is_folded_beside_its_number() -> None:
    """On a narrow terminal, where a path without blanks is broken, too."""
    console = Console(file=(file := StringIO()), width=40)
    draw_result(
        console, "bob", replace(FOUND, hits=(replace(HIT, text="words " * 12, path=("x" * 50,)),)), explain=False
    )
    lines = [line.rstrip() for line in file.getvalue().splitlines()]
    assert lines[0].startswith("  1. words")
    assert {line[:5] for line in lines[1:-1]} == {"     "}
    assert max(map(len, lines)) <= 40


def test_a_pipe_gets_whole_lines(program: Program, asked: FakeClient) -> None:
    """Neither folded nor filled with blanks, so that they can be searched."""
    asked.answers["query"] = replace(FOUND, hits=(replace(HIT, text="words " * 500 + "end"), UNDATED))
    lines = program("query", "bob", "Where?", "--explain").out.splitlines()
    assert lines[0].endswith("words end  0.91")
    assert [line for line in lines if line != line.rstrip()] == []


def test_stored_text_cannot_drive_the_terminal(program: Program, asked: FakeClient) -> None:
    """Escape sequences and markup in a memory are text, and nothing else."""
    out = program("query", "bob", "alert").out
    assert "\x1b" not in out
    assert "red [bold]alert[/bold]" in out
    assert "said by Maya, unknown" in out


def test_options_are_passed_on(program: Program, asked: FakeClient) -> None:
    """Only what was given: the others have their defaults in the library."""
    program("query", "bob", "Where?", "--k", "3", "--mode", "flat", "--as-of", "2021", "--since", "2020-01-01")
    expected = {"text": "Where?", "k": 3, "mode": "flat", "as_of": "2021", "since": "2020-01-01"}
    assert [("query", "bob", expected)] == asked.asked


@pytest.mark.parametrize("verb", ["query", "ask"])
def test_when_and_how_it_is_asked_is_passed_on(program: Program, asked: FakeClient, verb: str) -> None:
    """For "next month", in whose days, and whether trees are wanted whole."""
    program(verb, "bob", "Where?", "--asked", "2023-05-10", "--zone", "Europe/Vienna", "--expand", "complete", "--json")
    [(_, _, given)] = asked.asked
    wanted = {"asked": "2023-05-10", "zone": "Europe/Vienna", "expand": "complete"}
    assert wanted.items() <= given.items()


@pytest.mark.parametrize(
    ("metadata", "families", "budget"),
    [("--metadata", "--families", "--token-budget"), ("--meta", "--family", "--tokens")],
)
def test_every_filter_is_passed_on(
    program: Program, asked: FakeClient, metadata: str, families: str, budget: str
) -> None:
    """Under the names of the library, which options have, too; some have a short one beside."""
    program(
        "query", "bob", "Where?", "--kind", "state", "--speaker", "Ann", "--role", "user", "--session", "s1",
        "--entity", "Eve", metadata, "team=north", metadata, "a=b=c", families, "entity", families, "scene",
        budget, "200", "--rerank", "--snapshot", "old", "--explain",
    )  # fmt: skip
    expected = {
        "text": "Where?",
        "kind": "state",
        "speaker": "Ann",
        "role": "user",
        "session": "s1",
        "entity": "Eve",
        "metadata": {"team": "north", "a": "b=c"},
        "families": ["entity", "scene"],
        "token_budget": 200,
        "rerank": True,
        "snapshot": "old",
        "explain": True,
    }
    assert [("query", "bob", expected)] == asked.asked


def test_each_option_of_the_library_is_one_of_the_program() -> None:
    """By the same name, with its short one behind."""
    verbs: Any = typer.main.get_command(app.app)
    library = {*get_type_hints(QueryOptions), "at_least", "snapshot"}
    for verb, names in (("query", library), ("ask", library - {"explain"})):
        options = {item.name: item.opts for item in verbs.commands[verb].params if item.param_type_name == "option"}
        assert names | {"store", "runtime", "json"} == options.keys()
        assert {name: f"--{name.replace('_', '-')}" for name in options} == {
            name: opts[0] for name, opts in options.items()
        }


def test_nothing_given_is_nothing_passed_on(program: Program, asked: FakeClient) -> None:
    """Zero is something."""
    program("ask", "bob", "Where?")
    program("query", "bob", "Where?", "--k", "0", "--at-least", "0")
    assert [given for _, _, given in asked.asked] == [{"text": "Where?"}, {"text": "Where?", "k": 0, "at_least": 0}]


@pytest.mark.parametrize("pair", ["team", "=north", ""])
def test_metadata_is_a_key_with_a_value(program: Program, asked: FakeClient, pair: str) -> None:
    """What is none is refused before anything is asked."""
    run = program("query", "bob", "Where?", "--meta", pair)
    assert (run.code, asked.asked) == (2, [])
    assert "must be KEY=VALUE" in run.err


def test_explain_shows_what_a_score_is_made_of(program: Program, asked: FakeClient) -> None:
    """The greatest first, what weighs nothing left out; the mention and the time that count."""
    why = Why((("window", 3.26), ("turn", 2.1), ("untimely", -3.0), ("tree", 0.01)), TurnId("s1#3"), 2, "event")
    asked.answers["query"] = replace(FOUND, hits=(replace(HIT, why=why, note="", timely=False),))
    out = program("query", "bob", "Where?", "--explain").out
    assert "because window +3.3, turn +2.1, untimely -3.0 | shown as said in s1#3, one of 2 times" in out
    assert "its event time counts" in out
    assert "of another time than the question asks for" in out
    assert "tree +" not in out


def test_explain_shows_what_models_were_asked(program: Program, asked: FakeClient) -> None:
    """Calls, what for, and tokens."""
    usage = Usage(calls=3, prompt_tokens=900, completion_tokens=40)
    asked.answers["query"] = replace(FOUND, trace=replace(TRACE, spent={"rank": usage}))
    out = program("query", "bob", "Where?", "--explain").out
    assert "12 nodes visited, 3 model calls (rank 3), 900 + 40 tokens" in out
    asked.answers["ask"] = Answer(
        "Davis.", True, ("f1",), replace(FOUND, trace=replace(TRACE, spent={"answer": usage}))
    )
    assert "3 model calls (answer 3), 900 + 40 tokens" in program("ask", "bob", "Where?").out


def test_an_answer_is_shown_as_it_comes(program: Program, asked: FakeClient) -> None:
    """Once, its evidence below; what it holds cannot drive the terminal."""
    asked.answers["ask"] = Answer("Davis, from \x1b[31mAugust 2020.", True, ("f1",), FOUND)
    out = program("ask", "bob", "Where?").out
    assert out.startswith("Davis, from  [31mAugust 2020.\n")
    assert out.count("Davis, from") == 1
    assert "  1. Bob moved to Davis." in out


def test_json_of_an_answer_comes_whole(program: Program, asked: FakeClient) -> None:
    """A script gets one object, and no text before it."""
    run = program("ask", "bob", "Where?", "--json")
    assert run.data["text"] == "Davis, from August 2020."


def test_explain_shows_the_trees(program: Program, asked: FakeClient) -> None:
    """Recalled trees with their scores, what was visited, how the question was read."""
    out = program("query", "bob", "Where?", "--explain").out
    for part in ("mode embed, 12 nodes visited", "before 2022", "a fallback", "entity:bob", "0.80"):
        assert part in out


@pytest.mark.parametrize("arguments", [["query"], ["query", "--explain"], ["ask"]])
def test_what_could_not_be_done_as_asked_is_said(program: Program, asked: FakeClient, arguments: list[str]) -> None:
    """Once: who asks for a model's search must see that there was none."""
    verb, *options = arguments
    assert program(verb, "bob", "Where?", *options).out.count("a fallback") == 1


def test_json_is_the_result(program: Program, asked: FakeClient) -> None:
    """The result as the library gives it, with the question."""
    run = program("query", "bob", "Where?", "--json")
    assert {"user": "bob", "question": "Where?", **FOUND.to_json()} == run.data
    assert run.err == ""


@pytest.mark.parametrize(
    ("reason", "message", "shown"),
    [
        (EmptyReason.NO_MEMORY, "", "bob: nothing is remembered yet"),
        (EmptyReason.NO_MATCH, "nothing between 2020 and 2021", "bob: nothing between 2020 and 2021"),
        (EmptyReason.FILTERED, "", "bob: the filters or the token budget left nothing"),
    ],
)
def test_nothing_found_says_why(
    program: Program, fake: FakeClient, reason: EmptyReason, message: str, shown: str
) -> None:
    """An empty result is no failure."""
    fake.answers["query"] = Result(0, (), Trace("embed"), reason, message)
    run = program("query", "bob", "Where?")
    assert (0, f"{shown}\n") == (run.code, run.out)
    assert ("user 'bob' has no memory in file://~/.memforest/store" in run.err) is (reason is EmptyReason.NO_MEMORY)


def test_an_unknown_mode_is_an_input_error(program: Program, fake: FakeClient) -> None:
    """What the library refuses ends with 2 and one line; a script gets an object."""
    fake.answers["query"] = InvalidInput("unknown mode 'guess'; known: embed, flat, root", mode="guess")
    run = program("query", "bob", "Where?", "--mode", "guess", "--json")
    assert run.code == 2
    assert run.err == "memforest: unknown mode 'guess'; known: embed, flat, root\n"
    assert {key: run.data["error"][key] for key in ("kind", "mode")} == {
        "kind": "invalid_input",
        "mode": "guess",
    }


def test_an_answer_shows_its_evidence(program: Program, asked: FakeClient) -> None:
    """The answer first, then only the hits that it cites."""
    out = program("ask", "bob", "Where?").out
    assert out.splitlines()[0] == "Davis, from August 2020."
    assert "Bob moved to Davis." in out
    assert "alert" not in out


def test_dialogue_that_an_answer_cites_is_shown_as_facts_are(program: Program, asked: FakeClient) -> None:
    """In the order in which the answer names them; beyond some they are counted."""
    asked.answers["ask"] = Answer("Alert.", True, ("s2#0, s2#1", "f1"), FOUND)
    lines = program("ask", "bob", "Where?").out.splitlines()
    assert [line[:4] for line in lines if line[:4].strip()] == ["Aler", "  1.", "  2.", "  a "]
    assert "     dialogue | said by Maya, unknown | turns s2#0, s2#1" in lines
    more = replace(FOUND, hits=tuple(replace(HIT, fact_id=FactId(f"f{number}")) for number in range(7)))
    asked.answers["ask"] = Answer("All.", True, tuple(f"f{number}" for number in range(7)), more)
    assert "  and 2 more (--json lists them all)" in program("ask", "bob", "Where?").out.splitlines()


def test_an_undated_node_has_no_interval(program: Program, asked: FakeClient) -> None:
    """Of what has no time there is none to show."""
    asked.answers["query"] = replace(FOUND, hits=(replace(HIT, path=("unknown to unknown",)),))
    assert "     entity:bob" in program("query", "bob", "Where?").out.splitlines()


def test_no_answer_of_an_unknown_user(program: Program, fake: FakeClient) -> None:
    """Nobody's memory has no answer, and says that there is none."""
    empty = Result(0, (), Trace("embed"), EmptyReason.NO_MEMORY)
    fake.answers["ask"] = Answer("not in memory", False, (), empty)
    run = program("ask", "bob", "Where?")
    assert (run.code, run.out) == (0, "not in memory\nbob: nothing is remembered yet\n")


def test_why_there_is_no_answer_is_said_once(program: Program, fake: FakeClient) -> None:
    """Where the answer says it already, no second line does."""
    empty = Result(0, (), Trace("embed", ()), EmptyReason.NO_MEMORY, "nothing is remembered yet")
    fake.answers["ask"] = Answer("Not in memory: nothing is remembered yet.", False, (), empty)
    assert program("ask", "nobody", "Where did Bob live?").out.count("nothing is remembered yet") == 1
    fake.answers["ask"] = Answer("I cannot say.", False, (), empty)
    assert "nobody: nothing is remembered yet" in program("ask", "nobody", "Where did Bob live?").out
