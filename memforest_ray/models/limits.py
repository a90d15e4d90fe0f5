"""Limits: how many tokens an answer may take.

A model that runs on, in white space or in circles, is known by the end of its limit and not before: calls are not
streamed. So the first try of a question whose answers have a usual length is given little more than that, and what
is cut off there is asked for once more with all that it may take: the answer is the one it would have been.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from memforest_ray.models.chat import ChatRequest

__all__ = ["Limits", "used_up"]

_CUT_MIN: Final = 3
"""Answers that needed more, from which their share counts."""
_CUT_SHARE: Final = 0.05
"""Share of answers that need more, from which the first limit costs more than it saves: a model that thinks."""


class Limits:
    """What is known of one model's answers."""

    def __init__(self) -> None:
        self._first = 0
        self._cut = 0

    def first(self, request: ChatRequest) -> ChatRequest:
        """The request as it is tried first."""
        useless = self._cut >= _CUT_MIN and self._cut > self._first * _CUT_SHARE
        if request.tokens_usual is None or request.tokens_usual >= request.tokens_max or useless:
            return request
        self._first += 1
        return replace(request, tokens_max=request.tokens_usual)

    def note_cut(self) -> None:
        """An answer needed more than the first limit."""
        self._cut += 1


def used_up(answer: Mapping[str, Any], tokens_max: int, text: str) -> bool:
    """Whether an answer was ended by the limit that we named, and not by one of the server's own."""
    usage = answer.get("usage")
    told = usage.get("completion_tokens") if isinstance(usage, Mapping) else None
    if isinstance(told, int):
        return told >= tokens_max
    return not text or len(text.encode("utf-8", "replace")) >= tokens_max  # a token has one byte at least
