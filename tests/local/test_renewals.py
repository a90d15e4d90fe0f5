"""Derived state made anew, what changed since a version, and who may do what."""

import dataclasses
import random
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

import memforest_ray as mf
from memforest_ray.commit import journal
from memforest_ray.commit.changes import Changes
from memforest_ray.commit.log import CommitLog
from memforest_ray.commit.version import Version
from memforest_ray.errors import LLMUnavailable
from memforest_ray.facts.rules import RuleExtractor
from memforest_ray.ids import NodeId, OpId, UserId
from memforest_ray.local import LocalRuntime, Models
from memforest_ray.policy import TenantsApart, named_policy
from memforest_ray.testing.answers import ScriptedSummarizer
from memforest_ray.testing.clock import SeededRandom
from memforest_ray.testing.conversations import conversation
from memforest_ray.testing.forests import Forests, TestForest, check_forest, check_same, decided
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.trees.summaries import SummaryReply, SummaryRequest
from tests.local.merging import World

Say = Callable[..., mf.Session]


@pytest.fixture
async def world() -> AsyncIterator[World]:
    made = World()
    async with made.client:
        yield made


async def _lived(world: World, seed: int) -> mf.AsyncUser:
    """A memory whose sessions came in no order, some of which went again."""
    ann = world.client.user("ann")
    sessions = conversation(seed, sessions=9, turns_max=9)
    for session in random.Random(seed).sample(sessions, len(sessions)):
        await ann.ingest(session)
    await ann.forget(session="s3")
    await ann.forget(turns=["s4#0"])
    return ann


@pytest.mark.parametrize("seed", range(3))
async def test_renewing_changes_nothing_that_decides(world: World, seed: int) -> None:
    """Facts, placements and leaf orders stay; a second time there is nothing to do."""
    ann = await _lived(world, seed)
    before = decided(await world.version("ann"))
    for renew in (ann.resummarise, ann.rescene, ann.rebuild):
        await renew()
        assert decided(await world.version("ann")) == before
        assert (await renew()).duplicate
        check_same(await world.version("ann"), await world.forests.open("ann").version())


async def test_scenes_in_canonical_order_are_a_function_of_the_facts() -> None:
    """Two orders of arrival, one clustering after `rescene`; trees after `rebuild` are one, too."""
    found = []
    for seed in (1, 2):
        world = World()
        ann = world.client.user("ann")
        sessions = conversation(5, sessions=8, turns_max=8)
        for session in random.Random(seed).sample(sessions, len(sessions)):
            await ann.ingest(session)
        await ann.rescene()
        await ann.rebuild()
        version = await world.version("ann")
        found.append((dict(version.scenes.by_id), dict(version.trees), dict(version.summaries)))
        await world.client.close()
    assert found[0] == found[1]


async def test_one_tree_is_summarised_anew(world: World) -> None:
    """By its scope; an unknown one is named."""
    ann = await _lived(world, 4)
    version = await world.version("ann")
    scope = max(version.trees, key=lambda name: len(version.trees[name]))
    assert (await ann.resummarise(scope)).what == f"resummarise {scope}"
    with pytest.raises(mf.NotFound):
        await ann.resummarise("entity:nobody")


class Numbered(ScriptedSummarizer):
    """Writes another text each time."""

    def _reply(self, request: SummaryRequest) -> SummaryReply:
        reply = super()._reply(request)
        return reply if reply.text is None else dataclasses.replace(reply, text=f"{len(self.asked)} {reply.text}"[:800])


async def _written(world: World, summarizer: ScriptedSummarizer) -> TestForest:
    forests = Forests(world.store, Models(RuleExtractor(), summarizer, HashEmbedder()), world.clock, seed=11)
    forest = forests.open("ann")
    for session in conversation(2, sessions=5, turns_max=12):
        await forest.ingest(session)
    return forest


def _texts(version: Version) -> dict[NodeId, str]:
    return {name: summary.text for name, summary in version.summaries.items() if summary.source == "model"}


async def test_summaries_of_a_model_serve_until_their_successors_are_there(world: World) -> None:
    """Marked as stale meanwhile; a model that is down takes nothing away."""
    summarizer = Numbered()
    forest = await _written(world, summarizer)
    before = _texts(await forest.version())
    assert before
    summarizer.error = LLMUnavailable("nobody answers")
    await forest.driver.call("renew", {"what": "resummarise"}, op_id=OpId("r1"), seen=0)
    version = await forest.version()
    assert _texts(version) == before
    assert {version.summaries[name].stale for name in before} == {True}
    check_forest(version)
    summarizer.error = None
    await forest.driver.call("renew", {"what": "resummarise"}, op_id=OpId("r2"), seen=0)
    await forest.repair()
    after = _texts(await forest.version())
    assert after.keys() == before.keys()
    assert all(after[name] != text for name, text in before.items())
    check_forest(await forest.version())
    await forest.driver.close()


