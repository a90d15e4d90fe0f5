"""What a chat model is to the rest of the library: a question of fixed shape, an answer that fits its schema or none.

What is asked, and what the answer means, stands where its noun is made (facts, trees, query). Here is only the door.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from memforest_ray.errors import LLMUnavailable
from memforest_ray.models.usage import Usage

__all__ = ["ChatModel", "ChatReply", "ChatRequest", "ChatRole", "StreamingChat", "streamed"]

ChatRole = Literal["extract", "summarise", "judge", "plan", "rank", "answer"]
"""What a call is for; each role may have its own endpoints and model."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call. The fixed part comes first, so that a server's prefix cache holds it."""

    role: ChatRole
    system: str
    """The same text in every call of a role and prompt version."""
    text: str
    """What this call is about."""
    schema: Mapping[str, Any] | None
    """JSON schema of the answer, one per role; `None`: plain text, which a reply holds as `{"text": ...}`."""
    tokens_max: int
    """Most tokens of the answer."""
    tokens_usual: int | None = None
    """So many are enough, as a rule: the first try is given no more (`models/limits.py`). None: nobody can say."""
    owner: str = ""
    """Who shares an endpoint fairly with others: a forest's name."""
    urgent: bool = False
    """Somebody waits for it: goes before bulk."""


@dataclass(frozen=True, slots=True)
class ChatReply:
    """The answer as parsed JSON, or why there is none."""

    value: Mapping[str, Any] | None
    failure: str | None = None
    """Set when no usable answer came: refused, empty, malformed, truncated, or nobody answered."""
    answered: bool = True
    """Whether the server answered at all, however badly."""
    truncated: bool = False
    """Cut at `tokens_max`: `value` holds the complete leading items, if any. Or too long to be asked at all."""
    repairable: bool = False
    """With a failure: asked in other words, the model may do better."""
    usage: Usage = field(default_factory=Usage)


class ChatModel(Protocol):
    """Answers requests. A failure is a value, not an exception."""

    @property
    def model(self) -> str:
        """Name and prompt-independent version: part of every cache key."""

    async def chat(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        """One reply for each, in order; all in flight at once, up to the endpoint's permits."""


@runtime_checkable
class StreamingChat(Protocol):
    """A chat model whose answer can be read while it is written."""

    def stream(self, request: ChatRequest) -> AsyncIterator[str | Usage]:
        """The answer's text, piece by piece, and what it has cost last, as far as that is known; `schema` must be None.

        Raises:
            LLMUnavailable: no answer came, or it broke off; what was yielded before stands.
        """


async def streamed(chat: ChatModel, request: ChatRequest) -> AsyncIterator[str | Usage]:
    """The answer to a request without a schema, and what it has cost: as it is written where the model can, else whole.

    Raises LLMUnavailable: no answer came.
    """
    if isinstance(chat, StreamingChat):
        async for piece in chat.stream(request):
            yield piece
        return
    reply = (await chat.chat([request]))[0]
    text = None if reply.value is None else reply.value.get("text")
    if not isinstance(text, str):
        raise LLMUnavailable(f"the model gave no answer ({reply.failure or 'no text'}); ask again")
    yield text
    yield reply.usage
