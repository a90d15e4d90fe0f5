"""What a process that is going to be killed has to do, and how it is told: both sides know the same sessions."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from memforest_ray.facts.sessions import Session, Turn
from memforest_ray.ids import SessionId
from memforest_ray.testing.conversations import conversation

__all__ = ["SESSIONS", "Deed", "Orders", "deeds", "name", "secret_word", "session"]

SESSIONS = 60
SECRET_EVERY = 6
"""Every so many sessions one tells a secret."""
_SEED = 7
_CONVERSATION = conversation(_SEED, SESSIONS, turns_max=5)


@dataclass(frozen=True, slots=True)
class Deed:
    """One write. Its `op` names it for ever: told again, it is done once."""

    op: str
    verb: Literal["ingest", "forget"]
    number: int
    """Of the session."""

    @property
    def command(self) -> dict[str, Any]:
        """As it is told to a child."""
        return {"op": self.op, "verb": self.verb, "number": self.number}


@dataclass(frozen=True, slots=True)
class Orders:
    """How a child works, and where it stops."""

    url: str
    phase: str = ""
    event: int = 0
    """The event of the phase at which it sends `signal` to itself, counted from 1; 0: never."""
    signal: int = 9
    window: int = 1
    """Commands under way at once."""
    retries: bool = True
    """Whether a forest that was taken over is opened again; without it the caller is told `fenced`."""
    settings: dict[str, Any] = field(default_factory=dict)


def secret_word(number: int) -> str:
    """A word that stands in this session and in no other."""
    return f"heron{number:02}x"


def session(number: int) -> Session:
    """Two to six turns; one in six tells a secret."""
    if number % SECRET_EVERY:
        return _CONVERSATION[number]
    word = secret_word(number)
    turns = [Turn(f"My PIN word is {word}.", "Bob"), Turn("I like chess.", "Ana"), Turn(f"{word} it is.", "Ana")]
    return Session(f"secret-{number}", turns, time=1_680_000_000_000 + number * 86_400_000)


def deeds(forgetting: bool) -> Iterator[Deed]:
    """All of it, in order. With `forgetting` each secret is forgotten two sessions after it was told."""
    for number in range(SESSIONS):
        yield Deed(f"in-{number}", "ingest", number)
        if forgetting and number % SECRET_EVERY == 2:
            yield Deed(f"out-{number - 2}", "forget", number - 2)


def name(number: int) -> SessionId:
    """The id of a session."""
    return SessionId(session(number).id)
