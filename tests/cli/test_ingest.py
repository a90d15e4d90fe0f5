"""`memforest ingest`: who gets which session, what is said when something fails."""

import os
import threading
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from memforest_ray.cli import ingest
from memforest_ray.errors import InvalidInput, LLMUnavailable, SessionConflict, StoreUnavailable
from memforest_ray.forest.intents import Receipt
from memforest_ray.ids import OpId, SessionId
from tests.cli.conftest import FakeClient, Program

Chats = Callable[..., str]


def _stored(fake: FakeClient) -> dict[str, list[str]]:
    return {user: [session.id for session in memory.sessions] for user, memory in fake.people.items()}


def test_one_conversation_goes_to_the_user(program: Program, fake: FakeClient, chats: Chats) -> None:
    """The only conversation of a file is U's own."""
    run = program("ingest", chats("a.json", {"a": ["s1", "s2"]}), "--user", "bob")
    assert run.code == 0
    assert _stored(fake) == {"bob": ["s1", "s2"]}
    assert fake.closed


def test_several_conversations_become_several_users(program: Program, fake: FakeClient, chats: Chats) -> None:
    """Three different Johns must not mix."""
    program("ingest", chats("a.json", {"a": ["s1"], "b": ["s1"]}), "--user", "bob")
    assert _stored(fake) == {"bob/a": ["s1"], "bob/b": ["s1"]}


def test_one_user_takes_them_all(program: Program, fake: FakeClient, chats: Chats) -> None:
    """`--one-user` puts all conversations of a file into one memory."""
    program("ingest", chats("a.json", {"a": ["s1"], "b": ["s2"]}), "--user", "bob", "--one-user")
    assert _stored(fake) == {"bob": ["a/s1", "b/s2"]}


def test_several_paths(program: Program, fake: FakeClient, chats: Chats) -> None:
    """Each file is read by itself."""
    program("ingest", chats("a.json", {"a": ["s1"]}), chats("b.json", {"b": ["s2"]}), "--user", "bob")
    assert _stored(fake) == {"bob": ["s1", "s2"]}


def test_json_is_one_object(program: Program, fake: FakeClient, chats: Chats) -> None:
    """Counts by user on stdout, nothing else."""
    run = program("--json", "ingest", chats("a.json", {"a": ["s1", "s2"]}), "--user", "bob")
    user = run.data["users"][0]
    assert (user["user"], user["version"], user["sessions"], user["facts_added"]) == ("bob", 2, 2, 2)
    assert run.data["failures"] == []
    assert [receipt["session_id"] for receipt in run.data["receipts"]] == ["s1", "s2"]
    assert run.err == ""


def test_the_table_fits_on_a_terminal(fake: FakeClient) -> None:
    """In 80 columns, with numbers as they are in large memories; who got nothing has no line."""
    counts = dict.fromkeys(
        ("sessions", "duplicates", "cells", "facts_added", "facts_merged", "turns_without_time"), 98_765
    )
    users = [{"user": "tenant-of-some-name/alice", "version": 98_765, **counts}, {**counts, "user": "x", "sessions": 0}]
    console = Console(file=(file := StringIO()), width=80)
    ingest._draw(console, users, [])
    lines = file.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == [
        "user",
        "sessions",
        "duplicates",
        "cells",
        "new",
        "facts",
        "merged",
        "undated",
        "version",
    ]
    assert lines[1].split()[1:] == ["98,765"] * 7
    assert "98,765" not in "".join(lines[2:])


def test_nothing_stored_is_no_table(program: Program, fake: FakeClient, chats: Chats) -> None:
    """The reason is all there is to say."""
    fake.fate["s1"] = InvalidInput("it is too old")
    run = program("ingest", chats("a.json", {"a": ["s1"]}), "--user", "bob")
    assert (run.code, run.out) == (2, "")
    assert "it is too old" in run.err


def test_table_names_every_user(program: Program, fake: FakeClient, chats: Chats) -> None:
    """A person sees a line per user, without colour codes in a pipe and without a progress bar."""
    run = program("ingest", chats("a.json", {"a": ["s1"], "b": ["s1"]}), "--user", "bob")
    assert "bob/a" in run.out
    assert "bob/b" in run.out
    assert "\x1b" not in run.out + run.err
    assert run.err == ""


