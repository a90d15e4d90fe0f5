"""What a memory holds, without any of its machinery: sessions of numbered turns, and what was forgotten of them.

Turn `index` of session `name` says one word that no other turn says, and tells one fact. A state is what the log's
commits come to, by the words of the contract alone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

__all__ = ["Correct", "Fact", "Forget", "Ingest", "Intent", "Place", "Restore", "State"]

Place = tuple[str, int]
"""A turn: session and index."""
Turns = tuple[bool, ...]
"""Of one session: whether each turn still says what it said; else it is a hole."""


@dataclass(frozen=True, slots=True)
class Ingest:
    """The first `turns` turns of a session."""

    session: str
    turns: int
    replacing: bool = False


@dataclass(frozen=True, slots=True)
class Forget:
    """A whole session, or turns of it."""

    session: str
    turns: tuple[int, ...] = ()
    including_snapshots: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """Forget the fact that a turn tells."""

    place: Place
    with_dialogue: bool = False
    including_snapshots: bool = False


@dataclass(frozen=True, slots=True)
class Correct:
    """Put another statement in the place of the fact that a turn tells."""

    place: Place


@dataclass(frozen=True, slots=True)
class Restore:
    """Make the snapshot of that name the present."""

    name: str


Intent = Ingest | Forget | Fact | Correct | Restore


@dataclass(frozen=True, slots=True)
class State:
    """Sessions, and what is known of those that were forgotten. Never changed: an edit makes the next one."""

    sessions: Mapping[str, Turns] = field(default_factory=dict)
    gone: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """Turns of sessions that were forgotten whole."""
    kept: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """Turns that a restore would have brought back."""
    hidden: frozenset[Place] = frozenset()
    """Facts that were forgotten, or corrected."""
    corrected: frozenset[Place] = frozenset()
    """Turns of which something else is told than they say."""

    @property
    def rows(self) -> frozenset[Place]:
        """Turns that say something."""
        return frozenset((name, n) for name, turns in self.sessions.items() for n, said in enumerate(turns) if said)

    def known(self, session: str) -> set[int]:
        """Turns of a session that do not come in again."""
        holes = {n for n, said in enumerate(self.sessions.get(session, ())) if not said}
        return holes | self.gone.get(session, frozenset()) | self.kept.get(session, frozenset())

    def after(self, intent: Intent, snapshots: "Mapping[str, State]") -> "State":
        """The next state; `snapshots` is what is kept, by name."""
        match intent:
            case Ingest():
                return self._replaced(intent) if intent.replacing else self._ingested(intent)
            case Forget():
                return self._forgotten(intent, snapshots)
            case Correct():
                place = frozenset({intent.place})
                return replace(self, hidden=self.hidden | place, corrected=self.corrected | place)
            case Fact():
                after = replace(self, hidden=self.hidden | {intent.place})
                return after._without_turns({intent.place}) if intent.with_dialogue else after
            case Restore():
                return self._restored(snapshots[intent.name])

    def _forgotten(self, intent: Forget, snapshots: "Mapping[str, State]") -> "State":
        if intent.turns:
            return self._without_turns({(intent.session, n) for n in intent.turns})
        # Only a session that is nowhere else is looked for in what is kept.
        places = [self] if intent.session in self.sessions else snapshots.values()
        lengths = [len(state.sessions.get(intent.session, ())) for state in places]
        return self._without_session(intent.session, max(lengths))

    def _ingested(self, intent: Ingest) -> "State":
        known = self.known(intent.session)
        stored = self.sessions.get(intent.session, ())
        grown = tuple(n not in known for n in range(len(stored), intent.turns))
        return replace(self, sessions={**self.sessions, intent.session: (*stored, *grown)})

    def _replaced(self, intent: Ingest) -> "State":
        after = replace(
            self,
            sessions={**self.sessions, intent.session: (True,) * intent.turns},
            gone=_but(self.gone, intent.session),
            kept=_but(self.kept, intent.session),
        )
        return after._standing(self.rows)

    def _without_session(self, session: str, length: int) -> "State":
        turns = self.gone.get(session, frozenset()) | {*range(length)}
        after = replace(self, sessions=_but(self.sessions, session), gone={**self.gone, session: turns})
        return after._standing(after.rows)

    def _standing(self, rows: frozenset[Place]) -> "State":
        """A correction goes with the turn that it is about."""
        return replace(self, corrected=self.corrected & rows & self.rows)

    def _without_turns(self, places: Iterable[Place]) -> "State":
        sessions = dict(self.sessions)
        for name, gone in places:
            sessions[name] = tuple(said and n != gone for n, said in enumerate(sessions[name]))
        after = replace(self, sessions=sessions)
        return after._standing(after.rows)

    def caught_up(self, now: "State") -> "State":
        """A state of the past without what is forgotten `now`."""
        after = self
        for name, turns in self.sessions.items():
            present = now.sessions.get(name, ())
            if name in now.gone and name not in now.sessions:
                after = after._without_session(name, len(turns))
                continue
            still = {n for n, said in enumerate(present) if said}
            lost = now.known(name) - still
            after = after._without_turns({(name, n) for n in range(len(turns)) if n in lost})
        return after

    def _restored(self, snapshot: "State") -> "State":
        base = replace(snapshot, gone=self.gone, kept=self.kept)
        after = base.caught_up(self)
        kept = dict(after.kept)
        for name, turns in self.sessions.items():
            there = {n for n, said in enumerate(after.sessions.get(name, ())) if not said}
            missing = {n for n, said in enumerate(turns) if not said} - there
            if missing:
                kept[name] = kept.get(name, frozenset()) | missing
        return replace(after, kept=kept, hidden=self.hidden | snapshot.hidden)


def _but(table: Mapping[str, object], name: str) -> dict:  # type: ignore[type-arg]  # of whatever the table holds
    return {key: row for key, row in table.items() if key != name}
