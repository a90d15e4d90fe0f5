"""Verdicts: what a judge said about pairs of atoms, and which pairs to ask about."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from memforest_ray.facts.candidates import Mention
from memforest_ray.ids import AtomId
from memforest_ray.models.usage import Usage

__all__ = [
    "VERDICTS_PER_ATOM_MAX",
    "Judge",
    "Judgement",
    "Link",
    "Pair",
    "PairKey",
    "Question",
    "Verdict",
    "Wave",
    "pair_key",
]

VERDICTS_PER_ATOM_MAX = 4
"""Most verdicts asked for one atom in one write; further pairs wait for the next."""

PairKey = tuple[AtomId, AtomId]
"""A pair without an order: which of two atoms is the lesser can change when an older mention arrives."""


def pair_key(one: AtomId, other: AtomId) -> PairKey:
    """The pair of two different atoms."""
    return (one, other) if one < other else (other, one)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two atoms that may be one statement, in the order in which a judge is shown them: the lesser first."""

    first: AtomId
    second: AtomId
    similarity: float
    """Their cosine. Kept with the verdict, so that a later choice does not depend on when it was asked."""

    @property
    def key(self) -> PairKey:
        return pair_key(self.first, self.second)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judge's answer."""

    pair: Pair
    equivalent: bool


@dataclass(frozen=True, slots=True)
class Question:
    """A pair as a judge is shown it: the least mention of each atom, with its text and times; the lesser first."""

    pair: Pair
    first: Mention
    second: Mention


@dataclass(frozen=True, slots=True)
class Judgement:
    """What came of one question: whether the two say the same, or the reason why nobody said."""

    equivalent: bool | None
    failure: str | None = None
    usage: Usage = field(default_factory=Usage)
    """What it has cost."""


class Judge(Protocol):
    """Says which pairs are one statement. A failure is a value, not an exception: the pair stays pending."""

    @property
    def model(self) -> str:
        """Names model and prompt version."""

    async def judge(self, questions: Sequence[Question]) -> list[Judgement]:
        """One judgement for each question, in order; all in flight at once."""


class Link(NamedTuple):
    """What is known of a pair."""

    similarity: float
    equivalent: bool | None
    """`None`: still to be judged."""


@dataclass(frozen=True, slots=True)
class Wave:
    """The pairs to judge now, all at once, and those that have to wait."""

    ask: tuple[Pair, ...] = ()
    pending: tuple[Pair, ...] = ()

    @classmethod
    def of(cls, pairs: Iterable[Pair], per_atom_max: int) -> "Wave":
        """`pairs`, the most urgent first: the first `per_atom_max` of each atom are asked."""
        ask: list[Pair] = []
        pending: list[Pair] = []
        asked: Counter[AtomId] = Counter()
        for pair in pairs:
            if max(asked[pair.first], asked[pair.second]) >= per_atom_max:
                pending.append(pair)
                continue
            asked.update((pair.first, pair.second))
            ask.append(pair)
        return cls(tuple(ask), tuple(pending))
