"""Replies of actors: our errors travel as values, so that no caller sees Ray's wrapping of them."""

from collections.abc import Awaitable
from importlib import import_module
from typing import Any, Literal

from memforest_ray.errors import InvalidInput, MemForestError

__all__ = ["Reply", "load", "opened", "reply_of"]

Reply = tuple[Literal["ok"], Any] | tuple[Literal["error"], MemForestError]


async def reply_of(work: Awaitable[Any]) -> Reply:
    """What came of `work`. Errors that are not ours pass: they are bugs, and Ray reports them with their trace."""
    try:
        return "ok", await work
    except MemForestError as error:
        return "error", error


def opened(reply: Reply) -> Any:
    """The value in a reply. Raises the error in it."""
    if reply[0] == "error":
        raise reply[1]
    return reply[1]


def load(path: str) -> Any:
    """What `module:name` names. Raises InvalidInput."""
    module, _, name = path.partition(":")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidInput(f"{path!r} cannot be loaded ({error}); nothing was done") from error
