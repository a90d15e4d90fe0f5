"""Touched: the trees that a session is going to change, as far as can be told before anything is extracted from it."""

from collections.abc import Iterator
from itertools import pairwise

from memforest_ray.commit.version import Version
from memforest_ray.facts.sessions import SessionRecord
from memforest_ray.facts.words import words
from memforest_ray.trees.routing import entity_key, entity_scope
from memforest_ray.trees.tree import MemTree

__all__ = ["read_touched", "touched"]


def touched(version: Version, session: SessionRecord) -> Iterator[MemTree]:
    """Trees of those who speak and of what is named, in one word or two."""
    for key in _named(session):
        tree = version.trees.get(entity_scope(key))
        if tree is not None:
            yield tree


def read_touched(version: Version, session: SessionRecord) -> None:
    """Have read what of a memory that was just opened waits to be asked for: entities, and the trees `touched`.

    The largest of a memory are among them, and who reads them later keeps a model waiting. Raises CorruptState.
    """
    len(version.entities.by_key)
    for tree in touched(version, session):
        len(tree)


def _named(session: SessionRecord) -> Iterator[str]:
    turns = [turn for turn in session.turns if turn.hole is None]
    found = dict.fromkeys(entity_key(turn.speaker) for turn in turns)
    for turn in turns:
        said = words(turn.text)
        found.update(dict.fromkeys(said))
        found.update(dict.fromkeys(map(" ".join, pairwise(said))))
    yield from found
