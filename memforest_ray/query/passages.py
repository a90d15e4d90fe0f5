"""Passages: the part of a long text that holds most of a question's words."""

from collections.abc import Mapping, Sequence
from typing import Final

from memforest_ray.facts.clauses import clauses
from memforest_ray.index.rows import index_words

__all__ = ["PASSAGE_CHARS", "passage"]

PASSAGE_CHARS: Final = 400
"""About three sentences: what answers, with what it speaks of."""


def passage(text: str, weights: Mapping[str, float], chars: int = PASSAGE_CHARS) -> tuple[str, float]:
    """The run of sentences of at most `chars` with the greatest weight of words, and that weight.

    A sentence that is longer is taken whole. Ties go to the earlier and shorter run. Linear in the text.
    """
    parts = clauses(text)
    held = [{word for word in index_words(part.text) if word in weights} for part in parts]
    best, chosen = 0.0, (0, 0)
    first = 0
    for last in range(len(parts)):
        while first < last and parts[last].end - parts[first].start > chars:
            first += 1
        value = sum(weights[word] for word in set().union(*held[first : last + 1]))
        if value > best:
            best, chosen = value, (first, last)
    if not parts:
        return text[:chars], 0.0
    first, last = _trimmed(held, *chosen)
    return text[parts[first].start : parts[last].end], best


def _trimmed(held: Sequence[set[str]], first: int, last: int) -> tuple[int, int]:
    """The run without sentences at its ends that hold nothing asked for, but for one that leads in."""
    while last > first and not held[last]:
        last -= 1
    while first < last and not held[first]:
        first += 1
    return max(first - 1, 0) if last - first < 1 and first > 0 and not held[first - 1] else first, last
