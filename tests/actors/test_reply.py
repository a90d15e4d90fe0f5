"""Replies of actors."""

import sys

import pytest

from memforest_actors.reply import load, opened, reply_of, unwrapped, wrapped
from memforest_ray.errors import InvalidInput, MemForestError, NotFound


async def _value() -> int:
    return 7


async def _raise(error: Exception) -> None:
    raise error


async def test_a_value_comes_through() -> None:
    """A reply holds what the work gave."""
    assert opened(await reply_of(_value())) == 7


async def test_our_error_travels_as_a_value() -> None:
    """An error of ours is packed, and raised where the reply is opened."""
    reply = await reply_of(_raise(NotFound("gone", name="x")))
    assert reply[0] == "error"
    with pytest.raises(MemForestError, match="gone"):
        opened(reply)


async def test_a_bug_is_not_packed() -> None:
    """What is not ours passes."""
    with pytest.raises(KeyError):
        await reply_of(_raise(KeyError("x")))


def test_what_is_wrapped_comes_out_as_it_was() -> None:
    """Also an error: its kind, its message and its details."""
    assert unwrapped(wrapped(("ok", {"x": (1, None)}))) == ("ok", {"x": (1, None)})
    kind, found = unwrapped(wrapped(("error", NotFound("gone", name="x"))))
    assert (kind, type(found), str(found), found.detail) == ("error", NotFound, "gone", {"name": "x"})


def test_a_class_of_the_callers_script_travels() -> None:
    """One that no other process can import goes along."""

    class Mine(str):
        """Whose name nobody else knows."""

        __slots__ = ()

    found = unwrapped(wrapped(Mine("x")))
    assert (found, type(found).__name__) == ("x", "Mine")


def test_a_class_of_a_script_travels_by_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that the caller could name, but that an actor looks for in a script of its own."""
    script = sys.modules["__main__"]
    monkeypatch.setattr(script, "Ours", type("Ours", (str,), {"__module__": "__main__"}), raising=False)
    data = wrapped(script.Ours("x"))
    monkeypatch.delattr(script, "Ours")
    found = unwrapped(data)
    assert (found, type(found).__name__) == ("x", "Ours")


@pytest.mark.parametrize("path", ["", "json", "json:nothing", "no_such_module:x", ":x"])
def test_what_cannot_be_loaded(path: str) -> None:
    """A path that names nothing is the caller's mistake, named."""
    with pytest.raises(InvalidInput, match="cannot be loaded"):
        load(path)


def test_load() -> None:
    """`module:name` is what it says."""
    assert load("memforest_ray.errors:NotFound") is NotFound
