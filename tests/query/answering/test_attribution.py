"""Whose words were found."""

import pytest

from memforest_ray.facts.sessions import Session, Turn, admit
from memforest_ray.ids import SessionId
from memforest_ray.query.answering.answer import answer
from memforest_ray.query.answering.attribution import LEAD_MIN
from memforest_ray.query.request import QueryRequest
from memforest_ray.query.result import Answer
from memforest_ray.query.search import search_steps
from memforest_ray.testing.memory import Memory, embedding, word_vector


def _two(memory: Memory) -> Memory:
    for number, (speaker, text) in enumerate(
        (
            ("Ann", "Ann painted a sunset with a palm tree"),
            ("Bob", "Bob repaired the engine of a tractor"),
            ("Ann", "Ann likes tea with lemon"),
            ("Bob", "Bob likes coffee with milk"),
            ("Ann", "Bob lent Ann a ladder"),
        )
    ):
        memory.told(f"s{number}", f"2023-05-0{number + 1}", text, speaker=speaker)
    return memory


def _ask(memory: Memory, text: str) -> Answer:
    request = QueryRequest.of(text)
    return answer(embedding(search_steps(memory.version, request, word_vector(text), attribute=True)), text)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("What did Ann paint with a palm tree?", True),
        ("What did Bob paint with a palm tree?", False),
        ("Which engine did Bob repair?", True),
        ("Which engine did Ann repair?", False),
        ("Who painted a sunset with a palm tree?", True),
        ("What do Ann and Bob like?", True),
    ],
)
def test_anothers_words_are_no_answer(memory: Memory, question: str, found: bool) -> None:
    """A question that names one person is not answered by what the other said of himself."""
    told = _ask(_two(memory), question)
    assert bool(told) == found
    if not found:
        assert told.text == "Not in memory: what is remembered of this is somebody else's."


def test_what_another_says_of_the_one_who_is_named_counts_for_him(memory: Memory) -> None:
    """Ann tells that Bob lent her a ladder."""
    request = QueryRequest.of("Which ladder did Bob lend?")
    steps = search_steps(_two(memory).version, request, word_vector(request.text), attribute=True)
    lead = embedding(steps).lead
    assert lead is not None
    assert lead > LEAD_MIN


def _served(memory: Memory, speaker: str, helper: str) -> Memory:
    """What an assistant repeats, better said than by the one whom it serves."""
    turns = [Turn("It is on the fourth of March", speaker), Turn("My aunt likes tea", speaker)]
    turns.append(Turn(f"{speaker}, your sister has her birthday party in Lyon", helper, role="assistant"))
    memory.say("s1", "2023-05-01", *((turn.speaker or "", turn.text) for turn in turns))
    name = SessionId("s1")
    memory.records[name] = admit(Session("s1", turns, time="2023-05-01")).record
    memory.state("s1", 1, "My aunt likes tea")
    memory.state("s1", 2, "The sister has a birthday party in Lyon")
    return memory


@pytest.mark.parametrize(
    ("speaker", "helper", "question"),
    [
        ("user", "assistant", "When is my sister's birthday party in Lyon?"),
        ("Bob", "assistant", "When is the birthday party of Bob's sister in Lyon?"),
        ("Bob", "Aria", "When is the birthday party of Bob's sister in Lyon?"),
        ("Bob", "Aria", "What did Aria say about a birthday party in Lyon?"),
    ],
)
def test_assistants_speak_of_those_whom_they_serve(memory: Memory, speaker: str, helper: str, question: str) -> None:
    """What they say is nobody else's life."""
    request = QueryRequest.of(question)
    steps = search_steps(_served(memory, speaker, helper).version, request, word_vector(question), attribute=True)
    assert embedding(steps).lead is None


def test_a_query_does_not_ask_whose_words_they_are(memory: Memory) -> None:
    """Evidence is evidence; only an answer needs it."""
    assert _two(memory).ask("What did Bob paint?").lead is None