async def test_a_merge_returns_with_its_summaries_or_before(world: World) -> None:
    """As an ingest does: those along the seams are stand-ins until they follow."""
    summarizer = ScriptedSummarizer()
    ann = await _written(world, summarizer)
    forests = Forests(world.store, Models(RuleExtractor(), summarizer, HashEmbedder()), world.clock, seed=12)
    async with mf.AsyncClient(world.client.settings, forests.runtime()) as client:
        ben = client.user("ben")
        await ben.ingest_many(conversation(9, sessions=5, turns_max=12))
        summarizer.held = lambda request: True
        told = await ben.merge_from("ann", wait="facts")
        assert not told.refreshed
        assert (await ben.stats())["stale_summaries"] > 0
        summarizer.held = lambda request: False
        summarizer.gate.set()
        await ben.repair()
        assert (await ben.stats())["stale_summaries"] == 0
        eve = await client.user("eve").merge_from("ben")
        assert eve.refreshed
    await ann.driver.close()


async def test_a_rebuild_makes_vectors_anew(world: World) -> None:
    """Those in the store are another encoder's, under the same name; afterwards they are this one's, and all fits."""
    await _lived(world, 6)
    good = await world.version("ann")
    log = CommitLog(world.store, UserId("ann"), world.clock, SeededRandom(9))
    loaded = await log.read()
    assert loaded.manifest is not None
    await log.claim(loaded.manifest.birth, loaded.manifest.fingerprint)
    crooked = {name: good.vector(name)[::-1].tobytes() for name in good.facts.shown}
    await log.commit(Changes(puts={"vectors": crooked}))
    await log.close()
    async with mf.AsyncClient(world.client.settings, world.forests.runtime()) as client:
        told = await client.user("ann").rebuild()
    assert told.vectors == len(crooked)
    assert decided(await world.version("ann")) == decided(good)


@pytest.mark.parametrize("verb", ["resummarise", "rescene", "rebuild"])
async def test_what_is_not_there_is_not_made_anew(world: World, verb: str) -> None:
    """A user who was mistyped does not come to be."""
    with pytest.raises(mf.NotFound, match="has no memory"):
        await getattr(world.client.user("nobody"), verb)()
    assert [user async for user in world.client.users()] == []


async def test_news_since_a_version(world: World, say: Say) -> None:
    """What came, changed and went, folded; what came and went in between does not show."""
    ann = world.client.user("ann")
    first = await ann.ingest(say("s1", "I live in Davis.", "Nice."))
    assert (await ann.changes(first)).row() == {}
    before = set((await world.version("ann")).facts.shown)
    await ann.ingest(say("s2", "I moved to Oslo.", "I like tea.", time="2023-06-01"))
    await ann.ingest(say("s3", "I paint boats.", "I sing.", time="2023-06-02"))
    await ann.ingest(say("s4", "I live in Davis.", time="2023-07-01"))
    await ann.forget(session="s3")
    news = await ann.changes(first.version)
    after = set((await world.version("ann")).facts.shown)
    assert set(news.facts_added) == after - before
    assert len(news.facts_changed) == 1
    assert (news.sessions_added, news.sessions_removed) == (("s2", "s4"), ())
    await ann.forget(session="s1")
    assert (await ann.changes(first)).sessions_removed == ("s1",)
    everything = await ann.changes(0)
    assert set(everything.facts_added) == set((await world.version("ann")).facts.shown)


