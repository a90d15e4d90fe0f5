"""The dialogue as one query may see it: turns in the order of their sessions, with the cells that hold them.

The unit is the *place*, a turn. Places stand session by session, so the turns beside one are its neighbours in arrays.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memforest_ray.index.concordance import Concordance
from memforest_ray.index.lexical import Floats, Found, LexiconView, bm25, damping
from memforest_ray.index.pairs import Pairs, distinct, first_of_each, numbering
from memforest_ray.index.placed import Placed
from memforest_ray.index.shelves import OWNER, ShelfView
from memforest_ray.index.table import Integers, renumbering, sessions_of

__all__ = ["Dialogue"]


REGION: Final = 4
"""Turns on each side that make the region of one: about what a session tree's lowest node spans."""


WINDOW: Final = 2
"""Turns on each side whose words count for one."""


@dataclass(frozen=True)
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
    held: Pairs
    """Cells, by their numbers, and the places that lie in each."""
    passages: Integers
    """For each passage row its place's number in the whole dialogue, -1 for none."""
    starts: Integers
    """Where each session begins among `places`."""
    session_of: Integers
    """For each place the number of its session among `starts`."""
    bounds: tuple[Integers, Integers]
    """For each place the first of its region, and the one after the last."""
    window_damping: Floats
    """BM25's hold on each place with its neighbours, for being long ..."""
    session_damping: Floats
    """... and on each session."""
    words: LexiconView
    numbers: Integers | None = None
    """Of a part of the dialogue: for each place of the whole its number here, -1 for none, as the last is."""
    placed: Placed | None = None
    """Passages in the order of their places; of a part of the dialogue it is not kept."""

    @classmethod
    def of(cls, shelf: ShelfView, as_of: int | None, before: Placed | None = None) -> "Dialogue":
        """What lives on the cells' shelf; with an instant, the cells that were wholly said by then.

        `before` is `placed` of an earlier version of the same shelf.
        """
        seen = shelf.table.live()
        if as_of is not None:
            seen &= shelf.table["latest"] <= as_of
        numbers = renumbering(seen)
        owners = shelf.parts[OWNER]
        placed = Placed.of(shelf.parts["place"], shelf.parts.live() & seen[owners], before)
        rows = placed.rows
        keys = shelf.parts["place"][rows]
        new = first_of_each(keys)
        places, first, number = keys[new], rows[new], np.cumsum(new) - 1
        lengths = np.bincount(number, shelf.parts["length"][rows], len(places)).astype(np.float32)
        starts = np.flatnonzero(first_of_each(sessions_of(places)))
        session_of = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(places)))
        place_of_passage = np.full(len(owners), -1, np.int64)
        place_of_passage[rows] = number
        cells = np.flatnonzero(seen)
        return cls(
            cells=cells,
            number_of_row=numbers,
            places=places,
            speakers=shelf.parts["speaker"][first],
            sources=shelf.parts["source"][first],
            lengths=lengths,
            held=Pairs.by_right(numbers[owners[rows]], number, len(cells), len(places)),
            passages=place_of_passage,
            starts=starts,
            session_of=session_of,
            bounds=_regions(starts, session_of),
            window_damping=damping(_widened(lengths, starts)),
            session_damping=damping(np.add.reduceat(lengths, starts) if len(starts) else lengths),
            words=shelf.words,
            placed=placed,
        )

    def among(self, sessions: Integers, places: Integers) -> "Dialogue":
        """Only these sessions, by their numbers, ascending, whose places are `places`. Costs what it keeps."""
        firsts, ends = self.ends_of(sessions)
        lefts, rights = self.held.between(firsts, ends)
        cells = distinct(lefts, len(self.cells))
        number_of_cell = numbering(cells, len(self.cells))
        number_of_place = numbering(places, len(self.places) + 1)  # the last is where -1 leads
        starts = np.cumsum(ends - firsts) - (ends - firsts)
        session_of = np.repeat(np.arange(len(sessions)), ends - firsts)
        held = Pairs.by_right(number_of_cell[lefts], number_of_place[rights], len(cells), len(places))
        return Dialogue(
            cells=self.cells[cells],
            number_of_row=numbering(self.cells[cells], len(self.number_of_row)),
            places=self.places[places],
            speakers=self.speakers[places],
            sources=self.sources[places],
            lengths=self.lengths[places],
            held=held,
            passages=self.passages,
            starts=starts,
            session_of=session_of,
            bounds=_regions(starts, session_of),
            window_damping=self.window_damping[places],
            session_damping=self.session_damping[sessions],
            words=self.words,
            numbers=number_of_place,
        )

    @cached_property
    def place_of_passage(self) -> Integers:
        """For each passage row its place's number, -1 for none."""
        return self.passages if self.numbers is None else self.numbers[self.passages]

    def ends_of(self, sessions: Integers) -> tuple[Integers, Integers]:
        """The first place of each session, and the one after its last."""
        return self.starts[sessions], np.append(self.starts[1:], len(self.places))[sessions]

    def found(self, words: Sequence[str]) -> Found:
        """Where each word stands, and how often there."""
        return self.words.found(words, self.place_of_passage)

    @cached_property
    def concordance(self) -> Concordance:
        """Where words stand among the places, for many questions: it knows what one has asked for."""
        return Concordance(self.words, self.place_of_passage, self.window_damping)

    def holding(self, words: Sequence[str]) -> tuple[Integers, Integers]:
        """For each word how many windows hold it, and how many sessions."""
        known = self._holding
        held = [known.get(word) or known.setdefault(word, self._held_by(word)) for word in words]
        return np.array([each[0] for each in held], np.int64), np.array([each[1] for each in held], np.int64)

    @cached_property
    def _holding(self) -> dict[str, tuple[int, int]]:
        """Windows and sessions that hold a word, of the words that were asked for."""
        return {}

    def _held_by(self, word: str) -> tuple[int, int]:
        slots, places = self._slots, self.concordance(word).places
        near = np.zeros(len(slots.damping), bool)
        near[slots.of_place[places]] = True
        for _ in range(WINDOW):
            here = near.copy()
            near[1:] |= here[:-1]
            near[:-1] |= here[1:]
        sessions = np.zeros(len(self.starts), bool)
        sessions[self.session_of[places]] = True
        windows = np.count_nonzero(near) - np.count_nonzero(near[slots.empty])
        return int(windows), int(np.count_nonzero(sessions))

    def windows(self, found: Found, holding: Integers | None = None, texts: int | None = None) -> Floats:
        """Share of the query that each place holds together with the two places on each side in its session.

        Nearer words count for more: 3 of its own (fewer at an end of the session, where less is beside it), 2 and 1 of
        its neighbours'. Of a part of the dialogue `holding` tells how many windows of all `texts` hold each word.
        """
        slots = self._slots
        size = len(slots.damping)
        held = np.zeros(found.asked * size, np.float32)
        middle = found.words * size + slots.of_place[found.places]
        np.add.at(held, middle, slots.weights[found.places] * found.counts)
        for distance, weight in ((1, 2), (2, 1)):
            beside = np.float32(weight) * found.counts
            np.add.at(held, middle + distance, beside)
            np.add.at(held, middle - distance, beside)
        grid = held.reshape(found.asked, size)
        grid[:, slots.empty] = 0
        return bm25(grid, slots.damping, len(self.places) if texts is None else texts, holding)[slots.of_place]

    @cached_property
    def _slots(self) -> "_Slots":
        return _Slots.of(self.starts, self.session_of, self.window_damping)

    def sessions(self, found: Found, holding: Integers | None = None, texts: int | None = None) -> Floats:
        """Share of the query that the session of each place holds. See `windows`."""
        sessions = len(self.starts)
        where = found.words * sessions + self.session_of[found.places]
        summed = np.bincount(where, found.counts, found.asked * sessions).astype(np.float32)
        held = summed.reshape(found.asked, sessions)
        return bm25(held, self.session_damping, sessions if texts is None else texts, holding)[self.session_of]

    def occurrences(self, words: Sequence[str]) -> Floats:
        """How often each word stands at each place."""
        return self.words.occurrences(words, self.place_of_passage, len(self.places))

    def region_mean(self, values: Floats) -> Floats:
        """For each place the mean over it and the REGION places on each side, as far as its session reaches."""
        sums = np.zeros(len(values) + 1)
        values.astype(np.float64).cumsum(out=sums[1:])
        low, high = self.bounds
        found = sums.take(high, mode="wrap")  # a third faster than to check that they are inside
        found -= sums.take(low, mode="wrap")
        found /= self._breadths
        return found.astype(np.float32)

    @cached_property
    def _breadths(self) -> NDArray[np.float64]:
        """Places in the region of each."""
        low, high = self.bounds
        return (high - low).astype(np.float64)

    @cached_property
    def breadth(self) -> Floats:
        """How much each place says: the logarithm of its words."""
        return np.asarray(np.log1p(self.lengths), np.float32)

    def best_of_cells(self, values: Floats) -> Floats:
        """For each place the highest value of a cell that holds it."""
        return self.held.to_right(values, float("-inf"))

    def cells_at(self, place: int) -> Integers:
        """Numbers of the cells that hold a place: several only for a turn that was split."""
        return self.held.of_right(place)

    def places_in(self, cell: int) -> Integers:
        """Numbers of the places of a cell, by its number."""
        return self.held.of_left(cell)

    def number_of(self, place_key: int) -> int:
        """The number of the place with that key; -1 when it is not there."""
        number = int(np.searchsorted(self.places, place_key))
        return number if number < len(self.places) and self.places[number] == place_key else -1

    def to_cells(self, values: Floats) -> Floats:
        """For each cell the highest value of its places; 0 for one without any."""
        return self.held.to_left(values)


