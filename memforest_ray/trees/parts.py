"""Parts: what a summary of a node is made of.

A model is shown the leaves of a small node themselves; of a larger one the newest, and of what is older the summaries.
So the two lowest levels of most trees wait for nothing, wherever something has come, and those above not for what
stands at the end, as mostly it does: after a session the nodes on the right edge of a tree, one on each level, are
written all at once. What a summary is made of follows from what is below its node alone, and so does the hash that it
is found by.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from memforest_ray.trees.nodes import Child, Leaf, Node

__all__ = ["PARTS_CHARS_MAX", "RECENT_LEAVES_MAX", "SUMMARY_CHARS_MAX", "WHOLE_LEAVES_MAX", "leaves_below", "parts"]

SUMMARY_CHARS_MAX: Final = 800
"""200 tokens: bounds every summary, and by k times itself the prompt of the next level."""
RECENT_LEAVES_MAX: Final = 24
"""Newest leaves of a node that a model reads itself: what one session adds to a tree, as a rule."""
WHOLE_LEAVES_MAX: Final = 64
"""A node of no more leaves than this is shown all of them: two levels of a tree of facts, eight children a node. Their
summaries would take half the room, and a call each to wait for.
"""
PARTS_CHARS_MAX: Final = 12_800
"""Twice what eight full summaries take: nodes that would be shown more are shown their children only."""


def parts(node: Node, recent: int = RECENT_LEAVES_MAX) -> tuple[Child, ...]:
    """What a summary of `node` is made of, in order: all its leaves if they are few, else its newest, up to `recent`,
    and nodes that hold the rest.

    With `recent` 0, or where that would be too much, simply its children.
    """
    whole: tuple[Child, ...] = tuple(leaves_below(node)) if recent and node.count <= WHOLE_LEAVES_MAX else ()
    if whole and _chars(whole) <= PARTS_CHARS_MAX:
        return whole
    found = tuple(_parts(node, recent))
    return found if _chars(found) <= PARTS_CHARS_MAX else node.children


def _chars(shown: Iterable[Child]) -> int:
    """At most, of the texts of what is shown."""
    return sum(len(part.text) if isinstance(part, Leaf) else SUMMARY_CHARS_MAX for part in shown)


def _parts(node: Node, recent: int) -> Iterator[Child]:
    shown: list[Iterable[Child]] = []
    for child in reversed(node.children):
        if isinstance(child, Leaf):
            shown.append((child,))
        elif child.count <= recent:
            recent -= child.count
            shown.append(leaves_below(child))
        else:
            # The summaries of its older part, and its newest leaves; for a few leaves of a node it is not opened.
            shown.append(_parts(child, recent) if child.level > 1 and recent else (child,))
            recent = 0
    return chain.from_iterable(reversed(shown))


def leaves_below(child: Child) -> Iterator[Leaf]:
    """The leaves of a tree's part, in their order."""
    if isinstance(child, Leaf):
        yield child
    else:
        for below in child.children:
            yield from leaves_below(below)
