"""`memforest forget`: exactly one thing at a time."""

import io

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
        (["--turns", "a", "--session", "s1"], {"turns": ["a"], "session": "s1"}),
        (["--fact", "f1", "--with-dialogue"], {"fact": "f1", "with_dialogue": True}),
        (["--origin", "ben"], {"origin": "ben"}),
        (["--session", "s1", "--including-snapshots"], {"session": "s1", "including_snapshots": True}),
    ],
)
def test_one_thing_is_forgotten(
    program: Program, fake: FakeClient, arguments: list[str], what: dict[str, object]
) -> None:
    """A session, turns (of a session), a fact, or what came from somebody."""
    run = program("forget", "bob", *arguments, "--op-id", "mine")
    assert run.code == 0
    assert [("forget", "bob", {**NOTHING, **what, "op_id": "mine"})] == fake.asked
    assert "still in (1): s1#1" in run.out


@pytest.mark.parametrize(
    "arguments",
    [[], ["--fact", "f1", "--session", "s1"], ["--everything", "--fact", "f1"], ["--with-dialogue"]],
)
def test_anything_else_is_an_input_error(program: Program, fake: FakeClient, arguments: list[str]) -> None:
    """Nothing, or two things, is refused before a client is opened."""
    run = program("forget", "bob", *arguments)
    assert run.code == 2
    assert "say one thing to forget" in run.err
    assert fake.asked == []


def test_everything_deletes_the_user(program: Program, fake: FakeClient) -> None:
    """The whole memory goes when that was said in so many words; who holds a copy is named."""
    run = program("forget", "bob", "--everything", "--yes", "--json")
    assert run.data == {"user": "bob", "deleted": True, "copies": ["ann"]}
    assert fake.asked == [("delete", "bob", {})]


def test_everything_is_not_deleted_by_a_script_that_does_not_say_yes(program: Program, fake: FakeClient) -> None:
    """Whatever is piped into it."""
    run = program("forget", "bob", "--everything")
    assert run.code == 2
    assert "nothing was changed; add --yes to mean it" in run.err
    assert fake.asked == []


class Terminal(io.StringIO):
    """What somebody types."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("n\n", 2), ("\n", 2), ("", 2)])
def test_at_a_terminal_everything_has_to_be_confirmed(
    program: Program, fake: FakeClient, monkeypatch: pytest.MonkeyPatch, typed: str, code: int
) -> None:
    """Anything but yes changes nothing, and is told as bad input."""
    monkeypatch.setattr("sys.stdin", Terminal(typed))
    run = program("forget", "bob", "--everything")
    assert (run.code, "Erase the whole memory of bob" in run.err) == (code, True)
    assert fake.asked == ([] if code else [("delete", "bob", {})])
    assert ("nothing was changed" in run.err) is bool(code)


@pytest.mark.parametrize("arguments", [["--everything", "--yes"], ["--everything", "-y", "--json"]])
def test_who_says_yes_is_not_asked(
    program: Program, fake: FakeClient, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    """It is for scripts that run at a terminal."""
    monkeypatch.setattr("sys.stdin", Terminal())
    assert program("forget", "bob", *arguments).code == 0
    assert fake.asked == [("delete", "bob", {})]


def test_parts_are_forgotten_without_a_question(
    program: Program, fake: FakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who names what he means has said it."""
    monkeypatch.setattr("sys.stdin", Terminal())
    assert program("forget", "bob", "--session", "s1").code == 0
    assert [verb for verb, *_ in fake.asked] == ["forget"]
