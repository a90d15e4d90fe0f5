"""Questions to a life in small talk: the right fact of the right time comes first, among three hundred others."""

from collections.abc import Iterator
from typing import Any

import pytest

import memforest_ray as mf
from tests.query.scenarios import TOLD, sessions

GRAZ, TURIN, PORTO, BACK = (
    "Lena lives in Graz.",
    "Lena moved to Turin in April 2020.",
    "Lena moved to Porto last month.",
    "Lena moved back to Graz in May 2024.",
)
BRIGHTWATER, HALDEN, KESTREL = (
    "Lena works at Brightwater.",
    "Lena started working at Halden Optics.",
    "Lena got a job at Kestrel Maps.",
)
SLOW, MIDDLING, FAST = (f"Lena ran the Harbour Race in {minutes} minutes today." for minutes in (52, 49, 47))
CLIMBING = "Lena went to the climbing hall today."
KILN, VASE = "Lena bought a small kiln yesterday.", "Lena sold their first vase yesterday."
LISBON = "Lena flew to Lisbon on 3 May 2021 to see the tile museum."
WEDDING = "Lena's sister Ines got married on 18 June 2022."
CELLO = "Lena began cello lessons with Mrs Okafor last week."

FIRST = {
    # Now.
    "Where does Lena live now?": [BACK],
    "Where does Lena live?": [BACK],
    "What is Lena's current residence?": [BACK],
    "Where does Lena work?": [KESTREL],
    "What is Lena's phone number?": ["Lena's new phone number is 555-0177."],
    "What is Lena's door code?": ["Lena's door code is 9082."],
    "Is Lena vegetarian?": ["Lena is no longer vegetarian."],
    "Where does Tomas live?": ["Tomas moved to Bergen in June 2021."],
    "Where does Tomas work?": ["Tomas works at Brightwater as a surveyor."],
    "What is the name of Tomas's cat?": ["Tomas's cat is called Pixel."],
    "What is Lena allergic to?": ["Lena is allergic to walnuts."],
    # Before.
    "Where did Lena live before moving to Porto?": [TURIN],
    "Where did Lena live before moving to Turin?": [GRAZ],
    "Where did Lena live before moving back to Graz?": [PORTO],
    "Where did Lena live before Graz?": [PORTO],
    "Where did Lena live previously?": [PORTO],
    "Where did Lena live first?": [GRAZ],
    "Where did Lena live until January 2022?": [TURIN],
    "What was Lena's previous phone number?": ["Lena's phone number is 555-0134."],
    "Who did Lena work for before Kestrel Maps?": [HALDEN],
    "Where did Lena work before moving to Porto?": [HALDEN],
    "Where did Tomas live before Bergen?": ["Tomas lives in Oslo."],
    "What did Lena buy before she sold her first vase?": [KILN],
    "What did Lena do before flying to Lisbon?": [TURIN],
    # What ended before the next began, what was changed, and a name with a full stop in it.
    "Where does Omar work?": ["Omar has been hired by Nordlys."],
    "Where did Omar work before Nordlys?": ["Omar works for Brandt & Co."],
    "Where did Omar live before Narvik?": ["Omar lives in Leeds."],
    "Where did Omar live in 2020?": ["Omar: We relocated to Narvik two weeks ago."],
    "What is Omar's wifi password?": ["Omar changed their wifi password to crocus-9."],
    "What was Omar's old wifi password?": ["Omar's wifi password is tulip-7."],
    "Who is Omar's dentist?": ["Omar's new dentist is Dr. Petersen."],
    "Who was Omar's dentist before Dr. Petersen?": ["Omar's dentist is Dr. Halloran."],
    "Who was Omar's partner before Sara?": ["Omar's girlfriend is called Mia."],
    "How old is Omar?": ["Omar turned 34 last week."],
    "How old was Omar in 2022?": ["Omar is 33 years old."],
    "When was Omar in hospital?": ["Omar: From 3 to 7 April I was in hospital."],
    "小明住在哪里？": ["小明: 我上个月搬到上海了。"],
    "小明以前住在哪里？": ["小明: 我住在北京。"],
    # After.
    "Where did Lena live after Turin?": [PORTO],
    "Where did Lena live after Porto?": [BACK],
    "Where did Lena work after Halden Optics?": [KESTREL],
    "What did Lena sell after buying a kiln?": [VASE],
    # Between, and at a time.
    "Where did Lena live between May 2020 and December 2021?": [TURIN],
    "Where did Lena live between Turin and Graz?": [PORTO],
    "Where did Lena live in 2021?": [TURIN],
    "Where did Lena live as of 2021?": [TURIN],
    "Where did Lena live when she broke her wrist?": [TURIN],
    "Where did Lena work when she moved to Turin?": [BRIGHTWATER],
    "Was Lena vegetarian in 2021?": ["Lena became vegetarian."],
    "What did Lena do in May 2021?": [LISBON, SLOW],
    "What happened on 18 June 2022?": [WEDDING],
    "How fast did Lena run the Harbour Race in 2022?": [MIDDLING],
    "Where is Lena going to move next year?": ["Lena plans to move to Malmo next year."],
    # When, and how long between.
    "When did Lena break her wrist?": ["Lena broke their wrist on 9 September 2021."],
    "When did Ines get married?": [WEDDING],
    "When did Lena start cello lessons?": [CELLO],
    "How long was it between moving to Turin and moving to Porto?": [TURIN, PORTO],
    "How many days lie between buying the kiln and selling the first vase?": [KILN, VASE],
    # How often, first and last.
    "How many times did Lena run the Harbour Race?": [SLOW, MIDDLING, FAST],
    "How often did Lena go to the climbing hall?": [CLIMBING] * 5,
    "When did Lena first run the Harbour Race?": [SLOW],
    "When did Lena last run the Harbour Race?": [FAST],
    # Who said so, and what has no time.
    "Who is terrified of geese?": ["Tomas is terrified of geese."],
    "Who gives Lena cello lessons?": [CELLO],
    "What colour was the grandmother's hive?": ["Lena's grandmother kept bees in a blue hive."],
    "What did Lena lose when the canoe capsized?": ["Lena: We capsized the canoe on the Mur, and my camera sank."],
    "What happened to Tomas's boathouse?": ["Tomas: A storm took the roof off my boathouse last night."],
}

