"""Turns and sessions: as a caller gives them, and as they are kept. Input is checked once, here."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import islice

from memforest_ray.errors import InvalidInput
from memforest_ray.facts.instants import TimeLike, parse_instant, zone_of
from memforest_ray.ids import SessionId, TurnId, digest

__all__ = [
    "Admitted",
    "Alignment",
    "Relation",
    "Session",
    "SessionRecord",
    "TimeLike",
    "Turn",
    "TurnRecord",
    "admit",
    "align",
    "check_turn_ids",
    "grown",
    "storable",
]


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance, as a caller gives it.

    A turn without a speaker's name is spoken by its role; a turn without a time has its session's.
    """

    text: str
    speaker: str | None = None
    role: str = "user"
    time: TimeLike = None
    id: str | None = None
    """Unique in its session; the default `<session id>#<index from 0>` is computed, never stored."""


@dataclass(frozen=True, slots=True)
class Session:
    """A bounded run of turns, as a caller gives it."""

    id: str
    turns: Sequence[Turn]
    time: TimeLike = None
    """When it began; unknown is allowed and stays unknown."""
    zone: str | None = None
    """IANA name of the zone, or its offset (`-05:00`), in which naive times are meant and "today" is told.

    When not given: the offset of its time, else of its first turn's time, else UTC.
    """
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """One turn as it is kept: checked, its time resolved to an instant.

    A forgotten turn stays as a hole: no text, no speaker, only `hole`, a keyed hash of what was there.
    """

    role: str
    speaker: str
    text: str
    time_ms: int | None = None
    """The turn's own time; `None` when the caller gave none."""
    id: TurnId | None = None
    """`None` for the default id."""
    hole: str | None = None

    @property
    def key(self) -> str:
        """What makes two turns the same turn when a session is sent again (times are compared apart)."""
        return self.hole or digest(self.role, self.speaker, self.text)


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """One session as it is kept. Growth makes a new record that shares the turns."""

    id: SessionId
    turns: tuple[TurnRecord, ...]
    time_ms: int | None = None
    zone: str | None = None
    metadata: tuple[tuple[str, str], ...] = ()

    def turn_id(self, index: int) -> TurnId:
        """The turn's own id, or the default."""
        return self.turns[index].id or TurnId(f"{self.id}#{index}")

    def source_ms(self, index: int) -> int | None:
        """When the turn was said: its own time, else the session's, else unknown."""
        own = self.turns[index].time_ms
        return self.time_ms if own is None else own


# ---- admission: where input is checked --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Admitted:
    """A session that has passed the check, with what its receipt must say about its times."""

    record: SessionRecord
    naive_times: int
    """Times given without a zone or offset, read in the session's zone, else in UTC."""
    undated_turns: int
    """Turns of unknown time: neither they nor their session had one."""


def admit(session: Session, *, default_id: str | None = None) -> Admitted:
    """Check `session` and bring it to the form in which it is kept. The one place where input is checked.

    Texts are kept whole; only lone surrogates, which no store can hold, become U+FFFD. `default_id` stands in
    for an id that is None. Raises InvalidInput with one sentence that names the turn and the field.
    """
    if not isinstance(session, Session):
        raise InvalidInput(f"a session must be a Session, not {_kind(session)}")
    name = _id_of(session.id if session.id is not None else default_id, "the session's id")
    place = f"session {name!r}"
    _read_zone(session.zone, place)
    given = _turns_of(session, place)
    zone = session.zone or _offset_of(session.time) or _offset_of(getattr(next(iter(given), None), "time", None))
    clock = _Times(zone)
    time_ms = clock.read(session.time, place)
    turns = tuple(_turn_record(turn, i, clock, place) for i, turn in enumerate(given))
    record = SessionRecord(SessionId(name), turns, time_ms, zone, _metadata_of(session.metadata, place))
    check_turn_ids(record)
    undated = 0 if time_ms is not None else sum(turn.time_ms is None for turn in turns)
    return Admitted(_without_default_ids(record), clock.naive, undated)


def check_turn_ids(record: SessionRecord) -> None:
    """Raise InvalidInput when two turns answer to one id, be it given or the default of their place."""
    seen: dict[TurnId, int] = {}
    for index in range(len(record.turns)):
        name = record.turn_id(index)
        if name in seen:
            raise InvalidInput(f"session {record.id!r}: turns {seen[name]} and {index} have the same id {name!r}")
        seen[name] = index


