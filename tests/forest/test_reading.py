"""What a version tells about itself."""

from collections.abc import Callable

import pytest

from memforest_ray.errors import NotFound
from memforest_ray.facts.sessions import Session
from memforest_ray.forest.overviews import GraphCounts, ModelCounts, Stats, Tree, TreeCard, TreeNode
from memforest_ray.forest.reading import counts, tree_card, tree_cards, whole_tree
from memforest_ray.ids import ScopeId
from memforest_ray.testing.conversations import conversation
from memforest_ray.testing.forests import Forests

Say = Callable[..., Session]


async def test_counts_are_those_of_the_version(forests: Forests, say: Say) -> None:
    """Turns that were forgotten are counted apart, turns without time are counted."""
    forest = forests.open()
    await forest.ingest(say("s1", "I live in Davis.", "Nice.", "I like chess."))
    await forest.ingest(say("s2", "I like tea.", "Me too.", time=None))
    await forest.forget(turns=("s1#1",))
    version = await forest.version()
    told = counts(version)
    assert (told["trees"]["session"], told["trees"]["entity"]) == (2, 1)
    assert {name: told[name] for name in ("sessions", "turns", "forgotten_turns", "turns_without_time", "cells")} == {
        "sessions": 2,
        "turns": 4,
        "forgotten_turns": 1,
        "turns_without_time": 2,
        "cells": 3,
    }
    assert told["facts"] == len(version.facts)
    assert told["nodes"] == len(version.summaries)


async def test_what_was_said_at_midnight_is_of_that_day(forests: Forests, say: Say) -> None:
    """Ends are exclusive: the last thing that was said lies before it, whether its time is a day or an instant."""
    forest = forests.open()
    await forest.ingest(say("s1", "I live in Davis.", "I moved here last Friday.", time="2024-05-20"))
    told = whole_tree(await forest.version(), "session:s1")
    assert (told["start"], told["end"]) == ("2024-05-20T00:00:00+00:00", "2024-05-20T00:00:00.001000+00:00")


def _leaves(node: TreeNode) -> list[str]:
    if "item" in node:
        return [node["item"]]
    return [leaf for child in node["children"] for leaf in _leaves(child)]


async def test_a_tree_is_told_whole(forests: Forests) -> None:
    """All leaves in order under their nodes; the card is its head; sessions come first, then entities by size."""
    forest = forests.open()
    for session in conversation(4, sessions=5):
        await forest.ingest(session)
    version = await forest.version()
    for scope, tree in version.trees.items():
        told = whole_tree(version, scope)
        assert _leaves(told) == [leaf.item for leaf in tree.leaves()]
        card = tree_card(version, tree)
        assert (card["scope"], card["leaves"], card["height"]) == (scope, len(tree), tree.height)
        assert {name: told.get(name) for name in card} == card
    cards = tree_cards(version)
    assert [card["scope"] for card in cards if card["family"] == "session"] == [card["scope"] for card in cards[:5]]
    sizes = [card["leaves"] for card in cards if card["family"] == "entity"]
    assert sizes == sorted(sizes, reverse=True)


async def test_an_entity_is_shown_as_people_write_it(forests: Forests, say: Say) -> None:
    """Its label is the most frequent spelling, its scope the folded key."""
    forest = forests.open()
    await forest.ingest(say("s1", "I like chess.", "I like tea."))
    version = await forest.version()
    assert tree_card(version, version.trees[ScopeId("entity:bob")])["label"] == "Bob"


async def test_an_unknown_tree_is_not_found(forests: Forests) -> None:
    """With its name."""
    version = await forests.open().version()
    with pytest.raises(NotFound):
        whole_tree(version, "entity:nobody")


async def test_a_node_spans_what_is_below_it(forests: Forests, say: Say) -> None:
    """Leaves with a time of their own, and leaves with none but that of their telling."""
    forest = forests.open()
    await forest.ingest(say("s1", "I sold the boat on 2 April 2023.", time="2023-05-08"))
    await forest.ingest(say("s2", "I like chess.", time="2023-06-01"))
    tree = whole_tree(await forest.version(), "entity:bob")
    starts = [child["start"] or "" for child in tree["children"]]
    assert [start[:10] for start in starts] == ["2023-04-02", "2023-06-01"]
    assert tree["start"] == min(starts)
    assert tree["end"] == max(child["end"] or "" for child in tree["children"])


async def test_what_is_told_has_the_keys_that_are_documented(forests: Forests, say: Say) -> None:
    """All of them, and no other: of `stats`, of a card, of a tree, of its nodes and of its leaves."""
    forest = forests.open()
    await forest.ingest(say("s1", "I like chess.", "I like tea.", "I live in Davis."))
    version = await forest.version()
    stats: Stats = await forest.read("stats")
    tree = whole_tree(version, "entity:bob")
    leaf = tree["children"][0]
    card = tree_card(version, version.trees[ScopeId("entity:bob")])
    assert set(stats) == Stats.__required_keys__
    assert set(stats["models"]) == ModelCounts.__required_keys__
    assert set(stats["graphs"]) == GraphCounts.__required_keys__
    assert set(card) == TreeCard.__required_keys__
    assert set(tree) == Tree.__required_keys__ | Tree.__optional_keys__ - {"item"}
    assert set(leaf) == TreeNode.__required_keys__ | {"item"}
