"""Sessions and cells under edit: what a write does to the dialogue, before anything is extracted from it.

Pure. Several writes of one batch are laid one on another; what counts in the end is which cells are born and which
are dead against the version that the batch started from.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from memforest_ray.commit.version import Version
from memforest_ray.errors import InvalidInput, NotFound, SessionConflict
from memforest_ray.facts.cells import Cell, cut, grow, renewed
from memforest_ray.facts.inputs import cell_inputs
from memforest_ray.facts.sessions import Relation, SessionRecord, TurnRecord, align, check_turn_ids, grown
from memforest_ray.ids import CellId, SessionId, TurnId

__all__ = ["Admission", "Dialogue", "Place", "formers", "hole_of", "keyed", "session_key", "turns_key", "unlabelled"]

Place = tuple[SessionId, int]
"""One turn: its session and its index there."""


def keyed(secret: str, *parts: str) -> str:
    """Keyed hash of what was forgotten: tells a re-sent text, and nothing to who has not the forest's secret."""
    state = hashlib.blake2b(key=bytes.fromhex(secret), digest_size=16)
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        state.update(len(raw).to_bytes(8, "little") + raw)
    return state.hexdigest()


def session_key(secret: str, session: SessionId) -> str:
    """What a forgotten session is known by in `Version.forgotten`."""
    return keyed(secret, "session", session)


def turns_key(secret: str, session: SessionId) -> str:
    """Where `Version.forgotten` keeps holes of a session that has been restored to what it was before them."""
    return keyed(secret, "turns", session)


def hole_of(secret: str, turn: TurnRecord) -> str:
    """The keyed hash that a turn leaves, or has left."""
    return turn.hole or keyed(secret, "turn", turn.key)


Former = tuple[str, SessionId, str]
"""Of a session that came by a merge: the secret of the memory it came from, its name there, and what speakers' roles
were labelled with."""


def formers(lineage: Mapping[str, tuple[str, str]], session: SessionId) -> Iterator[Former]:
    """What a session was called in each memory that it may have come through."""
    for prefix, (secret, label) in lineage.items():
        if session.startswith(prefix):
            yield secret, SessionId(session.removeprefix(prefix)), label


def unlabelled(turn: TurnRecord, label: str) -> TurnRecord:
    """A turn as it was before its speaker, who has no name, was told apart from others by `label`."""
    return replace(turn, speaker=turn.role) if turn.speaker == label + turn.role else turn


@dataclass(frozen=True, slots=True)
class Admission:
    """What became of one session."""

    duplicate: bool
    forgotten: bool = False
    """Some of its turns were forgotten earlier, and stay so."""


