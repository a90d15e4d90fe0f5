"""Rows: what stands in the index for facts, cells and nodes."""

import numpy as np

from memforest_ray.facts.canonical import Fact, Facts
from memforest_ray.facts.cells import cut
from memforest_ray.facts.sessions import Session, Turn, admit
from memforest_ray.ids import ScopeId
from memforest_ray.index.rows import (
    cell_embedding_text,
    cell_row,
    chain_name,
    fact_embedding_text,
    fact_row,
    index_words,
    node_row,
)
from memforest_ray.testing.facts import day, mention
from memforest_ray.trees.leaves import fact_leaf
from memforest_ray.trees.tree import Node

VECTOR = np.ones(2, np.float16)


def _fact(text: str, **fields: object) -> Fact:
    (fact,) = Facts().edit([mention(text, **fields)]).facts  # type: ignore[arg-type]  # any field
    return fact


def test_a_fact_is_embedded_with_its_day_and_speaker() -> None:
    """The name only where the text does not have it; the day only where it is known."""
    assert fact_embedding_text(_fact("Bob likes tea", said=19_485)) == "[8 May 2023] Bob likes tea"
    assert fact_embedding_text(_fact("tea is nice", said=None)) == "Bob: tea is nice"


def test_a_fact_row_has_what_ranking_needs() -> None:
    """Times, turn, chain."""
    row = fact_row(
        _fact("Bob lives in Oslo", turn=3, said=1, event=day(7), subject="Bob", attribute="Residence"), VECTOR
    )
    assert row.places == (("s1", 3),)
    assert row.event_ms == (7 * 86_400_000, 8 * 86_400_000)
    assert row.source_ms == 86_400_000 + 43_200_000
    assert row.chain == "bob\nresidence"
    assert row.vector is VECTOR


def test_a_cell_row_has_its_turns() -> None:
    """Each with who said it and when; the text is dated."""
    record = admit(Session("s1", [Turn("Hi?", "Ann"), Turn("Tea!", "Bob")], time="2023-05-08T10:00:00Z")).record
    (cell,) = cut(record)
    row = cell_row(cell, record, None)
    assert [(passage.turn, passage.speaker, passage.text) for passage in row.passages] == [
        (0, "Ann", "Hi?"),
        (1, "Bob", "Tea!"),
    ]
    assert cell_embedding_text(cell, record) == "[8 May 2023] Ann: Hi?\nBob: Tea!"


def test_a_node_row_names_its_children() -> None:
    """Leaves by their items, nodes by their ids; a source time only when all of it has one."""
    scope = ScopeId("entity:bob")
    early, later = fact_leaf(_fact("Bob likes tea", said=1)), fact_leaf(_fact("Bob likes rum", said=2))
    below = Node.of(scope, (early, later))
    above = Node.of(scope, (below,))
    assert node_row(below, scope).children == (early.item, later.item)
    assert node_row(above, scope).children == (below.id,)
    assert (node_row(above, scope).level, node_row(above, scope).source_ms) == (2, 2 * 86_400_000 + 43_200_000)
    undated = Node.of(scope, (early, fact_leaf(_fact("Bob likes milk", said=None))))
    assert node_row(undated, scope).source_ms is None


def test_words_are_stems_without_stop_words() -> None:
    """The same for facts, turns and questions."""
    assert index_words("She was running with the dogs") == ["run", "dog"]


def test_a_chain_needs_both_names() -> None:
    """And folds their spelling."""
    assert chain_name(" Bob  Smith", "Phone") == chain_name("bob smith", "phone") == "bob smith\nphone"
    assert chain_name(None, "phone") is None
    assert chain_name("Bob", "") is None
