"""Forests that are born with some families of trees only: what is never built costs nothing, and all else goes on."""

from itertools import combinations
from typing import Any

import pytest

import memforest_ray as mf
from memforest_ray.config import load_settings
from memforest_ray.errors import InvalidInput
from memforest_ray.facts.rules import RuleExtractor
from memforest_ray.ids import UserId
from memforest_ray.local import LocalRuntime
from memforest_ray.local.effects import Models
from memforest_ray.local.examination import examine
from memforest_ray.local.portable import export_forest, import_forest
from memforest_ray.query.request import QueryRequest
from memforest_ray.query.result import Result
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.answers import ScriptedSummarizer
from memforest_ray.testing.clock import ManualClock, SeededRandom
from memforest_ray.testing.conversations import conversation
from memforest_ray.testing.forests import ANN, Forests, TestForest, check_forest, check_same
from memforest_ray.testing.models import HashEmbedder

ALL = ("session", "entity", "scene")
SUBSETS = [subset for size in (1, 2) for subset in combinations(ALL, size)]
SESSIONS = conversation(3, sessions=7, turns_max=9)


async def _lived(forests: Forests) -> TestForest:
    """A memory that grew, and forgot a session and a turn."""
    forest = forests.open()
    for session in SESSIONS:
        await forest.ingest(session)
    await forest.forget(session=SESSIONS[2].id)
    await forest.forget(turns=[f"{SESSIONS[3].id}#0"])
    return forest


async def _ask(forest: TestForest, text: str, **options: Any) -> Result:
    result: Result = await forest.read("query", request=QueryRequest.of(text, **options))
    return result


def _families(version: Any) -> set[str]:
    return {scope.partition(":")[0] for scope in version.trees}


@pytest.mark.parametrize("families", SUBSETS, ids="+".join)
async def test_only_those_trees_are_built(families: tuple[str, ...]) -> None:
    """By writes, growth and forgets; what is loaded is the same, and an examination finds nothing missing."""
    forests = Forests(families=families)
    forest = await _lived(forests)
    version = await forest.version()
    check_forest(version)
    assert _families(version) == set(families)
    assert bool(version.scenes.by_id) == ("scene" in families)
    check_same(version, await forests.open().version())
    assert (await forest.read("stats"))["families"] == sorted(families)
    await forest.driver.close()
    assert (await examine(forests.store, UserId(ANN))).findings == ()


async def test_what_is_not_built_is_not_summarised() -> None:
    """Each family costs its own calls: the whole forest's are those of the three together."""
    calls = {}
    for families in (*((name,) for name in ALL), ALL):
        summarizer = ScriptedSummarizer()
        forest = Forests(models=Models(RuleExtractor(), summarizer, HashEmbedder()), families=families).open()
        for session in conversation(9, sessions=6, turns_max=12):
            await forest.ingest(session)
        calls[families] = len((await forest.version()).summaries)
        assert await forest.read("trees") or not calls[families]
    assert calls[ALL] == sum(calls[name,] for name in ALL)
    assert all(calls[name,] for name in ALL)


async def test_the_birth_decides_not_the_settings_of_later() -> None:
    """A forest keeps what it was born with, in both directions; one of before had all three."""
    small = Forests(families=("session",))
    await _lived(small)
    later = Forests(small.store, seed=1).open()
    await later.ingest(mf.Session("new", [mf.Turn("I live in Graz.", "Bob")], time="2024-01-01"))
    assert _families(await later.version()) == {"session"}


@pytest.mark.parametrize("families", SUBSETS, ids="+".join)
@pytest.mark.parametrize("mode", ["flat", "root", "embed"])
async def test_questions_are_answered(families: tuple[str, ...], mode: str) -> None:
    """The same facts and dialogue are found, whatever trees there are; a hit names no tree that is not there."""
    forest = Forests(families=families).open()
    for number, text in enumerate(("I live in Graz.", "I keep bees on the roof.", "I moved to Porto.")):
        await forest.ingest(mf.Session(f"s{number}", [mf.Turn(text, "Lena")], time=f"2023-0{number + 1}-01"))
    version = await forest.version()
    result = await _ask(forest, "Where does Lena keep bees?", mode=mode)
    assert "bees" in result[0].text
    assert {hit.tree for hit in result} <= {*version.trees, ""}
    before = await _ask(forest, "Where did Lena live before moving to Porto?", mode=mode)
    assert "Graz" in before[0].text


async def test_what_was_next_to_a_happening_is_found_without_entity_trees() -> None:
    """What the neighbours are is a matter of facts and times, not of a tree."""
    found = []
    for families in (ALL, ("session",)):
        forest = Forests(families=families).open()
        for name, time, text in (
            ("s1", "2021-02-01", "I bought a kiln yesterday."),
            ("s2", "2021-03-01", "I broke my wrist yesterday."),
            ("s3", "2021-04-01", "I sold a vase yesterday."),
        ):
            await forest.ingest(mf.Session(name, [mf.Turn(text, "Lena")], time=time))
        result = await _ask(forest, "What did Lena do before she broke her wrist?")
        found.append([(hit.text, hit.note) for hit in result if hit.note])
    assert found[0] == found[1]
    assert "kiln" in found[0][0][0]


