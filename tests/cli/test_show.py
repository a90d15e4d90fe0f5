"""`memforest show`, `users` and `stats`: what is drawn."""

from io import StringIO
from typing import cast

import pytest
from rich.console import Console

from memforest_ray.cli import show
from memforest_ray.commit.journal import News
from memforest_ray.errors import NotFound
from memforest_ray.forest.overviews import TreeCard
from memforest_ray.ids import FactId, SessionId
from tests.cli.conftest import FakeClient, Program

CARDS = [
    {
        "scope": "entity:bob",
        "label": "Bob",
        "leaves": 40,
        "height": 2,
        "start": "2019-04-23T16:10:00+00:00",
        "end": "2024-02-11T17:30:00+00:00",
        "summary": "Bob lives in Miami. " * 20,
    },
    {
        "scope": "scene:1",
        "label": "dogs",
        "leaves": 3,
        "height": 1,
        "start": None,
        "end": None,
        "summary": "",
    },
]
TREE = {
    "scope": "entity:bob",
    "start": "2019-04-23T16:10:00+00:00",
    "end": "2022-03-05T15:35:00+00:00",
    "count": 3,
    "summary": "From Boston to Miami.",
    "children": [
        {
            "start": "2019-04-23T16:10:00+00:00",
            "end": "2020-08-01T00:00:00+00:00",
            "count": 2,
            "summary": "Boston,\nthen Davis.",
            "stale": True,
            "children": [
                {
                    "start": "2019-04-23T16:10:00+00:00",
                    "end": "2019-04-23T16:10:00+00:00",
                    "summary": "Bob lives in Boston.",
                },
                {"start": None, "end": None, "summary": "Bob lived in \x1b[31mDavis."},
            ],
        },
        {
            "start": "2022-03-05T15:35:00+00:00",
            "end": "2022-03-05T15:35:00+00:00",
            "summary": "Bob moved to Miami.",
        },
    ],
}


def test_trees_are_listed(program: Program, fake: FakeClient) -> None:
    """One line each: what it is about, how large, from when to when; long summaries are cut."""
    fake.answers["trees"] = CARDS
    run = program("show", "bob", "--summary", "30")
    assert run.code == 0
    header, first, second = run.out.splitlines()
    assert header.split() == ["tree", "leaves", "height", "from", "to", "summary"]
    assert first.split()[:6] == ["entity:bob", "40", "2", "2019-04-23", "2024-02-11", "Bob"]
    assert first.rstrip().endswith("Bob lives…")
    assert second.split() == ["scene:1", "3", "1", "undated", "undated"]


def test_a_tree_is_drawn(program: Program, fake: FakeClient) -> None:
    """Intervals, counts and summaries, children below their parents; control characters are gone."""
    fake.answers["tree"] = TREE
    run = program("show", "bob", "entity:bob")
    expected = [
        "2019-04-23 to 2022-03-05 (3) From Boston to Miami.",
        "├── 2019-04-23 to 2020-07-31 (2) Boston, · then Davis. [stale]",
        "│   ├── 2019-04-23 Bob lives in Boston.",
        "│   └── undated Bob lived in [31mDavis.",
        "└── 2022-03-05 Bob moved to Miami.",
    ]
    assert expected == [line.rstrip() for line in run.out.splitlines()]
    assert fake.asked == [("tree", "bob", {"scope": "entity:bob"})]


def test_statements_of_a_summary_are_told_apart(program: Program, fake: FakeClient) -> None:
    """Each is a line of it; on one line something stands between them."""
    fake.answers["trees"] = [{**CARDS[0], "summary": "Bob sails.\n\nBob  sings.\n"}]
    assert program("show", "bob").out.splitlines()[1].endswith("Bob sails. · Bob sings.")


def test_json_has_all_of_a_tree(program: Program, fake: FakeClient) -> None:
    """Nothing is cut or cleaned for a script."""
    fake.answers["tree"] = TREE
    assert program("show", "bob", "entity:bob", "--json").data == {"user": "bob", "tree": TREE}


@pytest.mark.parametrize("verb", ["show", "stats", "changes", "snapshots"])
def test_a_user_without_a_memory(program: Program, fake: FakeClient, verb: str) -> None:
    """More often than not another store was meant, or another user: nothing is made up of one who is not there."""
    fake.answers |= {"trees": [], "stats": {"exists": False}, "changes": News(0, 0), "snapshots": []}
    run = program(verb, "nobody", *(["--since", "0"] * (verb == "changes")), "--store", "file:///elsewhere")
    assert (run.code, run.out) == (2, "")
    assert run.err == (
        "memforest: user 'nobody' has no memory in file:///elsewhere; `memforest users` lists the users who have one\n"
    )


