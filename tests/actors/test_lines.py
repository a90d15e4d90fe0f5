"""What an actor's process logs of its calls: who as a hash, which write, which version, how it ended."""

import asyncio
import gc
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memforest_actors import refs, user_forest
from memforest_actors.options import Components, ForestConfig
from memforest_actors.refs import Here
from memforest_actors.reply import unwrapped, wrapped
from memforest_actors.user_forest import UserForestActor
from memforest_ray.config import Settings
from memforest_ray.errors import SessionConflict
from memforest_ray.ids import OpId, UserId, user_hash
from memforest_ray.logs import configure

SECRET = "HERON-7"


@dataclass(frozen=True)
class _Answer:
    version: int


class _Driver:
    """Writes one, refuses the other."""

    waiting = (0, 0)

    async def call(self, verb: str, arguments: dict[str, Any], *, op_id: OpId | None, seen: int) -> Any:
        if op_id == "op-2":
            raise SessionConflict("other turns are stored under this id")
        return _Answer(7)

    async def close(self) -> None:
        """Nothing is held."""


def open_driver(*_: Any) -> _Driver:
    return _Driver()


@pytest.fixture
def actor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[UserForestActor]:
    """One without a cluster."""

    async def nothing(*_: Any) -> None:
        return None

    monkeypatch.setattr(refs, "notify", nothing)
    monkeypatch.setattr(refs, "whereabouts", lambda: Here("node"))
    monkeypatch.setattr(user_forest, "open_models", nothing)
    monkeypatch.setattr(user_forest, "COUNTED_AFTER_S", 0)
    settings = Settings(store=f"file://{tmp_path}", log_format="json", log_level="info")
    components = Components(driver="tests.actors.test_lines:open_driver")
    yield UserForestActor(ForestConfig("uf-1", UserId("ann@example.org"), settings, components))
    configure("text", "warning")
    gc.unfreeze()


async def _ended() -> None:
    """What the actor does beside its calls."""
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()


async def _counted(actor: UserForestActor) -> None:
    """A question, and the turns of the loop after its answer."""
    await actor.call("query", {"request": SECRET}, None, 0)
    for _ in range(2):
        await asyncio.sleep(0)


async def test_calls_are_told(actor: UserForestActor, capsys: pytest.CaptureFixture[str]) -> None:
    """One JSON line a call, in the actor's log; what was said stands in none."""
    await actor.call("ingest", {"session": SECRET}, OpId("op-1"), 0)
    await actor.call("ingest", {"session": SECRET}, OpId("op-2"), 0)
    await actor.call("query", {"request": SECRET}, None, 0)
    err = capsys.readouterr().err
    lines = [json.loads(line) for line in err.splitlines() if line.startswith("{")]
    told = [(line["verb"], line.get("op_id"), line["version"], line["message"]) for line in lines]
    assert told == [
        ("ingest", "op-1", 7, "answered: ok"),
        ("ingest", "op-2", None, "answered: session_conflict"),
        ("query", None, 7, "answered: ok"),
    ]
    assert {line["user"] for line in lines} == {user_hash(UserId("ann@example.org"))[:12]}
    assert SECRET not in err
    await _ended()


async def test_a_wrapped_call_has_a_wrapped_reply(actor: UserForestActor) -> None:
    """Bytes in, bytes out; an error of ours is a reply, too."""
    reply = unwrapped(await actor.answer(wrapped(("call", ("ingest", {"session": SECRET}, OpId("op-1"), 0)))))
    assert reply == ("ok", _Answer(7))
    kind, error = unwrapped(await actor.answer(wrapped(("call", ("ingest", {"session": SECRET}, OpId("op-2"), 0)))))
    assert (kind, str(error)) == ("error", "other turns are stored under this id")
    await _ended()


async def test_what_is_open_is_frozen_once(actor: UserForestActor) -> None:
    """After the first answer, when the forest stands: no collection looks through it. What comes later is young."""
    gc.unfreeze()
    assert gc.get_freeze_count() == 0
    await _counted(actor)
    assert gc.get_freeze_count() > 0
    gc.unfreeze()
    await _counted(actor)
    assert gc.get_freeze_count() == 0
    await _ended()
