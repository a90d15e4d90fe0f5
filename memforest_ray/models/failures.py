"""What a failed call means: try again, try otherwise, ask for less, or give up."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final, Literal

import openai

from memforest_ray.ambient import Clock

__all__ = ["CallError", "Failure", "Trouble", "trouble_of"]

CallError = openai.APIError
"""Whatever the client raises about one call."""

Trouble = Literal["overloaded", "failed", "dialect", "refused", "too_long", "rejected", "unusable"]
"""What a call met. The first two pass; `dialect`: the endpoint wants other words; the rest will not pass."""

_DETAIL_CHARS_MAX: Final = 160
"""Servers quote what they were sent: only the beginning of what they say is kept."""
_TOO_LONG: Final = re.compile(
    r"context.?(?:length|window|size)|maximum.{0,20}(?:context|tokens|length|input)|too (?:long|large|many tokens)"
    r"|exceed.{0,40}(?:context|tokens|length)|physical batch size",
    re.IGNORECASE | re.DOTALL,
)
_REFUSED: Final = re.compile(r"content.?(?:filter|policy|management)|safety|moderation", re.IGNORECASE)
_DIALECT: Final = re.compile(
    r"response_format|json_?schema|json_object|schema|grammar|guided|structured|max_(?:completion_)?tokens|temperature"
    r"|\bstop\b|stream_options|include_usage",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed call."""

    trouble: Trouble
    message: str
    rest_s: float = 0.0
    """How long the server asked to be left alone."""


def trouble_of(error: CallError, clock: Clock) -> Failure:
    """What `error` means for the call, for the endpoint and for whoever asked."""
    if isinstance(error, openai.APITimeoutError):
        return Failure("failed", "no answer in time")
    if isinstance(error, openai.APIStatusError):
        return _status(error, clock)
    if isinstance(error, openai.APIResponseValidationError):
        return Failure("failed", "the answer was not JSON")
    return Failure("failed", f"the connection failed ({type(error.__cause__ or error).__name__})")


def _status(error: openai.APIStatusError, clock: Clock) -> Failure:
    code = error.status_code
    said = _said(error)
    rest_s = _retry_after(error.response.headers, clock)
    message = f"HTTP {code}: {said}" if said else f"HTTP {code}"
    if code in (429, 503):
        return Failure("overloaded", message, rest_s)
    if code >= 500 and _TOO_LONG.search(said):  # llama.cpp
        return Failure("too_long", message)
    if code == 501:  # it is there, and cannot do this
        return Failure("dialect" if _DIALECT.search(said) else "rejected", message)
    if code in (408, 409, 425) or code >= 500:
        return Failure("failed", message, rest_s)
    if code in (400, 413, 422):
        return Failure(_of_request(f"{error.code or ''} {said}"), message)
    return Failure("rejected", message)


def _of_request(said: str) -> Trouble:
    if _REFUSED.search(said):
        return "refused"
    if _TOO_LONG.search(said):
        return "too_long"
    return "dialect" if _DIALECT.search(said) else "unusable"


def _said(error: openai.APIStatusError) -> str:
    """What the server gave as its reason, shortened."""
    body: Any = error.body
    if isinstance(body, Mapping):
        body = body.get("message") or body.get("detail") or body.get("error") or ""
    text = body if isinstance(body, str) and not body.lstrip().startswith("<") else ""  # no web pages
    return " ".join(text.split())[:_DETAIL_CHARS_MAX]


def _retry_after(headers: Mapping[str, str], clock: Clock) -> float:
    """Seconds that `Retry-After` names, as a number or a date; 0 without."""
    value = headers.get("retry-after", "").strip()
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        at = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return 0.0
    now = datetime.fromtimestamp(clock.now_ms() / 1000, tz=UTC)
    return max(0.0, (at.replace(tzinfo=at.tzinfo or UTC) - now).total_seconds())
