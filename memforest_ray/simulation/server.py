"""The simulated model server: OpenAI's protocol, the offline backend's answers, a real server's latencies and faults.

It is a tool for tests and for planning: whatever is measured with it says nothing about the quality of a model, and
`/stats` and `/health` say so.
"""

import asyncio
import base64
import json
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from memforest_ray.ambient import Clock
from memforest_ray.models.prompts.answer import ANSWER
from memforest_ray.models.prompts.extract import EXTRACT
from memforest_ray.models.prompts.judge import JUDGE
from memforest_ray.models.prompts.plan import PLAN
from memforest_ray.models.prompts.prompt import tokens_of
from memforest_ray.models.prompts.rank import RANK
from memforest_ray.models.prompts.summarise import SUMMARISE
from memforest_ray.simulation.decoding import ClockedDecoder, PrefixCache, SharedDecoder, Speed
from memforest_ray.simulation.faults import Fault, Faults
from memforest_ray.simulation.http import HttpRequest, HttpResponse
from memforest_ray.simulation.replies import reply_text
from memforest_ray.simulation.vectors import hashed_vector

__all__ = ["MODEL", "SimulatedServer", "Workload"]

MODEL: Final = "simulated-offline"
_ROLES: Final = {prompt.system: prompt.role for prompt in (EXTRACT, SUMMARISE, JUDGE, PLAN, RANK, ANSWER)}
"""By the fixed text: a client that asks for no form of answer names no role."""
_REPLIES_MAX: Final = 16_384
"""Answers that are remembered: some 20 MB."""
_PIECES_MAX: Final = 16
"""In which a streamed answer comes."""
_EMBED_SHARE: Final = 0.05
"""Time of an embedding call, where every chat call takes the same: as a share of that."""
_EMBED_S: Final = 0.01
_EMBED_TOKEN_S: Final = 3e-6
"""Of a small encoder on a card of its own; an assumption, not a measurement."""
_WHITE: Final = " "


class Decoder(Protocol):
    """Says when answers end; see `SharedDecoder`."""

    def add(self, key: int, now: float, *, prompt: int, context: int, tokens: int) -> None:
        """Begin an answer: `prompt` tokens have to be read, of `context` in all; `tokens` are to be written."""

    def drop(self, key: int, now: float) -> None:
        """End an answer that nobody waits for any more."""

    def finished(self, now: float) -> list[int]:
        """The answers that have ended by `now`, each told once."""

    def next_in(self) -> float | None:
        """Seconds until the next one ends; None where none is under way."""


@dataclass(frozen=True, slots=True)
class Workload:
    """How the server behaves."""

    latency_s: float | None = None
    """Of every chat call; None: as long as the modelled machine takes."""
    slots: int = 256
    """Sequences that are decoded together; further calls wait. 0: no limit."""
    tokens_min: int = 0
    """Least completion tokens of an extraction: a real model says more than the rules do."""
    dimension: int = 384
    speed: Speed = field(default_factory=Speed)


