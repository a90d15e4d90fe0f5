"""Usage: what calls of a model cost."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

__all__ = ["Billed", "Usage"]


@dataclass(frozen=True, slots=True)
class Usage:
    """What model calls of one stage cost; failed calls included."""

    calls: int = 0
    """Requests that went out, retries included."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    """Of the prompt tokens, those that the server had in its prefix cache."""
    retries: int = 0

    @classmethod
    def of(cls, answers: Iterable["Billed"]) -> "Usage":
        """The sum over answers of a model."""
        return sum((cls(*_costs(answer)) for answer in answers), cls())

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(*(mine + theirs for mine, theirs in zip(_costs(self), _costs(other), strict=True)))

    def to_json(self) -> dict[str, int]:
        """As msgpack and JSON types."""
        return {
            "calls": self.calls,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "cached_tokens": self.cached_tokens,
            "retries": self.retries,
        }


def _costs(answer: "Billed") -> tuple[int, int, int, int, int]:
    return (
        answer.calls,
        answer.prompt_tokens,
        answer.completion_tokens,
        answer.cached_tokens,
        answer.retries,
    )


class Billed(Protocol):
    """An answer that tells what it has cost."""

    @property
    def calls(self) -> int: ...
    @property
    def prompt_tokens(self) -> int: ...
    @property
    def completion_tokens(self) -> int: ...
    @property
    def cached_tokens(self) -> int: ...
    @property
    def retries(self) -> int: ...