def _without_default_ids(record: SessionRecord) -> SessionRecord:
    """An id equal to the default of its own place is the default: it is computed, never stored."""
    given = [turn.id for turn in record.turns]
    if not any(name == f"{record.id}#{i}" for i, name in enumerate(given) if name is not None):
        return record
    turns = (replace(turn, id=None) if turn.id == f"{record.id}#{i}" else turn for i, turn in enumerate(record.turns))
    return replace(record, turns=tuple(turns))


class _Times:
    """Reads the times of one session in its zone, and counts those that had none of their own."""

    def __init__(self, zone: str | None) -> None:
        self.zone = zone
        self.naive = 0

    def read(self, value: TimeLike, place: str) -> int | None:
        if value is None:
            return None
        try:
            parsed = parse_instant(value, self.zone)
        except InvalidInput as error:
            raise InvalidInput(f"{place}, time: {error.message}") from error
        self.naive += parsed.naive
        return parsed.ms


def _offset_of(value: TimeLike) -> str | None:
    """How far from UTC those who talk are, as their time tells; what cannot be read is told by who reads it."""
    try:
        return None if value is None else parse_instant(value).offset
    except InvalidInput:
        return None


def _read_zone(zone: object, place: str) -> None:
    if zone is not None and not isinstance(zone, str):
        raise InvalidInput(f"{place}, zone: must be text, not {_kind(zone)}")
    try:
        zone_of(zone)
    except InvalidInput as error:
        raise InvalidInput(f"{place}, zone: {error.message}") from error


def _turns_of(session: Session, place: str) -> Sequence[Turn]:
    turns: object = session.turns
    if not isinstance(turns, Sequence) or isinstance(turns, str | bytes):
        raise InvalidInput(f"{place}, turns: must be a sequence of Turn, not {_kind(turns)}")
    if not turns:
        raise InvalidInput(f"{place} has no turns")
    return turns


def _turn_record(turn: object, index: int, clock: _Times, session_place: str) -> TurnRecord:
    place = f"{session_place}, turn {index}"
    if not isinstance(turn, Turn):
        raise InvalidInput(f"{place}: must be a Turn, not {_kind(turn)}")
    role = _name_of(turn.role, f"{place}, role") or "user"
    return TurnRecord(
        role=role,
        speaker=_name_of(turn.speaker, f"{place}, speaker") or role,
        text=storable(_text_of(turn.text, f"{place}, text")),
        time_ms=clock.read(turn.time, place),
        id=None if turn.id is None else TurnId(_id_of(turn.id, f"{place}, id")),
    )


