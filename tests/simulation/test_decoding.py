"""Latencies of the simulated server: against a step by step count, and against what was measured."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.simulation.decoding import ClockedDecoder, PrefixCache, SharedDecoder, Speed

SPEED = Speed()


def run(decoder: SharedDecoder | ClockedDecoder, now: float = 0.0) -> dict[int, float]:
    """When each sequence ends, if nothing else begins."""
    ended: dict[int, float] = {}
    while (delay := decoder.next_in()) is not None:
        now += delay
        ended.update(dict.fromkeys(decoder.finished(now), now))
    return ended


def test_one_sequence() -> None:
    """A request, its prompt, then a step for each token."""
    decoder = SharedDecoder(SPEED)
    decoder.add(1, 0.0, prompt=100, context=100, tokens=50)
    expected = SPEED.request_s + 100 * SPEED.prompt_s + 50 * SPEED.step(1, 125)
    assert run(decoder) == {1: pytest.approx(expected)}


@given(st.lists(st.integers(1, 40), min_size=1, max_size=12))
def test_sequences_share_their_steps(lengths: list[int]) -> None:
    """The same as counting the steps of all of them one by one."""
    decoder = SharedDecoder(Speed(request_s=0.0, prompt_s=0.0))
    for key, tokens in enumerate(lengths):
        decoder.add(key, 0.0, prompt=0, context=10, tokens=tokens)
    left = dict(enumerate(lengths))
    expected: dict[int, float] = {}
    now = 0.0
    while left:
        context = sum(10 + lengths[key] // 2 for key in left)
        now += SPEED.step(len(left), context)
        left = {key: tokens - 1 for key, tokens in left.items()}
        expected.update({key: now for key, tokens in left.items() if tokens == 0})
        left = {key: tokens for key, tokens in left.items() if tokens}
    assert run(decoder) == pytest.approx(expected)


def test_who_comes_later_slows_those_who_are_there() -> None:
    """By its prompt, and by making every step longer."""
    alone, joined = SharedDecoder(SPEED), SharedDecoder(SPEED)
    for decoder in (alone, joined):
        decoder.add(1, 0.0, prompt=0, context=100, tokens=100)
    joined.add(2, 0.2, prompt=1_000, context=1_000, tokens=10)
    assert run(joined)[1] > run(alone)[1] + 1_000 * SPEED.prompt_s


def test_who_leaves_lets_the_others_go_on_faster() -> None:
    """And is not told to have ended."""
    decoder = SharedDecoder(SPEED)
    for key in (1, 2):
        decoder.add(key, 0.0, prompt=0, context=0, tokens=100)
    decoder.drop(2, 0.1)
    decoder.drop(2, 0.1)
    ended = run(decoder, 0.1)
    assert ended.keys() == {1}
    assert ended[1] < 100 * SPEED.step(2, 100)


@pytest.mark.parametrize(
    ("in_flight", "measured_s"), [(1, 0.91), (8, 1.95), (32, 3.41), (64, 4.05), (128, 5.07), (256, 7.45)]
)
def test_the_default_speed_is_that_of_a_real_server(in_flight: int, measured_s: float) -> None:
    """700 tokens in, 450 of them held, 200 out, on one H200: within a quarter of what was measured."""
    decoder = SharedDecoder(SPEED)
    for key in range(in_flight):
        decoder.add(key, 0.0, prompt=250, context=700, tokens=200)
    ended = run(decoder)
    mean = sum(ended.values()) / len(ended)
    assert 0.75 < mean / measured_s < 1.25


def test_a_slower_machine_is_slower_in_everything() -> None:
    """By its factor."""
    for speed, factor in ((SPEED, 1), (SPEED.times(3), 3)):
        decoder = SharedDecoder(speed)
        decoder.add(1, 0.0, prompt=10, context=10, tokens=10)
        assert run(decoder)[1] == pytest.approx(factor * (0.012 + 10 * 21.6e-6 + 10 * SPEED.step(1, 15)))


def test_a_constant_latency_knows_no_load() -> None:
    """However many, however long."""
    decoder = ClockedDecoder(2.0)
    for key in range(50):
        decoder.add(key, key * 0.01, prompt=key, context=0, tokens=1_000)
    decoder.drop(7, 0.5)
    assert run(decoder, 0.5) == {key: pytest.approx(2.0 + key * 0.01) for key in range(50) if key != 7}


def test_beginnings_are_held_in_blocks() -> None:
    """What two prompts share from their start on; nothing behind the first difference."""
    cache = PrefixCache()
    assert cache.read("a" * 200) == 0
    assert cache.read("a" * 200) == 192
    assert cache.read("a" * 100 + "b" * 100) == 64
    assert cache.read("b" + "a" * 199) == 0


def test_a_full_cache_forgets_the_longest_unused() -> None:
    """Block by block."""
    cache = PrefixCache(blocks_max=3)
    for text in ("a" * 64, "b" * 64, "c" * 64, "a" * 64, "d" * 64):
        cache.read(text)
    assert [cache.read(letter * 64) for letter in "acdb"] == [64, 64, 64, 0]
