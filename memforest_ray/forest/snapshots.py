"""Snapshots under what was forgotten since: how a kept state forgets, too, and how it becomes the present again.

Pure. What must leave a snapshot is read off two versions and never off what somebody asked for: whoever resumes an
erasure comes to the same, and of a snapshot that has forgotten already nothing more is wanted.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from memforest_ray.commit.changes import Changes
from memforest_ray.commit.version import Tables, Version, load_sessions
from memforest_ray.errors import CorruptState, InvalidInput
from memforest_ray.facts.sessions import SessionRecord, TurnRecord
from memforest_ray.facts.withheld import keyed_hash
from memforest_ray.forest.dialogue import Dialogue, Place, hole_of, session_key, turns_key
from memforest_ray.forest.effects import Steps
from memforest_ray.forest.intents import Forget, Relics, Restore, Restored
from memforest_ray.forest.rows import news_between
from memforest_ray.forest.work import Work, Written
from memforest_ray.forest.writing import rework
from memforest_ray.ids import AtomId, SessionId, TurnId

__all__ = [
    "KEPT",
    "Lag",
    "forgotten_again",
    "holds_forgotten",
    "lagging",
    "missing",
    "relics_of_fact",
    "relics_of_session",
    "relics_of_turns",
    "restore",
]

KEPT = ("birth", "forgotten", "lineage", "operations", "copies", "journal")
"""Tables that a restore leaves as they are."""

Sessions: TypeAlias = Mapping[SessionId, SessionRecord]


@dataclass(frozen=True, slots=True)
class Lag:
    """Dialogue of a snapshot that the forest has forgotten since."""

    sessions: tuple[SessionId, ...] = ()
    turns: tuple[Place, ...] = ()
    """Of other sessions."""


def lagging(then: Version, now: Version) -> Lag:
    """What `then` holds and `now` knows as forgotten. Raises CorruptState when they are not of one forest.

    A session that was forgotten and is not back goes whole; of one that is there go the turns whose hashes `now`
    keeps, unless the same turn stands at the same place.
    """
    return _lag(then.sessions, then.secret, now)


def holds_forgotten(tables: Tables, now: Version) -> bool:
    """Whether anything lags in the rows of a snapshot; told without building a version of them. See `lagging`."""
    return _lag(load_sessions(tables), tables.get("birth", {}).get("secret", now.secret), now) != Lag()


def _lag(held: Mapping[SessionId, SessionRecord], secret: str, now: Version) -> Lag:
    if secret != now.secret:
        raise CorruptState("the snapshot is of another memory; nothing was changed; delete it")
    sessions: list[SessionId] = []
    turns: list[Place] = []
    for name, record in sorted(held.items()):
        told = now.forgotten.get(session_key(now.secret, name))
        if told is not None and name not in now.sessions:
            sessions.append(name)
        else:
            turns += _forgotten_turns(record, now, told or ())
    return Lag(tuple(sessions), tuple(turns))


def _forgotten_turns(record: SessionRecord, now: Version, told: Iterable[str]) -> Iterator[Place]:
    stored = now.sessions.get(record.id)
    present = () if stored is None else stored.turns
    kept = now.forgotten.get(turns_key(now.secret, record.id), ())
    holes = {*told, *kept, *(turn.hole for turn in present if turn.hole)}
    if not holes:
        return
    for index, turn in enumerate(record.turns):
        still = index < len(present) and present[index].key == turn.key
        if turn.hole is None and not still and hole_of(now.secret, turn) in holes:
            yield record.id, index


def forgotten_again(then: Version, now: Version, model: str) -> Steps[Written]:
    """The version `then` without what `now` has forgotten of its dialogue; no changes when nothing lags."""
    work = Work(then, _caught_up(then, now))
    if work.idle:
        return Written(then)
    return (yield from rework(work, {}, model))


def missing(write: Forget, now: Version) -> bool:
    """Whether anything of what is to be forgotten is not stored: then snapshots may hold it."""
    if write.fact is not None:
        return now.find_fact(write.fact) is None
    if write.turns is not None:
        return not {*write.turns} <= {name for name, *_ in _said(write, now.sessions)}
    return write.session not in now.sessions


def relics_of_session(write: Forget, past: Iterable[Sessions]) -> Relics:
    """The session to be forgotten, as snapshots hold it."""
    name = SessionId(write.session or "")
    return Relics(sessions=tuple(held[name] for held in past if name in held))


def relics_of_turns(write: Forget, now: Version, past: Iterable[Sessions]) -> Relics:
    """Those of the turns to be forgotten that are not stored, as snapshots hold them.

    Raises InvalidInput for an id that is found in several sessions.
    """
    wanted = {TurnId(name) for name in write.turns or ()} - {name for name, *_ in _said(write, now.sessions)}
    found: dict[TurnId, dict[tuple[SessionId, int, TurnRecord], None]] = {}
    for sessions in past if wanted else ():
        for name, session, index, turn in _said(write, sessions):
            if name in wanted:
                found.setdefault(name, {})[session, index, turn] = None
    for name, places in found.items():
        if len(where := sorted({session for session, _, _ in places})) > 1:
            raise InvalidInput(f"turn {name!r} is in several sessions ({', '.join(where)}): name one with session=")
    return Relics(turns=tuple(place for places in found.values() for place in places))


def _said(write: Forget, sessions: Sessions) -> Iterator[tuple[TurnId, SessionId, int, TurnRecord]]:
    """Turns that say something, of the session that the write names, if it names one."""
    for session, record in sessions.items():
        if write.session in {None, session}:
            for index, turn in enumerate(record.turns):
                if turn.hole is None:
                    yield record.turn_id(index), session, index, turn


def relics_of_fact(write: Forget, now: Version, past: Iterable[Version]) -> Relics:
    """The fact to be forgotten, as snapshots hold it: nothing when it is shown, or is known to be withheld."""
    atoms: dict[AtomId, None] = {}
    turns: dict[tuple[SessionId, int, TurnRecord], None] = {}
    told: dict[TurnId, None] = {}
    for then in past:
        fact = then.find_fact(write.fact or "")
        if fact is None:
            continue
        withheld = now.facts.withheld
        atoms |= dict.fromkeys(atom for atom in fact.atoms if not (withheld.hides(atom) or withheld.key_of(atom)))
        for session, index in fact.turns:
            record = then.sessions[session]
            told[record.turn_id(index)] = None
            if write.with_dialogue:
                turns[session, index, record.turns[index]] = None
    return Relics(turns=tuple(turns), atoms=tuple(atoms), told=tuple(told))


def restore(now: Version, write: Restore, then: Version, rows: Changes, model: str) -> Steps[Written]:
    """Make `then` the version after `now`; `rows` turn all tables but `KEPT` into those of `then`.

    What was forgotten since stays forgotten, and a fact withheld since does not show again.
    """
    base = replace(
        then,
        number=now.number,
        forgotten=now.forgotten,
        lineage=now.lineage,
        operations=now.operations,
        copies=now.copies,
        journal=now.journal,
    )
    dialogue = _caught_up(base, now)
    for record in now.sessions.values():
        dialogue.keep_holes(record)
    work = Work(base, dialogue)
    first = base.facts.withhold_hashed(_withheld(now))
    after = Written(base)
    if first.rows or dialogue.told or not work.idle:
        after = yield from rework(work, {}, model, first=first)
    changes = Changes()
    if not now.operations:  # nothing was ever committed
        changes.put("birth", "secret", now.secret)
    changes.absorb(rows)
    changes.absorb(after.changes)
    hidden = sorted(name for name in then.facts.shown if name not in after.version.facts.shown)
    told = Restored(now.number, write.op_id, write.name, then.number, _turns_forgotten(now, then.number), tuple(hidden))
    return replace(after, changes=changes, answers=(told,), news=news_between(now, after.version))


def _turns_forgotten(now: Version, since: int) -> int:
    """Turns that were forgotten after version `since`, as far as what forgets were told is kept: a snapshot has lost
    them, too, so it is not seen by comparing.
    """
    told = (row for row in now.operations.values() if row["kind"] == "forgotten" and row["version"] > since)
    return sum(row["turns"] for row in told)


def _caught_up(then: Version, now: Version) -> Dialogue:
    """The dialogue of `then` without what lags."""
    dialogue = Dialogue(then)
    lag = lagging(then, now)
    for session in lag.sessions:
        dialogue.forget_session(session)
    dialogue.forget_turns(lag.turns)
    return dialogue


def _withheld(now: Version) -> Iterator[tuple[str, str]]:
    """All that is withheld now, by hash: which of it has mentions is another matter then."""
    held = now.facts.withheld
    yield from held.pairs()
    yield from ((key, keyed_hash(key, atom)) for atom, key in held.atoms.items())
