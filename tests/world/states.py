"""What a memory holds, without any of its machinery: sessions of numbered turns, and what was forgotten of them.

Turn `index` of session `name` says one word that no other turn says, and tells one fact; in a memory that has taken
over another one, the session `SOURCE/<name>` says the same. A state is what the log's commits come to, by the words
of the contract alone.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

__all__ = ["Correct", "Fact", "Forget", "Ingest", "Intent", "Merge", "Origin", "Place", "Restore", "State", "told_by"]

Place = tuple[str, int]
"""A turn: session and index."""
Turns = tuple[str, ...]
"""Of one session: empty where a turn still says what it said, else whose hole it is: the key of its hash."""
Mark = tuple[int, str]
"""Index of a forgotten turn, and the key of the hash that it has left."""
Marks = Mapping[tuple[str, str], frozenset[Mark]]
"""By the key of whoever forgot it, and the name of the session there."""


def told_by(place: Place) -> Place:
    """The turn as it was first said: what a word or a fact is known by."""
    return place[0].rpartition("/")[2], place[1]


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
class Origin:
    """Forget every session that came from another user."""

    user: str
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


@dataclass(frozen=True, slots=True)
class Merge:
    """Take over the memory of a user."""

    user: str
    replacing: bool = False


Intent = Ingest | Forget | Origin | Fact | Correct | Restore | Merge


@dataclass(frozen=True, slots=True)
class State:
    """Sessions, and what is known of those that were forgotten. Never changed: an edit makes the next one."""

    key: str = ""
    """Of its own hashes; every life of every memory has another."""
    sessions: Mapping[str, Turns] = field(default_factory=dict)
    gone: Marks = field(default_factory=dict)
    """Turns of sessions that were forgotten whole."""
    kept: Marks = field(default_factory=dict)
    """Turns that a restore would have brought back."""
    lineage: Mapping[str, str] = field(default_factory=dict)
    """What sessions begin with that came from elsewhere -> the key that they were forgotten with there."""
    origins: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Sessions that came by a merge: the users they came through."""
    hidden: frozenset[Place] = frozenset()
    """Facts that were forgotten, or corrected."""
    corrected: frozenset[Place] = frozenset()
    """Of which something else is told than the turn says."""

    @property
    def rows(self) -> frozenset[Place]:
        """Turns that say something."""
        return frozenset((name, n) for name, turns in self.sessions.items() for n, hole in enumerate(turns) if not hole)

    @property
    def words(self) -> frozenset[Place]:
        """What they say."""
        return frozenset(map(told_by, self.rows))

    @property
    def names(self) -> list[str]:
        """Of sessions that are here, or were."""
        former = [(self.key, ""), *((key, prefix) for prefix, key in self.lineage.items())]
        gone = {prefix + name for key, prefix in former for owner, name in self.gone if owner == key}
        return sorted({*self.sessions, *gone})

    def known(self, session: str) -> dict[int, str]:
        """Turns of a session that do not come in again, each with the key of the hole that it leaves."""
        keys = {self.key: session}
        for prefix, key in self.lineage.items():
            if session.startswith(prefix):
                keys[key] = session.removeprefix(prefix)
        stored = self.sessions.get(session, ())
        marks = {*_holes(stored)}
        for key, name in keys.items():
            marks |= self.gone.get((key, name), frozenset()) | self.kept.get((key, name), frozenset())
        here = {n for n, hole in enumerate(stored) if not hole}
        return {index: key for own in reversed(keys) for index, key in marks if key == own and index not in here}

    def after(self, intent: Intent, snapshots: "Mapping[str, State]", source: "State | None" = None) -> "State":
        """The next state; `snapshots` is what is kept, by name, `source` what a merge takes over."""
        match intent:
            case Ingest():
                after = self._replaced(intent) if intent.replacing else self._ingested(intent)
            case Forget():
                after = self._forgotten(intent, snapshots)
            case Origin():
                names = [name for name, path in self.origins.items() if intent.user in path]
                after = self._without_sessions(names)
            case Correct() | Fact():
                after = self._hidden(intent)
            case Restore():
                after = self._restored(snapshots[intent.name])
            case Merge():
                assert source is not None
                after = self._merged(intent, source)
        return after

    def _hidden(self, intent: Correct | Fact) -> "State":
        told = frozenset({told_by(intent.place)})
        after = replace(self, hidden=self.hidden | told)
        if isinstance(intent, Correct):
            return replace(after, corrected=self.corrected | told)
        return after._without_turns({intent.place}) if intent.with_dialogue else after

    # ---- sessions ----------------------------------------------------------------------------------------

    def _ingested(self, intent: Ingest) -> "State":
        known = self.known(intent.session)
        stored = self.sessions.get(intent.session, ())
        grown = tuple(known.get(n, "") for n in range(len(stored), intent.turns))
        return replace(self, sessions={**self.sessions, intent.session: (*stored, *grown)})

    def _replaced(self, intent: Ingest) -> "State":
        own = self.key, intent.session
        sessions = {**self.sessions, intent.session: ("",) * intent.turns}
        after = replace(self, sessions=sessions, gone=_but(self.gone, own), kept=_but(self.kept, own))
        return after._standing(self.words)

    # ---- forgetting --------------------------------------------------------------------------------------

    def _forgotten(self, intent: Forget, snapshots: "Mapping[str, State]") -> "State":
        if intent.turns:
            return self._without_turns({(intent.session, n) for n in intent.turns})
        if intent.session in self.sessions:
            return self._without_sessions([intent.session])
        # Only a session that is nowhere else is looked for in what is kept.
        return self._knowing(intent.session, [held.sessions.get(intent.session, ()) for held in snapshots.values()])

    def _knowing(self, session: str, records: Iterable[Turns]) -> "State":
        marks = {(n, hole or self.key) for turns in records for n, hole in enumerate(turns)}
        return replace(self, gone=_with(self.gone, (self.key, session), marks))

    def _without_sessions(self, names: Iterable[str]) -> "State":
        after = self
        for name in names:
            after = after._knowing(name, [self.sessions[name]])
            after = replace(after, sessions=_but(after.sessions, name), origins=_but(after.origins, name))
        return after._standing(after.words)

    def _without_turns(self, places: Iterable[Place]) -> "State":
        sessions, kept = dict(self.sessions), self.kept
        for name, gone in places:
            turns = sessions.get(name, ())
            if gone < len(turns):
                sessions[name] = tuple(hole or (self.key if n == gone else "") for n, hole in enumerate(turns))
            else:  # only a snapshot holds it
                kept = _with(kept, (self.key, name), {(gone, self.key)})
        after = replace(self, sessions=sessions, kept=kept)
        return after._standing(after.words)

    def _standing(self, words: Collection[Place]) -> "State":
        """A correction goes with the turn that it is about."""
        return replace(self, corrected=self.corrected & frozenset(words) & self.words)

    # ---- snapshots ---------------------------------------------------------------------------------------

    def caught_up(self, now: "State") -> "State":
        """A state of the past without what is forgotten `now`."""
        after = self
        for name, turns in self.sessions.items():
            own = now.key, name
            if own in now.gone and name not in now.sessions:
                after = after._without_sessions([name])
                continue
            present = now.sessions.get(name, ())
            marks = now.gone.get(own, frozenset()) | now.kept.get(own, frozenset()) | {*_holes(present)}
            still = {n for n, hole in enumerate(present) if not hole}
            lost = {n for n, key in marks if key == now.key and n < len(turns)} - still
            after = after._without_turns({(name, n) for n in lost})
        return after

    def _restored(self, snapshot: "State") -> "State":
        base = replace(snapshot, gone=self.gone, kept=self.kept, lineage=self.lineage)
        after = base.caught_up(self)
        kept = after.kept
        for name, turns in self.sessions.items():
            missing = {*_holes(turns)} - {*_holes(after.sessions.get(name, ()))}
            if missing:
                kept = _with(kept, (self.key, name), missing)
        return replace(after, kept=kept, hidden=self.hidden | snapshot.hidden)

    # ---- merging -----------------------------------------------------------------------------------------

    def conflicts(self, intent: Merge, source: "State") -> list[str]:
        """Sessions that are here with other turns than the source has of them."""
        pairs = [(f"{intent.user}/{name}", turns) for name, turns in source.sessions.items()]
        return [name for name, turns in pairs if self._parted(name, self._filtered(name, turns))]

    def _parted(self, name: str, turns: Turns) -> bool:
        return any(mine != theirs for mine, theirs in zip(self.sessions.get(name, ()), turns, strict=False))

    def _filtered(self, name: str, turns: Turns) -> Turns:
        """Of a session of the source: what is forgotten here stays so, what is forgotten only there does not."""
        known = self.known(name)
        stored = self.sessions.get(name, ())
        ours = [mine if theirs else "" for mine, theirs in zip(stored, turns, strict=False)]
        laid = (*ours, *turns[len(ours) :])
        return tuple(hole or known.get(n, "") for n, hole in enumerate(laid))

    def _merged(self, intent: Merge, source: "State") -> "State":
        sessions, origins = dict(self.sessions), dict(self.origins)
        for former, turns in source.sessions.items():
            name = f"{intent.user}/{former}"
            filtered = self._filtered(name, turns)
            taken = self._taken(name, filtered)
            if taken == self.sessions.get(name, ()):
                continue
            sessions[name], origins[name] = taken, (intent.user, *source.origins.get(former, ()))
            if all(taken) and (name not in self.sessions or self._parted(name, filtered)):
                del sessions[name], origins[name]  # what stands here, if only in holes, may grow
        after = replace(
            self,
            sessions=sessions,
            gone=_union(self.gone, source.gone),
            kept=_union(self.kept, source.kept),
            lineage={**self.lineage, **source._lines(f"{intent.user}/")},
            origins=origins,
            hidden=self.hidden | source.hidden,
            corrected=self.corrected | source.corrected,
        )
        return after._standing(after.words)

    def _taken(self, name: str, turns: Turns) -> Turns:
        stored = self.sessions.get(name, ())
        if self._parted(name, turns):
            return turns
        return () if not stored and all(turns) else (*stored, *turns[len(stored) :])

    def _lines(self, prefix: str) -> dict[str, str]:
        """By what whoever takes this over will know what is forgotten here."""
        if not (self.gone or self.kept or any(map(any, self.sessions.values()))):
            return {}
        return {prefix: self.key, **{prefix + further: key for further, key in self.lineage.items()}}


def _holes(turns: Turns) -> Iterator[Mark]:
    return ((n, hole) for n, hole in enumerate(turns) if hole)


def _with(table: Marks, name: tuple[str, str], marks: Iterable[Mark]) -> Marks:
    return {**table, name: table.get(name, frozenset()) | frozenset(marks)}


def _union(table: Marks, other: Marks) -> Marks:
    return {name: table.get(name, frozenset()) | other.get(name, frozenset()) for name in {**table, **other}}


def _but(table: Mapping, name: object) -> dict:  # type: ignore[type-arg]  # of whatever the table holds
    return {key: row for key, row in table.items() if key != name}
