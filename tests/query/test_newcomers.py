"""Questions that newcomers put to small memories: what is there is told, alone; what is not there is refused."""

from collections.abc import Iterator

import pytest

import memforest_ray as mf
from tests.query.newcomers import MEMORIES, sessions_of

LISBON = "user just moved to Lisbon from Berlin for a new job at Siemens."
FIAT = "user: My wife Marta and I bought a car, a red Fiat."
QUIT, STARTED = "Bob quit their job today.", "Bob started at Baptist Hospital on Monday."

TOLD = [
    ("messages", "Where do I live now?", [LISBON]),
    ("messages", "Where do I live?", [LISBON]),
    ("messages", "Where does the user live now?", [LISBON]),
    ("messages", "Where did I live before?", [LISBON]),
    ("messages", "What is my cat called?", ["user's cat Pixel purrs all day."]),
    ("messages", "What's my cat's name?", ["user's cat Pixel purrs all day."]),
    ("messages", "Where does my sister live?", ["user's sister Ines lives in Porto."]),
    ("messages", "What's my phone number?", ["user's phone number is 555-0134."]),
    ("messages", "What am I allergic to?", ["user is allergic to peanuts."]),
    ("messages", "Who is my wife?", [FIAT]),
    ("messages", "What did I buy?", [FIAT]),
    ("messages", "What did I lose?", ["user lost their umbrella on Monday."]),
    ("messages", "Do you know where I live?", [LISBON]),
    ("messages", "How old is Billy?", ["user's son Billy is four."]),
    ("messages", "How should you answer?", ["user prefers answers in bullet points."]),
    ("friends", "When did Bob quit?", [QUIT]),
    ("friends", "When did bob quit?", [QUIT]),
    ("friends", "WHO QUIT?", [QUIT]),
    ("friends", "When did Bob and Carol quit?", [QUIT]),
    ("friends", "What is ana's cat called?", ["Ana adopted a cat named Pixel."]),
    ("friends", "What is Carla's dog called?", ["Ana's friend Carla got a dog.", "Ana: She called it Rex."]),
    ("friends", "Where does Eve live?", ["Bob's sister Eve lives in Oslo."]),
    ("friends", "Where does Bob's sister live?", ["Bob's sister Eve lives in Oslo."]),
    ("friends", "Where does Alexandra live?", ["Ana: Alexandra sends her love, she lives in Rome."]),
    ("friends", "What do you know about Carla?", ["Ana's friend Carla got a dog."]),
    ("friends", "When was Nell's wedding?", ["Ana: Nell's wedding was on Friday."]),
    ("undated", "Where do I live now?", ["user moved to Porto last month."]),
    ("undated", "Where do I live?", ["user moved to Porto last month."]),
    ("undated", "What's my dog's name?", ["user's dog Rex loves the beach."]),
    ("undated", "Do I have a dog?", ["user's dog Rex loves the beach."]),
    ("undated", "What am I allergic to?", ["user is allergic to shellfish though."]),
    ("undated", "What did I tell you about my dog?", ["user's dog Rex loves the beach."]),
    ("undated", "Who is Tom?", ["user plays tennis every Tuesday with their colleague Tom."]),
    ("alone", "Where do I live?", ["Ana moved to Turin in March."]),
    ("alone", "Where does my boss live?", ["Ana's boss Karl lives in Ulm."]),
    ("alone", "When did I see the dentist?", ["Ana saw the dentist in town on Monday."]),
    ("alone", "When will I see the dentist?", ["Ana has a dentist appointment booked for 6 June."]),
]

REFUSED = [
    ("undated", "Where do I work?", "what is remembered of this is somebody else's"),
    ("undated", "Where did I live in 2021?", "nothing that is remembered answers this"),
    ("undated", "Where does Carla work?", "nothing is remembered of Carla"),
    ("messages", "Bob's cat", "nothing is remembered of Bob"),
    ("messages", "Where does Ana work?", "nothing is remembered of Ana"),
    ("messages", "When did Bob quit?", "nothing is remembered of Bob"),
    ("messages", "Where does my dad live?", "what is remembered of this is somebody else's"),
    ("messages", "What is my daughter's name?", "what is remembered of this is somebody else's"),
    ("messages", "Where do you live?", "what is remembered of this is somebody else's"),
    ("messages", "What is my email?", "nothing that is remembered answers this"),
    ("friends", "Bob's cat", "what is remembered of this is somebody else's"),
    ("friends", "What is Bob's cat called?", "what is remembered of this is somebody else's"),
    ("friends", "What is Dave's cat called?", "nothing is remembered of Dave"),
    ("friends", "When did Carol quit?", "nothing is remembered of Carol"),
    ("friends", "Did Bob meet Carol?", "nothing is remembered of Carol"),
    ("friends", "What do you know about Carol?", "nothing is remembered of Carol"),
    ("friends", "Where does Ana work?", "nothing that is remembered answers this"),
    ("friends", "When was Ana's wedding?", "what is remembered of this is somebody else's"),
    ("friends", "Where does Ana's sister live?", "what is remembered of this is somebody else's"),
    ("friends", "How long between Bob quitting and Bob marrying?", "it is not remembered when this was: Bob marrying"),
    (
        "friends",
        "How long between Ana quitting and Bob starting at Baptist?",
        "it is not remembered when this was: Ana quitting",
    ),
    (
        "friends",
        "How long between Bob quitting and Bob starting at Siemens?",
        "it is not remembered when this was: Bob starting at Siemens",
    ),
    ("moves", "How long did Bob live in Paris?", "no residence of Bob is remembered for: Paris"),
    ("moves", "When did Bob move to Lyon?", "nothing is remembered of Lyon"),
    ("moves", "How long has Carol lived in Oslo?", "nothing is remembered of Carol"),
    ("moves", "How long has Bob worked on his novel?", "nothing that is remembered answers this"),
]

