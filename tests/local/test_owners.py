"""Several drivers of one forest: one owns it, nothing is lost, nobody reads what is too old."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from memforest_ray.errors import (
    EmbeddingMismatch,
    Fenced,
    InvalidInput,
    MemForestError,
    NotFound,
    OutcomeUnknown,
    StoreUnavailable,
)
from memforest_ray.facts.sessions import Session
from memforest_ray.ids import OpId, UserId
from memforest_ray.local.effects import Models
from memforest_ray.local.published import Published
from memforest_ray.local.runtime import LocalRuntime
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.extraction import ScriptedExtractor
from memforest_ray.testing.forests import Forests, check_forest, check_same
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.testing.store import Call, Fault, FaultyStore, contents
from memforest_ray.trees.summaries import SelectionSummarizer

Say = Callable[..., Session]
ANN = UserId("ann")


async def _ingest(runtime: LocalRuntime, session: Session, op_id: str) -> Any:
    return await runtime.call(ANN, "ingest", {"session": session}, op_id=OpId(op_id), seen=0, deadline_s=30)


async def test_the_overtaken_owner_is_fenced(forests: Forests, say: Say) -> None:
    """It learns of it at its next write, which is not done, and writes no more."""
    first, second = forests.open(), forests.open()
    await first.ingest(say("s1", "I live in Davis."))
    await second.ingest(say("s2", "I like chess."))
    for name in ("s3", "s4"):
        with pytest.raises(Fenced):
            await first.ingest(say(name, "I like tea."))
    assert (first.driver.fenced, second.driver.fenced) == (True, False)
    await first.driver.close()
    assert set((await second.version()).sessions) == {"s1", "s2"}


async def test_two_runtimes_take_turns_and_lose_nothing(forests: Forests, say: Say) -> None:
    """Both write at once, each taking the forest from the other; every acknowledged session is there."""
    runtimes = [forests.runtime(), forests.runtime()]
    sessions = [say(f"s{number}", f"I like chess, part {number}.") for number in range(16)]

    async def write(number: int) -> None:
        for _ in range(20):
            try:
                await _ingest(runtimes[number % 2], sessions[number], f"op{number}")
            except Fenced:
                continue
            return
        raise AssertionError("fenced twenty times")

    await asyncio.wait_for(asyncio.gather(*map(write, range(16))), 30)
    version = await forests.open().version()
    check_forest(version)
    assert set(version.sessions) == {session.id for session in sessions}
    for runtime in runtimes:
        await runtime.close()
    check_same(version, await forests.open().version())


async def test_a_runtime_recovers_from_a_takeover(forests: Forests, say: Say) -> None:
    """Its caller sees nothing of it: the forest is opened again."""
    runtime = forests.runtime()
    await _ingest(runtime, say("s1", "I live in Davis."), "a")
    await forests.open().ingest(say("s2", "I like chess."))
    await _ingest(runtime, say("s3", "I like tea."), "b")
    await runtime.close()
    assert set((await forests.open().version()).sessions) == {"s1", "s2", "s3"}


async def test_an_operation_of_another_owner_is_not_done_again(forests: Forests, say: Say) -> None:
    """A process that read before the write asks for the same operation: it gets that receipt, also of a forget."""
    stale = forests.open()
    await forests.open().ingest(say("s0", "I like tea."))
    await stale.version()
    other = forests.open()
    receipt = await other.ingest(say("s1", "I live in Davis."), "in")
    report = await other.forget("out", session="s0")
    assert (await stale.forget("out", session="s0")) == report
    again = await stale.ingest(say("s1", "I live in Davis."), "in")
    assert (again.version, again.duplicate) == (receipt.version, False)


async def test_a_write_knows_what_others_wrote(forests: Forests, say: Say) -> None:
    """A process that read long ago answers neither "duplicate" nor "not found" from what it knew then."""
    stale, other = forests.open(), forests.open()
    await other.ingest(say("s1", "I live in Davis."))
    await stale.version()
    await other.forget(session="s1")
    await other.ingest(say("s2", "I like chess."))
    assert (await stale.ingest(say("s1", "I live in Davis."))).notes != ()
    assert (await stale.forget(session="s2")).turns == 1
    with pytest.raises(NotFound):
        await stale.forget(session="s1")


async def test_a_reader_sees_another_owner_within_fresh_s(forests: Forests, say: Say) -> None:
    """Without a claim, what is older than `fresh_s` is read again; a reader writes nothing."""
    reader, owner = forests.open(), forests.open()
    await reader.version()
    await owner.ingest(say("s1", "I live in Davis."))
    before = await contents(forests.store)
    forests.clock.advance(forests.settings.fresh_s - 0.1)
    assert (await reader.version()).number == 0
    forests.clock.advance(0.1)
    assert set((await reader.version()).sessions) == {"s1"}
    assert await contents(forests.store) == before


async def test_nobody_loses_sight_of_his_own_writes(forests: Forests, say: Say) -> None:
    """A handle that has seen a version is never shown an older one, however fresh that is thought to be."""
    reader, owner = forests.open(), forests.open()
    await reader.version()
    receipt = await owner.ingest(say("s1", "I live in Davis."))
    assert set((await reader.version(seen=receipt.version)).sessions) == {"s1"}


async def test_an_owner_that_cannot_read_what_others_wrote_builds_on_nothing(
    forests: Forests, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Claimed, but without what was committed in between: the next read and the next write come to it first."""
    silent = False
    faulty = FaultyStore(forests.store, lambda call: Fault.FAIL_BEFORE if silent and call.verb == "list" else None)
    late = forests.open(store=faulty)
    await late.version()
    other = forests.open()
    await other.ingest(say("s1", "I live in Davis."), "a")

    claim = late.driver._published.log.claim

    async def claimed(*arguments: Any) -> Any:
        nonlocal silent
        await other.ingest(say("s2", "I like chess."), "b")
        others = await claim(*arguments)
        silent = True
        return others

    monkeypatch.setattr(late.driver._published.log, "claim", claimed)  # others write just before it
    with pytest.raises(StoreUnavailable):
        await late.ingest(say("s3", "I like tea."), "c")
    with pytest.raises(StoreUnavailable):
        await late.version()
    silent = False
    assert set((await late.version()).sessions) == {"s1", "s2"}
    assert not (await late.ingest(say("s2", "I like chess."), "b")).duplicate
    await late.ingest(say("s3", "I like tea."), "c")
    version = await forests.open().version()
    check_forest(version)
    assert set(version.sessions) == {"s1", "s2", "s3"}


