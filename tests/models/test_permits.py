"""Permits: limits that fall and rise, turns, and endpoints that sit out. No time passes but what the test lets pass."""

import asyncio
from collections import Counter
from contextlib import AbstractAsyncContextManager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.errors import LLMUnavailable, Overloaded
from memforest_ray.models.permits import Permit, Permits
from memforest_ray.testing.clock import ManualClock, SeededRandom

ONE = ("a",)


class World:
    """Permits whose sleeps end when the clock has been moved far enough."""

    def __init__(self, limits: dict[str, int], **more: int | float) -> None:
        self.clock = ManualClock()
        self.permits = Permits(limits, self.clock, SeededRandom(1), sleep=self._sleep, **more)  # type: ignore[arg-type]
        self._sleepers: list[tuple[float, asyncio.Event]] = []

    async def _sleep(self, seconds: float) -> None:
        woken = asyncio.Event()
        self._sleepers.append((self.clock.elapsed() + seconds, woken))
        await woken.wait()

    async def advance(self, seconds: float) -> None:
        self.clock.advance(seconds)
        for at, woken in self._sleepers:
            if at <= self.clock.elapsed() + 1e-9:
                woken.set()
        await settle()

    async def call(self, trouble: str = "", rest_s: float = 0.0, endpoints: tuple[str, ...] = ONE) -> str:
        """A call that ends at once."""
        async with self.permits.take(endpoints) as permit:
            permit.overloaded = trouble == "overloaded"
            permit.failed = trouble == "failed"
            permit.rest_s = rest_s
            return permit.endpoint

    async def round(self, calls: int, refused: int = 0) -> None:
        """So many calls at once, the last of which are turned away; a second passes."""
        self.clock.advance(1.0)
        inside = asyncio.Barrier(calls)

        async def call(number: int) -> None:
            async with self.permits.take(ONE) as permit:
                await inside.wait()
                permit.overloaded = number >= calls - refused

        await asyncio.gather(*map(call, range(calls)))


async def settle() -> None:
    """Let every task run until it waits."""
    for _ in range(20):
        await asyncio.sleep(0)


class Held:
    """Calls that last until they are told to end; `order` tells who was let in, and when."""

    def __init__(self, permits: Permits) -> None:
        self._permits = permits
        self._ends: dict[str, asyncio.Event] = {}
        self.order: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []

    def begin(
        self, name: str, owner: str = "", *, urgent: bool = False, after: str = "", endpoints: tuple[str, ...] = ONE
    ) -> None:
        self._ends[name] = asyncio.Event()
        taking = self._permits.take(endpoints, owner=owner, urgent=urgent, after=after)
        self.tasks.append(asyncio.create_task(self._run(name, taking)))

    async def _run(self, name: str, taking: AbstractAsyncContextManager[Permit]) -> None:
        async with taking:
            self.order.append(name)
            await self._ends[name].wait()

    async def end(self, name: str) -> None:
        self._ends[name].set()
        await settle()

    async def drain(self) -> None:
        """End each that is in, until none is left."""
        while any(not task.done() for task in self.tasks):
            for name in list(self.order):
                await self.end(name)


async def test_no_more_than_the_limit_are_in_flight() -> None:
    """The third waits until one of two has ended."""
    world = World({"a": 2})
    held = Held(world.permits)
    for name in "xyz":
        held.begin(name)
    await settle()
    assert (held.order, world.permits.in_flight("a"), world.permits.waiting) == (["x", "y"], 2, 1)
    await held.end("x")
    assert (held.order, world.permits.waiting) == (["x", "y", "z"], 0)
    await held.drain()


async def test_owners_take_turns() -> None:
    """Who asks for a hundred calls does not hold up who asks for one."""
    world = World({"a": 1})
    held = Held(world.permits)
    for number in range(6):
        held.begin(f"big{number}", "big")
    held.begin("small0", "small")
    held.begin("tiny0", "tiny")
    await settle()
    await held.drain()
    assert held.order[:4] == ["big0", "big1", "small0", "tiny0"]


async def test_urgent_goes_before_bulk() -> None:
    """Whoever waits for an answer is next."""
    world = World({"a": 1})
    held = Held(world.permits)
    for name in ("b0", "b1", "b2"):
        held.begin(name, "bulk")
    held.begin("u", "asker", urgent=True)
    await settle()
    await held.drain()
    assert held.order == ["b0", "u", "b1", "b2"]


