"""SIGSTOP of a process that owns a forest, while another takes it over, and SIGCONT: nothing lost, doubled or stale."""

import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memforest_ray.ambient import SystemClock
from memforest_ray.commit.version import Version
from memforest_ray.storage.open import open_store
from memforest_ray.testing.forests import Forests, check_forest, decided, residue
from tests.faults.halts import PHASES, Phase
from tests.faults.nursery import Nursery
from tests.faults.process import Child
from tests.faults.programme import Deed, Orders, deeds, secret_word
from tests.faults.twin import do

EVENTS: dict[Phase, Sequence[int]] = {
    "extracting": (3,),
    "refreshing": (3,),
    "claiming": (1, 2),
    "landing": (5, 6),
    "checkpointing": (1, 4, 5, 6),
    "erasing": (1, 2, 5, 7, 8, 9, 15),
}
STOPS = [(phase, event, bool(place % 2)) for phase in PHASES for place, event in enumerate((*EVENTS[phase], 2))]
LAST = Deed("in-59", "ingest", 59)
FRESH_S = 0.2
SETTINGS = {"checkpoint_commits": 2, "fresh_s": FRESH_S}


@pytest.fixture
def url(tmp_path: Path) -> str:
    return (tmp_path / "store").as_uri()


def orders(url: str, phase: Phase | None = None, event: int = 0, *, retries: bool = True) -> Orders:
    # Models work beside the lane: a process stopped there must not hold a lock of a checkpoint, which on local files
    # would keep everybody else waiting until it goes on.
    commits = 32 if phase in {"extracting", "refreshing"} else 2
    settings = {**SETTINGS, "checkpoint_commits": commits}
    return Orders(url, phase or "", event, signal.SIGSTOP, retries=retries, settings=settings)


class Heard:
    """What any process acknowledged, in order."""

    def __init__(self) -> None:
        self.done: list[Deed] = []
        self.errors: dict[str, str] = {}

    def take(self, deed: Deed, row: dict[str, Any]) -> None:
        """The answer to a deed."""
        assert row["op"] == deed.op
        if "error" in row:
            self.errors[deed.op] = row["error"]
        elif deed not in self.done:
            self.done.append(deed)

    def until_it_halts(self, child: Child, todo: list[Deed]) -> Deed:
        """Have it do one deed after the other until it stands still; the deed that has no answer."""
        while True:
            deed = todo.pop(0)
            child.tell(deed.command)
            row = child.hear()
            if "halts" in row:
                child.stopped()
                return deed
            self.take(deed, row)


async def settled(url: str, heard: Heard) -> Version:
    """What the store holds in the end: what was acknowledged, and nothing else.

    The last owner's coming removes what the one before him may have dropped after an erasure.
    """
    await do(Forests(open_store(url), seed=1).open(), LAST)
    heard.done.append(LAST)
    version = await Forests(open_store(url)).open().version()
    check_forest(version)
    assert set(version.operations) == {deed.op for deed in heard.done}
    twin = Forests().open()
    for deed in heard.done:
        await do(twin, deed)
    assert decided(version) == decided(await twin.version())
    for deed in heard.done:
        if deed.verb == "forget":
            assert await residue(secret_word(deed.number), open_store(url), version) == []
    return version


@pytest.mark.parametrize(("phase", "event", "asked_again"), STOPS)
async def test_a_stopped_owner_goes_on(nursery: Nursery, url: str, phase: Phase, event: int, asked_again: bool) -> None:
    """Its caller has its answer, through a new claim where it needs one; with the same operation asked of both, too."""
    todo, heard = list(deeds(forgetting=True)), Heard()
    with nursery.bear(orders(url, phase, event)) as first, nursery.bear(orders(url)) as second:
        pending = heard.until_it_halts(first, todo)
        if asked_again:
            heard.take(pending, second.do(pending))
        # Nobody forgets a session before he has heard that it is there.
        todo = [deed for deed in todo if deed.number != pending.number]
        for deed in [todo.pop(0) for _ in range(3)]:
            heard.take(deed, second.do(deed))
        first.go_on()
        heard.take(pending, first.hear())
        for child in (first, second, first):
            deed = todo.pop(0)
            heard.take(deed, child.do(deed))
        assert (first.leave(), second.leave()) == (0, 0)
    assert heard.errors == {}
    await settled(url, heard)