def test_a_missing_file_is_named_and_nothing_is_ingested(program: Program, fake: FakeClient, chats: Chats) -> None:
    """All files are read before the first session is written."""
    run = program("ingest", chats("a.json", {"a": ["s1"]}), "no/such.json", "--user", "bob")
    assert run.code == 2
    assert "no/such.json" in run.err
    assert len(run.err.splitlines()) == 1
    assert _stored(fake) == {}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"a": 1}', "\x00\xff"])
def test_bad_files_are_input_errors(program: Program, fake: FakeClient, tmp_path: Path, text: str) -> None:
    """Whatever a file holds, one line says that it cannot be used."""
    path = tmp_path / "bad.json"
    path.write_bytes(text.encode("latin-1"))
    run = program("ingest", str(path), "--user", "bob")
    assert run.code == 2
    assert run.err.startswith("memforest: ")
    assert len(run.err.splitlines()) == 1
    assert "bad.json" in run.err


def test_a_folder_is_an_input_error(program: Program, fake: FakeClient, tmp_path: Path) -> None:
    """A folder in place of a file is refused by name."""
    run = program("ingest", str(tmp_path), "--user", "bob")
    assert run.code == 2
    assert tmp_path.name in run.err


def test_an_unknown_format_is_an_input_error(program: Program, fake: FakeClient, chats: Chats) -> None:
    """`--format` takes the names of formats that exist."""
    assert program("ingest", chats("a.json", {"a": ["s1"]}), "--user", "b", "--format", "nosuch").code == 2


def test_part_of_it_failing_is_partial(program: Program, fake: FakeClient, chats: Chats) -> None:
    """A session that failed is named, the others are stored."""
    fake.fate["s2"] = SessionConflict("session 's2' is stored with other turns")
    run = program("ingest", chats("a.json", {"a": ["s1", "s2", "s3"]}), "--user", "bob", "--json")
    assert run.code == 3
    assert _stored(fake) == {"bob": ["s1", "s3"]}
    assert "session 's2'" in run.err
    assert [(each["session"], each["kind"]) for each in run.data["failures"]] == [("s2", "session_conflict")]
    assert run.err.count("session 's2'") == 1


def test_one_reason_is_one_line(program: Program, fake: FakeClient, chats: Chats) -> None:
    """An absent store is not told once for each session; each stands in the JSON."""
    names = ["s1", "s2", "s3", "s4"]
    fake.fate.update({name: StoreUnavailable("no answer") for name in names})
    run = program("ingest", chats("a.json", {"a": names}), "--user", "bob", "--json")
    assert run.code == 4
    assert run.err.startswith("memforest: bob: 4 sessions ('s1', 's2', 's3', ...): no answer; ")
    assert len(run.err.splitlines()) == 1
    assert [failure["session"] for failure in run.data["failures"]] == names


def test_a_failed_cell_is_partial(program: Program, fake: FakeClient, chats: Chats, failed_receipt: Receipt) -> None:
    """A cell without facts is named with its reason, though its dialogue is stored."""
    fake.fate["s2"] = failed_receipt
    run = program("ingest", chats("a.json", {"a": ["s1", "s2"]}), "--user", "bob")
    assert run.code == 3
    assert run.err == "memforest: bob: session 's2': c1: the answer was empty\n"


def test_everything_failing_has_the_code_of_its_cause(program: Program, fake: FakeClient, chats: Chats) -> None:
    """When nothing was stored it is not partial: bad input is 2, an absent dependency 4."""
    fake.fate["s1"] = InvalidInput("a turn has no text")
    assert program("ingest", chats("a.json", {"a": ["s1"]}), "--user", "bob").code == 2
    fake.fate["s1"] = LLMUnavailable("no answer")
    assert program("ingest", chats("a.json", {"a": ["s1"]}), "--user", "bob").code == 4


def test_an_absent_store_ends_it_early(program: Program, fake: FakeClient, chats: Chats) -> None:
    """Users behind one whom the store refused are named, not tried."""
    fake.fate["s1"] = StoreUnavailable("the store did not answer")
    run = program("ingest", chats("a.json", {"a": ["s1"], "b": ["s2"]}), "--user", "bob")
    assert run.code == 4
    assert list(fake.people) == ["bob/a"]
    assert "memforest: bob/b: not tried" in run.err


