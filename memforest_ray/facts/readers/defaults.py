"""What a reader is told that a file does not say: who its nameless user is, and when it was.

Nothing is put in the place of what a file says, and nothing is guessed: a time that nobody gives stays unknown.
"""

from dataclasses import dataclass, replace

from memforest_ray.errors import InvalidInput
from memforest_ray.facts.instants import TimeLike, parse_instant
from memforest_ray.facts.sessions import Session, Turn

__all__ = ["Defaults"]

_USER = "user"
"""The role of whom a memory is about, and who is called by it where a file names nobody."""


@dataclass(frozen=True, slots=True)
class Defaults:
    """For the sessions of one file. Raises InvalidInput for what is no name, and no time."""

    speaker: str | None = None
    """Who speaks in the role `user`, where a file does not name them."""
    time: TimeLike = None
    """When a session took place that has no time; turns with a time of their own keep it."""

    def __post_init__(self) -> None:
        if self.speaker is not None and not (isinstance(self.speaker, str) and self.speaker.strip()):
            raise InvalidInput(f"speaker: must be a name, not {self.speaker!r}")
        try:
            if self.time is not None:
                parse_instant(self.time)
        except InvalidInput as error:
            raise InvalidInput(f"time: {error.message}") from error

    def on(self, session: Session) -> Session:
        """The session with what it does not say itself."""
        if self.speaker is not None:
            session = replace(session, turns=[self._named(turn) for turn in session.turns])
        if self.time is not None and session.time is None and any(turn.time is None for turn in session.turns):
            session = replace(session, time=self.time)
        return session

    def _named(self, turn: Turn) -> Turn:
        nameless = turn.role == _USER and turn.speaker in (None, _USER)
        return replace(turn, speaker=self.speaker) if nameless else turn
