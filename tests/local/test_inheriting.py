"""Summaries that are taken over in a merge: what they may tell of is known, and goes when it is forgotten."""

import re
from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import memforest_ray as mf
from memforest_ray.commit.version import Version
from memforest_ray.ids import NodeId, ScopeId, SessionId, UserId
from memforest_ray.models.usage import Usage
from memforest_ray.storage.keys import UserKeys
from memforest_ray.testing.forests import residue
from memforest_ray.trees.nodes import Child, Leaf
from memforest_ray.trees.parts import WHOLE_LEAVES_MAX
from memforest_ray.trees.summaries import Source, SummaryReply, SummaryRequest
from tests.local.merging import World

WORD = re.compile(r"\bw\d+\b")
"""Each statement has one of these."""


class WordSummarizer:
    """Tells every word that it is shown, and nothing else: so it shows what a model may have told."""

    model = "words-1"
    source: Source = "model"

    def __init__(self) -> None:
        self.asked: list[SummaryRequest] = []

    async def summarise(self, requests: Sequence[SummaryRequest]) -> list[SummaryReply]:
        self.asked += requests
        return [SummaryReply(each.node_id, _words(each.texts), usage=Usage(1)) for each in requests]


def _words(texts: Iterable[str]) -> str:
    found = {word for text in texts for word in WORD.findall(text)}
    return " ".join(sorted(found, key=lambda word: int(word[1:])))


def _session(name: str, day: int, numbers: Iterable[int]) -> mf.Session:
    turns = [mf.Turn(f"I put the garden stone w{number} in place beside the long hedge.", "Bob") for number in numbers]
    return mf.Session(name, turns, time=f"2023-{1 + day // 28:02d}-{1 + day % 28:02d}T10:00:00Z")


