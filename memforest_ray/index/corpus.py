"""A corpus: what one query may see of the index, laid out so that whole arrays answer it.

Facts and cells point at their places in the dialogue.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from memforest_ray.facts.candidates import CANDIDATES_MAX
from memforest_ray.index.dialogue import Dialogue
from memforest_ray.index.pairs import distinct, ranges
from memforest_ray.index.shelves import ShelfView
from memforest_ray.index.statements import Statements
from memforest_ray.index.table import UNKNOWN, Integers

__all__ = ["Corpus", "Narrowed"]


@dataclass(frozen=True)
class Corpus:
    """What one query may see."""

    dialogue: Dialogue
    statements: Statements
    speakers: Integers
    """Who speaks in it, by number."""
    told_in_cells: Integers
    """For each cell how many statements come from it."""
    latest_ms: int
    """Of all instants at which something was said; unknown when none is known."""

    @cached_property
    def untold(self) -> NDArray[np.bool_]:
        """Places that no statement comes from."""
        return np.equal(self.statements.told.counts_right(), 0)

    @cached_property
    def crowded(self) -> NDArray[np.bool_]:
        """Places in a cell that gave as many statements as one may give: more may be in its words."""
        return self.places_with(CANDIDATES_MAX)

    @cached_property
    def shown(self) -> NDArray[np.bool_]:
        """Places that may be hits beside the facts."""
        return self.untold | self.crowded

    def places_with(self, statements_min: int) -> NDArray[np.bool_]:
        """Which places lie in a cell that so many statements come from."""
        held = self.dialogue.held
        found = np.zeros(len(self.dialogue.places), bool)
        crowded = self.told_in_cells >= statements_min
        if crowded.any():
            found[held.right[crowded[held.left]]] = True
        return found

    def among(self, sessions: Integers) -> "Narrowed":
        """Only what was said in these sessions, by their numbers, ascending. Words weigh as in the whole."""
        firsts, ends = self.dialogue.ends_of(sessions)
        places = ranges(firsts, ends)
        dialogue = self.dialogue.among(sessions, places)
        statements, facts = self.statements.among(firsts, ends, places)
        corpus = Corpus(dialogue, statements, self.speakers, _told_in_cells(dialogue, statements), self.latest_ms)
        return Narrowed(corpus, facts, places)

    @classmethod
    def of(
        cls, facts: ShelfView, cells: ShelfView, as_of: int | None = None, before: "Corpus | None" = None
    ) -> "Corpus":
        """Everything live, or what was known at an instant. `before` is all of an earlier version of these shelves."""
        dialogue = Dialogue.of(cells, as_of, None if before is None else before.dialogue.placed)
        statements = Statements.of(facts, dialogue.places, as_of, None if before is None else before.statements.placed)
        speakers = _speakers(dialogue, statements)
        known = dialogue.sources[dialogue.sources != UNKNOWN]
        latest = int(known.max()) if len(known) else UNKNOWN
        return cls(dialogue, statements, speakers, _told_in_cells(dialogue, statements), latest)


def _speakers(dialogue: Dialogue, statements: Statements) -> Integers:
    size = 1 + max(int(each.speakers.max(initial=-1)) for each in (dialogue, statements))
    return distinct(np.concatenate([dialogue.speakers, statements.speakers]), size)


def _told_in_cells(dialogue: Dialogue, statements: Statements) -> Integers:
    held = dialogue.held
    told = np.bincount(held.left, statements.told.counts_right()[held.right], len(dialogue.cells))
    return told.astype(np.int64)


@dataclass(frozen=True, slots=True)
class Narrowed:
    """A part of a corpus, and the numbers that its facts and places have in the whole."""

    corpus: Corpus
    facts: Integers
    places: Integers
