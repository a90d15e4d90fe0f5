"""Asking: a search, then an answer from its hits: a chat model's, or the evidence in its own words."""

from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from memforest_ray.commit.version import Version
from memforest_ray.query.answering.answer import answer
from memforest_ray.query.answering.replies import answer_request, read_reply
from memforest_ray.query.request import QueryRequest
from memforest_ray.query.result import Answer
from memforest_ray.query.search import DEFAULT, NEIGHBOUR, search_steps
from memforest_ray.query.steps import Steps, Tell

__all__ = ["WORTH_ASKING", "ask_steps"]

WORTH_ASKING: Final = 0.05
"""Score of the best hit below which no model is asked: no question of open dialogue that had an answer lay there."""


def ask_steps(
    version: Version,
    request: QueryRequest,
    vector: NDArray[np.floating[Any]] | None,
    *,
    neighbour: float = NEIGHBOUR,
    model: bool = False,
) -> Steps[Answer]:
    """An answer from one version alone. With `model` a chat model words it; should that fail, the evidence speaks.

    Raises InvalidInput for an unknown mode.
    """
    result = yield from search_steps(version, request, vector, DEFAULT, neighbour=neighbour, attribute=True)
    if not model or not result.hits or result.hits[0].score < WORTH_ASKING:
        return answer(result, request.text)
    reply = yield from Tell(answer_request(request.text, result), result)
    spent = {**result.trace.spent, "answer": reply.usage}
    text = None if reply.value is None else reply.value.get("text")
    if not isinstance(text, str) or not text.strip():
        note = f"the model did not answer ({reply.failure or 'an empty answer'}): the evidence is quoted instead"
        fallbacks = (*result.trace.fallbacks, note)
        return answer(replace(result, trace=replace(result.trace, fallbacks=fallbacks, spent=spent)), request.text)
    return read_reply(text, replace(result, trace=replace(result.trace, spent=spent)))
