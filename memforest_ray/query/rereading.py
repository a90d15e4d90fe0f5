"""Rereading: of dialogue that said more than its statements could keep, the passage that speaks of the question.

A cell gives so many statements at most (one whose extraction failed none), and its vector tells of its beginning only:
a detail in the middle of a very long turn stands in neither. Such cells are few. Those that hold enough of a question's
words are read again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from memforest_ray.facts.cells import cell_text
from memforest_ray.facts.words import fold
from memforest_ray.ids import CellId
from memforest_ray.index.lexical import SATURATION, Floats
from memforest_ray.index.rows import index_words
from memforest_ray.index.table import Integers
from memforest_ray.query.inquiry import AS_LIKENESS, Inquiry
from memforest_ray.query.passages import passage
from memforest_ray.query.steps import Embed, Steps

__all__ = ["Reread", "reread"]

_REREAD_MAX: Final = 3
"""Passages of one question: each costs a vector."""
_SHARE_MIN: Final = 0.5
"""Share of a question's words, rare ones counting for more, that a place must hold to be read again."""
_LONG_WORDS: Final = 150
"""Words, without those that say little, from which a turn is longer than what a small model reads of it."""
_CELLS_MAX: Final = 4
"""Parts of one split turn that are read: a turn may have fifty."""
_FULL: Final = 1 / (SATURATION + 1)
"""What `bm25` gives a text of mean length that holds every word once."""


@dataclass(frozen=True, slots=True)
class Reread:
    """What passages add."""

    likeness: Floats
    """By number of the place, 0 where none was read."""
    words: Floats
    """Share of the question's words by number of the place, as `bm25` counts it."""
    cells: Floats
    """1 for the part of a split turn that is shown, by number of the cell."""


@dataclass(frozen=True, slots=True)
class _Passage:
    place: int
    cell: int
    text: str
    share: float


def reread(inquiry: Inquiry, vector: NDArray[np.floating[Any]] | None) -> Steps[Reread | None]:
    """Read what was cut short once more, where it may answer; None when nothing is. `vector` is the question's."""
    found = _passages(inquiry)
    if not found:
        return None
    vectors = yield from Embed(tuple(each.text for each in found))
    dialogue = inquiry.corpus.dialogue
    places, words = np.zeros(len(dialogue.places), np.float32), np.zeros(len(dialogue.places), np.float32)
    cells = np.zeros(len(dialogue.cells), np.float32)
    for each in found:
        own, share = vectors.get(each.text), each.share * _FULL
        like = min(AS_LIKENESS * share, 1.0) if own is None or vector is None else float(own @ vector)
        places[each.place], words[each.place], cells[each.cell] = like, share, 1.0
    return Reread(places, words, cells)


def _passages(inquiry: Inquiry) -> list[_Passage]:
    """The best passages of the places that hold most of the question's words."""
    cut = _cut_short(inquiry)
    if not len(cut):
        return []
    people = {word for name in inquiry.speakers.values() for word in index_words(name)}
    asked = [word for word in inquiry.question.terms if word not in people]
    if not asked:
        return []
    weights, held = _weights(inquiry, asked)
    shares = weights @ held[:, cut]
    best = [
        int(cut[number]) for number in np.argsort(-shares, kind="stable")[:_REREAD_MAX] if shares[number] >= _SHARE_MIN
    ]
    by_word = dict(zip(asked, map(float, weights), strict=True))
    return [max(_parts(inquiry, place, by_word), key=lambda each: each.share) for place in best]


def _cut_short(inquiry: Inquiry) -> Integers:
    """Places that say more than is kept of them: with as many statements as may be, or long and with none."""
    corpus = inquiry.corpus
    return np.flatnonzero(corpus.crowded | (corpus.untold & (corpus.dialogue.lengths >= _LONG_WORDS)))


def _parts(inquiry: Inquiry, place: int, weights: Mapping[str, float]) -> Iterator[_Passage]:
    """The best passage of each cell that holds the place: several only for a turn that was split."""
    version, dialogue = inquiry.version, inquiry.corpus.dialogue
    texts = {}
    for number in map(int, dialogue.cells_at(place)):
        cell = version.cells[CellId(version.index.cells.ids[dialogue.cells[number]])]
        texts[number] = cell_text(version.sessions[cell.session_id], cell)
    for number in sorted(texts, key=lambda each: (-_promise(texts[each], weights), each))[:_CELLS_MAX]:
        text, share = passage(texts[number], weights)
        yield _Passage(place, number, text, share)


def _promise(text: str, weights: Mapping[str, float]) -> float:
    """Weight of the stems that stand anywhere in a text: quick, and never too little for words that keep their stem."""
    folded = fold(text)
    return sum(weight for stem, weight in weights.items() if stem in folded)


def _weights(inquiry: Inquiry, words: Sequence[str]) -> tuple[Floats, Floats]:
    """The words' weights, which add up to 1, and which place holds which."""
    held = (inquiry.corpus.dialogue.occurrences(words) > 0).astype(np.float32)
    weights = np.log1p(held.shape[1] / (1 + held.sum(axis=1)))
    return np.asarray(weights / weights.sum(), np.float32), held
