"""References to actors, without Ray: who waits for an answer, and where."""

import asyncio
from collections.abc import Callable, Generator
from typing import Any

import pytest
from ray.exceptions import ActorDiedError

from memforest_actors.options import Patience
from memforest_actors.refs import ActorRef, Gone
from memforest_actors.reply import unwrapped, wrapped
from memforest_ray.errors import NotFound
from memforest_ray.handover import begun_here, rest_of

IMPATIENT = Patience(probe_s=0.0)


class _Handle:
    """An actor that answers at once, or when it is told to; probes it answers at once."""

    def __init__(self, reply: Any = None) -> None:
        self._reply = reply
        self.asked: list[Any] = []
        self.come: Callable[[Any], None] = lambda _: None

    def __getattr__(self, _: str) -> Any:
        return self

    def remote(self, *call: bytes) -> Any:
        self.asked += map(unwrapped, call)
        return self

    def __await__(self) -> Generator[None, None, int]:
        yield from ()
        return 7

    def _on_completed(self, come: Callable[[Any], None]) -> None:
        self.come = come
        if self._reply is not None:
            come(self._reply)


def _called(handle: Any, timeout_s: float = 60.0, patience: Patience = IMPATIENT) -> Any:
    return ActorRef("uf-1", handle).call("call", "query", 7, timeout_s=timeout_s, patience=patience)


def test_an_answer_that_comes_soon_needs_no_loop() -> None:
    """The thread that asked waits for it."""
    handle = _Handle(wrapped(("ok", "found")))
    assert begun_here(_called(handle)) == ("found",)
    assert handle.asked == [("call", ("query", 7))]


def test_errors_need_no_loop() -> None:
    """Ours, and an actor that is gone."""
    with pytest.raises(NotFound, match="nothing"):
        begun_here(_called(_Handle(wrapped(("error", NotFound("nothing"))))))
    with pytest.raises(Gone):
        begun_here(_called(_Handle(ActorDiedError())))


async def test_on_a_loop_it_is_awaited() -> None:
    """It may be there before, or come while it is waited for."""
    assert await _called(_Handle(wrapped(("ok", "found")))) == "found"
    late = _Handle()
    waiting = asyncio.ensure_future(_called(late, patience=Patience()))
    await asyncio.sleep(0)
    late.come(wrapped(("ok", "late")))
    assert await waiting == "late"


def test_an_answer_that_does_not_come_soon_is_awaited_on_a_loop() -> None:
    """Sent once, waited for in both places."""
    handle = _Handle()
    work = _called(handle, patience=Patience(probe_s=0.001))
    assert begun_here(work) is None

    async def answered() -> Any:
        rest = asyncio.ensure_future(rest_of(work))
        handle.come(wrapped(("ok", "late")))
        return await rest

    assert asyncio.run(answered()) == "late"
    assert len(handle.asked) == 1


def test_the_deadline_holds_in_both_places() -> None:
    """What was spent in the one is missing in the other."""
    work = _called(_Handle(), timeout_s=0.001, patience=Patience())
    assert begun_here(work) is None
    with pytest.raises(TimeoutError):
        asyncio.run(rest_of(work))


async def test_an_actor_that_is_there_is_waited_for_until_the_deadline() -> None:
    """However often it is probed meanwhile."""
    handle = _Handle()
    with pytest.raises(TimeoutError):
        await _called(handle, timeout_s=0.01, patience=IMPATIENT)
    assert handle.asked == [("call", ("query", 7))]
