"""Time in whole forests: told in any order, known in part or not at all."""

from collections.abc import Callable
from itertools import permutations

import pytest

from memforest_ray.facts.sessions import Session, TimeLike, Turn
from memforest_ray.facts.times import to_datetime
from memforest_ray.ids import ScopeId, SessionId
from memforest_ray.query.render import line
from memforest_ray.query.request import QueryRequest
from memforest_ray.query.result import EmptyReason
from memforest_ray.testing.forests import Forests, check_forest, decided

Say = Callable[..., Session]


def _day(instant_ms: int) -> str:
    return f"{to_datetime(instant_ms):%Y-%m-%d}"


async def test_an_old_log_stays_old(forests: Forests, say: Say) -> None:
    """Events are resolved against the turn's time, never against today."""
    forest = forests.open()
    await forest.ingest(say("s1", "I went to the clinic yesterday.", time="2019-05-08"))
    (fact,) = (await forest.version()).facts
    assert fact.event is not None
    assert fact.source_ms is not None
    assert (_day(fact.event.start_ms), _day(fact.source_ms)) == ("2019-05-07", "2019-05-08")


@pytest.mark.parametrize("told", ["2023-05-08T01:30+05:30", "2023-05-08T23:30-05:00", "2023-05-08T01:30+13:00"])
async def test_days_are_those_of_who_told_them(forests: Forests, say: Say, told: str) -> None:
    """Near midnight, east and west of Greenwich: "yesterday" is the day before theirs, and is shown as that."""
    forest = forests.open()
    await forest.ingest(say("s1", "I went to the clinic yesterday.", time=told))
    (hit,) = await forest.read("query", request=QueryRequest("When did Bob go to the clinic?", k=1))
    assert "(time: 7 May 2023; said 8 May 2023)" in line(hit)
    assert [leaf.text[:10] for leaf in (await forest.version()).trees[ScopeId("entity:bob")].leaves()] == ["2023-05-07"]


async def test_turns_without_time_are_counted_and_come_last(forests: Forests, say: Say) -> None:
    """Of unknown time, they stand behind all others, by session and turn, and match no interval."""
    forest = forests.open()
    undated = await forest.ingest(say("a", "I like chess.", "I like tea.", "I like pottery.", time=None))
    await forest.ingest(say("z", "I like climbing.", time="2023-05-08"))
    version = await forest.version()
    check_forest(version)
    assert undated.turns_without_time == 3
    leaves = [leaf.text for leaf in version.trees[ScopeId("entity:bob")].leaves()]
    assert leaves == ["2023-05-08 Bob likes climbing.", "Bob likes chess.", "Bob likes pottery."]
    found = await forest.read("query", request=QueryRequest("chess", since_ms=0))
    assert [hit.text for hit in found if "chess" in hit.text] == []


async def test_five_visits_stay_five_in_any_order(say: Say) -> None:
    """The same words on five days, some with "today", are five events, whatever order the days come in."""
    days = [3, 4, 5, 8, 9]
    texts = [
        "I went to the gym today.",
        "I went to the gym.",
        "I went to the gym today.",
        "I went to the gym.",
        "I went to the gym.",
    ]
    sessions = [say(f"s{day}", text, time=f"2023-05-{day:02d}") for day, text in zip(days, texts, strict=True)]
    seen = []
    for order in list(permutations(sessions))[::17]:
        forest = Forests().open()
        for session in order:
            await forest.ingest(session)
        version = await forest.version()
        assert len(version.facts) == 5
        seen.append(decided(version))
    assert all(state == seen[0] for state in seen)


async def test_turns_out_of_order_within_a_session(forests: Forests) -> None:
    """The tree of the session is in order of time, the session keeps its turns as they were sent."""
    times: list[TimeLike] = ["2023-05-08T12:00:00Z", "2023-05-08T10:00:00Z", None, "2023-05-06T09:00:00Z"]
    turns = [Turn(f"I like tea, part {number}.", "Bob", time=time) for number, time in enumerate(times)]
    forest = forests.open()
    await forest.ingest(Session("s1", turns, "2023-05-07T00:00:00Z"))
    version = await forest.version()
    check_forest(version)
    facts = [leaf.order[1] for leaf in version.trees[ScopeId("entity:bob")].leaves()]
    assert facts == sorted(facts)
    assert [turn.text for turn in version.sessions[SessionId("s1")].turns] == [turn.text for turn in turns]


async def test_homes_told_in_any_order(say: Say) -> None:
    """Davis 2019, Miami 2021, Davis again 2023: one Davis, said twice, and the newest of the chain is Davis."""
    sessions = [
        say("a", "I live in Davis.", time="2019-03-01"),
        say("b", "I live in Miami.", time="2021-03-01"),
        say("c", "I live in Davis.", time="2023-03-01"),
    ]
    for order in permutations(sessions):
        forest = Forests().open()
        for session in order:
            await forest.ingest(session)
        version = await forest.version()
        chain = sorted((mention.source_ms or 0, fact.value) for fact in version.facts for mention in fact.mentions)
        assert [value for _, value in chain] == ["Davis", "Miami", "Davis"]
        assert len(version.facts) == 2
        now = await forest.read("query", request=QueryRequest("Where does Bob live now?"))
        assert "Davis" in next(iter(now)).text


async def test_nothing_on_that_day(forests: Forests, say: Say) -> None:
    """A question about a day on which nothing happened is told so, naming the interval that was searched."""
    forest = forests.open()
    await forest.ingest(say("s1", "I went to the gym today.", time="2023-05-08"))
    result = await forest.read(
        "query", request=QueryRequest("gym", since_ms=1_679_097_600_000, until_ms=1_679_184_000_000)
    )
    assert (list(result), result.reason) == ([], EmptyReason.NO_MATCH)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I am allergic to nuts.", "I am not allergic to nuts."),
        ("I moved from Boston to Davis.", "I moved from Davis to Boston."),
        ("The code is 7-A.", "The code is 9-A."),
        ("I met Ana on 3 May 2023.", "I met Ana on 10 May 2023."),
        ("I have been at the firm for 5 years.", "I have been at the firm for 6 years."),
    ],
)
async def test_what_differs_in_a_word_is_two_facts(forests: Forests, say: Say, one: str, other: str) -> None:
    """Never merged without a judge, in one session or two; in order of time."""
    forest = forests.open()
    await forest.ingest(say("s1", one, time="2023-05-08"))
    await forest.ingest(say("s2", other, time="2024-05-08"))
    facts = (await forest.version()).facts.in_order()
    assert [fact.session_id for fact in facts] == ["s1", "s2"]
