"""Turns that say what somebody has corrected since: they stay, rank below what was put in their place, and say so."""

from dataclasses import replace

import numpy as np

from memforest_ray.commit.version import Version
from memforest_ray.facts.canonical import Fact
from memforest_ray.ids import SessionId
from memforest_ray.query.inquiry import Inquiry
from memforest_ray.query.rank import Ranking, Scores

__all__ = ["CORRECTED", "corrected_turns", "held_back"]

CORRECTED = "holds a statement that was corrected"
"""The note of such a hit."""


def corrected_turns(version: Version) -> frozenset[tuple[SessionId, int]]:
    """Session and number of each. Costs about the withheld facts."""
    return frozenset(
        (mention.session_id, turn)
        for fact in version.facts.hidden.values()
        if _is_corrected(version, fact)
        for mention in fact.mentions
        for turn in mention.candidate.turns
    )


def _is_corrected(version: Version, fact: Fact) -> bool:
    """Whether something stands in its place, and it was not only forgotten."""
    names = {fact.id, *fact.atoms}
    return any(
        told.candidate.corrected_from in names
        for mention in fact.mentions
        for told in version.facts.of_cell(mention.cell_id)
    )


def held_back(inquiry: Inquiry, scores: Scores, ranking: Ranking) -> Scores:
    """The scores with those turns held back as much as a fact of the wrong time."""
    turns = corrected_turns(inquiry.version)
    numbers = [number for session, turn in turns if (number := inquiry.place_number(session, turn)) >= 0]
    if not numbers:
        return scores
    held = np.zeros(len(scores.places), bool)
    held[numbers] = True
    certain = scores.places.astype(np.float64)
    odds = np.exp(-ranking.untimely / ranking.temperature) * certain / np.maximum(1 - certain, 1e-9)
    places = np.where(held, np.round(odds / (1 + odds), 6), certain).astype(np.float32)
    parts = {**scores.place_parts, "corrected": np.float32(-ranking.untimely) * held}
    return replace(scores, places=places, place_parts=parts)