def _sessions(days: range, numbers: Sequence[int]) -> list[mf.Session]:
    """These statements, shared out over these days."""
    share = -(-len(numbers) // len(days))
    cut = [numbers[start : start + share] for start in range(0, len(numbers), share)]
    return [_session(f"s{day}", day, part) for day, part in zip(days, cut, strict=False)]


@pytest.fixture
async def world() -> AsyncIterator[World]:
    made = World(WordSummarizer())
    async with made.client:
        yield made


async def _merged(world: World, again: Sequence[int]) -> mf.AsyncUser:
    """Ann's memory, with Ben's, who said some of the same things `again` on later days, and some between hers."""
    ann, ben = world.client.user("ann"), world.client.user("ben")
    await ann.ingest_many(_sessions(range(10), range(100)))
    theirs = list(range(100, 200))
    for place, number in enumerate(again):
        theirs.insert(7 * place + 3, number)
    await ben.ingest_many([_session("early", 4, [300]), *_sessions(range(100, 110), theirs)])
    await ann.merge_from(ben)
    return ann


def _below(child: Child) -> list[Leaf]:
    return [child] if isinstance(child, Leaf) else [leaf for below in child.children for leaf in _below(below)]


def _check(version: Version) -> None:
    """Every summary tells of what is below it, and else of nothing but what it names."""
    facts = version.facts
    for tree in version.trees.values():
        for node in tree.nodes():
            summary, leaves = version.summaries[node.id], _below(node)
            beside = [facts.mentions[mention].candidate.text for mention in summary.also]
            told = set(WORD.findall(summary.text))
            below = {word for leaf in leaves for word in WORD.findall(leaf.text)}
            assert told <= below | {word for text in beside for word in WORD.findall(text)}
            assert summary.stale or len(leaves) > WHOLE_LEAVES_MAX or below <= told


def _telling(version: Version, word: str) -> list[SessionId]:
    """Sessions that say it."""
    said = {name: " ".join(turn.text for turn in record.turns) for name, record in version.sessions.items()}
    return sorted(name for name, text in said.items() if word in WORD.findall(text))


async def _refreshed(world: World, user: str) -> Version:
    """The version when nothing is stale any more."""
    await world.client.user(user).repair()
    version: Version = await world.version(user)
    assert not any(summary.stale for summary in version.summaries.values())
    return version


async def test_a_merge_takes_over_what_differs_by_little(world: World) -> None:
    """Nodes that a known statement left, and those into which one came, keep what was written of them."""
    await _merged(world, (5, 17))
    version = await world.version("ann")
    _check(version)
    taken = [summary for summary in version.summaries.values() if summary.inherited]
    assert any(summary.also for summary in taken)
    assert any("w300 " in summary.text.replace("\n", " ") and not summary.also for summary in taken)
    written = [summary for summary in version.summaries.values() if summary.also and not summary.inherited]
    assert written, "what is above them says what it was made of"
    assert len(version.facts) == 201


async def test_what_comes_late_takes_no_call(world: World) -> None:
    """A statement of an earlier day is told in front of what was written of the days around it, on all levels."""
    ann = world.client.user("ann")
    await ann.ingest_many(_sessions(range(10), range(100)))
    asked = len(_summarizer(world).asked)
    receipt = await ann.ingest(_session("late", 4, [300]))
    version = await world.version("ann")
    _check(version)
    assert (len(_summarizer(world).asked), receipt.depth, receipt.refreshed) == (asked, 0, True)
    root = version.trees[ScopeId("entity:bob")].root_id
    assert root is not None
    assert "w300" in version.summaries[NodeId(root)].text
    await ann.forget(session="late")
    after = await _refreshed(world, "ann")
    assert [summary for summary in after.summaries.values() if "w300" in summary.text] == []


async def test_what_was_taken_over_is_forgotten(world: World) -> None:
    """A statement that was said on both sides, and told in both places, is gone when both have been forgotten."""
    ann = await _merged(world, (5, 17))
    before = await world.version("ann")
    await ann.forget(session="s0")
    _check(await world.version("ann"))
    for name in _telling(before, "w5"):
        if name != "s0":
            await ann.forget(session=name)
    left = await residue("stone w5 ", world.store, await world.version("ann"))
    assert [place for place in left if UserKeys.of(UserId("ben")).prefix not in place] == []
    _check(await world.version("ann"))
    version = await _refreshed(world, "ann")
    _check(version)
    assert [summary for summary in version.summaries.values() if "w5" in WORD.findall(summary.text)] == []


async def test_the_second_telling_goes_alone(world: World) -> None:
    """Where it was told again nothing tells of it any more, once that session is forgotten; the first stays."""
    ann = await _merged(world, (5,))
    before = await world.version("ann")
    named = {name for name, summary in before.summaries.items() if summary.also}
    (again,) = (name for name in _telling(before, "w5") if name != "s0")
    await ann.forget(session=again)
    version = await _refreshed(world, "ann")
    _check(version)
    assert not any(summary.also for summary in version.summaries.values())
    assert named.isdisjoint(name for name, summary in version.summaries.items() if summary.also)
    assert _telling(version, "w5") == ["s0"]


async def test_a_withheld_statement_is_told_nowhere(world: World) -> None:
    """Forgetting the fact and not its dialogue hides it from summaries, too."""
    ann = await _merged(world, (5, 17))
    (fact,) = (fact for fact in (await world.version("ann")).facts if "w17 " in fact.text)
    await ann.forget(fact=fact.id)
    version = await _refreshed(world, "ann")
    _check(version)
    facts = [name for name in version.trees if not name.startswith("session:")]
    nodes = [node for name in facts for node in version.trees[name].nodes()]
    assert [node for node in nodes if "w17" in WORD.findall(version.summaries[node.id].text)] == []


async def test_it_is_kept_with_the_memory(world: World) -> None:
    """What a summary tells of beside its leaves is stored with it, and comes along at second hand."""
    await _merged(world, (5, 17))
    cid = world.client.user("cid")
    await cid.ingest(_session("s1", 200, range(400, 404)))
    asked = len(_summarizer(world).asked)
    await cid.merge_from("ann")
    version = await world.version("cid")
    _check(version)
    assert any(summary.also for summary in version.summaries.values())
    assert len(_summarizer(world).asked) - asked <= 4
    for name in _telling(version, "w5"):
        await cid.forget(session=name)
    after = await _refreshed(world, "cid")
    _check(after)
    assert [summary for summary in after.summaries.values() if "w5" in WORD.findall(summary.text)] == []


async def test_what_is_forgotten_here_does_not_come_with_a_summary(world: World) -> None:
    """A summary of the source that may tell of what stays out here stays out, too."""
    await _merged(world, (5, 17))
    source = await world.version("ann")
    again = next(name for name in _telling(source, "w5") if name != "s0")
    cid = world.client.user("cid")
    turns = [mf.Turn(turn.text, turn.speaker) for turn in source.sessions[again].turns]
    time = source.sessions[again].time_ms
    assert time is not None
    await cid.ingest(mf.Session(f"ann/{again}", turns, time=datetime.fromtimestamp(time / 1000, UTC)))
    place = next(place for place, turn in enumerate(turns) if "w5" in WORD.findall(turn.text))
    await cid.forget(turns=[f"ann/{again}#{place}"])
    await cid.merge_from("ann")
    version = await _refreshed(world, "cid")
    assert _telling(version, "w5") == ["ann/s0"]
    _check(version)


async def test_resummarise_writes_it_anew(world: World) -> None:
    """Then each summary is made of its parts, and tells of nothing beside its leaves."""
    ann = await _merged(world, (5, 17))
    await ann.resummarise()
    version = await _refreshed(world, "ann")
    _check(version)
    assert not any(summary.also or summary.inherited for summary in version.summaries.values())


def _summarizer(world: World) -> WordSummarizer:
    made: Any = world.forests.models.summarizer
    assert isinstance(made, WordSummarizer)
    return made


@given(
    again=st.lists(st.integers(0, 99), min_size=1, max_size=5, unique=True),
    forgotten=st.lists(st.sampled_from(range(21)), max_size=4, unique=True),
)
@settings(max_examples=6, deadline=None)
async def test_whatever_is_forgotten_after_a_merge(again: list[int], forgotten: list[int]) -> None:
    """No summary tells of what is told nowhere any more, whatever was said twice, in whatever order it goes."""
    world = World(WordSummarizer())
    async with world.client:
        ann = await _merged(world, again)
        names = sorted((await world.version("ann")).sessions)
        for place in forgotten:
            await ann.forget(session=names[place])
            version = await world.version("ann")
            _check(version)
            left = {word for fact in version.facts for word in WORD.findall(fact.text)}
            told = {word for summary in version.summaries.values() for word in WORD.findall(summary.text)}
            assert told <= left
