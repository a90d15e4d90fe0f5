"""Reranking: a chat model grades the best hits in one call, and they are ordered by that, too."""

from collections.abc import Sequence
from dataclasses import replace
from math import exp, log
from typing import Final

from memforest_ray.models.chat import ChatReply
from memforest_ray.query.grading import graded
from memforest_ray.query.inquiry import Inquiry
from memforest_ray.query.rank import Ranking
from memforest_ray.query.render import line
from memforest_ray.query.result import Hit
from memforest_ray.query.steps import Steps

__all__ = ["RERANKED_MAX", "reranked"]

RERANKED_MAX: Final = 20
"""Hits that a model grades: below them hardly anything answers (recall grows by .05 from 20 turns to 50)."""


def reranked(inquiry: Inquiry, hits: Sequence[Hit], ranking: Ranking) -> Steps[tuple[list[Hit], ChatReply]]:
    """The hits with what the model says of the first of them in their scores; and its reply.

    Those that time singled out stay first. Scores stay absolute: a grade is evidence like any other.
    """
    grades, reply = yield from graded(inquiry, [line(hit) for hit in hits[:RERANKED_MAX]])
    scored = [_with(hit, grades.get(place, 0.0) * ranking.judged, ranking) for place, hit in enumerate(hits)]
    singled = [hit for hit in scored if hit.note]
    others = sorted((hit for hit in scored if not hit.note), key=lambda hit: -hit.score)  # stable
    best = max((hit.score for hit in others), default=0.0)
    return [*(replace(hit, score=max(hit.score, best)) for hit in singled), *others], reply


def _with(hit: Hit, evidence: float, ranking: Ranking) -> Hit:
    """A hit with more evidence in its score."""
    if not evidence:
        return hit
    certain = min(max(hit.score, 1e-6), 1 - 1e-6)
    odds = exp(log(certain / (1 - certain)) + evidence / ranking.temperature)
    why = None if hit.why is None else replace(hit.why, parts=(*hit.why.parts, ("reranked", evidence)))
    return replace(hit, score=round(odds / (1 + odds), 6), why=why)
