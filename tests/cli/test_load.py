"""Bulk load: which users files become, what a second run does, what stops it, what it says."""

import json
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memforest_ray import client
from memforest_ray.ambient import SystemRandom
from memforest_ray.cli import loading, sources
from memforest_ray.cli.journal import Journal
from memforest_ray.cli.sources import find_sources
from memforest_ray.config import Settings
from memforest_ray.errors import InvalidInput, Overloaded, SessionConflict, StoreUnavailable
from memforest_ray.facts.rules import RuleExtractor
from memforest_ray.facts.sessions import Session, Turn
from memforest_ray.ids import OpId, UserId
from memforest_ray.local import LocalRuntime, Models
from memforest_ray.storage.keys import LOADS
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.storage.open import open_store
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.trees.summaries import SelectionSummarizer
from tests.cli.conftest import Program, Run

Before = Callable[[UserId, str], None]


class Watched(LocalRuntime):
    """Forests in this process; `before` is told of every call and may fail or stop it."""

    before: Before

    async def call(
        self,
        user: UserId,
        verb: str,
        arguments: dict[str, Any],
        *,
        op_id: OpId | None,
        seen: int,
        deadline_s: float,
    ) -> Any:
        self.before(user, arguments["session"].id if verb == "ingest" else verb)
        return await super().call(user, verb, arguments, op_id=op_id, seen=seen, deadline_s=deadline_s)


class Watch:
    """What the runtime was asked, and what it does before it answers."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.before: Before = lambda user, session: None

    def open(self, settings: Settings) -> LocalRuntime:
        models = Models(RuleExtractor(), SelectionSummarizer(), HashEmbedder())
        runtime = Watched(settings, open_store(settings.store), models)
        runtime.before = self._called
        return runtime

    def _called(self, user: UserId, session: str) -> None:
        self.asked.append(user)
        self.before(user, session)


@pytest.fixture
def watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watch:
    """A store on disk, and a runtime that tells what it was asked."""
    watch = Watch()
    monkeypatch.setattr(client, "_open_runtime", watch.open)
    monkeypatch.setenv("MEMFOREST_STORE", f"file://{tmp_path / 'store'}")
    return watch


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two files of one conversation each and one of two."""

    def conversation(name: str, *sessions: str) -> dict[str, Any]:
        turns = [{"speaker": "Ann", "text": f"I planted {name} and a pear tree."}]
        return {"id": name, "sessions": [{"id": session, "turns": turns} for session in sessions]}

    chats = tmp_path / "chats"
    (chats / "team").mkdir(parents=True)
    (chats / "ann.json").write_text(json.dumps(conversation("x", "s1", "s2")), "utf-8")
    (chats / "team/bob.json").write_text(json.dumps(conversation("y", "s1")), "utf-8")
    (chats / "team/many.json").write_text(json.dumps([conversation("c1", "s1"), conversation("c2", "s1")]), "utf-8")
    (chats / ".hidden.json").write_text("no", "utf-8")
    (chats / "notes.md").write_text("no", "utf-8")
    return chats


