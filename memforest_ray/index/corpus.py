"""A corpus: what one query may see of the index, laid out so that whole arrays answer it.

The unit of the dialogue is the *place*, a turn. Places stand in the order of their sessions, so the turns beside one
are its neighbours in an array. Facts and cells point at their places.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memforest_ray.index.lexical import Floats, LexiconView, bm25
from memforest_ray.index.shelves import OWNER, ShelfView
from memforest_ray.index.table import Integers, renumbering, sessions_of

__all__ = ["Corpus", "Dialogue", "Statements"]


REGION: Final = 4
"""Turns on each side that make the region of one: about what a session tree's lowest node spans."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Places of the dialogue with the cells that hold them."""

    cells: Integers
    """Rows of the cells."""
    number_of_row: Integers
    """For each row of the shelf its number among `cells`, -1 for none."""
    places: Integers
    """Place keys, ascending."""
    speakers: Integers
    sources: Integers
    """Instants; unknown when it is not known."""
    lengths: Floats
    """Words of each place."""
    in_cell: Integers
    """Pairs of a cell (number among `cells`) ..."""
    in_place: Integers
    """... and a place (number among `places`) that lies in it."""
    place_of_passage: Integers
    """For each passage row its place's number, -1 for none."""
    starts: Integers
    """Where each session begins among `places`."""
    session_of: Integers
    """For each place the number of its session among `starts`."""
    words: LexiconView

    @classmethod
    def of(cls, shelf: ShelfView, as_of: int | None) -> "Dialogue":
        """What lives on the cells' shelf; with an instant, the cells that were wholly said by then."""
        seen = shelf.table.live()
        if as_of is not None:
            seen &= shelf.table["latest"] <= as_of
        numbers = renumbering(seen)
        owners = shelf.parts[OWNER]
        rows = np.flatnonzero(shelf.parts.live() & seen[owners]) if len(owners) else owners
        places, first, number = np.unique(shelf.parts["place"][rows], return_index=True, return_inverse=True)
        number = number.reshape(-1)
        place_of_passage = np.full(len(owners), -1, np.int64)
        place_of_passage[rows] = number
        lengths = np.bincount(number, shelf.parts["length"][rows], len(places)).astype(np.float32)
        starts = np.flatnonzero(np.diff(sessions_of(places), prepend=-1))
        return cls(
            cells=np.flatnonzero(seen),
            number_of_row=numbers,
            places=places,
            speakers=shelf.parts["speaker"][rows[first]],
            sources=shelf.parts["source"][rows[first]],
            lengths=lengths,
            in_cell=numbers[owners[rows]],
            in_place=number,
            place_of_passage=place_of_passage,
            starts=starts,
            session_of=np.repeat(np.arange(len(starts)), np.diff(starts, append=len(places))),
            words=shelf.words,
        )

    def windows(self, occurrences: Floats) -> Floats:
        """Share of the query that each place holds together with the two places on each side in its session."""
        return bm25(self._widened(occurrences), self._widened(self.lengths))

    def sessions(self, occurrences: Floats) -> Floats:
        """Share of the query that the session of each place holds."""
        if not len(self.places):
            return np.zeros(0, np.float32)
        summed = np.add.reduceat(occurrences, self.starts, axis=-1)
        return bm25(summed, np.add.reduceat(self.lengths, self.starts))[self.session_of]

    def occurrences(self, words: Sequence[str]) -> Floats:
        """How often each word stands at each place."""
        return self.words.occurrences(words, self.place_of_passage, len(self.places))

    def _widened(self, values: Floats) -> Floats:
        """Each place's values with those of the nearest places, by weight: 3 of itself, 2 and 1 of its neighbours."""
        return self._beside(self._beside(values))

    def _beside(self, values: Floats) -> Floats:
        """Each place's values with those of the places before and after it in the session."""
        wide = values.copy()
        together = self.session_of[1:] == self.session_of[:-1]
        wide[..., 1:] += values[..., :-1] * together
        wide[..., :-1] += values[..., 1:] * together
        return wide

    def region_mean(self, values: Floats) -> Floats:
        """For each place the mean over it and the REGION places on each side, as far as its session reaches."""
        sums = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
        here = np.arange(len(values))
        ends = np.append(self.starts, len(values))
        low = np.maximum(here - REGION, ends[self.session_of])
        high = np.minimum(here + REGION + 1, ends[self.session_of + 1])
        return np.asarray((sums[high] - sums[low]) / (high - low), np.float32)

    def best_of_cells(self, values: Floats) -> Floats:
        """For each place the highest value of a cell that holds it."""
        best = np.full(len(self.places), -np.inf, np.float32)
        np.maximum.at(best, self.in_place, values[self.in_cell])
        return best

    def cells_at(self, place: int) -> Integers:
        """Numbers of the cells that hold a place: several only for a turn that was split."""
        return np.asarray(self.in_cell[self.in_place == place], np.int64)

    def places_in(self, cell: int) -> Integers:
        """Numbers of the places of a cell, by its number."""
        return np.asarray(self.in_place[self.in_cell == cell], np.int64)

    def number_of(self, place_key: int) -> int:
        """The number of the place with that key; -1 when it is not there."""
        number = int(np.searchsorted(self.places, place_key))
        return number if number < len(self.places) and self.places[number] == place_key else -1

    def to_cells(self, values: Floats) -> Floats:
        """For each cell the highest value of its places."""
        best = np.zeros(len(self.cells), np.float32)
        np.maximum.at(best, self.in_cell, values[self.in_place])
        return best