async def test_news_go_back_so_far(world: World, say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    """Further back is VersionGone, as is the future."""
    monkeypatch.setattr(journal, "JOURNAL_KEPT", 5)
    ann = world.client.user("ann")
    for number in range(12):
        await ann.ingest(say(f"s{number}", f"I bought boat number {number}."))
    version = (await world.version("ann")).number
    for since in (0, 3, version + 1):
        with pytest.raises(mf.VersionGone):
            await ann.changes(since)
    assert len((await ann.changes(version - 5)).sessions_added) == 5


@pytest.mark.parametrize("since", ["yesterday", None, 1.5])
async def test_what_is_no_version_has_no_news(world: World, say: Say, since: Any) -> None:
    """It is told as bad input."""
    ann = world.client.user("ann")
    await ann.ingest(say("s1", "I live in Davis."))
    with pytest.raises(mf.InvalidInput, match="its version, not"):
        await ann.changes(since)


async def test_news_of_a_restore_and_of_another_owner(world: World, say: Say) -> None:
    """What a restore takes away and brings is news as any other; so is what another process wrote."""
    ann = world.client.user("ann")
    await ann.ingest(say("s1", "I live in Davis."))
    await ann.save("early")
    second = await ann.ingest(say("s2", "I like tea.", time="2023-06-01"))
    await ann.restore("early")
    assert (await ann.changes(second)).sessions_removed == ("s2",)
    other = world.forests.open("ann")
    await other.ingest(say("s5", "I like figs.", time="2023-07-01"))
    world.clock.advance(world.client.settings.fresh_s + 1)
    assert (await ann.changes(second)).sessions_added == ("s5",)


async def test_a_policy_keeps_tenants_apart(world: World, say: Say) -> None:
    """Who stands behind a call has his own users and sees no others; a merge needs both memories."""
    settings = world.client.settings.model_copy(update={"policy": "memforest_ray.policy:TenantsApart"})
    runtime = world.forests.runtime()
    async with mf.AsyncClient(settings, runtime) as client:
        acme, zeta = client.acting_for("acme"), client.acting_for("zeta")
        await acme.user("acme/ann").ingest(say("s1", "I live in Davis."))
        await zeta.user("zeta/bob").ingest(say("s1", "I like tea."))
        assert [user async for user in acme.users()] == ["acme/ann"]
        for call in (
            acme.user("zeta/bob").query("tea"),
            acme.user("acme/ann").merge_from("zeta/bob"),
            acme.user("acme/ann").merge_forecast("zeta/bob"),
            client.user("acme/ann").stats(),
            acme.delete_user("zeta/bob"),
        ):
            with pytest.raises(mf.Denied):
                await call
        assert [hit.text for hit in await zeta.user("zeta/bob").query("tea", k=1)] == ["Bob likes tea."]


def test_a_policy_is_named() -> None:
    """By module and attribute; the default allows all."""
    assert named_policy(None).allows("", "forget", "ann")
    assert isinstance(named_policy("memforest_ray.policy:TenantsApart"), TenantsApart)
    for name in ("nowhere:Policy", "memforest_ray.policy:Nothing", "memforest_ray.policy"):
        with pytest.raises(mf.InvalidInput, match="cannot be loaded"):
            named_policy(name)


async def test_memories_are_opened_before_they_are_asked(say: Say) -> None:
    """The version of each, or why not; asked again, nothing is read."""
    forests = Forests()
    for user in ("ann", "ben"):
        await forests.open(user).ingest(say("s1", "I live in Davis."))
    runtime: LocalRuntime = forests.runtime()
    async with mf.AsyncClient(forests.settings, runtime) as client:
        opened = await client.warm(["ann", "ben", "ann", "carl"])
        assert opened == {"ann": 2, "ben": 2, "carl": 0}


async def test_a_renewal_returns_with_its_summaries(world: World) -> None:
    """Whoever ends after it leaves nothing to be done; what it has cost is told."""
    forest = await _written(world, Numbered())
    before = _texts(await forest.version())
    told = await forest.driver.call("renew", {"what": "resummarise"}, op_id=OpId("r"), seen=0)
    after = await forest.version()
    assert (told.refreshed, told.duplicate, told.version) == (True, False, after.number)
    assert told.usage["summarise"].calls > 0
    assert [name for name, text in _texts(after).items() if text == before[name]] == []
    assert [name for name, summary in after.summaries.items() if summary.stale] == []
    await forest.driver.close()


async def test_a_renewal_goes_on_with_what_an_earlier_one_left(world: World) -> None:
    """A model that was down, or a process that was killed: everything is marked already, and is made all the same."""
    summarizer = Numbered()
    forest = await _written(world, summarizer)
    before = _texts(await forest.version())
    summarizer.error = LLMUnavailable("nobody answers")
    told = await forest.driver.call("renew", {"what": "resummarise"}, op_id=OpId("r1"), seen=0)
    assert not told.refreshed
    assert told.notes
    await forest.driver.close()
    summarizer.error = None
    again = Forests(world.store, Models(RuleExtractor(), summarizer, HashEmbedder()), world.clock, seed=12).open("ann")
    told = await again.driver.call("renew", {"what": "resummarise"}, op_id=OpId("r2"), seen=0)
    after = _texts(await again.version())
    assert (told.refreshed, told.duplicate) == (True, False)
    assert [name for name, text in after.items() if text == before[name]] == []
    await again.driver.close()
