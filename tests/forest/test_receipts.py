"""What a write is told, and what a late retry is told."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from memforest_ray.commit.version import OPERATIONS_KEPT
from memforest_ray.errors import InvalidInput
from memforest_ray.facts.sessions import Session, admit
from memforest_ray.forest.dialogue import Dialogue
from memforest_ray.forest.intents import (
    Forget,
    Forgotten,
    Ingest,
    Intent,
    Receipt,
    Repair,
    Restore,
    Restored,
    Save,
)
from memforest_ray.forest.receipts import answered, billed, charged, same_write, seal
from memforest_ray.forest.work import Work, Written
from memforest_ray.ids import CellId, FactId, OpId, SessionId, TurnId
from memforest_ray.models.usage import Usage
from memforest_ray.testing.forests import Forests

Say = Callable[..., Session]

RECEIPT = Receipt(
    version=0,
    op_id=OpId("a"),
    session_id=SessionId("s1"),
    cells=2,
    facts_added=1,
    facts_merged=1,
    failed_cells={CellId("c1"): "refused"},
    turns_without_time=3,
    naive_times=1,
    usage={"extract": Usage(2, 300, 40)},
    notes=("some of its turns were forgotten earlier and stay so",),
)
REPORT = Forgotten(0, OpId("b"), 2, (FactId("f1"),), (TurnId("s1#0"),))
RESTORED = Restored(0, OpId("d"), "old", 3)


async def test_a_sealed_batch_is_remembered(forests: Forests) -> None:
    """With the number of its commit, in version, rows and answers; errors and duplicates are not kept."""
    version = await forests.open().version()
    duplicate = Receipt(0, OpId("c"), SessionId("s2"), duplicate=True)
    error = InvalidInput("no")
    sealed = seal(Written(version, answers=(RECEIPT, REPORT, duplicate, error)), 7)
    assert [getattr(answer, "version", None) for answer in sealed.answers] == [7, 7, 7, None]
    assert set(sealed.version.operations) == {"a", "b"} == set(sealed.changes.puts["operations"])
    assert sealed.version.number == 7


async def test_only_the_newest_operations_are_kept(forests: Forests) -> None:
    """The oldest go, from the version and from the rows."""
    version = await forests.open().version()
    for number in range(OPERATIONS_KEPT + 2):
        answer = Receipt(0, OpId(f"op{number}"))
        sealed = seal(Written(version, answers=(answer,)), number + 1)
        version = sealed.version
    assert len(version.operations) == OPERATIONS_KEPT
    assert sealed.changes.drops["operations"] == {"op1"}


@pytest.mark.parametrize("told", [RECEIPT, REPORT, RESTORED, Receipt(0, OpId("a"))])
def test_a_receipt_goes_through_its_row(told: Receipt | Forgotten | Restored) -> None:
    """What comes back is what was told."""
    assert type(told).from_json(told.to_json()) == told


async def test_a_retry_is_told_the_same(forests: Forests, say: Say) -> None:
    """By operation, if it is the same write; the id of another kind of write or session is refused."""
    record = admit(say("s1", "Hi.")).record
    writes: dict[str, Intent] = {
        "ingest": Ingest(OpId("a"), record),
        "forget": Forget(OpId("b"), session="s1"),
        "repair": Repair(OpId("c")),
        "restore": Restore(OpId("d"), "old"),
    }
    version = await forests.open().version()
    answers = (RECEIPT, REPORT, Receipt(0, OpId("c")), RESTORED)
    version = seal(Written(version, answers=answers), 7).version
    told = [answered(version, write) for write in writes.values()]
    assert [answer and answer.op_id for answer in told] == ["a", "b", "c", "d"]
    assert answered(version, Repair(OpId("new"))) is None
    other = admit(say("s2", "Hi.")).record
    for write in (
        Repair(OpId("a")),
        Repair(OpId("b")),
        Ingest(OpId("a"), other),
        Forget(OpId("c"), fact="f1"),
        Restore(OpId("d"), "new"),
        Save(OpId("d"), "old"),
    ):
        with pytest.raises(InvalidInput):
            answered(version, write)


async def test_what_a_batch_shares_is_told_once(forests: Forests) -> None:
    """On the first receipt of a batch that is for something new, so that sums over receipts are right."""
    version = await forests.open().version()
    work = Work(version, Dialogue(version))
    work.summarised = Usage(3, 500, 60)
    duplicate = Receipt(0, OpId("c"), duplicate=True)
    answers = charged([InvalidInput("no"), duplicate, RECEIPT, RECEIPT], work)
    assert answers[1:] == (
        duplicate,
        replace(RECEIPT, usage={"extract": Usage(2, 300, 40), "summarise": Usage(3, 500, 60)}),
        RECEIPT,
    )


async def test_what_was_paid_before_its_turn_is_billed_to_each(forests: Forests) -> None:
    """By stage, on top of what the turn has cost; a duplicate is billed nothing; what is stale is said to follow."""
    version = await forests.open().version()
    duplicate = Receipt(0, OpId("c"), duplicate=True)
    written = Written(version, answers=(RECEIPT, duplicate))
    spent = {"judge": Usage(1, 90, 5), "extract": Usage(1, 10, 2, 4, 1)}
    after = billed(written, [spent, spent])
    usage = {"extract": Usage(3, 310, 42, 4, 1), "judge": Usage(1, 90, 5)}
    assert after.answers == (replace(RECEIPT, usage=usage), duplicate)


def test_two_writes_under_one_id(say: Say) -> None:
    """May be joined when they are the same write."""
    one, other = (Ingest(OpId("a"), admit(say(name, "Hi.")).record) for name in ("s1", "s2"))
    same_write(one, one)
    for write in (other, Repair(OpId("a")), Forget(OpId("a"), session="s1")):
        with pytest.raises(InvalidInput):
            same_write(write, one)
    same_write(Save(OpId("a"), "old"), Save(OpId("a"), "old"))
    with pytest.raises(InvalidInput):
        same_write(Save(OpId("a"), "old"), Save(OpId("a"), "new"))


async def test_what_was_left_out_is_noted(forests: Forests, say: Say) -> None:
    """That it was forgotten, whole or in part, or is stored without the time that it has now; and how it comes in."""
    forest = forests.open()
    undated, dated = say("s1", "I live in Davis.", "Nice.", time=None), say("s1", "I live in Davis.", "Nice.")
    assert (await forest.ingest(undated)).notes == ()
    assert (await forest.ingest(undated)).notes == ()
    assert (await forest.ingest(dated)).notes == (
        "it is stored without a time; replace=True gives it the one that it has now",
    )
    assert (await forest.ingest(dated, replace=True)).notes == ()
    assert (await forest.ingest(dated)).notes == ()
    await forest.forget(turns=("s1#1",))
    part = "some of its turns were forgotten earlier and stay so; replace=True takes them in again"
    assert (await forest.ingest(dated)).notes == (part,)
    await forest.forget(session="s1")
    again = await forest.ingest(dated)
    assert (again.duplicate, again.notes) == (
        True,
        ("it was forgotten earlier and stays so; replace=True takes it in again",),
    )
    back = await forest.ingest(dated, replace=True)
    assert (back.duplicate, back.notes) == (False, ())


async def test_what_a_receipt_counts(forests: Forests, say: Say) -> None:
    """New facts, mentions that joined one, and not those that are withheld."""
    forest = forests.open()
    first = await forest.ingest(say("s1", "I live in Davis.", "I like chess.", "I live in Davis."))
    assert (first.cells, first.facts_added, first.facts_merged) == (2, 2, 1)
    second = await forest.ingest(say("s2", "I live in Davis.", "I like tea.", time="2023-06-01"))
    assert (second.cells, second.facts_added, second.facts_merged) == (1, 1, 1)
    fact = next(fact for fact in (await forest.version()).facts if "Davis" in fact.text)
    await forest.forget(fact=fact.id, with_dialogue=True)
    third = await forest.ingest(say("s3", "I live in Davis.", time="2023-07-01"))
    assert (third.cells, third.facts_added, third.facts_merged) == (1, 0, 0)