class SimulatedServer:
    """Handles requests; `HttpServer` brings them."""

    def __init__(self, workload: Workload, faults: Faults, clock: Clock) -> None:
        self._workload = workload
        self._faults = faults
        self._engine = _Engine(workload, clock)
        self._cache = PrefixCache()
        self._replies: dict[tuple[str, str], str] = {}
        self._sums: Counter[str] = Counter()
        self._roles: Counter[str] = Counter()

    async def handle(self, request: HttpRequest) -> HttpResponse | None:
        """Answer one request; None: never."""
        path = request.path.partition("?")[0].removeprefix("/v1")
        if path in ("/health", "/stats", "/models"):
            return HttpResponse.of(self._told(path))
        try:
            asked = request.json()
            if path == "/chat/completions":
                return await self._chat(asked, self._faults.of(request.body))
            if path == "/embeddings":
                return await self._embeddings(asked, self._faults.of(request.body))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            return _refused(400, f"not a request of this protocol: {type(error).__name__}")
        return _refused(404, "no such path")

    def stats(self) -> dict[str, Any]:
        """What was asked and answered so far."""
        names = ("chat_calls", "embedding_calls", "texts", "prompt_tokens", "cached_tokens", "completion_tokens")
        return {
            "simulated": True,
            **{name: self._sums[name] for name in names},
            "roles": dict(self._roles),
            "faults": dict(self._faults.met),
            **self._engine.stats(),
        }

    def _told(self, path: str) -> dict[str, Any]:
        if path == "/stats":
            return self.stats()
        if path == "/health":
            return {"status": "ok", "simulated": True}
        return {"object": "list", "data": [{"id": MODEL, "object": "model", "created": 0, "owned_by": "memforest"}]}

    async def _chat(self, asked: Mapping[str, Any], fault: Fault | None) -> HttpResponse | None:
        self._sums["chat_calls"] += 1
        if fault in ("429", "500", "silence"):
            return _refused(int(fault), "simulated fault") if fault != "silence" else None
        system, text = (_content(asked, role) for role in ("system", "user"))
        form = (asked.get("response_format") or {}).get("json_schema") or {}
        role = str(form.get("name") or _ROLES.get(system, "answer"))
        self._roles[role] += 1
        content = _spoilt(await self._reply(role, text, form.get("schema")), fault)
        usage = self._usage(system + text, content, role, asked)
        if asked.get("stream"):
            tells = bool((asked.get("stream_options") or {}).get("include_usage"))
            chunks = self._streamed(content, usage, tells=tells)
            return HttpResponse(content_type="text/event-stream", chunks=chunks)
        await self._engine.run(usage.read, usage.prompt, usage.completion)
        return _completion(usage, cut=40 if fault == "reset" else None)

    async def _reply(self, role: str, text: str, schema: Mapping[str, Any] | None) -> str:
        """The answer; the same question again costs nothing, since this machine has the clients to serve, too."""
        known = self._replies.get((role, text))
        if known is None:
            known = await reply_text(role, text, schema)
            if len(self._replies) >= _REPLIES_MAX:
                self._replies.clear()
            self._replies[role, text] = known
        return known

    def _usage(self, prompt: str, content: str, role: str, asked: Mapping[str, Any]) -> "_Usage":
        """What an answer costs, and how far it comes under its limit."""
        limit = int(asked.get("max_completion_tokens") or asked.get("max_tokens") or 1 << 20)
        tokens = tokens_of(content)
        if role == "extract":
            tokens = max(tokens, self._workload.tokens_min)
        if not content.strip():
            tokens = limit
        finish, stop = "stop", _stop_in(content, asked)
        if stop is not None:
            content = content.partition(stop)[0]
            tokens = tokens_of(content) + len(stop)  # at most: long runs of white space are few tokens
        elif tokens > limit or not content.strip() or content.endswith("…"):
            finish, tokens = "length", min(tokens, limit)
            content = content.removesuffix("…")[: limit * 4]
        usage = _Usage(content, finish, tokens_of(prompt), self._cache.read(prompt) // 4, tokens, stop)
        self._sums.update(prompt_tokens=usage.prompt, cached_tokens=usage.cached, completion_tokens=usage.completion)
        return usage

    async def _streamed(self, content: str, usage: "_Usage", *, tells: bool) -> AsyncIterator[bytes]:
        size = -(-len(content) // _PIECES_MAX) or 1
        pieces = [content[start : start + size] for start in range(0, len(content), size)]
        share = usage.completion // max(len(pieces), 1)
        for number, piece in enumerate(pieces):
            if number == 0 or self._workload.latency_s is None:
                await self._engine.run(usage.read if number == 0 else 0, usage.prompt, share)
            yield _event({"index": 0, "delta": {"content": piece}, "finish_reason": None})
        yield _event({"index": 0, "delta": {}, "finish_reason": usage.finish})
        if tells:
            yield _event(usage=usage.to_json())
        yield b"data: [DONE]\n\n"

    async def _embeddings(self, asked: Mapping[str, Any], fault: Fault | None) -> HttpResponse | None:
        self._sums["embedding_calls"] += 1
        if fault in ("429", "500", "silence"):
            return _refused(int(fault), "simulated fault") if fault != "silence" else None
        given = asked["input"]
        texts = [given] if isinstance(given, str) else list(given)
        tokens = sum(map(tokens_of, texts))
        self._sums["texts"] += len(texts)
        latency = self._workload.latency_s
        await asyncio.sleep(_EMBED_S + tokens * _EMBED_TOKEN_S if latency is None else latency * _EMBED_SHARE)
        rows = [hashed_vector(text, self._workload.dimension) for text in texts]
        coded = asked.get("encoding_format") == "base64"
        data = [
            {"object": "embedding", "index": index, "embedding": _coded(row) if coded else row.tolist()}
            for index, row in enumerate(rows)
        ]
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        answer = HttpResponse.of({"object": "list", "model": MODEL, "data": data, "usage": usage})
        return answer if fault != "reset" else HttpResponse(body=answer.body, cut=40)


@dataclass(frozen=True, slots=True)
class _Usage:
    """One answer and its tokens."""

    content: str
    finish: str
    prompt: int
    cached: int
    completion: int
    stop: str | None
    """The text that ended it, as vLLM tells it."""

    @property
    def read(self) -> int:
        """Prompt tokens that have to be read."""
        return self.prompt - self.cached

    def to_json(self) -> dict[str, Any]:
        return {
            "prompt_tokens": self.prompt,
            "completion_tokens": self.completion,
            "total_tokens": self.prompt + self.completion,
            "prompt_tokens_details": {"cached_tokens": self.cached},
        }


class _Engine:
    """Keeps calls waiting until the decoder says that they have ended."""

    def __init__(self, workload: Workload, clock: Clock) -> None:
        latency = workload.latency_s
        self._decoder: Decoder = SharedDecoder(workload.speed) if latency is None else ClockedDecoder(latency)
        self._slots = asyncio.Semaphore(workload.slots) if workload.slots else None
        self._clock = clock
        self._keys = count()
        self._waits: dict[int, asyncio.Future[None]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._began = self._turned = clock.elapsed()
        self._busy_s = 0.0
        self._in_flight = self._most = 0

    async def run(self, prompt: int, context: int, tokens: int) -> None:
        """Wait for a slot, then as long as the answer takes."""
        self._turn(1)
        try:
            if self._slots is None:
                await self._decode(prompt, context, tokens)
            else:
                async with self._slots:
                    await self._decode(prompt, context, tokens)
        finally:
            self._turn(-1)

    def stats(self) -> dict[str, Any]:
        """Calls under way, and how much of the time there were any."""
        self._turn(0)
        return {
            "in_flight": self._in_flight,
            "in_flight_max": self._most,
            "decoding": len(self._waits),
            "busy_s": round(self._busy_s, 3),
            "up_s": round(self._turned - self._began, 3),
        }

    def _turn(self, change: int) -> None:
        now = self._clock.elapsed()
        if self._in_flight:
            self._busy_s += now - self._turned
        self._turned = now
        self._in_flight += change
        self._most = max(self._most, self._in_flight)

    async def _decode(self, prompt: int, context: int, tokens: int) -> None:
        key = next(self._keys)
        ended = self._waits[key] = asyncio.get_running_loop().create_future()
        self._decoder.add(key, self._clock.elapsed(), prompt=prompt, context=context, tokens=tokens)
        self._set_timer()
        try:
            await ended
        finally:
            if self._waits.pop(key, None) is not None:  # the caller has gone
                self._decoder.drop(key, self._clock.elapsed())
                self._set_timer()

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        delay = self._decoder.next_in()
        self._timer = None if delay is None else asyncio.get_running_loop().call_later(delay, self._fire)

    def _fire(self) -> None:
        for key in self._decoder.finished(self._clock.elapsed()):
            self._waits.pop(key).set_result(None)
        self._set_timer()


def _content(asked: Mapping[str, Any], role: str) -> str:
    """What the messages of one role say."""
    said = [message.get("content") for message in asked["messages"] if message["role"] == role]
    return "\n".join(text for text in said if isinstance(text, str))


def _stop_in(content: str, asked: Mapping[str, Any]) -> str | None:
    """The first of the texts that end an answer, where it stands in this one."""
    stops = asked.get("stop") or []
    found = [stop for stop in ([stops] if isinstance(stops, str) else stops) if stop in content]
    return min(found, key=content.index, default=None)


def _spoilt(content: str, fault: Fault | None) -> str:
    """The content after a fault; `…` marks one that is cut off."""
    if fault == "junk":
        return "Sure! Here is what I found in the conversation."
    if fault == "whitespace":
        return _WHITE * 256
    return content[: len(content) // 2] + "…" if fault == "truncate" else content


def _completion(usage: _Usage, cut: int | None) -> HttpResponse:
    message = {"role": "assistant", "content": usage.content}
    choice = {"index": 0, "message": message, "finish_reason": usage.finish, "stop_reason": usage.stop}
    told = {"id": "simulated", "object": "chat.completion", "created": 0, "model": MODEL, "choices": [choice]}
    return HttpResponse(body=json.dumps({**told, "usage": usage.to_json()}).encode(), cut=cut)


def _event(*choices: Mapping[str, Any], **more: Any) -> bytes:
    told = {"id": "simulated", "object": "chat.completion.chunk", "created": 0, "model": MODEL, "choices": choices}
    return b"data: " + json.dumps({**told, **more}).encode() + b"\n\n"


def _refused(status: int, message: str) -> HttpResponse:
    return HttpResponse.of({"error": {"message": message, "type": "simulated", "code": None}}, status)


def _coded(row: NDArray[np.float32]) -> str:
    return base64.b64encode(row.astype("<f4").tobytes()).decode()