async def test_the_least_busy_endpoint_is_taken() -> None:
    """By the share of its limit that is in use."""
    world = World({"a": 2, "b": 8})
    both = ("a", "b")
    held = Held(world.permits)
    for number in range(5):
        held.begin(str(number), endpoints=both)
    await settle()
    assert (world.permits.in_flight("a"), world.permits.in_flight("b")) == (1, 4)
    await held.drain()


async def test_what_has_failed_somewhere_is_tried_elsewhere_and_first() -> None:
    """Where there is another endpoint; before what its owner has not tried yet, and before nobody else."""
    world = World({"a": 1, "b": 1})
    both = ("a", "b")
    async with world.permits.take(both, after="a") as permit:
        assert permit.endpoint == "b"
    async with world.permits.take(ONE, after="a") as permit:
        assert permit.endpoint == "a"
    held = Held(world.permits)
    for name in ("x0", "x1", "x2", "y0"):
        held.begin(name, name[0])
    held.begin("again", "x", after="a")
    await settle()
    await held.drain()
    assert held.order == ["x0", "again", "y0", "x1", "x2"]


async def test_roles_with_endpoints_of_their_own_do_not_wait_for_each_other() -> None:
    """A full endpoint holds up only who wants it."""
    world = World({"a": 1, "b": 1})
    held = Held(world.permits)
    held.begin("x", endpoints=("a",))
    held.begin("y", endpoints=("a",))
    held.begin("z", endpoints=("b",))
    await settle()
    assert held.order == ["x", "z"]
    await held.drain()


async def test_a_limit_falls_to_what_was_let_in_and_rises_again() -> None:
    """Once for one round: calls that began before the fall tell nothing new. Up to where it began."""
    world = World({"a": 100})
    await world.round(100, refused=60)
    assert world.permits.limit("a") == 40
    for _ in range(40):
        await world.round(world.permits.limit("a"))
    assert world.permits.limit("a") == 100


async def test_a_limit_does_not_fall_by_much_more_than_half_at_once() -> None:
    """All calls turned away may be a moment's trouble."""
    world = World({"a": 100})
    await world.round(100, refused=100)
    assert world.permits.limit("a") == 30


async def test_now_and_then_a_refusal_is_no_overload() -> None:
    """One in ten, at random: the limit stays."""
    world = World({"a": 32})
    for _ in range(20):
        await world.round(32, refused=3)
    assert world.permits.limit("a") == 32


async def test_a_limit_settles_where_the_server_is_full() -> None:
    """A server with room for 20, and nobody says so."""
    world = World({"a": 256})
    limits = []
    for _ in range(60):
        calls = world.permits.limit("a")
        await world.round(calls, refused=max(0, calls - 20))
        limits.append(world.permits.limit("a"))
    assert 18 <= min(limits[20:]) <= max(limits[20:]) <= 32


async def test_a_limit_that_nobody_reaches_stays() -> None:
    """Success with few calls in flight says nothing about a hundred."""
    world = World({"a": 100})
    await world.round(100, refused=60)
    for _ in range(50):
        await world.round(5)
    assert world.permits.limit("a") == 40


async def test_a_round_of_few_calls_says_little() -> None:
    """Two of three turned away: that can be chance."""
    world = World({"a": 100})
    await world.round(3, refused=2)
    assert world.permits.limit("a") == 100


async def test_there_is_always_one_permit() -> None:
    """However often an endpoint turns calls away."""
    world = World({"a": 4})
    for _ in range(100):
        await world.round(1, refused=1)
    assert world.permits.limit("a") == 1


async def test_an_endpoint_rests_as_long_as_it_asked_to() -> None:
    """Nobody calls it before; a minute is the most."""
    world = World({"a": 4})
    await world.call("overloaded", rest_s=5.0)
    waiting = asyncio.create_task(world.call())
    await world.advance(4.9)
    assert not waiting.done()
    await world.advance(0.2)
    assert waiting.done()
    await world.call("overloaded", rest_s=10_000.0)
    waiting = asyncio.create_task(world.call())
    await settle()
    await world.advance(60.1)
    assert waiting.done()