def _text_of(value: object, place: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidInput(f"{place}: must be text, not {_kind(value)}")
    return value


def _name_of(value: object, place: str) -> str:
    """A speaker or role with its white space folded; empty when there is none."""
    return " ".join(storable(_text_of(value, place)).split())


def _id_of(value: object, place: str) -> str:
    """An id as it is: ids are compared letter by letter, so none is repaired."""
    if not isinstance(value, str):
        raise InvalidInput(f"{place}: must be text, not {_kind(value)}")
    if not value.strip():
        raise InvalidInput(f"{place}: must not be blank")
    if storable(value) != value:
        raise InvalidInput(f"{place}: {value!r} holds a lone surrogate, which cannot be stored")
    return value


def _metadata_of(metadata: object, place: str) -> tuple[tuple[str, str], ...]:
    if metadata is None:
        return ()
    if not isinstance(metadata, Mapping):
        raise InvalidInput(f"{place}, metadata: must be a mapping, not {_kind(metadata)}")
    return tuple(sorted((storable(str(key)), storable(str(value))) for key, value in metadata.items()))


def _kind(value: object) -> str:
    return "None" if value is None else type(value).__name__


def storable(text: str) -> str:
    """`text` with surrogate pairs joined and lone surrogates as U+FFFD; all else, NUL included, is kept."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


# ---- alignment: a session that is sent again --------------------------------------------------------------


class Relation(StrEnum):
    """How a session that is sent again stands to the one that is stored."""

    DUPLICATE = "duplicate"
    """All its turns are stored already, in a row."""
    GROWTH = "growth"
    """It begins with the end of the stored session and goes on."""
    CONFLICT = "conflict"
    """Neither: another session under the same id."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """Where an incoming session lies on the stored one."""

    relation: Relation
    start: int = 0
    """Index in the stored session of the turn that is the incoming one's first (0 for a conflict)."""
    new_from: int = 0
    """Index in the incoming session from which its turns are new; its length for a duplicate."""


def align(
    stored: SessionRecord, incoming: SessionRecord, *, hole_key: Callable[[TurnRecord], str] | None = None
) -> Alignment:
    """Lay `incoming` on `stored`, in linear time (Knuth, Morris and Pratt).

    A run anywhere inside is a duplicate, else growth starts from the longest stored end that `incoming`
    begins with. Two turns are the same when their keys are, and their own times where both have one.
    A forgotten turn has no text left: `hole_key` gives the keyed hash that an incoming turn would leave.
    """
    text, pattern = _symbols(stored, incoming, hole_key)
    back = _borders(pattern)
    matched = 0
    for i, symbol in enumerate(text):
        while matched and (matched == len(pattern) or pattern[matched] != symbol):
            matched = back[matched]
        if pattern[matched] == symbol:
            matched += 1
        if matched == len(pattern) and _times_agree(stored, incoming, i + 1 - matched):
            return Alignment(Relation.DUPLICATE, i + 1 - matched, matched)
    while matched:
        start = len(text) - matched
        if matched < len(pattern) and _times_agree(stored, incoming, start):
            return Alignment(Relation.GROWTH, start, matched)
        matched = back[matched]
    return Alignment(Relation.CONFLICT)


def grown(stored: SessionRecord, incoming: SessionRecord, alignment: Alignment) -> SessionRecord:
    """`stored` with the new turns of `incoming` after it; its time, zone and metadata stay.

    New turns without a time of their own were said at the incoming session's time, where that is another one.
    Raises InvalidInput when a new turn brings an id that the stored session has.
    """
    said_ms = None if incoming.time_ms == stored.time_ms else incoming.time_ms
    turns = incoming.turns[alignment.new_from :]
    if said_ms is not None:
        turns = tuple(turn if turn.time_ms is not None else replace(turn, time_ms=said_ms) for turn in turns)
    record = replace(stored, turns=stored.turns + turns)
    check_turn_ids(record)
    return _without_default_ids(record)


def _symbols(
    stored: SessionRecord, incoming: SessionRecord, hole_key: Callable[[TurnRecord], str] | None
) -> tuple[list[int], list[int]]:
    """Both sessions as numbers that are equal where the turns are; -1 for a turn that `incoming` has not.

    Times are part of a number when all turns have one. Else "the same" is not transitive, times are left to
    `_times_agree`, and only a long repetition with some times could make that quadratic.
    """
    dated = all(turn.time_ms is not None for turn in (*stored.turns, *incoming.turns))
    keys = [_symbol(turn.key, turn, dated) for turn in incoming.turns]
    number = {key: i for i, key in reversed(list(enumerate(keys)))}
    pattern = [number[key] for key in keys]
    if hole_key is not None and any(turn.hole for turn in stored.turns):
        for turn, i in zip(incoming.turns, pattern, strict=True):
            if turn.hole is None:
                number.setdefault(_symbol(hole_key(turn), turn, dated), i)
    return [number.get(_symbol(turn.key, turn, dated), -1) for turn in stored.turns], pattern


def _symbol(key: str, turn: TurnRecord, dated: bool) -> tuple[str, int | None]:
    return key, turn.time_ms if dated else None


def _borders(pattern: Sequence[int]) -> list[int]:
    """For each length of a prefix, the longest shorter prefix that it ends with."""
    back = [0, 0]
    for symbol in pattern[1:]:
        length = back[-1]
        while length and pattern[length] != symbol:
            length = back[length]
        back.append(length + 1 if pattern[length] == symbol else 0)
    return back


def _times_agree(stored: SessionRecord, incoming: SessionRecord, start: int) -> bool:
    """Whether no turn has two different times of its own when `incoming` is laid at `start`."""
    pairs = zip(islice(stored.turns, start, None), incoming.turns, strict=False)
    return all(
        mine.time_ms == other.time_ms for mine, other in pairs if mine.time_ms is not None and other.time_ms is not None
    )
