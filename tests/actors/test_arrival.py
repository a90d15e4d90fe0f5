"""Answers that another thread brings, without Ray."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from ray.exceptions import ActorDiedError, RayTaskError

from memforest_actors.arrival import Arrival


class _Sent:
    """A call whose answer comes when it is told to."""

    come: Callable[[Any], None]

    def _on_completed(self, come: Callable[[Any], None]) -> None:
        self.come = come


def _made() -> tuple[Any, Arrival]:
    sent: Any = _Sent()
    return sent, Arrival(sent)


def _from_another_thread(sent: Any, found: Any) -> threading.Thread:
    thread = threading.Thread(target=sent.come, args=(found,))
    thread.start()
    return thread


def test_a_thread_blocks_until_it_is_there() -> None:
    """And does not when it is; twice is fine."""
    sent, arrival = _made()
    assert not arrival.within(0)
    thread = _from_another_thread(sent, b"x")
    assert arrival.within(60)
    assert arrival.within(0)
    assert arrival.answer() == b"x"
    thread.join()


async def test_a_loop_goes_on_until_it_is_there() -> None:
    """It is woken by the other thread."""
    sent, arrival = _made()
    waiting = asyncio.ensure_future(arrival.awaited())
    await asyncio.sleep(0)
    assert not waiting.done()
    thread = _from_another_thread(sent, b"x")
    assert await waiting == b"x"
    thread.join()


@pytest.mark.parametrize("before", [True, False])
async def test_it_may_come_between_the_two(before: bool) -> None:
    """After the thread has given up, before the loop waits: nothing is missed."""
    sent, arrival = _made()
    if before:
        assert not arrival.within(0)
    sent.come(None)
    assert await arrival.awaited() is None


def _failed() -> RayTaskError:
    return RayTaskError("answer", "its trace", KeyError("x"))  # type: ignore[no-untyped-call]  # Ray's own signature


@pytest.mark.parametrize(("found", "raised"), [(_failed(), KeyError), (ActorDiedError(), ActorDiedError)])
async def test_errors(found: Exception, raised: type[Exception]) -> None:
    """What the actor raised is that, what Ray says is Ray's."""
    sent, arrival = _made()
    sent.come(found)
    assert arrival.within(0)
    with pytest.raises(raised):
        arrival.answer()
    with pytest.raises(raised):
        await arrival.awaited()


async def test_an_error_is_a_value_where_it_is_one() -> None:
    """Only what Ray wraps is raised."""
    sent, arrival = _made()
    error = KeyError("told, not raised")
    sent.come(error)
    assert await arrival.awaited() is error


async def test_nobody_waits_any_more() -> None:
    """A late answer to one who has given up is nothing."""
    sent, arrival = _made()
    waiting = asyncio.ensure_future(arrival.awaited())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    sent.come(b"x")
    await asyncio.sleep(0)


def test_the_loop_is_closed_meanwhile() -> None:
    """As when a program ends with a call under way."""
    sent, arrival = _made()

    async def give_up() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await arrival.awaited()

    asyncio.run(give_up())
    sent.come(b"x")
    assert arrival.answer() == b"x"
