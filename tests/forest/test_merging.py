"""A merge is what an ingest of both would have come to, without being made again."""

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from memforest_ray.client import AsyncClient
from memforest_ray.commit.loaded import load
from memforest_ray.commit.parts import apply
from memforest_ray.commit.version import Birth, Version
from memforest_ray.facts.candidates import CellInput, Extraction
from memforest_ray.facts.rules import RuleExtractor
from memforest_ray.facts.sessions import Session, Turn
from memforest_ray.facts.verdicts import Question
from memforest_ray.forest.errands import Merge, Merged
from memforest_ray.forest.merging import merge
from memforest_ray.forest.work import Written
from memforest_ray.ids import NodeId, OpId, UserId, digest
from memforest_ray.index.index import Index
from memforest_ray.local.effects import Models, run
from memforest_ray.models.embedder import Fingerprint, Vectors
from memforest_ray.storage.keys import UserKeys
from memforest_ray.testing.answers import ScriptedJudge, ScriptedSummarizer
from memforest_ray.testing.conversations import conversation
from memforest_ray.testing.extraction import ScriptedExtractor
from memforest_ray.testing.forests import Forests, TestForest, check_forest, decided, same_state
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.trees.scenes import Thresholds
from memforest_ray.trees.summaries import SelectionSummarizer, Source, Summarizer, SummaryReply, SummaryRequest

ROLES = ("user", "assistant", "tool")


class Counting(RuleExtractor, SelectionSummarizer, HashEmbedder):
    """All three models in one; counts what it is asked."""

    def __init__(self) -> None:
        HashEmbedder.__init__(self)
        self.cells: list[CellInput] = []
        self.texts: list[str] = []
        self.requests: list[SummaryRequest] = []

    async def extract(self, cells: Sequence[CellInput]) -> list[Extraction]:
        self.cells += cells
        return await RuleExtractor.extract(self, cells)

    async def summarise(self, requests: Sequence[SummaryRequest]) -> list[SummaryReply]:
        self.requests += requests
        return await SelectionSummarizer.summarise(self, requests)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        return await HashEmbedder.embed(self, texts)


def under(source: str, session: Session) -> Session:
    """A session as it is ingested where `source` is merged: its name, and speakers without one, say whose it was."""
    turns = [
        replace(turn, speaker=f"{source}/{turn.role}") if turn.speaker in {None, turn.role} else turn
        for turn in session.turns
    ]
    return replace(session, id=f"{source}/{session.id}", turns=turns)


def nameless(session: Session) -> Session:
    """A session in which nobody has a name but his role."""
    names = sorted({turn.speaker for turn in session.turns if turn.speaker})
    roles = dict(zip(names, ROLES, strict=False))
    turns = [replace(turn, speaker=None, role=roles.get(turn.speaker or "", turn.role)) for turn in session.turns]
    return replace(session, turns=turns)


def two_lives(seed: int) -> tuple[list[Session], list[Session]]:
    """Sessions of two users: some people are in both lives, and some sessions have no names."""
    rng = random.Random(seed)
    mine, theirs = conversation(seed, 4, 7), conversation(seed + 500, 4, 7)
    return [[nameless(each) if rng.random() < 0.4 else each for each in life] for life in (mine, theirs)]  # type: ignore[return-value]


async def built(forests: Forests, user: str, sessions: Sequence[Session]) -> TestForest:
    """A forest that got them one by one, in an order of its own."""
    forest = forests.open(user)
    for session in random.Random(len(user)).sample(sessions, len(sessions)):
        await forest.ingest(session)
    return forest


async def merged(
    forests: Forests, ours: str, theirs: str, models: Models | None = None, others: Forests | None = None
) -> tuple[Version, Merged]:
    """What a merge of two users' forests writes, as it would be read again; `others`: where the second one is."""
    mine, other = await forests.open(ours).version(), await (others or forests).open(theirs).version()
    steps = merge(mine, Merge(OpId("op"), UserId(theirs)), other, "select-1")
    written: Written = await run(steps, models or forests.models)
    loaded = await load(forests.store, UserKeys.of(UserId(ours)))
    apply(loaded.tables, written.changes)
    birth = Birth.of(forests.settings.birth)
    embedder = forests.models.embedder.fingerprint
    version = Version.load(loaded.tables, mine.number + 1, birth, Thresholds.of(embedder), Index(embedder.dimension))
    check_forest(version)
    live = replace(written.version, number=version.number, operations=version.operations)
    assert same_state(live, version)
    (told,) = written.answers
    assert isinstance(told, Merged)
    return version, told


@pytest.mark.parametrize("seed", range(8))
async def test_a_merge_is_an_ingest_of_both(seed: int) -> None:
    """Cells, facts, placements and leaf orders; in both directions, up to whose sessions have the prefix."""
    mine, theirs = two_lives(seed)
    forests = Forests()
    await built(forests, "ann", mine)
    await built(forests, "ben", theirs)
    for first, second, kept, taken in (("ann", "ben", mine, theirs), ("ben", "ann", theirs, mine)):
        version, _ = await merged(forests, first, second)
        both = await built(Forests(), "both", [*kept, *(under(second, session) for session in taken)])
        assert decided(version) == decided(await both.version())


