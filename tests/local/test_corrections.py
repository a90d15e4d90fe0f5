"""A correction takes the place of a fact, and lives and dies with the dialogue that it is about."""

from collections.abc import AsyncIterator, Callable
from datetime import date
from typing import Any

import pytest

import memforest_ray as mf
from memforest_ray.commit.version import Version
from memforest_ray.facts.fact import Fact
from memforest_ray.testing.forests import same_state
from tests.local.merging import World

Say = Callable[..., mf.Session]


@pytest.fixture
async def world() -> AsyncIterator[World]:
    made = World()
    async with made.client:
        yield made


def about(version: Version, word: str) -> list[Fact]:
    """The facts shown whose text holds a word."""
    return [fact for fact in version.facts.in_order() if word in fact.text]


async def _told(world: World, say: Say) -> tuple[mf.AsyncUser, Fact]:
    ann = world.client.user("ann")
    await ann.ingest(say("s1", "I live in Davis.", "Nice.", "I like chess.", time="2023-05-08T10:00:00Z"))
    (home,) = about(await world.version("ann"), "Davis")
    return ann, home


async def test_a_fact_says_something_else(world: World, say: Say) -> None:
    """The old text is gone from what queries return, the new one says where it came from; the dialogue stays."""
    ann, home = await _told(world, say)
    done = await ann.correct(home.id, "Bob lives in Dixon.", value="Dixon")
    assert (done.corrected, done.still_in) == (home.id, ("s1#0",))
    version = await world.version("ann")
    assert about(version, "Davis") == []
    (now,) = about(version, "Dixon")
    assert (now.id, now.corrected_from, now.attribute, now.value) == (done.fact, home.id, "residence", "Dixon")
    assert now.source_ms == home.source_ms
    assert version.sessions[home.session_id].turns[0].text == "I live in Davis."
    hits = list(await ann.query("Where does Bob live?"))
    assert "Bob lives in Davis." not in [hit.text for hit in hits if hit.kind == "fact"]
    assert hits[0].text == "Bob lives in Dixon."
    (cell,) = [hit for hit in hits if "I live in Davis." in hit.text]
    assert cell.note == "holds a statement that was corrected"
    assert cell.score < hits[0].score


async def test_what_an_attribute_is_now_is_read_off_the_text(world: World, say: Say) -> None:
    """Where it says the same of something else; any other text says nothing of the attribute."""
    ann, home = await _told(world, say)
    await ann.correct(home.id, "Bob lives in West Dixon.")
    (now,) = about(await world.version("ann"), "Dixon")
    assert (now.attribute, now.value) == ("residence", "West Dixon")
    await ann.correct(now.id, "Bob never told where he lives.")
    (now,) = about(await world.version("ann"), "never")
    assert (now.attribute, now.value) == (None, None)


async def test_it_is_done_once(world: World, say: Say) -> None:
    """Under one op id; the id of another correction is refused."""
    ann, home = await _told(world, say)
    done = await ann.correct(home.id, "Bob lives in Dixon.", op_id="c1")
    assert await ann.correct(home.id, "Bob lives in Dixon.", op_id="c1") == done
    with pytest.raises(mf.InvalidInput, match="names another write"):
        await ann.correct("f" + "0" * 20, "Bob lives in Dixon.", op_id="c1")


async def test_what_was_corrected_does_not_come_back(world: World, say: Say) -> None:
    """Not when it is said again, nor by repair, rebuild, growth of its session or a merge."""
    ann, home = await _told(world, say)
    await ann.correct(home.id, "Bob lives in Dixon.")
    await ann.ingest(say("s2", "I live in Davis.", "I see.", time="2023-06-01"))
    await ann.ingest(say("s1", "I live in Davis.", "Nice.", "I like chess.", "Me too.", "I like figs."))
    await ann.repair()
    await ann.rebuild()
    await world.client.user("ben").ingest(say("s1", "I paint."))
    await world.client.user("ben").merge_from("ann")
    for user in ("ann", "ben"):
        version = await world.version(user)
        assert about(version, "Davis") == []
        assert len(about(version, "Dixon")) == 1