async def test_nothing_is_left_running() -> None:
    """The alarm of an endpoint that rests ends with the permits."""
    world = World({"a": 4})
    await world.call("overloaded", rest_s=50.0)
    waiting = asyncio.create_task(world.call())
    await settle()
    waiting.cancel()
    world.permits.close()
    world.permits.close()
    await settle()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_dead_endpoint_sits_out_and_is_probed() -> None:
    """Eight failures in a row; then one call a time, later each time, until one succeeds."""
    world = World({"a": 4, "b": 4})
    for _ in range(8):
        await world.call("failed")
    assert world.permits.dead("a")
    assert [await world.call(endpoints=("a", "b")) for _ in range(6)] == ["b"] * 6
    await world.advance(1.3)
    assert await world.call("failed", endpoints=("a", "b")) == "a"
    assert [await world.call(endpoints=("a", "b")) for _ in range(3)] == ["b"] * 3
    await world.advance(2.5)
    held = Held(world.permits)
    held.begin("probe", endpoints=("a", "b"))
    held.begin("other", endpoints=("a", "b"))
    await settle()
    assert (world.permits.in_flight("a"), world.permits.in_flight("b")) == (1, 1)
    await held.drain()
    assert not world.permits.dead("a")


async def test_failures_between_successes_are_no_death() -> None:
    """One in ten fails: that is weather."""
    world = World({"a": 4})
    for number in range(100):
        await world.call("failed" if number % 3 else "")
    assert not world.permits.dead("a")


async def test_nobody_waits_for_ever_for_the_dead() -> None:
    """Some are sent to see whether it lives; when it has been dead for so long, the others are told."""
    world = World({"a": 4}, give_up_s=20.0)
    for _ in range(8):
        await world.call("failed")
    calls = [asyncio.create_task(world.call("failed")) for _ in range(6)]
    await settle()
    for _ in range(41):
        await world.advance(0.5)
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert outcomes[:4] == ["a"] * 4
    assert [str(each) for each in outcomes[4:]] == ["no answer from a for 20 s; call again when it is up"] * 2
    assert all(isinstance(each, LLMUnavailable) for each in outcomes[4:])


async def test_a_full_queue_turns_calls_away() -> None:
    """With when to come again; nothing was sent."""
    world = World({"a": 1}, waiting_max=2)
    held = Held(world.permits)
    for name in "xyz":
        held.begin(name)
    await settle()
    with pytest.raises(Overloaded) as caught:
        await world.call()
    assert caught.value.retry_after == 5.0
    await held.drain()


async def test_who_is_cancelled_leaves_no_hole() -> None:
    """A waiter that goes away gives up its place, a caller its permit."""
    world = World({"a": 1})
    held = Held(world.permits)
    for name in "xyz":
        held.begin(name)
    await settle()
    held.tasks[1].cancel()
    held.tasks[0].cancel()
    await settle()
    assert held.order == ["x", "z"]
    await held.end("z")
    assert (world.permits.in_flight("a"), world.permits.waiting) == (0, 0)


async def test_who_has_gone_away_takes_no_place_in_the_queue() -> None:
    """Others may come in their stead, before an endpoint is free."""
    world = World({"a": 1}, waiting_max=1)
    held = Held(world.permits)
    held.begin("x")
    held.begin("y")
    await settle()
    held.tasks[1].cancel()
    await settle()
    assert world.permits.waiting == 0
    held.begin("z")
    await settle()
    assert world.permits.waiting == 1
    await held.end("x")
    await held.end("z")
    assert (held.order, world.permits.waiting, world.permits.in_flight("a")) == (["x", "z"], 0, 0)


async def test_a_permit_granted_to_one_who_is_cancelled_is_not_lost() -> None:
    """Both in the same turn of the loop."""
    world = World({"a": 1})
    held = Held(world.permits)
    held.begin("x")
    held.begin("y")
    held.begin("z")
    await settle()
    held._ends["x"].set()
    held.tasks[0].add_done_callback(lambda _: held.tasks[1].cancel())
    await settle()
    assert "z" in held.order
    await held.end("z")
    await held.end("y")
    assert world.permits.in_flight("a") == 0


@given(st.lists(st.tuples(st.sampled_from("pqr"), st.booleans()), min_size=1, max_size=40), st.integers(1, 5))
def test_all_are_served_once_and_never_too_many_at_once(calls: list[tuple[str, bool]], limit: int) -> None:
    """Whatever the owners and their urgency."""

    async def run() -> None:
        world = World({"a": limit})
        inside = 0
        most = 0
        served: Counter[str] = Counter()

        async def call(owner: str, urgent: bool) -> None:
            nonlocal inside, most
            async with world.permits.take(ONE, owner=owner, urgent=urgent):
                inside += 1
                most = max(most, inside)
                await asyncio.sleep(0)
                inside -= 1
                served[owner] += 1

        await asyncio.gather(*(call(owner, urgent) for owner, urgent in calls))
        assert served == Counter(owner for owner, _ in calls)
        assert most == min(limit, len(calls))
        assert world.permits.waiting == 0

    asyncio.run(run())