AS_OF: list[tuple[str, str, str]] = [
    ("Where does Lena live?", "2021-01-01", GRAZ),  # the move to Turin was told in 2023
    ("Where does Lena live?", "2022-12-31", PORTO),
    ("What is Lena's door code?", "2023-01-01", "Lena's door code is 4471."),
    ("Where does Lena work?", "2020-01-01", BRIGHTWATER),
    ("Is Lena vegetarian?", "2021-01-01", "Lena became vegetarian."),
]

NEVER = [
    "Has Lena ever been to Antarctica?",
    "What is Lena's shoe size?",
    "Which university did Tomas attend?",
    "Is Lena terrified of geese?",  # Tomas is
    "What is the name of Lena's cat?",  # Tomas has one
    "Where did Tomas live before Oslo?",
    "What did Tomas do before he lived in Oslo?",
    "Where did Lena live before 2019?",
    "What happened on 18 March 2021?",
    "What did Tomas do in July 1999?",
]

COMPUTED = {
    "How many times did Lena run the Harbour Race?": "Found 3 times:",
    "How often did Lena go to the climbing hall?": "Found 5 times:",
    "How long was it between moving to Turin and moving to Porto?": "about 1 year and 9 months:",
    "How many days lie between buying the kiln and selling the first vase?": "41 days:",
    "How many weeks passed between buying the kiln and selling the first vase?": "5 weeks:",
}


