"""Hits as people are shown them."""

from itertools import pairwise

from memforest_ray.query.result import EmptyReason, Hit, Result, Trace
from memforest_ray.testing.memory import Memory


def test_a_path_runs_from_the_root_down(memory: Memory) -> None:
    """Each interval lies in the one above it."""
    for number in range(70):
        memory.told(f"s{number:02d}", f"2023-{number // 28 + 1:02d}-{number % 28 + 1:02d}", f"Bob saw bird{number}")
    hit = memory.ask("bird33", families=["entity"])[0]
    assert hit.text == "Bob saw bird33"
    assert len(hit.path) == memory.version.trees[hit.tree].height >= 2
    bounds = [interval.split(" to ") for interval in hit.path]
    assert bounds[0] == ["2023-01-01", "2023-03-14"]
    assert all(above[0] <= below[0] <= below[1] <= above[1] for above, below in pairwise(bounds))
    assert bounds[-1][0] <= "2023-02-06" <= bounds[-1][1]


def test_a_path_shows_no_interval_of_later(memory: Memory) -> None:
    """A node that holds something said after the instant is left out."""
    memory.told("s1", "2023-01-01", "Bob keeps bees")
    memory.told("s2", "2024-01-01", "Bob keeps hens")
    assert memory.ask("bees", kind="fact")[0].path == ("2023-01-01 to 2024-01-01",)
    assert memory.ask("bees", kind="fact", as_of="2023-06-01")[0].path == ()


def test_a_fact_told_twice_names_both_turns(memory: Memory) -> None:
    """One hit, its first source first."""
    memory.told("s2", "2023-05-01", "Bob keeps bees")
    memory.told("s1", "2023-01-01", "Bob keeps bees")
    facts = [hit for hit in memory.ask("bees") if hit.kind == "fact"]
    assert [hit.turn_ids for hit in facts] == [("s1#0", "s2#0")]


def test_a_result_is_a_sequence_of_hits() -> None:
    """Iterated, indexed, counted; falsy when empty."""
    empty = Result(3, (), Trace("embed"), EmptyReason.NO_MATCH, "nothing")
    assert (bool(empty), len(empty), list(empty)) == (False, 0, [])
    assert empty.to_json() == {
        "version": 3,
        "hits": [],
        "reason": "no_match",
        "message": "nothing",
        "trace": {
            "mode": "embed",
            "trees": [],
            "nodes_visited": 0,
            "fallbacks": [],
            "reading": [],
            "usage": {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0},
            "spent": {},
        },
    }


def test_an_unknown_time_is_null(memory: Memory) -> None:
    """Neither now nor the epoch."""
    memory.told("s1", None, "Bob keeps bees")
    hit: Hit = memory.ask("bees")[0]
    assert (hit.to_json()["source_time"], hit.to_json()["event_time"]) == (None, None)
    assert hit.path in ((), ("unknown to unknown",))