@pytest.mark.parametrize("name", ["Ana", "user", "my assistant", "鲍勃", "a/b", "x.y@z", "I", "C++", "b\\1", "नाम"])
async def test_whatever_the_source_is_called(name: str) -> None:
    """Its name stands in labels beside names, roles and words that the sessions use."""
    mine = [nameless(session) for session in conversation(31, 2, 6)]
    theirs = [nameless(session) for session in conversation(32, 4, 8)]
    forests = Forests()
    await built(forests, "ann", mine)
    await built(forests, name, theirs)
    version, _ = await merged(forests, "ann", name)
    both = await built(Forests(), "both", [*mine, *(under(name, session) for session in theirs)])
    assert decided(version) == decided(await both.version())


@pytest.mark.parametrize("seed", range(4))
async def test_named_speakers_need_no_model(seed: int) -> None:
    """Of people with names nothing is extracted or embedded again; summaries are made where the two meet."""
    forests = Forests()
    mine, theirs = conversation(seed, 4, 9), conversation(seed + 70, 5, 9)
    theirs = [replace(each, turns=[turn for turn in each.turns if turn.role != "system"]) for each in theirs]
    await built(forests, "ann", mine)
    await built(forests, "ben", theirs)
    counting = Counting()
    _, told = await merged(forests, "ann", "ben", Models(counting, counting, counting))
    assert counting.cells == []
    assert told.cells_read == 0
    assert counting.texts == []
    ours = set((await forests.open("ann").version()).trees)
    assert [request.scope for request in counting.requests if request.scope.startswith("session:")] == []
    assert {request.scope for request in counting.requests if not request.scope.startswith("scene:")} <= ours


async def test_what_failed_there_is_failed_here() -> None:
    """And is not asked for again; the next repair tries it."""
    mine, theirs = two_lives(3)
    extractor = ScriptedExtractor()
    extractor.failure = lambda cell: "refused" if any("live in" in turn.text for turn in cell.turns) else None
    models = Models(extractor, SelectionSummarizer(), HashEmbedder())
    forests = Forests(models=models)
    await built(forests, "ann", mine)
    await built(forests, "ben", theirs)
    extractor.failure = lambda cell: None
    version, told = await merged(forests, "ann", "ben")
    assert told.failed_cells == len(version.failed) - len((await forests.open("ann").version()).failed) > 0
    extractor.failure = lambda cell: "refused" if any("live in" in turn.text for turn in cell.turns) else None
    both = await built(Forests(models=models), "both", [*mine, *(under("ben", session) for session in theirs)])
    assert decided(version) == decided(await both.version())


@pytest.mark.parametrize("seed", range(4))
async def test_a_merge_after_a_merge(seed: int) -> None:
    """What was merged into the source comes along under both names; a source that grew brings what is new."""
    mine, theirs = two_lives(seed)
    third = conversation(seed + 900, 3, 6)
    forests = Forests()
    await built(forests, "ann", mine)
    await built(forests, "ben", theirs[:2])
    await built(forests, "eve", third)
    world = forests.runtime()
    async with AsyncClient(forests.settings, world) as client:
        ann, ben = client.user("ann"), client.user("ben")
        await ann.merge_from("ben")
        await ben.merge_from("eve")
        for session in theirs[2:]:
            await ben.ingest(session)
        await ann.merge_from("ben")
    version = await forests.open("ann").version()
    check_forest(version)
    taken = [*theirs, *(under("eve", session) for session in third)]
    both = await built(Forests(), "both", [*mine, *(under("ben", session) for session in taken)])
    assert decided(version) == decided(await both.version())


@pytest.mark.parametrize("seed", range(3))
async def test_forests_of_other_shapes(seed: int) -> None:
    """Cells and trees of the source are cut as here; what was found in cells that came out the same is taken over."""
    mine, theirs = two_lives(seed)
    forests, others = Forests(), Forests(cell_turns=3, fanout_entity=4, fanout_session=5)
    await built(forests, "ann", mine)
    await built(others, "ben", theirs)
    version, told = await merged(forests, "ann", "ben", others=others)
    both = await built(Forests(), "both", [*mine, *(under("ben", session) for session in theirs)])
    assert decided(version) == decided(await both.version())
    assert told.cells_read > 0


def _same(question: Question) -> bool:
    """A verdict that is a function of the two texts."""
    return int(digest(*sorted((question.first.candidate.text, question.second.candidate.text))), 16) % 3 > 0


class Lenient(HashEmbedder):
    """Finds more alike, so that there is something to judge."""

    @property
    def fingerprint(self) -> Fingerprint:
        return replace(super().fingerprint, equivalent=0.8)