async def test_a_read_that_waited_for_a_claim_is_not_answered_from_before_it(
    forests: Forests, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The claim succeeds, reading what others wrote does not; the reader beside it reads for himself."""
    faulty = FaultyStore(forests.store, lambda call: Fault.FAIL_BEFORE if silent and call.verb == "list" else None)
    silent = False
    late, other = forests.open(store=faulty), forests.open()
    await late.version()
    claim = late.driver._published.log.claim
    begun, waited = asyncio.Event(), asyncio.Event()

    async def claiming(*arguments: Any) -> Any:
        nonlocal silent
        await other.ingest(say("s1", "I live in Davis."))
        forests.clock.advance(forests.settings.fresh_s)
        begun.set()
        await waited.wait()
        others = await claim(*arguments)
        silent = True
        return others

    monkeypatch.setattr(late.driver._published.log, "claim", claiming)
    write = asyncio.create_task(late.ingest(say("s2", "I like tea.")))
    await begun.wait()
    read = asyncio.create_task(late.version())
    await asyncio.sleep(0)  # it stands in line
    waited.set()
    with pytest.raises(StoreUnavailable):
        await write
    with pytest.raises(StoreUnavailable):
        await read
    silent = False
    assert set((await late.version()).sessions) == {"s1"}


async def test_what_was_seen_of_a_claim_is_seen_by_its_owner(
    forests: Forests, say: Say, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A claim takes a number; whoever has read that number is not told of a lower one by the owner himself."""
    await forests.open().ingest(say("s1", "I live in Davis."))
    faulty = FaultyStore(store, lambda call: Fault.FAIL_BEFORE if call.verb == "create" and opened else None)
    opened = False
    owner = forests.open(store=faulty)
    await owner.version()
    create = faulty.create

    async def created(key: str, body: bytes) -> str:
        nonlocal opened
        tag = await create(key, body)
        opened = "/wal/" in key  # the fence stands; nothing else will
        return tag

    monkeypatch.setattr(faulty, "create", created)  # only the claim succeeds
    with pytest.raises((StoreUnavailable, OutcomeUnknown)):
        await owner.ingest(say("s2", "I like chess."))
    seen = (await forests.open().version()).number
    assert (await owner.version(seen=seen)).number == seen


@pytest.mark.parametrize("sees", ["nothing", "it"])
async def test_an_owner_whose_write_is_late_tells_what_others_have_read(
    forests: Forests, say: Say, store: MemoryStore, sees: str
) -> None:
    """It has landed and is not answered yet: after `fresh_s`, or for whoever has seen it, a read waits for it."""
    answered, stands = asyncio.Event(), asyncio.Event()
    late = False

    class Late(FaultyStore):
        async def create(self, key: str, body: bytes) -> str:
            tag = await super().create(key, body)
            if late and "/wal/" in key:
                stands.set()
                await answered.wait()
            return tag

    owner = forests.open(store=Late(store))
    await owner.ingest(say("s1", "I live in Davis."))
    late = True
    write = asyncio.create_task(owner.ingest(say("s2", "I like chess.")))
    await stands.wait()
    seen = (await forests.open().version()).number
    assert (await owner.version()).number == seen - 1
    if sees == "nothing":
        forests.clock.advance(forests.settings.fresh_s)
    read = asyncio.create_task(owner.version(seen if sees == "it" else 0))
    for _ in range(10):
        await asyncio.sleep(0)
    assert not read.done()
    answered.set()
    assert (await read).number == (await write).version == seen


async def test_a_write_that_has_not_landed_holds_up_no_read(forests: Forests, say: Say, store: MemoryStore) -> None:
    """However long it is under way: nobody else has read it either."""
    stands = asyncio.Event()
    held = False

    class Held(FaultyStore):
        async def create(self, key: str, body: bytes) -> str:
            if held and "/wal/" in key:
                stands.set()
                await asyncio.Event().wait()
            return await super().create(key, body)

    owner = forests.open(store=Held(store))
    receipt = await owner.ingest(say("s1", "I live in Davis."))
    held = True
    write = asyncio.create_task(owner.ingest(say("s2", "I like chess.")))
    await stands.wait()
    forests.clock.advance(100 * forests.settings.fresh_s)
    assert (await owner.version()).number == receipt.version
    write.cancel()


async def test_nothing_is_refused_by_what_was_so_before_another_owner_came(forests: Forests, say: Say) -> None:
    """An owner that still believes in its claim, and in a pin, is asked for what the new owner has done."""
    first, second = forests.open(), forests.open()
    await first.ingest(say("s1", "I live in Davis."))
    await first.driver._published.log.pin(OpId("copy"), forests.clock.now_ms() + 1000)
    await second.ingest(say("s2", "I like chess."))
    await second.driver._published.log.unpin(OpId("copy"))
    await second.forget("out", session="s1")
    with pytest.raises(Fenced):
        await first.forget("out", session="s1")


@pytest.mark.parametrize("seen", [0, 100])
async def test_an_owner_that_was_overtaken_does_not_answer_reads_for_long(
    forests: Forests, say: Say, seen: int
) -> None:
    """Its claim is proven again at a read after `fresh_s`, or at once when the handle has seen more."""
    first = forests.open()
    await first.ingest(say("s1", "I live in Davis."))
    await forests.open().ingest(say("s2", "I like chess."))
    assert set((await first.version()).sessions) == {"s1"}
    if not seen:
        forests.clock.advance(forests.settings.fresh_s)
    with pytest.raises(Fenced):
        await first.read("stats", seen=seen)
    assert first.driver.fenced


async def test_another_embedder_is_refused(forests: Forests, say: Say) -> None:
    """A forest opened with another dimension than it was written with is refused, read or write, and not changed."""
    await forests.open().ingest(say("s1", "I live in Davis."))
    before = await contents(forests.store)
    other = forests.open(models=Models(ScriptedExtractor(), SelectionSummarizer(), HashEmbedder(32)))
    with pytest.raises(EmbeddingMismatch):
        await other.read("stats")
    with pytest.raises(EmbeddingMismatch):
        await other.ingest(say("s2", "I like chess."))
    assert await contents(forests.store) == before


async def test_reading_a_user_that_never_was(forests: Forests) -> None:
    """Everything is empty, and stays so: no object is written."""
    forest = forests.open()
    assert (await forest.read("stats"))["facts"] == 0
    assert await forest.read("trees") == []
    await forest.driver.close()
    assert await contents(forests.store) == {}


async def test_a_deleted_user_can_come_back(forests: Forests, say: Say) -> None:
    """Another process that owned it is fenced; the new life is empty, usable, and read by others."""
    runtime, owner = forests.runtime(), forests.open()
    await owner.ingest(say("s1", "I live in Davis."))
    await runtime.delete_user(ANN)
    assert await runtime.users("") == []
    with pytest.raises(Fenced):
        await owner.ingest(say("s2", "I like chess."))
    await _ingest(runtime, say("s3", "I like tea."), "op")
    version = await forests.open().version()
    check_forest(version)
    assert set(version.sessions) == {"s3"}
    await runtime.close()
    check_same(version, await forests.open().version())


async def test_a_first_write_that_failed_leaves_a_usable_forest(forests: Forests, say: Say) -> None:
    """The claim is there, the commit is not: the next process begins where this one ended."""
    inner = MemoryStore()
    refuse = FaultyStore(inner, lambda call: Fault.FAIL_BEFORE if _is_first_commit(call) else None)
    with pytest.raises(MemForestError):
        await forests.open(store=refuse).ingest(say("s1", "I live in Davis."))
    await forests.open(store=inner).ingest(say("s2", "I like chess."))
    version = await forests.open(store=inner).version()
    check_forest(version)
    assert set(version.sessions) == {"s2"}


def _is_first_commit(call: Call) -> bool:
    return call.verb == "create" and call.key.endswith("wal/0000000000000002")


async def test_the_deadline_of_a_call(forests: Forests, extractor: ScriptedExtractor, say: Say) -> None:
    """A write that has no answer in time may have been done, and says under which name to ask; a read was not."""
    extractor.held = lambda cell: True
    runtime = forests.runtime()
    arguments = {"session": say("s1", "I live in Davis.")}
    with pytest.raises(OutcomeUnknown) as caught:
        await runtime.call(ANN, "ingest", arguments, op_id=OpId("op"), seen=0, deadline_s=0)
    assert caught.value.op_id == "op"
    with pytest.raises(StoreUnavailable):
        await runtime.call(ANN, "stats", {}, op_id=None, seen=0, deadline_s=0)
    extractor.gate.set()
    assert (await runtime.call(ANN, "ingest", arguments, op_id=OpId("op"), seen=0, deadline_s=30)).facts_added == 1
    await runtime.close()


async def test_an_unknown_verb_is_refused(forests: Forests) -> None:
    """Also a write without an operation id, and a read with one."""
    driver = forests.open().driver
    for verb, op_id in (("fly", None), ("ingest", None), ("stats", OpId("op"))):
        with pytest.raises(InvalidInput):
            await driver.call(verb, {}, op_id=op_id, seen=0)


async def test_closing_a_runtime_tries_every_forest(forests: Forests, say: Say) -> None:
    """One that cannot make its checkpoint does not keep the others from theirs; what was acknowledged is there."""
    broken: list[bool] = []
    inner = MemoryStore()
    store = FaultyStore(
        inner, lambda call: Fault.FAIL_BEFORE if broken and call.key.startswith(_prefix("bob")) else None
    )
    runtime = forests.runtime(store)
    for user in ("bob", "ann"):
        await runtime.call(
            UserId(user), "ingest", {"session": say("s1", "I like tea.")}, op_id=OpId("op"), seen=0, deadline_s=30
        )
    broken.append(True)
    with pytest.raises(StoreUnavailable):
        await runtime.close()
    parts = [key for key in await contents(inner) if "/seg/" in key]
    assert {key.startswith(_prefix("ann")) for key in parts} == {True}
    assert set((await forests.open("bob", store=inner).version()).sessions) == {"s1"}


def _prefix(user: str) -> str:

    return UserKeys.of(UserId(user)).prefix


async def test_a_look_that_is_given_up_loses_nothing_of_others(
    forests: Forests, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its caller leaves between what was read and what is made of it: the next write builds on what was read."""
    first, second = forests.open(), forests.open()
    await first.version()
    await second.ingest(say("s1", "I live in Davis."))
    await second.driver.close()
    build = asyncio.Event()

    async def unfinished(*_: object) -> Any:
        build.set()
        await asyncio.Event().wait()

    with monkeypatch.context() as patch:
        patch.setattr(Published, "_built", unfinished)
        look = asyncio.create_task(first.read("stats", seen=2))
        await build.wait()
        look.cancel()
        with pytest.raises(asyncio.CancelledError):
            await look
    await first.ingest(say("s2", "I like chess."))
    version = await forests.open().version()
    check_forest(version)
    assert set(version.sessions) == {"s1", "s2"}