def _parts(run: Run) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The lines of users, and the result behind them."""
    *lines, last = run.out.splitlines()
    assert last.startswith("RESULT ")
    return [json.loads(line) for line in lines], json.loads(last.removeprefix("RESULT "))


def _notes(tmp_path: Path) -> list[Path]:
    return [path for path in (tmp_path / "store" / LOADS).rglob("*") if path.is_file()]


def test_files_become_users(watch: Watch, folder: Path, program: Program) -> None:
    """After their path below the folder, a conversation of several after its id, too; a line each, a result last."""
    run = program("load", str(folder), "--prefix", "t/")
    lines, result = _parts(run)
    assert run.code == 0
    assert sorted(line["user"] for line in lines) == ["t/ann", "t/team/bob", "t/team/many/c1", "t/team/many/c2"]
    assert {key: result[key] for key in ("users", "sessions", "duplicates", "failed", "skipped")} == {
        "users": 4,
        "sessions": 5,
        "duplicates": 0,
        "failed": 0,
        "skipped": 0,
    }
    assert program("users", "--json").data["users"] == sorted(line["user"] for line in lines)


def test_again_adds_nothing(watch: Watch, folder: Path, program: Program, tmp_path: Path) -> None:
    """A load that has ended leaves no notes: the next asks every user and finds duplicates."""
    assert program("load", str(folder)).code == 0
    assert _notes(tmp_path) == []
    _, result = _parts(program("load", str(folder)))
    assert (result["users"], result["duplicates"], result["facts_added"]) == (4, 5, 0)


def test_what_a_second_run_leaves_as_it_is_is_said(watch: Watch, folder: Path, program: Program) -> None:
    """A time for what is stored without one is no news by itself: each line says what would take it."""
    assert program("load", str(folder)).code == 0
    lines, _ = _parts(program("load", str(folder), "--time", "2024-05-20"))
    assert all(any("without a time" in note for note in line["notes"]) for line in lines)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_stopped_load_goes_on(watch: Watch, folder: Path, program: Program, number: int, code: int) -> None:
    """A signal ends it at once with what is done; the next run does not even ask for that."""

    def stop(user: UserId, session: str) -> None:
        if user == "team/bob":
            os.kill(os.getpid(), number)

    watch.before = stop
    stopped = program("load", str(folder), "--concurrency", "1")
    lines, result = _parts(stopped)
    done = [line["user"] for line in lines if "user" in line]
    assert (stopped.code, result["stopped"]) == (code, True)
    assert lines[-1]["stopped"] == signal.Signals(number).name
    watch.before, watch.asked = (lambda user, session: None), []
    lines, result = _parts(program("load", str(folder), "--concurrency", "1"))
    assert result["skipped"] == len(done)
    assert not set(done) & set(watch.asked)
    assert program("users", "--json").data["users"] == ["ann", "team/bob", "team/many/c1", "team/many/c2"]


def test_some_fail(watch: Watch, folder: Path, program: Program) -> None:
    """A file that cannot be read and a user who is refused are named; the others are done; the next run asks these."""
    (folder / "bad.json").write_text("{", "utf-8")

    def refuse(user: UserId, session: str) -> None:
        if user == "team/bob":
            raise SessionConflict("other turns are stored under this id")

    watch.before = refuse
    run = program("load", str(folder))
    lines, result = _parts(run)
    assert (run.code, result["failed"], result["users"]) == (3, 2, 4)
    named = {failure.get("file", failure.get("user")) for failure in result["failures"]}
    assert named == {str(folder / "bad.json"), "team/bob"}
    assert [line["failures"][0]["session"] for line in lines if line.get("user") == "team/bob"] == ["s1"]
    (folder / "bad.json").unlink()
    watch.before, watch.asked = (lambda user, session: None), []
    assert program("load", str(folder)).code == 0
    assert watch.asked == ["team/bob"]


def test_a_dead_dependency_ends_it(watch: Watch, folder: Path, program: Program, tmp_path: Path) -> None:
    """When user after user fails for want of the store, the rest is left: exit code 4, nothing pretended."""
    for number in range(20):
        (folder / f"{number:02}.json").write_text((folder / "ann.json").read_text("utf-8"), "utf-8")

    def fail(user: UserId, session: str) -> None:
        raise StoreUnavailable("the store does not answer")

    watch.before = fail
    run = program("load", str(folder), "--concurrency", "2")
    _, result = _parts(run)
    assert (run.code, result["given_up"]) == (4, True)
    assert result["users"] <= loading.UNAVAILABLE_IN_A_ROW_MAX + 2


def test_a_full_queue_is_waited_for(watch: Watch, folder: Path, program: Program) -> None:
    """What `Overloaded` refuses is tried again after the time it names; what was accepted is not."""
    refused: list[str] = []

    def full(user: UserId, session: str) -> None:
        if session == "s2" and len(refused) < 2:
            refused.append(session)
            raise Overloaded("the lane is full", retry_after=0.0)

    watch.before = full
    run = program("load", str(folder / "ann.json"))
    _, result = _parts(run)
    assert (run.code, len(refused), result["sessions"]) == (0, 2, 2)
    assert watch.asked == ["ann"] * 4


def test_a_queue_that_stays_full_is_a_failure(watch: Watch, folder: Path, program: Program) -> None:
    """Patience has an end, and the user's line names the session."""

    def full(user: UserId, session: str) -> None:
        raise Overloaded("the lane is full", retry_after=0.0)

    watch.before = full
    run = program("load", str(folder / "ann.json"))
    lines, _ = _parts(run)
    assert run.code == 4
    assert {failure["kind"] for failure in lines[0]["failures"]} == {"overloaded"}


