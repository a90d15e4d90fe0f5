"""Shares: what one owner leaves to others, told and seen in virtual time."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.models.permits import Permits
from memforest_ray.models.shares import Shares
from memforest_ray.testing.clock import ManualClock, SeededRandom
from memforest_ray.testing.loop import SeededLoop

T = TypeVar("T")

ONE = ("a",)
LIMIT = 64
ANSWER_S = 10.0
SUMMARY_S = 3.0


def test_who_is_alone_has_everything() -> None:
    """All of the limit, and not one more."""
    shares = Shares()
    for _ in range(LIMIT):
        assert shares.lets_in("big", LIMIT, 100, 0.0)
        shares.take("big", 0.0)
    assert not shares.lets_in("big", LIMIT, 100, 0.0)


def test_as_much_stays_free_as_others_have_used() -> None:
    """At once, up to the half, for one window and the next."""
    shares = Shares()
    for _ in range(3):
        shares.take("big", 1.0)
    for _ in range(2):
        shares.take("small", 1.0)
    shares.give_back("small")
    shares.give_back("small")

    def most(now: float) -> int:
        probe = [shares.lets_in("big", limit, 0, now) for limit in range(1, 20)]
        return probe.index(True) + 1

    # Three are held; with two left to others the limit has to be six, and four as soon as others are forgotten.
    assert [most(now) for now in (1.0, 9.9, 10.1, 19.9, 20.2, 60.0)] == [6, 6, 6, 6, 4, 4]


def test_never_more_than_the_half_stays_free() -> None:
    """Many small owners together do not push a large one aside: turns see to the rest."""
    shares = Shares()
    for number in range(40):
        shares.take(f"small{number}", 0.0)
    for number in range(40):
        shares.give_back(f"small{number}")
    for _ in range(32):
        assert shares.lets_in("big", 64, 0, 1.0)
        shares.take("big", 1.0)
    assert not shares.lets_in("big", 64, 0, 1.0)


@pytest.mark.parametrize(("to_ask", "most"), [(511, 64), (512, 60)])
def test_who_fills_a_memory_from_its_past_leaves_something_to_newcomers(to_ask: int, most: int) -> None:
    """A sixteenth, where there is eight times the limit to ask."""
    shares = Shares()
    for held in range(most):
        assert shares.lets_in("big", 64, to_ask - held, 0.0)
        shares.take("big", 0.0)
    assert not shares.lets_in("big", 64, to_ask - most, 0.0)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 30)), max_size=60), st.integers(1, 40))
def test_there_is_always_one_place_for_who_has_none(calls: list[tuple[str, float]], limit: int) -> None:
    """Whatever others have done."""
    shares, now = Shares(), 0.0
    for owner, seconds in calls:
        now += seconds
        shares.take(owner, now)
    assert shares.lets_in("d", limit, 0, now)


# ---- in virtual time ----------------------------------------------------------------------------------------


def in_virtual_time(run: Callable[[Permits, ManualClock], Coroutine[Any, Any, T]], limit: int) -> T:
    """Run with permits on a loop whose time passes when everybody waits."""
    clock = ManualClock()
    loop = SeededLoop(1, clock)
    try:
        return loop.run_until_complete(run(Permits({"a": limit}, clock, SeededRandom(1)), clock))
    finally:
        loop.close()


async def call(permits: Permits, owner: str, seconds: float) -> None:
    async with permits.take(ONE, owner=owner):
        await asyncio.sleep(seconds)


async def session(permits: Permits, clock: ManualClock, owner: str, cells: int) -> float:
    """One write: its cells at once, then two levels of summaries, one after the other; how long it took."""
    began = clock.elapsed()
    await asyncio.gather(*(call(permits, owner, ANSWER_S) for _ in range(cells)))
    for summaries in (cells // 4, 1):
        await asyncio.gather(*(call(permits, owner, SUMMARY_S) for _ in range(summaries)))
    return clock.elapsed() - began


def sessions(cells: int, bulk: int, after_s: float = 2.0) -> float:
    """The slowest of nine owners with a session each, who come after one with so many calls."""

    async def run(permits: Permits, clock: ManualClock) -> float:
        filling = asyncio.gather(*(call(permits, "big", ANSWER_S) for _ in range(bulk)))
        await asyncio.sleep(after_s)
        times = await asyncio.gather(*(session(permits, clock, f"u{number}", cells) for number in range(9)))
        filling.cancel()
        await asyncio.gather(filling, return_exceptions=True)
        return max(times)

    return in_virtual_time(run, 256)


def test_nine_users_beside_one_who_fills_a_memory_end_within_twice_their_time() -> None:
    """They wait for the first wave of answers, since nobody was there before, and for none after it."""
    alone, beside = sessions(20, 0), sessions(20, 2500)
    assert (alone, beside) == (ANSWER_S + 2 * SUMMARY_S, 8 + ANSWER_S + 2 * SUMMARY_S)
    assert beside < 2 * alone


def test_who_has_little_to_ask_finds_room_at_once() -> None:
    """Nine with one turn each, while thousands of calls of another are under way and wait."""
    assert sessions(1, 2500, after_s=12.0) == sessions(1, 0)


def test_who_comes_again_finds_the_room_that_was_used() -> None:
    """One after the other: the second session waits for nobody, though the large owner always has more to do."""

    async def run(permits: Permits, clock: ManualClock) -> list[float]:
        filling = asyncio.gather(*(call(permits, "big", ANSWER_S) for _ in range(600)))
        await asyncio.sleep(2)
        times = [await session(permits, clock, "u", 20) for _ in range(3)]
        filling.cancel()
        await asyncio.gather(filling, return_exceptions=True)
        return times

    whole = ANSWER_S + 2 * SUMMARY_S
    assert in_virtual_time(run, 64) == [8 + whole, whole, whole]


def test_who_is_left_alone_has_everything_again() -> None:
    """Two side by side have half each; some seconds after one has ended the other one has all."""

    async def run(permits: Permits, clock: ManualClock) -> list[int]:
        calls = [call(permits, owner, 4.0) for owner, number in (("big", 400), ("other", 96)) for _ in range(number)]
        asking = asyncio.gather(*calls)
        await asyncio.sleep(2)
        held = [permits.in_flight("a")]
        for _ in range(9):
            await asyncio.sleep(4)
            held.append(permits.in_flight("a"))
        await asking
        return held

    assert in_virtual_time(run, 64) == [64, 64, 64, 64, 32, 32, 32, 32, 32, 64]
