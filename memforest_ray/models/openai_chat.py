"""Chat models behind OpenAI-compatible endpoints: vLLM, llama.cpp, OpenAI.

Calls are not streamed: reading an answer token by token costs more of this machine's time than all the rest of a
write. So that an answer cannot run on for ever, each has a limit of tokens; one that filled it with white space is
recognised by that.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from memforest_ray.ambient import Clock, Random
from memforest_ray.errors import LLMUnavailable
from memforest_ray.models.answers import PADDED, STARVED, ThoughtFilter, circles, read_answer, spoken
from memforest_ray.models.chat import ChatReply, ChatRequest
from memforest_ray.models.connections import Connections, Endpoint
from memforest_ray.models.dialects import STOPS, Dialect, Dialects
from memforest_ray.models.failures import CallError, Failure, trouble_of
from memforest_ray.models.hedging import Hedges
from memforest_ray.models.limits import Limits, used_up
from memforest_ray.models.permits import Permit, Permits, Sleep
from memforest_ray.models.retries import Patience, Retries
from memforest_ray.models.sending import Sender
from memforest_ray.models.usage import Usage
from memforest_ray.models.waves import wave

__all__ = ["OpenAIChat"]

_PATH: Final = "/chat/completions"


class OpenAIChat:
    """Implements `ChatModel` and `StreamingChat`. All of its endpoints serve one model."""

    def __init__(
        self,
        endpoints: Sequence[Endpoint],
        connections: Connections,
        permits: Permits,
        clock: Clock,
        random: Random,
        *,
        patience: Patience | None = None,
        body: Mapping[str, Any] | None = None,
        hedges: Hedges | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        """`body`: further fields of every request, as the server wants them. `hedges`: for late calls."""
        self._endpoints = {endpoint.url: endpoint for endpoint in endpoints}
        self._connections = connections
        self._permits = permits
        self._clock = clock
        self._random = random
        self._patience = patience or Patience()
        self._sleep = sleep
        self._dialects = Dialects(body or {})
        self._limits = Limits()
        self._hedges = hedges or Hedges(clock, 0.0)

    @property
    def model(self) -> str:
        """The model's name, as its endpoints know it."""
        return next(iter(self._endpoints.values())).model

    @property
    def padded(self) -> int:
        """Answers so far that ended in white space up to their limit."""
        return self._dialects.padded

    async def chat(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        """One reply for each, in order. Raises Overloaded when too many calls wait in this process."""
        return await wave(_Call(self, request).reply() for request in requests)

    async def stream(self, request: ChatRequest) -> AsyncIterator[str | Usage]:
        """The answer's text, piece by piece, tried again until its first one; what it has cost, last: tokens as far as
        the server tells. Raises LLMUnavailable.
        """
        retries, usage = self._retries(), Usage()
        while True:
            begun = False
            usage += Usage(calls=1, retries=int(usage.calls > 0))
            try:
                async for piece in self._pieces(request):
                    if isinstance(piece, Usage):
                        usage += piece
                    else:
                        begun = True
                        yield piece
            except _BrokenOffError as error:
                if begun or not await retries.goes_on(error.failure):
                    raise LLMUnavailable(f"{error.failure.message}; ask again") from error
            else:
                yield usage
                return

    async def _pieces(self, request: ChatRequest) -> AsyncIterator[str | Usage]:
        """One try. Raises _BrokenOffError."""
        thoughts, usage = ThoughtFilter(), Usage()
        async with self._permits.take(self._endpoints, owner=request.owner, urgent=request.urgent) as permit:
            endpoint = self._endpoints[permit.endpoint]
            dialect = self._dialects.of(endpoint)
            try:
                client = self._connections.streaming(endpoint).chat.completions
                async with await client.create(**dialect.streamed(endpoint, request)) as chunks:
                    async for chunk in chunks:
                        if chunk.usage is not None:  # of all so far: some servers tell it with each piece
                            usage = _usage({"usage": chunk.usage.model_dump()})
                        piece = chunk.choices[0].delta.content if chunk.choices else None
                        if piece and (shown := thoughts.feed(piece)):
                            yield shown
            except CallError as error:
                failure = self._learnt(trouble_of(error, self._clock), endpoint, dialect)
                _mark(permit, failure)
                raise _BrokenOffError(failure) from error
        if rest := thoughts.end():
            yield rest
        yield usage

    def _retries(self) -> Retries:
        return Retries(self._random, self._sleep, self._patience)

    def _learnt(self, failure: Failure, endpoint: Endpoint, spoken: Dialect) -> Failure:
        """Speak otherwise to an endpoint that did not understand; if that is not possible, the request is at fault."""
        if failure.trouble == "dialect" and not self._dialects.adapt(endpoint, spoken, failure.message):
            return replace(failure, trouble="unusable")
        return failure

    async def close(self) -> None:
        """End the connections."""
        await self._connections.close()


class _BrokenOffError(Exception):
    """A streamed answer ended before its end."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class _Call:
    """One request until it has its reply."""

    def __init__(self, chat: OpenAIChat, request: ChatRequest) -> None:
        self._chat = chat
        self._request = request
        self._tried = chat._limits.first(request)
        self._usage = Usage()
        self._failed_at = ""

    async def reply(self) -> ChatReply:
        retries = self._chat._retries()
        try:
            while True:
                outcome = await self._try()
                if outcome is None:
                    self._tried = self._request
                elif isinstance(outcome, ChatReply):
                    return replace(outcome, usage=self._usage)
                elif not await retries.goes_on(outcome):
                    return self._without_answer(outcome)
        except LLMUnavailable as error:
            return ChatReply(None, error.message, answered=False, usage=self._usage)

    async def _try(self) -> ChatReply | Failure | None:
        """None: the first limit was too low for the answer."""
        chat, request = self._chat, self._request
        sender = Sender(chat._permits, chat._hedges, chat._endpoints, request.owner, request.urgent)
        return await sender.send(self._sent, after=self._failed_at)

    async def _sent(self, permit: Permit) -> ChatReply | Failure | None:
        chat, tried = self._chat, self._tried
        endpoint = chat._endpoints[permit.endpoint]
        dialect = chat._dialects.of(endpoint)
        chat._dialects.note_call(endpoint)
        self._usage += Usage(calls=1, retries=int(self._usage.calls > 0))
        answer = await chat._connections.post(endpoint, _PATH, dialect.body(endpoint, tried))
        if isinstance(answer, Failure):
            return self._broken(permit, dialect, answer)
        self._usage += _usage(answer)
        outcome = _reply(answer, tried)
        if isinstance(outcome, Failure):
            return self._broken(permit, dialect, outcome)
        if outcome.failure == PADDED:
            chat._dialects.note_padding(endpoint)
        return None if self._too_short(answer, outcome) else outcome

    def _broken(self, permit: Permit, dialect: Dialect, failure: Failure) -> Failure:
        if failure.trouble in ("failed", "overloaded"):
            self._failed_at = permit.endpoint
        failure = self._chat._learnt(failure, self._chat._endpoints[permit.endpoint], dialect)
        _mark(permit, failure)
        return failure

    def _too_short(self, answer: Mapping[str, Any], reply: ChatReply) -> bool:
        """Whether an answer needs more than the first limit. One that goes round in circles would go on for ever."""
        if self._tried is self._request or not (reply.truncated or reply.failure == STARVED):
            return False
        text = _text(answer["choices"][0]["message"].get("content"))
        short = used_up(answer, self._tried.tokens_max, text) and not circles(text)
        if short:
            self._chat._limits.note_cut()
        return short

    def _without_answer(self, failure: Failure) -> ChatReply:
        where = ", ".join(self._chat._endpoints)
        return ChatReply(
            None,
            f"{failure.message} ({where})",
            answered=failure.trouble in ("refused", "too_long", "unusable"),
            truncated=failure.trouble == "too_long",
            usage=self._usage,
        )


def _mark(permit: Permit, failure: Failure) -> None:
    permit.overloaded = failure.trouble == "overloaded"
    permit.failed = failure.trouble == "failed"
    permit.rest_s = failure.rest_s


def _usage(answer: Mapping[str, Any]) -> Usage:
    """What a server says that it has counted; nothing where it does not say."""
    usage = answer.get("usage")
    if not isinstance(usage, Mapping):
        return Usage()
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else 0
    return Usage(
        prompt_tokens=_count(usage.get("prompt_tokens")),
        cached_tokens=_count(cached),
        completion_tokens=_count(usage.get("completion_tokens")),
    )


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _reply(answer: Mapping[str, Any], request: ChatRequest) -> ChatReply | Failure:
    """The reply in a completion; a failure where it is no completion at all."""
    try:
        choice = answer["choices"][0]
        message = choice["message"]
        content, refusal, reason = message.get("content"), message.get("refusal"), choice.get("finish_reason")
    except (KeyError, IndexError, TypeError, AttributeError):
        return Failure("failed", "the answer was not a chat completion")
    if refusal or reason == "content_filter":
        return ChatReply(None, "the model refused to answer")
    text = _text(content)
    if request.schema is None:
        return _plain(text, at_limit=reason == "length")
    # Only some servers name the text that they have stopped at.
    return _structured(text, at_limit=reason == "length", padded=choice.get("stop_reason") in STOPS)


def _text(content: Any) -> str:
    """Content is a text, or a list of parts some of which are."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str))
    return content if isinstance(content, str) else ""


def _plain(text: str, *, at_limit: bool) -> ChatReply:
    said = spoken(text).strip()
    if said:
        return ChatReply({"text": said}, truncated=at_limit)
    return ChatReply(None, read_answer(text, at_limit=at_limit).failure)


def _structured(text: str, *, at_limit: bool, padded: bool) -> ChatReply:
    answer = read_answer(text, at_limit=at_limit)
    if answer.failure is None:
        return ChatReply(answer.value)
    if padded:
        return ChatReply(None, PADDED, repairable=True)
    # Cut off, or nothing but thoughts: the same question would end the same way.
    repairable = not answer.cut and not answer.starved
    return ChatReply(answer.value, answer.failure, truncated=answer.cut, repairable=repairable)
