"""Inheriting: which summaries new nodes take over, and which that were taken over must be written anew."""

from collections.abc import Iterable, Iterator

from memforest_ray.facts.atoms import atom_id
from memforest_ray.facts.canonical import Facts
from memforest_ray.forest.rows import Nodes
from memforest_ray.forest.work import Work
from memforest_ray.ids import FactId, ItemId, MentionId, NodeId, ScopeId
from memforest_ray.trees.edits import ForestEdit
from memforest_ray.trees.heirs import Forebear, Heirs
from memforest_ray.trees.nodes import OrderKey
from memforest_ray.trees.routing import scope_family
from memforest_ray.trees.summaries import Summary

__all__ = ["heirs_of", "nodes_of", "outlived", "usable"]


def heirs_of(work: Work, forest: ForestEdit) -> Heirs:
    """What nodes that an edit has made take over: from trees as they were, and from those that came whole."""
    facts = work.facts.facts

    def forebears(scope: ScopeId) -> Iterator[Forebear]:
        tree = work.version.trees.get(scope)
        if tree is not None and scope_family(scope) != "session":
            yield Forebear(tree, work.version.summaries, work.version.facts, _same, _same_mention, _place)
        if scope in work.grafts.forebears:
            yield work.grafts.forebears[scope]

    return Heirs(
        forebears,
        stands=lambda item, scope: scope in forest.placements.get(item, ()),
        told=lambda mention: _told(facts, mention),
    )


def outlived(work: Work) -> frozenset[NodeId]:
    """Nodes whose summary may tell of a mention that is not told any more, or not in those words."""
    facts = work.facts.facts
    if not work.dead and all(fact.id in facts.shown for fact in work.facts.removed):
        return frozenset()  # no mention has gone, and no fact: all that was told still is
    summaries = work.version.summaries
    return frozenset(
        name
        for name, summary in summaries.items()
        if summary.also and not all(_told(facts, mention) for mention in summary.also)
    )


def usable(work: Work, summaries: Iterable[Summary]) -> Iterator[Summary]:
    """Those of these summaries that tell of nothing that is not told here."""
    facts = work.facts.facts
    return (summary for summary in summaries if all(_told(facts, mention) for mention in summary.also))


def nodes_of(forest: ForestEdit, names: frozenset[NodeId]) -> Nodes:
    """Those of these nodes that are still there, children before parents."""
    if not names:
        return ()
    trees = forest.trees.items()
    return tuple((scope, node) for scope, tree in trees for node in tree.nodes() if node.id in names)


def _told(facts: Facts, mention: MentionId) -> bool:
    held = facts.mentions.get(mention)
    return held is not None and facts.get(FactId(atom_id(held))) is not None


def _same(item: ItemId) -> ItemId:
    return item


def _same_mention(mention: MentionId) -> MentionId:
    return mention


def _place(order: OrderKey) -> OrderKey:
    return order
