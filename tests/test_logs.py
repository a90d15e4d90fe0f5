"""Log lines: their fields, and what they never hold, whatever goes wrong."""

import io
import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from memforest_ray.ambient import SystemClock, SystemRandom
from memforest_ray.config import Settings
from memforest_ray.errors import MemForestError, NotFound, StoreUnavailable
from memforest_ray.facts.rules import RuleExtractor
from memforest_ray.facts.sessions import Session, Turn
from memforest_ray.ids import OpId, UserId, user_hash
from memforest_ray.local import Models
from memforest_ray.local.driver import ForestDriver
from memforest_ray.logs import ROOTS, bound, configure
from memforest_ray.query.request import QueryRequest
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.trees.summaries import SelectionSummarizer

SECRET = "HERON-7"
KEY = "sk-not-for-logs"

Lines = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def lines() -> Iterator[Lines]:
    """What was logged as JSON, all levels; the loggers are put back afterwards."""
    before = {name: (logging.getLogger(name).handlers[:], logging.getLogger(name).level) for name in ROOTS}
    stream = io.StringIO()
    configure("json", "debug", stream)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    for name, (handlers, level) in before.items():
        logging.getLogger(name).handlers[:] = handlers
        logging.getLogger(name).setLevel(level)


def test_a_line_has_its_fields(lines: Lines) -> None:
    """Time in UTC, level, logger, message; what is bound around it, the innermost last; what it brings itself."""
    log = logging.getLogger("memforest_ray.local.writer")
    with bound(user="abc", verb="ingest"), bound(op_id="op-1"):
        log.warning("checkpoint of %s failed", "abc", extra={"fields": {"version": 7}})
    log.info("later")
    first, second = lines()
    assert first.pop("time").endswith("Z")
    assert first == {
        "level": "warning",
        "logger": "memforest_ray.local.writer",
        "message": "checkpoint of abc failed",
        "user": "abc",
        "verb": "ingest",
        "op_id": "op-1",
        "version": 7,
    }
    assert set(second) == {"time", "level", "logger", "message"}


def test_a_failure_tells_where_and_not_what_was_said(lines: Lines) -> None:
    """Messages of our errors are shown; those of others may quote a dialogue and are not."""

    def fail(error: Exception) -> None:
        raise error

    unknown = NotFound.memory("ann@example.org")
    for error in (ValueError(f"cannot parse {SECRET!r}"), StoreUnavailable("the store does not answer"), unknown):
        try:
            fail(error)
        except (ValueError, MemForestError) as raised:
            logging.getLogger("memforest").error("it failed", exc_info=raised)
    first, second, third = lines()
    assert SECRET not in json.dumps(first)
    assert first["error"]["type"] == "ValueError"
    assert first["error"]["frames"][-1].startswith("test_logs.py:")
    assert (second["error"]["kind"], second["error"]["message"]) == ("store_unavailable", "the store does not answer")
    assert (
        third["error"]["message"]
        == f"user {user_hash(UserId('ann@example.org'))[:12]} has no memory; nothing was changed"
    )


def test_text_lines(capsys: pytest.CaptureFixture[str], lines: Lines) -> None:
    """For people: one line, fields in brackets; to whatever is stderr by then."""
    configure("text", "info")
    with bound(user="abc"):
        logging.getLogger("memforest").info("left")
        logging.getLogger("memforest").debug("not shown")
    out, err = capsys.readouterr()
    assert out == ""
    assert err.rstrip().endswith("info memforest: left (user=abc)")
    assert len(err.splitlines()) == 1


class _Broken(RuleExtractor):
    """An extractor that fails with what it was given in its message, as libraries do."""

    async def extract(self, cells: Any) -> Any:
        raise ValueError(f"cannot extract {cells}")


@pytest.mark.parametrize("extractor", [RuleExtractor(), _Broken()], ids=["sound", "broken"])
async def test_no_dialogue_and_no_key_in_logs(
    lines: Lines, monkeypatch: pytest.MonkeyPatch, extractor: RuleExtractor
) -> None:
    """A whole life of a memory, with and without failures, at every level: neither what was said nor who said it."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    user = UserId("ann@example.org")
    models = Models(extractor, SelectionSummarizer(), HashEmbedder())
    driver = ForestDriver(user, MemoryStore("logs"), models, Settings(), SystemClock(), SystemRandom())
    session = Session(id="s1", turns=[Turn(f"My word is {SECRET} and I moved to Turin.", speaker="Ann")])

    async def call(verb: str, op_id: str | None = None, **arguments: Any) -> None:
        try:
            await driver.call(verb, arguments, op_id=None if op_id is None else OpId(op_id), seen=0)
        except (ValueError, MemForestError):
            logging.getLogger("memforest").exception("the call failed")

    with bound(user=user_hash(user)[:12]):
        await call("ingest", "op-1", session=session)
        await call("query", request=QueryRequest(f"What is {SECRET}?"))
        await call("ask", request=QueryRequest(f"What is {SECRET}?"))
        await call("forget", "op-2", session="s1")
        await call("forget", "op-3", session="s1")
        logging.getLogger("memforest").info("at the end")
        await driver.close()
    text = json.dumps(lines())
    assert lines()[-1]["message"] == "at the end" or "at the end" in text
    assert [word for word in (SECRET, KEY, "Turin", "ann@example.org") if word in text] == []