@pytest.mark.parametrize("seed", range(4))
async def test_verdicts_come_along(seed: int) -> None:
    """Only pairs of which each forest has one are judged; the facts are those of one forest that judged all."""
    mine, theirs = conversation(seed, 3, 4), conversation(seed + 500, 3, 4)
    judge = ScriptedJudge(_same)
    models = Models(RuleExtractor(), SelectionSummarizer(), Lenient(), judge)
    forests = Forests(models=models)
    for user, sessions in (("ann", mine), ("ben", theirs)):
        forest = await built(forests, user, sessions)
        await forest.repair()
        await forest.driver.close()
    both = Forests(models=models)
    one = await built(both, "both", [*mine, *(under("ben", session) for session in theirs)])
    await one.repair()
    whole = await one.version()
    await one.driver.close()
    known = {pair for user in ("ann", "ben") for pair in _judged(await forests.open(user).version())}
    judge.asked.clear()
    version, _ = await merged(forests, "ann", "ben")
    assert not known & {question.pair.key for question in judge.asked}
    assert not version.facts.pending
    assert not whole.facts.pending
    assert decided(version)["facts"] == decided(whole)["facts"]


def _judged(version: Version) -> set[tuple[str, str]]:
    links = version.facts.evidence.links
    return {(one, other) for one, known in links.items() for other in known if one < other}


async def test_what_lies_apart_costs_its_seams() -> None:
    """Two thirds of one life, merged: summaries are made along the seams, not for what either had."""
    early, late = ([_busy(number) for number in numbers] for numbers in (range(12), range(12, 18)))
    forests = Forests()
    await built(forests, "ann", early)
    await built(forests, "ben", late)
    counting = Counting()
    version, _ = await merged(forests, "ann", "ben", Models(counting, counting, counting))
    fresh = Counting()
    again = Forests(forests.store, Models(fresh, fresh, fresh), seed=3)
    ann = again.open("ann")
    for session in late:
        await ann.ingest(under("ben", session))
    assert decided(version) == decided(await ann.version())
    assert (counting.cells, counting.texts) == ([], [])
    assert 4 * len(counting.requests) < len(fresh.requests)
    joined = {request.scope for request in counting.requests}
    assert all(scope.startswith(("entity:", "scene:")) for scope in joined)
    seams = sum(2 * version.trees[scope].height for scope in joined)
    assert len(counting.requests) <= seams


@pytest.mark.parametrize("scripted", [False, True])
async def test_nameless_speakers_keep_their_summaries(scripted: bool) -> None:
    """With their labels in them: a memory of roles alone is not summarised anew where nothing joins it."""
    summarizer = ScriptedSummarizer()
    forests = Forests()
    if scripted:
        forests = Forests(models=Models(RuleExtractor(), summarizer, HashEmbedder()))
    await built(forests, "ann", [_busy(number) for number in range(2)])
    ben = await built(forests, "ben", [nameless(_busy(number)) for number in range(10, 20)])
    await ben.driver.close()
    counting = Counting()
    models = Models(counting, summarizer if scripted else counting, counting)
    asked = summarizer.asked if scripted else counting.requests
    mine, other = await forests.open("ann").version(), await forests.open("ben").version()
    asked.clear()
    model = models.summarizer.model
    steps = merge(mine, Merge(OpId("op"), UserId("ben")), other, model)
    written: Written = await run(steps, replace(models, summarizer=_Eager(models.summarizer)))
    made = [summary for summary in written.version.summaries.values() if summary.source != "concat"]
    assert len(made) > 20
    assert 5 * len(asked) < len(made)
    labels = [fact.speaker for fact in written.version.facts if fact.speaker.startswith("ben/")]
    assert set(labels) == {"ben/user", "ben/assistant"}
    session = next(scope for scope in written.version.trees if scope.startswith("session:ben/"))
    root = written.version.trees[session].root
    assert root is not None
    assert "ben/user" in written.version.summaries[NodeId(root.id)].text


class _Eager:
    """Summaries that are waited for, whoever writes them."""

    def __init__(self, inner: Summarizer) -> None:
        self.model = inner.model
        self.source: Source = "select"
        self._inner = inner

    async def summarise(self, requests: Sequence[SummaryRequest]) -> list[SummaryReply]:
        return await self._inner.summarise(requests)


def _busy(number: int) -> Session:
    rng = random.Random(number)
    turns = [
        Turn(f"I painted the {rng.choice(WORDS)} {rng.choice(WORDS)} with {rng.choice(WORDS)} and more of that.", name)
        for name in ("Ana", "Bela") * 8
    ]
    return Session(f"s{number:02}", turns, time=1_600_000_000_000 + number * 86_400_000)


WORDS = [f"{first}{last}" for first in ("ka", "ro", "mi", "te", "lu") for last in ("ran", "tol", "mek", "sil", "dor")]
