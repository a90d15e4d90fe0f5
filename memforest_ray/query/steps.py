"""Steps: a search says what it needs of models and is sent the answers; no model, clock or I/O in here.

A search holds one version of a forest until it ends.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from memforest_ray.effects import Answered, carried_out
from memforest_ray.models.chat import ChatReply, ChatRequest
from memforest_ray.query.result import Result

__all__ = ["NO_MODEL", "Consult", "Effect", "Embed", "Steps", "Tell", "Vectors", "alone", "unanswered"]

T = TypeVar("T")
Vectors: TypeAlias = Mapping[str, NDArray[np.floating[Any]]]
"""Vectors by text."""

NO_MODEL: Final = "no chat model is configured"


@dataclass(frozen=True, slots=True)
class Embed(Answered[Vectors]):
    """Make vectors of these parts of a question. Answer: `Vectors`, without those that the embedder does not know."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Consult(Answered[Sequence[ChatReply]]):
    """Ask a chat model. Answer: one `ChatReply` for each request, in order."""

    requests: tuple[ChatRequest, ...]


@dataclass(frozen=True, slots=True)
class Tell(Answered[ChatReply]):
    """Ask a chat model for an answer in plain text, which may be shown while it is written. Answer: its `ChatReply`."""

    request: ChatRequest
    result: Result
    """What the numbers in the answer stand for."""


Effect: TypeAlias = Embed | Consult | Tell
Steps: TypeAlias = Generator[Effect, Any, T]


def alone(steps: Steps[T]) -> T:
    """What `steps` come to where there are no models: each is told so."""
    return carried_out(steps, unanswered)


def unanswered(effect: Effect) -> Any:
    """What an effect is answered where there is no model."""
    if isinstance(effect, Embed):
        return {}
    nobody = ChatReply(None, NO_MODEL, answered=False)
    return nobody if isinstance(effect, Tell) else [nobody for _ in effect.requests]
