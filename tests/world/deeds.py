"""What the clients of a simulated world want done, drawn by chance from what there is."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from memforest_ray.forest.errands import RENEWALS
from memforest_ray.forest.intents import WAITS
from memforest_ray.ids import OpId, UserId
from tests.world.chronicle import Chronicle
from tests.world.states import Correct, Fact, Forget, Ingest, Intent, Merge, Origin, Restore, told_by
from tests.world.words import correction, fact_id, session

__all__ = ["NAMES", "Deed", "Draw"]

NAMES = ("a", "b")
TURNS_MAX = 5


@dataclass(eq=False, slots=True)
class Deed:
    """One write that somebody wants done once; told again, perhaps elsewhere, until he knows."""

    user: UserId
    op: OpId
    verb: str
    arguments: dict[str, Any]
    intent: Intent | None = None
    since: int = 0
    """Of a merge: the source's newest version when it was first asked for."""


class Draw:
    """Deeds that make sense as far as is known when they are drawn; by the time they are done they may not."""

    def __init__(
        self, rng: random.Random, chronicle: Chronicle, numbers: Iterator[int], source: Chronicle | None = None
    ) -> None:
        """`numbers` names operations and sessions; `source` is whose memory this one may take over."""
        self._rng = rng
        self._chronicle = chronicle
        self._numbers = numbers
        self._source = source

    def deed(self) -> Deed:
        """Any write."""
        kinds: Sequence[tuple[Callable[[], Deed | None], int]] = [
            (self.ingest, 10),
            (self.forget, 4),
            (self.correct, 1),
            (self.repair, 1),
            (self.renew, 1),
            (self.save, 3),
            (self.restore, 3),
            (self.delete_snapshot, 1),
            *([] if self._source is None else [(self.merge, 12), (self.forget_origin, 1)]),
        ]
        draw = self._rng.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0]
        if self._source is not None and not self._chronicle.head:
            draw = self._rng.choice([self.ingest, self.merge])
        return draw() or self.ingest()

    def ingest(self) -> Deed:
        """A new session, one that has grown, one that is sent again, or one that is to replace what is there."""
        known = self._chronicle.now.names
        if known and self._rng.random() < 0.5:
            return self._ingest(self._rng.choice(known))
        return self.newcomer()

    def newcomer(self) -> Deed:
        """A new session."""
        return self._ingest(f"s{next(self._numbers)}")

    def _ingest(self, name: str) -> Deed:
        intent = Ingest(name, self._rng.randint(1, TURNS_MAX), replacing=self._rng.random() < 0.15)
        wait = self._rng.choice(WAITS)
        return self._of("ingest", intent, session=session(name, intent.turns), replace=intent.replacing, wait=wait)

    def forget(self, *, including_snapshots: bool | None = None) -> Deed | None:
        """A session, turns, or a fact; perhaps a session that is only in a snapshot."""
        rows = sorted(self._chronicle.now.rows)
        if not rows:
            return None
        kept = sorted({name for held in self._chronicle.snapshots.values() for name in held.state.sessions})
        if kept and self._rng.random() < 0.15:
            name = self._rng.choice(kept)
            return self._of("forget", Forget(name, (), True), session=name, including_snapshots=True)
        place = self._rng.choice(rows)
        including = self._rng.random() < 0.6 if including_snapshots is None else including_snapshots
        choice = self._rng.randrange(4)
        if choice == 0:
            return self._of("forget", Forget(place[0], (), including), session=place[0], including_snapshots=including)
        if choice == 1:
            intent = Forget(place[0], (place[1],), including)
            turns = (f"{place[0]}#{place[1]}",)
            return self._of("forget", intent, session=place[0], turns=turns, including_snapshots=including)
        fact = Fact(place, choice == 2, including)
        return self._of(
            "forget", fact, fact=fact_id(place), with_dialogue=fact.with_dialogue, including_snapshots=including
        )

    def merge(self) -> Deed | None:
        """What the source holds by then."""
        if self._source is None or not self._source.head:
            return None
        intent = Merge(self._source.user, self._rng.random() < 0.15)
        arguments = {"source": self._source.user, "replacing": intent.replacing, "wait": self._rng.choice(WAITS)}
        deed = self._of("merge", intent, **arguments)
        deed.since = self._source.head
        return deed

    def forget_origin(self) -> Deed | None:
        """All that came from somebody, at first or second hand."""
        users = sorted({user for path in self._chronicle.now.origins.values() for user in path})
        if not users:
            return None
        intent = Origin(self._rng.choice(users), self._rng.random() < 0.7)
        return self._of("forget", intent, origin=intent.user, including_snapshots=intent.including_snapshots)

    def correct(self) -> Deed | None:
        """A fact, if there is one."""
        now = self._chronicle.now
        told = sorted(place for place in now.rows if told_by(place) not in now.hidden)
        if not told:
            return None
        place = self._rng.choice(told)
        return self._of("correct", Correct(place), fact=fact_id(place), text=correction(place))

    def repair(self) -> Deed:
        return self._of("repair", None)

    def renew(self) -> Deed:
        return self._of("renew", None, what=self._rng.choice(RENEWALS))

    def save(self) -> Deed:
        return self._of("save", None, name=self._rng.choice(NAMES), replace=self._rng.random() < 0.7)

    def restore(self) -> Deed | None:
        if not self._chronicle.snapshots and self._rng.random() < 0.8:
            return None
        name = self._name()
        return self._of("restore", Restore(name), name=name)

    def delete_snapshot(self) -> Deed | None:
        if not self._chronicle.snapshots and self._rng.random() < 0.8:
            return None
        return self._of("delete_snapshot", None, name=self._name())

    def _name(self) -> str:
        """Mostly one that is there."""
        there = sorted(self._chronicle.snapshots)
        return self._rng.choice(there if there and self._rng.random() < 0.8 else NAMES)

    def _of(self, verb: str, intent: Intent | None, **arguments: Any) -> Deed:
        op = OpId(f"{verb}-{next(self._numbers)}")
        if intent is not None:
            self._chronicle.intents[op] = intent
        return Deed(self._chronicle.user, op, verb, arguments, intent)