def test_a_memory_may_be_empty(program: Program, fake: FakeClient) -> None:
    """All of it may have been forgotten: that is no failure."""
    fake.answers |= {"trees": [], "stats": {"version": 4}, "changes": News(4, 4), "snapshots": []}
    assert program("show", "bob").out == "bob: nothing is remembered yet\n"
    assert program("changes", "bob", "--since", "4").out == "nothing changed since version 4\n"
    assert program("snapshots", "bob").out == "nothing is saved\n"


def test_an_unknown_tree_is_an_input_error(program: Program, fake: FakeClient) -> None:
    """The scope is named, and where to find those that exist."""
    fake.answers["tree"] = NotFound("there is no tree 'entity:bib'", what="tree")
    run = program("show", "bob", "entity:bib")
    assert run.code == 2
    assert "entity:bib" in run.err
    assert "`memforest show bob` lists the trees" in run.err


def test_users_are_listed(program: Program, fake: FakeClient) -> None:
    """One id a line; those with a prefix."""
    fake.answers["users"] = ["ann", "bob/1", "bob/2"]
    assert program("users", "bob/").out == "bob/1\nbob/2\n"
    assert program("users", "z").out == "no user id in file://~/.memforest/store begins with z\n"
    assert program("users", "z", "--json").data == {"users": []}
    fake.answers["users"] = []
    assert program("users").out == "file://~/.memforest/store holds no memory\n"


def test_changes_are_counted_and_some_are_named(program: Program, fake: FakeClient) -> None:
    """The first ones of each kind; a script has all of them."""
    facts = tuple(FactId(f"f{number}") for number in range(12))
    fake.answers["changes"] = News(3, 5, facts_added=facts, sessions_changed=(SessionId("s1"),))
    assert program("changes", "bob", "--since", "3").out.splitlines() == [
        "version 5, since version 3",
        "sessions changed (1): s1",
        "facts added (12): f0, f1, f2, f3, f4, f5, f6, f7, f8, f9 and 2 more (--json lists them all)",
    ]
    assert program("changes", "bob", "--since", "3", "--json").data["facts"]["added"] == list(facts)


def test_stats_are_listed(program: Program, fake: FakeClient) -> None:
    """Name and number, groups indented."""
    stages = {"usage": {"embed": {"calls": 2}}, "seconds": {}, "busy_s": 1.23456}
    fake.answers["stats"] = {
        "version": 3, "facts": 12345, "families": ["entity", "scene"], "owned": False, "models": stages,
    }  # fmt: skip
    run = program("stats", "bob")
    assert run.out.splitlines() == [
        "version: 3",
        "facts: 12,345",
        "families: entity, scene",
        "owned: no",
        "models",
        "  usage",
        "    embed",
        "      calls: 2",
        "  busy (seconds): 1.23",
    ]
    assert run.err == ""
    assert program("stats", "bob", "--json").data["facts"] == 12345


def test_what_stands_beside_a_summary_is_not_said_twice(program: Program, fake: FakeClient) -> None:
    """The day that a leaf's text begins with is its own; that of an inner node is its first line's."""
    day = {"start": "2019-04-23T16:10:00+00:00", "end": "2019-04-23T16:10:00+00:00"}
    leaf = {**day, "summary": "2019-04-23 Bob lives in Boston."}
    fake.answers["tree"] = {**day, "count": 1, "summary": "2019-04-23 Bob: Hi. 2019-04-23 Ann: Hi.", "children": [leaf]}
    assert program("show", "bob", "entity:bob").out.splitlines() == [
        "2019-04-23 (1) 2019-04-23 Bob: Hi. 2019-04-23 Ann: Hi.",
        "└── 2019-04-23 Bob lives in Boston.",
    ]


@pytest.mark.parametrize("width", [80, 200])
def test_trees_fit_on_a_terminal(width: int) -> None:
    """Each on one line; the summary takes what the others leave."""
    console = Console(file=(file := StringIO()), width=width)
    show._draw_cards(console, "bob", cast("list[TreeCard]", CARDS), 160)
    lines = file.getvalue().splitlines()
    assert len(lines) == 3
    assert max(map(len, lines)) <= width
    assert lines[1].rstrip().endswith("…")
