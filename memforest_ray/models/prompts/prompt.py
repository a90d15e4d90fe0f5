"""A prompt: the fixed text of a role, and the schema of its answers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from memforest_ray.ids import digest
from memforest_ray.models.chat import ChatRequest, ChatRole

__all__ = ["CHARS_PER_TOKEN", "Prompt", "Usual", "tokens_of"]

CHARS_PER_TOKEN: Final = 4
"""Of English text and JSON; what estimates and the simulated server count with."""


def tokens_of(text: str) -> int:
    """About how many tokens `text` has."""
    return -(-len(text) // CHARS_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class Usual:
    """How many tokens are enough for most answers to a text: so many, and so many for each of its bytes.

    Bytes and not characters: scripts that take more bytes for a character take more tokens, too.
    """

    tokens: int
    tokens_a_byte: float

    def of(self, text: str) -> int:
        """Enough for most answers to `text`."""
        return self.tokens + int(self.tokens_a_byte * len(text.encode("utf-8", "replace")))


@dataclass(frozen=True)
class Prompt:
    """The fixed part of every call of one role. It comes first, so that a server keeps it in its prefix cache."""

    role: ChatRole
    system: str
    schema: Mapping[str, Any] | None
    """Of the answer: one text per role, which a server compiles once. `None`: plain text."""
    tokens_max: int
    """Most tokens of an answer."""
    usual: "Usual | None" = None
    """Tokens of most answers. `None`: nobody can say."""

    @cached_property
    def version(self) -> str:
        """Changes with every word of the prompt or its schema: part of every cache key."""
        return f"{self.role}-{digest(self.system, json.dumps(self.schema), size=4)}"

    @cached_property
    def tokens(self) -> int:
        """About how many tokens the fixed part has."""
        return tokens_of(self.system)

    def request(
        self, text: str, *, owner: str = "", urgent: bool = False, tokens_max: int | None = None
    ) -> ChatRequest:
        """One call about `text`."""
        return ChatRequest(
            role=self.role,
            system=self.system,
            text=text,
            schema=self.schema,
            tokens_max=tokens_max or self.tokens_max,
            tokens_usual=None if self.usual is None else self.usual.of(text),
            owner=owner,
            urgent=urgent,
        )
