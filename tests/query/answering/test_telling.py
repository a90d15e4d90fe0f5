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
