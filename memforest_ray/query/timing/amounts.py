"""Amounts: of statements that differ in a number alone, the one that holds: "5 years at the firm", then "6 years".

Nobody says that the older one is over, and no attribute names the two. Both stay; a question for an amount means the
latest, unless it asks for an earlier one.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

import numpy as np

from memforest_ray.facts.candidates import Kind, Mention
from memforest_ray.facts.canonical import Fact
from memforest_ray.facts.words import fold, word_set, words
from memforest_ray.ids import FactId
from memforest_ray.index.lexical import Floats
from memforest_ray.index.rows import index_words
from memforest_ray.index.strongest import strongest
from memforest_ray.query.inquiry import Inquiry
from memforest_ray.query.timing.directions import Direction

__all__ = ["Amounts", "amounts", "has_number"]

_COUNTS: Final = re.compile(r"\bhow many\b", re.IGNORECASE)
_ASKS: Final = re.compile(r"\bhow (?:many|much|old|long|tall|far|big|heavy|high)\b", re.IGNORECASE)
_PAST: Final = re.compile(r"\b(?:did|was|were|had)\b", re.IGNORECASE)
_NEAR: Final = 32
"""Best facts among which one is looked for that tells an amount."""
_MEANT: Final = 0.8
"""Share of the best score from which that one is what is asked for."""
_ALIKE: Final = 0.6
"""Part of the words of two statements that both hold, from which they tell of the same."""
_HAPPENED: Final = frozenset({Kind.EVENT, Kind.PLAN})
"""Kinds of which there may be several: "ran it in 52 minutes" is not over with the next run."""
_NUMBER: Final = re.compile(r"\d(?:[\d.,]*\d)?")
_WRITTEN: Final = word_set(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred"
)
_OWNER: Final = re.compile(r"\b(?!(?:it|that|he|she|what|there|here|who)['’])[\w-]+(?=['’]s\b)", re.IGNORECASE)
_FILLERS: Final = word_set("already by currently exactly just meanwhile now nowadays only still today")


@dataclass(frozen=True, slots=True)
class Amounts:
    """The one of several amounts that is asked for."""

    fact: Fact
    mention: Mention
    note: str
    others: frozenset[FactId]


@dataclass(frozen=True, slots=True)
class _Amount:
    fact: Fact
    number: str
    unit: str
    """The word behind the number; empty where there is none."""
    rest: frozenset[str]
    owners: frozenset[str]
    """Whose it is, but for the speaker's own: "sister" of "my sister's rent"."""

    def like(self, other: "_Amount") -> bool:
        """Whether both tell how much there is of the same."""
        common, both = self.rest & other.rest, self.rest | other.rest
        same = (self.fact.speaker, self.unit, self.owners) == (other.fact.speaker, other.unit, other.owners)
        return same and (not both or len(common) >= _ALIKE * len(both))


def amounts(inquiry: Inquiry, direction: Direction | None, scores: Floats) -> Amounts | None:
    """Which statement of an amount a question means; `scores` are those of the corpus's facts.

    None where it asks for no amount, or all that is known of it is one.
    """
    asked = inquiry.question.text
    if not len(scores) or not _ASKS.search(asked):
        return None
    told = list(_told(inquiry, scores))
    if not told or (_COUNTS.search(asked) and not {*index_words(told[0].unit)} & {*inquiry.question.terms}):
        return None
    alike = [each for each in told if each.like(told[0])]
    runs = _runs(alike)
    chosen = _chosen(runs, direction, past=_PAST.search(asked) is not None)
    if chosen is None:
        return None
    which, (amount, mention) = chosen
    others = frozenset(each.fact.id for each in alike if each.fact.id != amount.fact.id)
    return Amounts(amount.fact, mention, f"{which}: {amount.number} {amount.unit}".rstrip(), others)


def has_number(text: str) -> bool:
    """Whether a text tells a number, in digits or as a word."""
    return _NUMBER.search(text) is not None or not _WRITTEN.isdisjoint(words(text))


def _told(inquiry: Inquiry, scores: Floats) -> Iterator[_Amount]:
    """What the best facts tell of amounts, if one of them is as good as anything; the best first."""
    statements, ids = inquiry.corpus.statements, inquiry.version.index.facts.ids
    near = strongest(scores, _NEAR)
    near = near[np.argsort(-scores[near], kind="stable")]
    first = True
    for number in near.tolist():
        fact = inquiry.fact(FactId(ids[statements.facts[number]]))
        amount = None if fact is None or fact.kind in _HAPPENED else _read(fact)
        if amount is None:
            continue
        if first and scores[number] < _MEANT * scores[near[0]]:
            return
        first = False
        yield amount


def _read(fact: Fact) -> _Amount | None:
    """The one number of a statement, and what it counts; None where there is none, or there are several."""
    text = _NUMBER.sub(lambda found: f" {_digits(found[0])} ", fact.text)
    said = [word for word in words(text) if word not in _FILLERS]
    places = [place for place, word in enumerate(said) if word.isdecimal() or word in _WRITTEN]
    if len(places) != 1:
        return None
    place = places[0]
    unit = said[place + 1] if place + 1 < len(said) else ""
    rest = [*said[:place], *said[place + 2 :]]
    owners = frozenset(map(fold, _OWNER.findall(fact.text))) - {fold(fact.speaker)}
    return _Amount(fact, said[place], unit, frozenset(index_words(" ".join(rest))), owners)


def _digits(number: str) -> str:
    """Without separators: what is behind a decimal point is no other number."""
    return re.sub(r"[.,]", "", number)


def _runs(alike: Iterable[_Amount]) -> list[list[tuple[_Amount, Mention]]]:
    """Statements in the order in which they were made, those of one number in a row together."""
    made = [(amount, mention) for amount in alike for mention in amount.fact.mentions if mention.source_ms is not None]
    made.sort(key=lambda each: (each[1].source_ms or 0, each[1].session_id, each[1].candidate.turns[0], each[1].number))
    return [list(run) for _, run in groupby(made, key=lambda each: each[0].number)]


def _chosen(
    runs: Sequence[list[tuple[_Amount, Mention]]], direction: Direction | None, *, past: bool
) -> tuple[str, tuple[_Amount, Mention]] | None:
    if len(runs) < 2:
        return None
    if direction is Direction.PREVIOUS:
        return "previous", runs[-2][-1]
    if direction is Direction.FIRST:
        return "first", runs[0][0]
    if direction in {Direction.CURRENT, Direction.LAST} or (direction is None and not past):
        return "current", runs[-1][-1]
    return None