class Dialogue:
    """A working copy of a version's sessions and cells."""

    def __init__(self, version: Version) -> None:
        self._base = version
        self.sessions = version.sessions.mutate()
        self.cells = version.cells.mutate()
        self.session_cells = version.session_cells.mutate()
        self.forgotten = version.forgotten.mutate()
        self.touched: dict[SessionId, None] = {}
        self.told: dict[str, None] = {}
        """Keys of `forgotten` that were written."""
        self._retried: dict[SessionId, None] = {}
        self._rewritten: dict[SessionId, None] = {}
        """Sessions that were changed otherwise than by growth."""

    # ---- what a batch asks for ---------------------------------------------------------------------------

    def admit(self, incoming: SessionRecord, *, replacing: bool) -> Admission:
        """Lay one session on what is stored. Raises SessionConflict, InvalidInput (a turn id used twice)."""
        if replacing:
            return self._replace(incoming)
        incoming, forgotten = self._without_forgotten(incoming)
        stored = self.sessions.get(incoming.id)
        if stored is None:
            if all(turn.hole for turn in incoming.turns):
                return Admission(duplicate=True, forgotten=True)
            self._put(incoming, (), cut(incoming, **self._base.birth.limits))
            return Admission(duplicate=False, forgotten=forgotten)
        alignment = align(stored, incoming, hole_key=self._hole)
        if alignment.relation is Relation.CONFLICT:
            raise SessionConflict(
                f"session {incoming.id!r} is stored with other turns; they were kept; "
                "send the stored turns with new ones after them, use another id, or pass replace=True to put these in "
                "their place",
                session=incoming.id,
            )
        if alignment.relation is Relation.DUPLICATE:
            return Admission(duplicate=not self.retry_failed([incoming.id]), forgotten=forgotten)
        self._grow(stored, grown(stored, incoming, alignment))
        self.retry_failed([incoming.id])
        return Admission(duplicate=False, forgotten=forgotten)

    def adopt(self, incoming: SessionRecord, cells: Sequence[Cell], *, replacing: bool) -> Admission:
        """Lay on what is stored a session that another forest has cut into `cells`; what was forgotten stays out.

        Raises SessionConflict unless `replacing`; InvalidInput.
        """
        stored = self.sessions.get(incoming.id)
        left, forgotten = self._without_forgotten(incoming)
        if stored is not None and replacing and self._conflicts(stored, left):
            self._remove(stored)
            self._rewritten[incoming.id] = None
        elif stored is not None:
            return self.admit(incoming, replacing=False)
        if all(turn.hole for turn in left.turns):
            return Admission(duplicate=stored is None, forgotten=True)
        check_turn_ids(left)
        self._put(left, (), tuple(renewed(left, cell) for cell in cells))
        return Admission(duplicate=False, forgotten=forgotten)

    def _conflicts(self, stored: SessionRecord, incoming: SessionRecord) -> bool:
        return align(stored, incoming, hole_key=self._hole).relation is Relation.CONFLICT

    def retry_failed(self, sessions: Iterable[SessionId]) -> int:
        """Mark the failed cells of `sessions` for another try; how many there are."""
        marked = 0
        for session in sessions:
            failed = sum(name in self._base.failed for name in self.session_cells.get(session, ()))
            if failed:
                self._retried[session] = None
            marked += failed
        return marked

    def forget_session(self, session: SessionId) -> None:
        """Remove a session; keyed hashes of its turns stay, so that it does not come back unasked.

        Raises NotFound.
        """
        record = self.sessions.get(session)
        if record is None:
            raise self._absent(session)
        self._remove(record)
        key = self._key(session)
        known = self.forgotten.get(key, ())
        self.forgotten[key] = tuple(sorted({*known, *(self._hole(turn) for turn in record.turns)}))
        self.told[key] = None

    def forget_kept(self, session: SessionId, kept: Iterable[SessionRecord]) -> list[Place]:
        """Forget a session that is stored nowhere but in snapshots, which hold it as `kept`; which turns that were.

        Its keyed hashes are left, as of one that was stored here: by them a snapshot knows what it has to forget.
        """
        known = set(self.forgotten.get(self._key(session), ()))
        places: dict[str, Place] = {}
        for record in kept:
            known |= {self._hole(turn) for turn in record.turns}
            places |= {turn.key: (session, index) for index, turn in enumerate(record.turns) if turn.hole is None}
        self.forgotten[self._key(session)] = tuple(sorted(known))
        self.told[self._key(session)] = None
        return list(places.values())

    def forget_kept_turns(self, turns: Iterable[tuple[SessionId, int, TurnRecord]]) -> list[Place]:
        """Forget turns that are stored nowhere but in snapshots; which turns that were. See `forget_kept`."""
        places: dict[Place, None] = {}
        for session, index, turn in turns:
            key = turns_key(self._base.secret, session)
            self.forgotten[key] = tuple(sorted({*self.forgotten.get(key, ()), self._hole(turn)}))
            self.told[key] = None
            places[session, index] = None
        return list(places)

    def forget_turns(self, places: Iterable[Place]) -> None:
        """Turn each place into a hole; boundaries do not move."""
        by_session: dict[SessionId, set[int]] = {}
        for session, index in places:
            by_session.setdefault(session, set()).add(index)
        for session, gone in by_session.items():
            record = self.sessions[session]
            turns = tuple(self._emptied(turn) if index in gone else turn for index, turn in enumerate(record.turns))
            self.sessions[session] = after = replace(record, turns=turns)
            self._renew(after, gone)

    def keep_forgotten(self, hashes: Mapping[str, tuple[str, ...]]) -> None:
        """Take over what another memory knows as forgotten, by keys and hashes of its own."""
        for key, holes in hashes.items():
            known = self.forgotten.get(key, ())
            if not set(holes) <= set(known):
                self.forgotten[key] = tuple(sorted({*known, *holes}))
                self.told[key] = None

    def keep_holes(self, record: SessionRecord) -> None:
        """See to it that the turns that left the holes of `record` stay out, whatever is stored of that session."""
        stored = self.sessions.get(record.id)
        known = {turn.hole for turn in stored.turns} if stored is not None else set()
        key = turns_key(self._base.secret, record.id)
        known |= {*self.forgotten.get(key, ())}
        missing = {turn.hole for turn in record.turns if turn.hole} - known
        if missing:
            self.forgotten[key] = tuple(sorted({*self.forgotten.get(key, ()), *missing}))
            self.told[key] = None

    def places_of(self, turns: Sequence[str], session: str | None) -> list[Place]:
        """Where turns of these ids are. Raises NotFound; InvalidInput for an id found in several sessions."""
        wanted = dict.fromkeys(map(TurnId, turns))
        if not wanted:
            raise InvalidInput("turns: name at least one turn id; nothing was changed")
        found: dict[TurnId, list[Place]] = {turn: [] for turn in wanted}
        for record in self._searched(session):
            for index, turn in enumerate(record.turns):
                name = record.turn_id(index)
                if name in found and turn.hole is None:
                    found[name].append((record.id, index))
        for name, places in found.items():
            if not places:
                raise NotFound(f"there is no turn {name!r}; nothing was changed", what="turn", turn=name)
            if len(places) > 1:
                where = ", ".join(repr(str(place[0])) for place in places)
                raise InvalidInput(f"turn {name!r} is in several sessions ({where}): name one with session=")
        return [place for places in found.values() for place in places]

    # ---- what came of it ---------------------------------------------------------------------------------

    def read_of(self, session: SessionId) -> dict[CellId, Cell]:
        """Cells of a session that have to be read: born ones, and failed ones that are tried again; in order."""
        return {**self._born_of(session), **self._retry_of(session)}

    @property
    def born(self) -> dict[CellId, Cell]:
        """Cells that the base version does not have, or has read otherwise; in order of session and place."""
        return {name: cell for session in self.touched for name, cell in self._born_of(session).items()}

    @property
    def retry(self) -> dict[CellId, Cell]:
        """Failed cells to try again."""
        return {name: cell for session in self._retried for name, cell in self._retry_of(session).items()}

    @property
    def dead(self) -> dict[CellId, Cell]:
        """Cells of the base version that are no more, or have to be read anew: those are born too."""
        gone = {}
        for session in self.touched:
            anew = self._anew(session)
            for name in self._base.session_cells.get(session, ()):
                if name not in self.cells or name in anew:
                    gone[name] = self._base.cells[name]
        return gone

    def _born_of(self, session: SessionId) -> dict[CellId, Cell]:
        if session not in self.touched:
            return {}
        anew = self._anew(session)
        names = self.session_cells.get(session, ())
        return {name: self.cells[name] for name in names if name not in self._base.cells or name in anew}

    def _retry_of(self, session: SessionId) -> dict[CellId, Cell]:
        if session not in self._retried:
            return {}
        born = self._born_of(session)
        names = self.session_cells.get(session, ())
        return {name: self.cells[name] for name in names if name in self._base.failed and name not in born}

    def _anew(self, session: SessionId) -> set[CellId]:
        """Cells that are still there, but of which an extractor would be shown something else now.

        What a cell is read with (times, zone, who spoke before) may have changed or been forgotten around it. In
        a session that only grew it has not.
        """
        if session not in self._rewritten or session not in self._base.sessions or session not in self.sessions:
            return set()
        cells = [self.cells[name] for name in self.session_cells[session]]
        kept = [cell for cell in cells if cell.id in self._base.cells]
        now = cell_inputs(self.sessions[session], kept)
        before = cell_inputs(self._base.sessions[session], [self._base.cells[cell.id] for cell in kept])
        return {new.cell_id for new, old in zip(now, before, strict=True) if new != old}

    # ---- steps -------------------------------------------------------------------------------------------

    def _key(self, session: SessionId) -> str:
        return session_key(self._base.secret, session)

    def _keys(self, session: SessionId) -> tuple[str, str]:
        """Where hashes of its turns may be kept."""
        return self._key(session), turns_key(self._base.secret, session)

    def _hole(self, turn: TurnRecord) -> str:
        return hole_of(self._base.secret, turn)

    def _emptied(self, turn: TurnRecord) -> TurnRecord:
        """The hole that a turn leaves. Its time stays: without it a gap beside it could not be seen any more."""
        return TurnRecord(role="", speaker="", text="", time_ms=turn.time_ms, hole=self._hole(turn))

    def _without_forgotten(self, incoming: SessionRecord) -> tuple[SessionRecord, bool]:
        """Turns of a forgotten session, sent again, come in as the holes they left, here or where they came from."""
        former = list(formers(self._base.lineage, incoming.id))
        keys = [*self._keys(incoming.id)]
        for secret, name, _ in former:
            keys += [session_key(secret, name), turns_key(secret, name)]
        known = {hole for key in keys for hole in self.forgotten.get(key, ())}
        stored = self.sessions.get(incoming.id)
        if known and stored is not None:
            # What was forgotten where it came from may stand here all the same.
            said = (turn for turn in stored.turns if turn.hole is None)
            known -= {hole for turn in said for hole in self._holes(turn, former)}
        standing = {turn.hole for turn in stored.turns if turn.hole} if stored is not None else set()
        if not (known or standing):
            return incoming, False
        turns = tuple(self._emptied_if(turn, (standing, known), former) for turn in incoming.turns)
        return replace(incoming, turns=turns), any(turn.hole for turn in turns)

    def _holes(self, turn: TurnRecord, former: Sequence[Former]) -> Iterator[str]:
        """What a turn is known by once it is forgotten, here or where it came from."""
        yield self._hole(turn)
        yield from (hole_of(secret, unlabelled(turn, label)) for secret, _, label in former)

    def _emptied_if(self, turn: TurnRecord, known: Sequence[set[str]], former: Sequence[Former]) -> TurnRecord:
        """The hole that a turn has left, if a hash of it is among those known: of the first that know one.

        It may have been forgotten here and where it came from, and nobody can tell that two hashes are of one text.
        """
        hashes = [*self._holes(turn, former)]
        hole = next((hole for holes in known for hole in hashes if hole in holes), None)
        return turn if hole is None else replace(self._emptied(turn), hole=hole)

    def _replace(self, incoming: SessionRecord) -> Admission:
        """Put `incoming` in place of what is stored; what was forgotten of it is admitted again."""
        stored = self.sessions.get(incoming.id)
        if stored == incoming:
            return Admission(duplicate=not self.retry_failed([incoming.id]))
        for key in self._keys(incoming.id):
            self.forgotten.pop(key, None)
            self.told[key] = None
        if stored is not None:
            self._remove(stored)
            self._rewritten[incoming.id] = None
        self._put(incoming, (), cut(incoming, **self._base.birth.limits))
        return Admission(duplicate=False)

    def _grow(self, stored: SessionRecord, record: SessionRecord) -> None:
        cells = [self.cells[name] for name in self.session_cells[stored.id]]
        growth = grow(record, cells, **self._base.birth.limits)
        for cell in growth.replaced:
            del self.cells[cell.id]
        self._put(record, growth.kept, growth.new)

    def _put(self, record: SessionRecord, kept: tuple[Cell, ...], new: tuple[Cell, ...]) -> None:
        self.touched[record.id] = None
        self.sessions[record.id] = record
        if kept:
            self.cells[kept[-1].id] = kept[-1]  # it may have been open and be closed now
        for cell in new:
            self.cells[cell.id] = cell
        self.session_cells[record.id] = tuple(cell.id for cell in (*kept, *new))

    def _remove(self, record: SessionRecord) -> None:
        self.touched[record.id] = None
        for name in self.session_cells.pop(record.id, ()):
            del self.cells[name]
        del self.sessions[record.id]

    def _renew(self, record: SessionRecord, gone: set[int]) -> None:
        """Give the cells that hold a turn of `gone` the ids that their turns give them now."""
        self.touched[record.id] = self._rewritten[record.id] = None
        names = []
        for name in self.session_cells[record.id]:
            cell = self.cells[name]
            if any(span.turn in gone for span in cell.spans):
                del self.cells[name]
                cell = renewed(record, cell)
                self.cells[cell.id] = cell
            names.append(cell.id)
        self.session_cells[record.id] = tuple(names)

    def _searched(self, session: str | None) -> Iterable[SessionRecord]:
        if session is None:
            return [self.sessions[name] for name in self._names()]
        record = self.sessions.get(SessionId(session))
        if record is None:
            raise self._absent(session)
        return [record]

    def _absent(self, session: str) -> NotFound:
        """Whoever asks again to forget it, not having heard the answer, is told that it was forgotten."""
        forgotten = self._key(SessionId(session)) in self.forgotten
        before = " any more: it was forgotten before" if forgotten else ""
        message = f"there is no session {session!r}{before}; nothing was changed"
        return NotFound(message, what="session", session=session)

    def _names(self) -> list[SessionId]:
        return [name for name in {*self._base.sessions, *self.touched} if name in self.sessions]
