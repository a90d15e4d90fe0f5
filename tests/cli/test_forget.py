"""`memforest forget`: exactly one thing at a time."""

import pytest

from tests.cli.conftest import FakeClient, Program

NOTHING = {
    "session": None,
    "turns": None,
    "fact": None,
    "origin": None,
    "with_dialogue": False,
    "including_snapshots": False,
}


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["--session", "s1"], {"session": "s1"}),
        (["--turn", "s1#1", "--turn", "s1#2"], {"turns": ["s1#1", "s1#2"]}),
        (["--turn", "a", "--session", "s1"], {"turns": ["a"], "session": "s1"}),
        (["--fact", "f1", "--with-dialogue"], {"fact": "f1", "with_dialogue": True}),
        (["--origin", "ben"], {"origin": "ben"}),
        (["--session", "s1", "--including-snapshots"], {"session": "s1", "including_snapshots": True}),
    ],
)
def test_one_thing_is_forgotten(
    program: Program, fake: FakeClient, arguments: list[str], what: dict[str, object]
) -> None:
    """A session, turns (of a session), a fact, or what came from somebody."""
    run = program("forget", "bob", *arguments)
    assert run.code == 0
    assert [("forget", "bob", {**NOTHING, **what})] == fake.asked
    assert "still in: s1#1" in run.out


@pytest.mark.parametrize(
    "arguments",
    [[], ["--fact", "f1", "--session", "s1"], ["--everything", "--fact", "f1"], ["--with-dialogue"]],
)
def test_anything_else_is_an_input_error(program: Program, fake: FakeClient, arguments: list[str]) -> None:
    """Nothing, or two things, is refused before a client is opened."""
    run = program("forget", "bob", *arguments)
    assert run.code == 2
    assert "say what to forget" in run.err
    assert fake.asked == []


def test_everything_deletes_the_user(program: Program, fake: FakeClient) -> None:
    """The whole memory goes when that was said in so many words; who holds a copy is named."""
    run = program("forget", "bob", "--everything", "--json")
    assert run.data == {"user": "bob", "deleted": True, "copies": ["ann"]}
    assert fake.asked == [("delete", "bob", {})]
