"""Attribution: whether what was found is of the one whom a question names, or of somebody else."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memforest_ray.index.lexical import Floats
from memforest_ray.index.rows import index_words
from memforest_ray.query.inquiry import Inquiry
from memforest_ray.query.rank import Ranking, Scores
from memforest_ray.query.speakers import OWN_SPEAKER, assistants

__all__ = ["LEAD_MIN", "LEAD_OF_SURE_MIN", "lead_of"]

LEAD_MIN: Final = 0.2
"""Lead below which a question is taken to be about somebody else's words.

On open dialogue where a question was put to the wrong one of two people 70 % of such questions are refused, for this or
another reason, and 6 % of those for a single thing that was said.
"""
LEAD_OF_SURE_MIN: Final = 0.0
"""The same where the best of all hits is of the one who is named, and hardly could be better."""
_NOTHING: Final = -20.0
"""Log-odds of what is not there."""


def lead_of(inquiry: Inquiry, scores: Scores, ranking: Ranking) -> float | None:
    """How far the best that the named one said, or that names them, is ahead of the best of all others.

    In log-odds, the name itself left out of account, plus the share of the question's other words that each holds.
    None when there is nobody to confuse: a question names nobody who speaks, or several, or "me"; assistants speak of
    those whom they serve, and have no life of their own.
    """
    named = inquiry.question.named(inquiry.speakers)
    if named is None or inquiry.speakers[named] == OWN_SPEAKER:
        return None
    statements = inquiry.corpus.statements
    serving = list(assistants(inquiry.version, inquiry.speakers))
    mine = (statements.speakers == named) | _holding(inquiry, index_words(inquiry.speakers[named]))
    others = ~mine & ~np.isin(statements.speakers, serving)
    if named in serving or not others.any():
        return None
    evidence = _log_odds(scores.facts) - scores.fact_parts["speaker"] / ranking.temperature
    people = {word for speaker in inquiry.speakers.values() for word in index_words(speaker)}
    asked = [word for word in inquiry.question.terms if word not in people]
    share = statements.coverage(asked) if asked else np.zeros(len(mine), np.float32)
    return _best(evidence, mine) - _best(evidence, others) + _best(share, mine, 0.0) - _best(share, others, 0.0)


def _holding(inquiry: Inquiry, words: Sequence[str]) -> NDArray[np.bool_]:
    """Facts that hold all of these words."""
    statements = inquiry.corpus.statements
    if not words:
        return np.zeros(len(statements.facts), bool)
    held = statements.words.occurrences(words, statements.number_of_row, len(statements.facts))
    holding: NDArray[np.bool_] = np.all(held > 0, axis=0)
    return holding


def _log_odds(scores: Floats) -> NDArray[np.float64]:
    clipped = np.clip(scores.astype(np.float64), 1e-6, 1 - 1e-6)
    return np.log(clipped / (1 - clipped))


def _best(values: NDArray[np.floating], among: NDArray[np.bool_], nothing: float = _NOTHING) -> float:
    return float(values[among].max()) if among.any() else nothing
