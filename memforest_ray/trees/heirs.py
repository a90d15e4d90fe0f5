"""Heirs: a new node takes over the summary of the one that it came out of, where only a few of their leaves differ.

What has come between older leaves is told in front of the old text, word for word, as long as there is room: nothing
is lost, and the summary still ends with how things stand at the latest leaf, which has to be the same. What stands
elsewhere in the tree now, such as a statement that turned out to be known from an earlier day, was said in this
interval all the same: the old text may go on telling it. But it must not outlive it. So a summary that was taken over
names the mentions that it may tell of beside its leaves (`Summary.also`), whatever is made of it names them, too, and
when one of them is forgotten, withheld or read anew, all of these are written anew (`forest/writing.py`).

Pure; asked only where a model would be called otherwise.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from memforest_ray.facts.canonical import Facts
from memforest_ray.ids import FactId, ItemId, MentionId, NodeId, ScopeId
from memforest_ray.trees.nodes import Leaf, Node, OrderKey
from memforest_ray.trees.parts import SUMMARY_CHARS_MAX, WHOLE_LEAVES_MAX, leaves_below
from memforest_ray.trees.selection import select_lines
from memforest_ray.trees.summaries import Inherited, Summary
from memforest_ray.trees.tree import MemTree

__all__ = ["Forebear", "Heirs"]

_ALSO_SHARE: Final = 4
"""Of its leaves' number a summary may tell of a fourth part that stands elsewhere, at least of one; of twice as many
mentions.
"""
_NEWS_SHARE: Final = 16
"""Where no more than this part of many leaves has come, those lines are told that say most, as far as there is room:
a summary of so many tells of few of them in any case.
"""


@dataclass(frozen=True, slots=True)
class Forebear:
    """A tree as it was, here or in a memory that is taken over, with what its summaries were made of."""

    tree: MemTree
    summaries: Mapping[NodeId, Summary]
    facts: Facts
    """Those that its leaves stood for."""
    item_now: Callable[[ItemId], ItemId | None]
    """What an item is called now; None for one that is no more."""
    mention_now: Callable[[MentionId], MentionId | None]
    """The same of a mention."""
    place: Callable[[OrderKey], OrderKey | None]
    """Where a leaf of now stood there, by where it stands; None if it is not known to have been there."""

    def near(self, node: Node) -> Iterator[Node]:
        """Nodes that `node` may have come out of: they end with the same leaf."""
        place = self.place(node.last)
        for old in () if place is None else self.tree.path(place):
            if old.last == place:
                yield old

    def told_by(self, leaf: Leaf) -> list[MentionId | None]:
        """The mentions of a leaf as it was; None for one that is no more."""
        fact = self.facts.shown.get(FactId(leaf.item))
        return [None] if fact is None else [self.mention_now(mention.id) for mention in fact.mentions]

    def within(self, leaf: Leaf, node: Node) -> bool:
        """Whether whoever may see the summary of `node` may know of a leaf as it was.

        What that said was known when it was first said; of several statements that were found to be one, with the last.
        """
        fact = self.facts.shown.get(FactId(leaf.item))
        if fact is None or leaf.source_ms is None or node.source_ms is None:
            return False
        known_ms = leaf.source_ms[0] if len(fact.atoms) == 1 else leaf.source_ms[1]
        return known_ms <= node.source_ms[1] and (len(fact.atoms) == 1 or not leaf.undated)


Forebears: TypeAlias = Callable[[ScopeId], Iterable[Forebear]]


@dataclass(frozen=True, slots=True)
class Heirs:
    """What new nodes of a forest take over. `stands` tells whether an item has a leaf in a tree now."""

    forebears: Forebears
    stands: Callable[[ItemId, ScopeId], bool]
    told: Callable[[MentionId], bool]
    """Whether a mention is there and shown."""

    def __call__(self, scope: ScopeId, node: Node) -> Inherited | None:
        """What `node` takes over from whichever it differs from least; None where it is to be written anew."""
        pairs = ((forebear, old) for forebear in self.forebears(scope) for old in forebear.near(node))
        found = (self._from(scope, node, old, forebear) for forebear, old in pairs)
        return min((each for each in found if each is not None), key=_cost, default=None)

    def _from(self, scope: ScopeId, node: Node, old: Node, forebear: Forebear) -> Inherited | None:
        summary = forebear.summaries.get(old.id)
        most = max(1, node.count // _ALSO_SHARE)
        if summary is None or summary.stale or summary.source == "select" or abs(old.count - node.count) > most:
            return None
        come = {leaf.item: leaf for leaf in leaves_below(node)}
        gone: list[Leaf] = []
        for leaf in leaves_below(old):
            item = forebear.item_now(leaf.item)
            now = None if item is None else come.get(item)
            if now is not None and now.text == leaf.text:
                del come[now.item]
            elif item is not None and self.stands(item, scope) and len(gone) < most and forebear.within(leaf, node):
                gone.append(leaf)
            else:
                return None
        if node.last[-1] in come:
            return None
        text = _told_beside(node, [leaf.text for leaf in come.values()], summary.text)
        also = self._also(summary, gone, forebear)
        return None if text is None or also is None or len(also) > 2 * most else Inherited(text, also)

    def _also(self, summary: Summary, gone: Iterable[Leaf], forebear: Forebear) -> tuple[MentionId, ...] | None:
        """What the text may tell of beside what stands below; None when some of it must not be told."""
        named = [forebear.mention_now(mention) for mention in summary.also]
        named += [mention for leaf in gone for mention in forebear.told_by(leaf)]
        known = [mention for mention in named if mention is not None and self.told(mention)]
        return tuple(sorted(set(known))) if len(known) == len(named) else None


def _cost(found: Inherited) -> tuple[int, int]:
    return len(found.also), len(found.text)


def _told_beside(node: Node, come: list[str], text: str) -> str | None:
    """The text with what has come in front of it; None where there is no room for that."""
    if not come:
        return text
    lines = "\n".join(come)
    room = SUMMARY_CHARS_MAX - len(text) - 1
    if 0 < room < len(lines) and node.count > WHOLE_LEAVES_MAX and len(come) <= node.count // _NEWS_SHARE:
        lines = "\n".join(select_lines(lines.splitlines(), room))
    return f"{lines}\n{text}" if 0 < len(lines) <= room else None
