"""A corpus: what one query may see of the index, laid out so that whole arrays answer it.

The unit of the dialogue is the *place*, a turn. Places stand in the order of their sessions, so the turns beside one
are its neighbours in an array. Facts and cells point at their places.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memforest_ray.facts.candidates import CANDIDATES_MAX
from memforest_ray.index.lexical import Floats, LexiconView, bm25, bm25_of, damping
from memforest_ray.index.pairs import Pairs, distinct, ranges
from memforest_ray.index.shelves import OWNER, ShelfView
from memforest_ray.index.table import UNKNOWN, Integers, renumbering, sessions_of

__all__ = ["Corpus", "Dialogue", "Narrowed", "Statements", "numbering"]


REGION: Final = 4
"""Turns on each side that make the region of one: about what a session tree's lowest node spans."""


WINDOW: Final = 2
"""Turns on each side whose words count for one."""


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
    held: Pairs
    """Cells, by their numbers, and the places that lie in each."""
    place_of_passage: Integers
    """For each passage row its place's number, -1 for none."""
    starts: Integers
    """Where each session begins among `places`."""
    session_of: Integers
    """For each place the number of its session among `starts`."""
    first: NDArray[np.bool_]
    """Whether a place is the first of its session."""
    bounds: tuple[Integers, Integers]
    """For each place the first of its region, and the one after the last."""
    window_damping: Floats
    """BM25's hold on each place with its neighbours, for being long ..."""
    session_damping: Floats
    """... and on each session."""
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
        session_of = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(places)))
        return cls(
            cells=np.flatnonzero(seen),
            number_of_row=numbers,
            places=places,
            speakers=shelf.parts["speaker"][rows[first]],
            sources=shelf.parts["source"][rows[first]],
            lengths=lengths,
            held=Pairs.of(numbers[owners[rows]], number, int(seen.sum()), len(places)),
            place_of_passage=place_of_passage,
            starts=starts,
            session_of=session_of,
            first=_firsts(starts, len(session_of)),
            bounds=_regions(starts, session_of),
            window_damping=damping(_widened(lengths, starts)),
            session_damping=damping(np.add.reduceat(lengths, starts) if len(starts) else lengths),
            words=shelf.words,
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
        held = Pairs.of(number_of_cell[lefts], number_of_place[rights], len(cells), len(places))
        return Dialogue(
            cells=self.cells[cells],
            number_of_row=numbering(self.cells[cells], len(self.number_of_row)),
            places=self.places[places],
            speakers=self.speakers[places],
            sources=self.sources[places],
            lengths=self.lengths[places],
            held=held,
            place_of_passage=number_of_place[self.place_of_passage],
            starts=starts,
            session_of=session_of,
            first=_firsts(starts, len(session_of)),
            bounds=_regions(starts, session_of),
            window_damping=self.window_damping[places],
            session_damping=self.session_damping[sessions],
            words=self.words,
        )

    def ends_of(self, sessions: Integers) -> tuple[Integers, Integers]:
        """The first place of each session, and the one after its last."""
        return self.starts[sessions], np.append(self.starts[1:], len(self.places))[sessions]

    def found(self, words: Sequence[str]) -> list[tuple[Integers, Floats]]:
        """For each word the places where it stands, and how often there."""
        return self.words.found(words, self.place_of_passage)

    def holding(self, found: Sequence[tuple[Integers, Floats]]) -> tuple[Floats, Floats]:
        """For each word how many windows hold it, and how many sessions."""
        windows, sessions = [], []
        for where, _ in found:
            here, whole = np.zeros(len(self.places), bool), np.zeros(len(self.starts), bool)
            here[where] = True
            whole[self.session_of[where]] = True
            windows.append(np.count_nonzero(self._near(here)))
            sessions.append(np.count_nonzero(whole))
        return np.array(windows, np.float32), np.array(sessions, np.float32)

    def _near(self, here: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which places have one of these in their window."""
        for _ in range(WINDOW):
            near = here.copy()
            near[1:] |= here[:-1] & ~self.first[1:]
            near[:-1] |= here[1:] & ~self.first[1:]
            here = near
        return here

    def windows(self, occurrences: Floats, holding: Floats | None = None, texts: int | None = None) -> Floats:
        """Share of the query that each place holds together with the two places on each side in its session.

        Of a part of the dialogue `holding` tells how many windows of all `texts` hold each word (`holding`).
        """
        return bm25(_widened(occurrences, self.starts), self.window_damping, holding, texts)

    def sessions(self, occurrences: Floats, holding: Floats | None = None, texts: int | None = None) -> Floats:
        """Share of the query that the session of each place holds. See `windows`."""
        if not len(self.places):
            return np.zeros(0, np.float32)
        summed = np.add.reduceat(occurrences, self.starts, axis=-1)
        return bm25(summed, self.session_damping, holding, texts)[self.session_of]

    def occurrences(self, words: Sequence[str]) -> Floats:
        """How often each word stands at each place."""
        return self.words.occurrences(words, self.place_of_passage, len(self.places))

    def region_mean(self, values: Floats) -> Floats:
        """For each place the mean over it and the REGION places on each side, as far as its session reaches."""
        sums = np.zeros(len(values) + 1)
        np.cumsum(values, dtype=np.float64, out=sums[1:])
        low, high = self.bounds
        return np.asarray((sums[high] - sums[low]) / (high - low), np.float32)

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


def numbering(kept: Integers, size: int) -> Integers:
    """For each of `size` numbers its place among `kept`, -1 for none."""
    numbers = np.full(size, -1, np.int64)
    numbers[kept] = np.arange(len(kept))
    return numbers


def _firsts(starts: Integers, places: int) -> NDArray[np.bool_]:
    first = np.zeros(places, bool)
    first[starts] = True
    return first


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
    told: Pairs
    """Facts, by their numbers, and the dialogue's places of the mentions of each."""
    damping: Floats
    """BM25's hold on each for being long."""
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
        lengths = table["length"][facts].astype(np.float32)
        return cls(
            facts=facts,
            speakers=table["speaker"][facts],
            sources=table["source"][facts],
            starts=table["event_start"][facts],
            ends=table["event_end"][facts],
            chains=table["chain"][facts],
            lengths=lengths,
            told=Pairs.of(numbers[owners[rows[there]]], found[there], len(facts), len(places)),
            damping=damping(lengths),
            number_of_row=numbers,
            words=shelf.words,
        )

    def among(self, firsts: Integers, ends: Integers, places: Integers) -> tuple["Statements", Integers]:
        """Only what comes from `places`, which are those from each of `firsts` up to `ends`; and its numbers here."""
        lefts, rights = self.told.between(firsts, ends)
        facts = distinct(lefts, len(self.facts))
        numbers = numbering(facts, len(self.facts))
        told = Pairs.of(numbers[lefts], np.searchsorted(places, rights), len(facts), len(places))
        kept = Statements(
            facts=self.facts[facts],
            speakers=self.speakers[facts],
            sources=self.sources[facts],
            starts=self.starts[facts],
            ends=self.ends[facts],
            chains=self.chains[facts],
            lengths=self.lengths[facts],
            told=told,
            damping=self.damping[facts],
            number_of_row=numbering(self.facts[facts], len(self.number_of_row)),
            words=self.words,
        )
        return kept, facts

    def found(self, words: Sequence[str]) -> list[tuple[Integers, Floats]]:
        """For each word the facts in which it stands, and how often."""
        return self.words.found(words, self.number_of_row)

    def matches(self, words: Sequence[str]) -> Floats:
        """Share of the query that each fact's own words hold."""
        return bm25_of(self.found(words), self.damping)

    def coverage(self, words: Sequence[str]) -> Floats:
        """Share of the words that each fact holds, rare words counting for more, however long the fact is."""
        held = self.words.occurrences(words, self.number_of_row, len(self.facts)) > 0
        weights = np.log1p(len(self.facts) / (1 + held.sum(axis=1))).astype(np.float32)
        return np.asarray((weights / max(float(weights.sum()), 1e-9)) @ held, np.float32)

    def from_places(self, values: Floats) -> Floats:
        """For each fact the highest value of its places; 0 for a fact whose dialogue is not there."""
        return self.told.to_left(values)

    def to_places(self, values: Floats, otherwise: Floats) -> Floats:
        """For each place the highest value of its facts; `otherwise` where it has none."""
        return self.told.to_right(values, otherwise)


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
    def of(cls, facts: ShelfView, cells: ShelfView, as_of: int | None) -> "Corpus":
        """Everything live, or what was known at an instant."""
        dialogue = Dialogue.of(cells, as_of)
        statements = Statements.of(facts, dialogue.places, as_of)
        speakers = np.unique(np.concatenate([dialogue.speakers, statements.speakers]))
        known = dialogue.sources[dialogue.sources != UNKNOWN]
        latest = int(known.max()) if len(known) else UNKNOWN
        return cls(dialogue, statements, speakers, _told_in_cells(dialogue, statements), latest)


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
