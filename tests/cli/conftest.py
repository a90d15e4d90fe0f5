"""A client that remembers what it was asked and answers what a test puts there, and the program to call."""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from memforest_ray.cli import call
from memforest_ray.cli.app import run
from memforest_ray.commit.journal import News
from memforest_ray.errors import MemForestError
from memforest_ray.facts.sessions import Session
from memforest_ray.forest.intents import Forgotten, Receipt
from memforest_ray.ids import CellId, OpId, SessionId, TurnId
from memforest_ray.query.result import Answer, Result


@dataclass
class FakeUser:
    """One user's memory: a list of sessions, and answers to be given."""

    id: str
    client: "FakeClient"
    sessions: list[Session] = field(default_factory=list)

    def ingest_many(
        self,
        sessions: Sequence[Session],
        *,
        on_progress: Callable[[int, int, Receipt | MemForestError], None],
        **how: Any,
    ) -> list[Receipt]:
        self.client.asked.append(("ingest", self.id, how))
        errors = []
        for number, session in enumerate(sessions, start=1):
            became = self.client.becomes(session, number)
            if isinstance(became, MemForestError):
                became.detail["session"] = session.id
                errors.append(became)
            else:
                self.sessions.append(session)
            on_progress(number, len(sessions), became)
        if errors:
            raise errors[0]
        return []

    def query(self, text: str, **options: Any) -> Result:
        self.client.asked.append(("query", self.id, {"text": text, **options}))
        answer: Result = self.client.given("query")
        return answer

    def ask(self, text: str, *, on_text: Callable[[str], None] | None = None, **options: Any) -> Answer:
        self.client.asked.append(("ask", self.id, {"text": text, **options}))
        answer: Answer = self.client.given("ask")
        if on_text is not None:
            for place, word in enumerate(answer.text.split(" ")):
                on_text(" " * (place > 0) + word)
        return answer

    def forget(self, **what: Any) -> Forgotten:
        self.client.asked.append(("forget", self.id, what))
        if "forget" in self.client.answers:
            self.client.given("forget")
        return Forgotten(version=9, op_id=OpId("o"), turns=2, still_in=(TurnId("s1#1"),))

    def changes(self, since: int) -> News:
        self.client.asked.append(("changes", self.id, {"since": since}))
        answer: News = self.client.given("changes")
        return answer

    def snapshots(self) -> list[Any]:
        answer: list[Any] = self.client.given("snapshots")
        return answer

    def stats(self) -> dict[str, Any]:
        answer: dict[str, Any] = self.client.given("stats")
        return {"exists": True, **answer}

    def trees(self) -> list[dict[str, Any]]:
        answer: list[dict[str, Any]] = self.client.given("trees")
        return answer

    def tree(self, scope: str) -> dict[str, Any]:
        self.client.asked.append(("tree", self.id, {"scope": scope}))
        answer: dict[str, Any] = self.client.given("tree")
        return answer


@dataclass
class FakeClient:
    """Several users; `answers` holds what a verb gives, an exception is raised."""

    answers: dict[str, Any] = field(default_factory=dict)
    fate: dict[str, MemForestError | BaseException | Receipt] = field(default_factory=dict)
    """Session id -> what becomes of it, instead of being stored."""
    people: dict[str, FakeUser] = field(default_factory=dict)
    asked: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    closed: bool = False

    def becomes(self, session: Session, number: int) -> MemForestError | Receipt:
        fate = self.fate.get(session.id)
        if isinstance(fate, KeyboardInterrupt):
            raise fate
        if isinstance(fate, MemForestError | Receipt):
            return fate
        return Receipt(number, OpId("o"), SessionId(session.id), cells=1, facts_added=len(session.turns))

    def given(self, verb: str) -> Any:
        answer = self.answers[verb]
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def user(self, user: str) -> FakeUser:
        return self.people.setdefault(user, FakeUser(user, self))

    def users(self, prefix: str = "") -> list[str]:
        return [user for user in self.given("users") if user.startswith(prefix)]

    def warm(self, users: list[str]) -> dict[str, int | MemForestError]:
        self.asked.extend(("warm", user, {}) for user in users)
        found: dict[str, int | MemForestError] = self.given("warm")
        return found

    def delete_user(self, user: str) -> list[str]:
        self.asked.append(("delete", user, {}))
        return ["ann"]

    def close(self) -> None:
        self.closed = True
        if "close" in self.answers:
            self.given("close")


@dataclass(frozen=True)
class Run:
    """What one run of the program left."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """The one JSON object on stdout."""
        return json.loads(self.out)


Program = Callable[..., Run]


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the machine that runs the tests."""
    for name in [name for name in os.environ if name.startswith("MEMFOREST_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeClient:
    """The client that the program meets."""
    client = FakeClient()

    def open_fake(**given: Any) -> FakeClient:
        client.settings = given
        return client

    monkeypatch.setattr(call, "open_client", open_fake)
    return client


@pytest.fixture
def program(capsys: pytest.CaptureFixture[str]) -> Program:
    """Call the program in this process."""

    def start(*arguments: str) -> Run:
        code = run(arguments)
        out, err = capsys.readouterr()
        return Run(code, out, err)

    return start


@pytest.fixture
def chats(tmp_path: Path) -> Callable[..., str]:
    """Write a file of conversations in our own format; its path."""

    def write(name: str, conversations: dict[str, list[str]]) -> str:
        items = [
            {"id": name_, "sessions": [{"id": item, "turns": [{"text": "hello"}]} for item in sessions]}
            for name_, sessions in conversations.items()
        ]
        path = tmp_path / name
        path.write_text(json.dumps(items[0] if len(items) == 1 else items), "utf-8")
        return str(path)

    return write


@pytest.fixture
def failed_receipt() -> Receipt:
    """A session of which one cell could not be extracted."""
    return Receipt(3, OpId("o"), SessionId("s2"), cells=2, failed_cells={CellId("c1"): "the answer was empty"})
