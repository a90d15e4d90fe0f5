"""Usage: what calls of a model have cost."""

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Usage"]


@dataclass(frozen=True, slots=True)
class Usage:
    """What calls of a model have cost, failed calls included; adds up."""

    calls: int = 0
    """Requests that went out, retries included."""
    retries: int = 0
    """Of these, those that repeated another, because that had failed or because no answer came."""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    """Of the prompt tokens, those that the server had in its prefix cache."""
    completion_tokens: int = 0

    @classmethod
    def total(cls, spent: Iterable["Usage"]) -> "Usage":
        """All of it together."""
        return sum(spent, cls())

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.calls + other.calls,
            self.retries + other.retries,
            self.prompt_tokens + other.prompt_tokens,
            self.cached_tokens + other.cached_tokens,
            self.completion_tokens + other.completion_tokens,
        )

    def to_json(self) -> dict[str, int]:
        """As msgpack and JSON types."""
        return {
            "calls": self.calls,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "cached_tokens": self.cached_tokens,
            "retries": self.retries,
        }