@dataclass(frozen=True, slots=True)
class Statements:
    """Facts, and where in the dialogue they come from."""

    facts: Integers
    """Rows of the facts."""
    speakers: Integers
    sources: Integers
    """Instants at which they were said first."""
    starts: Integers
    """Event start, unknown when there is none."""
    ends: Integers
    chains: Integers
    """Subject and attribute, -1 for none."""
    lengths: Floats
    in_fact: Integers
    """Pairs of a fact (number among `facts`) ..."""
    in_place: Integers
    """... and the place (number among the dialogue's places) of one of its mentions."""
    number_of_row: Integers
    """For each row of the shelf its number among `facts`, -1 for none."""
    words: LexiconView

    @classmethod
    def of(cls, shelf: ShelfView, places: Integers, as_of: int | None) -> "Statements":
        """What lives on the facts' shelf; with an instant, the facts that were said by then."""
        seen = shelf.table.live()
        if as_of is not None:
            seen &= shelf.table["source"] <= as_of
        facts = np.flatnonzero(seen)
        numbers = renumbering(seen)
        owners = shelf.parts[OWNER]
        rows = np.flatnonzero(shelf.parts.live() & seen[owners]) if len(owners) else owners
        wanted = shelf.parts["place"][rows]
        found = np.searchsorted(places, wanted)
        there = found < len(places)
        there[there] = places[found[there]] == wanted[there]
        table = shelf.table
        return cls(
            facts=facts,
            speakers=table["speaker"][facts],
            sources=table["source"][facts],
            starts=table["event_start"][facts],
            ends=table["event_end"][facts],
            chains=table["chain"][facts],
            lengths=table["length"][facts].astype(np.float32),
            in_fact=numbers[owners[rows[there]]],
            in_place=found[there],
            number_of_row=numbers,
            words=shelf.words,
        )

    def matches(self, words: Sequence[str]) -> Floats:
        """Share of the query that each fact's own words hold."""
        return bm25(self.words.occurrences(words, self.number_of_row, len(self.facts)), self.lengths)

    def coverage(self, words: Sequence[str]) -> Floats:
        """Share of the words that each fact holds, rare words counting for more, however long the fact is."""
        held = self.words.occurrences(words, self.number_of_row, len(self.facts)) > 0
        weights = np.log1p(len(self.facts) / (1 + held.sum(axis=1))).astype(np.float32)
        return np.asarray((weights / max(float(weights.sum()), 1e-9)) @ held, np.float32)

    def from_places(self, values: Floats) -> Floats:
        """For each fact the highest value of its places; 0 for a fact whose dialogue is not there."""
        best = np.full(len(self.facts), -np.inf, np.float32)
        np.maximum.at(best, self.in_fact, values[self.in_place])
        best[np.isneginf(best)] = 0
        return best

    def to_places(self, values: Floats, otherwise: Floats) -> Floats:
        """For each place the highest value of its facts; `otherwise` where it has none."""
        best = np.full(len(otherwise), -np.inf, np.float32)
        np.maximum.at(best, self.in_place, values[self.in_fact])
        return np.where(np.isneginf(best), otherwise, best)


@dataclass(frozen=True, slots=True)
class Corpus:
    """What one query may see."""

    dialogue: Dialogue
    statements: Statements
    speakers: Integers
    """Who speaks in it, by number."""

    def places_with(self, statements_min: int) -> NDArray[np.bool_]:
        """Which places lie in a cell that so many statements come from."""
        dialogue = self.dialogue
        of_place = np.bincount(self.statements.in_place, minlength=len(dialogue.places))
        of_cell = np.bincount(dialogue.in_cell, of_place[dialogue.in_place], len(dialogue.cells))
        found = np.zeros(len(dialogue.places), bool)
        found[dialogue.in_place[of_cell[dialogue.in_cell] >= statements_min]] = True
        return found

    @classmethod
    def of(cls, facts: ShelfView, cells: ShelfView, as_of: int | None) -> "Corpus":
        """Everything live, or what was known at an instant."""
        dialogue = Dialogue.of(cells, as_of)
        statements = Statements.of(facts, dialogue.places, as_of)
        speakers = np.unique(np.concatenate([dialogue.speakers, statements.speakers]))
        return cls(dialogue, statements, speakers)
