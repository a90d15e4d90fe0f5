"""Few processes start at once, those that asked first before others."""

from hypothesis import given
from hypothesis import strategies as st

from memforest_actors.starts import Starts
from memforest_ray.testing.clock import ManualClock


def test_half_of_the_cores_start_processes() -> None:
    """At least one a node does; a cluster that names no cores has one."""
    starts = Starts(ManualClock())
    assert [starts.ask(name) for name in "ab"] == [True, False]
    starts.fit([8, 1])
    assert [starts.ask(name) for name in "bcdefg"] == [True] * 4 + [False] * 2


def test_whoever_asked_first_is_next() -> None:
    """Asking again neither loses nor gains a place."""
    starts = Starts(ManualClock())
    assert starts.ask("a")
    assert [starts.ask(name) for name in "bcb"] == [False] * 3
    assert starts.begun("a")
    assert [starts.ask(name) for name in "cbb"] == [False, True, True]


def test_a_grant_is_the_names() -> None:
    """Several callers of one forest have one grant; it ends once."""
    starts = Starts(ManualClock())
    assert [starts.ask("a"), starts.ask("a"), starts.granted] == [True, True, 1]
    assert [starts.begun("a"), starts.begun("a"), starts.begun("b")] == [True, False, False]


def test_a_start_that_comes_to_nothing_lapses() -> None:
    """Its place is another's after a while."""
    clock = ManualClock()
    starts = Starts(clock, lapse_s=30, absent_s=4)
    assert starts.ask("a")
    clock.advance(29)
    assert not starts.ask("b")
    clock.advance(1)
    assert starts.ask("b")
    assert not starts.ask("a")


def test_who_asks_no_more_holds_up_nobody() -> None:
    """A caller that has gone away loses its place in the line."""
    clock = ManualClock()
    starts = Starts(clock, lapse_s=30, absent_s=4)
    assert [starts.ask(name) for name in "abc"] == [True, False, False]
    clock.advance(3)
    assert not starts.ask("c")
    starts.begun("a")
    assert not starts.ask("c")
    clock.advance(1)
    assert starts.ask("c")


@given(
    st.lists(st.tuples(st.sampled_from(["ask", "begun", "wait"]), st.sampled_from("abcdef")), max_size=60),
    st.lists(st.integers(1, 8), max_size=3),
)
def test_never_too_many(deeds: list[tuple[str, str]], cores: list[int]) -> None:
    """Whatever is asked in whatever order, no more are under way than may be, and whoever goes on asking gets there."""
    clock = ManualClock()
    starts = Starts(clock, lapse_s=30, absent_s=4)
    starts.fit(cores)
    for deed, name in deeds:
        if deed == "wait":
            clock.advance(1)
        elif deed == "begun":
            starts.begun(name)
        else:
            starts.ask(name)
        assert starts.granted <= max(1, sum(max(1, number // 2) for number in cores))
    for _ in range(40):
        if starts.ask("z"):
            return
        clock.advance(1)
    raise AssertionError("never granted")
