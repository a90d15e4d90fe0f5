"""Statements: the facts as one query may see them, and where in the dialogue they come from."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from memforest_ray.index.concordance import Concordance
from memforest_ray.index.lexical import Floats, Found, LexiconView, bm25_of, damping
from memforest_ray.index.pairs import Pairs, distinct, numbering
from memforest_ray.index.placed import Placed
from memforest_ray.index.shelves import OWNER, ShelfView
from memforest_ray.index.table import Integers, renumbering

__all__ = ["Statements"]


@dataclass(frozen=True)
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
    placed: Placed | None = None
    """Their mentions in the order of their places; of a part of the facts it is not kept."""

    @classmethod
    def of(cls, shelf: ShelfView, places: Integers, as_of: int | None, before: Placed | None = None) -> "Statements":
        """What lives on the facts' shelf; with an instant, the facts that were said by then.

        `places` are the dialogue's; `before` is `placed` of an earlier version of the same shelf.
        """
        seen = shelf.table.live()
        if as_of is not None:
            seen &= shelf.table["source"] <= as_of
        facts = np.flatnonzero(seen)
        numbers = renumbering(seen)
        owners = shelf.parts[OWNER]
        placed = Placed.of(shelf.parts["place"], shelf.parts.live() & seen[owners], before)
        wanted = shelf.parts["place"][placed.rows]
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
            told=Pairs.by_right(numbers[owners[placed.rows[there]]], found[there], len(facts), len(places)),
            damping=damping(lengths),
            number_of_row=numbers,
            words=shelf.words,
            placed=placed,
        )

    def among(self, firsts: Integers, ends: Integers, places: Integers) -> tuple["Statements", Integers]:
        """Only what comes from `places`, which are those from each of `firsts` up to `ends`; and its numbers here."""
        lefts, rights = self.told.between(firsts, ends)
        facts = distinct(lefts, len(self.facts))
        numbers = numbering(facts, len(self.facts))
        told = Pairs.by_right(numbers[lefts], np.searchsorted(places, rights), len(facts), len(places))
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

    def found(self, words: Sequence[str]) -> Found:
        """In which facts each word stands, and how often."""
        return self.words.found(words, self.number_of_row)

    def matches(self, words: Sequence[str]) -> Floats:
        """Share of the query that each fact's own words hold."""
        return bm25_of(self.found(words), self.damping)

    @cached_property
    def concordance(self) -> Concordance:
        """Where words stand among the facts, for many questions: it knows what one has asked for."""
        return Concordance(self.words, self.number_of_row, self.damping)

    def coverage(self, words: Sequence[str]) -> Floats:
        """Share of the words that each fact holds, rare words counting for more, however long the fact is."""
        held = self.words.occurrences(words, self.number_of_row, len(self.facts)) > 0
        weights = np.log1p(len(self.facts) / (1 + held.sum(axis=1))).astype(np.float32)
        return np.asarray((weights / max(float(weights.sum()), 1e-9)) @ held, np.float32)

    @cached_property
    def breadth(self) -> Floats:
        """How much each fact says: the logarithm of its words."""
        return np.asarray(np.log1p(self.lengths), np.float32)

    def from_places(self, values: Floats) -> Floats:
        """For each fact the highest value of its places; 0 for a fact whose dialogue is not there."""
        return self.told.to_left(values)

    def to_places(self, values: Floats, otherwise: Floats) -> Floats:
        """For each place the highest value of its facts; `otherwise` where it has none."""
        return self.told.to_right(values, otherwise)
