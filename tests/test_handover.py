"""Coroutines that begin where they are made, and move to a loop."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from memforest_ray.handover import begun_here, on_a_loop, rest_of, to_the_loop


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    """A loop that runs in another thread."""
    made = asyncio.new_event_loop()
    thread = threading.Thread(target=made.run_forever)
    thread.start()
    yield made
    made.call_soon_threadsafe(made.stop)
    thread.join()
    made.close()


async def _thread() -> threading.Thread:
    return threading.current_thread()


async def _threads() -> list[threading.Thread]:
    """Where it is, before and after it asked for a loop, twice."""
    places = [await _thread()]
    for _ in range(2):
        await to_the_loop()
        await asyncio.sleep(0)
        places.append(await _thread())
    return places


def test_what_needs_no_loop_is_done_here() -> None:
    """In this thread, whole."""
    assert begun_here(_thread()) == (threading.current_thread(),)


def test_nothing_is_an_answer() -> None:
    """None is told from "not yet"."""

    async def nothing() -> None:
        """Gives nothing."""

    assert begun_here(nothing()) == (None,)


def test_what_needs_a_loop_moves_to_it(loop: asyncio.AbstractEventLoop) -> None:
    """What has been done is not done again, and it stays there."""
    work = _threads()
    assert begun_here(work) is None
    here, there, still = asyncio.run_coroutine_threadsafe(rest_of(work), loop).result()
    assert here is threading.current_thread()
    assert there is still is not here


async def test_on_a_loop_nothing_moves() -> None:
    """Who is there already stays, without a turn of it."""
    assert on_a_loop()
    assert begun_here(to_the_loop()) == (None,)
    assert set(await _threads()) == {threading.current_thread()}


def test_off_a_loop() -> None:
    """A plain thread has none."""
    assert not on_a_loop()


def test_an_error_is_raised_where_it_comes_up(loop: asyncio.AbstractEventLoop) -> None:
    """Here, or on the loop."""

    async def fail(moves: bool) -> None:
        if moves:
            await to_the_loop()
        raise KeyError(moves)

    with pytest.raises(KeyError, match="False"):
        begun_here(fail(False))
    work = fail(True)
    assert begun_here(work) is None
    with pytest.raises(KeyError, match="True"):
        asyncio.run_coroutine_threadsafe(rest_of(work), loop).result()


def test_one_that_is_given_up_cleans_up() -> None:
    """Whoever does not go on with it closes it."""
    left: list[bool] = []

    async def wait() -> None:
        try:
            await to_the_loop()
        finally:
            left.append(on_a_loop())

    work = wait()
    assert begun_here(work) is None
    work.close()
    assert left == [False]
