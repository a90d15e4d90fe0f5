"""What the inhabitants of a simulated world were told, held against what really happened."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from memforest_ray.commit.version import Version
from memforest_ray.errors import MemForestError, SessionConflict
from memforest_ray.forest.errands import Merged, Renewed
from memforest_ray.forest.intents import Deleted, Receipt, Saved
from memforest_ray.ids import UserId
from memforest_ray.query.result import Result
from memforest_ray.testing.clock import ManualClock
from tests.world.chronicle import Chronicle
from tests.world.deeds import Deed
from tests.world.states import Fact, Forget, Ingest, Merge, Origin, State
from tests.world.words import difference, places_in

__all__ = ["Watch"]

FRESH_S = 5.0
"""What a reader may lag behind, as it is promised."""


@dataclass(slots=True)
class Watch:
    """Adds what it does not believe to `chronicle.wrong`."""

    chronicle: Chronicle
    clock: ManualClock
    _told: list[tuple[float, int]] = field(default_factory=list)
    """When somebody was told of a version."""

    # ---- reads -------------------------------------------------------------------------------------------

    def read(self, version: Version, began: float, seen: int) -> None:
        """A version was read, by somebody who had seen version `seen`."""
        self._check_fresh(version.number, began, seen)
        state = self.chronicle.states.get(version.number)
        if state is None:
            self.chronicle.wrong.append(f"version {version.number} was read and never was")
        elif wrong := difference(version, state):
            self.chronicle.wrong.append(f"version {version.number} was read with {wrong}")

    def answered(self, found: Result, began: float, seen: int) -> None:
        """A question was answered."""
        self._check_fresh(found.version, began, seen)
        state = self.chronicle.states.get(found.version)
        shown = frozenset().union(*(places_in(hit.text) for hit in found))
        if state is None or not shown <= state.words:
            self.chronicle.wrong.append(f"version {found.version} answered {sorted(shown)}")

    def page(self) -> int:
        """Where the book of snapshots is open now: what is found later was there from here on."""
        return self.chronicle.whole if self.chronicle.erasing else len(self.chronicle.catalogues) - 1

    def listed(self, names: list[str], page: int) -> None:
        """The snapshots were listed."""
        if all({*names} != {*held} for held in self.chronicle.catalogues[page:]):
            self.chronicle.wrong.append(f"snapshots {names} were listed")

    def not_kept(self, name: str, page: int) -> None:
        """It was said that there is no such snapshot."""
        if all(name in held for held in self.chronicle.catalogues[page:]):
            self.chronicle.wrong.append(f"snapshot {name} was not found")

    def looked_back(self, name: str, found: Result, page: int) -> None:
        """A snapshot was asked."""
        kept = [held[name] for held in self.chronicle.catalogues[page:] if name in held]
        shown = frozenset().union(*(places_in(hit.text) for hit in found))
        if all(found.version != each.version or not shown <= each.state.words for each in kept):
            self.chronicle.wrong.append(f"snapshot {name} of version {found.version} answered {sorted(shown)}")

    def _check_fresh(self, version: int, began: float, seen: int) -> None:
        due = max((told for when, told in self._told if when < began - FRESH_S), default=0)
        if version < max(due, seen):
            self.chronicle.wrong.append(f"version {version} was read, though {max(due, seen)} had been told of")

    # ---- writes ------------------------------------------------------------------------------------------

    def begins(self, deed: Deed) -> tuple[int, ...]:
        """Somebody asks for it, not for the first time, perhaps: the versions in which it was done already."""
        return self._done(deed)

    def refused(self, deed: Deed, error: MemForestError, done: Sequence[int]) -> None:
        """What was done before it was asked for, in this life, cannot be refused."""
        if isinstance(error, SessionConflict) and not self._may_conflict(deed):
            self.chronicle.wrong.append(f"{deed.op} is in conflict with nothing: {error}")
        if done and done == self._done(deed):
            self.chronicle.wrong.append(f"{deed.op} was done in {done}, and is refused: {error.kind}")

    def _done(self, deed: Deed) -> tuple[int, ...]:
        name = self.chronicle.life, deed.op
        return (*self.chronicle.commits.get(name, ()), *self.chronicle.saves.get(name, ()))

    def acknowledged(self, deed: Deed, answer: Any) -> None:
        """What somebody is told is true, and done."""
        if isinstance(answer, Receipt) and (answer.duplicate or (answer.failed_cells and not self._done(deed))):
            # What could not be read again changes nothing either.
            self._duplicate(deed, answer)
        elif isinstance(answer, Merged):
            self._merged(deed, answer)
        elif isinstance(answer, Renewed) and answer.duplicate:
            return  # as it was told, there was nothing to do then
        elif isinstance(answer, Saved):
            self._expect(deed, answer.version, self.chronicle.saves)
        elif not isinstance(answer, Deleted):
            self._expect(deed, answer.version, self.chronicle.commits)
        if isinstance(deed.intent, Forget | Fact | Origin) and deed.op in self.chronicle.erasing:
            self.chronicle.wrong.append(f"{deed.op} is acknowledged, and not erased yet")
        if not isinstance(answer, Deleted | Saved):
            self._told.append((self.clock.elapsed(), answer.version))

    def _expect(self, deed: Deed, version: int, done: Any) -> None:
        versions = [each for life in range(self.chronicle.life + 1) for each in done.get((life, deed.op), ())]
        if deed.verb in {"repair", "renew"} and version < min(versions, default=version + 1):
            return  # there was nothing to do by then, or it was tried in vain: nothing had changed
        # Who waits for summaries is told of the version that holds them, too.
        later = deed.verb in {"ingest", "merge", "repair", "renew"} and any(
            each <= version <= self.chronicle.head for each in versions
        )
        if version not in versions and not later:
            self.chronicle.wrong.append(f"{deed.op} is acknowledged in version {version}, and was not done in it")

    def _duplicate(self, deed: Deed, answer: Receipt) -> None:
        if not isinstance(deed.intent, Ingest):
            return  # a repair with nothing to do
        session, turns = deed.intent.session, {*range(deed.intent.turns)}
        held = [
            {*range(len(state.sessions.get(session, ())))} | {*state.known(session)}
            for state in self.chronicle.steps.get(answer.version, [State()])
        ]
        if not any(known >= turns for known in held):
            self.chronicle.wrong.append(f"{deed.op} is a duplicate, but version {answer.version} holds {held}")

    # ---- merges ------------------------------------------------------------------------------------------

    def _may_conflict(self, deed: Deed) -> bool:
        """Whether there were, since it was first asked for, two states that cannot be laid on each other."""
        if not isinstance(deed.intent, Merge):
            return False
        source = self.chronicle.neighbours[UserId(deed.intent.user)]
        theirs = [state for version, state in source.states.items() if version >= deed.since]
        return any(mine.conflicts(deed.intent, state) for mine in self.chronicle.states.values() for state in theirs)

    def _merged(self, deed: Deed, answer: Merged) -> None:
        if answer.source_version < deed.since:
            self.chronicle.wrong.append(f"{deed.op} took version {answer.source_version}, not {deed.since}")
        # A cell that could not be read there cannot be read here either: tried again, it changes nothing.
        if not answer.duplicate and (answer.sessions or not answer.failed_cells or self._done(deed)):
            self._expect(deed, answer.version, self.chronicle.commits)
            return
        assert isinstance(deed.intent, Merge)
        source = self.chronicle.neighbours[UserId(deed.intent.user)].states[answer.source_version]
        state = self.chronicle.states[answer.version]
        after = state.after(deed.intent, {}, source)
        if (after.sessions, after.hidden, after.names) != (state.sessions, state.hidden, state.names):
            self.chronicle.wrong.append(f"{deed.op} is a duplicate in {answer.version}, and there was something new")
