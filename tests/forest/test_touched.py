"""Which trees a session is going to change is told by its words; those wait no longer to be read."""

from collections.abc import Callable

from memforest_ray.facts.sessions import Session, Turn, admit
from memforest_ray.forest.touched import read_touched, touched
from memforest_ray.testing.forests import Forests

Say = Callable[..., Session]


async def _remembered(forests: Forests, say: Say) -> None:
    """Ann and Bob speak of Davis and of New York, each in several sessions."""
    forest = forests.open()
    for number in range(3):
        await forest.ingest(
            say(f"s{number}", f"I moved to Davis, try {number}.", f"I went to New York, trip {number}.")
        )


def _incoming(*turns: tuple[str, str]) -> Session:
    return Session("new", [Turn(text, speaker) for speaker, text in turns])


async def test_speakers_and_what_is_named_in_a_word_or_two(forests: Forests, say: Say) -> None:
    """However it is spelt; each tree once, and none of what there is no tree of."""
    await _remembered(forests, say)
    version = await forests.open().version()
    session = admit(_incoming(("BOB", "Is davis nice? Davis!"), ("Cid", "As New  York is."))).record
    assert sorted(each.scope for each in touched(version, session)) == ["entity:bob", "entity:davis", "entity:new york"]


async def test_only_these_are_read(forests: Forests, say: Say, trees_read: list[str]) -> None:
    """Of a memory that was just opened; what was read is not read again."""
    await _remembered(forests, say)
    version = await forests.open().version()
    trees_read.clear()
    session = admit(_incoming(("Bob", "I like tea."))).record
    read_touched(version, session)
    read_touched(version, session)
    assert trees_read == ["entity:bob"]
    assert set(version.entities.by_key) >= {"ann", "bob", "davis", "new york"}


async def test_a_forgotten_turn_names_nobody(forests: Forests, say: Say) -> None:
    """There is nothing left of it."""
    await _remembered(forests, say)
    forest = forests.open()
    await forest.forget(turns=["s0#0"])
    version = await forest.version()
    found = {each.scope for each in touched(version, version.sessions[admit(say("s0", "x")).record.id])}
    assert found == {"entity:ann", "entity:new york"}
