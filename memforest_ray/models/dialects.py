"""Dialects: in which form an endpoint takes a request. Begins with the richest, and learns from refusals."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from memforest_ray.models.chat import ChatRequest
from memforest_ray.models.connections import Endpoint

__all__ = ["STOPS", "Dialect", "Dialects"]

Format = Literal["json_schema", "json_object", "text"]

_NEXT: Final[Mapping[Format, Format]] = {"json_schema": "json_object", "json_object": "text"}
_PADDED_MIN: Final = 3
_PADDED_SHARE: Final = 0.05
"""So many answers padded with white space, and this share of all calls: the endpoint's grammar is done without, which
allows them.
"""
STOPS: Final = ("\n\n\n\n", "\n \n \n \n", "\t" * 8, " " * 40)
"""Where an answer as JSON is ended: no layout has so much white space, but where a grammar allows it some models go on
with it up to their limit. Four at most, as OpenAI takes them.
"""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one endpoint is spoken to."""

    format: Format = "json_schema"
    limit_key: str = "max_tokens"
    temperature: bool = True
    stops: bool = True
    tells_usage: bool = True
    """Whether a streamed answer can be asked to end with the tokens that it has cost."""
    extra: Mapping[str, Any] | None = None

    def body(self, endpoint: Endpoint, request: ChatRequest) -> dict[str, Any]:
        """The request as the endpoint takes it. What is fixed comes first."""
        body: dict[str, Any] = {
            "model": endpoint.model,
            "messages": [
                {"role": "system", "content": _sayable(request.system)},
                {"role": "user", "content": _sayable(request.text)},
            ],
            self.limit_key: request.tokens_max,
        }
        if self.temperature:
            body["temperature"] = 0  # the same question should have the same answer
        if self.stops and request.schema is not None:
            body["stop"] = list(STOPS)
        if request.schema is not None and self.format == "json_schema":
            schema = {"name": request.role, "schema": request.schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif request.schema is not None and self.format == "json_object":
            body["response_format"] = {"type": "json_object"}
        return {**body, **(self.extra or {})}

    def streamed(self, endpoint: Endpoint, request: ChatRequest) -> dict[str, Any]:
        """The same for an answer that comes in pieces."""
        body = self.body(endpoint, request) | {"stream": True}
        return body | {"stream_options": {"include_usage": True}} if self.tells_usage else body

    def without(self, complaint: str) -> "Dialect | None":
        """The dialect to try after `complaint`; None when there is none left."""
        if re.search(r"max_(?:completion_)?tokens", complaint) and self.limit_key == "max_tokens":
            return replace(self, limit_key="max_completion_tokens")
        if re.search(r"stream_options|include_usage", complaint) and self.tells_usage:
            return replace(self, tells_usage=False)
        if "temperature" in complaint and self.temperature:
            return replace(self, temperature=False)
        if re.search(r"\bstop\b", complaint) and self.stops:
            return replace(self, stops=False)
        coarser = _NEXT.get(self.format)
        return None if coarser is None else replace(self, format=coarser)


class Dialects:
    """What is known of each endpoint."""

    def __init__(self, extra: Mapping[str, Any]) -> None:
        self._first = Dialect(extra=dict(extra))
        self._known: dict[str, Dialect] = {}
        self._calls: Counter[str] = Counter()
        self._padded: Counter[str] = Counter()

    @property
    def padded(self) -> int:
        """Answers that ended in white space."""
        return self._padded.total()

    def of(self, endpoint: Endpoint) -> Dialect:
        """How to speak to `endpoint` now."""
        return self._known.get(endpoint.url, self._first)

    def adapt(self, endpoint: Endpoint, spoken: Dialect, complaint: str) -> bool:
        """Learn from a refusal; whether there is another way to ask."""
        if self.of(endpoint) != spoken:
            return True  # another call has learnt it meanwhile
        changed = spoken.without(complaint)
        if changed is not None:
            self._known[endpoint.url] = changed
        return changed is not None

    def note_call(self, endpoint: Endpoint) -> None:
        """A call goes out."""
        self._calls[endpoint.url] += 1

    def note_padding(self, endpoint: Endpoint) -> None:
        """Its answer was padded; where too many are, the grammar goes."""
        url, now = endpoint.url, self.of(endpoint)
        self._padded[url] += 1
        often = self._padded[url] >= max(_PADDED_MIN, _PADDED_SHARE * self._calls[url])
        if often and now.format in _NEXT:
            self._known[url] = replace(now, format="text")


def _sayable(text: str) -> str:
    """Lone surrogates are no text to a server, and NUL is none to many."""
    return text.encode("utf-8", "replace").decode().replace("\0", " ")