@pytest.mark.parametrize(
    ("phase", "event"), [("refreshing", 3), ("landing", 5), ("landing", 6), ("checkpointing", 5), ("erasing", 7)]
)
async def test_a_zombie_is_fenced(nursery: Nursery, url: str, phase: Phase, event: int) -> None:
    """Without a new claim its next write is refused with `fenced`, and not done."""
    todo, heard = list(deeds(forgetting=True)), Heard()
    with nursery.bear(orders(url, phase, event, retries=False)) as first, nursery.bear(orders(url)) as second:
        pending = heard.until_it_halts(first, todo)
        if pending.verb == "forget":
            heard.take(pending, second.do(pending))
        for deed in [todo.pop(0) for _ in range(3)]:
            heard.take(deed, second.do(deed))
        first.go_on()
        heard.take(pending, first.hear())
        late = todo.pop(0)
        heard.take(late, first.do(late))
        heard.take(todo[0], second.do(todo[0]))
        assert (first.leave(), second.leave()) == (0, 0)
    # What had landed before it was stopped is acknowledged, and rightly: the next owner has found it.
    durable = {} if (phase, event) == ("landing", 6) else {pending.op: "fenced"}
    assert heard.errors == {**durable, late.op: "fenced"}
    await settled(url, heard)


async def test_a_claim_that_was_overtaken_takes_in_what_others_wrote(nursery: Nursery, url: str) -> None:
    """Stopped between reading and claiming: what was committed meanwhile still stands in the log, and is not lost."""
    todo, heard = list(deeds(forgetting=False)), Heard()
    without_checkpoints = {**SETTINGS, "checkpoint_commits": 32}
    stopping, going_on = (
        replace(each, settings=without_checkpoints) for each in (orders(url, "claiming", 1), orders(url))
    )
    with nursery.bear(stopping) as first, nursery.bear(going_on) as second:
        pending = heard.until_it_halts(first, todo)
        for deed in [todo.pop(0) for _ in range(3)]:
            heard.take(deed, second.do(deed))
        first.go_on()
        heard.take(pending, first.hear())
        heard.take(todo[0], first.do(todo[0]))
        assert (first.leave(), second.leave()) == (0, 0)
    assert heard.errors == {}
    await settled(url, heard)


@pytest.mark.parametrize("retries", [True, False])
def test_a_zombie_does_not_answer_from_the_past(nursery: Nursery, url: str, retries: bool) -> None:
    """A question that reaches it later than `fresh_s` after its last proof sees what others wrote, or is refused."""
    clock, todo = SystemClock(), list(deeds(forgetting=False))
    ask = {"op": "ask", "verb": "query", "text": "PIN word"}
    with nursery.bear(orders(url, "extracting", retries=retries)) as first, nursery.bear(orders(url)) as second:
        first.do(todo.pop(0))
        first.tell(ask)
        before = first.hear()["answer"]
        first.stop()
        stopped, version = clock.elapsed(), 0
        while clock.elapsed() - stopped < FRESH_S or len(todo) > 50:
            version = second.do(todo.pop(0))["answer"]["version"]
        first.tell(ask)
        first.go_on()
        row = first.hear()
    if retries:
        assert row["answer"]["version"] == version
        assert set(before["sessions"]) < set(row["answer"]["sessions"])
    else:
        assert row == {"op": "ask", "error": "fenced"}


async def test_a_part_that_comes_too_late_does_not_bring_back_what_was_forgotten(nursery: Nursery, url: str) -> None:
    """An owner is stopped before it writes a part, and writes it after its text was erased: it is cleared away."""
    forget, heard = Deed("out-0", "forget", 0), Heard()
    todo = [deed for deed in deeds(forgetting=True) if deed != forget]
    with nursery.bear(orders(url, "checkpointing", 1, retries=False)) as first, nursery.bear(orders(url)) as second:
        pending = heard.until_it_halts(first, todo)
        heard.take(forget, second.do(forget))
        first.go_on()
        heard.take(pending, first.hear())
        late = todo.pop(0)
        heard.take(late, first.do(late))
        assert first.leave() == 0
        version = await Forests(open_store(url)).open().version()
        assert await residue(secret_word(0), open_store(url), version) != []
        for deed in [todo.pop(0) for _ in range(3)]:
            heard.take(deed, second.do(deed))
        assert second.leave() == 0
        version = await Forests(open_store(url)).open().version()
        assert await residue(secret_word(0), open_store(url), version) == []
    # What came before the checkpoint is durable, and its answer may come after it.
    assert heard.errors in ({late.op: "fenced"}, {late.op: "fenced", pending.op: "fenced"})
    await settled(url, heard)