def test_an_interrupt_says_what_is_kept(program: Program, fake: FakeClient, chats: Chats) -> None:
    """Ctrl-C ends with 130, and tells how far it came."""
    fake.fate["s2"] = KeyboardInterrupt()
    run = program("ingest", chats("a.json", {"a": ["s1", "s2", "s3"]}), "--user", "bob", "--json")
    assert run.code == 130
    assert "memforest: interrupted; at least 1 of 3 sessions are kept; " in run.err
    assert run.data["error"]["kind"] == "interrupted"
    assert fake.closed


def test_replace_and_wait_are_passed_on(program: Program, fake: FakeClient, chats: Chats) -> None:
    """`--replace` and `--wait` reach the write."""
    program("ingest", chats("a.json", {"a": ["s1"]}), "--user", "bob", "--replace", "--wait", "facts")
    assert fake.asked == [("ingest", "bob", {"replace": True, "wait": "facts"})]


def test_who_speaks_and_when_is_told(program: Program, fake: FakeClient, tmp_path: Path) -> None:
    """A chat with a model says neither: the person who has it can."""
    path = tmp_path / "chat.json"
    path.write_text('[{"role": "user", "content": "I keep bees."}, {"role": "assistant", "content": "Nice."}]', "utf-8")
    assert program("ingest", str(path), "--user", "ana", "--speaker", "Ana", "--time", "2024-05-20").code == 0
    [session] = fake.people["ana"].sessions
    assert (session.time, [turn.speaker for turn in session.turns]) == ("2024-05-20", ["Ana", None])
    refused = program("ingest", str(path), "--user", "ana", "--time", "May")
    assert (refused.code, refused.err.startswith("memforest: --time: 'May' cannot be read as a time; ")) == (2, True)
    nobody = program("ingest", str(path), "--user", "ana", "--speaker", "")
    assert nobody.err.startswith("memforest: --speaker: must be a name, not ''; ")


def test_a_pipe_is_read_once(program: Program, fake: FakeClient, tmp_path: Path) -> None:
    """`ingest <(make-chats)`: what is looked at before it is read would be gone."""
    path = tmp_path / "chat.json"
    os.mkfifo(path)
    writing = threading.Thread(target=path.write_text, args=('[{"role": "user", "content": "I keep bees."}]',))
    writing.start()
    run = program("ingest", str(path), "--user", "ana")
    writing.join()
    assert (run.code, len(fake.people["ana"].sessions)) == (0, 1)


def test_what_could_be_told_is_said(program: Program, fake: FakeClient, chats: Chats) -> None:
    """What "undated" is, who "user" is, what was left out: each with the option that helps. Nothing if all is known."""
    path = chats("a.json", {"a": ["s1", "s2"]})
    note = "it was forgotten earlier and stays so; replace=True takes it in again"
    fake.fate["s1"] = Receipt(3, OpId("o"), SessionId("s1"), cells=1, turns_without_time=4)
    fake.fate["s2"] = Receipt(3, OpId("o"), SessionId("s2"), duplicate=True, notes=(note,))
    _, _, undated, nameless, forgotten = program("ingest", path, "--user", "bob").out.splitlines()
    assert undated.startswith("undated 4: turns of which nothing says when they were spoken, ")
    assert undated.endswith("run it again with --time TIME --replace")
    assert nameless.endswith("run it again with --speaker NAME --replace")
    assert forgotten == "session 's2': it was forgotten earlier and stays so; --replace takes it in again"
    fake.fate["s1"] = Receipt(3, OpId("o"), SessionId("s1"), duplicate=True)
    assert program("ingest", path, "--user", "bob").out.splitlines()[2:] == [forgotten]
    fake.fate.clear()
    told = program("ingest", path, "--user", "bob", "--speaker", "Ana").out.splitlines()
    assert len(told) == 2


def test_the_user_must_be_named(program: Program, fake: FakeClient, chats: Chats) -> None:
    """No user is guessed."""
    run = program("ingest", chats("a.json", {"a": ["s1"]}))
    assert run.code == 2
    assert "--user" in run.err