@pytest.fixture(scope="module")
def lena() -> Iterator[mf.User]:
    """The whole life, ingested once, with the models that ship with the library."""
    with mf.connect(store="memory://scenarios", runtime="local") as client:
        user = client.user("lena")
        receipts = user.ingest_many(list(sessions()))
        assert sum(receipt.facts_added for receipt in receipts) >= 300 + len(TOLD) - 5
        yield user


def _texts(user: mf.User, question: str, count: int, **options: Any) -> list[str]:
    return [hit.text for hit in user.query(question, k=10, **options)][:count]


@pytest.mark.parametrize("question", FIRST)
def test_the_right_fact_comes_first(lena: mf.User, question: str) -> None:
    """In the order of time where several are asked for."""
    assert _texts(lena, question, len(FIRST[question])) == FIRST[question]


@pytest.mark.parametrize("question", FIRST)
def test_the_answer_tells_it_first(lena: mf.User, question: str) -> None:
    """With its id, its own words, and nothing of another time before it."""
    answer = lena.ask(question)
    assert answer
    told = [line for line in answer.text.splitlines() if not line.endswith(":")]
    assert FIRST[question][0] in told[0]
    assert answer.citations[0] in told[0]


@pytest.mark.parametrize(("question", "instant", "expected"), AS_OF)
def test_as_it_was_known_then(lena: mf.User, question: str, instant: str, expected: str) -> None:
    """Nothing that was said later, however long before it was so."""
    assert _texts(lena, question, 1, as_of=instant) == [expected]


@pytest.mark.parametrize("question", NEVER)
def test_what_is_not_there_is_not_answered(lena: mf.User, question: str) -> None:
    """What was never said, is another's, or lies at another time."""
    answer = lena.ask(question)
    assert not answer
    assert answer.text.startswith("Not in memory: ")


@pytest.mark.parametrize("question", COMPUTED)
def test_what_is_counted_and_measured(lena: mf.User, question: str) -> None:
    """How often and how long stand before the evidence for it."""
    assert lena.ask(question).text.splitlines()[0] == COMPUTED[question]


def test_a_secret_of_later_is_nowhere(lena: mf.User) -> None:
    """Neither in a hit nor in the trace, whatever the mode."""
    for mode in ("flat", "root", "embed"):
        shown = str(lena.query("What is Lena's door code?", as_of="2023-01-01", mode=mode, k=50).to_json())
        assert "9082" not in shown
        assert "Malmo" not in shown
    assert "9082" not in lena.ask("What is Lena's door code?", as_of="2023-01-01").text


def test_an_empty_time_is_named(lena: mf.User) -> None:
    """Falsy, with the interval that was searched."""
    result = lena.query("What did Tomas do in July 1999?")
    assert not result
    assert "1999-07-01 to 1999-07-31" in result.message


def test_an_answer_can_be_heard(lena: mf.User) -> None:
    """The listener gets the text that the answer has."""
    heard: list[str] = []
    answer = lena.ask("Where does Lena live?", on_text=heard.append)
    assert "".join(heard) == answer.text


@pytest.mark.parametrize("mode", ["llm", "planner", "planner+embed"])
def test_guided_modes_do_without_a_model(lena: mf.User, mode: str) -> None:
    """As `embed`, and the result says so."""
    question = "Where did Lena live before moving to Porto?"
    result = lena.query(question, mode=mode)
    assert [hit.text for hit in result] == [hit.text for hit in lena.query(question)]
    assert "no chat model is configured" in result.trace.fallbacks[0]


@pytest.mark.parametrize(
    "nonsense",
    [
        "zxcvb qwerty asdfgh",
        "What is the torque of a sonnet?",
        "Which prime number married the Danube?",
        "lorem ipsum dolor sit amet",
        "How many photons fit into a teaspoon of regret?",
        "!!! ??? ###",
    ],
)
def test_nonsense_scores_low(lena: mf.User, nonsense: str) -> None:
    """Below every answer here, and nothing is claimed."""
    result = lena.query(nonsense)
    assert max((hit.score for hit in result), default=0.0) < 0.2
    assert not lena.ask(nonsense)
