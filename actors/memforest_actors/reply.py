"""Calls of actors and their replies: as bytes, errors of ours as values, so that no caller sees Ray's wrapping."""

import pickle
from collections.abc import Awaitable
from contextlib import suppress
from importlib import import_module
from typing import Any, Literal

from ray import cloudpickle

from memforest_ray.errors import InvalidInput, MemForestError

__all__ = ["Answering", "Reply", "load", "opened", "reply_of", "unwrapped", "wrapped"]

_SCRIPT = b"__main__"
"""What the classes of a script are known by, which an actor has not got."""

Reply = tuple[Literal["ok"], Any] | tuple[Literal["error"], MemForestError]


class Answering:
    """An actor whose methods are called by name, so that what they take and give travels as bytes."""

    async def answer(self, call: bytes) -> bytes:
        """The reply, wrapped, of the method that `call` names, `(name, arguments)` wrapped."""
        method, arguments = unwrapped(call)
        return wrapped(await getattr(self, method)(*arguments))


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


def wrapped(value: Any) -> bytes:
    """`value` as bytes, which Ray passes on as they are: it takes half a millisecond to take small objects apart.

    By Ray's own pickler, which is slower, where classes have to travel that the caller's script defines.
    """
    with suppress(pickle.PicklingError, AttributeError, TypeError):  # a class that was made in a function
        plain = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
        if _SCRIPT not in plain:
            return plain
    data: bytes = cloudpickle.dumps(value, pickle.HIGHEST_PROTOCOL)  # type: ignore[no-untyped-call]
    return data


def unwrapped(data: bytes) -> Any:
    """What was `wrapped`. Only for bytes of an actor or of its caller, who may run code there anyhow."""
    return pickle.loads(data)


def load(path: str) -> Any:
    """What `module:name` names. Raises InvalidInput."""
    module, _, name = path.partition(":")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidInput(f"{path!r} cannot be loaded ({error}); nothing was done") from error
