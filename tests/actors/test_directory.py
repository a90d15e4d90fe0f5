"""Who lives where, and who is asked to leave."""

from hypothesis import given
from hypothesis import strategies as st

from memforest_actors.directory import BEATS_MISSED_MAX, Residency
from memforest_ray.testing.clock import ManualClock


def test_the_longest_quiet_leave_first() -> None:
    """Over the cap of a node, the forest that was called longest ago is named; once."""
    residency = Residency(2, ManualClock())
    assert residency.heard("a", "n1", 50, busy=False) == []
    assert residency.heard("b", "n1", 90, busy=False) == []
    assert residency.heard("c", "n1", 0, busy=True) == ["b"]
    assert residency.heard("c", "n1", 0, busy=True) == []


def test_nodes_are_counted_apart() -> None:
    """A full node does not push out forests of another."""
    residency = Residency(1, ManualClock())
    assert residency.heard("a", "n1", 0, busy=False) == []
    assert residency.heard("b", "n2", 0, busy=False) == []
    assert (residency.count("n1"), residency.count()) == (1, 2)


def test_the_busy_stay() -> None:
    """Nobody is asked to leave in the middle of a call, even over the cap."""
    residency = Residency(1, ManualClock())
    residency.heard("a", "n1", 0, busy=True)
    assert residency.heard("b", "n1", 0, busy=True) == []


def test_the_silent_are_forgotten() -> None:
    """A forest that died without a word no longer counts after some missed beats."""
    clock = ManualClock()
    residency = Residency(1, clock, beat_s=10)
    residency.heard("a", "n1", 0, busy=False)
    clock.advance(10 * BEATS_MISSED_MAX + 1)
    assert residency.heard("b", "n1", 0, busy=False) == []
    assert residency.count() == 1


def test_who_left_is_gone() -> None:
    """Leaving twice, or without having come, is nothing special."""
    residency = Residency(1, ManualClock())
    residency.heard("a", "n1", 0, busy=False)
    residency.left("a")
    residency.left("a")
    assert residency.count() == 0


def test_room_is_made_before_a_cluster_is_full() -> None:
    """An arrival that would not fit sends away the longest quiet of any node, busy ones excepted."""
    residency = Residency(200, ManualClock())
    residency.fit({"n1": 1, "n2": 2})
    residency.heard("a", "n1", 90, busy=True)
    residency.heard("b", "n2", 10, busy=False)
    assert residency.room(1) == []
    residency.heard("c", "n2", 50, busy=False)
    assert residency.room(1) == ["c"]
    assert residency.room(1) == []
    assert residency.room(2) == ["b"]


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.floats(0, 100)), max_size=40), st.integers(1, 4))
def test_enough_are_asked(reports: list[tuple[str, float]], cap: int) -> None:
    """Whatever is reported, as many idle forests have been asked to leave as there are over the cap, and no more."""
    residency = Residency(cap, ManualClock())
    asked: set[str] = set()
    for name, idle_s in reports:
        asked |= set(residency.heard(name, "n", idle_s, busy=False))
    assert len(asked) == max(0, len({name for name, _ in reports}) - cap)
