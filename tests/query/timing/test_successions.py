"""What follows what: of several statements of one thing the latest comes first, and what only mentions it does not."""

from collections.abc import Iterator
from typing import Final

import pytest

import memforest_ray as mf
from tests.query.pairs import EARLIER, LATEST, STAYS

WHOLE: Final = [row for row in LATEST if row[3] not in {"What is my rent now?", "Who owns payments?"}][::2]
"""Those that can stand in one memory."""


class _Memories:
    """A memory for each pair of statements, made once."""

    def __init__(self, client: mf.Client) -> None:
        self.client = client
        self.users: dict[tuple[str, str, str], mf.User] = {}

    def of(self, speaker: str, older: str, later: str) -> mf.User:
        key = (speaker, older, later)
        if key not in self.users:
            user = self.users[key] = self.client.user(f"pair-{len(self.users)}")
            for name, time, text in (("old", "2025-02-10", older), ("new", "2025-05-10", later)):
                user.ingest(_session(name, time, speaker, text))
        return self.users[key]


def _session(name: str, time: str, speaker: str, text: str) -> mf.Session:
    """Said to somebody who has nothing to say, by a user without a name to an assistant."""
    if speaker == "user":
        return mf.Session(name, [mf.Turn(text), mf.Turn("Ok.", role="assistant")], time=time)
    return mf.Session(name, [mf.Turn(text, speaker), mf.Turn("Ok.", "Zed")], time=time)


@pytest.fixture(scope="module")
def memories() -> Iterator[_Memories]:
    """With the models that ship with the library."""
    with mf.connect(store="memory://successions", runtime="local") as client:
        yield _Memories(client)


@pytest.mark.parametrize(("speaker", "older", "later", "question", "expected"), [*LATEST, *EARLIER, *STAYS])
def test_the_right_one_of_two_comes_first(
    memories: _Memories, speaker: str, older: str, later: str, question: str, expected: str
) -> None:
    """In what is found, and in what is answered."""
    user = memories.of(speaker, older, later)
    assert user.query(question)[0].text == expected
    told = user.ask(question).text.splitlines()[0]
    assert expected in told


@pytest.mark.parametrize(("speaker", "older", "later", "question", "expected"), STAYS)
def test_what_stays_is_not_said_to_be_the_latest(
    memories: _Memories, speaker: str, older: str, later: str, question: str, expected: str
) -> None:
    """Nothing follows it, so no hit has such a note."""
    hits = memories.of(speaker, older, later).query(question)
    assert not [hit for hit in hits if hit.note.startswith(("latest", "earlier", "first", "previous", "before"))]


def test_the_older_one_follows(memories: _Memories) -> None:
    """With when each was said last in its note, and both in the answer."""
    user = memories.of(*LATEST[0][:3])
    hits = user.query("How much is my rent?", k=2)
    assert [hit.note for hit in hits] == ["latest: 2025-05-10", "earlier: 2025-02-10"]
    assert [hit.score for hit in hits] == [max(hit.score for hit in hits)] * 2
    assert user.ask("How much is my rent?").citations == tuple(hit.fact_id for hit in hits)


def test_what_was_said_later_was_not_known_then(memories: _Memories) -> None:
    """As of an instant between the two the older one is all there is."""
    user = memories.of(*LATEST[0][:3])
    hits = user.query("How much is my rent?", as_of="2025-03-01")
    assert [hit.text for hit in hits if hit.kind == "fact"] == ["user's rent is 950 euros."]


def test_a_time_that_is_named_decides(memories: _Memories) -> None:
    """What follows is for questions about now."""
    user = memories.of(*LATEST[0][:3])
    assert user.query("What was my rent in February 2025?")[0].text == "user's rent is 950 euros."


def test_whoever_says_it_again_says_it_last(memories: _Memories) -> None:
    """The old state has come back: it counts from when it was said last."""
    user = memories.client.user("again")
    spoken = ("I drink coffee.", "I quit coffee.", "I drink coffee.")
    for month, text in enumerate(spoken, start=1):
        user.ingest(_session(f"s{month}", f"2025-{month:02d}-10", "user", text))
    assert user.query("Do I drink coffee?")[0].text == "user drinks coffee."


def test_in_one_session_the_later_turn_counts(memories: _Memories) -> None:
    """Of the same instant the order of the turns is that of the statements."""
    user = memories.client.user("turns")
    turns = [mf.Turn("The spare key is under the pot."), mf.Turn("Ok.", role="assistant")]
    user.ingest(mf.Session("one", [*turns, mf.Turn("I moved the spare key to the shed.")], time="2025-02-10"))
    assert user.query("Where is the spare key?")[0].text == "user moved the spare key to the shed."


def test_the_latest_of_several_comes_first(memories: _Memories) -> None:
    """And what was before the last is the one before, not the first."""
    user = memories.client.user("several")
    for month, place in enumerate(("in the shed", "under the mat", "at the bakery"), start=1):
        user.ingest(_session(f"s{month}", f"2025-{month:02d}-10", "Rae", f"The spare key is {place}."))
    texts = [f"Rae: The spare key is {place}." for place in ("in the shed", "under the mat", "at the bakery")]
    assert user.query("Where is the spare key?")[0].text == texts[2]
    assert user.query("Where was the spare key before?")[0].text == texts[1]
    assert user.query("Where was the spare key originally?")[0].text == texts[0]


@pytest.mark.parametrize("row", LATEST[::6])
def test_the_order_of_arrival_is_nothing(memories: _Memories, row: tuple[str, str, str, str, str]) -> None:
    """Only when things were said counts, not when they were ingested."""
    speaker, older, later, question, expected = row
    user = memories.client.user(f"late-{LATEST.index(row)}")
    user.ingest(_session("new", "2025-05-10", speaker, later))
    user.ingest(_session("old", "2025-02-10", speaker, older))
    assert user.query(question)[0].text == expected


def test_among_other_things(memories: _Memories) -> None:
    """Many such pairs in one memory do not get in each other's way."""
    user = memories.client.user("whole")
    told = {(speaker, older, later) for speaker, older, later, _, _ in WHOLE}
    for number, (speaker, older, later) in enumerate(sorted(told)):
        user.ingest(_session(f"old-{number}", f"2025-01-{number + 1:02d}", speaker, older))
        user.ingest(_session(f"new-{number}", f"2025-04-{number + 1:02d}", speaker, later))
    asked = {question: user.query(question)[0].text for *_, question, _ in WHOLE}
    assert asked == {question: expected for *_, question, expected in WHOLE}