async def test_trees_that_are_asked_for_and_not_there_are_named() -> None:
    """The evidence comes without them and the trace says so; nothing is said where others were asked for as well."""
    forest = Forests(families=("session", "entity")).open()
    await forest.ingest(mf.Session("s1", [mf.Turn("I live in Graz.", "Lena")], time="2023-01-01"))
    alone = await _ask(forest, "Where does Lena live?", families=["scene"])
    assert "Graz" in alone[0].text
    assert alone.trace.fallbacks == ("this memory has no scene trees: facts and dialogue decided",)
    assert (await _ask(forest, "Where does Lena live?")).trace.fallbacks == ()
    whole = await _ask(forest, "Where does Lena live?", families=["scene"], expand="complete")
    assert not whole
    assert whole.message == "whole trees were asked for, but this memory has no scene trees"


async def test_renewals_keep_to_what_there_is() -> None:
    """`rebuild` and `resummarise` make no other trees; `rescene` has nothing to do and says so."""
    forests = Forests(families=("session", "entity"))
    runtime = LocalRuntime(forests.settings, forests.store, forests.models, forests.clock, SeededRandom(4))
    async with mf.AsyncClient(forests.settings, runtime, SeededRandom(5)) as client:
        ann = client.user(ANN)
        for session in SESSIONS:
            await ann.ingest(session)
        before = await forests.open().version()
        for renew in (ann.rebuild, ann.resummarise):
            await renew()
            assert (await renew()).duplicate
        with pytest.raises(
            InvalidInput, match="this memory has no scene trees, so there is nothing to cluster; nothing was ch"
        ):
            await ann.rescene()
    after = await forests.open().version()
    check_forest(after)
    assert (set(after.trees), after.scenes) == (set(before.trees), before.scenes)


@pytest.mark.parametrize(("mine", "theirs"), [(ALL, ("session",)), (("session", "entity"), ALL), (("scene",), ALL)])
async def test_a_merge_is_into_the_trees_of_the_destination(mine: tuple[str, ...], theirs: tuple[str, ...]) -> None:
    """Whatever the source had: it is what writing the same sessions there would have come to, but for scenes."""
    store = MemoryStore()
    ann, ben = Forests(store, families=mine), Forests(store, families=theirs, seed=3)
    there = ben.open("ben")
    for session in SESSIONS[4:]:
        await there.ingest(session)
    await there.driver.close()
    runtime = LocalRuntime(ann.settings, store, ann.models, ann.clock, SeededRandom(6))
    async with mf.AsyncClient(ann.settings, runtime, SeededRandom(7)) as client:
        await client.user(ANN).ingest_many(SESSIONS[:4])
        await client.user(ANN).merge_from("ben")
    version = await ann.open().version()
    check_forest(version)
    assert _families(version) == set(mine)
    assert len(version.sessions) == len(SESSIONS)
    assert version.entities.by_key


async def test_an_export_travels_with_its_families() -> None:
    """Into a store where forests are born with all of them."""
    forests = Forests(families=("entity",))
    forest = await _lived(forests)
    await forest.driver.close()
    raw = await export_forest(forests.store, UserId(ANN))
    there = Forests()
    await import_forest(raw, there.store, UserId(ANN), HashEmbedder(), ManualClock(), SeededRandom(7))
    version = await there.open().version()
    check_forest(version)
    assert _families(version) == {"entity"}


async def test_a_snapshot_comes_back_with_its_families() -> None:
    """A restore is of the same forest, so it has the same trees."""
    forests = Forests(families=("session",))
    runtime = LocalRuntime(forests.settings, forests.store, forests.models, forests.clock, SeededRandom(8))
    async with mf.AsyncClient(forests.settings, runtime, SeededRandom(9)) as client:
        ann = client.user(ANN)
        await ann.ingest_many(SESSIONS[:2])
        await ann.save("then")
        await ann.ingest_many(SESSIONS[2:4])
        await ann.restore("then")
    version = await forests.open().version()
    check_forest(version)
    assert (_families(version), len(version.sessions)) == ({"session"}, 2)


@pytest.mark.parametrize("given", [(), ("session", "leaf"), "", "tree", 3])
def test_families_that_are_none_are_refused(given: Any) -> None:
    """At least one, and only those there are."""
    with pytest.raises(InvalidInput, match="setting 'families'"):
        load_settings(families=given)


@pytest.mark.parametrize("given", ["scene,session", ["scene", "session"], ("session", "scene", "scene")])
def test_families_are_a_set(given: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Order and repetition say nothing; the environment lists with commas."""
    assert load_settings(families=given).families == ("session", "scene")
    monkeypatch.setenv("MEMFOREST_FAMILIES", "scene, session")
    assert load_settings().families == ("session", "scene")
