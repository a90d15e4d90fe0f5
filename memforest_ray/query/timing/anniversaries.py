"""Days of every year among the facts: a birthday has a day and no event time, since no year of it was said."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memforest_ray.facts.expressions import AnyYear, find_any_year
from memforest_ray.ids import FactId
from memforest_ray.index.rows import index_words
from memforest_ray.index.strongest import strongest
from memforest_ray.index.table import UNKNOWN
from memforest_ray.query.inquiry import Inquiry
from memforest_ray.query.timing.temporal import TimeReading

__all__ = ["naming", "yearly"]

_YEARLY: Final = frozenset(index_words("birthday bday anniversary born"))
_READ_MAX: Final = 128
"""Facts with one of the words whose text is read: "may" stands in thousands."""


def naming(inquiry: Inquiry, reading: TimeReading) -> NDArray[np.bool_]:
    """Undated facts that name the day or month asked for, of whatever year."""
    named = np.zeros(len(inquiry.corpus.statements.facts), bool)
    for each in reading.any_year:
        words = [word for word in index_words(inquiry.request.text[each.start : each.end]) if word[0].isalpha()]
        named |= _telling(inquiry, words, each)
    return named


def yearly(inquiry: Inquiry) -> NDArray[np.bool_]:
    """Where a birthday or the like is asked for: undated facts that tell of one, and its day or month."""
    asked = sorted(_YEARLY.intersection(index_words(inquiry.request.text)))
    return _telling(inquiry, asked, None)


def _telling(inquiry: Inquiry, words: Sequence[str], wanted: AnyYear | None) -> NDArray[np.bool_]:
    """Undated facts that hold one of the words, and a day or month without a year: any, or that one."""
    statements = inquiry.corpus.statements
    telling = np.zeros(len(statements.facts), bool)
    if words:
        for number in _likely(inquiry, (statements.starts == UNKNOWN) & (statements.matches(words) > 0)):
            fact = inquiry.fact(FactId(inquiry.version.index.facts.ids[statements.facts[number]]))
            told = [] if fact is None else find_any_year(fact.text)
            telling[number] = any(wanted is None or _is_of(each, wanted) for each in told)
    return telling


def _likely(inquiry: Inquiry, holding: NDArray[np.bool_]) -> Iterator[int]:
    """Numbers of the facts to read: of too many, birthdays and what is most like the question."""
    numbers = np.flatnonzero(holding)
    near = inquiry.facts + inquiry.words + inquiry.corpus.statements.coverage(sorted(_YEARLY))
    best = strongest(near[numbers], _READ_MAX)[: 2 * _READ_MAX]  # ties come on top
    yield from numbers[best].tolist()


def _is_of(told: AnyYear, wanted: AnyYear) -> bool:
    return told.month == wanted.month and wanted.day in (None, told.day)