@dataclass(frozen=True, slots=True)
class _Slots:
    """Places with two empty slots around each session: what lies beside a place is never another session's."""

    of_place: Integers
    empty: Integers
    weights: Floats
    """What a place's own words count for beside those of its neighbours: 3, less 1 for each that it lacks."""
    damping: Floats
    """That of each slot's place."""

    @classmethod
    def of(cls, starts: Integers, session_of: Integers, damping: Floats) -> "_Slots":
        here = np.arange(len(session_of))
        ends = np.append(starts[1:], len(here))[: len(starts)]
        slots = here + WINDOW * (session_of + 1)
        spread = np.ones(len(here) + WINDOW * (len(starts) + 1), np.float32)
        spread[slots] = damping
        gaps = np.append(0, ends + WINDOW * np.arange(1, len(starts) + 1))
        empty = (gaps[:, None] + np.arange(WINDOW)).reshape(-1)
        weights = np.full(len(here), 3, np.float32)
        weights[starts] -= 1
        weights[ends - 1] -= 1
        return cls(slots, empty, weights, spread)


def _regions(starts: Integers, session_of: Integers) -> tuple[Integers, Integers]:
    here = np.arange(len(session_of))
    ends = np.append(starts, len(session_of))
    return np.maximum(here - REGION, ends[session_of]), np.minimum(here + REGION + 1, ends[session_of + 1])


def _widened(values: Floats, starts: Integers) -> Floats:
    """Each place's values with those of its session's nearest, by weight: 3 of itself, 2 and 1 of its neighbours."""
    return _beside(_beside(values, starts), starts)


def _beside(values: Floats, starts: Integers) -> Floats:
    """Each place's values with those of the places before and after it in the session. Exact for whole numbers."""
    wide = values.copy()
    wide[..., 1:] += values[..., :-1]
    wide[..., :-1] += values[..., 1:]
    first = starts[1:]
    if len(first):  # what came over from another session is taken back
        wide[..., first] -= values[..., first - 1]
        wide[..., first - 1] -= values[..., first]
    return wide