async def test_it_survives_that_its_cell_grows(world: World, say: Say) -> None:
    """The open last cell is read anew, what was put in moves over."""
    ann = world.client.user("ann")
    await ann.ingest(say("s1", "I live in Davis."))
    (home,) = about(await world.version("ann"), "Davis")
    await ann.correct(home.id, "Bob lives in Dixon.")
    await ann.ingest(say("s1", "I live in Davis.", "Really? I like chess."))
    version = await world.version("ann")
    assert about(version, "Davis") == []
    assert len(about(version, "Dixon")) == 1
    await ann.forget(turns=["s1#1"])
    assert len(about(await world.version("ann"), "Dixon")) == 1


@pytest.mark.parametrize("what", [{"turns": ["s1#0"]}, {"session": "s1"}])
async def test_it_goes_with_its_dialogue(world: World, say: Say, what: dict[str, Any]) -> None:
    """Whoever forgets the turn forgets what was put in its place."""
    ann, home = await _told(world, say)
    await ann.correct(home.id, "Bob lives in Dixon.")
    await ann.forget(**what)
    version = await world.version("ann")
    assert about(version, "Dixon") + about(version, "Davis") == []


async def test_a_correction_is_corrected(world: World, say: Say) -> None:
    """And taken back: what was withheld by it is shown again."""
    ann, home = await _told(world, say)
    first = await ann.correct(home.id, "Bob lives in Dixon.")
    second = await ann.correct(first.fact, "Bob lives in Derby.")
    assert [fact.text for fact in about(await world.version("ann"), "lives")] == ["Bob lives in Derby."]
    back = await ann.correct(second.fact, "Bob lives in Davis.")
    version = await world.version("ann")
    assert [fact.text for fact in about(version, "lives")] == ["Bob lives in Davis."]
    assert back.fact == home.id


@pytest.mark.parametrize(
    ("given", "start", "precision"),
    [
        ("May 2021", "2021-05-01T00:00:00+00:00", "month"),
        ("yesterday", "2023-05-07T00:00:00+00:00", "day"),
        (date(2020, 2, 3), "2020-02-03T00:00:00+00:00", "day"),
        (("2020-01-01", "2022-01-01"), "2020-01-01T00:00:00+00:00", "range"),
        ("2020-01-01T12:30:00Z", "2020-01-01T12:30:00+00:00", "instant"),
    ],
)
async def test_a_time_is_corrected(world: World, say: Say, given: Any, start: str, precision: str) -> None:
    """Words as on the day when it was said, a day, an interval, an instant."""
    ann, home = await _told(world, say)
    done = await ann.correct(home.id, "Bob has lived in Davis.", event_time=given)
    fact = (await world.version("ann")).find_fact(done.fact)
    assert fact is not None
    assert fact.event is not None
    assert (fact.event.start.isoformat(), fact.event.precision) == (start, precision)


async def test_what_is_no_correction(world: World, say: Say) -> None:
    """The same text, none, an endless one, a time that ends before it starts, an unknown fact: nothing is changed."""
    ann, home = await _told(world, say)
    before = await world.version("ann")
    for text, event in (
        ("Bob lives in  Davis.", None),
        (" ", None),
        ("x" * 2_001, None),
        ("Bob lives in Dixon.", ("2022-01-01", "2021-01-01")),
    ):
        with pytest.raises(mf.InvalidInput):
            await ann.correct(home.id, text, event_time=event)
    with pytest.raises(mf.NotFound):
        await ann.correct("f" + "0" * 20, "Bob lives in Dixon.")
    assert same_state(await world.version("ann"), before)


async def test_it_is_kept_by_snapshots_and_a_restore(world: World, say: Say) -> None:
    """A snapshot of before shows the old text again only if nobody withheld it since: so it does not."""
    ann, home = await _told(world, say)
    await ann.save("before")
    await ann.correct(home.id, "Bob lives in Dixon.")
    await ann.save("after")
    await ann.restore("before")
    assert about(await world.version("ann"), "Davis") == []
    await ann.restore("after")
    assert len(about(await world.version("ann"), "Dixon")) == 1
