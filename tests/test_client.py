"""Clients and handles: what they check, what they remember, what they say when something is wrong."""

import asyncio
import inspect
import os
import signal
import threading
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

import memforest_ray as mf
from memforest_ray.facts.rules import RuleExtractor
from memforest_ray.handover import to_the_loop
from memforest_ray.local import LocalRuntime, Models
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.trees.summaries import SelectionSummarizer


@pytest.fixture
async def client() -> AsyncIterator[mf.AsyncClient]:
    """An async client on a memory store of its own."""
    settings = mf.Settings(store="memory://client", runtime="local")
    runtime = LocalRuntime(settings, MemoryStore(), Models(RuleExtractor(), SelectionSummarizer(), HashEmbedder()))
    async with mf.AsyncClient(settings, runtime) as opened:
        yield opened


def _session(name: str, text: str = "I like tea.", time: Any = "2023-05-08") -> mf.Session:
    return mf.Session(name, [mf.Turn(text, speaker="Bob")], time=time)


async def test_a_version_that_is_not_there_is_not_answered(client: mf.AsyncClient) -> None:
    """An older answer under a newer name would be a lie; that of a receipt is there."""
    bob = client.user("bob")
    receipt = await bob.ingest(_session("s1"))
    assert [hit.text for hit in await bob.query("tea", k=1, at_least=receipt)] == ["Bob likes tea."]
    for verb in (bob.query, bob.ask):
        with pytest.raises(mf.VersionGone, match=f"at version {receipt.version}; version 99 does not exist"):
            await verb("tea", at_least=99)


async def test_an_answer_may_have_to_know_of_any_write(client: mf.AsyncClient) -> None:
    """Not only of what was ingested: whatever a write was answered names its version."""
    bob = client.user("bob")
    receipt = await bob.ingest(_session("s1"))
    (hit,) = await bob.query("tea", k=1, kind="fact")
    for done in (receipt, await bob.correct(hit.fact_id or "", "Bob likes mate."), await bob.forget(session="s1")):
        assert (await bob.query("tea", at_least=done)).version >= done.version
    with pytest.raises(mf.InvalidInput, match="at_least is 'old'"):
        await bob.query("tea", at_least="old")  # type: ignore[arg-type]  # what is no version


async def test_errors_of_many_sessions_are_told_apart(client: mf.AsyncClient) -> None:
    """Each carries its session; the one that is raised names the others."""
    became: list[mf.Receipt | mf.MemForestError] = []
    sessions = [_session("bad1", time="never"), _session("good"), _session("bad2", time="never")]
    with pytest.raises(mf.InvalidInput) as caught:
        await client.user("bob").ingest_many(sessions, on_progress=lambda _done, _all, one: became.append(one))
    failed = [one for one in became if isinstance(one, mf.MemForestError)]
    assert sorted(one.detail["session"] for one in failed) == ["bad1", "bad2"]
    assert sorted(note for one in failed for note in one.__notes__) == ["session 'bad1'", "session 'bad2'"]
    first, second = caught.value.__notes__
    assert first == "session 'bad1'"
    assert second.startswith("session 'bad2': ")