MEASURED = [
    ("friends", "How long between Bob quitting and Bob starting at Baptist?", "1 month and 25 days:"),
    ("friends", "How much time passed between Bob quitting his job and starting at Baptist?", "1 month and 25 days:"),
    ("friends", "How many weeks between Bob's quitting and his start at Baptist?", "8 weeks:"),
    ("friends", "How many days passed from Bob quitting to Bob starting at Baptist Hospital?", "56 days:"),
    ("friends", "How long after quitting did Bob start at Baptist?", "1 month and 25 days:"),
    ("friends", "How long before starting at Baptist did Bob quit?", "1 month and 25 days:"),
    ("friends", "How long was Bob without a job?", "1 month and 25 days:"),
    ("friends", "How long was Bob unemployed?", "1 month and 25 days:"),
    ("friends", "How long ago did Bob quit?", "2 months before 15 March 2024:"),
    ("friends", "How long has it been since Bob quit?", "2 months up to 15 March 2024:"),
    ("moves", "How long did Bob live in Davis?", "about 1 year and 4 months:"),
    ("moves", "How many months did Bob live in Davis?", "about 16 months:"),
    ("moves", "How long did Bob live in Davis before moving to Miami?", "about 1 year and 4 months:"),
    ("moves", "How long did Bob live in Boston?", "at least 1 year, 3 months and 1 day:"),
    ("moves", "How long has Bob lived in Miami?", "about 1 year and 2 months up to 1 March 2023:"),
    ("moves", "How long has Ana worked at Siemens?", "about 2 years up to 1 March 2023:"),
    ("moves", "How long has Ana been vegetarian?", "about 1 year and 2 months up to 1 March 2023:"),
    ("moves", "How long has Ana lived in Oslo?", "about 4 years and 9 months up to 1 March 2023:"),
    ("moves", "How long between Bob's move to Davis and his move to Miami?", "about 1 year and 4 months:"),
]


@pytest.fixture(scope="module")
def users() -> Iterator[dict[str, mf.User]]:
    """Each memory, ingested once, with the models that ship with the library. Only read."""
    with mf.connect(store="memory://newcomers", runtime="local") as client:
        found = {name: client.user(name) for name in MEMORIES}
        for name, user in found.items():
            user.ingest_many(sessions_of(name))
        yield found


@pytest.mark.parametrize(("memory", "question", "expected"), TOLD)
def test_what_is_there_is_told(users: dict[str, mf.User], memory: str, question: str, expected: list[str]) -> None:
    """And nothing beside it."""
    answer = users[memory].ask(question)
    assert answer, answer.text
    lines = answer.text.splitlines()
    assert len(lines) == len(expected), answer.text
    assert all(text in line for text, line in zip(expected, lines, strict=True)), answer.text


@pytest.mark.parametrize(("memory", "question", "why"), REFUSED)
def test_what_is_not_there_is_refused(users: dict[str, mf.User], memory: str, question: str, why: str) -> None:
    """And it is said why."""
    answer = users[memory].ask(question)
    assert (answer.found, answer.text) == (False, f"Not in memory: {why}.")


@pytest.mark.parametrize(("memory", "question", "first"), MEASURED)
def test_how_long_is_measured(users: dict[str, mf.User], memory: str, question: str, first: str) -> None:
    """In the first line, before what it is measured from."""
    assert users[memory].ask(question).text.splitlines()[0] == first


def test_what_it_is_measured_from_is_told(users: dict[str, mf.User]) -> None:
    """Both ends, in order, and nothing else."""
    lines = users["friends"].ask("How long was Bob without a job?").text.splitlines()
    assert [QUIT in lines[1], STARTED in lines[2], len(lines)] == [True, True, 3]


def test_until_when_is_said(users: dict[str, mf.User]) -> None:
    """What lasts still is measured up to when the question is asked."""
    answer = users["moves"].ask("How long has Bob lived in Miami?", asked="2024-01-31")
    assert answer.text.splitlines()[0] == "about 2 years up to 31 January 2024:"
