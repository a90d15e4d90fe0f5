"""Silence: old questions and replies that know nothing are no evidence."""

import pytest

import memforest_ray as mf
from memforest_ray.facts.sessions import admit
from memforest_ray.index.rows import index_words
from memforest_ray.query.answering.silence import tells

KNOWS_NOTHING = [
    "I don't know your locker number yet.",
    "You haven't told me about one.",
    "I have no record of a locker number.",
    "I'm not sure, sorry.",
    "Sorry, I couldn't find that.",
    "I don't know. You haven't told me. Which pool is it?",
    "I have nothing on that; please tell me.",
    "I don't have that. As an AI, I cannot see your locker. I'll remember it once you know.",
]
KNOWS = [
    "Your locker is number 42.",
    "I don't know the hall, but the locker is number 42.",
    "You told me: 42.",
    "I can find no closures: the pool is open on Mondays.",
    "I don't know lockers well. Blue ones are broken open least often.",
    "No, I didn't know that!",
    "I don't know. " + "The hall has many lockers. " * 10,
]


def _tells(question: str, *turns: mf.Turn, number: int = 0) -> bool:
    said = admit(mf.Session("s", turns)).record.turns
    reply = said[number + 1] if number + 1 < len(said) else None
    return tells(said[number], set(index_words(question)), reply)


@pytest.mark.parametrize("reply", KNOWS_NOTHING)
def test_a_reply_that_knows_nothing(reply: str) -> None:
    """Tells nothing, and neither does the question that it answers, however worded."""
    turns = (mf.Turn("Which locker is mine?"), mf.Turn(reply, role="assistant"))
    assert not _tells("What is my locker number?", *turns, number=1)
    assert not _tells("What is my locker number?", *turns)


@pytest.mark.parametrize("reply", KNOWS)
def test_a_reply_that_knows_something(reply: str) -> None:
    """Tells it, and the question before it stays what it is found by."""
    turns = (mf.Turn("Which locker is mine?"), mf.Turn(reply, role="assistant"))
    assert _tells("What is my locker number?", *turns, number=1)
    assert _tells("What is my locker number?", *turns)


def test_people_who_do_not_know() -> None:
    """What a person does not know is a thing to know of them."""
    assert _tells("Does Ann know the code?", mf.Turn("I don't know the code.", "Ann"))


def test_the_same_question_asked_before() -> None:
    """A turn that asks for nothing else is no evidence; one that tells something, too, is."""
    asked = "What is my locker number?"
    assert not _tells(asked, mf.Turn("What's my locker number?"))
    assert _tells(asked, mf.Turn("What is my new locker number at the pool?"))
    assert _tells(asked, mf.Turn("I was at the pool. What is my locker number?"))
    assert _tells(asked, mf.Turn("How?"))


def test_an_agent_that_stores_its_own_talk() -> None:
    """Finds what it was told, and claims nothing that it only was asked."""
    with mf.connect(store="memory://silence", runtime="local") as client:
        user = client.user("talk")
        for number, reply in enumerate(KNOWS_NOTHING[:3]):
            turns = [mf.Turn("What is my locker number?"), mf.Turn(reply, role="assistant")]
            user.ingest(mf.Session(f"s{number}", turns, time=f"2025-02-1{number}"))
        assert not user.ask("What is my locker number?")
        user.ingest(mf.Session("told", [mf.Turn("My locker number is 42.")], time="2025-02-20"))
        hits = user.query("What is my locker number?")
        assert hits[0].text == "user's locker number is 42."
        assert [hit.score for hit in hits if "What is" in hit.text] == [0.0] * 3
        assert user.ask("What is my locker number?").text.startswith("user's locker number is 42.")


@pytest.mark.parametrize(
    ("told", "reply", "question"),
    [
        (
            "Did you know I moved to Graz in May 2023?",
            "No, I didn't know that! How do you like it?",
            "Where did I move?",
        ),
        (
            "Have I told you that my sister Ines got married in Porto?",
            "I don't have that noted.",
            "Where did my sister Ines get married?",
        ),
    ],
)
def test_news_in_a_question(told: str, reply: str, question: str) -> None:
    """Who did not know it yet does not make it unsaid."""
    with mf.connect(store="memory://news", runtime="local") as client:
        user = client.user(question)
        user.ingest(mf.Session("s", [mf.Turn(told), mf.Turn(reply, role="assistant")], time="2024-02-10"))
        assert user.ask(question)


def test_a_reply_that_came_later() -> None:
    """Is not known by the time that is asked for."""
    turns = [
        mf.Turn("Which locker is mine at the pool?", time="2024-01-01"),
        mf.Turn("I don't know.", role="assistant", time="2024-03-01"),
    ]
    with mf.connect(store="memory://later", runtime="local") as client:
        user = client.user("later")
        user.ingest(mf.Session("s", turns))
        late, early = (user.query("Which locker have I?", as_of=day) for day in ("2024-04-01", "2024-02-01"))
        assert [hit.score for hit in late if "Which locker" in hit.text and hit.kind == "cell"] == [0.0]
        assert early[0].score > 0
