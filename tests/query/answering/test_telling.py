"""Whether hits tell of those whom a question is about."""

import pytest

from memforest_ray.query.answering.telling import Telling, refers, telling_of
from memforest_ray.query.inquiry import inquire
from memforest_ray.query.request import QueryRequest
from memforest_ray.testing.memory import Memory


def _told(memory: Memory, text: str) -> Telling:
    request = QueryRequest.of(text)
    return telling_of(inquire(memory.version, request, memory.vector(request)), memory.ask(text).hits)


@pytest.fixture(scope="module")
def village() -> Memory:
    """Who said what of whom. Only read."""
    memory = Memory()
    memory.told("s1", "2024-01-01", "Ana adopted a cat", speaker="Ana")
    memory.told("s2", "2024-01-02", "Johanna sold a cow", speaker="Johanna")
    memory.say("s3", "2024-01-03", ("Ana", "Carla got a dog"), ("Bob", "Oh"), ("Ana", "She called it Rex"))
    memory.state("s3", 0, "Carla got a dog")
    memory.state("s3", 2, "Ana: She called it Rex")
    return memory


def _aside(memory: Memory, text: str) -> set[str]:
    hits = memory.ask(text).hits
    return {hits[place].text for place in _told(memory, text).aside if hits[place].kind == "fact"}


@pytest.mark.parametrize(
    ("text", "strangers"),
    [
        ("What did Dave adopt?", ("Dave",)),
        ("What is Dave's cat called?", ("Dave",)),
        ("Did Ana meet Dave?", ("Dave",)),
        ("What did Ana adopt in Rome?", ("Rome",)),
        ("What did Dave and Eve adopt?", ("Dave", "Eve")),
        ("What did Dave and Ana adopt?", ()),
        ("What did Carla get?", ()),
        ("What did Carlla get?", ()),
        ("What did Acla get?", ("Acla",)),
        ("What did Johan sell?", ()),
        ("What did Jo sell?", ("Jo",)),
        ("What did Äna adopt?", ()),
        ("Who adopted a cat?", ()),
    ],
)
def test_who_is_not_remembered(village: Memory, text: str, strangers: tuple[str, ...]) -> None:
    """No speaker, nobody who is spoken of; a short form, a slip of the pen and an accent do not matter."""
    assert _told(village, text).strangers == strangers


def test_what_is_not_of_whom_is_asked_for(village: Memory) -> None:
    """By their name, by what they said, or by what refers to them."""
    assert _aside(village, "What did Ana adopt?") == {"Johanna sold a cow", "Ana: She called it Rex"}
    assert _aside(village, "What is Carla's dog called?") == {"Ana adopted a cat", "Johanna sold a cow"}
    assert _aside(village, "Who adopted a cat?") == set()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She called it Rex.", True),
        ("Bob, she called it Rex.", True),
        ("Carla said that she called it Rex.", False),
        ("Nothing was called Rex.", False),
    ],
)
def test_what_refers_back(text: str, expected: bool) -> None:
    """To somebody who was named before; whom one speaks to is not meant."""
    assert refers(text, {"Bob"}) is expected


def test_a_forgotten_question_is_no_matter(village: Memory) -> None:
    """A question that names nobody asks nothing of anybody."""
    assert _told(village, "What was sold?") == Telling()


def test_whose_code_it_is_among_people(memory: Memory) -> None:
    """Where "I" may be anybody, "my" is nobody else's."""
    memory.told("s1", "2024-01-01", "My door code is 4471", speaker="Ann")
    memory.told("s2", "2024-01-02", "I like tea", speaker="Bob")
    assert "My door code is 4471" not in _aside(memory, "What is my door code?")


def test_a_relative_has_many_words(memory: Memory) -> None:
    """And a name."""
    memory.told("s1", "2024-01-01", "My mother's birthday is on 4 March", speaker="user")
    memory.told("s2", "2024-01-02", "Mia is my wife", speaker="user")
    memory.told("s3", "2024-01-03", "Mia's car is red", speaker="user")
    memory.told("s4", "2024-01-04", "Ben's car is blue", speaker="user")
    assert "My mother's birthday is on 4 March" not in _aside(memory, "When is my mom's birthday?")
    aside = _aside(memory, "What colour is my wife's car?")
    assert "Ben's car is blue" in aside
    assert "Mia's car is red" not in aside
