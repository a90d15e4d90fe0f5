"""Recall of trees, and the way down them."""

import numpy as np
import pytest

from memforest_ray.errors import InvalidInput
from memforest_ray.ids import FactId, ScopeId
from memforest_ray.index.strongest import strongest
from memforest_ray.query.browse import BEAM, Browsed, embed, flat
from memforest_ray.query.inquiry import Inquiry, fact_order, inquire
from memforest_ray.query.modes import MODES, mode_of
from memforest_ray.query.recall import recall
from memforest_ray.query.request import QueryRequest
from memforest_ray.testing.memory import Memory, word_vector
from memforest_ray.trees.leaves import fact_leaf

WORDS = ("soup", "tulips", "chess", "rain", "violins", "paper", "geese", "mirrors", "coffee", "maps")


def _inquiry(memory: Memory, text: str, **options: object) -> Inquiry:
    return inquire(memory.version, QueryRequest.of(text, **options), word_vector(text))  # type: ignore[arg-type]  # options


def _filled(memory: Memory) -> Memory:
    """Bob of many things, over a year; Ann of geese."""
    for number in range(60):
        day = f"2023-{number // 5 + 1:02d}-{number % 5 + 1:02d}"
        memory.told(f"b{number}", day, f"Bob {WORDS[number // 6]} item{number}")
    for number in range(3):
        memory.told(f"a{number}", f"2024-01-0{number + 1}", f"Ann counted geese {number}", speaker="Ann")
    return memory


def _reached(inquiry: Inquiry, browsed: Browsed) -> list[FactId]:
    assert browsed.reached is not None
    ids, rows = inquiry.version.index.facts.ids, inquiry.corpus.statements.facts
    return [FactId(ids[row]) for row in rows[np.isfinite(browsed.reached.facts)]]


def test_a_tree_is_recalled_by_its_root_or_by_a_fact(memory: Memory) -> None:
    """The score weighs both, and says so."""
    trees = recall(_inquiry(_filled(memory), "Ann and the geese"), root_share=0.5)
    assert trees[0].scope in ("entity:ann", "session:a0", "session:a1", "session:a2") or trees[0].scope.startswith(
        "scene:"
    )
    by_scope = {tree.scope: tree for tree in trees}
    ann = by_scope[ScopeId("entity:ann")]
    assert ann.score == pytest.approx(0.5 * ann.root + 0.5 * ann.fact, abs=1e-5)
    assert len(trees) == 10
    assert [tree.score for tree in trees] == sorted((tree.score for tree in trees), reverse=True)


def test_only_the_families_asked_for_are_recalled(memory: Memory) -> None:
    """Entities alone."""
    trees = recall(_inquiry(_filled(memory), "geese", families=["entity"]), root_share=0.5)
    assert {tree.scope for tree in trees} == {"entity:ann", "entity:bob"}


def test_a_beam_goes_where_the_likeness_is(memory: Memory) -> None:
    """Of sixty facts in order of time those of the right time are seen, not all."""
    inquiry = _inquiry(_filled(memory), "coffee", families=["entity"])
    trees = [tree for tree in recall(inquiry, root_share=0.5) if tree.scope == "entity:bob"]
    browsed = embed(inquiry, trees)
    told = {fact.id: fact.text for fact in memory.version.facts}
    seen = [told[name] for name in _reached(inquiry, browsed)]
    assert sum("coffee" in text for text in seen) == 6
    assert len(seen) <= BEAM * 8
    assert browsed.nodes_visited <= 1 + 3 * BEAM


def test_time_prunes_the_way_down(memory: Memory) -> None:
    """Nodes outside `since` and `until` are not opened."""
    inquiry = _inquiry(_filled(memory), "Bob", families=["entity"], since="2023-02-01", until="2023-02-03")
    browsed = embed(inquiry, recall(inquiry, root_share=0.5))
    told = {fact.id: fact for fact in memory.version.facts}
    seen = [told[name] for name in _reached(inquiry, browsed)]
    assert sorted(fact.session_id for fact in seen) == ["b5", "b6"]


def test_flat_looks_into_nothing(memory: Memory) -> None:
    """No leaf, no node."""
    browsed = flat(_inquiry(_filled(memory), "geese"), ())
    assert (browsed.leaves, browsed.reached, browsed.nodes_visited) == ({}, None, 0)


def test_modes_are_found_by_name() -> None:
    """And refused by name."""
    assert sorted(MODES) == ["embed", "flat", "llm", "planner", "planner+embed", "root"]
    with pytest.raises(InvalidInput, match="unknown mode 'deep'"):
        mode_of("deep")
    with pytest.raises(InvalidInput, match=r"unknown mode \['embed'\]"):
        mode_of(["embed"])  # type: ignore[arg-type]


def test_the_strongest_are_not_cut_within_a_tie() -> None:
    """Equal values come or stay out together."""
    values = np.array([3, 1, 2, 2, 2], np.float32)
    assert strongest(values, 2).tolist() == [0, 2, 3, 4]
    assert strongest(values, 9).tolist() == [0, 1, 2, 3, 4]
    assert strongest(np.zeros(0, np.float32), 3).tolist() == []


def test_the_order_of_a_fact_is_that_of_its_leaf(memory: Memory) -> None:
    """Computed without making the leaf."""
    for fact in _filled(memory).version.facts:
        assert fact_order(fact) == fact_leaf(fact).order


def test_beams_over_rows_end_where_a_walk_through_the_trees_does(memory: Memory) -> None:
    """With bounds that leave nothing out the trees themselves are walked: same leaves, same likeness, same nodes."""
    filled = _filled(memory)
    for text in ("coffee", "Ann and the geese", "Bob item31", "rain and paper"):
        beams, walk = _inquiry(filled, text), _inquiry(filled, text, since="1900-01-01")
        trees = recall(beams, root_share=0.5)
        one, other = embed(beams, trees), embed(walk, trees)
        assert one.reached is not None
        assert other.reached is not None
        assert one.nodes_visited == other.nodes_visited > 0
        assert np.array_equal(one.reached.facts, other.reached.facts)
        assert np.array_equal(one.reached.cells, other.reached.cells)
