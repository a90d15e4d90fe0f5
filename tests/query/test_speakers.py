"""Who serves others, and whom "I" means."""

import pytest

from memforest_ray.facts.sessions import Session, Turn, admit
from memforest_ray.query.inquiry import inquire
from memforest_ray.query.request import QueryRequest
from memforest_ray.query.speakers import assistants, own_speaker
from memforest_ray.testing.memory import Memory


def _said(*turns: tuple[str, str]) -> Memory:
    """One session: speakers, with a role where it is not the user's ("Kay/assistant")."""
    memory = Memory()
    for number, (who, text) in enumerate(turns):
        name, _, role = who.partition("/")
        turn = Turn(text, name or None, role or "user")
        record = admit(Session(f"s{number}", [turn], time="2024-01-01")).record
        memory.say(f"s{number}", "2024-01-01", (turn.speaker or turn.role, text))
        memory.records[record.id] = record
    return memory


@pytest.mark.parametrize(
    ("turns", "own"),
    [
        ((("", "I keep bees"), ("/assistant", "Nice")), "user"),
        ((("Ana", "I keep bees"), ("/assistant", "Nice")), "Ana"),
        ((("Ana", "I keep bees"), ("Kay/assistant", "Nice")), "Ana"),
        ((("Ana", "I keep bees"),), "Ana"),
        ((("Ana", "I keep bees"), ("Bob", "Nice")), "user"),
        ((("Ana", "I keep bees"), ("", "Me too")), "user"),
        (tuple((name, "I keep bees") for name in ("Ana", "Bob", "Cem", "Dee", "Eli")), "user"),
    ],
)
def test_whom_i_means(turns: tuple[tuple[str, str], ...], own: str) -> None:
    """The user without a name, else the only one who is no assistant; of several nobody is meant."""
    memory = _said(*turns)
    inquiry = inquire(memory.version, QueryRequest.of("What do I keep?"), None)
    assert inquiry.question.own == own_speaker(memory.version, inquiry.speakers) == own


def test_assistants_are_known_by_their_role() -> None:
    """Whatever they are called."""
    memory = _said(("Ana", "I keep bees"), ("Kay/assistant", "Nice"), ("/assistant", "Yes"))
    speakers = inquire(memory.version, QueryRequest.of("bees"), None).speakers
    assert {speakers[number] for number in assistants(memory.version, speakers)} == {"Kay", "assistant"}


def test_the_only_one_is_asked_for_by_i() -> None:
    """A question in the first person names her."""
    memory = _said(("Ana", "I keep bees"), ("/assistant", "You keep bees"))
    inquiry = inquire(memory.version, QueryRequest.of("What do I keep?"), None)
    named = inquiry.question.named(inquiry.speakers)
    assert named is not None
    assert inquiry.speakers[named] == "Ana"


def test_a_speaker_of_whom_only_facts_are_left() -> None:
    """Is no assistant, for all that is known; the others' roles are found all the same."""
    memory = _said(("Ana", "I keep bees"), ("Kay/assistant", "Nice"))
    version = memory.version
    numbers = dict(enumerate(version.index.registers.speakers.names))
    assert assistants(version, {**numbers, 99: "Gone"}) == {number for number, name in numbers.items() if name == "Kay"}