def test_json_is_one_object(watch: Watch, folder: Path, program: Program) -> None:
    """With `--json` the result alone stands on stdout, users' lines on stderr."""
    run = program("load", str(folder), "--json")
    assert run.data["users"] == 4
    assert len(run.err.splitlines()) == 4


@pytest.mark.parametrize("path", ["missing.json", "empty"])
def test_a_path_that_names_nothing(watch: Watch, program: Program, tmp_path: Path, path: str) -> None:
    """Is bad input, before anything is begun."""
    (tmp_path / "empty").mkdir()
    run = program("load", str(tmp_path / path))
    assert (run.code, run.out) == (2, "")
    assert "nothing was done" in run.err


class _Bucket(MemoryStore):
    """A cloud store: keys may hold anything."""


async def test_objects_of_a_bucket(monkeypatch: pytest.MonkeyPatch) -> None:
    """All below an address, or one object; each is read under its own name."""
    bucket = _Bucket("b")
    for key in ("a.json", "sub/b.jsonl", "notes.md"):
        await bucket.overwrite(key, b"[]")
    opened: list[str] = []

    def open_bucket(url: str) -> MemoryStore:
        opened.append(url)
        return bucket

    monkeypatch.setattr(sources, "open_store", open_bucket)
    found = await find_sources(["s3://b/chats", "s3://b/chats/a.json"])
    assert [(one.name, one.stem) for one in found] == [
        ("s3://b/chats/a.json", "a"),
        ("s3://b/chats/sub/b.jsonl", "sub/b"),
        ("s3://b/chats/a.json", "a"),
    ]
    assert opened == ["s3://b/chats", "s3://b/chats"]
    async with found[1].local() as path:
        assert (path.name, path.read_bytes()) == ("b.jsonl", b"[]")
    assert not path.exists()


async def test_an_object_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Is named; the load goes on without it."""
    monkeypatch.setattr(sources, "open_store", lambda url: _Bucket("c"))
    (one,) = await find_sources(["gs://c/x.json"])
    with pytest.raises(InvalidInput, match=re.escape("x.json")):
        async with one.local():
            pass


def test_a_folder_is_the_same_however_it_is_named(
    watch: Watch, folder: Path, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a slash behind it, from here or from anywhere: what was done is not asked again."""
    (folder / "bad.json").write_text("{", "utf-8")  # so that the journal is kept
    assert program("load", str(folder)).code == 3
    watch.asked = []
    monkeypatch.chdir(folder.parent)
    for named in (f"{folder}/", folder.name, f"./{folder.name}/"):
        assert _parts(program("load", named))[1]["skipped"] == 4
    assert watch.asked == []
    assert sources.settled("s3://bucket/chats/") == "s3://bucket/chats"


def test_a_time_for_those_without_one(watch: Watch, folder: Path, program: Program) -> None:
    """Is passed on to who reads the files; what is no time is refused once."""
    assert program("load", str(folder), "--time", "2024-05-20").code == 0
    lines, _ = _parts(program("load", str(folder), "--time", "2024-05-21"))
    assert {line["turns_without_time"] for line in lines} == {0}
    refused = program("load", str(folder), "--time", "soon")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("memforest: --time: 'soon' cannot be read as a time; ")


async def test_the_journal_knows_users_by_their_sessions() -> None:
    """The same sessions are done, others of that user are not; two runs may note the same."""
    store, random = MemoryStore("j"), SystemRandom()
    name = random.nonce()
    first, second = Journal(store, name), Journal(store, name)
    sessions = (Session(id="s1", turns=[Turn("hello")]),)
    await first.add("ann", sessions)
    await second.add("ann", sessions)
    assert await second.read() == 1
    assert second.holds("ann", sessions)
    assert not second.holds("ann", (Session(id="s1", turns=[Turn("hello again")]),))
    assert not second.holds("bob", sessions)
    other = Journal(store, "another load")
    assert await other.read() == 0
    await second.remove()
    assert await first.read() == 0


async def test_notes_hold_no_text() -> None:
    """Keys are digests and objects are empty."""
    store = MemoryStore("k")
    await Journal(store, "chats/ann.json").add("ann", (Session(id="s1", turns=[Turn("a secret")]),))
    keys = [key async for key in store.list("")]
    assert [key for key in keys if "ann" in key or "secret" in key] == []
    assert {(await store.get(key)).body for key in keys} == {b""}