async def test_one_error_of_a_batch_is_each_sessions_own(
    client: mf.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sessions that fail together share a cause, not a name."""
    shared = mf.StoreUnavailable("no answer", url="memory://x")

    async def fail(*_: Any, **__: Any) -> None:
        raise shared

    monkeypatch.setattr(client, "call", fail)
    became: list[mf.Receipt | mf.MemForestError] = []
    with pytest.raises(mf.StoreUnavailable):
        await client.user("bob").ingest_many(
            [_session("s1"), _session("s2")], on_progress=lambda _done, _all, one: became.append(one)
        )
    details = [one.detail for one in became if isinstance(one, mf.MemForestError)]
    assert details == [{"url": "memory://x", "session": "s1"}, {"url": "memory://x", "session": "s2"}]
    assert not hasattr(shared, "__notes__")


async def test_what_no_statement_holds_is_found_in_its_turn(client: mf.AsyncClient) -> None:
    """A cell gives so many statements at most; the dialogue behind them stays searchable, all of it."""
    things = ("spoon", *(f"tool of kind {number}" for number in range(20)))
    text = " ".join(f"I bought a {thing} for the kitchen." for thing in things)
    bob = client.user("bob")
    await bob.ingest(_session("s1", f"{text} The safe code is 7319."))
    found = [hit.text for hit in await bob.query("What is the safe code?", k=50)]
    assert any("7319" in said for said in found)
    assert "Bob bought a spoon for the kitchen." in found


async def test_of_the_statements_of_a_turn_the_one_that_says_it_is_first(client: mf.AsyncClient) -> None:
    """They share what is around them; the words are their own."""
    bob = client.user("bob")
    await bob.ingest(_session("s1", "I sold a tray in Rome. I sold a lid in Bern. I sold a mug in Oslo."))
    for thing in ("tray", "lid", "mug"):
        assert thing in (await bob.query(thing, k=1))[0].text


async def test_turns_are_a_list(client: mf.AsyncClient) -> None:
    """A text would be taken letter by letter."""
    with pytest.raises(mf.InvalidInput, match="must be a list of turn ids"):
        await client.user("bob").forget(turns="s1#0")


async def test_a_state_is_saved_and_restored(client: mf.AsyncClient) -> None:
    """By name; what was ingested since is gone, and the handle goes on from the restored version."""
    bob = client.user("bob")
    await bob.ingest(_session("s1"))
    saved = await bob.save("old")
    await bob.save("old", replace=True)
    await bob.ingest(_session("s2", "I moved to Oslo."))
    restored = await bob.restore("old", op_id="r")
    assert (restored.snapshot, restored.snapshot_version) == ("old", saved.version)
    assert await bob.restore("old", op_id="r") == restored
    assert (await bob.query("Where is Oslo?")).version == restored.version
    assert (await bob.stats())["sessions"] == 1
    assert [info.name for info in await bob.snapshots()] == ["old"]
    await bob.delete_snapshot("old")
    assert await bob.snapshots() == []


async def test_a_kept_state_is_asked_without_restoring_it(client: mf.AsyncClient) -> None:
    """The handle goes on from the present; what is kept gets no newer."""
    bob = client.user("bob")
    await bob.ingest(_session("s1"))
    saved = await bob.save("old")
    receipt = await bob.ingest(_session("s2", "I moved to Oslo."))
    assert (await bob.query("Where is Oslo?", snapshot="old")).version == saved.version
    assert (await bob.query("Where is Oslo?", at_least=receipt)).version == receipt.version
    assert len(await bob.trees(snapshot="old")) < len(await bob.trees())
    assert (await bob.tree("session:s1", snapshot="old")) == (await bob.tree("session:s1"))
    with pytest.raises(mf.InvalidInput, match="a snapshot never gets newer"):
        await bob.query("Where is Oslo?", snapshot="old", at_least=receipt)
    with pytest.raises(mf.NotFound, match="no snapshot 'new'"):
        await bob.ask("Where is Oslo?", snapshot="new")


def test_blocking_handles_have_the_same_verbs() -> None:
    """Saved, restored, listed and deleted, in the same words."""
    with mf.connect(store="memory://snapshots", runtime="local") as client:
        bob = client.user("bob")
        for early in (bob.save, bob.restore, bob.delete_snapshot):
            with pytest.raises(mf.NotFound, match="user 'bob' has no memory"):
                early("old")
        bob.ingest(mf.Session("s1", [mf.Turn("I keep bees.")]))
        for verb in (bob.restore, bob.delete_snapshot):
            with pytest.raises(mf.NotFound, match="no snapshot 'old'"):
                verb("old")
        assert bob.snapshots() == []


def test_a_closed_client_says_so() -> None:
    """Twice closed is fine; used again it is named."""
    with mf.connect(store="memory://closed", runtime="local") as client:
        bob = client.user("bob")
    client.close()
    with pytest.raises(mf.InvalidInput, match="this client is closed"):
        bob.query("tea")


class _Anywhere:
    """A runtime whose calls begin in any thread; it tells in which ones a call was. Writes need a loop."""

    begins_anywhere = True

    async def call(self, user: str, verb: str, arguments: Any, **_: Any) -> list[threading.Thread]:
        threads = [threading.current_thread()]
        if arguments["snapshot"] is not None:
            await to_the_loop()
            threads.append(threading.current_thread())
        if arguments["snapshot"] == "bad":
            raise mf.NotFound("no snapshot of that name")
        return threads

    async def users(self, prefix: str) -> list[str]:
        return []

    async def delete_user(self, user: str) -> Sequence[str]:
        return []

    async def close(self) -> None:
        """Nothing is held."""


def _told_threads() -> mf.Client:
    """A client whose calls tell in which threads they were."""
    return mf.Client(mf.Settings(store="memory://threads"), _Anywhere())


def _places(client: mf.Client, snapshot: str | None = None) -> list[Any]:
    return list(client.user("bob").trees(snapshot=snapshot))


def test_a_read_begins_where_it_is_made() -> None:
    """And goes on on the client's loop if it asks for one; its error comes here."""
    here = threading.current_thread()
    with _told_threads() as client:
        assert _places(client) == [here]
        began, ended = _places(client, "old")
        assert (began, ended.name) == (here, "memforest-client")
        with pytest.raises(mf.NotFound):
            _places(client, "bad")


async def test_where_a_loop_runs_a_read_does_not_begin() -> None:
    """A blocking call from a coroutine is carried to the client's own loop: this one cannot be waited with."""
    with _told_threads() as client:
        assert [place.name for place in _places(client)] == ["memforest-client"]


def test_a_read_of_a_closed_client_does_not_begin() -> None:
    """It is named, as ever."""
    with _told_threads() as client:
        assert len(_places(client)) == 1
    with pytest.raises(mf.InvalidInput, match="this client is closed"):
        _places(client)


class _Holding:
    """A runtime whose every call holds something until it is cancelled, and interrupts the program at once."""

    def __init__(self) -> None:
        self.deeds: list[str] = []

    async def call(self, *_: object, **__: object) -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            self.deeds.append("gave back")

    async def users(self, prefix: str) -> list[str]:
        return [prefix]

    async def delete_user(self, user: str) -> list[str]:
        return [user]

    async def close(self) -> None:
        self.deeds.append("left")


def test_an_interrupted_call_gives_back_what_it_holds() -> None:
    """While the runtime is still there: a memory that is pinned for a merge could not be erased from else."""
    runtime = _Holding()
    settings = mf.Settings(store="memory://held")
    with pytest.raises(KeyboardInterrupt), mf.Client(settings, runtime) as client:
        client.user("bob").merge_from("ann")
    assert runtime.deeds == ["gave back", "left"]


@pytest.mark.parametrize("verb", sorted(name for name in vars(mf.AsyncUser) if not name.startswith("_")))
def test_every_verb_is_there_for_blocking_code(verb: str) -> None:
    """With the same parameters and the same documentation."""
    blocking, awaited = getattr(mf.User, verb), getattr(mf.AsyncUser, verb)
    assert inspect.signature(blocking) == inspect.signature(awaited)
    assert (blocking.__doc__, blocking.__qualname__) == (awaited.__doc__, f"User.{verb}")
    assert not inspect.iscoroutinefunction(blocking)
