"""The seeded event loop: one order for one seed, and deaths that nobody survives."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.clock import ManualClock
from memforest_ray.testing.loop import Rates, SeededLoop
from memforest_ray.testing.store import FaultyStore, contents


def _run(loop: SeededLoop, main: Callable[[], Awaitable[None]]) -> None:
    async def _main() -> None:
        await main()

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(_main())


def _walked(seed: int, rates: Rates | None = None) -> tuple[list[str], SeededLoop]:
    """Three processes of two tasks, each of which calls the store and a thread in turn."""
    loop = SeededLoop(seed, ManualClock(), rates)
    seen: list[str] = []

    async def walk(name: str) -> None:
        store = FaultyStore(MemoryStore(), turn=loop.turn)
        for _ in range(4):
            await store.delete("x")
            await asyncio.to_thread(seen.append, name)

    async def process(name: str) -> None:
        await asyncio.gather(walk(f"{name}1"), walk(f"{name}2"))

    async def main() -> None:
        await asyncio.wait([loop.spawn(name, process(name)) for name in "abc"])

    _run(loop, main)
    return seen, loop


def test_a_seed_is_an_order() -> None:
    """The same seed the same order, another seed another; nobody is left out, whatever stalls."""
    assert _walked(1)[0] == _walked(1)[0]
    assert len({tuple(_walked(seed)[0]) for seed in range(8)}) == 8
    seen, loop = _walked(3, Rates(stall=0.2, stall_turns=9))
    assert sorted(seen) == sorted([f"{name}{task}" for name in "abc" for task in "12"] * 4)
    assert loop.happened["stall"] > 0


def test_of_a_dead_process_nothing_happens_any_more() -> None:
    """Neither in its store nor in a thread, though its tasks try it while they end; the others go on."""
    loop = SeededLoop(1, ManualClock())
    store = MemoryStore()
    heard: list[str] = []

    async def live(name: str) -> None:
        faulty = FaultyStore(store, turn=loop.turn)
        try:
            await faulty.create(f"{name} begins", b"")
            if name == "dead":
                loop.kill("dead")
            await faulty.create(f"{name} goes on", b"")
        finally:
            for act in (faulty.create(f"{name} ends", b""), asyncio.to_thread(heard.append, name)):
                try:
                    await act
                except asyncio.CancelledError:
                    heard.append(f"{name} is refused")

    async def main() -> None:
        tasks = [loop.spawn(name, live(name)) for name in ("dead", "well")]
        await asyncio.wait(tasks)
        assert [task.cancelled() for task in tasks] == [True, False]
        assert sorted(await contents(store)) == ["dead begins", "well begins", "well ends", "well goes on"]

    _run(loop, main)
    assert sorted(heard) == ["dead is refused", "dead is refused", "well"]


def test_time_passes_only_when_nobody_can_run() -> None:
    """A sleep of a day takes no time at all, and timers come in their order."""
    clock = ManualClock()
    loop = SeededLoop(1, clock)

    async def main() -> None:
        began = clock.now_ms()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(86_400):
                await asyncio.sleep(1e9)
        assert clock.now_ms() - began == pytest.approx(86_400_000, abs=1)

    _run(loop, main)


def test_what_will_never_happen_is_said() -> None:
    """Everybody waits for what nobody does: a deadlock, and not a test that hangs."""

    async def main() -> None:
        await asyncio.get_running_loop().create_future()

    with pytest.raises(AssertionError, match="will never happen"):
        _run(SeededLoop(1, ManualClock()), main)


def test_errors_come_out_of_a_thread() -> None:
    """As they do out of a real one."""

    async def main() -> None:
        with pytest.raises(ZeroDivisionError):
            await asyncio.to_thread(lambda: 1 // 0)

    _run(SeededLoop(1, ManualClock()), main)
